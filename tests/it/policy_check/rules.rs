//! `--rules`.

use super::play;
use crate::process::{Talk, command};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

fn file(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.toml");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn with_rules(rules: &str, input: &str) -> super::Played {
    let (_folder, path) = file(rules);
    play(&["--rules", path.to_str().unwrap()], input)
}

fn rule(record: &Value) -> (&str, &str) {
    (record["policy"]["verdict"].as_str().unwrap_or(""), record["policy"]["rule"].as_str().unwrap_or(""))
}

#[test]
fn rules_allow_what_is_unknown_and_deny_what_they_forbid() {
    let rules = r#"
        [[rule]]
        id = "own"
        verdict = "allow"
        tool = "frobnicate"
        [[rule]]
        id = "no-keys"
        verdict = "deny"
        reason = "keys stay here"
        arguments = { ".path" = "*.pem" }
    "#;
    let calls = "{\"tool\":\"frobnicate\"}\n{\"tool\":\"read\",\"args\":{\"path\":\"a.pem\"},\"id\":1}\n{\"tool\":\"delete_x\"}\n";
    let played = with_rules(rules, calls);
    let records = played.records();
    assert_eq!(rule(&records[0]), ("allow", "own"));
    assert_eq!(
        (records[1]["kind"].as_str(), records[1]["error"].as_str()),
        (Some("denied"), Some("the policy denies this: keys stay here (no-keys)"))
    );
    assert_eq!(rule(&records[3]), ("confirm", "builtin.tool"));
    assert_eq!(played.status, Some(1));
}

