//! `--where` and `--redact` keep data out of the log, but never change the stream.

use super::{new_log, record};
use crate::log::Log;
use crate::process::{pipe, text};
use pipewright_log::Direction;

const INPUT: &str =
    "{\"method\":\"login\",\"password\":\"secret\"}\n{\"n\":12345678901234567890}\nchoose 0\n{\"password\":7}\n";

#[test]
fn redacted_values_are_passed_on_but_not_logged() {
    let (_folder, file) = new_log();
    let filter = "if type == \"object\" then del(.password) else . end";
    let output = pipe(record(&file).args(["--redact", filter]), INPUT.as_bytes());
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (INPUT, Some(0)));
    let log = Log::read(&file).clean();
    let kept = "{\"method\":\"login\"}\n{\"n\":12345678901234567890}\nchoose 0\n{}\n";
    assert_eq!(text(&log.stream(Direction::In)), kept);
    assert!(!std::fs::read_to_string(&file).unwrap().contains("secret"));
}

#[test]
fn with_redaction_only_the_name_of_the_command_is_logged() {
    for (options, kept) in
        [(&[][..], 2), (&["--redact", "."], 1), (&["--redact-text", "."], 1), (&["--redact-keys", "a"], 1)]
    {
        let (_folder, file) = new_log();
        let output = pipe(record(&file).args(options).args(["--", "echo", "s3cret"]), b"");
        assert_eq!(text(&output.stdout), "s3cret\n");
        let log = std::fs::read_to_string(&file).unwrap();
        let header: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
        assert_eq!(header["command"], serde_json::json!(["echo", "s3cret"][..kept]));
    }
}

#[test]
fn a_filter_that_does_not_apply_to_a_text_line_withholds_it_without_an_error() {
    let (_folder, file) = new_log();
    let script = "cat; echo 'the password is hunter2' >&2; echo 7 >&2";
    let mut wrapped = record(&file);
    wrapped.args(["--redact", "del(.params.password)", "--", "sh", "-c", script]);
    let input = "{\"params\":{\"password\":\"hunter2\",\"n\":1}}\n\nlog in as hunter2\n";
    let output = pipe(&mut wrapped, input.as_bytes());
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (input, Some(0)));
    assert_eq!(
        text(&output.stderr),
        "the password is hunter2\n7\njsonl-record: text lines withheld from the log: 4 (--redact-text defines what to record of them)\n"
    );
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(!written.contains("hunter2"), "{written}");
    assert_eq!(
        written.matches("\"withheld\":\"a text line, which the redaction does not apply to\"").count(),
        4,
        "{written}"
    );
    // An empty line contains no secret.
    assert_eq!(text(&Log::read(&file).clean().stream(Direction::In)), "{\"params\":{\"n\":1}}\n\n");
}

#[test]
fn a_filter_that_fails_on_a_json_line_withholds_it_and_is_an_error() {
    let (_folder, file) = new_log();
    let input = "{\"password\":7}\n[\"hunter2\"]\n";
    let output = pipe(record(&file).args(["--redact", "del(.password)"]), input.as_bytes());
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (input, Some(1)));
    let stderr = text(&output.stderr);
    assert!(
        stderr.starts_with("jsonl-record: stdin:2: --redact: ") && stderr.ends_with("; passed on, and not recorded\n"),
        "{stderr}"
    );
    let log = std::fs::read_to_string(&file).unwrap();
    assert_eq!(log.matches("\"withheld\":\"--redact: ").count(), 1, "{log}");
    assert!(!log.contains("hunter2"), "{log}");
}

