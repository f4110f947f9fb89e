use super::Anthropic;
use crate::tests::{Answer, answer, body, calls, events, request, short};
use crate::{Failure, Provider, Retry, Token};
use pipewright_record::{Kind, Stop, Usage};
use proptest::prelude::*;
use std::time::Duration;

const START: &str = r#"{"type":"message_start","message":{"content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":2,"cache_read_input_tokens":30,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const USER: &str = r#"{"role":"user","content":"go"}"#;

fn read(stream: &str) -> Answer {
    answer(&Anthropic, &short(), stream)
}

fn begin(index: u64, block: &str) -> String {
    format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
}

fn delta(index: u64, delta: &str) -> String {
    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
}

fn end(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":{reason},"stop_sequence":null}},"usage":{{"output_tokens":9}}}}"#
    )
}

fn whole(blocks: &[String], reason: &str) -> Answer {
    let end = end(&format!("{reason:?}"));
    let middle = blocks.iter().map(|block| &**block);
    read(&events(&[START].into_iter().chain(middle).chain([&*end, STOP]).collect::<Vec<_>>()))
}

fn strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(|text| &**text).collect()
}

fn failure(data: &[&str]) -> Failure {
    read(&events(data)).turn.unwrap_err()
}

#[test]
fn an_empty_stop_reason_is_ignored() {
    let answer = read(&events(&[START, &end(r#""""#), STOP]));
    assert_eq!(answer.turn.unwrap_err().what.kind, Kind::Protocol);
}

#[test]
fn a_streamed_answer_becomes_the_unstreamed_turn() {
    let answer = read(include_str!("../../../../tests/fixtures/models/anthropic_tool.sse"));
    let turn = answer.turn.unwrap();
    let raw = turn.raw.get().replace(&turn.calls[0].call_id, "toolu_aoZxal-zslYvfz31");
    let unstreamed = include_str!("../../../../tests/fixtures/models/anthropic_tool.json");
    assert!(unstreamed.contains(&format!(r#""content":{raw},"#)), "{raw}");
    assert_eq!((turn.stop, &*turn.text, &*turn.reasoning), (Stop::Call, "I look at the page.", "I should look first."));
    let tokens = [Token::Reasoning("I should look first.".to_owned()), Token::Text("I look at the page.".to_owned())];
    assert_eq!((answer.tokens, answer.is_complete), (tokens.to_vec(), true));
    let two = read(include_str!("../../../../tests/fixtures/models/anthropic_two_calls.sse")).turn.unwrap();
    assert_eq!(
        calls(&two),
        concat!(
            r#"{"call_id":"toolu__Py5pqGMnJdVFZR8","tool_name":"browser_wait","arguments":{"ms":100}},"#,
            r#"{"call_id":"toolu_2G8IZsI4HE0AaeK-","tool_name":"browser_screenshot","arguments":{}}"#
        )
    );
}

#[test]
fn blocks_keep_unknown_fields_and_every_digit() {
    let blocks = [
        begin(0, r#"{"type":"redacted_thinking","data":"R","new":1.10}"#),
        begin(1, r#"{"type":"text","text":""}"#),
        begin(2, r#"{"type":"tool_use","id":"t","name":"x","input":{},"caller":{"type":"direct"}}"#),
        delta(2, r#"{"type":"input_json_delta","partial_json":""}"#),
        delta(2, r#"{"type":"input_json_delta","partial_json":"{\n \"n\": 1."}"#),
        delta(2, r#"{"type":"input_json_delta","partial_json":"10}"}"#),
        delta(2, r#"{"type":"new_delta"}"#),
        r#"{"type":"new_event"}"#.to_owned(),
        r#"{"type":"ping"}"#.to_owned(),
    ];
    let turn = whole(&blocks, "tool_use").turn.unwrap();
    assert_eq!(
        turn.raw.get(),
        concat!(
            r#"[{"type":"redacted_thinking","data":"R","new":1.10},"#,
            r#"{"type":"tool_use","id":"t","name":"x","input":{  "n": 1.10},"caller":{"type":"direct"}}]"#
        )
    );
    assert_eq!(calls(&turn), r#"{"call_id":"t","tool_name":"x","arguments":{  "n": 1.10}}"#);
}

#[test]
fn arguments_that_are_not_an_object_are_kept_as_text() {
    let blocks = [
        begin(0, r#"{"type":"tool_use","id":"t","name":"x","input":{}}"#),
        delta(0, r#"{"type":"input_json_delta","partial_json":"{\"a\":"}"#),
    ];
    let turn = whole(&blocks, "tool_use").turn.unwrap();
    assert_eq!(turn.stop, Stop::Call);
    assert_eq!(calls(&turn), r#"{"call_id":"t","tool_name":"x","arguments_text":"{\"a\":"}"#);
    assert_eq!(turn.raw.get(), r#"[{"type":"tool_use","id":"t","name":"x","input":{"INVALID_JSON":"{\"a\":"}}]"#);
}

proptest! {
    #[test]
    fn any_split_of_the_deltas_gives_the_same_turn(thoughts in prop::collection::vec(".{0,4}", 1..6), texts in prop::collection::vec(".{1,4}", 1..6), cuts in prop::collection::vec(0..30usize, 0..5)) {
        let input = r#"{"text":"äöü","n":[1.10,{}]}"#;
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| input.is_char_boundary(*cut)).collect();
        cuts.extend([0, input.len()]);
        cuts.sort_unstable();
        let inputs: Vec<&str> = cuts.windows(2).map(|cut| &input[cut[0]..cut[1]]).collect();
        let of = |kind: &str, key: &str, index: u64, pieces: &[&str]| -> Vec<String> {
            pieces.iter().map(|piece| delta(index, &format!(r#"{{"type":"{kind}","{key}":{}}}"#, pipewright_record::json::quoted(piece)))).collect()
        };
        let turn = |thoughts: &[&str], texts: &[&str], inputs: &[&str]| {
            let mut blocks = vec![begin(0, r#"{"type":"thinking","thinking":"","signature":""}"#)];
            blocks.extend(of("thinking_delta", "thinking", 0, thoughts));
            blocks.extend(of("signature_delta", "signature", 0, &["S"]));
            blocks.push(begin(1, r#"{"type":"text","text":""}"#));
            blocks.extend(of("text_delta", "text", 1, texts));
            blocks.push(begin(2, r#"{"type":"tool_use","id":"t","name":"x","input":{}}"#));
            blocks.extend(of("input_json_delta", "partial_json", 2, inputs));
            whole(&blocks, "tool_use").turn.unwrap()
        };
        let split = turn(&strs(&thoughts), &strs(&texts), &inputs);
        let joined = turn(&[&thoughts.concat()], &[&texts.concat()], &[input]);
        prop_assert_eq!(split.raw.get(), joined.raw.get());
        prop_assert_eq!((&split.text, &split.reasoning), (&joined.text, &joined.reasoning));
        prop_assert_eq!(calls(&split), calls(&joined));
    }
}

#[test]
fn counts_are_cumulative_and_input_includes_the_cache() {
    let last = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"output_tokens":9,"output_tokens_details":{"thinking_tokens":4}}}"#;
    let answer = read(&events(&[START, last]));
    assert_eq!(
        answer.usage,
        Usage { input: Some(42), output: Some(9), cached: Some(30), reasoning: Some(4), cost: None }
    );
    assert_eq!(answer.turn.unwrap_err(), Failure::cut());
    assert_eq!(read("").usage, Usage::default());
}

#[test]
fn the_stop_reason_sets_the_stop() {
    let text = [begin(0, r#"{"type":"text","text":"a"}"#)];
    for (reason, stop) in [
        ("end_turn", Stop::End),
        ("stop_sequence", Stop::End),
        ("tool_use", Stop::End),
        ("pause_turn", Stop::End),
        ("max_tokens", Stop::Length),
        ("model_context_window_exceeded", Stop::Length),
        ("refusal", Stop::Refusal),
    ] {
        assert_eq!(whole(&text, reason).turn.unwrap().stop, stop, "{reason}");
    }
    assert_eq!(failure(&[START, &end("null"), STOP]).what.kind, Kind::Protocol);
}

#[test]
fn a_failure_in_the_stream_ends_it() {
    let error =
        |kind: &str| failure(&[START, &format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"m"}}}}"#)]);
    for (name, kind, retry) in [
        ("overloaded_error", Kind::Unavailable, Retry::Backoff),
        ("api_error", Kind::Unavailable, Retry::Backoff),
        ("rate_limit_error", Kind::RateLimited, Retry::Backoff),
        ("authentication_error", Kind::Auth, Retry::Never),
        ("invalid_request_error", Kind::BadRequest, Retry::Never),
    ] {
        let failure = error(name);
        assert_eq!((failure.what.kind, failure.retry), (kind, retry), "{name}");
        assert_eq!((&*failure.what.message, failure.what.code.as_deref()), ("m", Some(name)));
    }
    for data in [
        &["{"][..],
        &[START, r#"{"type":"content_block_start"}"#],
        &[&delta(0, r#"{"type":"text_delta","text":"a"}"#)],
        &[&begin(0, r#"{"type":"text","text":""}"#), &begin(0, r#"{"type":"text","text":""}"#)],
        &[&begin(0, r#"{"type":"tool_use"}"#), &end("\"tool_use\""), STOP],
    ] {
        assert_eq!(failure(data).what.kind, Kind::Protocol, "{data:?}");
    }
}

#[test]
fn an_answer_without_a_stream_is_a_failure() {
    let read = |status: u16, error: &str, after: Option<&str>| {
        let headers = |name: &str| after.filter(|_| name == "retry-after").map(str::to_owned);
        let body = format!(r#"{{"type":"error","error":{error},"request_id":"r"}}"#);
        let failure = Anthropic.failure(status, &headers, body.as_bytes());
        (failure.what.kind, failure.retry, failure.what.code.unwrap_or_default())
    };
    let of = |kind: &str, message: &str| format!(r#"{{"type":"{kind}","message":"{message}"}}"#);
    let spent = r#"{"type":"rate_limit_error","message":"m","details":{"error_code":"enforced_spend_limit_reached"}}"#;
    let ramp = r#"{"type":"rate_limit_error","message":"m","details":{"error_code":"ramp_limit_exceeded"}}"#;
    let seven = Retry::After(Duration::from_secs(7));
    assert_eq!(read(429, &of("rate_limit_error", ""), Some("7")).1, seven);
    assert_eq!(read(429, ramp, Some("7")), (Kind::RateLimited, seven, "ramp_limit_exceeded".to_owned()));
    assert_eq!(read(429, spent, None), (Kind::Quota, Retry::Never, "enforced_spend_limit_reached".to_owned()));
    assert_eq!(read(402, &of("billing_error", ""), None).0, Kind::Quota);
    let balance = "Your credit balance is too low to access the Anthropic API.";
    assert_eq!(read(400, &of("invalid_request_error", balance), None).0, Kind::Quota);
    let long = "prompt is too long: 213462 tokens > 200000 maximum";
    assert_eq!(read(400, &of("invalid_request_error", long), None).0, Kind::Overflow);
    assert_eq!(read(401, &of("authentication_error", ""), None).0, Kind::Auth);
    assert_eq!(read(529, &of("overloaded_error", ""), None).0, Kind::Unavailable);
    let bound = "messages.1.content.0: Invalid `signature` in `thinking` block.";
    assert_eq!(read(400, &of("invalid_request_error", bound), None).0, Kind::BadRequest);
}

#[test]
fn a_request_has_everything_in_the_order_that_keeps_the_prefix() {
    let rest = r#""tools":[{"name":"x","description":"d","input_schema":{"n":1.10}},{"name":"y"}],"tool_choice":"any","max_output_tokens":9,"schema":{"a":1.0}"#;
    let image = r#"{"role":"user","content":[{"text":"go"},{"text":""},{"image_base64":"AA==","mime":"image/png"}]}"#;
    assert_eq!(
        body(&Anthropic, &format!(r#""system":"S","messages":[{image}],{rest}"#)),
        concat!(
            r#"{"model":"m","stream":true,"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"#,
            r#""tools":[{"name":"x","description":"d","input_schema":{"n":1.10}},{"name":"y","description":"","input_schema":{"type":"object"}}],"#,
            r#""messages":[{"role":"user","content":[{"type":"text","text":"go"},"#,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="},"cache_control":{"type":"ephemeral"}}]}],"#,
            r#""max_tokens":9,"tool_choice":{"type":"any"},"output_config":{"format":{"type":"json_schema","schema":{"a":1.0}}}}"#
        )
    );
    let tools = body(&Anthropic, &format!(r#""messages":[{USER}],"tools":[{{"name":"x"}},{{"name":"y"}}]"#));
    assert!(
        tools.contains(r#""name":"y","description":"","input_schema":{"type":"object"},"cache_control":{"#),
        "{tools}"
    );
    assert!(Anthropic.encode(&short(), "m").unwrap().ends_with(r#"],"max_tokens":32000}"#));
}

#[test]
fn an_own_turn_is_sent_back_unchanged_and_the_prefix_stays() {
    let raw = r#"[{"type":"thinking","thinking":"t","signature":"S"},{"type":"tool_use","id":"a","name":"x","input":{"n":1.10}},{"type":"tool_use","id":"b","name":"y","input":{}}]"#;
    let turn = format!(
        r#"{{"role":"assistant","turn":{{"provider":"anthropic","model":"m","raw":{raw},"calls":[{{"call_id":"a","tool_name":"x","arguments":{{}}}},{{"call_id":"b","tool_name":"y","arguments":{{}}}}]}}}}"#
    );
    let results = r#"{"role":"tool","call_id":"a","content":"yes"},{"role":"tool","call_id":"b","content":[{"text":"no"},{"image_base64":"AA==","mime":"image/png"}],"is_error":true}"#;
    let mut messages = format!("{USER},{turn},{results},{USER}");
    let first = body(&Anthropic, &format!(r#""messages":[{messages}]"#));
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    assert_eq!(
        first.replace(mark, ""),
        format!(
            concat!(
                r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":[{{"type":"text","text":"go"}}]}},{{"role":"assistant","content":{raw}}},"#,
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":[{{"type":"text","text":"yes"}}]}},"#,
                r#"{{"type":"tool_result","tool_use_id":"b","content":[{{"type":"text","text":"no"}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"AA=="}}}}],"is_error":true}},"#,
                r#"{{"type":"text","text":"go"}}]}}],"max_tokens":32000}}"#
            ),
            raw = raw
        )
    );
    let mut before = first.replace(mark, "");
    let place = format!(r#"{{"type":"text","text":"go"{mark}}}]}}],"max_tokens""#);
    assert!(first.contains(&place), "{first}");
    for _ in 0..3 {
        messages = format!("{messages},{turn},{results}");
        let body = body(&Anthropic, &format!(r#""messages":[{messages}]"#));
        assert_eq!(body.matches(mark).count(), 2, "{body}");
        let now = body.replace(mark, "");
        assert!(now.starts_with(before.strip_suffix(r#"],"max_tokens":32000}"#).unwrap()), "{now}");
        before = now;
    }
}

#[test]
fn a_foreign_turn_is_rebuilt_with_valid_ids() {
    let turn = r#"{"provider":"openai","model":"m","raw":{},"text":"t","calls":[{"call_id":"functions.x:0","tool_name":"x","arguments_text":"{"}]}"#;
    let body = body(
        &Anthropic,
        &format!(
            r#""messages":[{{"role":"assistant","turn":{turn}}},{{"role":"tool","call_id":"functions.x:0","content":""}},{{"role":"assistant","turn":{{}}}}]"#
        ),
    );
    assert!(
        body.contains(concat!(
            r#""messages":[{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"functions_x_0","name":"x","input":{"INVALID_JSON":"{"}}]},"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_x_0","cache_control":{"type":"ephemeral"}}]}],"#
        )),
        "{body}"
    );
}

#[test]
fn an_invalid_request_is_an_error() {
    let image = request(r#""messages":[{"role":"user","content":[{"image":"a.png"}]}]"#);
    assert_eq!(Anthropic.encode(&image, "m").unwrap_err(), "the image a.png was not read");
}
