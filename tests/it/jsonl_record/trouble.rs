//! What happens to the file meanwhile: the disk is full, it is rotated, it is renamed.

use super::{new_log, record};
use crate::log::Log;
use crate::process::{Ended, Talk, binary, eventually, pipe, text};
use nix::sys::signal::Signal;
use pipewright::journal::Direction;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A recorder whose files may become no longer than so many blocks of 512 bytes: to it, that is a full disk.
fn record_on_a_small_disk(blocks: u32, file: &Path) -> Command {
    let mut shell = Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    shell.args(["-c", &script, "sh"]).arg(binary("jsonl-record")).arg(file);
    shell
}

fn line(number: usize) -> String {
    format!("{{\"number\":{number},\"pad\":\"{}\"}}", "x".repeat(400))
}

/// `FILE.N`.
fn rotated(file: &Path, number: usize) -> PathBuf {
    PathBuf::from(format!("{}.{number}", file.display()))
}

/// A log with those of its rotated files that are there.
pub fn read_with_rotated(file: &Path) -> Log {
    let mut files: Vec<PathBuf> = (1..).map(|number| rotated(file, number)).take_while(|file| file.exists()).collect();
    files.reverse();
    files.push(file.to_owned());
    Log::read_all(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>())
}

fn told_as_full(ended: &Ended, file: &Path) -> usize {
    let prefix = format!("jsonl-record: {}: ", file.display());
    let told: Vec<&str> = ended.stderr.lines().map(|line| line.strip_prefix(&prefix).unwrap()).collect();
    let [first, last] = told[..] else { panic!("it tells once that it can't, and at the end how much: {told:?}") };
    assert_eq!(first, "File too large (os error 27); the stream goes on, what isn't recorded is counted");
    last.strip_suffix(" messages were not recorded").unwrap().parse().unwrap()
}

#[test]
fn on_a_full_disk_the_stream_goes_on_and_the_loss_is_counted_once() {
    let (_folder, file) = new_log();
    let mut talk = Talk::start(&mut record_on_a_small_disk(16, &file));
    for number in 0..100 {
        assert_eq!(talk.ask(&line(number)), line(number));
    }
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    let lost = told_as_full(&ended, &file);
    let log = Log::read(&file).is_clean();
    assert!(log.messages.len() > 10);
    assert_eq!(log.messages.len() + lost, 100);
    assert!(std::fs::read(&file).unwrap().ends_with(b"}\n"), "no torn line is left");
}

#[test]
fn when_there_is_room_again_the_log_says_what_it_lacks() {
    let (_folder, file) = new_log();
    let mut talk = Talk::start(&mut record_on_a_small_disk(16, &file));
    for number in 0..100 {
        talk.ask(&line(number));
    }
    // Somebody makes room.
    std::fs::rename(&file, rotated(&file, 1)).unwrap();
    talk.signal(Signal::SIGHUP);
    eventually("a new file is there", || file.exists());
    for number in 100..105 {
        talk.ask(&line(number));
    }
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1), "there was a loss");
    let lost = told_as_full(&ended, &file);
    let log = read_with_rotated(&file).is_clean();
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
    let told = "jsonl-record: /dev/full: No space left on device (os error 28); the stream goes on, what isn't recorded is counted\n\
                jsonl-record: /dev/full: 2 messages were not recorded\n";
    assert_eq!(text(&output.stderr), told);
}

#[test]
fn what_must_be_recorded_is_not_passed_on_where_it_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let wrapped = ["--", "tee", "seen"];
    for (number, command) in [&[][..], &wrapped].into_iter().enumerate() {
        let file = folder.path().join(number.to_string());
        let mut recorder = record_on_a_small_disk(16, &file);
        let input: String = (0..100).map(|number| line(number) + "\n").collect();
        let output = pipe(recorder.current_dir(&folder).arg("--must-record").args(command), input.as_bytes());
        assert_eq!(output.status.code(), Some(1));
        let told = format!(
            "jsonl-record: {}: File too large (os error 27); stopped, because everything must be recorded (--must-record)\n",
            file.display()
        );
        assert_eq!(text(&output.stderr), told);
        let log = Log::read(&file).is_clean();
        assert!(log.stream(Direction::In).starts_with(&output.stdout));
        let seen = std::fs::read(folder.path().join("seen")).unwrap_or_default();
        assert!(log.stream(Direction::In).starts_with(&seen));
    }
}

