//! Servers that refuse a part of requests, or answer in another form than a stream of events.

use super::server::{Reply, Request, Server};
use super::{model, records};
use crate::process::{Talk, command, pipe, text};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

/// A request with everything that servers refuse.
const RICH: &str = r#"{"type":"model_request","request_id":"r","system":"S","max_output_tokens":9,
    "tools":[{"name":"look.at","input_schema":{"type":"object"}}],"messages":[
    {"role":"user","content":[{"text":"see"},{"image_base64":"aaaa","mime":"image/png"}]},
    {"role":"assistant","turn":{"text":"","calls":[{"call_id":"call_1","tool_name":"look.at","arguments":{}}]}},
    {"role":"tool","call_id":"call_1","content":"ok"},{"role":"user","content":"on"}]}"#;

fn rich() -> Vec<u8> {
    (RICH.replace('\n', "") + "\n").into_bytes()
}

/// The stream of a turn with this text.
pub(super) fn said(words: &str) -> Reply {
    let delta = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": words}}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    Reply::stream(&[&delta.to_string(), &end.to_string(), "[DONE]"])
}

pub(super) fn refusal(status: u16, message: &str) -> Reply {
    Reply::error(status, &json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string())
}

pub(super) fn body(request: &Request) -> Value {
    serde_json::from_str(&request.body).unwrap()
}

/// Sends each input to a server that refuses requests as `is_bad` says, and gives the bodies of the requests.
#[track_caller]
fn mended(status: u16, message: &'static str, is_bad: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Vec<Value> {
    let server = Server::start(move |request, _| match is_bad(&body(request)) {
        true => refusal(status, message),
        false => said("x"),
    });
    let output = pipe(model(&server, "vllm/m").args(["--retries", "0"]), &rich().repeat(2));
    for turn in records(&output) {
        assert_eq!((&turn["status"], &turn["text"]), (&json!("ok"), &json!("x")), "{message}: {output:?}");
    }
    let requests: Vec<Value> = server.requests().iter().map(body).collect();
    // Only the first request was refused.
    assert_eq!((requests.len(), output.status.code()), (3, Some(0)), "{message}: {output:?}");
    assert!(text(&output.stderr).contains("llm-pipe: the server does not"), "{output:?}");
    requests
}

#[test]
fn what_a_server_refuses_is_left_out_or_sent_in_another_form() {
    let roles = |body: &Value| -> Vec<String> {
        let messages = body["messages"].as_array().unwrap();
        messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect()
    };
    mended(400, "stream_options is not supported for this endpoint", |body| body.get("stream_options").is_some());
    mended(422, "Extra inputs are not permitted, field: 'max_tokens'", |body| body.get("max_tokens").is_some());
    mended(400, "System role not supported", move |body| roles(body)[0] == "system");
    mended(400, "Unexpected role 'user' after role 'tool'", move |body| {
        roles(body).windows(2).any(|pair| pair == ["tool", "user"])
    });
    mended(400, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", |body| {
        body["messages"].as_array().unwrap().iter().any(|message| message["tool_call_id"] == "call_1")
    });
    mended(500, "image input is not supported: provide the mmproj", |body| body.to_string().contains("image_url"));
    mended(400, "image exceeds 5 MB maximum", |body| body.to_string().contains("image_url"));
    mended(400, "this model does not support tools", |body| body.get("tools").is_some());
    mended(422, "content: invalid type: sequence, expected a string", |body| {
        body.to_string().contains("\"content\":[")
    });
}

#[test]
fn names_schemas_and_empty_turns_are_sent_as_every_server_accepts_them() {
    let server = Server::start(|_, _| {
        let call = json!({"index": 0, "id": "c", "function": {"name": "look_at", "arguments": "{}"}});
        let delta = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}]});
        Reply::stream(&[&delta.to_string(), r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#, "[DONE]"])
    });
    let empty = r#"{"role":"assistant","turn":{"text":"","calls":[]}},{"role":"user","content":"again"}]}"#;
    let input = RICH.replace('\n', "").replace("on\"}]}", &format!("on\"}},{empty}")) + "\n";
    let output = pipe(&mut model(&server, "vllm/m"), input.as_bytes());
    assert_eq!(records(&output)[0]["calls"][0]["tool_name"], "look.at", "{output:?}");
    let sent = body(&server.requests()[0]);
    let function = &sent["tools"][0]["function"];
    assert_eq!(function["name"], "look_at");
    assert_eq!(function["parameters"], json!({"type": "object", "properties": {}}));
    let last = sent["messages"].as_array().unwrap().last().unwrap();
    let texts = json!([{"type": "text", "text": "on"}, {"type": "text", "text": "again"}]);
    assert_eq!((&last["role"], &last["content"]), (&json!("user"), &texts));
}

#[test]
fn a_turn_in_any_form_of_an_answer_is_read() {
    let whole = r#"{"choices":[{"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}"#;
    let json = Reply::error(200, whole);
    let page = Reply { headers: vec![("content-type", "text/plain".to_owned())], ..said("x") };
    let open = Reply {
        pieces: [said("x").pieces, vec![(Duration::from_secs(600), b"data: [DONE]\n\n".to_vec())]].concat(),
        ..said("x")
    };
    // The end mark stands in the last piece only.
    let mut open = open;
    open.pieces.remove(2);
    for (name, reply) in [("json", json), ("plain", page), ("open", open)] {
        let server = Server::start(move |_, _| reply.clone());
        let output = pipe(&mut model(&server, "vllm/m"), b"{\"prompt\":\"p\"}\n");
        assert_eq!(records(&output)[0]["text"], "x", "{name}: {output:?}");
    }
    let server = Server::start(move |request, _| match body(request)["stream"] == true {
        true => refusal(400, "Streaming is not supported for this model."),
        false => Reply::error(200, whole),
    });
    let output = pipe(&mut model(&server, "vllm/m"), b"{\"prompt\":\"p\"}\n");
    assert_eq!(records(&output)[0]["text"], "x", "{output:?}");
}

