//! The line contract, tested for every command in `cmd::ALL`, so that a new command is tested from the day it is added.

use crate::process::{Talk, binary, command, eventually, is_running, is_windows, pipe, text, with_a_person};
use crate::samples::{commands, line_commands, sample_of};
use nix::sys::signal::Signal;
use pipewright::cmd::{ALL, Command};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn run(of: &Command) -> std::process::Command {
    let mut run = command(of.name);
    run.args(sample_of(of).arguments);
    run
}

fn line(of: &Command) -> String {
    format!("{}\n", sample_of(of).line)
}

#[test]
fn every_program_is_a_command_and_every_command_a_program() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bin");
    let mut programs: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    programs.sort();
    let commands: Vec<&str> = ALL.iter().map(|command| command.name).collect();
    assert_eq!(programs, commands);
}

#[test]
fn every_definition_is_sound() {
    for of in ALL {
        (of.clap)().debug_assert();
    }
}

/// The output of `--help` in a terminal with this many columns; `rest` follows the command.
fn help_in_a_terminal(of: &Command, columns: usize, rest: &str) -> String {
    let script = format!("stty rows 24 cols {columns}; {} --help {rest}", binary(of.name).display());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).env("TERM", "xterm").env_remove("COLUMNS");
    let mut terminal = with_a_person(shell);
    terminal.exp_eof().unwrap().replace('\r', "")
}

#[test]
fn help_is_as_wide_as_the_terminal_and_not_too_wide() {
    for of in ALL {
        let piped = text(&pipe(command(of.name).arg("--help").env("COLUMNS", "40"), b"").stdout);
        let too_wide = |help: &str, columns| {
            // A longer word is on a line of its own.
            let is_long = |line: &&str| line.chars().count() > columns && line.split_whitespace().count() > 1;
            help.lines().find(is_long).map(str::to_owned)
        };
        assert_eq!(too_wide(&piped, 100), None, "{}: in a pipe", of.name);
        assert_eq!(help_in_a_terminal(of, 60, "| cat"), piped, "{}: a pipe depends on no terminal", of.name);
        for columns in [60, 200] {
            let help = help_in_a_terminal(of, columns, "");
            assert_eq!(too_wide(&help, columns), None, "{}: {columns} columns", of.name);
            let words = |help: &str| help.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&help), words(&piped), "{}: {columns} columns", of.name);
            assert_eq!(columns >= 100, help == piped, "{}: {columns} columns", of.name);
        }
    }
}

#[test]
fn help_and_version_go_to_stdout() {
    for of in commands() {
        for (argument, needle) in [("-h", "Usage:"), ("--help", "Exit status:"), ("--version", of.name)] {
            let output = pipe(command(of.name).arg(argument), b"");
            assert_eq!(output.status.code(), Some(0), "{} {argument}", of.name);
            assert!(text(&output.stdout).contains(needle), "{} {argument}", of.name);
            assert!(output.stderr.is_empty());
            let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
            let status = command(of.name).arg(argument).stdout(full).stderr(Stdio::null()).status().unwrap();
            assert_eq!(status.code(), Some(1), "{} {argument} >/dev/full", of.name);
        }
    }
}

#[test]
fn wrong_usage_is_2_and_prints_nothing() {
    for of in commands() {
        for arguments in [&["--no-such-option"][..], &["--max-line", "none"], &["--max-depth"]] {
            let output = pipe(command(of.name).args(arguments), b"");
            assert_eq!(output.status.code(), Some(2), "{} {arguments:?}", of.name);
            assert!(output.stdout.is_empty(), "{} {arguments:?}", of.name);
            assert!(text(&output.stderr).contains(arguments[0]), "{} {arguments:?}", of.name);
        }
    }
}

#[test]
fn the_sample_is_answered_and_the_status_is_0() {
    for of in line_commands() {
        let output = pipe(&mut run(of), line(of).as_bytes());
        assert_eq!(output.status.code(), Some(0), "{}: {}", of.name, text(&output.stderr));
        assert!(!output.stdout.is_empty(), "{}", of.name);
    }
}

