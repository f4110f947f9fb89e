//! `classify`, `test` and `tools`.

use super::play;
use crate::process::{Talk, command, eventually};
use nix::sys::signal::Signal;
use std::fs;
use std::os::unix::process::ExitStatusExt;

#[test]
fn names_are_classified_without_other_changes() {
    let played = play(
        &["classify"],
        "{\"role\":\"button\",\"name\":\"Place order\", \"n\":1.10}\n{\"name\":\"Order history\",\"locale\":\"en\"}\n\n{\"name\":\"OK\",\"context\":\"Delete this file?\"}\nhello\n{\"role\":7}",
    );
    assert_eq!(
        played.lines[..2],
        [
            r#"{"role":"button","name":"Place order", "n":1.10,"destructive":true,"kind":"order","because":"order: \"place order\" (en)"}"#,
            r#"{"name":"Order history","locale":"en","destructive":false,"kind":null,"because":null}"#
        ]
    );
    assert!(played.lines[3].contains("in its context"), "{}", played.lines[3]);
    assert_eq!(played.lines[4..], ["hello", "{\"role\":7}"]);
    assert!(played.stderr.contains("stdin:5:") && played.stderr.contains("stdin:6:"), "{}", played.stderr);
    assert_eq!(played.status, Some(1));
}