#[test]
fn redact_text_changes_text_lines_and_they_are_replayed_as_text() {
    let (_folder, file) = new_log();
    let input = b"log in as hunter2\r\nas it is \xff\nbe quiet\n{\"password\":1}\n{\"no JSON\": hunter2";
    let filter = "if . == \"be quiet\" then empty else gsub(\"hunter2\"; \"***\") end";
    let output = pipe(record(&file).args(["--redact", "del(.password)", "--redact-text", filter]), input);
    assert_eq!((output.stdout.as_slice(), output.status.code()), (input.as_slice(), Some(0)));
    assert_eq!(text(&output.stderr), "");
    let kept = b"log in as ***\r\nas it is \xff\n{}\n{\"no JSON\": ***";
    assert_eq!(text(&Log::read(&file).clean().stream(Direction::In)), text(kept));
    let replayed = pipe(crate::process::command("replay").args(["--speed", "max"]).arg(&file), b"");
    assert_eq!((replayed.stdout.as_slice(), replayed.status.code()), (kept.as_slice(), Some(0)));
}

#[test]
fn the_output_of_a_text_filter_is_one_text_line_of_the_log() {
    let (_folder, file) = new_log();
    for (filter, json) in [(r#""{\n\"a\":1}""#, "--redact-text"), (r#""a\n{\"evil\":1}""#, "--redact")] {
        let output = pipe(record(&file).args([json, filter]), b"hello\n");
        assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("hello\n", Some(1)));
        let stderr = text(&output.stderr);
        assert!(
            stderr.contains("stdin:1: the filter gives text with a line feed; passed on, and not recorded"),
            "{stderr}"
        );
        assert_eq!(text(&Log::read(&file).clean().stream(Direction::In)), "");
    }
    // JSON within a text is text; a carriage return is escaped.
    for kept in ["{\"a\":\"tok\"}", "a\rb", "7"] {
        let (_folder, file) = new_log();
        let filter = serde_json::to_string(kept).unwrap();
        let output = pipe(record(&file).args(["--redact-text", &filter, "--redact-keys", "a"]), b"hello\n");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let log = std::fs::read_to_string(&file).unwrap();
        assert!(log.contains(&format!("\"text\":{filter}}}")), "{log}");
        assert_eq!(text(&Log::read(&file).clean().stream(Direction::In)), format!("{kept}\n"));
    }
    let (_folder, file) = new_log();
    pipe(record(&file).args(["--redact", "{a: .}", "--redact-keys", "a"]), b"hunter2\n");
    assert_eq!(text(&Log::read(&file).clean().stream(Direction::In)), "{\"a\":\"[redacted]\"}\n");
}

#[test]
fn a_bare_json_value_that_a_filter_fails_on_counts_as_a_text_line() {
    let (_folder, file) = new_log();
    let input = "110\n\"hunter2\"\ntrue\n1.5\n{\"a\":{\"b\":1}}\n";
    let output = pipe(record(&file).args(["--redact", "del(.a.b)"]), input.as_bytes());
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (input, Some(0)), "{}", text(&output.stderr));
    let message = "jsonl-record: text lines withheld from the log: 4 (--redact-text defines what to record of them)\n";
    assert_eq!(text(&output.stderr), message);
    assert_eq!(text(&Log::read(&file).clean().stream(Direction::In)), "{\"a\":{}}\n");
}

#[test]
fn redact_text_alone_leaves_json_unchanged_and_fails_without_a_string() {
    let (_folder, file) = new_log();
    let input = "{\"n\": 1.10}\nchoose 0\nend\n";
    let filter = "if . == \"end\" then error(.) else length end";
    let output = pipe(record(&file).args(["--redact-text", filter]), input.as_bytes());
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (input, Some(1)));
    let stderr = text(&output.stderr);
    let expected = "jsonl-record: stdin:2: --redact-text: the filter gives no string; passed on, and not recorded\n";
    assert!(stderr.starts_with(expected), "{stderr}");
    assert!(stderr.ends_with("text lines withheld from the log: 1 (--redact-text defines what to record of them)\n"));
    assert_eq!(text(&Log::read(&file).clean().stream(Direction::In)), "{\"n\": 1.10}\n");
}

