//! The body of requests.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::tests::body;

const IMAGE: &str = r#"{"image_base64":"AA==","mime":"image/png"}"#;

#[test]
fn a_request_has_the_requested_fields_and_stores_nothing() {
    let fields = r#""system":"S","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"look","description":"d","input_schema":{"x":1.10}}],
        "tool_choice":"none","max_output_tokens":9,"schema":{"a":1.0}"#;
    let expected = concat!(
        r#"{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":9,"#,
        r#""text":{"format":{"type":"json_schema","name":"answer","strict":false,"schema":{"a":1.0}}},"#,
        r#""tools":[{"type":"function","name":"look","description":"d","parameters":{"x":1.10},"strict":false}],"tool_choice":"none","#,
        r#""instructions":"S","input":[{"role":"user","content":"hi"}]}"#
    );
    assert_eq!(body(&Responses, fields), expected);
}

/// The input of a request with these messages.
fn input(messages: &str) -> String {
    let body = body(&Responses, &format!(r#""messages":[{messages}]"#));
    body.split_once(r#""input":"#).unwrap().1.strip_suffix('}').unwrap().to_owned()
}

#[test]
fn the_items_of_an_own_turn_are_sent_back_unchanged() {
    let items = r#"{"type":"reasoning","id":"r","encrypted_content":"x","n":1.10},{"type":"message", "phase":"commentary"},{"type":"function_call","call_id":"c","name":"look","arguments":"{}"}"#;
    let turn = |model: &str| {
        input(&format!(
            r#"{{"role":"assistant","turn":{{"provider":"openai-responses","model":"{model}","text":"t","raw":[{items}],"calls":[{{"call_id":"c","tool_name":"look","arguments":{{"n":1.10}}}}]}}}}"#
        ))
    };
    assert_eq!(turn("m"), format!("[{items}]"));
    let rebuilt = r#"[{"role":"assistant","content":"t"},{"type":"function_call","call_id":"c","name":"look","arguments":"{\"n\":1.10}"}]"#;
    assert_eq!(turn("another"), rebuilt);
    let in_text = r#"{"role":"assistant","turn":{"provider":"openai-responses","model":"m","text":"","raw":[{"type":"message"}],"calls":[{"call_id":"c","tool_name":"look","arguments":{}}]}}"#;
    assert_eq!(input(in_text), r#"[{"type":"function_call","call_id":"c","name":"look","arguments":"{}"}]"#);
}

#[test]
fn results_hold_text_and_images() {
    let result = |content: &str, is_error: bool| {
        let sent = input(&format!(r#"{{"role":"tool","call_id":"c","content":{content},"is_error":{is_error}}}"#));
        sent.strip_prefix(r#"[{"type":"function_call_output","call_id":"c","output":"#)
            .unwrap()
            .strip_suffix("}]")
            .unwrap()
            .to_owned()
    };
    let image = r#"{"type":"input_image","image_url":"data:image/png;base64,AA=="}"#;
    assert_eq!(result(r#""ok""#, false), r#""ok""#);
    assert_eq!(result(r#""no""#, true), r#""Error: no""#);
    assert_eq!(result("[]", false), r#""""#);
    assert_eq!(
        result(&format!(r#"[{{"text":"a"}},{IMAGE}]"#), false),
        format!(r#"[{{"type":"input_text","text":"a"}},{image}]"#)
    );
    assert_eq!(result(&format!("[{IMAGE}]"), true), format!(r#"[{{"type":"input_text","text":"Error:"}},{image}]"#));
}

#[test]
fn the_body_of_a_continued_conversation_begins_with_the_same_bytes() {
    let history = [
        r#"{"role":"user","content":"a"}"#,
        r#"{"role":"assistant","turn":{"text":"","calls":[{"call_id":"c","tool_name":"look","arguments":{}}]}}"#,
        r#"{"role":"tool","call_id":"c","content":"r"}"#,
        r#"{"role":"user","content":"c"}"#,
    ];
    let sent = |count: usize| body(&Responses, &format!(r#""system":"s","messages":[{}]"#, history[..count].join(",")));
    for count in 1..history.len() {
        let (one, next) = (sent(count), sent(count + 1));
        assert!(next.starts_with(one.strip_suffix("]}").unwrap()), "{one}\n{next}");
    }
}
