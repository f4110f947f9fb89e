//! Around a child: both directions and its stderr are transparently relayed and recorded.

use super::{ODD, new_log, record, wrap};
use crate::log::Log;
use crate::process::{Talk, binary, eventually, pipe, text};
use crate::spire::rest_site;
use nix::sys::signal::Signal;
use pipewright_log::Direction;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

#[test]
fn a_command_without_dashes_before_it_is_refused_with_a_tip() {
    let (_folder, file) = new_log();
    let output = pipe(record(&file).arg("cat"), b"{}\n");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("unexpected argument 'cat'") && stderr.contains("tip: to start 'cat', put '--' before it\n"),
        "{stderr}"
    );
    assert!(!file.exists());
    let stderr = text(&pipe(record(&file).arg("--no-such"), b"").stderr);
    assert!(stderr.contains("'--no-such'") && !stderr.contains("to start"), "{stderr}");
}

#[test]
fn input_and_output_of_the_child_are_relayed_and_recorded() {
    let (_folder, file) = new_log();
    let script = "echo '{\"ready\":true}'; echo warning >&2; printf 'torn' >&2; cat; printf 'no line feed'";
    let input = ODD.concat();
    let output = pipe(&mut wrap(&file, script), &input);
    let expected = [b"{\"ready\":true}\n".as_slice(), &input, b"no line feed"].concat();
    assert!(output.stdout == expected, "{}", text(&output.stdout));
    assert_eq!(text(&output.stderr), "warning\ntorn");
    let log = Log::read(&file).clean();
    assert!(log.stream(Direction::In) == input);
    assert!(log.stream(Direction::Out) == expected);
    assert_eq!(text(&log.stream(Direction::Err)), "warning\ntorn");
    assert_eq!(log.end(), ("exit status 0", Some(0)));
}

#[test]
fn the_childs_exit_status_is_ours_and_in_the_log() {
    for (script, how, code) in [
        ("exit 0", "exit status 0", 0),
        ("exit 7", "exit status 7", 7),
        ("kill -9 $$", "signal 9 (SIGKILL)", 137),
        ("kill -TERM $$", "signal 15 (SIGTERM)", 143),
        ("echo last words; exit 255", "exit status 255", 255),
    ] {
        let (_folder, file) = new_log();
        let output = pipe(&mut wrap(&file, script), b"");
        assert_eq!((output.status.code(), output.status.signal()), (Some(code), None), "{script}");
        assert_eq!(text(&output.stderr), "", "{script}");
        let log = Log::read(&file).clean();
        assert_eq!(log.end(), (how, Some(code as u8)), "{script}");
    }
}

#[test]
fn a_line_is_in_the_log_before_it_is_passed_on() {
    let (_folder, file) = new_log();
    let mut talk = Talk::start(record(&file).args(["--", "cat"]));
    for number in 1..=200 {
        let line = format!("{{\"number\":{number}}}");
        assert_eq!(talk.ask(&line), line);
        let log = std::fs::read_to_string(&file).unwrap();
        for direction in ["in", "out"] {
            assert!(log.contains(&format!("\"dir\":\"{direction}\",\"msg\":{line}}}\n")), "{direction} {line}");
        }
    }
    assert_eq!(talk.end_after_close().status.code(), Some(0));
    assert_eq!(Log::read(&file).clean().messages.len(), 400);
}

#[test]
fn lines_as_large_as_a_web_page_are_recorded_in_a_conversation() {
    let (_folder, file) = new_log();
    let mut talk = Talk::start(record(&file).args(["--child", "world", "--", "cat"]));
    let mut sent = String::new();
    for (id, size) in [200, 9_500, 70_000, 1 << 20].into_iter().enumerate() {
        let snapshot = "- button \\\"Order\\\" [ref=e1]\\n".repeat(size / 30);
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"text\":\"{snapshot}\"}}}}");
        assert!(talk.ask(&line) == line, "{size}");
        sent.push_str(&line);
        sent.push('\n');
    }
    assert_eq!(talk.end_after_close().status.code(), Some(0));
    let log = Log::read(&file).clean();
    assert!(log.stream(Direction::In) == sent.as_bytes() && log.stream(Direction::Out) == sent.as_bytes());
    assert!(log.messages.iter().all(|message| message.kind == "msg"));
}

#[test]
fn after_half_close_the_rest_is_relayed_and_recorded() {
    let (_folder, file) = new_log();
    let output = pipe(&mut wrap(&file, "cat; sleep 0.3; echo late; echo later >&2; exit 3"), b"one\ntwo");
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("one\ntwolate\n", Some(3)));
    let log = Log::read(&file).clean();
    assert_eq!(text(&log.stream(Direction::Out)), "one\ntwolate\n");
    assert_eq!(text(&log.stream(Direction::Err)), "later\n");
}

#[test]
fn two_floods_and_a_noisy_stderr_are_recorded_completely() {
    let (_folder, file) = new_log();
    let noise = "seq 20000 >&2 & seq 20001 40000; cat; wait";
    let input: String = (0..20_000).map(|number| format!("{{\"number\":{number}}}\n")).collect();
    let output = pipe(&mut wrap(&file, noise), input.as_bytes());
    let log = Log::read(&file).clean();
    assert!(log.stream(Direction::In) == input.as_bytes());
    assert!(log.stream(Direction::Out) == output.stdout);
    assert!(log.stream(Direction::Err) == output.stderr);
    assert_eq!(text(&output.stderr).lines().count(), 20_000);
    assert_eq!(text(&output.stdout).lines().count(), 40_000);
}

