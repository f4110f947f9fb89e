//! `jsonl-mask`: what is found, what stays, and what is done about a line that can't be looked into.

mod recall;

use crate::process::{command, pipe, text};
use std::path::{Path, PathBuf};

/// What it prints for an input, with its exit status.
fn run(arguments: &[&str], input: &[u8]) -> (Vec<u8>, String, Option<i32>) {
    let output = pipe(command("jsonl-mask").args(arguments), input);
    (output.stdout, text(&output.stderr), output.status.code())
}

fn masked(input: &str) -> String {
    let (stdout, stderr, status) = run(&[], input.as_bytes());
    assert_eq!((stderr.as_str(), status), ("", Some(0)));
    text(&stdout)
}

#[test]
fn values_become_placeholders_and_all_other_bytes_stay() {
    let input = "\u{feff}{\"to\":\"ann@example.com\", \"n\":1.10,\"big\":12345678901234567890 }\r\n\n\
                 {\"password\":\"hunter2\",\"to\":\"ANN@example.com\"}\n{\"b\":\"x\", \"a\":4111111111111111}\ntext to bob@example.com";
    let expected = "\u{feff}{\"to\":\"<EMAIL_1>\", \"n\":1.10,\"big\":12345678901234567890 }\r\n\n\
                    {\"password\":\"<PASSWORD_1>\",\"to\":\"<EMAIL_1>\"}\n{\"b\":\"x\", \"a\":4111111111111111}\ntext to <EMAIL_2>";
    assert_eq!(masked(input), expected);
}

#[test]
fn a_password_that_an_agent_types_stays_in_no_record() {
    let input = concat!(
        r#"{"type":"tool_call","call_id":"c1","tool_name":"browser_overlay_act","arguments":{"index":3,"action":"type","text":"hunter2"},"target":{"role":"textbox","name":"Password"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"browser_type","arguments":{"element":"Password","text":"hunter2"}}}"#,
        "\n",
    );
    let masked = masked(input);
    assert_eq!(masked, input.replace("hunter2", "<PASSWORD_1>"));
}

#[test]
fn what_a_model_writes_stays_whatever_the_order_of_its_fields() {
    let input = concat!(
        r#"{"type":"assistant_message","token":"Buying a lamp.","is_final":false,"kind":"progress"}"#,
        "\n",
        r#"{"is_final":true,"kind":"answer","token":"Hello","type":"assistant_message"}"#,
        "\n",
        r#"{"token":"abc","type":"session"}"#,
        "\n",
    );
    assert_eq!(masked(input), input.replace("abc", "<TOKEN_1>"));
}

#[test]
fn secrets_in_commands_settings_and_lists_of_headers_are_masked() {
    let input = concat!(
        r#"{"command":"DB_PASSWORD='a b' app --token abc123 -H 'X-Api-Key: abc123'"}"#,
        "\n",
        r#"{"headers":[["Authorization","Basic abc123"],["Accept","text/html"]]}"#,
        "\nThe password is hunter2. Your login code: 123456\n",
    );
    let expected = concat!(
        r#"{"command":"DB_PASSWORD='<PASSWORD_1>' app --token <TOKEN_1> -H 'X-Api-Key: <TOKEN_1>'"}"#,
        "\n",
        r#"{"headers":[["Authorization","Basic <TOKEN_1>"],["Accept","text/html"]]}"#,
        "\nThe password is <PASSWORD_2>. Your login code: <CODE_1>\n",
    );
    assert_eq!(masked(input), expected);
}

#[test]
fn a_line_that_cannot_be_looked_into_is_withheld() {
    let secret = format!("{{\"password\":\"hunter2{}\"}}", " ".repeat(3000));
    let deep = format!("{}\"hunter2\"{}", "[".repeat(600), "]".repeat(600));
    let input = format!("{secret}\r\n{deep}\n{{\"a\":1}}\n{secret}");
    let (stdout, stderr, status) = run(&["--max-line", "2K"], input.as_bytes());
    let record = |line: u32, why: &str| {
        format!(
            "{{\"type\":\"error\",\"context\":{{}},\"content\":\"line {line} is withheld, since it cannot be masked: {why}\"}}"
        )
    };
    let (long, deep) = ("longer than --max-line", "nested deeper than --max-depth");
    let expected = format!("{}\r\n{}\n{{\"a\":1}}\n{}", record(1, long), record(2, deep), record(4, long));
    assert_eq!((text(&stdout), status), (expected, Some(1)));
    let told = format!("jsonl-mask: stdin:1: {long}; withheld\njsonl-mask: stdin:2: {deep}; withheld\n");
    assert!(stderr.starts_with(&told) && stderr.contains("stdin:4: "), "{stderr}");
}

#[test]
fn odd_bytes_pass_as_they_are() {
    let odd: &[&[u8]] = &[
        b"\xef\xbb\xbf{\"big\":12345678901234567890,\"f\":1.10}\r\n",
        b"\n",
        b" \t \r\n",
        b"{\"nul\":\"\0\"}\n",
        b"\xff\xfe\n",
        b"{\"a\":1}\r{\"b\":2}\n",
        b"{\"dup\":1,\"dup\":2}\n",
        b"{\"torn\":\n",
        &[b'x'; 70_000],
        b"\n[1,\n\"no line feed at the end\"",
    ];
    let input = odd.concat();
    let (stdout, stderr, status) = run(&[], &input);
    assert!(stdout == input && stderr.is_empty() && status == Some(0), "{stderr}");
}

#[test]
fn rules_of_a_file_add_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.toml");
    let rules = "[[rule]]\nname = \"CUSTOMER\"\nregex = 'C-\\d{6}'\nfields = [\"customer_id\"]\n";
    std::fs::write(&path, rules).unwrap();
    let rules = ["--rules", path.to_str().unwrap()];
    let (stdout, ..) = run(&rules, b"{\"a\":\"for C-123456\",\"customerId\":\"ann\",\"to\":\"ann@example.com\"}\n");
    assert_eq!(text(&stdout), "{\"a\":\"for <CUSTOMER_1>\",\"customerId\":\"<CUSTOMER_2>\",\"to\":\"<EMAIL_1>\"}\n");
    std::fs::write(&path, "[[rule]]\nname = \"A\"\nregex = '('\n").unwrap();
    let (stdout, stderr, status) = run(&rules, b"{}\n");
    assert!(stdout.is_empty() && status == Some(2), "{stderr}");
    assert!(stderr.starts_with(&format!("jsonl-mask: {}:1:1: rule \"A\": regex: ", path.display())), "{stderr}");
    let (_, stderr, status) = run(&["--rules", "/nowhere.toml"], b"");
    assert_eq!(
        (stderr.as_str(), status),
        ("jsonl-mask: /nowhere.toml: the rules cannot be read: No such file or directory (os error 2)\n", Some(2))
    );
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Games, snapshots of pages, answers of models: nothing in there is of anybody.
#[test]
fn nothing_in_the_recordings_is_taken_for_personal_data() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut lines = 0;
    for path in files(&fixtures) {
        // The first is made of personal data, the second is a private key.
        if path.starts_with(fixtures.join("mask")) || path.ends_with("localhost.key") {
            continue;
        }
        let content = std::fs::read(&path).unwrap();
        let (stdout, stderr, _) = run(&[], &content);
        assert!(stdout == content, "{}: {stderr}", path.display());
        lines += content.split(|byte| *byte == b'\n').count();
    }
    assert!(lines > 500, "{lines}");
}
