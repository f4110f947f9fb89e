//! Servers that report faults, end turns and form answers in another way than the APIs that they copy.

use super::dialects::{body, refusal, said};
use super::server::{Reply, Request, Server};
use super::streams::chunk;
use super::{model, records};
use crate::process::{command, pipe, text};
use serde_json::{Value, json};

const PROMPT: &str = "{\"prompt\":\"p\"}\n";

const WITH_TOOLS: &str = concat!(
    r#"{"type":"model_request","messages":[{"role":"user","content":"Open it."}],"#,
    r#""tools":[{"name":"open","input_schema":{"type":"object"}}]}"#,
    "\n"
);

/// A server that gives these replies one after the other, and the last one from then on.
fn playing(replies: Vec<Reply>) -> Server {
    Server::start(move |_, before| replies[before.min(replies.len() - 1)].clone())
}

/// What came of some input.
struct Asked {
    turns: Vec<Value>,
    requests: Vec<Request>,
    notes: String,
}

impl Asked {
    fn bodies(&self) -> Vec<Value> {
        self.requests.iter().map(body).collect()
    }

    fn paths(&self) -> Vec<&str> {
        self.requests.iter().map(|request| &*request.path).collect()
    }
}

#[track_caller]
fn ask(server: &Server, name: &str, options: &[&str], input: &str) -> Asked {
    let output = pipe(model(server, name).args(options), input.as_bytes());
    Asked { turns: records(&output), requests: server.requests(), notes: text(&output.stderr) }
}

/// The turns that these replies give, each to a request that is sent once.
#[track_caller]
fn turns(replies: Vec<Reply>) -> Vec<Value> {
    let count = replies.len();
    let asked = ask(&playing(replies), "vllm/m", &["--retries", "0"], &PROMPT.repeat(count));
    assert_eq!(asked.requests.len(), count, "{}", asked.notes);
    asked.turns
}

/// A stream of events with exactly this text.
fn raw(stream: &str) -> Reply {
    Reply::pieces([stream.as_bytes().to_vec()].into_iter())
}

/// The message of a model that calls `open`.
fn opening(arguments: &str) -> Value {
    let call = json!({"index": 0, "id": "c", "type": "function", "function": {"name": "open", "arguments": arguments}});
    json!({"role": "assistant", "tool_calls": [call]})
}

