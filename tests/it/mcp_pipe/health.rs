//! A server that hangs while it is idle (`--probe`).

use super::{Pipe, play_logged};
use serde_json::json;

#[test]
fn a_silent_server_is_restarted() {
    for deaf in [r#"["*"]"#, r#"["ping","tools/list"]"#] {
        let mut pipe = Pipe::start("echo", &["--probe", "0.1"]);
        pipe.ask(&format!(r#"{{"tool":"deafen","args":{{"to":{deaf}}}}}"#));
        pipe.talk.complains("no longer answers (--probe)", 1);
        let answer = pipe.ask(r#"{"tool":"echo"}"#);
        assert_eq!((&answer["status"], &answer["epoch"]), (&json!("ok"), &json!(1)));
        let ended = pipe.end_after_close();
        assert_eq!(ended.status.code(), Some(0));
    }
}

#[test]
fn a_server_that_only_ignores_the_ping_is_kept() {
    for (server, deaf) in [("echo", "ping"), ("modern", "server/discover"), ("echo", "none"), ("modern", "none")] {
        let mut pipe = Pipe::start_logged(server, &["--probe", "1"]);
        pipe.ask(&format!(r#"{{"tool":"deafen","args":{{"to":["{deaf}"]}}}}"#));
        // The first was in time, since there is a second.
        pipe.reaches_server(if server == "modern" { "server/discover" } else { "\"ping\"" }, 2);
        assert_eq!(pipe.ask(r#"{"tool":"echo"}"#)["epoch"], 0);
        let ended = pipe.end_after_close();
        assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
    }
}

#[test]
fn there_is_no_probe_during_a_call() {
    let played = play_logged("echo", &["--probe", "0.05"], &[r#"{"tool":"sleep","args":{"seconds":0.5}}"#]);
    let methods: Vec<_> = played.received().into_iter().map(|line| line["method"].clone()).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list", "tools/call"]);
    played.assert_well();
}

#[test]
fn there_is_no_probe_without_the_option() {
    for options in [&[][..], &["--probe", "0"]] {
        let mut pipe = Pipe::start("echo", options);
        pipe.ask(r#"{"tool":"deafen","args":{"to":["ping","tools/list"]}}"#);
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(pipe.ask(r#"{"tool":"echo"}"#)["epoch"], 0);
        pipe.end_after_close();
    }
}
