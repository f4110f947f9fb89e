//! The handshake: both eras, and servers without one.

use super::{play, play_logged};

const CALL: &str = r#"{"tool":"echo","args":{"x":1.10},"id":1}"#;

#[test]
fn each_server_is_used_in_its_own_era() {
    for (server, era, epoch) in [
        ("echo", "2025-11-25", 0),
        ("dual", "2025-11-25", 0),
        ("modern", "2026-07-28", 0),
        ("modern-ends", "2026-07-28", 0),
        ("first-exits", "2026-07-28", 0),
        ("slow seconds=0.5", "2025-11-25", 0),
    ] {
        let played = play(server, &["--events", "-"], &[CALL]);
        let lines: Vec<_> = played
            .lines
            .iter()
            .filter(|line| !line.contains(r#""event":"lost""#) && !line.contains(r#""event":"stderr""#))
            .collect();
        let started: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
        let data = serde_json::json!({"event":"started","data":{"protocol":era,"epoch":epoch}});
        assert_eq!((&started["source"], &started["data"]), (&"mcp".into(), &data), "{server}");
        assert!(
            lines[1].starts_with(r#"{"id":1,"tool":"echo","status":"ok""#) && lines.len() == 2,
            "{server}: {lines:?}"
        );
        played.assert_well();
    }
}

#[test]
fn every_request_of_the_modern_era_names_its_version() {
    let played = play_logged("modern", &["--protocol", "2026-07-28"], &[CALL]);
    played.assert_well();
    let received = played.received();
    assert_eq!(
        received.iter().map(|line| line["method"].as_str().unwrap()).collect::<Vec<_>>(),
        ["server/discover", "tools/list", "tools/call"]
    );
    assert!(
        received.iter().all(|line| line["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"),
        "{received:?}"
    );
}

#[test]
fn the_era_of_the_option_is_the_only_one() {
    for (server, era) in [("modern", "2025-11-25"), ("echo", "2026-07-28")] {
        let played = play(server, &["--protocol", era], &[CALL]);
        assert_eq!((played.status, played.lines.len()), (Some(3), 1), "{}", played.stderr);
        assert!(played.stderr.contains("rejected the handshake"), "{}", played.stderr);
    }
}

#[test]
fn a_server_that_aborts_the_handshake_is_tried_in_the_other_era() {
    // A status above 128 does not imply a signal.
    let script =
        r#"read -r line; case $line in *initialize*) exit 255;; esac; { echo "$line"; cat; } | exec "$0" modern"#;
    let mut pipe = crate::process::command("mcp-pipe");
    let server = crate::process::example("stand-in-server");
    pipe.args(["--", "sh", "-c", script]).arg(server);
    let output = crate::process::pipe(&mut pipe, format!("{CALL}\n").as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", crate::process::text(&output.stderr));
}

#[test]
fn a_failed_handshake_is_3_with_the_servers_stderr() {
    for (server, options, expected) in [
        ("exits", &[][..], &["  | Error: no API_KEY was given", "the server ended: exit status 7"][..]),
        ("silent", &["--start-timeout", "0.5"], &["the handshake took longer than 0.5 s (--start-timeout)"]),
        ("list-refused", &[], &["tools/list: no list today"]),
        ("endless", &[], &["tools/list: its list has too many pages"]),
    ] {
        let played = play(server, options, &[CALL, r#"{"type":"observation"}"#, CALL]);
        assert_eq!((played.status, played.lines.len()), (Some(3), 3), "{server}: {}", played.stderr);
        let answers = played.answers();
        for answer in [&answers[0], &answers[2]] {
            assert_eq!(
                (&answer["kind"], &answer["maybe_executed"]),
                (&"start_failed".into(), &serde_json::Value::Null),
                "{server}: {answer}"
            );
        }
        assert!(expected.iter().all(|expected| played.stderr.contains(expected)), "{server}: {}", played.stderr);
        // A server that cannot list its tools has completed the handshake.
        assert!(
            !expected[0].starts_with("tools/list") || !played.stderr.contains("handshake"),
            "{server}: {}",
            played.stderr
        );
    }
}

#[test]
fn a_silent_server_is_tried_once() {
    let played = play_logged("silent", &["--start-timeout", "1.5"], &[]);
    let methods: Vec<_> = played.received().into_iter().map(|line| line["method"].clone()).collect();
    assert_eq!(methods, ["initialize"]);
}

#[test]
fn no_program_is_3() {
    let mut pipe = crate::process::command("mcp-pipe");
    let output = crate::process::pipe(pipe.args(["--", "/no/such/server"]), b"{\"tool\":\"echo\",\"id\":1}\n");
    let stderr = crate::process::text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("cannot start /no/such/server: No such file"), "{stderr}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["id"], &answer["kind"]), (&1.into(), &"start_failed".into()), "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("cannot start /no/such/server"), "{answer}");
}

#[test]
fn every_call_of_a_long_input_is_answered_without_a_server() {
    // Far more than a pipe holds, and few enough to be answered within the time for which the run continues.
    let calls: String = (0..5_000).map(|id| format!("{{\"tool\":\"echo\",\"id\":{id}}}\n")).collect();
    let mut pipe = crate::process::command("mcp-pipe");
    let output = crate::process::pipe(pipe.args(["--", "/no/such/server"]), calls.as_bytes());
    let lines = crate::process::text(&output.stdout);
    assert_eq!((output.status.code(), lines.lines().count()), (Some(3), 5_000));
    assert!(lines.lines().all(|line| line.contains("start_failed")));
}

#[test]
#[ignore = "12 s: scripts/test runs it"]
fn a_server_that_takes_longer_than_others_wait_is_waited_for() {
    let played = play("slow seconds=12", &[], &[CALL]);
    played.assert_well();
    assert_eq!(played.lines.len(), 1);
}
