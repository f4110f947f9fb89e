//! `replay --as`: one side of a recorded conversation against live code on the other.

use crate::process::{PATIENCE, Talk, eventually, is_running, pipe, text};
use crate::recorded::{Folder, end, header, line, log, watch};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// An agent that answers `{"to":N}` to `N`.
const BOT: &str = r#"while read -r line; do echo "{\"to\":$line}"; done"#;

/// A recording of a number of turns with that agent.
fn conversation(turns: u64) -> String {
    let messages: Vec<String> = (1..=turns).flat_map(|n| [format!("<{n}"), format!(">{{\"to\":{n}}}")]).collect();
    log("agent", &messages.iter().map(String::as_str).collect::<Vec<_>>()) + &end(turns * 2 + 1, 0)
}

/// That agent, with the given `case` for `$line`.
fn bot_but(case: &str) -> String {
    format!(r#"while read -r line; do case $line in {case};; *) echo "{{\"to\":$line}}";; esac; done"#)
}

struct Played {
    stdout: String,
    stderr: String,
    status: Option<i32>,
    took: Duration,
}

/// Plays `run.jsonl` against a script.
fn play(folder: &Folder, options: &str, script: &str) -> Played {
    let started = Instant::now();
    let mut replay = folder.command(&format!("replay {options} run.jsonl -- sh -c"));
    let output = pipe(replay.arg(script), b"");
    Played {
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
        status: output.status.code(),
        took: started.elapsed(),
    }
}

/// The messages about an agent's answers in three turns, without the times.
fn report_on(script: &str) -> (String, Option<i32>) {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(3));
    let Played { stdout, stderr, status, .. } = play(&folder, "--as world --timeout 3", script);
    assert_eq!(stdout, "");
    let lines = stderr.lines().filter(|line| !line.contains("answers took"));
    (lines.map(|line| line.strip_prefix("replay: ").unwrap_or(line)).collect::<Vec<_>>().join("\n"), status)
}

fn refused(folder: &Folder, words: &str) -> String {
    let output = folder.run(&format!("replay {words}"));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words}: {}", text(&output.stderr));
    text(&output.stderr)
}