#[test]
fn what_must_be_recorded_is_not_passed_on_where_a_rotation_finds_the_disk_full() {
    let (_folder, file) = new_log();
    let mut recorder = record_on_a_small_disk(8, &file);
    let input: String = (0..200).map(|number| line(number) + "\n").collect();
    let output = pipe(recorder.args(["--must-record", "--rotate", "16K"]), input.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let log = Log::read(&file).is_clean();
    assert!(log.stream(Direction::In).starts_with(&output.stdout), "{}", text(&output.stdout));
}

#[test]
fn a_full_disk_does_not_rotate_what_is_kept_away() {
    let (folder, file) = new_log();
    let rotation = ["--rotate", "16K", "--keep", "3"];
    let input: String = (0..500).map(|number| line(number) + "\n").collect();
    pipe(record(&file).args(rotation), input.as_bytes());
    let before: Vec<String> = (1..=3).map(|number| std::fs::read_to_string(rotated(&file, number)).unwrap()).collect();
    // No file takes anything any more.
    let output = pipe(record_on_a_small_disk(0, &file).args(rotation), input.as_bytes());
    assert_eq!((output.status.code(), text(&output.stdout) == input), (Some(1), true));
    let after: Vec<String> = (1..=3).map(|number| std::fs::read_to_string(rotated(&file, number)).unwrap()).collect();
    assert!(before == after, "files that hold something gave way to files that hold nothing");
    drop(folder);
}

#[test]
fn all_may_be_kept() {
    let (_folder, file) = new_log();
    let input: String = (0..200).map(|number| line(number) + "\n").collect();
    let keep = usize::MAX.to_string();
    let output = pipe(record(&file).args(["--rotate", "8K", "--keep", &keep]), input.as_bytes());
    assert!(text(&output.stdout) == input);
    assert_eq!(text(&read_with_rotated(&file).is_clean().stream(Direction::In)), input);
}

#[test]
fn what_must_be_recorded_is_not_even_begun_where_nothing_can_be() {
    let output = pipe(record(Path::new("/dev/full")).args(["--must-record", "--", "echo", "started"]), b"");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    assert!(text(&output.stderr).contains("/dev/full: No space left on device"), "{}", text(&output.stderr));
}

#[test]
fn a_log_is_rotated_between_lines_and_its_numbers_go_on() {
    let (folder, file) = new_log();
    let input: String = (0..200).map(|number| line(number) + "\n").collect();
    let output = pipe(record(&file).args(["--rotate", "8K", "--keep", "100"]), input.as_bytes());
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    assert!(text(&output.stdout) == input);
    let log = read_with_rotated(&file).is_clean();
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
        let log = read_with_rotated(&file).is_clean();
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
        let log = read_with_rotated(&file).is_clean();
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
    let log = read_with_rotated(&file).is_clean();
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
    assert_eq!(text(&read_with_rotated(&file).is_clean().stream(Direction::In)), input.repeat(2));
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
        assert_eq!(read_with_rotated(&file).is_clean().messages.last().unwrap().bytes, b"{\"again\":true}\n");
    }
}

#[test]
fn only_a_file_can_be_rotated() {
    let output = pipe(record(Path::new("/dev/null")).args(["--rotate", "1M"]), b"{}\n");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    assert_eq!(text(&output.stderr), "jsonl-record: /dev/null: only a file can be rotated\n");
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
    let log = read_with_rotated(&file).is_clean();
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
    let log = read_with_rotated(&file).is_clean();
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
    let log = Log::read(&file).is_clean();
    assert_eq!((log.headers.len(), log.messages.len()), (1, 20));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn where_no_new_file_can_be_opened_the_old_one_goes_on_and_that_is_told() {
    let (folder, file) = new_log();
    let mut talk = Talk::start(&mut record(&file));
    talk.ask("{\"n\":1}");
    let aside = rotated(&file, 1);
    std::fs::rename(&file, &aside).unwrap();
    std::fs::create_dir(&file).unwrap();
    talk.signal(Signal::SIGHUP);
    // The signal is heard on a thread of its own: what is told shows that it was.
    std::thread::sleep(std::time::Duration::from_millis(100));
    talk.ask("{\"n\":2}");
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    assert!(
        ended
            .stderr
            .ends_with("cannot be opened anew: Is a directory (os error 21); recording goes on in the old file\n"),
        "{}",
        ended.stderr
    );
    assert_eq!(text(&Log::read(&aside).is_clean().stream(Direction::In)), "{\"n\":1}\n{\"n\":2}\n");
    drop(folder);
}

/// What the recorder asked of the kernel, by strace.
#[test]
#[ignore = "needs strace: scripts/test installs it"]
fn with_sync_each_a_line_is_on_the_disk_before_it_is_passed_on() {
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
