//! In an editor, with `agent-acp`: acpx plays the editor, and answers questions about calls as each prompt says.

use super::{script, shop};
use crate::agent_acp::acpx;
use crate::agent_chat::Place;
use crate::browser_bridge::attached::Theirs;
use crate::process::binary;
use std::io::{Read, Write};
use std::net::TcpStream;

/// The person logs in with a separate browser.
fn log_in(origin: &str) {
    let mut stream = TcpStream::connect(origin.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(b"GET /checkout?user=ada HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n").unwrap();
    assert!(stream.read(&mut [0]).unwrap() > 0);
}

#[test]
#[ignore = "needs Chromium and acpx: run scripts/test"]
fn the_list_in_an_editor() {
    let script = script(true);
    let place = Place::new(&script.iter().map(String::as_str).collect::<Vec<_>>());
    let (url, profile) = (shop(), tempfile::tempdir().unwrap());
    // The page is open already, in the person's browser: acpx starts a new process for a prompt with other permissions, and the browser stays open.
    let _browser = Theirs::start(profile.path(), &url);
    let program = |name: &str| binary(name).display().to_string();
    let loop_and_gates = [
        program("agent-loop"),
        "--llm".to_owned(),
        place.model(),
        "--profile".to_owned(),
        "browser".to_owned(),
        "--session".to_owned(),
        place.path("{session}.session").display().to_string(),
        "--".to_owned(),
        program("policy-check"),
        "--confirm".to_owned(),
        "mark".to_owned(),
        "--".to_owned(),
        program("hitl-gate"),
        "--".to_owned(),
        program("browser-bridge"),
        "--attach".to_owned(),
        profile.path().display().to_string(),
        "--allow-origin".to_owned(),
        url.clone(),
    ];
    let agent = shlex::try_join(loop_and_gates.iter().map(String::as_str)).unwrap();
    let run = |words: &[&str]| {
        let output = acpx::command(&agent, place.folder.path(), "1").args(words).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), said)
    };
    let (status, said) = run(&["sessions", "new"]);
    assert_eq!(status, Some(0), "{said}");
    // Ordinary clicks without questions, up to the login.
    let (status, said) = run(&["--deny-all", "prompt", "Buy the lamp, then rate the shop. I log in myself."]);
    assert!(status == Some(0) && said.contains("[in_progress] Find the lamp"), "{status:?} {said}");
    assert!(said.contains("Please log in as ada."), "{said}");
    log_in(&url);
    // The payment is held, and rejected.
    let (status, said) = run(&["--deny-all", "prompt", "done"]);
    assert!(status == Some(5) && said.contains("You rejected the payment. Shall I pay?"), "{status:?} {said}");
    // The payment is approved; after ten calls there is a summary.
    let (status, said) = run(&["--approve-all", "prompt", "Yes, pay now."]);
    assert_eq!(said.matches("session/request_permission").count(), 1, "{said}");
    assert!(status == Some(0) && said.contains("I have paid and given 9 stars. Shall I go on?"), "{status:?} {said}");
    // An ordinary message continues.
    let (status, said) = run(&["--deny-all", "prompt", "One more star, then stop."]);
    assert!(status == Some(0) && said.contains("the shop has **10** stars."), "{status:?} {said}");
    assert_eq!(place.requests().lines().count(), script.len(), "each turn did what it was meant to");
}