#[test]
fn an_open_pipe_does_not_stall() {
    for of in line_commands() {
        let mut talk = Talk::start(&mut run(of));
        for _ in 0..2 {
            assert!(!talk.ask(sample_of(of).line).is_empty(), "{}", of.name);
        }
        talk.close();
        assert_eq!(talk.end().status.code(), Some(0), "{}", of.name);
    }
}

#[test]
fn a_full_disk_is_reported_with_status_1() {
    for of in line_commands() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut child = run(of).stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(line(of).as_bytes());
        let output = child.wait_with_output().unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{}: {stderr}", of.name);
        let why = if is_windows() { "Disk full" } else { "No space left on device" };
        assert!(stderr.starts_with(&format!("{}: stdout: {why}", of.name)), "{stderr}");
    }
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    for of in line_commands() {
        let mut child = run(of).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdin.write_all(line(of).as_bytes()).unwrap();
        stdout.read_exact(&mut [0]).unwrap();
        drop(stdout);
        // A filter notices it with its next write, a proxy by itself. (Another test that is just starting a program has a copy of the pipe
        // for a moment, so the line is sent again.)
        eventually(&format!("{} ends, though its stdin is open", of.name), || {
            let _ = stdin.write_all(line(of).as_bytes());
            child.try_wait().unwrap().is_some()
        });
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}: {}", of.name, text(&output.stderr));
        assert_eq!(text(&output.stderr), "", "{}", of.name);
    }
}

#[test]
fn a_closed_stdout_is_treated_as_dev_null() {
    for of in line_commands() {
        let script = format!("exec {} \"$@\" >&-", binary(of.name).display());
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script, "sh"]).args(sample_of(of).arguments);
        let output = pipe(&mut shell, line(of).as_bytes());
        assert_eq!(output.status.code(), Some(0), "{}: {}", of.name, text(&output.stderr));
    }
}

#[test]
fn a_torn_line_affects_only_itself() {
    for of in line_commands().filter(|of| !sample_of(of).takes_any_line) {
        let torn = &sample_of(of).line[..sample_of(of).line.len() / 2];
        let mut talk = Talk::start(&mut run(of));
        talk.say(torn);
        if sample_of(of).is_filter {
            assert_eq!(talk.receive(), torn, "{}", of.name);
        }
        assert!(!talk.ask(sample_of(of).line).is_empty(), "{}", of.name);
        talk.close();
        let ended = talk.end();
        assert_eq!(ended.status.code(), Some(1), "{}", of.name);
        assert!(ended.stderr.starts_with(&format!("{}: stdin:1: ", of.name)), "{}", ended.stderr);
    }
}

#[test]
fn a_filter_passes_unknown_lines_byte_for_byte() {
    let odd: &[&[u8]] = &[
        b"\xef\xbb\xbf{\"big\":12345678901234567890,\"f\":1.10}\r\n",
        b"\n",
        b" \t \r\n",
        b"{\"nul\":\"\0\"}\n",
        b"\xff\xfe\n",
        b"{\"a\":1}\r{\"b\":2}\n",
        b"{\"dup\":1,\"dup\":2}\n",
        &[b'x'; 70_000],
        b"\n[1,\n\"no line feed at the end\"",
    ];
    let input = odd.concat();
    for of in line_commands().filter(|of| sample_of(of).is_filter) {
        for limit in ["4M", "1K", "1"] {
            let output = pipe(run(of).args(["--max-line", limit]), &input);
            assert!(output.stdout == input, "{} --max-line {limit}: {}", of.name, text(&output.stdout));
        }
    }
}

/// Whether a status says that this signal ended the process. Windows has a number of the shell's kind for it.
fn is_end_by(signal: Signal, status: ExitStatus) -> bool {
    if is_windows() { status.code() == Some(128 + signal as i32) } else { status.signal() == Some(signal as i32) }
}

