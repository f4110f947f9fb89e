//! The programs for Windows, run by wine (scripts/test-windows): what only they do. That they do what the others do is shown by the
//! other tests, which that script runs with them, too.

use crate::engine::launcher;
use crate::process::{Talk, command, eventually, example, pipe, text};
use crate::samples::NEED_UNIX;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn child() -> PathBuf {
    example("windows-child")
}

fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
#[ignore = "needs wine: scripts/test-windows installs it"]
fn commands_that_need_unix_say_so_at_the_start() {
    for name in NEED_UNIX {
        let output = pipe(command(name).args(["--approver", "--", "x"]), b"");
        assert_eq!(output.status.code(), Some(3), "{name}");
        assert_eq!(
            text(&output.stderr).trim_end(),
            format!("{name}: this command needs Unix; on Windows, run it in the Windows Subsystem for Linux (WSL)")
        );
    }
}

#[test]
#[ignore = "needs wine: scripts/test-windows installs it"]
fn a_script_starts_by_its_name_and_gets_its_arguments_whole() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a place with umlauts \u{e4}\u{f6}");
    std::fs::create_dir(&place).unwrap();
    // Wine's cmd does not expand what stands for a percent sign.
    for script in ["one.cmd", "two.bat"] {
        std::fs::write(place.join(script), format!("@\"Z:{}\" arguments %*\r\n", child().display())).unwrap();
    }
    let given = ["plain", "two words", "a&b|c", "caret^", "\u{fc}", "semi;colon,comma=", "ends with \\"];
    for name in ["one", "one.cmd", "./one", "two", "two.bat"] {
        let mut record = command("jsonl-record");
        record.current_dir(&place).env("WINEPATH", format!("Z:{}", place.display()));
        let output = pipe(record.args(["log.jsonl", "--", name]).args(given), b"");
        assert_eq!(text(&output.stdout).trim_end(), json!(given).to_string(), "{name}: {}", text(&output.stderr));
    }
}

#[test]
#[ignore = "needs wine: scripts/test-windows installs it"]
fn a_child_and_what_it_starts_end_together_and_in_time() {
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let folder = tempfile::tempdir().unwrap();
        let ticks = folder.path().join("ticks");
        let mut recorder = start(
            command("jsonl-record")
                .current_dir(folder.path())
                .args(["log.jsonl", "--"])
                .arg(child())
                .args(["tree", "ticks"]),
        );
        let length = || std::fs::metadata(&ticks).map_or(0, |file| file.len());
        eventually("the grandchild writes", || length() > 0);
        let begun = Instant::now();
        kill(Pid::from_raw(recorder.id() as i32), signal).unwrap();
        let status = recorder.wait().unwrap();
        if signal == Signal::SIGINT {
            assert_eq!(status.code(), Some(130));
            assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
            let end = &lines(&folder.path().join("log.jsonl")).pop().unwrap()["end"];
            assert_eq!(end, "Ctrl-C");
        }
        // It is still while twice as long as it writes nothing.
        eventually("the grandchild ends", || {
            let before = length();
            std::thread::sleep(Duration::from_millis(200));
            before == length()
        });
    }
}

#[test]
#[ignore = "needs wine: scripts/test-windows installs it"]
fn thirty_kills_lose_no_line_that_was_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let mut passed = 0;
    for round in 0..30 {
        let mut recorder = start(command("jsonl-record").current_dir(folder.path()).arg("log.jsonl"));
        let mut input = recorder.stdin.take().unwrap();
        std::thread::spawn(move || {
            for number in 0.. {
                if input.write_all(format!("{{\"round\":{round},\"n\":{number}}}\n").as_bytes()).is_err() {
                    break;
                }
            }
        });
        let mut output = BufReader::new(recorder.stdout.take().unwrap());
        let mut line = String::new();
        for _ in 0..=round * 7 {
            line.clear();
            output.read_line(&mut line).unwrap();
        }
        recorder.kill().unwrap();
        // What it had passed on before.
        for rest in output.lines().map_while(Result::ok).filter(|rest| rest.ends_with('}')) {
            line = rest;
        }
        recorder.wait().unwrap();
        let last: Value = serde_json::from_str(&line).unwrap();
        let of_round = lines(&log).into_iter().filter(|line| line["msg"]["round"] == round).count() as u64;
        assert!(of_round > last["n"].as_u64().unwrap(), "round {round}: {of_round} recorded, {last} was passed on");
        passed += last["n"].as_u64().unwrap();
    }
    assert!(passed > 30);
}

/// A recorder whose log is full after two kilobytes, and a program that has the log open.
fn recorder_and_reader(folder: &Path, how: &str) -> (Talk, Talk) {
    let mut recorder = command("jsonl-record");
    recorder.current_dir(folder).args(["--rotate", "2k", "--keep", "50", "log.jsonl"]);
    let mut recorder = Talk::start(&mut recorder);
    recorder.ask("{\"n\":0}");
    let mut reader = Talk::start(Command::new("wine").arg(child()).args([how, "log.jsonl"]).current_dir(folder));
    reader.ask("");
    (recorder, reader)
}