/// The report for programs.
fn report(folder: &Folder) -> Vec<Value> {
    crate::schemas::written(folder.path("report")).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_agent_or_a_world_that_answers_as_recorded_exits_0() {
    let folder = Folder::new();
    let world = r#"echo '"start"'; for n in 1 2 3; do read -r line; echo "{\"n\":$n,\"heard\":$line}"; done"#;
    // Two programs in lockstep, recorded between them.
    mkfifo(&folder.path("answers"), Mode::S_IRWXU).unwrap();
    let script = format!(
        "({world}) <answers | {} run.jsonl --child agent -- sh -c '{}' >answers",
        crate::process::binary("jsonl-record").display(),
        BOT.replace('\'', "")
    );
    let output = pipe(Command::new("sh").args(["-c", &script]).current_dir(folder.path("")), b"");
    assert_eq!(text(&output.stderr), "");
    let agent = play(&folder, "--as world", BOT);
    assert_eq!((agent.stdout.as_str(), agent.status), ("", Some(0)), "{}", agent.stderr);
    let (sum, latencies) = agent.stderr.split_once('\n').unwrap();
    assert_eq!(sum, "replay: 4 turns, 0 different; lines: 4 the same");
    assert!(latencies.starts_with("replay: answers took ") && latencies.contains(" recorded "), "{latencies}");
    let world = play(&folder, "--as agent", world);
    assert_eq!((world.stdout.as_str(), world.status), ("", Some(0)), "{}", world.stderr);
    assert!(world.stderr.starts_with("replay: 5 turns, 0 different; lines: 4 the same\n"), "{}", world.stderr);
}

#[test]
fn a_different_answer_is_reported_with_its_turn_and_the_differences() {
    let (stderr, status) = report_on(&bot_but(r#"2) echo '{"to":9,"why":null}'"#));
    assert_eq!(
        stderr,
        "run.jsonl:5: turn 2: the answer differs from the recording\n  - .to 2\n  + .to 9\n  + .why null\n\
         3 turns, 1 different, first at turn 2; lines: 2 the same, 1 differ"
    );
    assert_eq!(status, Some(1));
}

#[test]
fn an_answer_that_is_not_json_is_shown_unchanged() {
    let (stderr, _) = report_on(&bot_but(r#"1) printf 'choose\033[2J 0\n'"#));
    assert!(
        stderr.contains("turn 1: the answer differs from the recording\n  - {\"to\":1}\n  + choose?[2J 0\n"),
        "{stderr}"
    );
}

#[test]
fn after_an_extra_line_everything_is_aligned_again() {
    for (case, told_of) in [
        (r#"2) echo '"why"'; echo '{"to":2}'"#, "turn 2: came, but was not recorded\n  + \"why\"\n"),
        (r#"2) echo '"why"'; sleep 0.2; echo '{"to":2}'"#, "turn 2: came, but was not recorded\n  + \"why\"\n"),
        (r#"2) echo '{"to":2}'; echo '{"to":2}'"#, "came, but was not recorded\n  + {\"to\":2}\n"),
        (r#"3) echo '{"to":3}'; echo '"bye"'"#, "turn 3: came, but was not recorded\n  + \"bye\"\n"),
    ] {
        let (stderr, status) = report_on(&bot_but(case));
        assert!(stderr.contains(told_of), "{case}: {stderr}");
        assert!(stderr.ends_with("; lines: 3 the same, 1 extra"), "{case}: {stderr}");
        assert_eq!(status, Some(1));
    }
}

#[test]
fn after_a_missing_line_everything_is_aligned_again() {
    let (stderr, status) = report_on(&bot_but("2) :"));
    assert_eq!(
        stderr,
        "turn 2: nothing came for 3 s (--timeout); continuing\n\
         run.jsonl:5: turn 2: recorded, but did not come\n  - {\"to\":2}\n\
         3 turns, 1 different, first at turn 2; lines: 2 the same, 1 missing"
    );
    assert_eq!(status, Some(1));
}

#[test]
fn missing_and_extra_lines_of_one_turn_are_reported() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("agent", &["<1", ">\"a\"", ">\"b\"", ">\"c\"", "<2", ">\"d\""]));
    let script = r#"read -r line; printf '"a"\n"x"\n"c"\n'; read -r line; echo '"d"'"#;
    let played = play(&folder, "--as world", script);
    assert!(
        played.stderr.contains("run.jsonl:4: turn 1: the answer differs from the recording\n"),
        "{}",
        played.stderr
    );
    assert!(played.stderr.contains("lines: 3 the same, 1 differ\n"), "{}", played.stderr);
    let script = r#"read -r line; printf '"c"\n'; read -r line; echo '"d"'"#;
    let played = play(&folder, "--as world", script);
    assert!(played.stderr.contains("lines: 2 the same, 2 missing\n"), "{}", played.stderr);
}

#[test]
fn one_difference_in_many_turns_is_reported_as_one() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(300));
    for case in [r#"7) echo 7"#, r#"7) echo 7; echo 8"#, r#"7) echo 7; sleep 0.15; echo '{"to":7}'"#] {
        let played = play(&folder, "--as world", &bot_but(case));
        assert!(played.stderr.contains("300 turns, 1 different, first at turn 7;"), "{case}: {}", played.stderr);
        assert_eq!(played.status, Some(1));
    }
}

#[test]
fn an_agent_that_ends_early_is_reported_with_its_status() {
    let (stderr, status) = report_on("read -r line; echo '{\"to\":1}'; exit 3");
    assert!(
        stderr.contains(
            "turn 2: recorded, but did not come\n  - {\"to\":2}\n\
             turn 2: the other side ended with exit status 3; one recorded line did not come\n"
        ),
        "{stderr}"
    );
    assert!(stderr.ends_with("lines: 1 the same, 2 missing"), "{stderr}");
    assert_eq!(status, Some(1));
}

#[test]
fn an_agent_that_cannot_be_started_exits_3() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(1));
    let output = folder.run("replay --as world run.jsonl -- /no/such/agent");
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).starts_with("replay: cannot start /no/such/agent: No such file"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn an_agent_that_never_answers_times_out() {
    for script in ["cat >/dev/null", "exec sleep 600", "trap '' TERM; while :; do sleep 0.1; done"] {
        let folder = Folder::new();
        folder.write("run.jsonl", conversation(2));
        let played = play(&folder, "--as world --timeout 0.3", script);
        assert!(played.stderr.contains("lines: 0 the same, 2 missing"), "{script}: {}", played.stderr);
        assert_eq!(played.status, Some(1));
    }
}

#[test]
fn an_agent_that_closed_its_stdout_is_not_waited_for() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(100));
    let played = play(&folder, "--as world", "read -r line; echo '{\"to\":1}'; exec >&-; exec sleep 600");
    assert!(
        played.stderr.contains("turn 2: the other side closed its stdout; 98 recorded lines did not come"),
        "{}",
        played.stderr
    );
    assert!(played.stderr.contains("lines: 1 the same, 99 missing"), "{}", played.stderr);
}

#[test]
fn an_agent_that_never_stops_writing_uses_bounded_time_and_memory() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(5));
    for script in ["exec yes", "while :; do echo hm; sleep 0.02; done"] {
        let mut replay = folder.command("replay --as world --timeout 1 run.jsonl -- sh -c");
        let mut child = replay.arg(script).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let most = watch(&mut child, PATIENCE);
        assert!(child.try_wait().unwrap().is_some(), "{script}: it does not end");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let stderr = text(&output.stderr);
        assert!(stderr.contains("5 turns, 5 different, first at turn 1"), "{stderr}");
        assert!(stderr.lines().count() < 100 && most < 60 << 10, "{most} KiB");
    }
}