#[test]
fn the_rules_in_the_documents_work_as_described() {
    let page = include_str!("../../../docs/gates.md").split("```toml\n").nth(1).unwrap();
    let rules = page.split("```").next().unwrap();
    let calls = [
        r#"{"tool":"write_file","args":{"path":"/home/me/project/a"}}"#,
        r#"{"tool":"write_file","args":{"path":"/home/me/else"}}"#,
        r#"{"tool":"pay","args":{"amount":101}}"#,
        r#"{"tool":"pay","args":{"amount":100}}"#,
    ];
    let played = with_rules(rules, &(calls.join("\n") + "\n"));
    let records = played.records();
    let verdicts: Vec<_> = records.iter().filter(|record| record["tool"].is_string()).map(rule).collect();
    assert_eq!(verdicts, [("allow", "own-folder"), ("confirm", "builtin.tool"), ("", ""), ("confirm", "builtin.tool")]);
    assert!(
        records.iter().any(|record| record["error"].as_str().is_some_and(|error| error.contains("small-payments")))
    );
    let help = play(&["--help"], "").lines.join("\n");
    let shown = help.split("[[rule]]").nth(1).unwrap().split("\n\n").next().unwrap();
    let indented = page.split("[[rule]]").nth(1).unwrap().split("not_match").next().unwrap();
    assert_eq!(shown.split_whitespace().collect::<Vec<_>>(), indented.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn a_filter_that_fails_or_never_ends_denies_by_its_own_rule_alone() {
    for (when, why) in [
        ("def f: f; f", "steps"),
        ("[range(1e12)] | length > 0", ""),
        (".arguments.a.b > 1", ""),
        ("error(\"no\")", ""),
    ] {
        let rules = format!(
            "[[rule]]\nid = \"bad\"\nverdict = \"allow\"\nwhen = '{when}'\n[[rule]]\nid = \"good\"\nverdict = \"confirm\"\nwhen = '.tool == \"read\" # only this'\n"
        );
        let records = with_rules(&rules, "{\"tool\":\"read\",\"args\":{\"a\":1}}\n").records();
        assert_eq!(records[0]["kind"], "denied", "{when}: {}", records[0]);
        let error = records[0]["error"].as_str().unwrap();
        assert!(error.contains("(bad)") && error.contains("cannot be applied") && error.contains(why), "{error}");
    }
    let rules = "[[rule]]\nid = \"a\"\nverdict = \"allow\"\nwhen = '.tool == \"x\"'\n[[rule]]\nid = \"b\"\nverdict = \"confirm\"\nwhen = '.arguments.n > 5'\n";
    let records =
        with_rules(rules, "{\"tool\":\"x\",\"args\":{\"n\":6}}\n{\"tool\":\"x\",\"args\":{\"n\":5}}\n").records();
    assert_eq!((rule(&records[1]), rule(&records[2])), (("confirm", "b"), ("allow", "a")));
}

#[test]
fn examples_are_tried_when_the_file_is_read() {
    let rules = "[[rule]]\nid = \"a\"\nverdict = \"allow\"\ntool = \"read_*\"\nmatch = ['{\"tool\":\"read_x\"}']\nnot_match = ['{\"tool\":\"write\"}']\n";
    assert_eq!(with_rules(rules, "").status, Some(0));
    for (from, to, expected) in [
        ("read_x", "rite_x", "match: {\"tool\":\"rite_x\"}: the rule does not match it"),
        ("\"write\"", "\"read_\"", "not_match: {\"tool\":\"read_\"}: the rule matches it"),
        ("{\"tool\":\"write\"}", "{\"type\":\"x\"}", "not a call"),
        ("tool = ", "when = \"if\"\ntool = ", "rules.toml:1: rule \"a\": when: "),
        ("allow", "alow", "rules.toml:3:11: unknown variant `alow`"),
    ] {
        let played = with_rules(&rules.replacen(from, to, 1), "{\"tool\":\"read\"}\n");
        assert_eq!((played.status, played.lines.len()), (Some(2), 0));
        assert!(
            played.stderr.contains("rules.toml") && played.stderr.contains(expected),
            "{expected}: {}",
            played.stderr
        );
    }
    let missing = play(&["--rules", "/no/such/rules.toml"], "");
    assert!(missing.status == Some(2) && missing.stderr.contains("/no/such/rules.toml"), "{}", missing.stderr);
}

#[test]
fn a_sighup_reads_the_rules_again_and_a_bad_file_keeps_the_former() {
    let (_folder, path) = file("[[rule]]\nid = \"first\"\nverdict = \"deny\"\ntool = \"x\"\n");
    let mut talk = Talk::start(command("policy-check").arg("--rules").arg(&path));
    let by = |talk: &mut Talk| {
        let said: Value = serde_json::from_str(&talk.ask("{\"tool\":\"x\"}")).unwrap();
        said["data"]["rule"].as_str().or(said["policy"]["rule"].as_str()).map(str::to_owned)
    };
    assert_eq!(by(&mut talk).as_deref(), Some("first"));
    fs::write(&path, "[[rule]]\nid = \"second\"\nverdict = \"deny\"\ntool = \"x\"\n").unwrap();
    talk.signal(Signal::SIGHUP);
    crate::process::eventually("the new rules", || by(&mut talk).as_deref() == Some("second"));
    fs::write(&path, "[[rule]]\nid = 7").unwrap();
    talk.signal(Signal::SIGHUP);
    talk.complains("the former rules stay", 1);
    assert_eq!(by(&mut talk).as_deref(), Some("second"));
    let ended = talk.end_after_close();
    assert!(ended.stderr.contains("the former rules stay"), "{}", ended.stderr);
    assert_eq!(ended.status.code(), Some(1));
}

#[test]
fn a_file_that_is_cut_off_keeps_the_former_rules() {
    let rules = "[[rule]]\nid = \"a\"\nverdict = \"allow\"\ntool = \"x\"\n\n[[rule]]\nid = \"b\"\nverdict = \"deny\"\ntool = \"y\"\n";
    let (_folder, path) = file(rules);
    let mut talk = Talk::start(command("policy-check").args(["--rules", path.to_str().unwrap()]));
    let denied = |talk: &mut Talk| talk.ask("{\"tool\":\"y\",\"id\":1}").contains("\"kind\":\"denied\"");
    assert!(denied(&mut talk));
    for (times, cut) in (1..).zip(["", "\n", rules.split_once("\n\n").unwrap().0]) {
        fs::write(&path, cut).unwrap();
        talk.signal(Signal::SIGHUP);
        talk.complains("the former rules stay", times);
        assert!(denied(&mut talk), "{cut:?}");
    }
    fs::write(&path, "# without the second rule\n[[rule]]\nid = \"a\"\nverdict = \"allow\"\ntool = \"x\"\n").unwrap();
    talk.signal(Signal::SIGHUP);
    crate::process::eventually("the new rules", || !denied(&mut talk));
    let ended = talk.end_after_close();
    assert_eq!(ended.stderr.matches("the former rules stay").count(), 3, "{}", ended.stderr);
}

#[test]
fn conditions_on_agents_plans_targets_and_numbers() {
    let rules = r#"
        builtin = false
        default = "deny"
        [[rule]]
        id = "agent"
        verdict = "allow"
        agent = "bot-*"
        plan = "p?"
        arguments = { ".amount" = { min = 1, max = 10 }, ".to[0]" = { not = "*@evil.example" } }
        [[rule]]
        id = "target"
        verdict = "allow"
        target = { role = "link", name = "*NEXT*" }
    "#;
    let call = json!({"type":"tool_call","tool_name":"x","agent_id":"cat","plan_id":"p1","arguments":{"amount":10,"to":["a@b.example"]}});
    let alter = |pointer: &str, value: Value| {
        let mut other = call.clone();
        *other.pointer_mut(pointer).unwrap() = value;
        other
    };
    let target = json!({"type":"tool_call","tool_name":"x","target":{"role":"link","name":"The next page"}});
    let input: String = [
        call.clone(),
        alter("/plan_id", json!("q")),
        alter("/arguments/amount", json!(10.5)),
        alter("/arguments/amount", json!("5")),
        alter("/arguments/to/0", json!("x@evil.example")),
        target,
    ]
    .iter()
    .map(|call| format!("{call}\n"))
    .collect();
    let (_folder, path) = file(rules);
    let played = play(&["--rules", path.to_str().unwrap(), "--agent", "bot-1"], &input);
    let verdicts = |played: &super::Played| -> Vec<bool> {
        played.records().iter().map(|record| record["policy"]["verdict"] == "allow").collect()
    };
    assert_eq!(verdicts(&played), [true, false, false, true, false, true], "{:?}", played.lines);
    // A call may name any agent.
    let claimed = alter("/agent_id", json!("bot-1"));
    let played = with_rules(rules, &format!("{claimed}\n"));
    assert_eq!(verdicts(&played), [false]);
    assert!(
        played.stderr.contains("rule \"agent\" has an agent, and matches no call without --agent"),
        "{}",
        played.stderr
    );
}

#[test]
fn a_limit_does_not_hold_if_the_argument_is_absent() {
    let rules = "[[rule]]\nid = \"small\"\nverdict = \"allow\"\ninstead_of_builtin = true\nwhen = \".arguments.amount < 100\"\n";
    let calls = "{\"tool\":\"pay\",\"args\":{\"amount\":5}}\n{\"tool\":\"pay\",\"args\":{}}\n";
    let played = with_rules(rules, calls);
    let verdicts: Vec<_> = played
        .records()
        .iter()
        .filter(|record| record["tool"].is_string())
        .map(|record| rule(record).0.to_owned())
        .collect();
    assert_eq!(verdicts, ["allow", "confirm"], "{:?}", played.lines);
}

#[test]
fn a_limit_counts_for_numbers_in_strings_and_other_text_never_passes_it() {
    let verdicts = |verdict: &str, limits: &str, amounts: &[Value]| -> Vec<bool> {
        let rules = format!(
            "builtin = false\ndefault = \"{}\"\n[[rule]]\nid = \"r\"\nverdict = \"{verdict}\"\narguments = {{ \".amount\" = {{ {limits} }} }}\n",
            if verdict == "allow" { "deny" } else { "allow" }
        );
        let calls: String = amounts
            .iter()
            .map(|amount| json!({"tool": "pay", "args": {"amount": amount}}).to_string() + "\n")
            .collect();
        let played = with_rules(&rules, &calls);
        let records = played.records().into_iter().filter(|record| record["type"] != "policy_request");
        records.map(|record| record["policy"]["rule"] == "r" || record["data"]["rule"] == "r").collect()
    };
    let above = ["100", "100.50", " 100 ", "1000", "12345678901234567890123"].map(Value::from);
    let below = ["99.99", "0", "-100", "\t5\n"].map(Value::from);
    // Programs disagree about these, or they are not numbers at all.
    let unclear = [
        json!("1e3"),
        json!("0x10"),
        json!("1,000"),
        json!("1.000,00"),
        json!("+100"),
        json!("0100"),
        json!(".5"),
        json!("100."),
        json!("1_000"),
        json!("\u{661}\u{660}\u{660}"),
        json!("\u{a0}100"),
        json!("100 EUR"),
        json!("a lot"),
        json!("NaN"),
        json!("Infinity"),
        json!("-"),
        json!(""),
        json!(true),
        Value::Null,
        json!([150]),
        json!({"value": 150}),
    ];
    for verdict in ["deny", "confirm"] {
        assert_eq!(verdicts(verdict, "min = 100", &above), [true; 5]);
        assert_eq!(verdicts(verdict, "min = 100", &below), [false; 4]);
        assert_eq!(verdicts(verdict, "max = 99.99", &below), [true; 4]);
        assert_eq!(verdicts(verdict, "min = 100, max = 200", &unclear), [true; 21], "{verdict}");
    }
    assert_eq!(verdicts("allow", "min = 100", &above), [true; 5]);
    assert_eq!(verdicts("allow", "min = 100", &below), [false; 4]);
    assert_eq!(verdicts("allow", "max = 99.99", &below), [true; 4]);
    assert_eq!(verdicts("allow", "min = 0", &unclear), [false; 21]);
    assert_eq!(verdicts("allow", "max = 1000000", &unclear), [false; 21]);
}

#[test]
fn a_limit_on_an_argument_that_is_not_there_does_not_hold() {
    let rules = "[[rule]]\nid = \"r\"\nverdict = \"deny\"\narguments = { \".amount\" = { min = 100 } }\n";
    let played = with_rules(rules, "{\"tool\":\"read\"}\n{\"tool\":\"read\",\"args\":{\"amount\":1e999}}\n");
    assert!(
        played.lines[0].contains("\"verdict\":\"allow\"") && !played.lines[0].contains("error"),
        "{:?}",
        played.lines
    );
    assert!(
        played.lines[1].contains("\"rule\":\"r\""),
        "a number that is too large to be compared: {:?}",
        played.lines
    );
}

#[test]
fn an_unreadable_condition_is_reported_with_its_line() {
    let head = "[[rule]]\nid = \"a\"\nverdict = \"deny\"\n";
    for (rest, place, expected) in [
        (
            "arguments = { \".amount\" = { mni = 100 } }",
            "4:29",
            "unknown field `mni`, expected one of `exists`, `glob`",
        ),
        ("[rule.arguments]\n\".path\" = \"x\"\n\".amount\" = { min = 1, maxx = 2 }", "6:24", "unknown field `maxx`"),
        ("arguments = { \".amount\" = { min = \"1\" } }", "4:35", "invalid type: string \"1\", expected f64"),
        (
            "arguments = { \".amount\" = 100 }",
            "4:27",
            "invalid type: integer `100`, expected a pattern, a list of patterns, or",
        ),
        (
            "arguments = { \".path\" = { glob = 7 } }",
            "4:34",
            "invalid type: integer `7`, expected a pattern or a list of patterns",
        ),
        ("tool = { name = \"x\" }", "4:8", "invalid type: map, expected a pattern or a list of patterns"),
        ("tool = [\"x\", 7]", "4:14", "invalid type: integer `7`, expected a string"),
    ] {
        let played = with_rules(&format!("{head}{rest}\n"), "");
        assert_eq!(played.status, Some(2), "{rest}");
        assert!(played.stderr.contains(&format!("rules.toml:{place}: {expected}")), "{rest}: {}", played.stderr);
    }
}

#[test]
fn a_rule_without_conditions_gets_a_warning() {
    let all =
        "[[rule]]\nid = \"fine\"\nverdict = \"deny\"\ntool = \"*\"\n\n[[rule]]\nid = \"all\"\nverdict = \"allow\"\n";
    let warning = "rules.toml:6: rule \"all\" has no condition, so it applies to every call";
    let (folder, path) = file(all);
    let cases = folder.path().join("cases");
    fs::write(&cases, "").unwrap();
    let path = path.to_str().unwrap();
    for arguments in [vec!["--rules", path], vec!["test", path, cases.to_str().unwrap()]] {
        let played = play(&arguments, "");
        assert_eq!((played.status, played.stderr.matches(warning).count()), (Some(0), 1), "{}", played.stderr);
        assert!(!played.stderr.contains("\"fine\" has"), "{}", played.stderr);
    }
    let hitl_gate = crate::process::pipe(command("hitl-gate").args(["--rules", path]), b"");
    assert!(crate::process::text(&hitl_gate.stderr).contains(warning));
}