#[test]
#[ignore = "needs wine: scripts/test-windows installs it"]
fn a_log_is_rotated_while_another_program_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut recorder, _reader) = recorder_and_reader(folder.path(), "hold");
    let number = (1..200).find(|number| {
        recorder.ask(&format!("{{\"n\":{number}}}"));
        folder.path().join("log.jsonl.3").exists()
    });
    assert!(number.is_some(), "it was not rotated");
}

#[test]
#[ignore = "needs wine: scripts/test-windows installs it"]
fn a_log_grows_as_long_as_a_program_forbids_to_rename_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut recorder, reader) = recorder_and_reader(folder.path(), "pin");
    let file = |name: &str| folder.path().join(name);
    for number in 1..100 {
        recorder.ask(&format!("{{\"n\":{number}}}"));
    }
    recorder.complains("log.jsonl: cannot be rotated: ", 2);
    assert!(!file("log.jsonl.1").exists());
    reader.end_after_close();
    for number in 100..150 {
        recorder.ask(&format!("{{\"n\":{number}}}"));
    }
    let numbers = ["log.jsonl.1", "log.jsonl"].map(|name| lines(&file(name)));
    let numbers = numbers.iter().flatten().filter_map(|line| line["msg"]["n"].as_u64());
    assert_eq!(Vec::from_iter(numbers), Vec::from_iter(0..150));
}

#[test]
#[ignore = "needs wine: scripts/test-windows installs it"]
fn every_log_is_replayed_as_on_linux() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let logs = ["spire", "mcp", "mask", "snapshots", "schemas", "agent", "acp"].map(|folder| here.join(folder));
    let logs = logs.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|log| log.unwrap().path());
    let mut lines = 0;
    for log in logs.filter(|log| log.extension().is_some_and(|extension| extension == "jsonl")) {
        let run = |mut replay: Command| pipe(replay.args(["--speed", "max"]).arg(&log), b"");
        let linux = run(Command::new(env!("CARGO_BIN_EXE_replay")));
        assert_eq!(run(command("replay")), linux, "{}", log.display());
        lines += linux.stdout.split(|byte| *byte == b'\n').count();
    }
    assert!(lines > 500, "{lines}");
    // The README's example.
    let mut compared = command("replay");
    compared.args(["--as", "world", "--speed", "max"]).arg(here.join("spire/demo_session.jsonl")).arg("--");
    compared.arg(example("../sts-proxy")).args(["--quiet", "--no-record", "--start", "SILENT", "20", "--games", "1"]);
    let compared = pipe(compared.arg("--").arg(child()).arg("first"), b"");
    let stderr = text(&compared.stderr);
    assert!(stderr.starts_with("replay: 66 turns, 0 different; lines: 65 the same"), "{stderr}");
}

#[test]
#[ignore = "needs wine and the engine: scripts/test-windows installs them"]
fn twenty_games_through_the_program_for_windows() {
    const GAMES: u64 = 20;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let output = launcher()
        .args(["--seed", "11", "--games", &GAMES.to_string(), "--report"])
        .arg(at("report"))
        .arg("--stderr")
        .arg(at("stderr"))
        .arg("--")
        .arg(crate::process::binary("sts-proxy"))
        .arg("--data-dir")
        .arg(at("records"))
        .args(["--start", "SILENT", "0", "--games", &GAMES.to_string(), "--"])
        .arg(child())
        .arg("play")
        .output()
        .unwrap();
    let stderr = std::fs::read_to_string(at("stderr")).unwrap();
    assert!(output.status.success(), "{}\n{stderr}", text(&output.stderr));
    let report: Value = serde_json::from_str(&std::fs::read_to_string(at("report")).unwrap()).unwrap();
    assert_eq!((&report["games"], &report["rejected"]), (&json!(GAMES), &json!(0)), "{report}");
    let files = std::fs::read_dir(at("records")).unwrap();
    let records: Vec<Vec<Value>> = files.map(|file| lines(&file.unwrap().path())).collect();
    assert_eq!(records.len() as u64, GAMES);
    for mut records in records {
        assert!(records.pop().unwrap()["run_over"].is_object());
        assert!(records.iter().all(|record| record["confirmed"] == true), "{stderr}");
    }
}

#[test]
#[ignore = "needs wine: scripts/test-windows installs it"]
fn a_game_is_played_over_files_and_over_a_port() {
    for transport in ["file", "tcp"] {
        let mut bridge = Talk::start(
            command("godot-bridge").args(["--transport", transport, "--"]).arg(example("stand-in-game")).arg("echo"),
        );
        let answer: Value = serde_json::from_str(&bridge.ask(r#"{"cmd":"look","id":1,"args":{"n":1.10}}"#)).unwrap();
        assert_eq!((&answer["ok"], &answer["id"]), (&json!(true), &json!(1)), "{transport}: {answer}");
    }
}

#[test]
#[ignore = "needs wine: scripts/test-windows installs it"]
fn without_a_console_a_person_cannot_be_asked() {
    let output = pipe(command("sts-proxy").env("DISPLAY", "").args(["--no-record"]), b"");
    assert_eq!(output.status.code(), Some(3));
    let stderr = text(&output.stderr);
    assert!(
        stderr.starts_with("sts-proxy: no console to ask at: CONIN$: ")
            && stderr.contains("start from a console window"),
        "{stderr}"
    );
}
