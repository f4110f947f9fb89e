//! What other processes do to a log while it is recorded: it is removed, replaced or truncated, or files are where older parts
//! of it are to be.

use super::{line, new_log, record, rotated};
use crate::log::Log;
use crate::process::{Talk, command, pipe, text};
use pipewright_log::Direction;
use std::time::Duration;

/// The recorder looks after its file at most once in a millisecond.
fn wait_for_its_look() {
    std::thread::sleep(Duration::from_millis(2));
}

#[test]
fn a_removed_log_is_written_again_and_nothing_is_lost() {
    for options in [&["--must-record"][..], &["--sync", "each"], &["--rotate", "100K"]] {
        let (_folder, file) = new_log();
        let mut recorder = Talk::start(record(&file).args(options));
        assert_eq!(recorder.ask(&line(1)), line(1));
        std::fs::remove_file(&file).unwrap();
        wait_for_its_look();
        assert_eq!(recorder.ask(&line(2)), line(2));
        std::fs::remove_file(&file).unwrap();
        let ended = recorder.end_after_close();
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        let note = format!("jsonl-record: {}: was removed by another process; it was written again\n", file.display());
        assert_eq!(ended.stderr, note.repeat(2));
        let log = Log::read(&file).clean();
        assert_eq!(text(&log.stream(Direction::In)), format!("{}\n{}\n", line(1), line(2)));
        assert_eq!(log.end().0, "stdin ended");
    }
}

#[test]
fn a_log_whose_folder_is_removed_is_an_error() {
    for (options, status, passed) in [(&[][..], 1, true), (&["--must-record"], 1, false)] {
        let (folder, _) = new_log();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let file = inner.join("log.jsonl");
        let mut recorder = Talk::start(record(&file).args(options));
        assert_eq!(recorder.ask(&line(1)), line(1));
        std::fs::remove_dir_all(&inner).unwrap();
        wait_for_its_look();
        recorder.say(&line(2));
        if passed {
            assert_eq!(recorder.receive(), line(2));
        }
        let ended = recorder.end_after_close();
        assert_eq!(ended.status.code(), Some(status), "{}", ended.stderr);
        assert!(ended.stderr.contains("it was removed, and cannot be written again: No such file"), "{}", ended.stderr);
        if passed {
            assert!(
                ended.stderr.contains("was removed by another process, with all that was recorded"),
                "{}",
                ended.stderr
            );
        }
    }
}

#[test]
fn messages_are_recorded_again_once_the_folder_is_back() {
    let (folder, _) = new_log();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let file = inner.join("log.jsonl");
    let mut recorder = Talk::start(&mut record(&file));
    recorder.ask(&line(1));
    std::fs::remove_dir_all(&inner).unwrap();
    wait_for_its_look();
    recorder.ask(&line(2));
    std::fs::create_dir(&inner).unwrap();
    recorder.ask(&line(3));
    assert_eq!(recorder.end_after_close().status.code(), Some(1));
    let log = Log::read(&file);
    assert_eq!(text(&log.stream(Direction::In)), format!("{}\n{}\n", line(1), line(3)));
    assert!(std::fs::read_to_string(&file).unwrap().contains("\"lost\":1"));
}

#[test]
fn recording_continues_in_a_log_that_has_replaced_the_first_one() {
    let (folder, file) = new_log();
    let mut recorder = Talk::start(&mut record(&file));
    recorder.ask(&line(1));
    let other = folder.path().join("other");
    std::fs::copy(&file, &other).unwrap();
    std::fs::rename(&other, &file).unwrap();
    wait_for_its_look();
    recorder.ask(&line(2));
    let ended = recorder.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    assert!(
        ended.stderr.contains("was replaced by another process; recording continues in the new file"),
        "{}",
        ended.stderr
    );
    assert_eq!(text(&Log::read(&file).clean().stream(Direction::In)), format!("{}\n{}\n", line(1), line(2)));
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written.matches("\"format\"").count(), 2, "one header of each session: {written}");
}

#[test]
fn a_foreign_file_in_place_of_the_log_is_reported_once_and_left_alone() {
    let (_folder, file) = new_log();
    let mut recorder = Talk::start(&mut record(&file));
    recorder.ask(&line(1));
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "foreign\n").unwrap();
    wait_for_its_look();
    for number in 2..5 {
        assert_eq!(recorder.ask(&line(number)), line(number));
    }
    let ended = recorder.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    for said in
        ["was replaced by another process", "cannot be reopened: it is not a log", "3 messages were not recorded"]
    {
        assert_eq!(ended.stderr.matches(said).count(), 1, "{said}: {}", ended.stderr);
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "foreign\n");
}

