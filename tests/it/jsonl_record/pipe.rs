//! In a pipe: stdin is copied to stdout and into the log.

use super::{ODD, new_log, record};
use crate::log::Log;
use crate::process::{Talk, binary, pipe, text};
use nix::sys::signal::Signal;
use pipewright_log::Direction;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

#[test]
fn everything_on_stdin_goes_to_stdout_and_into_the_log_byte_for_byte() {
    let input = ODD.concat();
    for limit in ["4M", "1K", "7", "1"] {
        let (_folder, file) = new_log();
        let output = pipe(record(&file).args(["--max-line", limit]), &input);
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
        assert!(output.stdout == input, "--max-line {limit}: {}", text(&output.stdout));
        let log = Log::read(&file).clean();
        assert!(log.stream(Direction::In) == input, "--max-line {limit}: {:?}", log.messages);
        assert_eq!(log.end(), ("stdin ended", None));
    }
}

#[test]
fn every_line_of_the_log_is_an_object_with_the_unchanged_json() {
    let (_folder, file) = new_log();
    pipe(&mut record(&file), &ODD.concat());
    let log = std::fs::read(&file).unwrap();
    for line in log.split_inclusive(|&byte| byte == b'\n') {
        assert!(
            serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|value| value.is_object()) || {
                // Valid, but beyond the range of serde_json's values.
                text(line).contains("1e999")
            }
        );
        assert!(line.ends_with(b"}\n") && !line.contains(&b'\r'));
    }
    assert!(text(&log).contains(r#","dir":"in","msg":{"dup":1,"dup":2}}"#), "greppable");
}

#[test]
fn an_over_long_line_is_recorded_in_parts() {
    let (_folder, file) = new_log();
    let input = [b"{\"pad\":\"".as_slice(), &vec![b'x'; 10 << 20], b"\"}\n{\"next\":1}\n"].concat();
    let output = pipe(record(&file).args(["--max-line", "64K"]), &input);
    assert!(output.stdout == input);
    let log = Log::read(&file).clean();
    assert!(log.stream(Direction::In) == input);
    assert_eq!(log.messages.last().unwrap().kind, "msg", "the next line is complete");
}

#[test]
fn a_hundred_thousand_brackets_are_logged_as_readable_text() {
    let (_folder, file) = new_log();
    let deep = format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let output = pipe(&mut record(&file), deep.as_bytes());
    assert!(output.stdout == deep.as_bytes());
    let log = Log::read(&file).clean();
    assert_eq!(log.messages[0].kind, "text");
    assert!(log.stream(Direction::In) == deep.as_bytes());
}

#[test]
fn a_stream_without_a_line_is_also_a_log() {
    let (_folder, file) = new_log();
    assert_eq!(pipe(&mut record(&file), b"").status.code(), Some(0));
    let log = Log::read(&file).clean();
    assert_eq!((log.headers.len(), log.messages.len(), log.end()), (1, 0, ("stdin ended", None)));
}

#[test]
fn a_terminal_as_stdin_is_refused() {
    let (_folder, file) = new_log();
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$1\" \"$2\"; echo status $?", "sh"]).arg(binary("jsonl-record")).arg(&file);
    let mut person = rexpect::session::spawn_command(shell, Some(20_000)).unwrap();
    person.exp_string("jsonl-record: stdin is a terminal: pipe the stream to record in").unwrap();
    person.exp_string("status 2").unwrap();
    assert!(!file.exists());
}

#[test]
fn a_signal_ends_the_log_in_order() {
    for (signal, name) in [(Signal::SIGTERM, "SIGTERM"), (Signal::SIGINT, "SIGINT")] {
        for child in [&[][..], &["--", "cat"]] {
            let (_folder, file) = new_log();
            let mut talk = Talk::start(record(&file).args(child));
            talk.ask("{\"n\":1}");
            talk.signal(signal);
            let ended = talk.end();
            assert_eq!((ended.status.signal(), ended.stderr.as_str()), (Some(signal as i32), ""));
            let log = Log::read(&file).clean();
            // In a pipe there is no child that could have a status.
            assert_eq!(log.end(), (name, (!child.is_empty()).then_some(0)));
            assert_eq!(text(&log.stream(Direction::In)), "{\"n\":1}\n");
        }
    }
}

#[test]
fn a_closed_stdout_is_a_quiet_end_with_a_complete_log() {
    for child in ["", "-- cat"] {
        let (_folder, file) = new_log();
        let script = format!("\"$1\" \"$2\" {child} | head -n 1");
        let mut shell = Command::new("bash");
        shell.args(["-o", "pipefail", "-c", &script, "bash"]).arg(binary("jsonl-record")).arg(&file);
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = shell.stdin.take().unwrap();
        while stdin.write_all(b"{\"n\":1}\n").is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let output = shell.wait_with_output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{child}");
        assert_eq!(text(&output.stdout), "{\"n\":1}\n");
        let log = Log::read(&file).clean();
        assert!(log.end().0.starts_with("stdout: Broken pipe"), "{:?}", log.ends);
        assert!(log.stream(Direction::In).starts_with(b"{\"n\":1}\n"));
    }
}
