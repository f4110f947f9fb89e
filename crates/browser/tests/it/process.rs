//! A real Chromium starts, answers, and leaves nothing behind.

use crate::soon;
use pipewright_browser::wire::Message;
use pipewright_browser::{Connection, Launch, ReceiveError};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

fn call(connection: &mut Connection, method: &str, params: &Value) -> Value {
    let number = connection.send(None, method, params).unwrap();
    loop {
        if let Some(Message::Response { id, outcome }) = connection.next(soon()).unwrap()
            && id == number
        {
            return serde_json::from_str(outcome.unwrap().get()).unwrap();
        }
    }
}

/// The running processes of a group.
fn group(leader: u32) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
        // `PID (NAME) STATE PPID PGRP`; a name may contain blanks and brackets.
        let (name, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        let is_running = fields.next()? != "Z";
        (is_running && fields.nth(1)? == leader.to_string()).then(|| name.to_owned())
    });
    processes.collect()
}

/// A process that was killed takes a moment to end.
fn wait_for_end(leader: u32) {
    let last_moment = soon();
    while !group(leader).is_empty() {
        assert!(Instant::now() < last_moment, "{:?}", group(leader));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_browser_answers_and_leaves_nothing_behind() {
    let (process, mut connection) = Launch::default().start().unwrap();
    let version = call(&mut connection, "Browser.getVersion", &json!({}));
    assert!(version["product"].as_str().unwrap().contains("Chrome/"), "{version}");
    let (profile, leader) = (process.profile().to_owned(), process.id());
    assert_eq!(profile.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(!group(leader).is_empty());
    drop(process);
    assert!(!profile.exists(), "{profile:?}");
    wait_for_end(leader);
    let ended = loop {
        match connection.next(soon()) {
            Ok(_) => {}
            Err(why) => break why,
        }
    };
    assert_eq!(ended, ReceiveError::Ended);
}

#[test]
#[ignore = "needs Chromium"]
fn a_browser_ends_when_asked_and_a_named_profile_stays() {
    let place = tempfile::tempdir().unwrap();
    let profile = place.path().join("new/profile");
    let launch = Launch { profile: Some(profile.clone()), ..Launch::default() };
    let (mut process, mut connection) = launch.start().unwrap();
    call(&mut connection, "Browser.close", &json!({}));
    assert!(process.wait().unwrap().success(), "{}", process.printed());
    drop(process);
    assert!(profile.join("Default").is_dir());
}

#[test]
#[ignore = "needs Chromium"]
fn a_browser_ends_with_its_connection() {
    let (mut process, mut connection) = Launch::default().start().unwrap();
    call(&mut connection, "Browser.getVersion", &json!({}));
    drop(connection);
    process.wait().unwrap();
    wait_for_end(process.id());
}

#[test]
fn the_end_of_another_program_is_reported_with_its_output() {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("browser");
    std::fs::write(&program, "#!/bin/sh\necho 'no display here' >&2\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let launch = Launch { program: Some(program.clone()), ..Launch::default() };
    let (mut process, mut connection) = launch.start().unwrap();
    assert_eq!(connection.next(soon()).unwrap_err(), ReceiveError::Ended);
    process.wait().unwrap();
    let last_moment = soon();
    while process.printed() != "no display here" && Instant::now() < last_moment {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(process.printed(), "no display here");
    let missing = Launch { program: Some(place.path().join("none")), ..Launch::default() };
    assert!(missing.start().unwrap_err().to_string().contains("none: it cannot be started"));
}

#[test]
#[ignore = "needs Chromium"]
fn a_wait_is_interrupted_from_another_thread() {
    let mut browser = pipewright_browser::Browser::start(&Launch::default()).unwrap();
    let waker = browser.waker();
    let later = waker.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        later.cancel();
    });
    let fault = browser.wait(soon(), |_| false).unwrap_err();
    assert!(matches!(fault, pipewright_browser::ActionError::Cancelled), "{fault:?}");
    thread.join().unwrap();
    waker.reset();
    assert!(!browser.wait(Instant::now() + Duration::from_millis(50), |_| false).unwrap());
}
