//! Streamed answers, split by the network in any way, and servers that deviate from the API.

use super::server::{Reply, Server};
use super::{model, records};
use crate::process::{pipe, text};
use serde_json::{Value, json};

/// A model, an answer with text and calls, and a text in the event that completes the turn.
type Answer = (&'static str, &'static str, &'static str);

const GEMINI: Answer = ("gemini/m", include_str!("../../fixtures/models/gemini_tool.sse"), "finishReason");
const INTERACTIONS: Answer =
    ("gemini-interactions/m", include_str!("../../fixtures/models/interactions_tool.sse"), "interaction.completed");
const ANTHROPIC: Answer = ("anthropic/m", include_str!("../../fixtures/models/anthropic_tool.sse"), "message_stop");
const CHAT: Answer =
    ("openai/m", include_str!("../../fixtures/models/openai_chat_tool.sse"), r#""finish_reason":"tool_calls""#);
const RESPONSES: Answer =
    ("openai-responses/m", include_str!("../../fixtures/models/openai_responses_tool.sse"), "response.completed");

/// The answer with a character of three bytes in it.
fn answer(stream: &str) -> Vec<u8> {
    stream.replace("the page", "the pag\u{20ac}").into_bytes()
}

/// Records without fields that differ between runs.
fn timeless(mut records: Vec<Value>) -> Vec<Value> {
    for record in &mut records {
        record.as_object_mut().unwrap().remove("latency_ms");
    }
    records
}

#[test]
fn an_answer_of_one_byte_per_write_gives_the_same_records() {
    for (name, stream, _) in [GEMINI, INTERACTIONS, ANTHROPIC, CHAT, RESPONSES] {
        let server = Server::start(move |_, before| match before {
            0 => Reply::pieces([answer(stream)].into_iter()),
            _ => Reply::pieces(answer(stream).into_iter().map(|byte| vec![byte])),
        });
        let output = pipe(model(&server, name).arg("--stream"), "{\"prompt\":\"p\"}\n".repeat(2).as_bytes());
        let records = timeless(records(&output));
        let (whole, bytes) = records.split_at(records.len() / 2);
        assert_eq!(whole, bytes, "{name}");
        let turn = whole.last().unwrap();
        assert_eq!(
            (&turn["text"], &turn["stop"]),
            (&json!("I look at the pag\u{20ac}."), &json!("call")),
            "{output:?}"
        );
    }
}

/// Cuts the answer at every byte, in two ways: the body ends there, or the connection breaks. There must be a turn only if the stream
/// was complete.
#[track_caller]
fn cut_at_every_byte((name, stream, last): (&str, &str, &str)) {
    let answer = answer(stream);
    let shown = String::from_utf8_lossy(&answer);
    let marker = shown.find(last).unwrap();
    // The blank line behind the last event may be missing.
    let complete = marker + shown[marker..].find("\n\n").unwrap() + 1;
    let prompt = |way: &str, at| format!("{{\"prompt\":\"{way} at {at}.\"}}\n");
    let prompts: String = (0..=answer.len()).map(|at| prompt("ends", at) + &prompt("breaks", at)).collect();
    let cut = answer.clone();
    let server = Server::start(move |request, _| {
        let (before, at) = request.body.split_once(" at ").unwrap();
        let at: usize = at.split('.').next().unwrap().parse().unwrap();
        Reply { breaks: before.ends_with("breaks"), ..Reply::pieces([cut[..at].to_vec()].into_iter()) }
    });
    let output = pipe(model(&server, name).args(["-j", "16", "--retries", "0"]), prompts.as_bytes());
    let turns = timeless(records(&output));
    assert_eq!(turns.len(), 2 * (answer.len() + 1), "{name}: {}", text(&output.stderr));
    let whole = &turns[2 * answer.len()];
    assert_eq!(whole["status"], "ok", "{name}: {whole}");
    for (at, turns) in turns.chunks(2).enumerate() {
        let [ended, broken] = turns else { unreachable!() };
        assert_eq!(ended["status"] == "ok", at >= complete, "{name} at {at}: {ended}");
        assert!(broken["status"] != "ok" || at > complete, "{name} at {at}: {broken}");
        for turn in turns {
            match turn["status"] == "ok" {
                true => assert_eq!(turn["raw"], whole["raw"], "{name} at {at}"),
                false => assert_eq!(turn["kind"], "lost", "{name} at {at}: {turn}"),
            }
        }
    }
}

#[test]
fn a_cut_answer_of_gemini_is_not_a_turn() {
    cut_at_every_byte(GEMINI);
}

#[test]
fn a_cut_answer_of_interactions_is_not_a_turn() {
    cut_at_every_byte(INTERACTIONS);
}

#[test]
fn a_cut_answer_of_anthropic_is_not_a_turn() {
    cut_at_every_byte(ANTHROPIC);
}

#[test]
fn a_cut_answer_of_chat_completions_is_not_a_turn() {
    cut_at_every_byte(CHAT);
}

#[test]
fn a_cut_answer_of_responses_is_not_a_turn() {
    let (name, stream, last) = RESPONSES;
    // Only the events that form the turn; the others repeat it, and every byte takes time.
    let made_of =
        |event: &&str| ["output_item.done", "output_text.delta", last].iter().any(|kind| event.contains(kind));
    let short: String = stream.split_inclusive("\n\n").filter(made_of).collect();
    cut_at_every_byte((name, &short, last));
}

#[test]
fn calls_that_all_come_under_index_0_are_told_apart_and_their_results_go_back_to_each() {
    let call = |id: &str, door: u8| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"role":"assistant","content":"","tool_calls":[{{{id}"index":0,"type":"function","function":{{"name":"look","arguments":"{{\"door\":{door}}}"}}}}]}},"finish_reason":null}}]}}"#
        )
    };
    // As Ollama streams them, one of them without an id.
    let calls = [call(r#""id":"call_a","#, 1), call(r#""id":"call_b","#, 2), call("", 3)];
    let end = r#"{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"tool_calls"}]}"#;
    let said =
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"The third."},"finish_reason":"stop"}]}"#;
    let server = Server::start(move |_, before| match before {
        0 => Reply::stream(&[&calls[0], &calls[1], &calls[2], end, "[DONE]"]),
        _ => Reply::stream(&[said, "[DONE]"]),
    });
    let user = json!({"role": "user", "content": "Which door?"});
    let ask = |messages: &[Value]| {
        let tools = json!([{"name": "look", "description": "d", "input_schema": {"type": "object"}}]);
        let request = json!({"type": "model_request", "messages": messages, "tools": tools});
        records(&pipe(&mut model(&server, "ollama/m"), format!("{request}\n").as_bytes())).remove(0)
    };
    let turn = ask(std::slice::from_ref(&user));
    let calls = turn["calls"].as_array().unwrap().clone();
    let doors: Vec<&Value> = calls.iter().map(|call| &call["arguments"]["door"]).collect();
    assert_eq!(doors, [1, 2, 3], "{turn}");
    let mut messages = vec![user, json!({"role": "assistant", "turn": turn})];
    messages.extend(calls.iter().map(|call| {
        json!({"role": "tool", "call_id": call["call_id"], "content": format!("door {}", call["arguments"]["door"])})
    }));
    assert_eq!(ask(&messages)["text"], "The third.");
    let body: Value = serde_json::from_str(&server.requests()[1].body).unwrap();
    let sent = body["messages"].as_array().unwrap();
    for (at, result) in sent[2..].iter().enumerate() {
        assert_eq!(result["tool_call_id"], sent[1]["tool_calls"][at]["id"], "{body}");
        assert_eq!(result["content"], format!("door {}", at + 1), "{body}");
    }
    let ids: std::collections::HashSet<String> =
        sent[2..].iter().map(|result| result["tool_call_id"].to_string()).collect();
    assert_eq!(ids.len(), 3, "{body}");
}

