//! A full disk, and syncing to disk.

use super::{line, new_log, read_with_rotated, record, record_on_a_small_disk, rotated};
use crate::log::Log;
use crate::process::{Ended, Talk, binary, eventually, pipe, text};
use nix::sys::signal::Signal;
use pipewright_log::Direction;
use std::path::Path;
use std::process::Command;

fn told_as_full(ended: &Ended, file: &Path) -> usize {
    let prefix = format!("jsonl-record: {}: ", file.display());
    let message: Vec<&str> = ended.stderr.lines().map(|line| line.strip_prefix(&prefix).unwrap()).collect();
    let [first, last] = message[..] else {
        panic!("expected one report of the error and one of the loss: {message:?}")
    };
    assert_eq!(first, "File too large (os error 27); the stream continues, and lost messages are counted");
    last.strip_suffix(" messages were not recorded").unwrap().parse().unwrap()
}

#[test]
fn on_a_full_disk_the_stream_continues_and_the_loss_is_counted_once() {
    let (_folder, file) = new_log();
    let mut talk = Talk::start(&mut record_on_a_small_disk(16, &file));
    for number in 0..100 {
        assert_eq!(talk.ask(&line(number)), line(number));
    }
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    let lost = told_as_full(&ended, &file);
    let log = Log::read(&file).clean();
    assert!(log.messages.len() > 10);
    assert_eq!(log.messages.len() + lost, 100);
    assert!(std::fs::read(&file).unwrap().ends_with(b"}\n"), "no torn line is left");
}

#[test]
fn when_there_is_room_again_the_log_records_the_loss() {
    let (_folder, file) = new_log();
    let mut talk = Talk::start(&mut record_on_a_small_disk(16, &file));
    for number in 0..100 {
        talk.ask(&line(number));
    }
    // Make room.
    std::fs::rename(&file, rotated(&file, 1)).unwrap();
    talk.signal(Signal::SIGHUP);
    eventually("a new file is there", || file.exists());
    for number in 100..105 {
        talk.ask(&line(number));
    }
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1), "there was a loss");
    let lost = told_as_full(&ended, &file);
    let log = read_with_rotated(&file).clean();
    assert_eq!(log.lost, [lost as u64]);
    assert_eq!(log.messages.len() + lost, 105);
    let last: Vec<String> = log.messages.iter().rev().take(5).map(|message| text(&message.bytes)).collect();
    assert_eq!(last, [104, 103, 102, 101, 100].map(|number| line(number) + "\n"));
    assert_eq!(log.end().0, "stdin ended");
}

#[test]
fn a_file_that_takes_nothing_at_all_does_not_stop_the_stream() {
    let output = pipe(&mut record(Path::new("/dev/full")), b"{\"n\":1}\n{\"n\":2}\n");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(1), "{\"n\":1}\n{\"n\":2}\n"));
    let message = "jsonl-record: /dev/full: No space left on device (os error 28); the stream continues, and lost messages are counted\n\
                jsonl-record: /dev/full: 2 messages were not recorded\n";
    assert_eq!(text(&output.stderr), message);
}

#[test]
fn with_must_record_nothing_unrecorded_is_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let wrapped = ["--", "tee", "seen"];
    for (number, command) in [&[][..], &wrapped].into_iter().enumerate() {
        let file = folder.path().join(number.to_string());
        let mut recorder = record_on_a_small_disk(16, &file);
        let input: String = (0..100).map(|number| line(number) + "\n").collect();
        let output = pipe(recorder.current_dir(&folder).arg("--must-record").args(command), input.as_bytes());
        assert_eq!(output.status.code(), Some(1));
        let message = format!(
            "jsonl-record: {}: File too large (os error 27); stopped because everything must be recorded (--must-record)\n",
            file.display()
        );
        assert_eq!(text(&output.stderr), message);
        let log = Log::read(&file).clean();
        assert!(log.stream(Direction::In).starts_with(&output.stdout));
        let seen = std::fs::read(folder.path().join("seen")).unwrap_or_default();
        assert!(log.stream(Direction::In).starts_with(&seen));
    }
}

#[test]
fn with_must_record_nothing_is_passed_on_after_a_failed_rotation() {
    let (_folder, file) = new_log();
    let mut recorder = record_on_a_small_disk(8, &file);
    let input: String = (0..200).map(|number| line(number) + "\n").collect();
    let output = pipe(recorder.args(["--must-record", "--rotate", "16K"]), input.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let log = Log::read(&file).clean();
    assert!(log.stream(Direction::In).starts_with(&output.stdout), "{}", text(&output.stdout));
}

#[test]
fn a_full_disk_does_not_rotate_kept_files_away() {
    let (folder, file) = new_log();
    let rotation = ["--rotate", "16K", "--keep", "3"];
    let input: String = (0..500).map(|number| line(number) + "\n").collect();
    pipe(record(&file).args(rotation), input.as_bytes());
    let before: Vec<String> = (1..=3).map(|number| std::fs::read_to_string(rotated(&file, number)).unwrap()).collect();
    // No file can be written any more.
    let output = pipe(record_on_a_small_disk(0, &file).args(rotation), input.as_bytes());
    assert_eq!((output.status.code(), text(&output.stdout) == input), (Some(1), true));
    let after: Vec<String> = (1..=3).map(|number| std::fs::read_to_string(rotated(&file, number)).unwrap()).collect();
    assert!(before == after, "files that hold something gave way to files that hold nothing");
    drop(folder);
}

#[test]
fn with_must_record_nothing_is_started_on_a_full_disk() {
    let output = pipe(record(Path::new("/dev/full")).args(["--must-record", "--", "echo", "started"]), b"");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    assert!(text(&output.stderr).contains("/dev/full: No space left on device"), "{}", text(&output.stderr));
}

/// The recorder's system calls, from strace.
#[test]
#[ignore = "needs strace: scripts/test installs it"]
fn with_sync_each_a_line_is_on_disk_before_it_is_passed_on() {
    for (sync, expected) in
        [("each", "record sync pass ".repeat(3) + "record sync "), ("never", "record pass ".repeat(3) + "record ")]
    {
        let (folder, file) = new_log();
        let trace = folder.path().join("strace");
        let mut traced = Command::new("strace");
        traced.args(["-f", "-e", "trace=fdatasync,write", "-s", "40", "-o"]).arg(&trace).arg(binary("jsonl-record"));
        let mut talk = Talk::start(traced.arg(&file).args(["--sync", sync]));
        for number in 1..=3 {
            talk.ask(&format!("{{\"n\":{number}}}"));
        }
        talk.end_after_close();
        let trace = std::fs::read_to_string(trace).unwrap();
        let steps = trace.lines().filter_map(|line| match line {
            _ if line.contains("fdatasync(") => Some("sync "),
            _ if line.contains(r#""{\"t\":"#) => Some("record "),
            _ if line.contains(r#""{\"n\":"#) => Some("pass "),
            _ => None,
        });
        let header = if sync == "each" { "sync " } else { "" };
        assert_eq!(steps.collect::<String>(), format!("{header}{expected}"), "{trace}");
    }
}