#[test]
fn carriage_returns_and_white_space_make_no_difference() {
    for answer in [r#"{"to":%s}\r\n"#, r#"{ "to" : %s }\n"#, r#"{"\u0074o":%s.0}\n"#] {
        let answer = answer.replace('\\', "\\\\").replace("\\\\r", "\\r").replace("\\\\n", "\\n");
        let (stderr, status) = report_on(&format!("while read -r line; do printf '{answer}' $line; done"));
        assert_eq!((stderr.as_str(), status), ("3 turns, 0 different; lines: 3 the same", Some(0)), "{answer}");
    }
}

#[test]
fn ignored_and_normalised_values_make_no_difference() {
    let folder = Folder::new();
    folder.write(
        "run.jsonl",
        log("agent", &["<1", r#">{"ts":1,"items":[{"id":1,"v":1},{"id":2,"v":2}]}"#, "<2", ">go 1"]),
    );
    let script = r#"read -r l; echo '{"items":[{"id":7,"v":1},{"id":8,"v":2}],"ts":2}'; read -r l; echo go 2"#;
    let all = play(&folder, "--as world", script);
    assert!(all.stderr.contains("replay:   - .items[0].id 1\nreplay:   + .items[0].id 7\n"), "{}", all.stderr);
    assert!(all.stderr.contains("2 different"), "{}", all.stderr);
    let some = play(&folder, "--as world --ignore .ts --ignore .items[].id", script);
    assert!(some.stderr.contains("1 different, first at turn 2"), "{}", some.stderr);
    let normalise = "if type==\"string\" then .[:2] else del(.ts,.items[].id) end".replace(' ', "\u{b}");
    let mut replay = folder.command("replay --as world run.jsonl --normalise");
    let output = pipe(replay.arg(normalise.replace('\u{b}', " ")).args(["--", "sh", "-c", script]), b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // A line for which the filter has no output, or fails, is compared unchanged.
    for filter in ["empty", "error", ".[0].a"] {
        let same = play(&folder, &format!("--as world --normalise {filter}"), script);
        assert!(same.stderr.contains("2 different"), "{filter}: {}", same.stderr);
    }
    assert!(refused(&folder, "--as world --normalise .[ run.jsonl -- cat").starts_with("replay: --normalise: "));
    assert!(refused(&folder, "--as world --ignore .a[ run.jsonl -- cat").contains("--ignore"));
}

#[test]
fn the_report_for_programs_contains_every_turn() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(4));
    let script = bot_but(r#"2) echo '{"to":9}';; 3) echo '"why"'; echo '{"to":3}';; 4) exit 0"#);
    let played = play(&folder, "--as world --quiet --report report", &script);
    assert_eq!(played.status, Some(1));
    assert!(!played.stderr.contains("turn 2:"), "each is in the report alone: {}", played.stderr);
    assert!(played.stderr.starts_with("replay: 4 turns, 3 different, first at turn 2"), "{}", played.stderr);
    let report = report(&folder);
    let of = |kind: &str| report.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    let differences = of("difference");
    assert_eq!(
        *differences[0],
        json!({"type":"difference","turn":2,"kind":"differs","log":"run.jsonl:5","recorded":{"to":2},"now":{"to":9},
               "differences":[{"path":".to","recorded":2,"now":9}]})
    );
    assert_eq!(*differences[1], json!({"type":"difference","turn":3,"kind":"extra","now":"why"}));
    assert_eq!(
        *differences[2],
        json!({"type":"difference","turn":4,"kind":"missing","log":"run.jsonl:9","recorded":{"to":4}})
    );
    let turns: Vec<(u64, bool)> =
        of("turn").iter().map(|turn| (turn["turn"].as_u64().unwrap(), turn["same"].as_bool().unwrap())).collect();
    assert_eq!(turns, [(1, true), (2, false), (3, false), (4, false)]);
    assert!(of("turn")[..3].iter().all(|turn| turn["recorded_us"] == 1000 && turn["now_us"].as_u64() > Some(0)));
    assert_eq!(of("ended")[0]["how"], "the other side ended with exit status 0");
    let summary = report.last().unwrap();
    assert_eq!(summary["type"], "summary");
    assert_eq!((&summary["turns"], &summary["different_turns"], &summary["first"]), (&json!(4), &json!(3), &json!(2)));
    assert_eq!(summary["lines"], json!({"same":2,"differs":1,"missing":1,"extra":1,"unsaid":0}));
    assert_eq!((&summary["recorded_us"]["count"], &summary["now_us"]["count"]), (&json!(4), &json!(3)));
    assert!(
        refused(&folder, "--as world --report /no/such/folder/report run.jsonl -- cat")
            .contains("/no/such/folder/report: ")
    );
}

#[test]
fn a_report_that_cannot_be_written_is_a_fault_and_the_comparison_continues() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(2));
    let played = play(&folder, "--as world --report /dev/full", BOT);
    assert_eq!(played.status, Some(1));
    assert!(played.stderr.contains("replay: /dev/full: No space left on device"), "{}", played.stderr);
    assert!(played.stderr.contains("2 turns, 0 different"), "{}", played.stderr);
}

