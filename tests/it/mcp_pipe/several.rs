//! Several servers of one configuration in one session (`--config FILE`): each tool's name begins with its server's.

use super::{Played, play_command};
use crate::process::{command, example};
use serde_json::{Value, json};

/// Runs the servers with these names and faults; the fault `none` stands for a program that does not exist.
pub fn play(servers: &[(&str, &str)], options: &[&str], lines: &[&str]) -> Played {
    let home = tempfile::tempdir().unwrap();
    let entry = |&(name, fault): &(&str, &str)| {
        let program = if fault == "none" { "/no/such/server".into() } else { example("stand-in-server") };
        let args: Vec<String> = fault.split(' ').map(str::to_owned).chain([format!("count={name}")]).collect();
        (name.to_owned(), json!({"command": program, "args": args, "cwd": home.path()}))
    };
    let entries: serde_json::Map<String, Value> = servers.iter().map(entry).collect();
    let file = home.path().join("mcp.json");
    let config = format!("// as VS Code has it\n{}", json!({"servers": entries, "inputs": []}));
    std::fs::write(&file, config.replacen("\"inputs\"", "/* none */ \"inputs\"", 1)).unwrap();
    let mut pipe = command("mcp-pipe");
    pipe.env("STAND_IN_HOME", home.path()).arg("--config").arg(&file).args(options);
    play_command(&mut pipe, home, lines)
}

const TWO: [(&str, &str); 2] = [("git", "echo"), ("git__web", "modern")];