#[test]
fn rules_are_tried_on_cases_and_rules_without_a_case_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (rules, cases) = (folder.path().join("rules.toml"), folder.path().join("cases.jsonl"));
    fs::write(&rules, "[[rule]]\nid = \"a\"\nverdict = \"deny\"\ntool = \"x\"\n[[rule]]\nid = \"b\"\nverdict = \"deny\"\ntool = \"y\"\n").unwrap();
    let run = |text: &str| {
        fs::write(&cases, text).unwrap();
        play(&["test", rules.to_str().unwrap(), cases.to_str().unwrap()], "")
    };
    let well = run(
        "{\"call\":{\"tool\":\"x\"},\"verdict\":\"deny\",\"rule\":\"a\"}\n\n{\"call\":{\"tool\":\"read\"},\"verdict\":\"allow\"}\n",
    );
    assert_eq!(well.lines, [r#"{"cases":2,"failed":0,"rules":{"a":1,"b":0}}"#]);
    assert!(well.status == Some(0) && well.stderr.contains("no case matches rule \"b\""), "{}", well.stderr);
    let failed = run(
        "{\"call\":{\"tool\":\"x\"},\"verdict\":\"allow\"}\n{\"call\":{\"tool\":\"y\"},\"verdict\":\"deny\",\"rule\":\"a\"}\n",
    );
    assert_eq!(
        failed.lines,
        [
            r#"{"case":1,"failed":"x: deny by a (rule a), not allow"}"#,
            r#"{"case":2,"failed":"y: deny by b (rule b), not deny by a"}"#,
            r#"{"cases":2,"failed":2,"rules":{"a":1,"b":1}}"#
        ]
    );
    assert_eq!((failed.status, failed.stderr.as_str()), (Some(1), ""), "each failure is printed once");
    let bad = run("{\"call\":{\"tool\":\"x\"}}\n");
    assert!(bad.status == Some(2) && bad.stderr.contains("cases.jsonl:1"), "{}", bad.stderr);
}

#[test]
fn cases_are_read_from_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.toml");
    fs::write(&rules, "[[rule]]\nid = \"a\"\nverdict = \"deny\"\ntool = \"x\"\n").unwrap();
    let run = |cases: &str| play(&["test", rules.to_str().unwrap(), "-"], cases);
    let well = run("{\"call\":{\"tool\":\"x\"},\"verdict\":\"deny\"}\n");
    assert_eq!((well.lines, well.status), (vec![r#"{"cases":1,"failed":0,"rules":{"a":1}}"#.to_owned()], Some(0)));
    let failed = run("\n{\"call\":{\"tool\":\"x\"},\"verdict\":\"allow\"}\n");
    assert_eq!((failed.lines.len(), failed.status, failed.lines[0].contains("\"case\":2")), (2, Some(1), true));
    let bad = run("{\"call\":{\"tool\":\"x\"},\"verdict\":\"deny\"}\nx\n");
    assert!(bad.status == Some(2) && bad.stderr.contains("policy-check: stdin:2: "), "{}", bad.stderr);
    let none = run("");
    assert_eq!((none.lines, none.status), (vec![r#"{"cases":0,"failed":0,"rules":{"a":0}}"#.to_owned()], Some(0)));
}

#[test]
fn signals_end_a_subcommand_that_does_not_receive_them() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.toml");
    fs::write(&rules, "[[rule]]\nid = \"a\"\nverdict = \"deny\"\ntool = \"x\"\n").unwrap();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let talk = Talk::start(command("policy-check").arg("test").arg(&rules).arg("-"));
        let threads = format!("/proc/{}/task", talk.pid());
        eventually("a thread waits for signals", || fs::read_dir(&threads).unwrap().count() == 2);
        talk.signal(signal);
        let ended = talk.end();
        assert_eq!(ended.status.signal(), Some(signal as i32));
    }
}

const LIST: &str = r#"{
    "jsonrpc": "2.0", "id": 1, "result": {"tools": [
        {"name": "get_forecast", "annotations": {"destructiveHint": false}},
        {"name": "delete_station"},
        {"name": "frobnicate", "annotations": {"readOnlyHint": true}},
        {"name": "run_command"},
        {"name": "read_once", "annotations": {"destructiveHint": true}},
        {"name": "it's \"odd\" *"}
    ]}
}"#;

#[test]
fn tools_of_a_list_are_judged_in_a_table() {
    let played = play(&["tools"], LIST);
    assert_eq!(
        played.lines,
        [
            "get_forecast    allow    it only looks",
            "delete_station  confirm  the tool's name says \"delete\"",
            "frobnicate      confirm  the effect of frobnicate is not known",
            "run_command     confirm  it runs what is written in its arguments (the arguments decide)",
            "read_once       confirm  its server marks it as destructive",
            "it's \"odd\" *    confirm  the effect of it's \"odd\" * is not known",
            "6 tools, 5 asked about",
        ]
    );
    assert_eq!((played.status, &*played.stderr), (Some(0), ""));
    let record = r#"{"type":"tool_list","tools":[{"name":"frobnicate","annotations":{"readOnlyHint":true}}]}"#;
    let trusted = play(&["tools", "--trust-hints"], &format!("noise\n{record}\n"));
    assert!(trusted.lines[0].contains("allow"), "{:?}", trusted.lines);
    let none = play(&["tools"], "{}");
    assert!(none.status == Some(2) && none.stderr.contains("not a list of tools"), "{}", none.stderr);
}

#[test]
fn tools_of_a_server_are_judged_in_a_table() {
    let server = crate::process::example("stand-in-server");
    let played = play(&["tools", "--", server.to_str().unwrap(), "echo"], "");
    assert!(played.lines.iter().any(|line| line.starts_with("echo ") && line.contains("allow")), "{:?}", played.lines);
    assert_eq!(played.status, Some(0));
    let gone = play(&["tools", "--", "false"], "");
    assert!(gone.status == Some(4) && gone.stderr.contains("ended before it listed"), "{}", gone.stderr);
}

#[test]
fn starter_rules_give_the_verdicts_of_the_built_in_policy() {
    let folder = tempfile::tempdir().unwrap();
    let (rules, cases) = (folder.path().join("rules.toml"), folder.path().join("cases.jsonl"));
    let starter = play(&["tools", "--starter-rules"], LIST).lines.join("\n");
    fs::write(&rules, &starter).unwrap();
    let case = |tool: &str, by: &str| {
        format!("{{\"call\":{{\"tool\":\"{tool}\"}},\"verdict\":\"confirm\",\"rule\":\"{by}\"}}\n")
    };
    let decided = ["delete_station", "frobnicate", "read_once"].map(|tool| case(tool, tool)).concat();
    fs::write(&cases, decided + &case("run_command", "builtin.run")).unwrap();
    let tested = play(&["test", rules.to_str().unwrap(), cases.to_str().unwrap()], "");
    assert_eq!((tested.status, &*tested.stderr), (Some(0), ""), "{starter}");
}

#[test]
fn an_observing_gate_ends_with_a_summary_of_each_tool() {
    let calls = "{\"tool\":\"look\"}\n{\"tool\":\"delete_file\"}\n{\"tool\":\"look\"}\n";
    let played = play(&["--mode", "observe"], calls);
    assert_eq!(played.lines.join("\n") + "\n", calls);
    assert_eq!(
        played.stderr,
        "policy-check: delete_file: calls 1, allow 0, confirm 1, deny 0\n\
         policy-check: look: calls 2, allow 2, confirm 0, deny 0\n\
         policy-check: in all: calls 3, allow 2, confirm 1, deny 0\n"
    );
}
