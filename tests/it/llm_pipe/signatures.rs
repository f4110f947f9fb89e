//! Turns with signatures: a server that checks them as the providers do.

use super::server::{Reply, Request, Server};
use super::{gemini, model};
use crate::process::Talk;
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Anthropic's answer if the content before a thinking block has changed since the block was written.
const BOUND: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."},"request_id":"req_1"}"#;

/// Gemini's answer if the first call of a turn has no signature.
const UNSIGNED: &str = r#"{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `look`, position 2.","status":"INVALID_ARGUMENT"}}"#;

/// A conversation through one `llm-pipe`: each request has all earlier messages.
struct Conversation {
    talk: Talk,
    request: Value,
}

impl Conversation {
    fn begin(talk: Talk) -> Conversation {
        let tools = json!([{"name": "look", "description": "Look.", "input_schema": {"type": "object"}}]);
        let request = json!({"type": "model_request", "system": "Play.", "messages": [], "tools": tools});
        Conversation { talk, request }
    }

    fn add(&mut self, message: Value) {
        self.request["messages"].as_array_mut().unwrap().push(message);
    }

    fn user(&mut self, text: &str) {
        self.add(json!({"role": "user", "content": text}));
    }

    /// Adds a turn, and a result for each of its calls.
    fn turn(&mut self) -> Value {
        let turn: Value = serde_json::from_str(&self.talk.ask(&self.request.to_string())).unwrap();
        assert_eq!(turn["status"], "ok", "{turn}");
        self.add(json!({"role": "assistant", "turn": turn}));
        for call in turn["calls"].as_array().unwrap() {
            self.add(json!({"role": "tool", "call_id": call["call_id"], "content": "a door"}));
        }
        turn
    }

    /// Sends the request with one value replaced; the server must refuse it.
    fn is_refused(&mut self, pointer: &str, value: Value, why: &str) {
        let mut changed = self.request.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        let turn: Value = serde_json::from_str(&self.talk.ask(&changed.to_string())).unwrap();
        assert_eq!((&turn["kind"], &turn["retries"]), (&json!("bad_request"), &json!(0)), "{pointer}: {turn}");
        assert!(turn["error"].as_str().unwrap().contains(why), "{pointer}: {turn}");
    }
}

/// The content that a signature covers: the system text, the tools and every earlier message, without cache markers.
fn signature(before: &str) -> String {
    let mut hasher = DefaultHasher::new();
    before.hash(&mut hasher);
    format!("s/{:x}+==", hasher.finish())
}

/// Anthropic: every turn has thinking, and the signature must be returned byte for byte, after the same messages.
fn anthropic(request: &Request, before: usize) -> Reply {
    let body = request.body.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    let (sent, _) = body.split_once(r#"],"max_tokens""#).unwrap();
    for (at, message) in sent.match_indices(r#",{"role":"assistant","content":"#) {
        let signed =
            format!(r#"[{{"type":"thinking","thinking":"I should look.","signature":"{}"}},"#, signature(&sent[..at]));
        if !sent[at + message.len()..].starts_with(&signed) {
            return Reply::error(400, BOUND);
        }
    }
    let signature = signature(sent);
    let (begin, end) = signature.split_at(5);
    let delta =
        |index: u8, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta}).to_string();
    let start = |index: u8, block: Value| {
        json!({"type": "content_block_start", "index": index, "content_block": block}).to_string()
    };
    Reply::stream(&[
        r#"{"type":"message_start","message":{"content":[],"usage":{"input_tokens":7,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        &delta(0, json!({"type": "thinking_delta", "thinking": "I should"})),
        &delta(0, json!({"type": "thinking_delta", "thinking": " look."})),
        &delta(0, json!({"type": "signature_delta", "signature": begin})),
        &delta(0, json!({"type": "signature_delta", "signature": end})),
        &start(1, json!({"type": "tool_use", "id": format!("toolu_{before}"), "name": "look", "input": {}})),
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\": 1.10,"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":" \"door\":\"\\u20ac\"}"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}"#,
        r#"{"type":"message_stop"}"#,
    ])
}

#[test]
fn signed_thinking_follows_the_same_bytes_throughout_a_conversation() {
    let server = Server::start(anthropic);
    let mut conversation = Conversation::begin(Talk::start(&mut model(&server, "anthropic/claude")));
    conversation.user("Go.");
    conversation.turn();
    conversation.turn();
    conversation.user("And now?");
    conversation.turn();
    conversation.user("Go on.");
    let why = "bound to a different conversation";
    conversation.is_refused("/messages/0/content", json!("Stop."), why);
    conversation.is_refused("/messages/2/content", json!("a wall"), why);
    conversation.is_refused("/system", json!("Play!"), why);
    conversation.is_refused("/tools/0/description", json!("Look!"), why);
    conversation.turn();
    assert_eq!(server.requests().len(), 8, "what is refused is not sent again");
}

/// Gemini: the first call of every turn must have a signature, its own or the placeholder.
fn demanding(request: &Request, before: usize) -> Reply {
    let body: Value = serde_json::from_str(&request.body).unwrap();
    for content in body["contents"].as_array().unwrap().iter().filter(|content| content["role"] == "model") {
        let first = content["parts"].as_array().unwrap().iter().find(|part| part.get("functionCall").is_some());
        let signature = first.map(|part| part["thoughtSignature"].as_str().unwrap_or_default());
        if signature
            .is_some_and(|signature| signature != "skip_thought_signature_validator" && !signature.starts_with("own"))
        {
            return Reply::error(400, UNSIGNED);
        }
    }
    let call = r#"{"functionCall":{"name":"look","args":{}}}"#;
    let signed = format!(r#"{{"functionCall":{{"name":"look","args":{{}}}},"thoughtSignature":"own{before}"}}"#);
    Reply::stream(&[
        &format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{signed},{call}]}},"index":0}}]}}"#),
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}]}"#,
    ])
}

#[test]
fn gemini_gets_its_signatures_back_and_a_placeholder_on_calls_of_other_models() {
    let server = Server::start(demanding);
    let mut conversation = Conversation::begin(Talk::start(&mut gemini(&server)));
    conversation.user("Go.");
    let calls = json!([{"call_id": "a", "tool_name": "look", "arguments": {}}, {"call_id": "b", "tool_name": "look", "arguments": {}}]);
    for (provider, model) in [("openai", "gpt"), ("gemini", "another")] {
        let raw = json!({"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}, "thoughtSignature": "foreign"}]});
        let turn = json!({"type": "model_turn", "status": "ok", "stop": "call", "text": "", "calls": calls, "provider": provider, "model": model, "raw": raw});
        conversation.add(json!({"role": "assistant", "turn": turn}));
        for id in ["a", "b"] {
            conversation.add(json!({"role": "tool", "call_id": id, "content": "a door"}));
        }
    }
    let turn = conversation.turn();
    conversation.turn();
    // An own turn is sent back unchanged: a removed signature is not replaced.
    let mut unsigned = turn["raw"].clone();
    unsigned["parts"][0].as_object_mut().unwrap().remove("thoughtSignature");
    conversation.is_refused("/messages/7/turn/raw", unsigned, "missing a thought_signature");
    conversation.turn();
    assert_eq!(server.requests().len(), 4, "what is refused is not sent again");
}
