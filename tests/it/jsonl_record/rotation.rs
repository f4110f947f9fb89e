//! A log in several files: rotated by itself, or renamed by somebody who sends SIGHUP then.

use super::{line, new_log, read_with_rotated, record, rotated};
use crate::log::Log;
use crate::process::{Talk, eventually, pipe, text};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use pipewright::journal::Direction;
use std::path::Path;

#[test]
fn all_may_be_kept() {
    let (_folder, file) = new_log();
    let input: String = (0..200).map(|number| line(number) + "\n").collect();
    let keep = usize::MAX.to_string();
    let output = pipe(record(&file).args(["--rotate", "8K", "--keep", &keep]), input.as_bytes());
    assert!(text(&output.stdout) == input);
    assert_eq!(text(&read_with_rotated(&file).clean().stream(Direction::In)), input);
}

#[test]
fn a_log_is_rotated_between_lines_and_its_numbers_go_on() {
    let (folder, file) = new_log();
    let input: String = (0..200).map(|number| line(number) + "\n").collect();
    let output = pipe(record(&file).args(["--rotate", "8K", "--keep", "100"]), input.as_bytes());
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    assert!(text(&output.stdout) == input);
    let log = read_with_rotated(&file).clean();
    assert_eq!(text(&log.stream(Direction::In)), input);
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert!((11..20).contains(&files), "{files} files");
    assert_eq!(log.headers.len(), files, "a header in each");
    assert!(log.headers.iter().all(|header| header.start == log.headers[0].start), "of one session");
    for number in 1..files {
        let length = std::fs::metadata(rotated(&file, number)).unwrap().len();
        assert!((7000..=8192).contains(&length), "{length}");
        assert!(std::fs::read(rotated(&file, number)).unwrap().ends_with(b"}\n"));
    }
}

#[test]
fn no_file_becomes_longer_than_it_may_whatever_is_in_it() {
    // Quotes and control characters are what grows most.
    for (content, length) in [("\"", 93), ("\u{1}", 20), ("\u{7f}\"", 46), ("\r", 93), ("x", 99)] {
        let (_folder, file) = new_log();
        // The first line of a file moves the others to and fro, so that the last ends everywhere.
        let input: String =
            (0..600).map(|number| content.repeat(length * (1 + number % 8 / 7) - number % 5) + "\r\n").collect();
        pipe(record(&file).args(["--rotate", "2K", "--keep", "600"]), input.as_bytes());
        let log = read_with_rotated(&file).clean();
        assert_eq!(text(&log.stream(Direction::In)), input);
        for number in 1..log.headers.len() {
            let length = std::fs::metadata(rotated(&file, number)).unwrap().len();
            assert!(length <= 2048, "{length} of {content:?}");
        }
    }
}

#[test]
fn only_so_many_rotated_files_are_kept() {
    for keep in [1, 3] {
        let (folder, file) = new_log();
        let input: String = (0..200).map(|number| line(number) + "\n").collect();
        pipe(record(&file).args(["--rotate", "8K", "--keep", &keep.to_string()]), input.as_bytes());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1 + keep);
        let log = read_with_rotated(&file).clean();
        assert!(input.ends_with(&text(&log.stream(Direction::In))), "the newest are kept");
    }
    let output = pipe(record(Path::new("log")).args(["--rotate", "8K", "--keep", "0"]), b"");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_line_that_is_longer_than_a_file_may_be_has_one_for_itself() {
    let (folder, file) = new_log();
    let input = format!("1\n{}\n2\n", line(1)).repeat(3);
    pipe(record(&file).args(["--rotate", "300", "--keep", "20"]), input.as_bytes());
    let log = read_with_rotated(&file).clean();
    assert_eq!(text(&log.stream(Direction::In)), input);
    assert_eq!(log.headers.len(), std::fs::read_dir(&folder).unwrap().count());
}

#[test]
fn a_rotated_log_is_continued_even_where_it_was_just_rotated_away() {
    let (_folder, file) = new_log();
    let mut options = record(&file);
    let options = options.args(["--rotate", "8K", "--keep", "100"]);
    let input: String = (0..50).map(|number| line(number) + "\n").collect();
    pipe(options, input.as_bytes());
    pipe(options, input.as_bytes());
    assert_eq!(text(&read_with_rotated(&file).clean().stream(Direction::In)), input.repeat(2));
    // Killed after the renaming, without the new file and with it, still empty.
    for is_there in [false, true] {
        let newest = (1..).find(|&number| !rotated(&file, number).exists()).unwrap();
        (1..newest)
            .rev()
            .for_each(|number| std::fs::rename(rotated(&file, number), rotated(&file, number + 1)).unwrap());
        std::fs::rename(&file, rotated(&file, 1)).unwrap();
        if is_there {
            std::fs::write(&file, "").unwrap();
        }
        pipe(options, b"{\"again\":true}\n");
        assert_eq!(read_with_rotated(&file).clean().messages.last().unwrap().bytes, b"{\"again\":true}\n");
    }
}

