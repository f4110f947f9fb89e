//! `replay --as world` on the traffic of a model: compares only the added messages of requests, and answers with the recorded turns.

use crate::process::{Ended, Talk, pipe, text};
use crate::recorded::{Folder, log};
use serde_json::{Value, json};

fn user(text: &str) -> String {
    json!({"role": "user", "content": [{"text": text}]}).to_string()
}

/// The recorded turn with this number, which calls a tool.
fn turn(number: u32, id: &str) -> String {
    format!(
        r#"{{"type":"model_turn","request_id":{id},"status":"ok","stop":"call","text":"","calls":[{{"call_id":"c{number}","tool_name":"look","arguments":{{"n":{number}.10}}}}],"usage":{{"input":{number}}},"provider":"script","model":"m","raw":{{"n":{number}.10}},"latency_ms":1,"retries":0}}"#
    )
}

/// The turn in the history of a request, and the result of its call: a screenshot in this file.
fn step(number: u32, id: &str, image: &str) -> String {
    let turn = turn(number, id);
    let (turn, _) = turn.split_once(",\"latency_ms\"").unwrap();
    format!(
        r#"{{"role":"assistant","turn":{turn}}}}},{{"role":"tool","call_id":"c{number}","content":[{{"image":"{image}.png","sha256":"{number:064}"}},{{"text":"seen {number}"}}]}}"#
    )
}

