//! `jsonl-mask`: found values, unchanged text, and lines that cannot be parsed.

mod recall;

use crate::process::{command, pipe, text};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The output for an input, and the exit status.
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
fn values_become_placeholders_and_all_other_bytes_are_unchanged() {
    let input = "\u{feff}{\"to\":\"ann@example.com\", \"n\":1.10,\"big\":12345678901234567890 }\r\n\n\
                 {\"password\":\"hunter2\",\"to\":\"ANN@example.com\"}\n{\"b\":\"x\", \"a\":4111111111111111}\ntext to bob@example.com";
    let expected = "\u{feff}{\"to\":\"<EMAIL_1>\", \"n\":1.10,\"big\":12345678901234567890 }\r\n\n\
                    {\"password\":\"<PASSWORD_1>\",\"to\":\"<EMAIL_1>\"}\n{\"b\":\"x\", \"a\":4111111111111111}\ntext to <EMAIL_2>";
    assert_eq!(masked(input), expected);
}

#[test]
fn no_record_contains_a_password_that_an_agent_types() {
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
fn the_text_of_a_model_is_unchanged_in_any_order_of_fields() {
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
    let message = format!("jsonl-mask: stdin:1: {long}; withheld\njsonl-mask: stdin:2: {deep}; withheld\n");
    assert!(stderr.starts_with(&message) && stderr.contains("stdin:4: "), "{stderr}");
}

#[test]
fn unusual_bytes_are_passed_on_unchanged() {
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
fn rules_from_a_file_add_kinds() {
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

/// Games, snapshots of pages, answers of models: they contain no personal data.
#[test]
fn nothing_in_the_recordings_is_mistaken_for_personal_data() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut lines = 0;
    for path in files(&fixtures) {
        // The first consists of personal data, the second is a private key.
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

/// A recording of what a shell command prints.
fn recorded(script: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let recorder = command("jsonl-record").arg(&log).args(["--", "sh", "-c", script]).stdin(Stdio::null()).output();
    assert!(recorder.unwrap().status.success());
    std::fs::read(&log).unwrap()
}

#[test]
fn bytes_in_a_recording_are_masked() {
    let log = recorded(r#"printf '{"password":"hunter2x","name":"caf\351"}\n'"#);
    let (masked, stderr, status) = run(&[], &log);
    assert_eq!((stderr.as_str(), status), ("", Some(0)));
    let record = text(&masked).lines().find(|line| line.contains("\"out\"")).unwrap().to_owned();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, record["b64"].as_str().unwrap());
    assert_eq!(bytes.unwrap(), b"{\"password\":\"<PASSWORD_1>\",\"name\":\"caf\xe9\"}");
}

#[test]
fn a_private_key_in_a_recording_is_masked() {
    let log = recorded(
        "printf -- '-----BEGIN RSA PRIVATE KEY-----\\nMIIEowIBAAKCAQEAwJ1v\\nZg==\\n-----END RSA PRIVATE KEY-----\\nend\\n'",
    );
    let masked = text(&run(&[], &log).0);
    assert!(!masked.contains("MIIE") && !masked.contains("Zg==") && masked.contains("\"text\":\"end\""), "{masked}");
}

#[test]
fn a_line_in_two_records_is_masked_as_one() {
    let record =
        |seq: u32, dir: &str, content: &str| format!("{{\"t\":{seq},\"seq\":{seq},\"dir\":\"{dir}\",{content}}}\n");
    let lines = [
        record(1, "out", r#""text":"{\"a\":1,\"k\":\"ghp_0123456789ab","more":true"#),
        record(2, "in", r#""msg":{"to":"ann@example.com"}"#),
        record(3, "err", r#""text":"to bob@exa","more":true"#),
        record(4, "out", r#""text":"cdefghij0123456789","more":true"#),
        record(5, "out", r#""text":"abcdef\"}""#),
        record(6, "err", r#""text":"mple.com""#),
        record(7, "out", r#""text":"end""#),
    ];
    let expected = [
        record(1, "out", r#""text":"{\"a\":1,\"k\":\"<KEY_1>","more":true"#),
        record(2, "in", r#""msg":{"to":"<EMAIL_1>"}"#),
        record(3, "err", r#""text":"to <EMAIL_2>","more":true"#),
        record(4, "out", r#""text":"","more":true"#),
        record(5, "out", r#""text":"\"}""#),
        record(6, "err", r#""text":"""#),
        record(7, "out", r#""text":"end""#),
    ];
    assert_eq!(masked(&lines.concat()), expected.concat());
    // A log that was cut off is masked as far as it goes.
    assert_eq!(masked(&lines[..4].concat()).lines().count(), 4);
}

#[test]
fn a_line_in_records_that_are_too_long_together_is_withheld() {
    let piece = |seq: u32, more: &str| {
        format!("{{\"t\":1,\"seq\":{seq},\"dir\":\"out\",\"text\":\"{}\"{more}}}\n", "x".repeat(900))
    };
    let more = ",\"more\":true";
    let input = [piece(1, more), piece(2, more), piece(3, more), piece(4, ""), piece(5, "")].concat();
    let (stdout, stderr, status) = run(&["--max-line", "2K"], input.as_bytes());
    let lines: Vec<String> = text(&stdout).lines().map(str::to_owned).collect();
    assert_eq!((lines.len(), status), (5, Some(1)), "{stderr}");
    assert!(lines[..4].iter().all(|line| line.contains("is withheld")) && lines[4].contains("xxx"), "{lines:?}");
}

#[test]
fn what_cannot_be_searched_is_reported_and_never_passes_as_clean() {
    let picture: String = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ/9j+Zz3q".repeat(3);
    let input = format!("{{\"a\":1}}\n{{\"data\":\"{picture}\"}}\n{{\"data\":\"{picture}\"}}\n");
    let (stdout, stderr, status) = run(&[], input.as_bytes());
    assert_eq!((text(&stdout), status), (input, Some(1)));
    assert_eq!(
        stderr,
        "jsonl-mask: stdin:2: from here on, texts that could not be searched: 2 (pictures, other data, lines that are not text); \
         they are unchanged\n"
    );
}

#[test]
fn the_other_fields_of_a_message_in_pieces_or_bytes_are_masked_too() {
    let input = concat!(
        r#"{"t":1,"seq":1,"dir":"in","b64":"aGk=","password":"hunter2x","to":"ann@example.com"}"#,
        "\n",
        r#"{"t":1,"seq":2,"dir":"out","text":"hi","more":true,"token":"abc123def"}"#,
        "\n",
    );
    let expected = input.replace("hunter2x", "<PASSWORD_1>").replace("ann@example.com", "<EMAIL_1>");
    assert_eq!(masked(input), expected.replace("abc123def", "<TOKEN_1>"));
}