#[test]
fn only_a_file_can_be_rotated() {
    let output = pipe(record(Path::new("/dev/null")).args(["--rotate", "1M"]), b"{}\n");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    assert_eq!(text(&output.stderr), "jsonl-record: /dev/null: only a regular file can be rotated (--rotate)\n");
}

#[test]
fn logrotate_renames_and_hups_and_nothing_is_lost() {
    let (_folder, file) = new_log();
    let mut talk = Talk::start(record(&file).args(["--", "cat"]));
    let mut said = String::new();
    for turn in (1..=5).rev() {
        for number in 0..20 {
            talk.ask(&line(number));
            said += &(line(number) + "\n");
        }
        std::fs::rename(&file, rotated(&file, turn)).unwrap();
        // What is said until it hears of it stands in the old file.
        talk.ask("{\"between\":true}");
        said += "{\"between\":true}\n";
        talk.signal(Signal::SIGHUP);
        eventually("a new file is there", || file.exists());
    }
    let ended = talk.end_after_close();
    assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
    let log = read_with_rotated(&file).clean();
    assert_eq!(text(&log.stream(Direction::In)), said);
    assert_eq!(text(&log.stream(Direction::Out)), said);
    assert_eq!(log.headers.len(), 6);
}

#[test]
fn a_recorder_that_is_killed_after_a_hup_is_continued_with_the_next_number() {
    let (_folder, file) = new_log();
    let mut talk = Talk::start(&mut record(&file));
    talk.ask("{\"n\":1}");
    std::fs::rename(&file, rotated(&file, 1)).unwrap();
    talk.signal(Signal::SIGHUP);
    eventually("the new file has its header", || std::fs::metadata(&file).is_ok_and(|file| file.len() > 0));
    talk.signal(Signal::SIGKILL);
    talk.end();
    pipe(&mut record(&file), b"{\"n\":2}\n");
    let log = read_with_rotated(&file).clean();
    assert_eq!(text(&log.stream(Direction::In)), "{\"n\":1}\n{\"n\":2}\n");
}

#[test]
fn a_hup_without_a_new_file_changes_nothing() {
    let (folder, file) = new_log();
    let mut talk = Talk::start(&mut record(&file));
    for _ in 0..20 {
        talk.ask("{\"n\":1}");
        talk.signal(Signal::SIGHUP);
    }
    assert_eq!(talk.end_after_close().status.code(), Some(0));
    let log = Log::read(&file).clean();
    assert_eq!((log.headers.len(), log.messages.len()), (1, 20));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn where_no_new_file_can_be_opened_the_old_one_goes_on_and_that_is_told() {
    type Place = fn(&Path);
    let places: [(Place, &str); 3] = [
        (
            |path| std::fs::create_dir(path).unwrap(),
            "is not a regular file any more; recording continues in the old file",
        ),
        (
            |path| mkfifo(path, Mode::S_IRWXU).unwrap(),
            "is not a regular file any more; recording continues in the old file",
        ),
        (
            |path| std::fs::write(path, "a diary").unwrap(),
            "it is not a log of jsonl-record; give another file; recording continues in the old file",
        ),
    ];
    for (place, told) in places {
        the_old_file_goes_on(place, told);
    }
}

fn the_old_file_goes_on(place: fn(&Path), told: &str) {
    let (folder, file) = new_log();
    let mut talk = Talk::start(&mut record(&file));
    talk.ask("{\"n\":1}");
    let aside = rotated(&file, 1);
    std::fs::rename(&file, &aside).unwrap();
    place(&file);
    talk.signal(Signal::SIGHUP);
    // The signal is heard on a thread of its own: what is told shows that it was.
    std::thread::sleep(std::time::Duration::from_millis(100));
    talk.ask("{\"n\":2}");
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.ends_with(&format!("{told}\n")), "{}", ended.stderr);
    assert_eq!(text(&Log::read(&aside).clean().stream(Direction::In)), "{\"n\":1}\n{\"n\":2}\n");
    drop(folder);
}