fn request(id: &str, messages: &[String], settings: &str) -> String {
    format!(r#"{{"type":"model_request","request_id":{id},"messages":[{}]{settings}}}"#, messages.join(","))
}

/// The history of a run with this number of steps, with ids from `ids` and screenshots in files of these names.
fn history(steps: u32, ids: &str, image: &str) -> Vec<String> {
    let steps = (1..=steps).map(|number| step(number, &format!("\"{ids}{number}\""), &format!("{image}{number}")));
    std::iter::once(user("go")).chain(steps).collect()
}

const SYSTEM: &str = r#","system":"Play.","tools":[{"name":"look","input_schema":{"type":"object"}}]"#;

/// A log of a run of five steps, each with tokens before its turn.
fn recording() -> String {
    let mut lines = Vec::new();
    for number in 1..=5 {
        let id = format!("\"m{number}\"");
        lines.push("<".to_owned() + &request(&id, &history(number - 1, "m", "shot-"), SYSTEM));
        lines.push(format!(
            r#">{{"type":"assistant_message","request_id":{id},"token":"t{number}","is_final":false,"kind":"thought"}}"#
        ));
        lines.push(">".to_owned() + &turn(number, &id));
    }
    log("world", &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Sends requests one after another to `replay` with the recorded run; each answer has two lines, or one if `tokens` is false.
fn play(folder: &Folder, options: &str, requests: &[String]) -> (Vec<Vec<String>>, Ended) {
    let mut replay = Talk::start(&mut folder.command(&format!("replay --as world {options} llm.jsonl")));
    let mut answers = Vec::new();
    for request in requests {
        let mut answer = vec![replay.ask(request)];
        while !answer[answer.len() - 1].contains("model_turn") {
            answer.push(replay.receive());
        }
        answers.push(answer);
    }
    (answers, replay.end_after_close())
}

const MODES: [&str; 2] = ["", "--any-order"];

#[test]
fn a_run_with_other_ids_and_image_paths_gets_the_recorded_turns_with_its_own_ids() {
    let folder = Folder::new();
    folder.write("llm.jsonl", recording());
    for mode in MODES {
        let requests: Vec<String> =
            (0..5).map(|steps| request(&format!("{steps}.0"), &history(steps, "live-", "other/"), SYSTEM)).collect();
        let (answers, ended) = play(&folder, mode, &requests);
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        for (number, answer) in (1..).zip(&answers) {
            let id = format!("{}.0", number - 1);
            assert_eq!(answer.len(), 2);
            assert!(answer[0].contains(&format!("\"request_id\":{id},\"token\":\"t{number}\"")), "{answer:?}");
            assert_eq!(answer[1], turn(number, &id));
        }
        let sum =
            if mode.is_empty() { "6 turns, 0 different; lines: 5 the same" } else { "5 answered from the recording" };
        assert!(ended.stderr.contains(sum), "{}", ended.stderr);
    }
}

#[test]
fn one_changed_message_is_one_difference_and_the_run_continues() {
    let folder = Folder::new();
    folder.write("llm.jsonl", recording());
    let changed = |steps| {
        let history = history(steps, "m", "shot-");
        history.into_iter().map(|message| message.replace("seen 2", "SEEN 2")).collect::<Vec<_>>()
    };
    let requests: Vec<String> = (0..5).map(|steps| request("1", &changed(steps), SYSTEM)).collect();
    let (answers, ended) = play(&folder, "--settle 0.02 --report report.jsonl", &requests);
    assert_eq!(answers[4][1], turn(5, "1"));
    assert_eq!(ended.status.code(), Some(1));
    assert!(
        ended.stderr.contains("6 turns, 1 different, first at turn 3; lines: 4 the same, 1 differ"),
        "{}",
        ended.stderr
    );
    let place =
        "replay:   - .messages[1].content[1].text \"seen 2\"\nreplay:   + .messages[1].content[1].text \"SEEN 2\"\n";
    assert!(ended.stderr.contains(place), "{}", ended.stderr);
    let report = crate::schemas::written(folder.path("report.jsonl"));
    let differs: Value = serde_json::from_str(report.lines().find(|line| line.contains("differs")).unwrap()).unwrap();
    assert_eq!(differs["now"]["earlier_messages"], json!(3));
    assert_eq!(differs["now"]["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn another_image_is_a_difference() {
    let folder = Folder::new();
    folder.write("llm.jsonl", recording());
    let hash = |number: u32| format!("\"sha256\":\"{number:064}\"");
    let messages = history(1, "m", "shot-").into_iter().map(|message| message.replace(&hash(1), &hash(7)));
    let messages: Vec<String> = messages.collect();
    let first = request("1", &messages[..1], SYSTEM);
    let (_, ended) = play(&folder, "--settle 0.02", &[first.clone(), request("2", &messages, SYSTEM)]);
    assert!(ended.stderr.contains("+ .messages[1].content[0].sha256"), "{}", ended.stderr);
    let (answers, ended) = play(&folder, "--any-order", &[first, request("2", &messages, SYSTEM)]);
    assert_eq!(ended.status.code(), Some(1));
    let error = "the recording has no model_request with these messages; the nearest differs at .last_message.content[0].sha256";
    let answer: Value = serde_json::from_str(&answers[1][0]).unwrap();
    assert_eq!(
        (&answer["kind"], &answer["error"], &answer["request_id"]),
        (&json!("not_found"), &json!(error), &json!("2".parse::<u32>().unwrap()))
    );
    crate::schemas::hold(&answers[1][0]);
}

#[test]
fn other_settings_are_reported_once() {
    let folder = Folder::new();
    folder.write("llm.jsonl", recording());
    let settings = SYSTEM.replace("Play.", "Play well.") + r#","tool_choice":"any""#;
    let requests: Vec<String> = (0..5).map(|steps| request("1", &history(steps, "m", "shot-"), &settings)).collect();
    for (mode, sum) in MODES.into_iter().zip([
        "6 turns, 1 different, first at turn 1; lines: 4 the same, 1 differ",
        "5 requests: 5 answered from the recording, 0 not; recorded and not made: 0; with other settings: 1",
    ]) {
        let (answers, ended) = play(&folder, mode, &requests);
        assert_eq!((answers[4][1].as_str(), ended.status.code()), (&*turn(5, "1"), Some(1)));
        assert!(ended.stderr.contains(sum), "{}", ended.stderr);
        let shown = "  - .system \"Play.\"\nreplay:   + .system \"Play well.\"\nreplay:   + .tool_choice \"any\"\n";
        assert_eq!(ended.stderr.matches(shown).count(), 1, "{}", ended.stderr);
        let (_, ended) = play(&folder, &format!("{mode} --ignore .system --ignore .tool_choice"), &requests);
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    }
}

#[test]
fn a_request_without_a_recorded_turn_gets_an_error() {
    let folder = Folder::new();
    folder.write("llm.jsonl", recording());
    let requests: Vec<String> = (0..7).map(|steps| request("\"x\"", &history(steps, "m", "shot-"), SYSTEM)).collect();
    for mode in MODES {
        let (answers, ended) = play(&folder, mode, &requests);
        assert_eq!(answers[4][1], turn(5, "\"x\""));
        for answer in &answers[5..] {
            let failed: Value = serde_json::from_str(&answer[0]).unwrap();
            assert_eq!(
                (&failed["request_id"], &failed["status"], &failed["kind"]),
                (&json!("x"), &json!("error"), &json!("not_found"))
            );
            crate::schemas::hold(&answer[0]);
        }
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
        let sum = if mode.is_empty() { "5 the same, 2 extra" } else { "5 answered from the recording, 2 not" };
        assert!(ended.stderr.contains(sum), "{}", ended.stderr);
    }
}

#[test]
fn a_recorded_error_is_answered_and_the_repeated_request_gets_the_next_turn() {
    let folder = Folder::new();
    let error =
        r#"{"type":"model_turn","request_id":"m2","status":"error","kind":"rate_limited","error":"later","usage":{}}"#;
    let (first, again) = (request("\"m1\"", &history(0, "m", ""), ""), request("\"m2\"", &history(1, "m", ""), ""));
    let third = again.replace("\"m2\"", "\"m3\"");
    let lines = [
        format!("<{first}"),
        format!(">{}", turn(1, "\"m1\"")),
        format!("<{again}"),
        format!(">{error}"),
        format!("<{third}"),
        format!(">{}", turn(2, "\"m3\"")),
    ];
    folder.write("llm.jsonl", log("world", &lines.iter().map(String::as_str).collect::<Vec<_>>()));
    let requests = [first, again, third].map(|line| line.replacen("\"request_id\":\"m", "\"request_id\":\"x", 1));
    for mode in MODES {
        let (answers, ended) = play(&folder, mode, &requests);
        assert_eq!(answers[1], [error.replace("\"m2\"", "\"x2\"")]);
        assert_eq!(answers[2], [turn(2, "\"x3\"")]);
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    }
}

#[test]
fn a_recorded_model_request_without_an_answer_gets_an_error() {
    let folder = Folder::new();
    let asked = request("1", &[user("go")], "");
    folder.write("llm.jsonl", log("world", &[&format!("<{asked}")]));
    for mode in MODES {
        let (answers, ended) = play(&folder, mode, std::slice::from_ref(&asked));
        let failed: Value = serde_json::from_str(&answers[0][0]).unwrap();
        assert_eq!((&failed["request_id"], &failed["kind"]), (&json!(1), &json!("not_found")), "{}", ended.stderr);
    }
}

#[test]
fn parallel_conversations_get_their_own_turns_in_any_order() {
    let folder = Folder::new();
    let mut lines = Vec::new();
    for (goal, number) in [("a", 1), ("b", 2)] {
        lines.push(format!("<{}", request("1", &[user(goal)], "")));
        lines.push(format!(">{}", turn(number, "1")));
        // The added messages are the same in both.
        lines.push(format!("<{}", request("2", &[user(goal), user("more")], "")));
        lines.push(format!(">{}", turn(number + 2, "2")));
    }
    folder.write("llm.jsonl", log("world", &lines.iter().map(String::as_str).collect::<Vec<_>>()));
    let requests = [
        request("1", &[user("b")], ""),
        request("2", &[user("b"), user("more")], ""),
        // The beginning of this conversation is not requested again.
        request("3", &[user("a"), user("more")], ""),
    ];
    let (answers, ended) = play(&folder, "--any-order", &requests);
    assert_eq!(answers, [[turn(2, "1")], [turn(4, "2")], [turn(3, "3")]]);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("recorded and not made: 1"), "{}", ended.stderr);
}

#[test]
fn unreadable_requests_are_also_answered() {
    let folder = Folder::new();
    folder.write("llm.jsonl", recording());
    let output = pipe(
        &mut folder.command("replay --as world --settle 0.02 --timeout 2 llm.jsonl"),
        b"{\"type\":\"model_request\",\"request_id\":1,\"messages\":7}\n{\"type\":\"model_request\",\"request_id\":2}\n",
    );
    let stdout = text(&output.stdout);
    for id in [1, 2] {
        assert_eq!(stdout.matches(&format!("\"type\":\"model_turn\",\"request_id\":{id},")).count(), 1, "{stdout}");
    }
}