#[test]
fn an_error_with_status_200_is_that_error() {
    let server = Server::start(|_, _| Reply::error(200, r#"{"error":{"message":"no such key","code":401}}"#));
    let output = pipe(&mut model(&server, "openrouter/m"), b"{\"prompt\":\"p\"}\n");
    assert_eq!((&records(&output)[0]["kind"], server.requests().len()), (&json!("auth"), 1), "{output:?}");
}

#[test]
fn a_server_that_loads_its_model_is_waited_for_even_without_retries() {
    let server = Server::start(|_, before| match before {
        0..2 => Reply::error(503, r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#),
        _ => said("x"),
    });
    let output = pipe(model(&server, "llama.cpp/m").args(["--retries", "0"]), b"{\"prompt\":\"p\"}\n");
    assert_eq!((&records(&output)[0]["text"], server.requests().len()), (&json!("x"), 3), "{output:?}");
    let server = Server::start(|_, _| Reply::error(503, r#"{"error":{"code":503,"message":"Loading model"}}"#));
    let output = pipe(model(&server, "llama.cpp/m").args(["--busy-timeout", "0s"]), b"{\"prompt\":\"p\"}\n");
    assert_eq!((&records(&output)[0]["kind"], server.requests().len()), (&json!("unavailable"), 1), "{output:?}");
}

#[test]
fn an_overloaded_server_is_waited_for_longer_than_retries_last() {
    let server = Server::start(|_, before| match before {
        0..2 => Reply::error(529, r#"{"error":{"message":"Overloaded","type":"overloaded_error"}}"#),
        _ => said("x"),
    });
    let output = pipe(model(&server, "vllm/m").args(["--retries", "1"]), b"{\"prompt\":\"p\"}\n");
    assert_eq!((&records(&output)[0]["text"], server.requests().len()), (&json!("x"), 3), "{output:?}");
}

#[test]
fn a_default_limit_that_does_not_fit_the_window_is_left_out() {
    let server = Server::start(|request, _| match body(request).get("max_tokens") {
        Some(_) => refusal(
            400,
            "This model's maximum context length is 8192 tokens. However, you requested 16400 tokens (16 in the messages, 16384 in the completion).",
        ),
        None => said("x"),
    });
    let output = pipe(&mut model(&server, "vllm/m"), &b"{\"prompt\":\"p\"}\n".repeat(2));
    assert!(records(&output).iter().all(|turn| turn["text"] == "x"), "{output:?}");
    assert_eq!(server.requests().len(), 3, "the second request has no limit from the beginning");
    // A limit that was asked for is not.
    let output = pipe(
        model(&server, "vllm/m").args(["--max-output-tokens", "16384"]).env("XDG_STATE_HOME", "/dev/null/x"),
        b"{\"prompt\":\"p\"}\n",
    );
    assert_eq!(records(&output)[0]["kind"], "overflow", "{output:?}");
}

#[test]
fn what_was_learnt_is_known_in_the_next_run_and_check_learns_it_anew() {
    let place = tempfile::tempdir().unwrap();
    let server = Server::start(|request, _| match body(request).to_string().contains("\"system\"") {
        true => refusal(400, "System role not supported"),
        false => said("x"),
    });
    let run = |arguments: &[&str]| {
        let mut llm = command("llm-pipe");
        llm.args(arguments).args(["-m", "vllm/m", "--base-url", &server.url]).env("XDG_STATE_HOME", place.path());
        llm
    };
    for _ in 0..2 {
        let output = pipe(run(&[]).args(["--system", "S"]), b"{\"prompt\":\"p\"}\n");
        assert_eq!(records(&output)[0]["text"], "x", "{output:?}");
    }
    assert_eq!(server.requests().len(), 3);
    let folder = place.path().join("pipewright/abilities");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let known: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!((&known["refused"], &known["model"]), (&json!(["system"]), &json!("m")));
    run(&["check"]).output().unwrap();
    let known: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(known["refused"].to_string().contains("tools"), "{known}");
}

#[test]
fn a_wrong_address_is_named_and_tried_with_v1() {
    let server = Server::start(|request, _| match &*request.path {
        "/v1/chat/completions" => said("x"),
        _ => Reply::error(404, r#"{"error":{"code":404,"message":"File Not Found"}}"#),
    });
    let output = pipe(&mut model(&server, "vllm/m"), &b"{\"prompt\":\"p\"}\n".repeat(2));
    assert!(records(&output).iter().all(|turn| turn["text"] == "x"), "{output:?}");
    let paths: Vec<String> = server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/chat/completions", "/v1/chat/completions", "/v1/chat/completions"]);
    let nowhere = Server::start(|_, _| Reply::error(404, "{}"));
    let output = pipe(&mut model(&nowhere, "vllm/m"), b"{\"prompt\":\"p\"}\n");
    let error = records(&output)[0]["error"].as_str().unwrap().to_owned();
    assert!(error.contains(&format!("(asked: {}/v1/chat/completions)", nowhere.url)), "{error}");
}

#[test]
fn a_note_says_that_the_text_of_a_prompt_is_waited_for() {
    let server = Server::start(|_, _| said("x"));
    let mut llm: Command = model(&server, "vllm/m");
    llm.arg("Hello");
    let talk = Talk::start(&mut llm);
    talk.complains("waiting for the text on stdin", 1);
    let ended = talk.end_after_close();
    assert_eq!((ended.lines, ended.status.code()), (vec!["x".to_owned()], Some(0)));
}