#[test]
fn a_call_goes_to_the_server_that_its_tool_names() {
    let played = play(
        &TWO,
        &[],
        &[
            r#"{"tool":"git__count","id":1}"#,
            r#"{"tool":"git__web__echo","args":{"n":1.10},"id":2}"#,
            r#"{"type":"tool_call","call_id":"c","tool_name":"git__fail"}"#,
            r#"{"tool":"files__echo","id":3}"#,
            r#"{"tool":"echo","id":4}"#,
            r#"{"tool":"git__ecko","id":5}"#,
        ],
    );
    let answers = played.answers();
    assert_eq!(
        (&answers[0]["tool"], &answers[0]["data"]["structuredContent"]),
        (&json!("git__count"), &json!({"count":1}))
    );
    assert!(played.lines[1].starts_with(r#"{"id":2,"tool":"git__web__echo","status":"ok""#), "{}", played.lines[1]);
    assert!(played.lines[1].contains(r#""structuredContent":{"n":1.10}"#), "{}", played.lines[1]);
    assert_eq!((&answers[2]["call_id"], &answers[2]["kind"]), (&json!("c"), &json!("tool_error")));
    for answer in &answers[3..5] {
        assert_eq!(answer["kind"], "unknown_tool");
        assert!(answer["error"].as_str().unwrap().contains("where SERVER is one of git, git__web"), "{answer}");
    }
    assert_eq!(answers[5]["kind"], "unknown_tool");
    assert!(
        answers[5]["error"].as_str().unwrap().contains(r#"no tool "git__ecko"; nearest: git__echo"#),
        "{}",
        answers[5]
    );
    assert_eq!(played.status, Some(1));
    let counted = |name: &str| std::fs::read_to_string(played.home.path().join(name)).is_ok();
    assert!(counted("git") && !counted("git__web"));
}

#[test]
fn tools_and_resources_are_listed_with_their_servers() {
    let played = play(
        &[("a", "slow seconds=0.5"), ("b", "modern")],
        &["--list", "--allow", "b__count*", "--allow", "a__echo"],
        &[],
    );
    let names: Vec<String> = played.answers().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["a__echo", "b__count", "b__count_again", "b__count_safe"]);
    played.assert_well();
    let played = play(&[("a", "echo resources=1"), ("b", "modern")], &["--list-resources"], &[]);
    assert_eq!(played.lines[0], r#"{"uri":"file:///a","name":"a","server":"a"}"#);
    assert_eq!((played.lines.len(), played.status), (3, Some(0)), "{}", played.stderr);
    let read = r#"{"tool":"a__resources/read","args":{"uri":"file:///a"}}"#;
    let played = play(&[("a", "echo resources=1"), ("b", "modern")], &[], &[read]);
    assert_eq!(played.answers()[0]["data"]["contents"][0]["text"], "hi", "{:?}", played.lines);
}

#[test]
fn no_server_waits_for_another() {
    let calls = [
        r#"{"tool":"a__sleep","args":{"seconds":1},"id":1}"#,
        r#"{"tool":"a__echo","id":2}"#,
        r#"{"tool":"b__echo","id":3}"#,
    ];
    let servers = [("a", "echo"), ("b", "echo")];
    for (options, order) in [(&[][..], [1, 2, 3]), (&["--unordered"], [3, 1, 2])] {
        let played = play(&servers, options, &calls);
        let ids: Vec<i64> = played.answers().iter().map(|answer| answer["id"].as_i64().unwrap()).collect();
        assert_eq!(ids, order, "{options:?}");
        played.assert_well();
    }
}

#[test]
fn the_loss_of_a_server_does_not_affect_another() {
    let calls = [
        r#"{"tool":"a__die","args":{"code":3},"id":1}"#,
        r#"{"tool":"b__echo","id":2}"#,
        r#"{"tool":"a__echo","id":3}"#,
    ];
    let servers = [("a", "echo"), ("b", "echo")];
    let played = play(&servers, &["--events", "-"], &calls);
    let answers: Vec<Value> = played.answers().into_iter().filter(|answer| answer["type"] != "observation").collect();
    let [lost, other, again] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((&lost["kind"], &lost["maybe_executed"]), (&json!("lost"), &json!(true)));
    assert_eq!((&other["status"], &other["epoch"]), (&json!("ok"), &json!(0)));
    assert_eq!((&again["status"], &again["epoch"]), (&json!("ok"), &json!(1)));
    assert!(played.stderr.contains("a: the server ended: exit status 3"), "{}", played.stderr);
    assert!(played.lines.iter().any(|line| line.contains(r#""event":"lost","server":"a""#)), "{:?}", played.lines);

    let played = play(&servers, &["--restart", "0"], &calls);
    let answers = played.answers();
    assert_eq!(
        [&answers[0]["kind"], &answers[1]["status"], &answers[2]["kind"]],
        [&json!("lost"), &json!("ok"), &json!("lost")]
    );
    assert_eq!(played.status, Some(4), "{}", played.stderr);
}

#[test]
fn a_server_that_cannot_be_started_fails_its_own_calls() {
    let calls = [r#"{"tool":"a__echo","id":1}"#, r#"{"tool":"b__echo","id":2}"#, r#"{"tool":"a__echo","id":3}"#];
    for fault in ["none", "exits", "endless"] {
        let played = play(&[("a", fault), ("b", "slow seconds=0.5")], &[], &calls);
        let answers = played.answers();
        assert_eq!(
            [&answers[0]["kind"], &answers[1]["status"], &answers[2]["kind"]],
            [&json!("start_failed"), &json!("ok"), &json!("start_failed")],
            "{fault}: {answers:?}"
        );
        assert_eq!(played.status, Some(3), "{fault}: {}", played.stderr);
        assert!(played.stderr.contains("a: "), "{fault}: {}", played.stderr);
    }
    let played = play(&[("a", "none"), ("b", "none")], &[], &calls);
    assert_eq!((played.lines.len(), played.status), (3, Some(3)), "{}", played.stderr);
}

#[test]
fn the_set_up_of_each_server_is_its_own() {
    let setup = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(setup.path(), "{\"tool\":\"a__count\"}\n{\"tool\":\"b__count\"}\n{\"tool\":\"a__count\"}\n")
        .unwrap();
    let setup = setup.path().to_str().unwrap();
    let servers = [("a", "echo"), ("b", "echo")];
    let played = play(&servers, &["--setup", setup], &[r#"{"tool":"a__count"}"#, r#"{"tool":"b__count"}"#]);
    let counts =
        played.answers().iter().map(|answer| answer["data"]["structuredContent"]["count"].clone()).collect::<Vec<_>>();
    assert_eq!(counts, [json!(3), json!(2)]);
    let played = play(&[("x", "echo"), ("y", "echo")], &["--setup", setup], &[]);
    assert_eq!(played.status, Some(2), "{}", played.stderr);
    assert!(played.stderr.contains(":1: \"a__count\" names no server"), "{}", played.stderr);
}

#[test]
fn an_unused_server_causes_no_wait_and_no_failure() {
    for fault in ["none", "exits", "silent"] {
        let played = play(&[("a", "echo"), ("b", fault)], &["--start-timeout", "1h"], &[r#"{"tool":"a__echo"}"#]);
        assert_eq!(
            (&played.answers()[0]["status"], played.status),
            (&json!("ok"), Some(0)),
            "{fault}: {}",
            played.stderr
        );
    }
}

#[test]
fn lost_and_hanging_servers_do_not_delay_others() {
    let mut calls: Vec<String> = (0..900)
        .map(|id| format!(r#"{{"tool":"b__echo","args":{{"message":"{}"}},"id":{id}}}"#, "x".repeat(8000)))
        .collect();
    calls.extend((0..100).map(|id| format!(r#"{{"tool":"a__echo","id":"a{id}"}}"#)));
    let calls = Vec::from_iter(calls.iter().map(String::as_str));
    let played = play(&[("a", "echo"), ("b", "silent")], &["--unordered", "--deadline", "20"], &calls);
    let answers = played.answers();
    assert!(answers[..100].iter().all(|answer| answer["status"] == "ok"), "the first of a is late");
    assert_eq!((answers.len(), played.status), (1000, Some(124)));
}