#[test]
fn the_values_of_redacted_keys_are_replaced_anywhere_in_a_json_line() {
    let (_folder, file) = new_log();
    let input = "{\"params\": {\"Password\":\"hunter2\", \"n\":1.10}, \"list\":[{\"TOKEN\":{\"a\":[\"hunter2\"]}}],\"apiKey\":[\"hunter2\"]}\r\n\
                 {\"pass\\u0077ord\":\"hunter2\"}\n{\"passwords\":1,\"x\":\"token\"}\nlog in as hunter2\n";
    let output = pipe(record(&file).args(["--redact-keys", "password, Token, api_key"]), input.as_bytes());
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (input, Some(0)));
    let message = "jsonl-record: text lines withheld from the log: 1 (--redact-text defines what to record of them)\n";
    assert_eq!(text(&output.stderr), message);
    let kept = "{\"params\": {\"Password\":\"[redacted]\", \"n\":1.10}, \"list\":[{\"TOKEN\":\"[redacted]\"}],\"apiKey\":\"[redacted]\"}\r\n\
                {\"pass\\u0077ord\":\"[redacted]\"}\n{\"passwords\":1,\"x\":\"token\"}\n";
    assert_eq!(text(&Log::read(&file).clean().stream(Direction::In)), kept);
    assert!(!std::fs::read_to_string(&file).unwrap().contains("hunter2"));
}

#[test]
fn redact_keys_can_be_combined_with_the_filters() {
    let (_folder, file) = new_log();
    let mut command = record(&file);
    command.args(["--redact", ".a = {password}", "--redact-text", ".", "--redact-keys", "password"]);
    let output = pipe(&mut command, b"{\"password\":\"hunter2\"}\nchoose 0\n");
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), ("", Some(0)));
    let kept = "{\"password\":\"[redacted]\",\"a\":{\"password\":\"[redacted]\"}}\nchoose 0\n";
    assert_eq!(text(&Log::read(&file).clean().stream(Direction::In)), kept);
    for keys in ["", "password,,token", " "] {
        let output = pipe(record(&file).args(["--redact-keys", keys]), b"{}\n");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{keys:?}");
        assert!(text(&output.stderr).contains("such as password,token"), "{}", text(&output.stderr));
    }
}

#[test]
fn a_line_that_nests_too_deep_is_withheld() {
    for options in [["--redact", "."], ["--redact-text", "."], ["--redact-keys", "a"]] {
        let (_folder, file) = new_log();
        let deep = format!("{}{{\"a\":\"hunter2\"}}{}\n", "[".repeat(1000), "]".repeat(1000));
        let output = pipe(record(&file).args(options), deep.as_bytes());
        assert_eq!((text(&output.stdout), output.status.code()), (deep, Some(1)));
        assert!(text(&output.stderr).contains("stdin:1: nested deeper than --max-depth"), "{}", text(&output.stderr));
        assert!(!std::fs::read_to_string(&file).unwrap().contains("hunter2"));
    }
}

#[test]
fn a_failed_redaction_does_not_reveal_the_secret() {
    for filter in [".password + 1", ".password | tonumber", "error(.)", ".password | error"] {
        let (_folder, file) = new_log();
        let output = pipe(record(&file).args(["--redact", filter]), b"{\"password\":\"hunter2\"}\n");
        assert_eq!(output.status.code(), Some(1));
        let log = std::fs::read_to_string(&file).unwrap();
        assert!(log.contains("the filter failed") && !log.contains("hunter2"), "{filter}: {log}");
        let stderr = text(&output.stderr);
        assert!(
            stderr.contains("stdin:1: --redact: the filter failed") && !stderr.contains("hunter2"),
            "{filter}: {stderr}"
        );
    }
}

#[test]
fn an_endless_redaction_is_stopped_and_logs_nothing() {
    let (_folder, file) = new_log();
    let output = pipe(record(&file).args(["--redact", "def f: f; f"]), b"{\"password\":\"secret\"}\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("took too many steps"), "{}", text(&output.stderr));
    assert!(!std::fs::read_to_string(&file).unwrap().contains("secret"));
}

#[test]
fn with_redaction_an_over_long_line_is_not_logged() {
    let (_folder, file) = new_log();
    let long = format!("{{\"password\":\"{}\"}}\n", "secret".repeat(100_000));
    for options in [["--redact", "del(.password)"], ["--redact-text", "."], ["--redact-keys", "password"]] {
        let output = pipe(record(&file).args(options).args(["--max-line", "1K"]), long.as_bytes());
        assert!(output.stdout == long.as_bytes());
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("stdin:1: longer than --max-line"), "{}", text(&output.stderr));
        let log = std::fs::read_to_string(&file).unwrap();
        assert!(!log.contains("secret") && log.contains("withheld"), "{log}");
    }
}