#[test]
fn a_turn_that_differs_before_one_without_an_answer_is_not_reported_as_the_same() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("agent", &["<1", ">{\"to\":1}", "<2"]));
    play(&folder, "--as world --report report", &bot_but("1) echo 7;; 2) :"));
    let turns: Vec<Value> = report(&folder).into_iter().filter(|line| line["type"] == "turn").collect();
    assert_eq!((&turns[0]["same"], &turns[1]["same"]), (&json!(false), &json!(true)), "{turns:?}");
}

#[test]
fn a_line_break_within_a_value_does_not_break_the_report() {
    let folder = Folder::new();
    let odd = line(2000, 2, ">x").replace("\"x\"", r#""[1,\n2]""#);
    folder.write("run.jsonl", log("agent", &["<1"]) + &odd);
    play(&folder, "--as world --report report --timeout 0.2", "cat");
    assert!(report(&folder).iter().any(|line| line["recorded"] == "[1,\n2]"), "{:?}", report(&folder));
}

#[test]
fn the_parts_come_from_the_header_or_from_child() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(2).replace(r#""child":"agent","#, ""));
    assert_eq!(
        refused(&folder, "--as world run.jsonl -- cat"),
        "replay: run.jsonl: it does not record which part `./bot -v` played; give --child agent or --child world\n"
    );
    let played = play(&folder, "--as world --child agent", BOT);
    assert!(played.stderr.contains("2 turns, 0 different"), "{}", played.stderr);
    // The other way round, the child's output is that of the world.
    let script = r#"echo 1; read -r l; echo 2; read -r l"#;
    let played = play(&folder, "--as agent --child agent", script);
    assert!(played.stderr.contains("0 different; lines: 2 the same"), "{}", played.stderr);
    let played = play(&folder, "--as world --child world", script);
    assert!(played.stderr.contains("0 different; lines: 2 the same"), "{}", played.stderr);
}

#[test]
fn a_log_with_a_torn_header_is_played_if_child_is_given() {
    let folder = Folder::new();
    let whole = conversation(2);
    folder.write("run.jsonl", &whole[20..]);
    assert_eq!(
        refused(&folder, "--as world run.jsonl -- cat"),
        "replay: run.jsonl: its header cannot be read, so it does not record which part `the recorded command` played; \
         give --child agent or --child world\n"
    );
    let played = play(&folder, "--as world --child agent", BOT);
    assert!(played.stderr.starts_with("replay: run.jsonl:1: "), "{}", played.stderr);
    assert!(played.stderr.contains("2 turns, 0 different; lines: 2 the same"), "{}", played.stderr);
    assert_eq!(played.status, Some(1), "the header is missing");
}

#[test]
fn a_log_without_a_conversation_is_refused() {
    let folder = Folder::new();
    pipe(&mut folder.command("jsonl-record pipe.jsonl"), b"1\n2\n");
    assert_eq!(
        refused(&folder, "--as world pipe.jsonl -- cat"),
        "replay: pipe.jsonl: recorded in a pipe, so it has only one side (record with -- CMD)\n"
    );
    folder.write("plain.jsonl", "{\"ts\":1}\n");
    folder.write("empty.jsonl", "");
    for file in ["plain.jsonl", "empty.jsonl"] {
        let stderr = refused(&folder, &format!("--as agent {file} -- cat"));
        assert!(stderr.contains("not a log of jsonl-record, so the sides are not known"), "{stderr}");
    }
    folder.write("run.jsonl", conversation(1));
    assert!(refused(&folder, "--as world - -- cat").contains("a side cannot be played from stdin"));
    assert!(refused(&folder, "--as world . -- cat").contains(".: is a directory"));
    assert!(refused(&folder, "--as world none -- cat").contains("none: No such file"));
    assert_eq!(refused(&folder, "--as world run.jsonl ./run.jsonl -- cat"), "replay: ./run.jsonl: is named twice\n");
    mkfifo(&folder.path("fifo"), Mode::S_IRWXU).unwrap();
    assert!(refused(&folder, "--as world fifo -- cat").contains("fifo: is not a regular file; save the log to a file"));
    assert!(refused(&folder, "run.jsonl -- cat").contains("--as"), "a command without a part");
    for option in ["--where .", "--break .", "--step", "--follow", "--from 1", "--to 1", "--dir in"] {
        assert!(refused(&folder, &format!("--as world {option} run.jsonl -- cat")).contains("--as"), "{option}");
    }
}

#[test]
fn of_several_sessions_the_last_or_the_requested_one_is_played() {
    let folder = Folder::new();
    for numbers in ["1 2", "3 4 5"] {
        let mut talk = Talk::start(folder.command("jsonl-record --child agent run.jsonl -- sh -c").arg(BOT));
        for number in numbers.split(' ') {
            talk.ask(number);
        }
        talk.end_after_close();
    }
    let played = play(&folder, "--as world", BOT);
    assert!(played.stderr.starts_with("replay: the log has 2 sessions; playing the last (--session N for another)\n"));
    assert!(played.stderr.contains("3 turns, 0 different"), "{}", played.stderr);
    let first = play(&folder, "--as world --session 1", BOT);
    assert!(first.stderr.starts_with("replay: 2 turns, 0 different"), "{}", first.stderr);
    let other = play(&folder, "--as world --session 1", &bot_but("1) echo 0"));
    assert!(other.stderr.starts_with("replay: run.jsonl:3: turn 1: "), "{}", other.stderr);
    assert_eq!(
        refused(&folder, "--as world --session 3 run.jsonl -- cat"),
        "replay: --session 3: the log has only 2\n"
    );
    assert!(refused(&folder, "--as world --session 0 run.jsonl -- cat").contains("--session"));
}

#[test]
fn rotated_logs_are_played_in_order_for_any_order_of_names() {
    let folder = Folder::new();
    let mut record = folder.command("jsonl-record --child agent --rotate 1K --keep 50 run.jsonl -- sh -c");
    let mut talk = Talk::start(record.arg(BOT));
    for number in 1..60 {
        talk.ask(&number.to_string());
    }
    talk.end_after_close();
    assert!(folder.path("run.jsonl.3").exists());
    let mut names: Vec<String> = std::fs::read_dir(folder.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    for _ in 0..2 {
        let output = pipe(folder.command("replay --as world").args(&names).args(["--", "sh", "-c", BOT]), b"");
        let stderr = text(&output.stderr);
        assert!(stderr.starts_with("replay: 59 turns, 0 different; lines: 59 the same\n"), "{names:?}: {stderr}");
        names.sort();
    }
}

#[test]
fn differences_of_a_world_are_reported_like_those_of_an_agent() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(3));
    let played = play(&folder, "--as agent --timeout 3", "echo 1; read -r a; echo 7; read -r a; echo 3; read -r a");
    assert!(
        played.stderr.starts_with(
            "replay: run.jsonl:4: turn 2: the answer differs from the recording\nreplay:   - 2\nreplay:   + 7\n"
        ),
        "{}",
        played.stderr
    );
    assert!(played.stderr.contains("lines: 2 the same, 1 differ\n"), "{}", played.stderr);
}

