//! Helpers for the tests of all providers: requests from JSON, and streams from text.

use super::{Anthropic, Failure, Gemini, Interactions, Provider, Responses, Token};
use pipewright_record::{ModelRequest, ModelTurn, Stop, Usage};

/// A request with these fields.
pub(super) fn request(fields: &str) -> ModelRequest {
    ModelRequest::read(&format!(r#"{{"type":"model_request",{fields}}}"#)).unwrap().unwrap()
}

/// A request with one message.
pub(super) fn short() -> ModelRequest {
    request(r#""messages":[{"role":"user","content":"hi"}]"#)
}

#[test]
fn every_provider_has_its_own_path() {
    let paths: Vec<String> = super::PROVIDERS.iter().map(|provider| provider.path("m")).collect();
    let chat = "/chat/completions";
    let gemini = "/models/m:streamGenerateContent?alt=sse";
    assert_eq!(paths, [gemini, "/interactions", "/messages", chat, "/responses", chat, chat, chat, chat, chat]);
}

/// The body of a request for a turn of the model `m`.
pub(super) fn body(provider: &dyn Provider, fields: &str) -> String {
    provider.encode(&request(fields), "m").unwrap()
}

/// The result of a stream: the turn or the failure, the tokens, and the usage.
pub(super) struct Answer {
    pub(super) turn: Result<ModelTurn, Failure>,
    pub(super) tokens: Vec<Token>,
    pub(super) usage: Usage,
    /// Whether the turn was complete before the end of the stream.
    pub(super) is_complete: bool,
}

/// Reads a stream of events separated by empty lines; `event:` and `data:` have one line each.
pub(super) fn answer(provider: &dyn Provider, request: &ModelRequest, stream: &str) -> Answer {
    let mut reader = provider.reader(request, "m");
    let mut tokens = Vec::new();
    for event in stream.split("\n\n").filter(|event| !event.is_empty()) {
        let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        if let Err(failure) = reader.take(field("event: "), field("data: ").as_bytes(), &mut tokens) {
            return Answer { turn: Err(failure), tokens, usage: reader.usage(), is_complete: reader.is_complete() };
        }
    }
    let (usage, is_complete) = (reader.usage(), reader.is_complete());
    Answer { turn: reader.finish(), tokens, usage, is_complete }
}

/// A stream of events with these JSON texts, without names.
pub(super) fn events(data: &[&str]) -> String {
    data.iter().map(|data| format!("data: {data}\n\n")).collect()
}

/// The calls of a turn, as JSON.
pub(super) fn calls(turn: &ModelTurn) -> String {
    turn.calls.iter().map(|call| call.json()).collect::<Vec<_>>().join(",")
}

#[test]
fn a_call_that_was_cut_by_a_limit_is_dropped() {
    let gemini =
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"rm","args":{}}}]},"finishReason":"END"}]}"#;
    let step =
        r#"{"event_type":"step.start","index":0,"step":{"type":"function_call","id":"a","name":"rm","arguments":{}}}"#;
    let interaction = r#"{"event_type":"interaction.completed","interaction":{"status":"END"}}"#;
    let block = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"rm","input":{}}}"#;
    let delta = r#"{"type":"message_delta","delta":{"stop_reason":"END"}}"#;
    let (stop, step_stop) = (r#"{"type":"content_block_stop","index":0}"#, r#"{"event_type":"step.stop","index":0}"#);
    let item = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a","name":"rm","arguments":""}}"#;
    let response = r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"END"}}}"#;
    let cases: [(&dyn Provider, &[&str], &str, &str); 4] = [
        (&Gemini, &[gemini], "MAX_TOKENS", "STOP"),
        (&Interactions, &[step, step_stop, interaction], "incomplete", "requires_action"),
        (&Anthropic, &[block, stop, delta, r#"{"type":"message_stop"}"#], "max_tokens", "tool_use"),
        (&Responses, &[item, response], "max_output_tokens", "steered"),
    ];
    for (provider, data, limit, other) in cases {
        let turn = |end| answer(provider, &short(), &events(data).replace("END", end)).turn.unwrap();
        let (cut, whole) = (turn(limit), turn(other));
        assert_eq!((cut.stop, &*calls(&cut)), (Stop::Length, ""), "{}", provider.name());
        assert!(cut.raw.get().contains("\"rm\""), "{}", cut.raw);
        assert_eq!((whole.stop, whole.calls.len()), (Stop::Call, 1), "{}", provider.name());
        assert!(calls(&whole).contains(r#""arguments":{}"#), "{}", calls(&whole));
    }
}
