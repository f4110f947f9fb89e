//! The server's messages besides its results.

use super::{Pipe, play, play_command};
use crate::process::{command, example};
use serde_json::{Value, json};

const TELL: &str = r#"{"tool":"tell","args":{"times":2},"id":1}"#;

fn events(lines: &str) -> Vec<(String, Value)> {
    let mut events = Vec::new();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["type"] == "observation" {
            assert_eq!(line["source"], "mcp");
            // The progress names its call.
            assert_eq!(line["call_id"] == 1, line["data"]["event"] == "progress", "{line}");
            events.push((line["data"]["event"].as_str().unwrap().to_owned(), line["data"]["data"].clone()));
        }
    }
    events
}

fn check(events: &[(String, Value)]) {
    let of = |name: &str| Vec::from_iter(events.iter().filter(|(event, _)| event == name).map(|(_, data)| data));
    assert_eq!(of("progress").len(), 2, "{events:?}");
    assert_eq!(of("log").iter().map(|data| data["data"].clone()).collect::<Vec<_>>(), [json!(0), json!(1)]);
    assert_eq!((of("stderr"), of("started").len()), (vec![&json!("on stderr, sk-123")], 1));
}

#[test]
fn events_are_written_only_to_the_named_destination() {
    let silent = play("echo", &[], &[TELL]);
    silent.assert_well();
    assert_eq!(silent.lines.len(), 1);
    let between = play("echo", &["--events", "-"], &[TELL]);
    between.assert_well();
    check(&events(&between.lines.join("\n")));
    let beside = play("echo", &["--events", "stderr"], &[TELL]);
    assert_eq!((beside.lines.len(), beside.status), (1, Some(0)));
    check(&events(&beside.stderr));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    std::fs::write(&file, "{\"before\":1}\n").unwrap();
    let kept = play("echo", &["--events", file.to_str().unwrap()], &[TELL]);
    kept.assert_well();
    let written = crate::schemas::written(&file);
    assert!(written.starts_with("{\"before\":1}\n"));
    check(&events(&written));
    let verbose = play("echo", &["--verbose"], &[TELL]);
    assert_eq!((verbose.stderr.as_str(), verbose.lines.len()), ("on stderr, sk-123\n", 1));
}

#[test]
fn an_event_on_stderr_does_not_join_a_last_line_of_the_server_without_a_newline() {
    let home = tempfile::tempdir().unwrap();
    let server = format!("printf oops >&2; exec {} echo 2>/dev/null", example("stand-in-server").display());
    let mut pipe = command("mcp-pipe");
    pipe.env("STAND_IN_HOME", home.path()).args(["--verbose", "--events", "stderr", "--", "sh", "-c", &server]);
    let played = play_command(&mut pipe, home, &[TELL]);
    // Stdout and stderr may be read in either order.
    let (own, rest): (Vec<&str>, Vec<&str>) = played.stderr.lines().partition(|line| *line == "oops");
    assert_eq!(own.len(), 1, "{}", played.stderr);
    assert!(events(&rest.join("\n")).contains(&("stderr".to_owned(), json!("oops"))), "{rest:?}");
}

#[test]
fn noise_and_requests_are_events_too() {
    let noisy = play("noisy", &["--events", "-"], &[r#"{"tool":"echo"}"#]);
    let said = events(&noisy.lines.join("\n"));
    let noise = |text: &str| said.contains(&("noise".to_owned(), json!(text)));
    assert!(noise("Server listening on stdio") && noise("\u{1b}[31mwarning\u{1b}[0m"), "{said:?}");
    let asks = play("asks", &["--events", "-"], &[r#"{"tool":"echo"}"#]);
    let said = events(&asks.lines.join("\n"));
    assert!(
        said.contains(&("request".to_owned(), json!({"method":"elicitation/create","params":{"message":"secret?"}}))),
        "{said:?}"
    );
}

#[test]
fn an_unwritable_file_is_reported() {
    let played = play("echo", &["--events", "/no/such/folder/x"], &[TELL]);
    assert_eq!((played.status, played.lines.len()), (Some(2), 0), "{}", played.stderr);
    let played = play("echo", &["--events", "/dev/full"], &[TELL, TELL]);
    assert_eq!((played.status, played.lines.len()), (Some(1), 2), "{}", played.stderr);
    assert_eq!(played.stderr.matches("No space left").count(), 1, "{}", played.stderr);
}

#[test]
fn events_are_written_during_the_call() {
    let mut pipe = Pipe::start("asks", &["--events", "-"]);
    assert!(pipe.talk.ask("").contains("started"));
    assert!(pipe.talk.ask(r#"{"tool":"forget"}"#).contains("sampling"));
}
