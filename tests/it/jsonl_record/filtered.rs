//! What `--where` and `--redact` keep out of the log; what passes is never touched.

use super::{new_log, record};
use crate::log::Log;
use crate::process::{pipe, text};
use pipewright::journal::Direction;

const INPUT: &str =
    "{\"method\":\"login\",\"password\":\"secret\"}\n{\"n\":12345678901234567890}\nchoose 0\n{\"password\":7}\n";

#[test]
fn what_is_redacted_passes_and_is_not_in_the_log() {
    let (_folder, file) = new_log();
    let filter = "if type == \"object\" then del(.password) else . end";
    let output = pipe(record(&file).args(["--redact", filter]), INPUT.as_bytes());
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (INPUT, Some(0)));
    let log = Log::read(&file).clean();
    let kept = "{\"method\":\"login\"}\n{\"n\":12345678901234567890}\n\"choose 0\"\n{}\n";
    assert_eq!(text(&log.stream(Direction::In)), kept);
    assert!(!std::fs::read_to_string(&file).unwrap().contains("secret"));
}

#[test]
fn of_a_command_only_its_name_is_written_where_something_is_redacted() {
    for (options, kept) in [(&[][..], 2), (&["--redact", "."], 1)] {
        let (_folder, file) = new_log();
        let output = pipe(record(&file).args(options).args(["--", "echo", "s3cret"]), b"");
        assert_eq!(text(&output.stdout), "s3cret\n");
        let log = std::fs::read_to_string(&file).unwrap();
        let header: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
        assert_eq!(header["command"], serde_json::json!(["echo", "s3cret"][..kept]));
    }
}

#[test]
fn where_redacting_fails_nothing_is_written_but_that() {
    let (_folder, file) = new_log();
    let output = pipe(record(&file).args(["--redact", "del(.password)"]), INPUT.as_bytes());
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (INPUT, Some(1)));
    let told = text(&output.stderr);
    assert!(
        told.starts_with("jsonl-record: stdin:3: --redact: ") && told.ends_with("; passed on, and not recorded\n"),
        "{told}"
    );
    let log = std::fs::read_to_string(&file).unwrap();
    assert_eq!(log.matches("\"withheld\":\"--redact: ").count(), 1, "{log}");
    assert!(!log.contains("choose"), "{log}");
}

#[test]
fn what_a_redaction_that_fails_says_of_a_secret_is_told_nowhere() {
    for filter in [".password + 1", ".password | tonumber", "error(.)", ".password | error"] {
        let (_folder, file) = new_log();
        let output = pipe(record(&file).args(["--redact", filter]), b"{\"password\":\"hunter2\"}\n");
        assert_eq!(output.status.code(), Some(1));
        let log = std::fs::read_to_string(&file).unwrap();
        assert!(log.contains("the filter failed") && !log.contains("hunter2"), "{filter}: {log}");
        let told = text(&output.stderr);
        assert!(told.contains("stdin:1: --redact: the filter failed") && !told.contains("hunter2"), "{filter}: {told}");
    }
}

#[test]
fn a_redaction_without_end_is_stopped_and_writes_nothing() {
    let (_folder, file) = new_log();
    let output = pipe(record(&file).args(["--redact", "def f: f; f"]), b"{\"password\":\"secret\"}\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("took too many steps"), "{}", text(&output.stderr));
    assert!(!std::fs::read_to_string(&file).unwrap().contains("secret"));
}

#[test]
fn an_over_long_line_that_may_have_to_be_redacted_is_not_written() {
    let (_folder, file) = new_log();
    let long = format!("{{\"password\":\"{}\"}}\n", "secret".repeat(100_000));
    let output = pipe(record(&file).args(["--redact", "del(.password)", "--max-line", "1K"]), long.as_bytes());
    assert!(output.stdout == long.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("stdin:1: longer than --max-line"), "{}", text(&output.stderr));
    let log = std::fs::read_to_string(&file).unwrap();
    assert!(!log.contains("secret") && log.contains("withheld"), "{log}");
}

#[test]
fn only_what_is_chosen_is_written() {
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
fn a_filter_that_is_none_is_2_and_nothing_is_begun() {
    let (_folder, file) = new_log();
    for (filter, told) in [(".a[", "--where: the \"[\" at character 3"), ("env", "--where: unknown function \"env\"/0")]
    {
        let output = pipe(record(&file).args(["--where", filter]), b"{}\n");
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
        assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    }
    assert!(!file.exists());
}