#[test]
fn a_slip_of_the_model_that_is_reported_as_an_error_is_generated_anew() {
    for slip in [
        Reply::error(400, r#"{"error":{"message":"The text of the model is no call.","code":"tool_use_failed"}}"#),
        refusal(500, r#"error parsing tool call: raw='{"door":', err=unexpected end of JSON input"#),
    ] {
        let call = Reply::stream(&[&chunk(0, opening(r#"{"door":1}"#), json!("tool_calls")), "[DONE]"]);
        let asked = ask(&playing(vec![slip, call]), "vllm/m", &[], WITH_TOOLS);
        let (turn, bodies) = (&asked.turns[0], asked.bodies());
        assert_eq!((&turn["calls"][0]["tool_name"], bodies.len()), (&json!("open"), 2), "{turn}");
        assert_eq!(bodies[1]["tools"][0]["function"]["name"], "open", "{}", asked.notes);
    }
}

#[test]
fn what_a_failing_server_refuses_is_believed_when_it_comes_again() {
    for (status, message, times, streams_then) in [
        (500, "stream: connection to upstream cannot be opened", 1, true),
        (500, "This backend does not support streaming.", 2, false),
        (503, "The function calls service is temporarily unavailable", 2, true),
        // What the server refuses for good may end so, too.
        (400, "stream=true is not supported here: leave it out and try again.", 1, false),
    ] {
        let replies = [vec![refusal(status, message); times], vec![said("x")]].concat();
        let asked = ask(&playing(replies), "vllm/m", &[], WITH_TOOLS);
        let bodies = asked.bodies();
        assert_eq!((&asked.turns[0]["text"], bodies.len()), (&json!("x"), times + 1), "{message}: {}", asked.notes);
        for (at, body) in bodies.iter().enumerate() {
            assert_eq!(body["stream"] == true, at < times || streams_then, "{message}: {at}: {body}");
            assert!(body.get("tools").is_some(), "{message}: {at}: {body}");
        }
    }
}

#[test]
fn a_refused_field_of_the_models_own_messages_is_left_out() {
    let own = json!({"role": "assistant", "content": "A door.", "reasoning_content": "I see it."});
    let turn = json!({"type": "model_turn", "status": "ok", "stop": "end", "text": "A door.", "calls": [],
        "provider": "vllm", "model": "m", "raw": own});
    let messages = json!([{"role": "user", "content": "What is there?"}, {"role": "assistant", "turn": turn},
        {"role": "user", "content": "Go on."}]);
    let input = format!("{}\n", json!({"type": "model_request", "messages": messages})).repeat(2);
    let with = |message: &str, is_refused: fn(&Value) -> bool| {
        let reply = refusal(400, message);
        let server = Server::start(move |request, _| match is_refused(&body(request)["messages"][1]) {
            true => reply.clone(),
            false => said("x"),
        });
        ask(&server, "vllm/m", &[], &input)
    };
    let asked = with("Extra inputs are not permitted, field: 'messages[1].reasoning_content'", |message| {
        message.get("reasoning_content").is_some()
    });
    let sent: Vec<Value> = asked.bodies().iter().map(|body| body["messages"][1].clone()).collect();
    let without = json!({"role": "assistant", "content": "A door."});
    assert_eq!(sent, [own, without.clone(), without]);
    assert!(asked.turns.iter().all(|turn| turn["text"] == "x"), "{}", asked.notes);
    assert!(asked.notes.contains("messages.reasoning_content"), "{}", asked.notes);
    // It is left out once, whatever the server says then.
    let asked = with("messages[1].reasoning_content is not supported", |_| true);
    assert_eq!((&asked.turns[0]["kind"], asked.requests.len()), (&json!("bad_request"), 3), "{}", asked.notes);
    // A server that wants the field does not refuse it.
    let asked = with("messages[1]: its reasoning_content must be passed back to the API", |_| true);
    assert!(asked.turns.iter().all(|turn| turn["kind"] == "bad_request"), "{:?}", asked.turns);
    let bodies = asked.bodies();
    assert!(bodies.len() == 2 && bodies.iter().all(|body| body["messages"][1].get("reasoning_content").is_some()));
}

#[test]
fn the_provider_behind_openrouter_says_what_is_wrong() {
    let long = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
    for inner in [json!({"error": {"message": long}}).to_string(), long.to_owned()] {
        let metadata = json!({"provider_name": "Other", "raw": inner});
        let error = json!({"error": {"message": "Provider returned error", "code": 400, "metadata": metadata}});
        let asked = ask(&playing(vec![Reply::error(400, &error.to_string())]), "openrouter/m", &[], PROMPT);
        let turn = &asked.turns[0];
        assert_eq!((&turn["kind"], asked.requests.len()), (&json!("overflow"), 1), "{turn}");
        let said = turn["error"].as_str().unwrap();
        assert!(said.starts_with("Provider returned error") && said.ends_with(long), "{said}");
    }
}

#[test]
fn a_pause_of_0_is_none_and_no_pause_helps_a_request_above_the_limit_of_a_minute() {
    let limited = refusal(429, "slow down").header("retry-after", "0");
    let asked = ask(&playing(vec![limited]), "vllm/m", &["--busy-timeout", "2s"], PROMPT);
    assert_eq!(asked.turns[0]["kind"], "rate_limited", "{}", asked.notes);
    assert!((2..=6).contains(&asked.requests.len()), "{}", asked.notes);
    let message = "Request too large for m: 30000 tokens a minute, but this has 40000. It must be reduced.";
    let asked = ask(&playing(vec![refusal(429, message)]), "vllm/m", &[], PROMPT);
    assert_eq!((&asked.turns[0]["kind"], asked.requests.len()), (&json!("overflow"), 1), "{}", asked.notes);
}

#[test]
fn the_reasons_to_end_of_other_apis_are_known() {
    let expected = [
        ("max_tokens", "ok", "stop", "length"),
        ("MAX_TOKENS", "ok", "stop", "length"),
        ("model_context_window_exceeded", "ok", "stop", "length"),
        ("sensitive", "ok", "stop", "refusal"),
        ("SAFETY", "ok", "stop", "refusal"),
        ("network_error", "error", "kind", "lost"),
        ("engine_overloaded", "error", "kind", "lost"),
        // The stream is cut behind this piece.
        ("null", "error", "kind", "lost"),
    ];
    let begun = |reason| chunk(0, json!({"role": "assistant", "content": "Half"}), json!(reason));
    let mut replies: Vec<Reply> = expected.map(|(reason, ..)| Reply::stream(&[&begun(reason)])).into();
    replies.push(Reply::stream(&[&begun("null"), &chunk(0, json!({"content": " past"}), json!("stop")), "[DONE]"]));
    let turns = turns(replies);
    for ((reason, status, key, value), turn) in expected.into_iter().zip(&turns) {
        assert_eq!((&turn["status"], &turn[key]), (&json!(status), &json!(value)), "{reason}: {turn}");
    }
    let whole = turns.last().unwrap();
    assert_eq!((&whole["text"], &whole["stop"]), (&json!("Half past"), &json!("end")), "{whole}");
}

#[test]
fn json_in_a_stream_of_events_is_read() {
    let event = |json: Value| format!("data: {json}\n\n");
    let begun = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Half"}}]});
    let whole = json!({"message": {"role": "assistant", "content": "All of it"}, "finish_reason": "stop"});
    let unknown = json!({"error": {"message": "m is not served", "code": "model_not_found"}});
    let cut = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Pay 100"}}]});
    let expected = [
        (event(cut), "kind", "lost"),
        (unknown.to_string(), "error", "m is not served"),
        (json!({"choices": [whole]}).to_string(), "text", "All of it"),
        (event(begun) + "{\"error\":\"the runner died\"}\n", "error", "the runner died"),
        (
            event(json!({"choices": null, "base_resp": {"status_code": 1008, "status_msg": "no money"}})),
            "error",
            "no money",
        ),
        (
            event(json!({"choices": [{"index": 0, "error": {"code": 502, "message": "it is gone"}}]})),
            "error",
            "it is gone",
        ),
        (event(json!({"error": {"message": "", "type": "EngineDeadError"}})), "error", "EngineDeadError"),
    ];
    let replies = expected.iter().map(|(stream, ..)| raw(stream)).collect();
    for ((stream, key, words), turn) in expected.into_iter().zip(turns(replies)) {
        assert!(turn[key].as_str().is_some_and(|said| said.contains(words)), "{stream}: {turn}");
    }
}

#[test]
fn an_address_without_a_version_is_tried_with_v1() {
    let unknown = Reply::error(200, r#"{"error":"Unexpected endpoint or method. (POST /chat/completions)"}"#);
    let claude = raw(include_str!("../../fixtures/models/anthropic_tool.sse"));
    for (name, path, missing, answer) in [
        ("lmstudio/m", "/chat/completions", unknown, said("x")),
        ("anthropic/m", "/messages", refusal(404, "Not Found"), claude),
    ] {
        let asked = ask(&playing(vec![missing, answer]), name, &[], PROMPT);
        assert_eq!(asked.turns[0]["status"], "ok", "{name}: {}", asked.notes);
        assert_eq!(asked.paths(), [path, &format!("/v1{path}")], "{name}");
    }
    let mut versioned = playing(vec![refusal(404, "models/m is not there")]);
    versioned.url += "/v1beta/openai";
    let asked = ask(&versioned, "vllm/m", &[], PROMPT);
    assert!(asked.turns[0]["error"].as_str().unwrap().contains("models/m is not there"), "{:?}", asked.turns);
    assert_eq!(asked.paths(), ["/v1beta/openai/chat/completions"]);
    let server = Server::start(|request, _| match request.path.starts_with("/v1/") {
        true => said("x"),
        false => refusal(404, "Not Found"),
    });
    let output = command("llm-pipe").args(["check", "-m", "vllm/m", "--base-url", &server.url]).output().unwrap();
    let checks = records(&output);
    assert_eq!((&checks[0]["check"], &checks[0]["status"]), (&json!("text"), &json!("ok")), "{output:?}");
    let elsewhere = server.requests().iter().filter(|request| !request.path.starts_with("/v1/")).count();
    assert_eq!(elsewhere, 1, "the address is changed once");
}

#[test]
fn models_are_listed_behind_a_query_and_by_a_server_without_any() {
    for (query, answer, lines) in [
        ("?api-version=preview", r#"{"data":[{"id":"m"}]}"#, "{\"model\":\"vllm/m\"}\n"),
        ("", r#"{"object":"list","data":null}"#, ""),
    ] {
        let server = playing(vec![Reply::error(200, answer)]);
        let url = format!("{}{query}", server.url);
        let output = command("llm-pipe").args(["models", "vllm", "--base-url", &url]).output().unwrap();
        assert_eq!((text(&output.stdout).as_str(), output.status.code()), (lines, Some(0)), "{output:?}");
        assert_eq!(server.requests()[0].path, format!("/models{query}"));
    }
}

#[test]
fn calls_and_pieces_in_odd_forms_are_read() {
    let whole = json!({"choices": [{"index": 0, "message": opening(r#"{"door":2}"#)}]});
    let ended = chunk(0, json!({"role": "assistant", "content": "x"}), json!("stop"));
    let pings = format!("event: ping\ndata: still here\n\ndata: {ended}\n\n");
    let odd = |key: &str, value: Value| {
        let delta = json!({"role": "assistant", "content": "x", key: value});
        Reply::stream(&[&chunk(0, delta, json!("stop"))])
    };
    let turns = turns(vec![
        Reply::stream(&[&chunk(0, opening("null"), json!("tool_calls"))]),
        Reply::error(200, &whole.to_string()),
        raw(&pings),
        odd("function_call", json!({"name": "", "arguments": ""})),
        odd("tool_calls", json!({})),
    ]);
    for (turn, arguments) in turns.iter().zip([json!({}), json!({"door": 2})]) {
        let calls = turn["calls"].as_array().unwrap_or_else(|| panic!("{turn}"));
        assert_eq!((calls.len(), &calls[0]["arguments"]), (1, &arguments), "{turn}");
    }
    for turn in &turns[2..] {
        assert_eq!((&turn["text"], &turn["stop"]), (&json!("x"), &json!("end")), "{turn}");
    }
}
