//! The file: its contents, how it is continued, and files that are not logs.

use super::{new_log, record, wrap};
use crate::log::Log;
use crate::process::{Talk, binary, command, pipe, text};
use pipewright_log::{Direction, Part};
use std::path::PathBuf;
use std::process::Command;

#[test]
fn the_header_contains_the_command_and_the_part_it_plays() {
    let (_folder, file) = new_log();
    let before = now();
    pipe(record(&file).args(["--child", "world", "--", "cat", "-u", "-"]), b"");
    let log = Log::read(&file).clean();
    let header = &log.headers[0];
    assert_eq!(
        (header.child, header.command.as_slice()),
        (Some(Part::World), ["cat", "-u", "-"].map(String::from).as_slice())
    );
    let start = header.start.unwrap();
    assert!((before..=now()).contains(&start), "{start} isn't between {before} and now");
    let first = std::fs::read_to_string(&file).unwrap().lines().next().unwrap().to_owned();
    assert!(first.starts_with(r#"{"format":"pipewright-log","version":1,"seq":0,"start":"2"#), "{first}");

    let (_folder, file) = new_log();
    pipe(&mut record(&file), b"");
    let log = Log::read(&file).clean();
    assert_eq!((log.headers[0].child, log.headers[0].command.len()), (None, 0), "a pipe wraps nothing");
    let output = pipe(record(&file).args(["--child", "agent"]), b"");
    assert_eq!(output.status.code(), Some(2), "and has no part");
}

/// Microseconds since 1970.
fn now() -> i64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_micros() as i64
}

#[test]
fn a_log_is_continued_with_a_second_header_and_consecutive_numbers() {
    let (_folder, file) = new_log();
    pipe(&mut record(&file), b"{\"n\":1}\n{\"n\":2}\n");
    pipe(record(&file).args(["--", "cat"]), b"{\"n\":3}\n");
    let output = pipe(&mut record(&file), b"{\"n\":4}\n");
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    let log = Log::read(&file).clean();
    assert_eq!(text(&log.stream(Direction::In)), "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n");
    assert_eq!((log.headers.len(), log.ends.len()), (3, 3));
    assert_eq!(log.messages.iter().map(|message| message.seq).collect::<Vec<_>>(), [1, 2, 5, 6, 9]);
}

#[test]
fn a_torn_tail_is_set_aside_reported_and_never_fused() {
    let (_folder, file) = new_log();
    pipe(&mut record(&file), b"{\"n\":1}\n{\"n\":2}\n");
    let whole = std::fs::read(&file).unwrap();
    let (torn_at, torn) = (whole.len() - 20, &whole[whole.len() - 60..whole.len() - 20]);
    std::fs::write(&file, &whole[..torn_at]).unwrap();
    let kept = whole[..torn_at].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    let output = pipe(&mut record(&file), b"{\"n\":3}\n");
    let aside = format!("{}.torn", file.display());
    let bytes = torn_at - kept;
    let message =
        format!("jsonl-record: {}: {bytes} bytes of a torn last line were set aside in {aside}\n", file.display());
    assert_eq!((text(&output.stderr), text(&output.stdout)), (message, "{\"n\":3}\n".to_owned()));
    let set_aside = std::fs::read(&aside).unwrap();
    assert_eq!(set_aside, [&whole[kept..torn_at], b"\n"].concat(), "{}", text(torn));
    let log = Log::read(&file).clean();
    assert_eq!(text(&log.stream(Direction::In)), "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
}

#[test]
fn two_recorders_never_share_a_file() {
    let (_folder, file) = new_log();
    let mut first = Talk::start(&mut record(&file));
    first.ask("{\"n\":1}");
    let output = pipe(&mut record(&file), b"{\"n\":2}\n");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    let message = format!("jsonl-record: {}: another process is recording to it; give another file\n", file.display());
    assert_eq!(text(&output.stderr), message);
    first.ask("{\"n\":3}");
    first.end_after_close();
    let log = Log::read(&file).clean();
    assert_eq!(text(&log.stream(Direction::In)), "{\"n\":1}\n{\"n\":3}\n");
}

#[test]
fn a_file_that_is_not_a_log_is_refused_and_unchanged() {
    for (what, content) in [
        ("text", "Dear diary,\nnothing happened.\n"),
        ("plain NDJSON", "{\"ts\":1,\"n\":1}\n{\"ts\":2,\"n\":2}\n"),
        ("JSON", "{\n  \"seq\": 7\n}\n"),
        ("an empty line", "\n"),
        ("text without a line feed", "precious text"),
        ("text whose last line is torn", "one\ntwo"),
        (
            "a log of a newer version",
            "{\"format\":\"pipewright-log\",\"version\":2,\"seq\":0,\"start\":\"x\"}\n{\"t\":1,\"seq\":1,\"new\":1}\n",
        ),
    ] {
        let (folder, file) = new_log();
        std::fs::write(&file, content).unwrap();
        let output = pipe(&mut record(&file), b"{\"n\":2}\n");
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{what}");
        let why =
            if what.contains("newer") { "written by a newer pipewright" } else { "it is not a log of jsonl-record" };
        let message = format!("jsonl-record: {}: {why}", file.display());
        assert!(text(&output.stderr).starts_with(&message), "{what}: {}", text(&output.stderr));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), content, "{what}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "{what}");
    }
}

#[test]
fn an_impossible_path_exits_2_and_nothing_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    for (file, why) in [
        (folder.path().join("no/such/folder/log.jsonl"), "No such file or directory"),
        (folder.path().to_owned(), "Is a directory"),
        (PathBuf::from("/proc/version/log.jsonl"), "Not a directory"),
    ] {
        let output = pipe(&mut wrap(&file, &format!(": > {}", mark.display())), b"");
        assert_eq!(output.status.code(), Some(2));
        let message = format!("jsonl-record: {}: {why}", file.display());
        assert!(text(&output.stderr).starts_with(&message), "{}", text(&output.stderr));
    }
    assert!(!mark.exists());
}

