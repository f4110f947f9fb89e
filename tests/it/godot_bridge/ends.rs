//! Ways to end: in each case, the game ends with the bridge, together with all processes it has started.

use super::{Bridge, assert_nothing_is_left, bridge, has_a_process, lines, play};
use crate::process::{assert_all_end, eventually, is_running, text};
use nix::sys::signal::Signal;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn the_end_of_stdin_ends_the_game_and_its_processes() {
    for transport in ["file", "unix", "tcp"] {
        let mut bridge = Bridge::start("stubborn", &["--transport", transport]);
        let processes = bridge.processes();
        assert_eq!(processes.len(), 2);
        let ended = bridge.end_after_close();
        assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
        assert_all_end(&processes, transport);
    }
}

#[test]
fn a_signal_ends_the_game_in_order() {
    for fault in ["echo", "stubborn"] {
        for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
            let mut bridge = Bridge::start(fault, &[]);
            let processes = bridge.processes();
            bridge.talk.signal(signal);
            let ended = bridge.end();
            assert_eq!((ended.status.signal(), ended.stderr.as_str()), (Some(signal as i32), ""));
            assert!(ended.took < Duration::from_secs(2), "{:?}", ended.took);
            assert_all_end(&processes, &format!("{fault} {signal}"));
        }
    }
}

