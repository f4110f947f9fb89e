//! Lost servers: which calls are lost, queued, or repeated.

use super::{Pipe, Played, mcp_pipe, play, play_command, play_logged};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

fn counted(played: &Played) -> usize {
    counted_in(played.home.path())
}

/// How many calls that count the servers of a folder have carried out.
fn counted_in(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("count")).map_or(0, |count| count.lines().count())
}

#[test]
fn open_calls_are_lost_and_queued_ones_are_answered_by_the_restarted_server() {
    let played = play(
        "echo",
        &[],
        &[r#"{"tool":"die","args":{"code":3},"id":1}"#, r#"{"tool":"echo","id":2}"#, r#"{"tool":"echo","id":3}"#],
    );
    let answers = played.answers();
    let lost = json!({"id":1,"tool":"die","status":"error","error":"the server ended: exit status 3","kind":"lost",
        "data":{"status":3,"stderr":"panicked at the third step"},"maybe_executed":true,"epoch":1});
    assert_eq!(answers[0], lost);
    for (answer, id) in answers[1..].iter().zip([2, 3]) {
        assert_eq!(
            (&answer["id"], &answer["status"], &answer["epoch"], &answer["maybe_executed"]),
            (&json!(id), &json!("ok"), &json!(1), &Value::Null)
        );
    }
    assert_eq!((answers.len(), played.status), (3, Some(1)), "{}", played.stderr);
    assert!(played.stderr.contains("starting it again (epoch 1)"), "{}", played.stderr);
}

#[test]
fn a_server_killed_during_the_handshake_is_restarted() {
    let played = play("killed-first", &["--restart", "100"], &[r#"{"tool":"echo"}"#]);
    // Nothing was lost with it: no page, no session.
    assert_eq!((&played.answers()[0]["status"], &played.answers()[0]["epoch"]), (&json!("ok"), &json!(0)));
    assert!(
        played.stderr.contains("ended: signal 9") && played.stderr.contains("starting it again"),
        "{}",
        played.stderr
    );
    assert_eq!(played.status, Some(0));
    let played = play("killed-first", &["--restart", "1"], &[r#"{"tool":"echo"}"#]);
    assert_eq!((&played.answers()[0]["kind"], played.status), (&json!("start_failed"), Some(3)), "{}", played.stderr);
    assert!(played.stderr.contains("--restart"), "{}", played.stderr);
}

#[test]
fn a_server_that_exits_during_the_handshake_is_tried_in_both_eras_and_again_in_the_first() {
    let played = play("exits-first", &[], &[r#"{"tool":"echo"}"#]);
    assert_eq!((&played.answers()[0]["status"], played.status), (&json!("ok"), Some(0)), "{}", played.stderr);
}

#[test]
fn only_repeatable_calls_are_sent_again() {
    let call = |tool: &str| format!(r#"{{"tool":"{tool}","args":{{"dies":1}},"id":1}}"#);
    for tool in ["count_safe", "count_again"] {
        let played = play("echo", &[], &[&call(tool)]);
        assert_eq!(
            (&played.answers()[0]["status"], counted(&played), played.lines.len()),
            (&json!("ok"), 2, 1),
            "{:?}",
            played.lines
        );
        assert_eq!((&played.answers()[0]["epoch"], played.status), (&json!(1), Some(0)), "{}", played.stderr);
    }
    let played = play("echo", &[], &[&call("count")]);
    assert_eq!(
        (&played.answers()[0]["kind"], counted(&played), played.lines.len()),
        (&json!("lost"), 1, 1),
        "{:?}",
        played.lines
    );
}

#[test]
fn a_server_without_calls_is_not_restarted() {
    let played = play_logged("echo", &[], &[r#"{"tool":"die","args":{"code":3}}"#]);
    assert_eq!((played.status, played.lines.len()), (Some(1), 1));
    assert_eq!(played.received().iter().filter(|line| line["method"] == "initialize").count(), 1, "{}", played.stderr);
}

#[test]
fn a_server_that_is_lost_too_often_is_4() {
    let calls: Vec<String> = (0..6).map(|id| format!(r#"{{"tool":"die","args":{{"code":3}},"id":{id}}}"#)).collect();
    let calls = Vec::from_iter(calls.iter().map(String::as_str));
    for (restarts, executed) in [("0", 1), ("2", 3)] {
        let started = Instant::now();
        let played = play("echo", &["--restart", restarts], &calls);
        let answers = played.answers();
        assert_eq!((played.status, answers.len()), (Some(4), 6), "{}", played.stderr);
        for (id, answer) in answers.iter().enumerate() {
            let maybe = if id < executed { json!(true) } else { Value::Null };
            assert_eq!(
                (&answer["id"], &answer["kind"], &answer["maybe_executed"]),
                (&json!(id), &json!("lost"), &maybe),
                "{answer}"
            );
        }
        assert!(
            played.stderr.contains("  | panicked at the third step") && played.stderr.contains("--restart"),
            "{}",
            played.stderr
        );
        // The second wait is twice as long as the first.
        assert!(restarts == "0" || started.elapsed() > Duration::from_millis(300), "{:?}", started.elapsed());
    }
}

#[test]
fn a_server_that_cannot_be_started_again_is_4() {
    let played =
        play("once", &["--restart", "2"], &[r#"{"tool":"die","args":{"code":3},"id":1}"#, r#"{"tool":"echo","id":2}"#]);
    assert_eq!((played.status, played.lines.len()), (Some(4), 2), "{}", played.stderr);
    assert!(played.answers().iter().all(|answer| answer["kind"] == "lost"), "{:?}", played.lines);
    assert!(
        played.stderr.contains("  | the database is locked") && played.stderr.contains("epoch 2"),
        "{}",
        played.stderr
    );
}

#[test]
fn each_loss_is_counted_once_however_it_is_detected() {
    // The server closes its stdout, is given up for that, and is ended while its restart is pending.
    let mut pipe = Pipe::start("echo", &["--events", "-", "--restart", "1"]);
    pipe.talk.say(r#"{"tool":"hang_up","id":1}"#);
    pipe.talk.say(r#"{"tool":"echo","id":2}"#);
    let mut said = Vec::new();
    while !said.last().is_some_and(|line: &String| line.starts_with(r#"{"id":2"#)) {
        said.push(pipe.talk.receive());
    }
    let count = |what: &str| said.iter().filter(|line| line.contains(what)).count();
    assert_eq!(
        (count(r#""event":"lost""#), count(r#""event":"started""#), count(r#""kind":"lost""#)),
        (1, 2, 1),
        "{said:?}"
    );
    assert!(
        said.last().unwrap().contains(r#""status":"ok""#) && said.last().unwrap().contains(r#""epoch":1"#),
        "{said:?}"
    );
    assert_eq!(pipe.end_after_close().status.code(), Some(1));
}

#[test]
fn the_set_up_is_made_again_with_each_server() {
    let setup = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        setup.path(),
        "{\"tool\":\"echo\",\"args\":{\"login\":1.10}}\n\n{\"tool\":\"echo\",\"args\":{\"open\":1}}\n",
    )
    .unwrap();
    let played = play_logged(
        "echo",
        &["--setup", setup.path().to_str().unwrap()],
        &[r#"{"tool":"die","args":{"code":3}}"#, r#"{"tool":"echo"}"#],
    );
    assert_eq!((played.lines.len(), played.status), (2, Some(1)), "{:?}", played.lines);
    let calls: Vec<_> = played
        .received()
        .into_iter()
        .filter(|line| line["method"] == "tools/call")
        .map(|line| line["params"]["arguments"].to_string())
        .collect();
    assert_eq!(
        calls,
        [r#"{"login":1.1}"#, r#"{"open":1}"#, r#"{"code":3}"#, r#"{"login":1.1}"#, r#"{"open":1}"#, "{}"]
    );
}

#[test]
fn a_failed_set_up_is_reported_without_its_secrets() {
    let setup = tempfile::NamedTempFile::new().unwrap();
    for call in [r#"{"tool":"fail","args":{"password":"sk-123"}}"#, r#"{"tool":"forget","args":{"password":"sk-123"}}"#]
    {
        std::fs::write(setup.path(), call).unwrap();
        let played =
            play("echo", &["--timeout", "0.5", "--setup", setup.path().to_str().unwrap()], &[r#"{"tool":"echo"}"#]);
        assert_eq!((played.lines.len(), played.status), (1, Some(1)), "{:?}", played.lines);
        assert!(played.stderr.contains("--setup: ") && !played.stderr.contains("sk-123"), "{}", played.stderr);
    }
    for (text, expected) in [
        ("{\"type\":\"observation\"}", ":1: not a call"),
        ("\nsk-123", ":2: it is not a JSON object"),
        ("{\"tool\":\"x\",\"requires_approval\":true}", "approval"),
    ] {
        std::fs::write(setup.path(), text).unwrap();
        let played = play("echo", &["--setup", setup.path().to_str().unwrap()], &[]);
        assert_eq!(played.status, Some(2), "{}", played.stderr);
        assert!(played.stderr.contains(expected) && !played.stderr.contains("sk-123"), "{}", played.stderr);
    }
}

/// Kills the server at `kills` moments. Two of three servers have carried out a call before: one that is killed while it starts is
/// started again after a wait that doubles, so a slow machine would only start servers.
fn kill_at_random(kills: usize) {
    let (mut command, home) = mcp_pipe("echo", &["-j", "8", "--restart", "1000", "--timeout", "30", "--events", "-"]);
    let calls: Vec<String> = (0..kills * 100)
        .map(|id| match id % 4 {
            0 => format!(r#"{{"tool":"sleep","args":{{"seconds":0.002}},"id":{id}}}"#),
            1 => format!(r#"{{"tool":"count_safe","id":{id}}}"#),
            _ => format!(r#"{{"tool":"echo","args":{{"message":"{}"}},"id":{id}}}"#, "x".repeat(id % 5000)),
        })
        .collect();
    let folder = home.path().to_str().unwrap().to_owned();
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let killer = std::thread::spawn({
        let done = std::sync::Arc::clone(&done);
        move || {
            let is_done = || done.load(std::sync::atomic::Ordering::Relaxed);
            let (mut killed, mut counted) = (0, 0);
            for turn in 0.. {
                while killed % 3 != 0 && counted_in(Path::new(&folder)) == counted && !is_done() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                if killed == kills || is_done() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(turn * 7 % 23));
                killed += usize::from(kill_server(&folder));
                counted = counted_in(Path::new(&folder));
            }
            killed
        }
    });
    let played = play_command(&mut command, home, &Vec::from_iter(calls.iter().map(String::as_str)));
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    let killed = killer.join().unwrap();
    let answers: Vec<Value> = played.answers().into_iter().filter(|answer| answer["type"] != "observation").collect();
    assert_eq!(answers.len(), calls.len(), "{killed} kills: {}", played.stderr);
    let mut lost = 0;
    for (id, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], id);
        lost += usize::from(answer["kind"] == "lost");
        assert!(answer["status"] == "ok" || (answer["kind"] == "lost" && id % 4 != 1), "{answer}");
    }
    assert!(killed > kills / 4 && lost > 0, "{killed} kills, {lost} lost");
}

/// Kills the server, if one runs; gives whether it did.
fn kill_server(folder: &str) -> bool {
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words);
        let program = words.split('\0').next().unwrap_or_default();
        if program.ends_with("stand-in-server") && words.contains(folder) {
            return nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::SIGKILL).is_ok();
        }
    }
    false
}

#[test]
fn a_killed_server_leaves_one_result_for_every_call() {
    kill_at_random(8);
}

#[test]
#[ignore = "many kills: scripts/test runs it"]
fn a_hundred_kills_leave_one_result_for_every_call() {
    kill_at_random(100);
}

#[test]
fn repeatable_calls_survive_a_server_that_dies_repeatedly() {
    let calls: Vec<String> = (0..40).map(|id| format!(r#"{{"tool":"count_safe","id":{id}}}"#)).collect();
    let played = play("dies", &["--restart", "1000"], &Vec::from_iter(calls.iter().map(String::as_str)));
    let answers = played.answers();
    // Some of these servers die in their first call.
    assert_eq!(answers.len(), 40, "{}", played.stderr);
    assert!(
        answers.iter().enumerate().all(|(id, answer)| answer["id"] == id && answer["status"] == "ok"),
        "{answers:?}"
    );
    assert_eq!(played.status, Some(0));
}
