//! `classify` and `test`.

use super::play;
use std::fs;

#[test]
fn names_are_classified_and_stay_what_they_were() {
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
fn rules_are_tried_on_cases_and_what_no_case_is_about_is_told() {
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
    assert!(well.status == Some(0) && well.stderr.contains("no case is about rule \"b\""), "{}", well.stderr);
    let failed = run(
        "{\"call\":{\"tool\":\"x\"},\"verdict\":\"allow\"}\n{\"call\":{\"tool\":\"y\"},\"verdict\":\"deny\",\"rule\":\"a\"}\n",
    );
    assert_eq!((failed.status, failed.lines.len()), (Some(1), 3));
    assert!(
        failed.stderr.contains("cases.jsonl:1: x: deny by a") && failed.stderr.contains("cases.jsonl:2: y: deny by b"),
        "{}",
        failed.stderr
    );
    let bad = run("{\"call\":{\"tool\":\"x\"}}\n");
    assert!(bad.status == Some(2) && bad.stderr.contains("cases.jsonl:1"), "{}", bad.stderr);
}
