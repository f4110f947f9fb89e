//! What a question about shell text or SQL says: the parts that caused it, and no other.

use super::play;
use serde_json::{Value, json};

fn reason(tool: &str, args: Value) -> String {
    let records = play(&[], &format!("{}\n", json!({"tool": tool, "args": args, "id": 1}))).records();
    let asked = records.iter().find(|record| record.get("requires_approval").is_some());
    asked.and_then(|record| record["policy"]["reason"].as_str()).unwrap_or_default().to_owned()
}

fn of_shell(text: &str) -> String {
    reason("Bash", json!({"command": text}))
}

const RUNS: &str = "it runs what is written in its arguments";

#[test]
fn a_question_names_the_only_command_that_does_more_than_read() {
    let line = format!("{}rm -rf build && {}", "git status && ".repeat(20), "ls; ".repeat(20));
    assert_eq!(of_shell(line.trim_end_matches("; ")), format!("{RUNS}: \"rm -rf build\""));
    for (text, part) in [
        ("cd src && make -j8 | tail -5", "\"make -j8\""),
        ("ls; cat a > b; wc -l c", "\"cat a > b\""),
        ("for f in *.rs; do grep x \"$f\"; rm \"$f\"; done", "\"rm \\\"$f\\\"\""),
        ("echo $(git push origin main) | cat", "\"git push origin main\""),
        ("ls && sh -c 'cat a; touch b'", "\"touch b\""),
        ("env LANG=C timeout 5 git fetch; ls", "\"env LANG=C timeout 5 git fetch\""),
        ("cat <<EOF | tee out\nsecret\nEOF", "\"tee out\""),
        ("PATH=x; ls", "\"PATH=x\""),
        ("ls; npm ls; npm install; npm test", "\"npm install\", \"npm test\""),
        ("a; b; c; d; e", "\"a\", \"b\", \"c\", and 2 more"),
        ("ls\ngit log\necho $'x'\n", "it quotes or expands in a way that only some shells know: \"echo $'x'\""),
        ("echo $'x'", "it quotes or expands in a way that only some shells know"),
    ] {
        assert_eq!(of_shell(text), format!("{RUNS}: {part}"), "{text}");
    }
    let long = of_shell(&format!("ls; touch {}", "x".repeat(3000)));
    assert!(long.len() < 300 && long.ends_with("x..."), "{long}");
}

#[test]
fn a_question_names_the_only_statement_that_does_more_than_read() {
    for (text, part) in [
        ("SELECT 1; SELECT 2; DROP TABLE users; SELECT 3", "\"DROP TABLE users\""),
        ("SELECT a FROM t; SELECT pg_terminate_backend(1) FROM t", "pg_terminate_backend() in"),
        ("DELETE FROM t", "\"DELETE FROM t\""),
    ] {
        let reason = reason("execute_sql", json!({"sql": text}));
        assert!(reason.starts_with(&format!("{RUNS}: {part}")), "{reason}");
        assert!(!reason.contains("SELECT 2") && !reason.contains("FROM t;"), "{reason}");
    }
    let other = reason("get_rows", json!({"sql": "SELECT 1; DROP TABLE t"}));
    assert!(other.contains("\"DROP TABLE t\"") && !other.contains("SELECT"), "{other}");
}

#[test]
fn a_question_about_a_command_in_another_tool_names_the_part() {
    let reason = reason("get_status", json!({"command": "ls; make all"}));
    assert_eq!(reason, "it may run the text in \"command\": \"make all\"");
}

#[test]
fn an_audit_has_no_part_of_the_arguments() {
    let audit = tempfile::NamedTempFile::new().unwrap();
    let call = json!({"tool": "Bash", "args": {"command": "ls; upload --token hunter2"}, "id": 1});
    let played = play(&["--audit", audit.path().to_str().unwrap()], &format!("{call}\n"));
    assert!(played.lines.concat().contains("upload --token hunter2\\\""), "{:?}", played.lines);
    let audit = std::fs::read_to_string(audit.path()).unwrap();
    assert!(audit.contains(RUNS) && !audit.contains("hunter2"), "{audit}");
}
