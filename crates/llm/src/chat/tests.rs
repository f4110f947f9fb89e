//! The body of requests, and failures.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::Retry;
use crate::tests::{answer, body, events, request, short};
use pipewright_record::Kind;
use std::time::Duration;

const TOOLS: &str =
    r#""tools":[{"name":"look","description":"d","input_schema":{"type":"object","x":1.10}},{"name":"wait"}]"#;

#[test]
fn a_request_has_the_requested_fields_only() {
    let fields = format!(
        r#""system":"S","messages":[{{"role":"user","content":"hi"}}],{TOOLS},"tool_choice":"any","max_output_tokens":9,"schema":{{"a":1.0}}"#
    );
    let written = ChatServer::OPENAI.encode(&request(&fields), "gpt-5.2").unwrap();
    let expected = concat!(
        r#"{"model":"gpt-5.2","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":9,"#,
        r#""response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":false,"schema":{"a":1.0}}},"#,
        r#""tools":[{"type":"function","function":{"name":"look","description":"d","parameters":{"type":"object","x":1.10}}},"#,
        r#"{"type":"function","function":{"name":"wait","parameters":{"type":"object"}}}],"tool_choice":"required","#,
        r#""messages":[{"role":"system","content":"S"},{"role":"user","content":"hi"}]}"#
    );
    assert_eq!(written, expected);
    assert!(body(&ChatServer::OLLAMA, &fields).contains(r#""max_tokens":9"#));
    assert_eq!(ChatServer::OPENAI.key_header("k"), ("authorization", "Bearer k".to_owned()));
}

#[test]
fn without_tools_there_is_no_tool_choice() {
    let fields = r#""messages":[{"role":"user","content":[]}],"tool_choice":"any""#;
    let expected = r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":""}]}"#;
    assert_eq!(body(&ChatServer::OPENAI, fields), expected);
}

/// The messages in the body of a request with these messages.
fn messages(messages: &str) -> String {
    let body = body(&ChatServer::OPENAI, &format!(r#""messages":[{messages}]"#));
    body.split_once(r#""messages":"#).unwrap().1.strip_suffix('}').unwrap().to_owned()
}

#[test]
fn a_turn_of_this_provider_and_model_is_sent_back_unchanged() {
    let turn = |provider: &str, model: &str| {
        messages(&format!(
            r#"{{"role":"assistant","turn":{{"provider":"{provider}","model":"{model}","text":"t","raw":{{"role":"assistant", "content":"t\u0074","n":1.10}}}}}}"#
        ))
    };
    assert_eq!(turn("openai", "m"), r#"[{"role":"assistant", "content":"t\u0074","n":1.10}]"#);
    let rebuilt = r#"[{"role":"assistant","content":"t"}]"#;
    assert_eq!((&*turn("openai", "n"), &*turn("ollama", "m")), (rebuilt, rebuilt));
}

#[test]
fn a_turn_of_another_model_is_rebuilt_with_its_calls() {
    let sent = messages(
        r#"{"role":"assistant","turn":{"provider":"gemini","model":"g","raw":{"parts":[]},"text":"","calls":[
            {"call_id":"c1","tool_name":"look","arguments":{"n":1.10}},{"call_id":"c2","tool_name":"wait","arguments_text":"{\"a"}]}}"#,
    );
    let expected = concat!(
        r#"[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"n\":1.10}"}},"#,
        r#"{"id":"c2","type":"function","function":{"name":"wait","arguments":"{\"a"}}]}]"#
    );
    assert_eq!(sent, expected);
}

#[test]
fn calls_that_were_found_in_the_text_of_an_own_turn_become_calls() {
    let sent = messages(
        r#"{"role":"assistant","turn":{"provider":"openai","model":"m","text":"Hm.","raw":{"role":"assistant","content":"Hm. function_call: name=look args={}"},
            "calls":[{"call_id":"call_1","tool_name":"look","arguments":{}}]}},{"role":"tool","call_id":"call_1","content":"x"}"#,
    );
    assert!(sent.starts_with(r#"[{"role":"assistant","content":"Hm.","tool_calls":[{"id":"call_1","#), "{sent}");
}

#[test]
fn images_of_results_follow_when_every_call_has_its_result() {
    let call = |id: &str| format!(r#"{{"call_id":"{id}","tool_name":"shot_{id}","arguments":{{}}}}"#);
    let image = r#"{"image_base64":"AA==","mime":"image/png"}"#;
    let sent = messages(&format!(
        r#"{{"role":"assistant","turn":{{"text":"","calls":[{},{}]}}}},{{"role":"tool","call_id":"a","content":[{image}]}},
        {{"role":"tool","call_id":"b","content":[{{"text":"no"}},{{"text":"way"}}],"is_error":true}},{{"role":"user","content":[{{"text":"see"}},{image}]}}"#,
        call("a"),
        call("b")
    ));
    let url = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}"#;
    let expected = format!(
        r#"{{"role":"tool","tool_call_id":"a","content":"The result is the image in the next message."}},{{"role":"tool","tool_call_id":"b","content":"Error: no\nway"}},{{"role":"user","content":[{{"type":"text","text":"The image of the result of shot_a:"}},{url},{{"type":"text","text":"see"}},{url}]}}]"#
    );
    assert!(sent.ends_with(&expected), "{sent}");
}

#[test]
fn an_image_that_was_not_read_is_an_error() {
    let request = request(r#""messages":[{"role":"user","content":[{"image":"a.png"}]}]"#);
    assert!(ChatServer::OPENAI.encode(&request, "m").unwrap_err().contains("a.png"));
}

#[test]
fn the_body_of_a_continued_conversation_begins_with_the_same_bytes() {
    let history = [
        r#"{"role":"user","content":"a"}"#,
        r#"{"role":"assistant","turn":{"text":"","calls":[{"call_id":"c","tool_name":"look","arguments":{}}]}}"#,
        r#"{"role":"tool","call_id":"c","content":[{"image_base64":"AA==","mime":"image/png"}]}"#,
        r#"{"role":"assistant","turn":{"text":"b","provider":"openai","model":"m","raw":{"content":"b"}}}"#,
        r#"{"role":"user","content":"c"}"#,
    ];
    let sent = |count: usize| {
        let messages = history[..count].join(",");
        body(&ChatServer::OPENAI, &format!(r#""system":"s","messages":[{messages}],{TOOLS}"#))
    };
    for count in 1..history.len() {
        let (one, next) = (sent(count), sent(count + 1));
        assert!(next.starts_with(one.strip_suffix("]}").unwrap()), "{one}\n{next}");
        assert_eq!(one, sent(count));
    }
}

fn failure(status: u16, headers: &[(&str, &str)], body: &str) -> (Kind, Retry, Option<String>) {
    let find = |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let failure = ChatServer::OPENAI.failure(status, &find, body.as_bytes());
    assert!(!failure.what.message.is_empty());
    (failure.what.kind, failure.retry, failure.what.code)
}

#[test]
fn the_error_decides_whether_to_retry() {
    let error = |message: &str, kind: &str, code: &str| {
        format!(r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":{code}}}}}"#)
    };
    let limit = error("Rate limit reached", "rate_limit_error", r#""rate_limit_exceeded""#);
    let after = Retry::After(Duration::from_secs(7));
    assert_eq!(
        failure(429, &[("retry-after", "7")], &limit),
        (Kind::RateLimited, after, Some("rate_limit_exceeded".into()))
    );
    for code in ["insufficient_quota", "credit_balance_exhausted"] {
        let body = error("m", code, &format!("{code:?}"));
        let headers = [("retry-after", "7"), ("x-should-retry", "true")];
        assert_eq!(failure(429, &headers, &body), (Kind::Quota, Retry::Never, Some(code.into())));
    }
    for (status, body, kind, retry, code) in [
        (429, error("slow", "insufficient_quota", "null"), Kind::Quota, Retry::Never, Some("insufficient_quota")),
        (
            400,
            error("m", "invalid_request_error", r#""context_length_exceeded""#),
            Kind::Overflow,
            Retry::Never,
            Some("context_length_exceeded"),
        ),
        (
            400,
            error("m", "exceed_context_size_error", "400"),
            Kind::Overflow,
            Retry::Never,
            Some("exceed_context_size_error"),
        ),
        (
            400,
            error("This model's maximum context length is 8 tokens.", "BadRequestError", "400"),
            Kind::Overflow,
            Retry::Never,
            Some("BadRequestError"),
        ),
        (
            401,
            error("m", "invalid_request_error", r#""invalid_api_key""#),
            Kind::Auth,
            Retry::Never,
            Some("invalid_api_key"),
        ),
        (403, "<html>".to_owned(), Kind::Auth, Retry::Never, None),
        (402, error("m", "x", "402"), Kind::Quota, Retry::Never, Some("x")),
        (
            503,
            error("Loading model", "unavailable_error", "503"),
            Kind::Unavailable,
            Retry::After(Duration::from_secs(2)),
            Some("unavailable_error"),
        ),
        (
            529,
            error("Overloaded", "overloaded_error", "null"),
            Kind::Unavailable,
            Retry::Backoff,
            Some("overloaded_error"),
        ),
        (502, "Bad gateway".to_owned(), Kind::Unavailable, Retry::Backoff, None),
        (404, r#"{"error":"model not found"}"#.to_owned(), Kind::BadRequest, Retry::Never, None),
        (400, r#"{"error":{"message":"m","code":400}}"#.to_owned(), Kind::BadRequest, Retry::Never, Some("400")),
    ] {
        assert_eq!(failure(status, &[], &body), (kind, retry, code.map(str::to_owned)), "{body}");
    }
}

#[test]
fn an_error_with_status_200_has_the_status_in_its_code() {
    let limited = r#"{"error":{"message":"upstream is limited, try again in 3s","code":429}}"#;
    let answer = ChatServer::OPENROUTER.failure(200, &|_| None, limited.as_bytes());
    assert_eq!(
        (answer.what.kind, answer.retry, answer.is_busy),
        (Kind::RateLimited, Retry::After(Duration::from_secs(3)), true)
    );
    let reset = r#"{"error":{"message":"x","code":429,"metadata":{"headers":{"X-RateLimit-Reset":"1795374060000"}}}}"#;
    let date = |name: &str| (name == "date").then(|| "Sun, 22 Nov 2026 19:00:57 GMT".to_owned());
    let answer = ChatServer::OPENROUTER.failure(429, &date, reset.as_bytes());
    assert_eq!(answer.retry, Retry::After(Duration::from_secs(3)));
}

#[test]
fn a_content_in_parts_is_text_and_reasoning() {
    let delta = |content: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{"content":{content}}}}}]}}"#);
    let stream = events(&[
        &delta(r#"[{"type":"thinking","thinking":[{"type":"text","text":"I "}]}]"#),
        &delta(r#"[{"type":"thinking","thinking":[{"type":"text","text":"think"}]}]"#),
        &delta(r#"[{"type":"text","text":"Hello "}]"#),
        &delta(r#""friend.""#),
        r#"{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    let turn = answer(&ChatServer::VLLM, &short(), &stream).turn.unwrap();
    assert_eq!((&*turn.text, &*turn.reasoning), ("Hello friend.", "I think"));
    assert!(turn.raw.get().contains(r#"{"type":"text","text":"Hello friend."}]"#), "{}", turn.raw);
}

#[test]
fn a_turn_that_comes_as_a_whole_is_the_same_for_every_provider() {
    let whole: [(&dyn Provider, &str); 4] = [
        (
            &ChatServer::VLLM,
            r#"{"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}"#,
        ),
        (
            &crate::Responses,
            r#"{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":3}}"#,
        ),
        (
            &crate::Anthropic,
            r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3}}"#,
        ),
        (
            &crate::Gemini,
            r#"[{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3}}]"#,
        ),
    ];
    for (provider, body) in whole {
        let data = provider.events_of(body).unwrap();
        let data: Vec<&str> = data.iter().map(String::as_str).collect();
        let answer = answer(provider, &short(), &events(&data));
        let turn = answer.turn.unwrap();
        assert_eq!((&*turn.text, turn.usage.input), ("Hi", Some(3)), "{}", provider.name());
        assert!(!answer.tokens.is_empty(), "{}", provider.name());
        assert!(provider.events_of("<html>").is_none() && provider.events_of("{}").is_none(), "{}", provider.name());
    }
}

#[test]
fn counts_are_read_under_the_names_of_every_server() {
    for (usage, cached, cost) in [
        (r#""usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}"#, Some(4), None),
        (r#""usage":{"prompt_tokens":9,"prompt_cache_hit_tokens":4}"#, Some(4), None),
        (r#""usage":{"prompt_tokens":9,"cached_tokens":4}"#, Some(4), None),
        (r#""usage":{"prompt_tokens":9,"cost":0.0123}"#, None, Some(0.0123)),
    ] {
        for event in
            [format!(r#"{{"choices":[],{usage}}}"#), format!(r#"{{"choices":[{{"index":0,"delta":{{}},{usage}}}]}}"#)]
        {
            let counted = answer(&ChatServer::VLLM, &short(), &events(&[&event])).usage;
            assert_eq!((counted.input, counted.cached, counted.cost), (Some(9), cached, cost), "{event}");
        }
    }
}