#[test]
fn a_signal_ends_a_game_that_hangs_or_never_starts() {
    for (fault, options) in [("silent", &[][..]), ("silent", &["--transport", "unix"]), ("hangs", &[])] {
        let mut bridge = Bridge::start(fault, options);
        bridge.talk.say(r#"{"cmd":"x"}"#);
        // The game runs, and signals are handled.
        eventually("the game has started", || has_a_process(bridge.home.path()));
        bridge.talk.receive_nothing_for(100);
        bridge.talk.signal(Signal::SIGTERM);
        let ended = bridge.end();
        assert_eq!(ended.status.signal(), Some(15), "{}", ended.stderr);
        assert!(ended.took < Duration::from_secs(2), "{:?}", ended.took);
    }
}

#[test]
fn a_killed_bridge_leaves_no_game_and_the_next_removes_its_folder() {
    for transport in ["file", "unix", "tcp"] {
        let mut bridge = Bridge::start("echo", &["--transport", transport]);
        let game = bridge.processes()[0];
        assert!(is_running(game));
        bridge.talk.signal(Signal::SIGKILL);
        let Bridge { talk, home } = bridge;
        talk.end();
        eventually("the game has ended", || !is_running(game));
        assert_eq!(std::fs::read_dir(home.path().join("pipewright")).unwrap().count(), 1);
        let (mut next, _) = super::bridge("echo", &[]);
        let next = next.env("XDG_RUNTIME_DIR", home.path()).stdin(Stdio::null()).output().unwrap();
        assert_eq!(next.status.code(), Some(0));
        assert_nothing_is_left(home.path());
    }
}

#[test]
fn a_closed_stdout_is_a_quiet_end() {
    let (mut bridge, home) = bridge("stubborn", &[]);
    let bridge = bridge.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = bridge.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, r#"{{"cmd":"x"}}"#).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let started = Instant::now();
    // Its stdin stays open, as in `tail -f commands | godot-bridge ... | head -1`.
    while child.try_wait().unwrap().is_none() {
        let _ = writeln!(stdin, r#"{{"cmd":"x"}}"#);
        std::thread::sleep(Duration::from_millis(20));
        assert!(started.elapsed() < Duration::from_secs(10), "it doesn't end");
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    assert_nothing_is_left(home.path());
}

#[test]
fn a_full_disk_is_reported_and_ends_the_game() {
    let (mut bridge, home) = bridge("echo", &[]);
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut child = bridge.stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, r#"{{"cmd":"x"}}"#).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("stdout: No space left on device"), "{}", text(&output.stderr));
    drop(stdin);
    assert_nothing_is_left(home.path());
}

#[test]
fn a_requested_quit_exits_with_the_games_status() {
    for transport in ["file", "unix", "tcp"] {
        for (code, status) in [(0, 0), (5, 5)] {
            let mut bridge = Bridge::start("echo", &["--transport", transport]);
            let answer = bridge.ask(&format!(r#"{{"cmd":"quit","id":1,"args":{{"code":{code}}}}}"#));
            assert_eq!(answer["ok"], true);
            // Although stdin is open.
            let ended = bridge.end();
            assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(status), ""));
        }
    }
}

#[test]
fn commands_after_a_quit_are_also_answered() {
    for (code, status) in [(0, 1), (5, 5)] {
        let quit = format!(r#"{{"cmd":"quit","id":1,"args":{{"code":{code}}}}}"#);
        let output = play("echo", &[], &[&quit, r#"{"cmd":"x","id":2}"#]);
        let answers = lines(&output);
        assert!(answers[0].starts_with(r#"{"ok":true,"id":1,"#), "{answers:?}");
        assert!(answers[1].starts_with(r#"{"ok":false,"id":2,"#) && answers[1].contains("GAME_EXITED"), "{answers:?}");
        assert_eq!(output.status.code(), Some(status));
    }
}

#[test]
fn a_game_that_answers_quit_but_keeps_running_is_given_up() {
    let output = play("never-ends", &[], &[r#"{"cmd":"quit"}"#]);
    assert_eq!((output.status.code(), lines(&output).len()), (Some(4), 1));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("the game was asked to quit but has not ended"), "{stderr}");
}

#[test]
fn a_game_has_time_to_end() {
    const NOTE: &str = "godot-bridge: the game was asked to quit but has not ended in time (--quit-timeout)\n";
    for (options, line) in [(&[][..], NOTE), (&["--quit-timeout", "20s"], ""), (&["--quit-timeout", "0"], "")] {
        let output = play("ends-late", options, &[r#"{"cmd":"x"}"#]);
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), line), "{options:?}");
    }
    for (options, status) in [(["--quit-timeout", "1s"], 4), (["--quit-timeout", "20s"], 5)] {
        let output = play("ends-late", &options, &[r#"{"cmd":"quit","args":{"code":5}}"#]);
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
    }
    let started = Instant::now();
    play("never-ends", &["--quit-timeout", "100ms"], &[r#"{"cmd":"x"}"#]);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[test]
fn a_crash_at_the_end_is_reported() {
    for transport in ["file", "unix", "tcp"] {
        for (fault, how) in [("crashes-at-the-end", "signal 6 (SIGABRT)"), ("ends-like-a-crash", "exit status 139")] {
            let output = play(fault, &["--transport", transport], &[r#"{"cmd":"x","id":1}"#]);
            let stderr = text(&output.stderr);
            assert!(lines(&output).len() == 1 && lines(&output)[0].starts_with(r#"{"ok":true,"id":1,"#));
            assert_eq!(output.status.code(), Some(4), "{stderr}");
            assert!(stderr.ends_with(&format!("the game has crashed: {how} (GAME_CRASHED)\n")), "{stderr}");
        }
    }
    // Its last output does not matter as long as it ends; a requested end gives the status of the game.
    let output = play("ends-badly", &[], &[r#"{"cmd":"x"}"#]);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    let output = play("ends-like-a-crash", &[], &[r#"{"cmd":"quit"}"#]);
    assert_eq!((output.status.code(), lines(&output).len()), (Some(139), 1), "{}", text(&output.stderr));
    let home = tempfile::tempdir().unwrap();
    let mut tree = crate::process::command("godot-bridge");
    tree.env("XDG_RUNTIME_DIR", home.path()).arg("tree").arg("--").arg(crate::process::example("stand-in-game"));
    let output = tree.arg("crashes-with-a-tree").stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("root"), "{}", text(&output.stderr));
}

#[test]
fn a_game_that_ignores_the_end_is_killed_soon() {
    let started = Instant::now();
    let output = play("hangs", &[], &[]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("(TIMEOUT)"), "{}", text(&output.stderr));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn no_game_exits_2_and_a_game_that_cannot_be_started_exits_3() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut bridge = crate::process::command("godot-bridge");
        bridge.env("XDG_RUNTIME_DIR", home.path()).args(arguments).stdin(Stdio::null()).output().unwrap()
    };
    for (arguments, status, message) in [
        (&[][..], 2, "no game is named: give --launch PROJECT, --attach DIR, or -- GAME ARGS"),
        (&["--attach", "/tmp", "--", "true"], 2, "name one game"),
        (&["--attach", "/tmp", "--transport", "unix"], 2, "--transport applies only to a game that is started"),
        (&["tree", "--attach", "/tmp", "--transport", "tcp"], 2, "--transport applies only to a game that is started"),
        (&["--", "/no/such/game"], 3, "cannot start /no/such/game: No such file or directory"),
        (&["--transport", "unix", "--", "/no/such/game"], 3, "cannot start /no/such/game"),
        (&["--", "false"], 3, "the game ended before the handshake: exit status 1"),
    ] {
        let output = run(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
        assert!(stderr.contains(message), "{stderr}");
        assert_nothing_is_left(home.path());
    }
}