#[test]
fn a_world_that_continues_on_its_own_is_followed() {
    let folder = Folder::new();
    let state =
        |n: u32| format!("{{\"state\":{n},\"of\":\"a long state that is telling because there is no other like it\"}}");
    let messages: Vec<String> = (1..=6).flat_map(|n| [format!("<{}", state(n)), format!(">{n}")]).collect();
    folder.write("run.jsonl", log("agent", &messages.iter().map(String::as_str).collect::<Vec<_>>()));
    // After the second answer, it is two states ahead.
    let world = format!(
        "echo '{}'; read -r a; echo '{}'; read -r a; for s in '{}' '{}'; do echo $s; read -r a; done",
        state(1),
        state(2),
        state(5),
        state(6)
    );
    let played = play(&folder, "--as agent --timeout 3", &world);
    assert!(played.stderr.contains("lines: 4 the same, 2 missing, 2 not sent\n"), "{}", played.stderr);
    assert!(
        played.stderr.contains("turn 4: not sent: the other side was already past it\nreplay:   - 3\n"),
        "{}",
        played.stderr
    );
}

#[test]
fn a_world_that_answers_only_at_the_end_of_its_input_is_the_same() {
    let folder = Folder::new();
    let recorded = pipe(&mut folder.command("jsonl-record --child world run.jsonl -- sort"), b"b\na\nc");
    assert_eq!(text(&recorded.stdout), "a\nb\nc\n");
    let played = play(&folder, "--as agent --timeout 2", "sort");
    assert_eq!(played.status, Some(0), "{}", played.stderr);
    assert!(played.stderr.contains("nothing came for 2 s (--timeout); closing its stdin\n"), "{}", played.stderr);
    assert!(played.stderr.contains("lines: 3 the same\n"), "{}", played.stderr);
}

