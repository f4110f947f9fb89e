//! A log in several files: rotated by the recorder, or renamed by another process that then sends SIGHUP.

use super::{line, new_log, read_with_rotated, record, rotated};
use crate::log::Log;
use crate::process::{Talk, eventually, pipe, text};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use pipewright_log::Direction;
use std::path::Path;

#[test]
fn all_rotated_files_may_be_kept() {
    let (_folder, file) = new_log();
    let input: String = (0..200).map(|number| line(number) + "\n").collect();
    let keep = usize::MAX.to_string();
    let output = pipe(record(&file).args(["--rotate", "8K", "--keep", &keep]), input.as_bytes());
    assert!(text(&output.stdout) == input);
    assert_eq!(text(&read_with_rotated(&file).clean().stream(Direction::In)), input);
}

#[test]
fn a_log_is_rotated_between_lines_with_consecutive_numbers() {
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
fn no_file_exceeds_the_limit_with_any_content() {
    // Quotes and control characters grow most.
    for (content, length) in [("\"", 93), ("\u{1}", 20), ("\u{7f}\"", 46), ("\r", 93), ("x", 99)] {
        let (_folder, file) = new_log();
        // The length of the first line varies, so that the last line ends at every position.
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
fn only_the_given_number_of_rotated_files_is_kept() {
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
fn a_line_over_the_size_limit_gets_its_own_file() {
    let (folder, file) = new_log();
    let input = format!("1\n{}\n2\n", line(1)).repeat(3);
    pipe(record(&file).args(["--rotate", "300", "--keep", "20"]), input.as_bytes());
    let log = read_with_rotated(&file).clean();
    assert_eq!(text(&log.stream(Direction::In)), input);
    assert_eq!(log.headers.len(), std::fs::read_dir(&folder).unwrap().count());
}

#[test]
fn a_log_is_continued_even_if_it_was_just_rotated_away() {
    let (_folder, file) = new_log();
    let mut options = record(&file);
    let options = options.args(["--rotate", "8K", "--keep", "100"]);
    let input: String = (0..50).map(|number| line(number) + "\n").collect();
    pipe(options, input.as_bytes());
    pipe(options, input.as_bytes());
    assert_eq!(text(&read_with_rotated(&file).clean().stream(Direction::In)), input.repeat(2));
    // Killed after the renaming, before and after the new, empty file was created.
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
fn only_a_regular_file_can_be_rotated() {
    let output = pipe(record(Path::new("/dev/null")).args(["--rotate", "1M"]), b"{}\n");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    assert_eq!(text(&output.stderr), "jsonl-record: /dev/null: only a regular file can be rotated (--rotate)\n");
}

#[test]
fn a_log_that_cannot_be_rotated_grows_until_it_can() {
    let (_folder, file) = new_log();
    let in_the_way = rotated(&file, 1);
    std::fs::create_dir(&in_the_way).unwrap();
    let mut talk = Talk::start(record(&file).args(["--rotate", "8K"]));
    let input = Vec::from_iter((0..200).map(line));
    input[..100].iter().for_each(|line| drop(talk.ask(line)));
    talk.complains("cannot be rotated: ", 2);
    std::fs::remove_dir(&in_the_way).unwrap();
    input[100..].iter().for_each(|line| drop(talk.ask(line)));
    assert_eq!(talk.end_after_close().status.code(), Some(1));
    assert!(in_the_way.exists());
    assert_eq!(text(&read_with_rotated(&file).clean().stream(Direction::In)), input.join("\n") + "\n");
}

#[test]
fn renaming_and_sighup_by_logrotate_lose_nothing() {
    let (_folder, file) = new_log();
    let mut talk = Talk::start(record(&file).args(["--", "cat"]));
    let mut sent = String::new();
    for turn in (1..=5).rev() {
        for number in 0..20 {
            talk.ask(&line(number));
            sent += &(line(number) + "\n");
        }
        std::fs::rename(&file, rotated(&file, turn)).unwrap();
        // Lines until the signal is handled are in the old file.
        talk.ask("{\"between\":true}");
        sent += "{\"between\":true}\n";
        talk.signal(Signal::SIGHUP);
        eventually("a new file is there", || file.exists());
    }
    let ended = talk.end_after_close();
    assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
    let log = read_with_rotated(&file).clean();
    assert_eq!(text(&log.stream(Direction::In)), sent);
    assert_eq!(text(&log.stream(Direction::Out)), sent);
    assert_eq!(log.headers.len(), 6);
}

#[test]
fn a_log_is_continued_with_the_next_number_after_a_sighup_and_a_kill() {
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
fn a_sighup_without_a_new_file_changes_nothing() {
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
fn if_no_new_file_can_be_opened_the_old_one_is_continued_with_a_report() {
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
    for (place, message) in places {
        the_old_file_goes_on(place, message);
    }
}

fn the_old_file_goes_on(place: fn(&Path), message: &str) {
    let (folder, file) = new_log();
    let mut talk = Talk::start(&mut record(&file));
    talk.ask("{\"n\":1}");
    let aside = rotated(&file, 1);
    std::fs::rename(&file, &aside).unwrap();
    place(&file);
    talk.signal(Signal::SIGHUP);
    // A separate thread handles the signal: the message shows that it has.
    std::thread::sleep(std::time::Duration::from_millis(100));
    talk.ask("{\"n\":2}");
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.ends_with(&format!("{message}\n")), "{}", ended.stderr);
    assert_eq!(text(&Log::read(&aside).clean().stream(Direction::In)), "{\"n\":1}\n{\"n\":2}\n");
    drop(folder);
}