#[test]
fn only_selected_messages_are_logged() {
    let (_folder, file) = new_log();
    let mut wrapped = record(&file);
    wrapped.args(["--where", "$dir == \"out\" and .password != null", "--", "cat"]);
    let output = pipe(&mut wrapped, INPUT.as_bytes());
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (INPUT, Some(0)), "{}", text(&output.stderr));
    let log = Log::read(&file).clean();
    assert_eq!(text(&log.stream(Direction::In)), "");
    let kept = "{\"method\":\"login\",\"password\":\"secret\"}\n{\"password\":7}\n";
    assert_eq!(text(&log.stream(Direction::Out)), kept, "a text has no password");
}

#[test]
fn an_invalid_filter_exits_2_and_nothing_is_started() {
    let (_folder, file) = new_log();
    for (filter, message) in
        [(".a[", "--where: the \"[\" at character 3"), ("env", "--where: unknown function \"env\"/0")]
    {
        let output = pipe(record(&file).args(["--where", filter]), b"{}\n");
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
    assert!(!file.exists());
}

#[test]
fn a_pattern_that_cannot_be_compiled_is_an_error_at_the_start_and_records_nothing() {
    for (filter, why) in [
        (r#".m | test("^(?!.*(event|ppv))")"#, "--where: test at character 6: the pattern is wrong: look-around"),
        (r#"test("a"; "q")"#, "--where: test at character 1: \"q\" is not a flag of a pattern"),
        (r#".a | any(.[]; test(["(", "i"]))"#, "--where: test at character 15: the pattern is wrong: unclosed group"),
        (r#"sub("(a"; "b") == "b""#, "--where: sub at character 1: "),
        (r#"[scan("a\\1")] != []"#, "--where: scan at character 2: the pattern is wrong: backreferences"),
        (r#"test("a", "(")"#, "--where: test at character 1: "),
        (r#"capture("(?<a")"#, "--where: capture at character 1: "),
        (r#"[splits("[")]"#, "--where: splits at character 2: "),
    ] {
        let (_folder, file) = new_log();
        for words in [&["jsonl-record"][..], &["jsonl-log", "csv", "."], &["replay"]] {
            let mut command = crate::process::command(words[0]);
            let output = pipe(command.args(&words[1..]).arg(&file).args(["--where", filter]), b"{\"m\":\"news\"}\n");
            let stderr = text(&output.stderr);
            assert!(stderr.contains(why) && output.status.code() == Some(2), "{filter}: {stderr}");
        }
        assert!(!file.exists());
    }
}

#[test]
fn a_pattern_from_a_message_that_cannot_be_compiled_is_counted() {
    let (_folder, file) = new_log();
    let input = "{\"m\":\"a(\"}\n{\"m\":\"b\"}\n{\"m\":\"c[\"}\n{\"n\":1}\n";
    let output = pipe(record(&file).args(["--where", ".m as $p | \"b\" | test($p)"]), input.as_bytes());
    let stderr = text(&output.stderr);
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (input, Some(1)), "{stderr}");
    assert!(stderr.starts_with("jsonl-record: stdin:1: --where: the pattern is wrong: unclosed group"), "{stderr}");
    assert!(stderr.ends_with("jsonl-record: --where: it could not be run on 2 messages\n"), "{stderr}");
    // What cannot be judged is recorded.
    let recorded = text(&Log::read(&file).clean().stream(Direction::In));
    assert_eq!(recorded, input.lines().take(3).map(|line| format!("{line}\n")).collect::<String>());
}