#[test]
fn a_log_with_the_largest_possible_number_is_refused() {
    let (_folder, file) = new_log();
    let content = "{\"t\":1,\"seq\":18446744073709551615,\"end\":\"here\"}\n";
    std::fs::write(&file, content).unwrap();
    let output = pipe(&mut record(&file), b"{}\n");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
}

#[test]
fn a_log_with_a_torn_header_is_continued() {
    let (_folder, file) = new_log();
    std::fs::write(&file, "{\"format\":\"pipewr").unwrap();
    let output = pipe(&mut record(&file), b"{}\n");
    assert_eq!(output.status.code(), Some(1), "the torn line is reported: {}", text(&output.stderr));
    assert_eq!(Log::read(&file).clean().messages.len(), 1);
}

#[test]
fn a_log_is_continued_after_the_longest_line() {
    let (_folder, file) = new_log();
    let long = format!("\"{}\"\n", "x".repeat(20 << 20));
    pipe(record(&file).args(["--max-line", "64M"]), long.as_bytes());
    // As after a kill: without an end.
    let log = std::fs::read(&file).unwrap();
    let end = start_of_last_line(&log);
    std::fs::write(&file, &log[..end]).unwrap();
    assert_eq!(pipe(&mut record(&file), b"{}\n").status.code(), Some(0));
    assert_eq!(Log::read(&file).clean().messages.len(), 2);
}

/// The position of the last line.
fn start_of_last_line(bytes: &[u8]) -> usize {
    bytes[..bytes.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1
}

#[test]
fn our_own_stdin_and_stdout_are_refused_as_the_log() {
    let (_folder, file) = new_log();
    pipe(&mut record(&file), b"{}\n");
    let before = std::fs::read(&file).unwrap();
    for (name, redirect) in [("stdin", "<"), ("stdout", ">>")] {
        let script = format!("exec {} \"$1\" {redirect} \"$1\"", binary("jsonl-record").display());
        let output = pipe(Command::new("sh").args(["-c", &script, "sh"]).arg(&file), b"");
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(text(&output.stderr).contains("it is our own stdin or stdout"), "{}", text(&output.stderr));
        assert_eq!(std::fs::read(&file).unwrap(), before, "{name}");
    }
    let output = pipe(command("jsonl-record").arg("-"), b"{}\n");
    assert_eq!(output.status.code(), Some(2), "- is not a file name");
}