#[test]
fn signals_end_it_after_all_read_lines_are_written() {
    for of in line_commands() {
        // Wine makes Ctrl-C of SIGINT.
        let signals: &[Signal] =
            if is_windows() { &[Signal::SIGINT] } else { &[Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] };
        for &signal in signals {
            if signal == Signal::SIGHUP && sample_of(of).reopens {
                continue;
            }
            let mut talk = Talk::start(&mut run(of));
            talk.ask(sample_of(of).line);
            talk.signal(signal);
            let ended = talk.end();
            assert!(is_end_by(signal, ended.status), "{} {signal}: {} {}", of.name, ended.status, ended.stderr);
            assert_eq!(ended.stderr, "", "{}", of.name);
        }
    }
}

#[test]
fn a_signal_ends_it_even_while_nobody_reads() {
    for of in line_commands() {
        let mut child = run(of).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let line = line(of);
        let written = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&written);
        let writer = std::thread::spawn(move || {
            while stdin.write_all(line.as_bytes()).is_ok() {
                count.fetch_add(line.len(), Ordering::Relaxed);
            }
        });
        // More than a pipe holds: it has read some. What it writes then fills its own.
        eventually("it reads", || written.load(Ordering::Relaxed) > 1 << 16);
        std::thread::sleep(Duration::from_millis(300));
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
        let status = child.wait().unwrap();
        assert!(is_end_by(Signal::SIGINT, status), "{}: {status}", of.name);
        writer.join().unwrap();
    }
}

#[test]
fn a_signal_that_the_parent_ignores_stays_ignored() {
    for of in line_commands() {
        let script = format!("trap '' INT; exec {} \"$@\"", binary(of.name).display());
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script, "sh"]).args(sample_of(of).arguments);
        let mut talk = Talk::start(&mut shell);
        talk.ask(sample_of(of).line);
        talk.signal(Signal::SIGINT);
        std::thread::sleep(Duration::from_millis(100));
        assert!(is_running(talk.pid().as_raw()), "{}", of.name);
        talk.close();
        assert_eq!(talk.end().status.code(), Some(0), "{}", of.name);
    }
}

#[test]
fn a_non_blocking_stdin_is_waited_for() {
    for of in line_commands() {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        let stdin = std::os::fd::OwnedFd::from(theirs);
        let mut child = run(of).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100));
        (&ours).write_all(line(of).as_bytes()).unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 4]).unwrap();
        drop(ours);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}: {}", of.name, text(&output.stderr));
    }
}

/// Peak memory in KiB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn memory_stays_flat_on_a_long_input() {
    for of in line_commands() {
        let mut child = run(of).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // White space before the end of the line: this gives fewer lines, since here a shell script as the agent answers each of them.
        let sample = format!("{:2048}\n", sample_of(of).line);
        let lines: usize = (10 << 20) / sample.len();
        for line in 0..lines {
            stdin.write_all(sample.replace("rest", &format!("rest{line}")).as_bytes()).unwrap();
        }
        assert!(peak(child.id()) < 20 << 10, "{} took {} KiB", of.name, peak(child.id()));
        drop(stdin);
        eventually("it ends", || child.try_wait().unwrap().is_some());
    }
}

#[test]
fn memory_stays_flat_on_an_endless_line() {
    for of in line_commands() {
        let mut child = run(of).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"{\"pad\":\"").unwrap();
        for _ in 0..64 {
            stdin.write_all(&[b'x'; 1 << 20]).unwrap();
        }
        assert!(peak(child.id()) < 20 << 10, "{} took {} KiB", of.name, peak(child.id()));
        drop(stdin);
        eventually("it ends", || child.try_wait().unwrap().is_some());
    }
}

#[test]
fn an_unreadable_stdin_is_status_1() {
    for of in line_commands() {
        let folder = std::fs::File::open("/").unwrap();
        let output = run(of).stdin(folder).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", of.name);
        assert!(text(&output.stderr).contains(": stdin: Is a directory"), "{}", text(&output.stderr));
    }
}