#[test]
fn a_truncated_log_gets_a_new_header_and_is_an_error() {
    for keep in [0, 100] {
        let (_folder, file) = new_log();
        let mut recorder = Talk::start(&mut record(&file));
        recorder.ask(&line(1));
        std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(keep).unwrap();
        wait_for_its_look();
        recorder.ask(&line(2));
        let ended = recorder.end_after_close();
        assert_eq!(ended.status.code(), Some(1));
        assert!(ended.stderr.contains("was truncated by another process, which removed messages"), "{}", ended.stderr);
        let log = Log::read(&file);
        assert_eq!(text(&log.stream(Direction::In)), format!("{}\n", line(2)), "kept {keep} bytes");
    }
}

#[test]
fn rotation_never_moves_or_replaces_a_foreign_file() {
    for number in [1, 3, 9] {
        let (_folder, file) = new_log();
        let foreign = rotated(&file, number);
        std::fs::write(&foreign, "precious\n").unwrap();
        let input: String = (0..60).map(|number| line(number) + "\n").collect();
        let output = pipe(record(&file).args(["--rotate", "600", "--keep", "9"]), input.as_bytes());
        assert_eq!((text(&output.stdout), output.status.code()), (input.clone(), Some(1)));
        let stderr = text(&output.stderr);
        assert!(
            stderr.contains(&format!("{} is not an older part of it; move it away", foreign.display())),
            "{stderr}"
        );
        assert_eq!(std::fs::read_to_string(&foreign).unwrap(), "precious\n");
        let mut files: Vec<_> =
            (1..number).rev().map(|number| rotated(&file, number)).filter(|file| file.exists()).collect();
        files.push(file.clone());
        let files: Vec<_> = files.iter().map(|file| file.as_path()).collect();
        assert_eq!(text(&Log::read_all(&files).clean().stream(Direction::In)), input);
    }
}

#[test]
fn rotated_files_are_read_in_the_order_of_their_numbers() {
    let (folder, file) = new_log();
    let input: String = (0..60).map(|number| line(number) + "\n").collect();
    pipe(record(&file).args(["--rotate", "1K", "--keep", "99"]), input.as_bytes());
    // The order of a shell's `log.jsonl*`.
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 10);
    let run = |words: &[&str]| {
        let output = pipe(command("jsonl-log").args(words).args(&files), b"");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let cells = run(&["csv", "."]);
    let rows: Vec<String> = input.lines().map(|line| format!("\"{}\"", line.replace('"', "\"\""))).collect();
    assert_eq!(cells.lines().skip(1).collect::<Vec<_>>(), rows);
    let recovered = folder.path().join("recovered");
    std::fs::write(&recovered, run(&["recover"])).unwrap();
    assert_eq!(text(&Log::read(&recovered).clean().stream(Direction::In)), input);
    // Of two logs, the one that was named first comes first.
    let other = folder.path().join("other.jsonl");
    pipe(&mut record(&other), b"7\n");
    let cells = pipe(command("jsonl-log").args(["csv", "."]).arg(&other).args(&files), b"");
    assert!(text(&cells.stdout).starts_with(".\n7\n"), "{}", text(&cells.stdout));
}

#[test]
fn rotation_leaves_pipes_and_files_of_other_formats_alone() {
    let input: String = (0..60).map(|number| line(number) + "\n").collect();
    let (_folder, file) = new_log();
    nix::unistd::mkfifo(&rotated(&file, 1), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    let output = pipe(record(&file).args(["--rotate", "600"]), input.as_bytes());
    assert_eq!((text(&output.stdout), output.status.code()), (input.clone(), Some(1)));
    assert!(text(&output.stderr).contains("is not a regular file"), "{}", text(&output.stderr));
    let (_folder, file) = new_log();
    std::fs::write(rotated(&file, 1), "{\"format\":\"precious\"}\n").unwrap();
    let output = pipe(record(&file).args(["--rotate", "600", "--keep", "2"]), input.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(rotated(&file, 1)).unwrap(), "{\"format\":\"precious\"}\n");
}

#[test]
fn with_must_record_nothing_passes_after_a_log_was_truncated() {
    let (_folder, file) = new_log();
    let mut recorder = Talk::start(record(&file).arg("--must-record"));
    recorder.ask(&line(1));
    std::fs::write(&file, "").unwrap();
    wait_for_its_look();
    recorder.say(&line(2));
    let ended = recorder.end();
    assert_eq!((ended.status.code(), ended.lines.len()), (Some(1), 0), "{}", ended.stderr);
    assert!(ended.stderr.contains("was truncated or replaced by another process; stopped"), "{}", ended.stderr);
}