/// A chunk of Chat Completions.
pub(super) fn chunk(index: u64, delta: Value, finish_reason: Value) -> String {
    json!({"choices": [{"index": index, "delta": delta, "finish_reason": finish_reason}]}).to_string()
}

#[track_caller]
fn turn(name: &str, events: &[&str]) -> Value {
    let reply = Reply::stream(events);
    let server = Server::start(move |_, _| reply.clone());
    records(&pipe(model(&server, name).args(["--retries", "0"]), b"{\"prompt\":\"p\"}\n")).remove(0)
}

#[test]
fn an_answer_with_an_empty_finish_reason_is_incomplete() {
    let said = chunk(0, json!({"role": "assistant", "content": "Transfer 100"}), json!(""));
    let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"Transfer 100"}]},"finishReason":""}]}"#;
    for turn in [turn("vllm/m", &[&said]), turn("gemini/m", &[gemini])] {
        assert_eq!((&turn["status"], &turn["kind"]), (&json!("error"), &json!("lost")), "{turn}");
    }
}

#[test]
fn a_call_cut_by_a_limit_is_not_carried_out() {
    let delta = json!({"role": "assistant", "tool_calls": [
        {"index": 0, "id": "a", "type": "function", "function": {"name": "rm", "arguments": "{\"path\":\"x\"}"}},
        {"index": 1, "id": "b", "type": "function", "function": {"name": "rm", "arguments": ""}},
    ]});
    let called = chunk(0, delta, Value::Null);
    for (reason, stop, count) in [("length", "length", 1), ("tool_calls", "call", 2)] {
        let turn = turn("vllm/m", &[&called, &chunk(0, json!({}), json!(reason)), "[DONE]"]);
        assert_eq!((&turn["stop"], turn["calls"].as_array().unwrap().len()), (&json!(stop), count), "{turn}");
        assert_eq!(turn["raw"]["tool_calls"][1]["id"], "b");
    }
}

#[test]
fn a_second_choice_is_not_mixed_into_the_first() {
    let events = [
        chunk(0, json!({"role": "assistant", "content": "one"}), Value::Null),
        chunk(1, json!({"content": "two"}), json!("length")),
        chunk(0, json!({}), json!("stop")),
    ];
    let turn = turn("vllm/m", &[&events[0], &events[1], &events[2], "[DONE]"]);
    assert_eq!((&turn["text"], &turn["stop"]), (&json!("one"), &json!("end")), "{turn}");
}

#[test]
fn a_turn_that_never_ends_is_too_large() {
    let said = chunk(0, json!({"role": "assistant", "content": "x".repeat(1 << 20)}), Value::Null);
    let server =
        Server::start(move |_, _| Reply::pieces(vec![format!("data: {said}\n\n").into_bytes(); 70].into_iter()));
    let output = pipe(&mut model(&server, "vllm/m"), b"{\"prompt\":\"p\"}\n");
    assert_eq!(
        (&records(&output)[0]["kind"], server.requests().len()),
        (&json!("too_large"), 1),
        "{}",
        text(&output.stderr)
    );
}