#[test]
fn a_side_is_played_on_its_own_stdin_and_stdout() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(3));
    let mut world = Talk::start(&mut folder.command("replay --as world run.jsonl"));
    for n in 1..=3 {
        assert_eq!(world.receive(), n.to_string());
        world.say(&format!("{{\"to\":{}}}", if n == 2 { 9 } else { n }));
    }
    let ended = world.end_after_close();
    assert_eq!((ended.status.code(), ended.lines.len()), (Some(1), 0));
    assert!(ended.stderr.starts_with("replay: run.jsonl:5: turn 2: the answer differs"), "{}", ended.stderr);
    assert!(ended.stderr.contains("lines: 2 the same, 1 differ\n"), "{}", ended.stderr);
    let mut agent = Talk::start(&mut folder.command("replay --as agent run.jsonl"));
    for n in 1..=3 {
        assert_eq!(agent.ask(&n.to_string()), format!("{{\"to\":{n}}}"));
    }
    let ended = agent.end_after_close();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
}

#[test]
fn a_side_that_does_not_wait_for_us_is_still_compared() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(20));
    let answers: String = (1..=20).map(|n| format!("{{\"to\":{n}}}\n")).collect();
    for _ in 0..10 {
        let output = pipe(&mut folder.command("replay --as world run.jsonl"), answers.as_bytes());
        let stderr = text(&output.stderr);
        assert!(stderr.contains("20 turns, 0 different; lines: 20 the same"), "{stderr}");
        assert_eq!((text(&output.stdout).lines().count(), output.status.code()), (20, Some(0)));
    }
}

