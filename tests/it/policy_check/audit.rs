//! `--audit` and `verify`.

use super::play;
use crate::process::{Talk, command, pipe, text};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn audited(path: &Path, options: &[&str], input: &str) -> super::Played {
    play(&[&["--audit", path.to_str().unwrap()], options].concat(), input)
}

fn verify(paths: &[&Path]) -> (Option<i32>, Vec<Value>, String) {
    let output = pipe(command("policy-check").arg("verify").args(paths), b"");
    let lines = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code(), lines, text(&output.stderr))
}

const CALLS: &str =
    "{\"tool\":\"read\",\"id\":1}\n{\"tool\":\"delete_file\",\"args\":{\"password\":\"s3cret\"},\"id\":2}\nhello\n";

#[test]
fn every_verdict_is_written_before_it_takes_effect_and_the_chain_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    audited(&path, &[], CALLS);
    audited(&path, &["--confirm", "refuse"], CALLS);
    let written = crate::schemas::written(&path);
    assert!(!written.contains("s3cret"), "arguments are not for the audit: {written}");
    let (status, summaries, stderr) = verify(&[&path]);
    assert!(status == Some(0) && stderr.contains("name the audit of hitl-gate as well"), "{stderr}");
    assert_eq!(summaries[0]["verdicts"], json!({"allow":2,"confirm":2,"deny":2}), "{}", summaries[0]);
    let changed = written.replacen("\"verdict\":\"confirm\"", "\"verdict\":\"allow\"", 1);
    fs::write(&path, changed).unwrap();
    let (status, summaries, stderr) = verify(&[&path]);
    assert_eq!((status, &summaries[0]["broken"]["line"]), (Some(1), &json!(3)));
    assert!(stderr.contains("audit.jsonl:3"), "{stderr}");
}

#[test]
fn a_filter_that_fails_on_a_secret_does_not_write_it_to_the_audit() {
    let folder = tempfile::tempdir().unwrap();
    let (path, rules) = (folder.path().join("audit.jsonl"), folder.path().join("rules.toml"));
    fs::write(&rules, "[[rule]]\nid = \"sum\"\nverdict = \"allow\"\nwhen = '.arguments.password + 1 > 3'\n").unwrap();
    let played = audited(&path, &["--rules", rules.to_str().unwrap()], CALLS);
    assert!(played.stderr.contains("the rule cannot be applied: the filter failed"), "{}", played.stderr);
    let written = fs::read_to_string(&path).unwrap();
    assert!(written.contains("the filter failed") && !written.contains("s3cret"), "{written}");
}

#[test]
fn calls_that_passed_without_a_question_while_observing_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    audited(&path, &["--mode", "observe"], CALLS);
    let (status, summaries, _) = verify(&[&path]);
    assert_eq!((status, &summaries[0]["unapproved"][0]["tool"]), (Some(1), &json!("delete_file")));
}

#[test]
fn an_audit_that_cannot_be_written_is_a_usage_error() {
    let full = play(&["--audit", "/dev/full"], CALLS);
    assert_eq!((full.status, full.lines.len()), (Some(2), 0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let mut first = Talk::start(command("policy-check").arg("--audit").arg(&path));
    first.ask("{\"tool\":\"read\"}");
    let second = audited(&path, &[], CALLS);
    assert_eq!((second.status, second.lines.len()), (Some(2), 0));
    assert!(second.stderr.contains("another process"), "{}", second.stderr);
    first.end_after_close();
    assert_eq!(verify(&[Path::new("/no/such/audit")]).0, Some(2));
}
