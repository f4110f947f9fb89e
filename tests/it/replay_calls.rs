//! `replay --as`: refused calls are not made again, and ids may differ from the recorded ones.

use crate::process::{Talk, binary, pipe, text};
use crate::recorded::{Folder, end, line, log};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::process::Output;

/// A world that executes each call, and logs it.
const WORLD: &str = r#"while read -r line; do
    tool=${line#*\"tool\":\"}; tool=${tool%%\"*}; id=${line#*\"id\":}; id=${id%%,*}
    echo "$tool" >>done
    echo "{\"id\":$id,\"tool\":\"$tool\",\"status\":\"ok\",\"data\":1}"
done"#;

const CALLS: &str =
    "{\"id\":1,\"tool\":\"get_page\"}\n{\"id\":2,\"tool\":\"delete_file\"}\n{\"id\":3,\"tool\":\"get_page\"}\n";

/// Plays the agent of `run.jsonl` to that world; returns the executed calls and the messages.
fn play_agent(folder: &Folder, options: &str) -> (String, String, Option<i32>) {
    let _ = std::fs::remove_file(folder.path("done"));
    let mut replay = folder.command(&format!("replay --as agent --timeout 3 {options} run.jsonl -- sh -c"));
    let output = pipe(replay.arg(WORLD), b"");
    let done = std::fs::read_to_string(folder.path("done")).unwrap_or_default();
    (done.replace('\n', " "), text(&output.stderr), output.status.code())
}

/// Records calls to that world through gates.
fn record(folder: &Folder, gates: &str) -> Output {
    let mut recorder = folder.command("jsonl-record --child world run.jsonl --");
    for gate in gates.split(" -- ") {
        let mut words = gate.split(' ');
        recorder.arg(binary(words.next().unwrap())).args(words).arg("--");
    }
    let output = pipe(recorder.args(["sh", "-c", WORLD]), CALLS.as_bytes());
    let done = std::fs::read_to_string(folder.path("done")).unwrap();
    assert_eq!(done, "get_page\nget_page\n", "{}", text(&output.stderr));
    output
}

fn refused_at(place: &str) -> String {
    let why = "a gate or a person did not allow this call when it was recorded";
    format!("replay: {place}: not played: {why} (--include-rejected plays it)\n")
}

#[test]
fn a_call_that_a_person_rejected_is_not_made_again() {
    let folder = Folder::new();
    mkfifo(&folder.path("answers"), Mode::S_IRWXU).unwrap();
    mkfifo(&folder.path("events"), Mode::S_IRWXU).unwrap();
    let person = r#"while read -r line; do case $line in *waiting_human*)
        nonce=${line#*\"nonce\":\"}; nonce=${nonce%%\"*}
        echo "{\"type\":\"hitl_response\",\"call_id\":2,\"nonce\":\"$nonce\",\"action\":\"reject\"}" ;;
    esac; done <events >answers"#;
    let mut person = Talk::start(std::process::Command::new("sh").args(["-c", person]).current_dir(folder.path("")));
    let recorded = record(&folder, "policy-check --confirm mark -- hitl-gate --answers answers --events events");
    person.close();
    assert!(text(&recorded.stdout).contains("\"kind\":\"rejected\""), "{}", text(&recorded.stdout));

    let (done, stderr, status) = play_agent(&folder, "");
    assert_eq!((done.as_str(), status), ("get_page get_page ", Some(0)), "{stderr}");
    assert!(stderr.starts_with(&refused_at("run.jsonl:3")), "{stderr}");
    assert!(stderr.contains("replay: 1 turn, 0 different; lines: 2 the same\n"), "{stderr}");
    let (done, stderr, status) = play_agent(&folder, "--quiet");
    assert!(done == "get_page get_page " && !stderr.contains("not played") && status == Some(0), "{stderr}");

    let (done, stderr, status) = play_agent(&folder, "--include-rejected");
    assert_eq!((done.as_str(), status), ("get_page delete_file get_page ", Some(1)));
    assert!(stderr.contains("; lines: 2 the same, 1 ") && !stderr.contains("not played"), "{stderr}");
}

#[test]
fn a_call_that_a_gate_refused_is_not_made_again() {
    for confirm in ["refuse", "mark"] {
        let folder = Folder::new();
        folder.write("rules.toml", "[[rule]]\nid = \"no\"\ntool = \"delete_*\"\nverdict = \"deny\"\n");
        let rules = if confirm == "mark" { " --rules rules.toml" } else { "" };
        let recorded = record(&folder, &format!("policy-check --confirm {confirm}{rules}"));
        let kind = if confirm == "mark" { "denied" } else { "needs_approval" };
        assert!(text(&recorded.stdout).contains(&format!("\"kind\":\"{kind}\"")), "{}", text(&recorded.stdout));
        let (done, stderr, status) = play_agent(&folder, "");
        assert_eq!((done.as_str(), status), ("get_page get_page ", Some(0)), "{stderr}");
    }
}

#[test]
fn a_call_that_was_unreadable_too_large_or_cancelled_is_not_made_again() {
    let folder = Folder::new();
    let twice = r#"{"tool":"ls","tool":"rm","args":{"path":"a"},"id":1}"#;
    let rpc = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ls","name":"rm"}}"#;
    let long = format!(r#"{{"id":3,"tool":"rm","args":{{"text":"{}"}}}}"#, "x".repeat(2000));
    let ok = r#"{"id":4,"tool":"get_page"}"#;
    let mut recorder = folder.command("jsonl-record --child world run.jsonl --");
    recorder.arg(binary("policy-check")).args(["--confirm", "refuse", "--max-line", "1K", "--"]);
    let recorded = pipe(recorder.args(["sh", "-c", WORLD]), format!("{twice}\n{rpc}\n{ok}\n{long}\n").as_bytes());
    let answers = text(&recorded.stdout);
    assert_eq!(answers.matches("bad_input").count(), 2, "{answers}");
    assert_eq!(answers.matches("too_large").count(), 1, "{answers}");
    let (done, stderr, status) = play_agent(&folder, "");
    assert_eq!((done.as_str(), status), ("get_page ", Some(0)), "{stderr}");
    let why = "not played: an ambiguous call, which gates refuse (--include-rejected plays it)";
    assert!(stderr.starts_with(&format!("replay: run.jsonl:2: {why}\nreplay: run.jsonl:3: {why}\n")), "{stderr}");
    let (done, ..) = play_agent(&folder, "--include-rejected");
    assert_eq!(done.split(' ').count(), 5, "{done}");

    folder.write(
        "run.jsonl",
        log(
            "world",
            &[
                r#"<{"id":7,"tool":"pay"}"#,
                r#"<{"type":"cancel","call_id":7}"#,
                r#">{"id":7,"tool":"pay","status":"error","error":"it was cancelled","kind":"cancelled"}"#,
                r#"<{"id":8,"tool":"a"}"#,
                r#">{"id":8,"tool":"a","status":"ok","data":1}"#,
                r#"<{"id":9,"tool":"pay","requires_approval":true}"#,
                r#"<{"id":10,"tool":"behind"}"#,
            ],
        ) + &end(9, 3),
    );
    let (done, stderr, _) = play_agent(&folder, "");
    assert_eq!(done, "a ", "{stderr}");
}

#[test]
fn records_about_a_rejected_call_are_not_expected_and_other_failures_are_played() {
    let folder = Folder::new();
    folder.write(
        "run.jsonl",
        log(
            "world",
            &[
                r#"<{"id":7,"tool":"pay"}"#,
                r#">{"type":"policy_request","call_id":7,"tool_name":"pay","policy":{}}"#,
                r#">{"type":"status","status":"waiting_human","call_id":7,"nonce":"n","tool_name":"pay","arguments":{}}"#,
                r#"<{"type":"hitl_response","call_id":7,"nonce":"n","action":"reject"}"#,
                r#">{"type":"status","status":"rejected","call_id":7}"#,
                r#">{"id":7,"tool":"pay","status":"error","error":"no","kind":"rejected"}"#,
                r#"<{"id":8,"tool":"a"}"#,
                r#">{"id":8,"tool":"a","status":"error","error":"too late","kind":"timeout"}"#,
            ],
        ) + &end(9, 1),
    );
    let (done, stderr, status) = play_agent(&folder, "");
    assert_eq!((done.as_str(), status), ("a ", Some(1)));
    assert!(stderr.starts_with(&refused_at("run.jsonl:2")), "{stderr}");
    assert!(stderr.contains("replay: 1 turn, 1 different, first at turn 1; lines: 0 the same, 1 differ\n"), "{stderr}");
    // Only calls of the agent can be left out.
    let output = folder.run("replay --as world --include-rejected run.jsonl");
    assert_eq!(
        (text(&output.stderr).as_str(), output.status.code()),
        ("replay: --include-rejected applies only to --as agent\n", Some(2))
    );
    assert_eq!(folder.run("replay --include-rejected run.jsonl").status.code(), Some(2));
}

#[test]
fn a_rejection_is_found_in_the_next_file_of_a_rotated_log_and_damage_is_reported_once() {
    let folder = Folder::new();
    let whole = log(
        "world",
        &[r#"<{"id":1,"tool":"pay"}"#, r#"<{"id":2,"tool":"a"}"#, r#">{"id":2,"tool":"a","status":"ok","data":1}"#],
    );
    folder.write("run.jsonl.1", whole.clone() + "damaged\n");
    let answer = line(5000, 5, r#">{"id":1,"tool":"pay","status":"error","error":"no","kind":"rejected"}"#);
    let header = whole.lines().next().unwrap().replace("\"seq\":0", "\"seq\":4");
    folder.write("run.jsonl", format!("{header}\n{answer}"));
    let mut replay = folder.command("replay --as agent run.jsonl run.jsonl.1 -- sh -c");
    let output = pipe(replay.arg(WORLD), b"");
    let stderr = text(&output.stderr);
    assert_eq!(std::fs::read_to_string(folder.path("done")).unwrap(), "a\n", "{stderr}");
    assert_eq!(stderr.matches("run.jsonl.1:5: ").count(), 1, "{stderr}");
    assert!(stderr.contains("lines: 1 the same\n"), "{stderr}");
}

/// Plays the recorded world of `run.jsonl` to an agent that sends these lines, each after the answer to the previous one.
fn play_world(folder: &Folder, options: &str, calls: &[&str]) -> (Vec<String>, String, Option<i32>) {
    let mut world = Talk::start(&mut folder.command(&format!("replay --as world {options} run.jsonl")));
    let answers = calls.iter().map(|call| world.ask(call)).collect();
    let ended = world.end_after_close();
    assert!(ended.lines.is_empty(), "{:?}", ended.lines);
    (answers, ended.stderr, ended.status.code())
}

#[test]
fn an_agent_with_other_ids_is_answered_with_its_own_ids() {
    let folder = Folder::new();
    folder.write(
        "run.jsonl",
        log(
            "world",
            &[
                r#"<{"id":1,"tool":"a","args":{"n":1.10}}"#,
                r#">{"id":1,"tool":"a","status":"ok","data":{"id":1, "big":12345678901234567890}}"#,
                r#"<{"cmd":"b","id":"g"}"#,
                r#">{"ok":true,"id":"g","data":{},"events":[]}"#,
                r#"<{"type":"tool_call","call_id":"c1","tool_name":"c"}"#,
                r#">{"type":"tool_result","call_id":"c1","status":"ok","result":1}"#,
                r#"<{"tool":"d"}"#,
                r#">{"tool":"d","status":"ok","data":1}"#,
            ],
        ),
    );
    let calls = [
        r#"{"tool":"a","id":"f00-1","args":{"n":1.10}}"#,
        r#"{"cmd":"b","id":2}"#,
        r#"{"type":"tool_call","tool_name":"c"}"#,
        r#"{"tool":"d","id":[4]}"#,
    ];
    let (answers, stderr, status) = play_world(&folder, "", &calls);
    assert_eq!(
        answers,
        [
            r#"{"id":"f00-1","tool":"a","status":"ok","data":{"id":1, "big":12345678901234567890}}"#,
            r#"{"ok":true,"id":2,"data":{},"events":[]}"#,
            r#"{"type":"tool_result","status":"ok","result":1}"#,
            r#"{"tool":"d","status":"ok","data":1,"id":[4]}"#,
        ]
    );
    assert!(stderr.contains(" 0 different; lines: 4 the same\n") && status == Some(0), "{stderr}");
    // A world does not choose ids: its answer must have the id of the call.
    let world = r#"read -r line; echo '{"id":9,"tool":"a","status":"ok","data":{"id":1,"big":12345678901234567890}}'"#;
    let mut replay = folder.command("replay --as agent run.jsonl -- sh -c");
    let stderr = text(&pipe(replay.arg(world), b"").stderr);
    assert!(
        stderr.contains("turn 1: the answer differs from the recording\nreplay:   - .id 1\nreplay:   + .id 9\n"),
        "{stderr}"
    );
}

#[test]
fn only_the_id_may_differ_and_a_different_call_is_also_answered_with_its_id() {
    let folder = Folder::new();
    folder.write(
        "run.jsonl",
        log(
            "world",
            &[
                r#"<{"id":1,"tool":"a","args":{"id":1}}"#,
                r#">{"id":1,"tool":"a","status":"ok","data":1}"#,
                r#"<{"id":2,"tool":"b"}"#,
                r#">{"id":2,"tool":"b","status":"ok","data":2}"#,
                r#"<{"id":3,"order":"no call"}"#,
                r#">{"id":3}"#,
            ],
        ),
    );
    let calls =
        [r#"{"id":"x","tool":"a","args":{"id":2}}"#, r#"{"id":"y","tool":"b"}"#, r#"{"id":4,"order":"no call"}"#];
    let (answers, stderr, status) = play_world(&folder, "", &calls);
    let expected = [
        r#"{"id":"x","tool":"a","status":"ok","data":1}"#,
        r#"{"id":"y","tool":"b","status":"ok","data":2}"#,
        r#"{"id":3}"#,
    ];
    assert_eq!(answers, expected);
    assert!(
        stderr.contains(
            "turn 1: the answer differs from the recording\nreplay:   - .args.id 1\nreplay:   + .args.id 2\n"
        ),
        "{stderr}"
    );
    assert!(
        stderr.contains("turn 3: the answer differs from the recording\nreplay:   - .id 3\nreplay:   + .id 4\n"),
        "{stderr}"
    );
    assert!(stderr.contains(" 2 different, first at turn 1; lines: 1 the same, 2 differ\n"), "{stderr}");
    assert_eq!(status, Some(1));
}

#[test]
fn records_about_a_call_before_its_answer_have_the_live_id() {
    let folder = Folder::new();
    let sha256 = "0".repeat(64);
    let status = format!(
        r#"{{"type":"status","status":"waiting_human","call_id":1,"nonce":"n","tool_name":"pay","arguments":{{}},"arguments_sha256":"{sha256}"}}"#
    );
    folder.write(
        "run.jsonl",
        log(
            "world",
            &[
                r#"<{"id":1,"tool":"pay"}"#,
                &format!(">{status}"),
                r#"<{"type":"cancel","call_id":1}"#,
                r#">{"id":1,"tool":"pay","status":"error","error":"it was cancelled","kind":"cancelled"}"#,
            ],
        ),
    );
    let calls = [r#"{"id":"p","tool":"pay"}"#, r#"{"type":"cancel","call_id":"p"}"#];
    let (answers, stderr, exit) = play_world(&folder, "", &calls);
    assert_eq!(answers[0], status.replace("\"call_id\":1", "\"call_id\":\"p\""));
    assert_eq!(answers[1], r#"{"id":"p","tool":"pay","status":"error","error":"it was cancelled","kind":"cancelled"}"#);
    assert!(stderr.contains("lines: 2 the same\n") && exit == Some(0), "{stderr}");
    // The id of another call is a difference.
    let (_, stderr, _) = play_world(&folder, "", &[calls[0], r#"{"type":"cancel","call_id":"q"}"#]);
    assert!(stderr.contains("  - .call_id 1\nreplay:   + .call_id \"q\"\n"), "{stderr}");
}

#[test]
fn several_calls_at_once_are_each_answered_with_their_own_ids() {
    let folder = Folder::new();
    let calls: Vec<String> = (1..=9).map(|n| format!("<{{\"id\":{n},\"tool\":\"t{n}\"}}")).collect();
    let answers = (1..=9).rev().map(|n| format!(">{{\"id\":{n},\"tool\":\"t{n}\",\"status\":\"ok\",\"data\":{n}}}"));
    let all: Vec<String> = calls.into_iter().chain(answers).collect();
    folder.write("run.jsonl", log("world", &all.iter().map(String::as_str).collect::<Vec<_>>()));
    let asked: String = (1..=9).map(|n| format!("{{\"id\":\"x{n}\",\"tool\":\"t{n}\"}}\n")).collect();
    let output = pipe(&mut folder.command("replay --as world run.jsonl"), asked.as_bytes());
    let expected: String = (1..=9)
        .rev()
        .map(|n| format!("{{\"id\":\"x{n}\",\"tool\":\"t{n}\",\"status\":\"ok\",\"data\":{n}}}\n"))
        .collect();
    assert_eq!((text(&output.stdout), output.status.code()), (expected, Some(0)), "{}", text(&output.stderr));
}

#[test]
fn no_call_gets_the_answer_to_another_if_calls_are_missing_or_reordered() {
    let folder = Folder::new();
    let ask = |calls: &[&str]| {
        let mut world = Talk::start(&mut folder.command("replay --as world run.jsonl"));
        calls.iter().for_each(|call| world.say(call));
        let ended = world.end_after_close();
        (ended.lines, ended.stderr, ended.status.code())
    };
    let answer =
        |id: u32, tool: &str, data: &str| format!(r#"{{"id":{id},"tool":"{tool}","status":"ok","data":"{data}"}}"#);
    let answers = [answer(1, "a", "A"), answer(2, "b", "B"), answer(3, "c", "C")].map(|line| format!(">{line}"));
    let calls = [r#"<{"id":1,"tool":"a"}"#, r#"<{"id":2,"tool":"b"}"#, r#"<{"id":3,"tool":"c"}"#];
    let recorded = [calls, [&answers[0], &answers[1], &answers[2]]].concat();
    folder.write("run.jsonl", log("world", &recorded));
    let (lines, stderr, status) = ask(&[r#"{"id":1,"tool":"b"}"#, r#"{"id":2,"tool":"c"}"#]);
    assert_eq!(lines, [answer(1, "b", "B"), answer(2, "c", "C")], "{stderr}");
    assert!(stderr.contains("not sent: the call was not made, and another call has its id now"), "{stderr}");
    assert!(stderr.contains("1 missing, 1 not sent\n") && status == Some(1), "{stderr}");

    folder.write(
        "run.jsonl",
        log(
            "world",
            &[
                r#"<{"id":1,"tool":"a","args":{"n":1}}"#,
                r#"<{"id":2,"tool":"a","args":{"n":2}}"#,
                &format!(">{}", answer(1, "a", "for n1")),
                &format!(">{}", answer(2, "a", "for n2")),
            ],
        ),
    );
    let (lines, stderr, status) =
        ask(&[r#"{"id":1,"tool":"a","args":{"n":2}}"#, r#"{"id":2,"tool":"a","args":{"n":1}}"#]);
    assert_eq!(lines, [answer(2, "a", "for n1"), answer(1, "a", "for n2")], "{stderr}");
    assert_eq!(status, Some(1), "the order differs");
}