#[test]
fn one_replay_can_play_against_another_also_through_a_recorder() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(10));
    let own = crate::process::binary("replay");
    let own = own.display();
    let recorder = crate::process::binary("jsonl-record");
    let recorder = recorder.display();
    for between in [String::new(), format!("{recorder} --child agent again.jsonl -- ")] {
        let words = format!("replay --as world run.jsonl -- {between}{own} --as agent run.jsonl");
        let output = folder.run(&words);
        let stderr = text(&output.stderr);
        assert_eq!(stderr.matches("10 turns, 0 different; lines: 10 the same").count(), 1, "{stderr}");
        assert_eq!(output.status.code(), Some(0), "{stderr}");
    }
    // The new recording contains the same conversation.
    let output = pipe(folder.command("replay --as world again.jsonl -- sh -c").arg(BOT), b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn the_exit_status_of_the_other_side_is_also_compared() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(1));
    let played = play(&folder, "--as world", &format!("{BOT}; exit 7"));
    assert!(
        played.stderr.contains("turn 1: ended with exit status 7; the recorded exit status is 0\n"),
        "{}",
        played.stderr
    );
    assert_eq!(played.status, Some(1));
    folder.write("run.jsonl", conversation(1).replace("\"status\":0", "\"status\":7"));
    assert_eq!(play(&folder, "--as world", &format!("{BOT}; exit 7")).status, Some(0));
    let played = play(&folder, "--as world --timeout 3", &format!("{BOT}; exec sleep 600"));
    assert!(played.stderr.contains("did not end after its stdin was closed"), "{}", played.stderr);
    // An agent may end after its last line, as in the recording.
    let went = log("agent", &["<1", ">{\"to\":1}"]) + &line(2_000_000, 3, "<2") + &end(4, 5);
    folder.write("run.jsonl", went);
    for options in ["", "--speed 1"] {
        let played = play(&folder, &format!("--as world {options}"), "read -r l; echo '{\"to\":1}'; exit 5");
        assert_eq!(played.status, Some(0), "{options}: {}", played.stderr);
    }
}

#[test]
fn a_signal_ends_both_sides_and_the_summary_is_written() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(3));
    let script = bot_but("2) echo $$ >pid; sleep 60");
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let _ = std::fs::remove_file(folder.path("pid"));
        let mut talk = Talk::start(folder.command("replay --as world --report report run.jsonl -- sh -c").arg(&script));
        eventually("it is at the second turn", || {
            std::fs::read(folder.path("pid")).is_ok_and(|pid| pid.ends_with(b"\n"))
        });
        talk.close();
        talk.signal(signal);
        let ended = talk.end();
        assert_eq!(ended.status.signal(), Some(signal as i32), "{}", ended.stderr);
        assert!(ended.stderr.starts_with("replay: 1 turn, 0 different; lines: 1 the same\n"), "{}", ended.stderr);
        assert_eq!(ended.stderr.matches("the same").count(), 1);
        assert_eq!(report(&folder).last().unwrap()["type"], "summary");
        let pid = text(&folder.read("pid")).trim().parse().unwrap();
        eventually("the agent is gone", || !is_running(pid));
    }
}

#[test]
fn over_long_lines_are_compared_completely() {
    let folder = Folder::new();
    let long = "x".repeat(100_000);
    let mut record = folder.command("jsonl-record --child world --max-line 1K run.jsonl -- cat");
    assert_eq!(text(&pipe(&mut record, format!("{long}\n").as_bytes()).stdout).len(), 100_001);
    let played = play(&folder, "--as agent", "cat");
    assert!(played.stderr.starts_with("replay: 1 turn, 0 different; lines: 1 the same\n"), "{}", played.stderr);
    let played = play(&folder, "--as agent", "sed -u 's/x$/y/'");
    assert!(played.stderr.contains("lines: 0 the same, 1 differ"), "{}", played.stderr);
    assert!(played.stderr.lines().all(|line| line.len() < 300), "long lines are shown in short");
}

#[test]
fn unrecorded_lines_are_reported_and_the_rest_is_compared() {
    let folder = Folder::new();
    let recorded = conversation(2);
    let lines: Vec<&str> = recorded.lines().collect();
    let withheld = r#"{"t":3000,"seq":3,"dir":"in","withheld":"--redact failed"}"#;
    let lost = r#"{"t":4000,"seq":4,"lost":1}"#;
    folder.write("run.jsonl", [lines[0], lines[1], lines[2], withheld, lines[4], lines[5]].join("\n") + "\n");
    let played = play(&folder, "--as world --timeout 3", BOT);
    assert!(played.stderr.starts_with("replay: run.jsonl:4: was not recorded: --redact failed\n"), "{}", played.stderr);
    assert_eq!(played.status, Some(1));
    folder.write("run.jsonl", [lines[0], lines[1], lines[2], lost, lines[5]].join("\n") + "\n");
    let played = play(&folder, "--as world", BOT);
    assert!(played.stderr.contains("replay: run.jsonl:4: 1 messages were not recorded here\n"), "{}", played.stderr);
    assert!(played.stderr.contains("1 turn, 0 different"), "{}", played.stderr);
    assert_eq!(played.status, Some(1));
}