#[test]
fn a_missing_child_program_exits_3_with_a_message() {
    let (_folder, file) = new_log();
    let output = pipe(record(&file).args(["--", "/no/such/program"]), b"{}\n");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(3), ""));
    assert!(
        text(&output.stderr).starts_with("jsonl-record: cannot start /no/such/program: No such file"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(Log::read(&file).clean().messages.len(), 0);
}

#[test]
fn a_wrapped_proxy_is_recorded_as_it_plays() {
    let (folder, file) = new_log();
    let agent = "while read -r line; do echo 110; done";
    let mut recorder = record(&file);
    recorder.args(["--child", "agent", "--"]).arg(binary("sts-proxy")).args(["--quiet", "--data-dir"]);
    recorder.arg(folder.path().join("records")).args(["--", "sh", "-c", agent]);
    let mut talk = Talk::start(&mut recorder);
    assert_eq!(talk.receive(), "ready");
    let states = [rest_site(1, 1), rest_site(1, 2)];
    for state in &states {
        assert_eq!(talk.ask(state), "choose 0");
    }
    let ended = talk.end_after_close();
    assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
    let log = Log::read(&file).clean();
    let passed: Vec<(&str, String)> =
        log.messages.iter().map(|message| (message.direction.name(), text(&message.bytes))).collect();
    let (command, line) = ("choose 0\n".to_owned(), |state: &String| format!("{state}\n"));
    let expected = [
        ("out", "ready\n".to_owned()),
        ("in", line(&states[0])),
        ("out", command.clone()),
        ("in", line(&states[1])),
        ("out", command),
    ];
    assert_eq!(passed, expected);
}

#[test]
fn a_signal_in_a_flood_loses_nothing_that_was_passed_on() {
    let (_folder, file) = new_log();
    let mut recorder =
        record(&file).args(["--", "yes", "{}"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = recorder.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut seen = Vec::new();
        stdout.read_to_end(&mut seen).unwrap();
        seen
    });
    eventually("it floods", || std::fs::metadata(&file).is_ok_and(|file| file.len() > 1 << 20));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(recorder.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(recorder.wait().unwrap().signal(), Some(15));
    let seen = reader.join().unwrap();
    let log = Log::read(&file).clean();
    assert!(log.stream(Direction::Out).starts_with(&seen));
    assert_eq!(log.end().0, "SIGTERM");
}

#[test]
fn a_prompt_without_a_line_feed_is_passed_on() {
    let (_folder, file) = new_log();
    let script = "printf 'name? '; read -r name; printf 'password for %s? ' \"$name\" >&2; read -r word; echo done";
    let mut child =
        wrap(&file, script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut stderr = child.stderr.take().unwrap();
    let mut prompt = [0; 6];
    stdout.read_exact(&mut prompt).unwrap();
    assert_eq!(&prompt, b"name? ");
    stdin.write_all(b"ada\n").unwrap();
    let mut prompt = [0; 18];
    stderr.read_exact(&mut prompt).unwrap();
    assert_eq!(&prompt, b"password for ada? ");
    stdin.write_all(b"x\n").unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("done\n", Some(0)));
    let log = Log::read(&file).clean();
    assert_eq!(text(&log.stream(Direction::Out)), "name? done\n");
    assert_eq!(text(&log.stream(Direction::Err)), "password for ada? ");
}

#[test]
fn the_pipe_to_a_child_that_stops_reading_is_closed() {
    let (_folder, file) = new_log();
    let mut child = wrap(&file, "exec <&-; sleep 1").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let line = "{\"n\":1}\n".repeat(1000);
    let mut written = 0;
    while stdin.write_all(line.as_bytes()).is_ok() {
        written += line.len();
        assert!(written < 64 << 20, "it accepts input that is not read");
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_a_child_prints_after_a_signal_is_passed_on_and_recorded() {
    let scripts = [
        "echo '{\"ready\":1}'; while read -r line; do :; done; echo '{\"last\":1}'; echo closed >&2",
        "trap 'echo \"{\\\"last\\\":1}\"; echo closed >&2; exit 0' TERM; echo '{\"ready\":1}'; while :; do sleep 0.01; done",
    ];
    for script in scripts {
        for signal in [Signal::SIGTERM, Signal::SIGINT] {
            let (_folder, file) = new_log();
            let mut recorder = Talk::start(&mut wrap(&file, script));
            assert_eq!(recorder.receive(), "{\"ready\":1}");
            recorder.signal(signal);
            assert_eq!(recorder.receive(), "{\"last\":1}");
            let ended = recorder.end();
            assert_eq!(ended.status.signal(), Some(signal as i32));
            assert!(ended.stderr.ends_with("closed\n"), "{}", ended.stderr);
            let log = Log::read(&file).clean();
            assert_eq!(text(&log.stream(Direction::Out)), "{\"ready\":1}\n{\"last\":1}\n");
            assert!(log.stream(Direction::Err).ends_with(b"closed\n"));
            assert_eq!(log.end(), (signal.as_str(), Some(0)));
        }
    }
}

#[test]
fn a_child_that_ignores_a_signal_ends_within_two_seconds_and_the_log_has_its_end() {
    let (_folder, file) = new_log();
    let mut recorder = Talk::start(&mut wrap(&file, "trap '' TERM; echo ready; while :; do sleep 0.01; done"));
    assert_eq!(recorder.receive(), "ready");
    recorder.signal(Signal::SIGTERM);
    assert_eq!(recorder.end().status.signal(), Some(15));
    assert_eq!(Log::read(&file).clean().end().0, "SIGTERM");
}