#[test]
fn a_side_is_played_at_once_or_with_the_recorded_pauses() {
    let folder = Folder::new();
    let lines = [(0, "<1"), (1000, ">{\"to\":1}"), (700_000, "<2"), (701_000, ">{\"to\":2}")];
    let lines: String = (1..).zip(lines).map(|(seq, (t, message))| line(t, seq, message)).collect();
    folder.write("run.jsonl", header("agent") + "\n" + &lines);
    for (options, least, most) in
        [("", 0, 600), ("--speed 1", 690, 2500), ("--speed 2", 340, 1500), ("--speed 1 --idle-limit 0.1", 90, 690)]
    {
        // A busy machine delays some of the runs, a fault all.
        eventually(options, || {
            let played = play(&folder, &format!("--as world {options}"), BOT);
            assert!(played.took.as_millis() >= least, "{options}: {:?}", played.took);
            assert_eq!(played.status, Some(0), "{options}: {}", played.stderr);
            played.took.as_millis() < most
        });
    }
}

#[test]
fn memory_stays_flat_for_any_amount_of_output() {
    let folder = Folder::new();
    let pad = "x".repeat(1000);
    for (direction, options) in [("<", "--as world"), (">", "--as world")] {
        let mut file = std::io::BufWriter::new(std::fs::File::create(folder.path("run.jsonl")).unwrap());
        writeln!(file, "{}\n{}", header("agent"), line(0, 1, "<0").trim_end()).unwrap();
        for n in 0..60_000 {
            file.write_all(line(n, n + 2, &format!("{direction}\"{n} {pad}\"")).as_bytes()).unwrap();
        }
        drop(file);
        // It reads little, and writes everything that was recorded.
        let script = "sleep 1; cut -d: -f5- <run.jsonl | sed -n 's/}$//;3,$p'; exec sleep 60";
        let mut replay = folder.command(&format!("replay --timeout 2 {options} run.jsonl -- sh -c"));
        let mut child = replay.arg(script).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let most = watch(&mut child, Duration::from_secs(5));
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id() as i32), Signal::SIGTERM);
        child.wait().unwrap();
        assert!(most < 40 << 10, "{direction}: {most} KiB");
    }
}

#[test]
fn a_closed_stdout_is_a_quiet_end_of_a_side() {
    let folder = Folder::new();
    folder.write("run.jsonl", conversation(3));
    let mut talk = Talk::start(&mut folder.command("replay --as agent run.jsonl"));
    assert_eq!(talk.ask("1"), "{\"to\":1}");
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("turn 2: stdin ended; one recorded line did not come\n"), "{}", ended.stderr);
}

#[test]
fn a_side_that_does_not_flush_gets_one_hint() {
    // sed flushes its output to a pipe at the end of its input, which is closed after the timeout of the last turn.
    let check_hint = |part: &'static str, child: &'static str, lines: &'static [&'static str], script: &'static str| {
        let folder = Folder::new();
        folder.write("run.jsonl", log(child, lines) + &end(lines.len() as u64 + 1, 0));
        let played = play(&folder, &format!("--as {part} --timeout 10500ms"), script);
        assert_eq!(played.status, Some(0), "{}", played.stderr);
        assert_eq!(played.stderr.matches("no answer for 10 s").count(), 1, "{}", played.stderr);
        assert!(played.stderr.contains("stdbuf -oL"), "{}", played.stderr);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| check_hint("world", "agent", &["<1", ">a1"], "sed s/^/a/"));
        scope.spawn(|| check_hint("agent", "world", &["<1", ">a1"], "sed s/^/a/"));
        // A side that writes first.
        scope.spawn(|| check_hint("world", "agent", &[">a1"], "sleep 10.2; echo a1"));
    });
}
