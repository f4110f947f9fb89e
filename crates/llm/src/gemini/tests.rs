use super::Gemini;
use crate::tests::{Answer, answer, body, calls, events, request, short};
use crate::{Failure, Provider, Retry, Token};
use pipewright_record::{Kind, ModelTurn, Stop, Usage};
use proptest::prelude::*;

const USER: &str = r#"{"role":"user","content":"go"}"#;

fn read(stream: &str) -> Answer {
    answer(&Gemini, &short(), stream)
}

fn turn(parts: &[&str]) -> ModelTurn {
    let mut events: Vec<String> = parts.iter().map(|part| candidate(part, "")).collect();
    events.push(candidate("", r#","finishReason":"STOP""#));
    read(&events.concat()).turn.unwrap()
}

fn candidate(parts: &str, more: &str) -> String {
    events(&[&format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}}{more},"index":0}}]}}"#)])
}

fn failure(stream: &str) -> Failure {
    read(stream).turn.unwrap_err()
}

#[test]
fn an_empty_finish_reason_is_ignored() {
    let begun = candidate(r#"{"text":"Transfer 100"}"#, r#","finishReason":"""#);
    assert_eq!(failure(&begun), Failure::cut());
    let end = candidate("", r#","finishReason":"MAX_TOKENS""#);
    assert_eq!(read(&[&*end, &*begun].concat()).turn.unwrap().stop, Stop::Length);
}

#[test]
fn the_name_of_a_model_is_one_segment_of_the_path() {
    for (name, segment) in [
        ("gemini-3.1_a~b", "gemini-3.1_a~b"),
        ("models/gemini-3", "gemini-3"),
        ("models/models/x", "models%2Fx"),
        ("../../x", "..%2F..%2Fx"),
        ("a?key=1", "a%3Fkey%3D1"),
        ("a#b%2e", "a%23b%252e"),
        ("..", ".."),
    ] {
        assert_eq!(Gemini.path(name), format!("/models/{segment}:streamGenerateContent?alt=sse"));
    }
}

#[test]
fn a_streamed_answer_becomes_the_unstreamed_turn() {
    let answer = read(include_str!("../../../../tests/fixtures/models/gemini_tool.sse"));
    let turn = answer.turn.unwrap();
    let unstreamed = include_str!("../../../../tests/fixtures/models/gemini_tool.json");
    let raw = turn.raw.get();
    assert!(unstreamed.contains(&format!(r#""content":{raw},"#)), "{raw}");
    assert_eq!((turn.stop, &*turn.text, &*turn.reasoning), (Stop::Call, "I look at the page.", "I should look first."));
    assert_eq!(
        calls(&turn),
        r#"{"call_id":"call_1","tool_name":"browser_list_interactives","arguments":{"limit":30}}"#
    );
    let tokens = [Token::Reasoning("I should look first.".to_owned()), Token::Text("I look at the page.".to_owned())];
    assert_eq!(answer.tokens, tokens);
}

#[test]
fn every_call_of_a_turn_has_an_id() {
    let stream = include_str!("../../../../tests/fixtures/models/gemini_two_calls.sse");
    let before = request(
        r#""messages":[{"role":"assistant","turn":{"calls":[{"call_id":"call_1","tool_name":"x","arguments":{}}]}}]"#,
    );
    let turn = answer(&Gemini, &before, stream).turn.unwrap();
    let ids: Vec<&str> = turn.calls.iter().map(|call| &*call.call_id).collect();
    assert_eq!(ids, ["call_2", "call_3"]);
    let own =
        read(&candidate(r#"{"functionCall":{"id":"fc1","name":"x"}}"#, r#","finishReason":"STOP""#)).turn.unwrap();
    assert_eq!(calls(&own), r#"{"call_id":"fc1","tool_name":"x","arguments":{}}"#);
}

#[test]
fn signed_parts_and_unknown_fields_are_kept_as_they_came() {
    let signed = r#"{"functionCall":{"id":"a","name":"x","args":{"n":1.10}},"thoughtSignature":"S\u003d"}"#;
    let last = r#"{"text":"","thoughtSignature":"T"}"#;
    let unknown = r#"{"executableCode":{"code":"1"},"new":[1e2]}"#;
    let turn =
        turn(&[r#"{"text":"a"}"#, r#"{"text":"b","thoughtSignature":"U"}"#, r#"{"text":"c"}"#, signed, unknown, last]);
    let parts = [r#"{"text":"a"}"#, r#"{"text":"b","thoughtSignature":"U"}"#, r#"{"text":"c"}"#, signed, unknown, last];
    assert_eq!(turn.raw.get(), format!(r#"{{"role":"model","parts":[{}]}}"#, parts.join(",")));
    assert_eq!((turn.stop, &*turn.text), (Stop::Call, "abc"));
}

proptest! {
    #[test]
    fn any_split_of_the_text_gives_the_same_turn(thoughts in prop::collection::vec(".{0,4}", 0..6), texts in prop::collection::vec(".{0,4}", 0..6)) {
        let part = |text: &String, is_thought: bool| match is_thought {
            true => format!(r#"{{"text":{},"thought":true}}"#, pipewright_record::json::quoted(text)),
            false => format!(r#"{{"text":{}}}"#, pipewright_record::json::quoted(text)),
        };
        let split: Vec<String> = thoughts.iter().map(|text| part(text, true)).chain(texts.iter().map(|text| part(text, false))).collect();
        let split = turn(&split.iter().map(|part| &**part).collect::<Vec<_>>());
        let whole = turn(&[&part(&thoughts.concat(), true), &part(&texts.concat(), false)]);
        prop_assert_eq!(split.raw.get(), whole.raw.get());
        prop_assert_eq!((split.text, split.reasoning), (texts.concat(), thoughts.concat()));
    }
}

#[test]
fn counts_are_those_of_the_last_event_and_cover_reasoning() {
    let stream = events(&[
        r#"{"usageMetadata":{"promptTokenCount":9}}"#,
        concat!(
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"#,
            r#""usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3,"thoughtsTokenCount":4,"cachedContentTokenCount":8}}"#
        ),
    ]);
    let answer = read(&stream);
    assert_eq!(
        answer.usage,
        Usage { input: Some(10), output: Some(7), cached: Some(8), reasoning: Some(4), cost: None }
    );
    assert_eq!(answer.turn.unwrap().raw.get(), r#"{"parts":[{"text":"a"}],"role":"model"}"#);
    assert!(!answer.is_complete);
    assert_eq!(read("").usage, Usage::default());
}

#[test]
fn the_finish_reason_sets_the_stop() {
    let stop = |reason: &str| {
        read(&candidate(r#"{"text":"a"}"#, &format!(r#","finishReason":"{reason}","finishMessage":"why""#))).turn
    };
    assert_eq!(stop("STOP").unwrap().stop, Stop::End);
    assert_eq!(stop("MAX_TOKENS").unwrap().stop, Stop::Length);
    for reason in ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "SPII", "BLOCKLIST", "LANGUAGE"] {
        assert_eq!(stop(reason).unwrap().stop, Stop::Refusal, "{reason}");
    }
    for reason in ["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "OTHER", "NEW"] {
        let failure = stop(reason).unwrap_err();
        assert_eq!((failure.what.kind, failure.retry), (Kind::Protocol, Retry::Backoff));
        assert_eq!(failure.what.code.as_deref(), Some(reason));
        assert!(failure.what.message.ends_with("why"), "{failure:?}");
    }
    let blocked = read(&events(&[r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#])).turn.unwrap();
    assert_eq!((blocked.stop, blocked.raw.get()), (Stop::Refusal, r#"{"role":"model","parts":[]}"#));
}

#[test]
fn a_cut_or_unreadable_stream_gives_no_turn() {
    assert_eq!(failure(&candidate(r#"{"text":"a"}"#, "")), Failure::cut());
    assert_eq!(failure(""), Failure::cut());
    for data in [
        "[]",
        "{",
        r#"{"candidates":7}"#,
        r#"{"candidates":[7]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":7}]}}]}"#,
    ] {
        assert_eq!(failure(&events(&[data])).what.kind, Kind::Protocol, "{data}");
    }
    let busy =
        failure(&events(&[r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#]));
    assert_eq!((busy.what.kind, busy.what.code.as_deref()), (Kind::Unavailable, Some("UNAVAILABLE")));
}

#[test]
fn a_request_has_everything_in_the_order_that_keeps_the_prefix() {
    let body = body(
        &Gemini,
        r#""system":"S","messages":[{"role":"user","content":[{"text":"go"},{"text":""},{"image_base64":"AA==","mime":"image/png"}]}],
            "tools":[{"name":"x","description":"d","input_schema":{"type":"object","n":1.10}}],"tool_choice":"any","max_output_tokens":9,"schema":{"a":1.0}"#,
    );
    assert_eq!(
        body,
        concat!(
            r#"{"systemInstruction":{"parts":[{"text":"S"}]},"tools":[{"functionDeclarations":[{"name":"x","description":"d","parametersJsonSchema":{"type":"object","n":1.10}}]}],"#,
            r#""contents":[{"role":"user","parts":[{"text":"go"},{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}],"#,
            r#""toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"#,
            r#""generationConfig":{"maxOutputTokens":9,"responseMimeType":"application/json","responseJsonSchema":{"a":1.0}}}"#
        )
    );
    let body = Gemini.encode(&short(), "gemini-3-flash").unwrap();
    assert_eq!(body, r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#);
}

#[test]
fn an_own_turn_goes_back_unchanged_and_all_results_in_one_content() {
    let raw = r#"{"parts":[{"functionCall":{"name":"x","args":{"n":1.10}},"thoughtSignature":"S"},{"functionCall":{"id":"b","name":"y","args":{}}}],"role":"model"}"#;
    let turn = format!(
        r#"{{"provider":"gemini","model":"m","raw":{raw},"text":"","calls":[{{"call_id":"call_1","tool_name":"x","arguments":{{}}}},{{"call_id":"b","tool_name":"y","arguments":{{}}}}]}}"#
    );
    let first = format!(r#""messages":[{USER},{{"role":"assistant","turn":{turn}}}"#);
    let second = format!(
        r#"{first},{{"role":"tool","call_id":"b","content":[{{"text":"no"}},{{"image_base64":"AA==","mime":"image/png"}}],"is_error":true}},{{"role":"tool","call_id":"call_1","content":"yes"}},{USER}]"#
    );
    let (first, second) = (body(&Gemini, &(first + "]")), body(&Gemini, &second));
    let before = first.strip_suffix("]}").unwrap();
    assert!(before.ends_with(raw), "{before}");
    assert_eq!(
        second.strip_prefix(before).unwrap(),
        concat!(
            r#",{"role":"user","parts":[{"functionResponse":{"name":"x","response":{"output":"yes"}}},"#,
            r#"{"functionResponse":{"id":"b","name":"y","response":{"error":"no"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}}]},"#,
            r#"{"role":"user","parts":[{"text":"go"}]}]}"#
        )
    );
}

#[test]
fn a_foreign_turn_is_rebuilt() {
    let turn = r#"{"provider":"gemini","model":"other","raw":{"parts":[1]},"text":"t","calls":[{"call_id":"a","tool_name":"x","arguments":{"n":1.10}},{"call_id":"b","tool_name":"y","arguments_text":"{"}]}"#;
    let body = body(
        &Gemini,
        &format!(r#""messages":[{{"role":"assistant","turn":{turn}}},{{"role":"tool","call_id":"a","content":"1"}}]"#),
    );
    assert_eq!(
        body,
        concat!(
            r#"{"contents":[{"role":"model","parts":[{"text":"t"},{"functionCall":{"id":"a","name":"x","args":{"n":1.10}},"thoughtSignature":"skip_thought_signature_validator"},"#,
            r#"{"functionCall":{"id":"b","name":"y","args":{"INVALID_JSON":"{"}}}]},"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"a","name":"x","response":{"output":"1"}}}]}]}"#
        )
    );
}

#[test]
fn an_invalid_request_is_an_error() {
    for messages in [
        r#"{"role":"tool","call_id":"a","content":"1"}"#,
        r#"{"role":"user","content":[{"image":"a.png"}]}"#,
        r#"{"role":"assistant","turn":{"provider":"gemini","model":"m","raw":7}}"#,
    ] {
        assert!(Gemini.encode(&request(&format!(r#""messages":[{messages}]"#)), "m").is_err(), "{messages}");
    }
}

#[test]
fn a_turn_without_parts_is_dropped() {
    for turn in
        [r#"{"provider":"gemini","model":"m","raw":{"role":"model","parts":[]}}"#, r#"{"provider":"x","text":""}"#]
    {
        let messages = format!(r#""messages":[{USER},{{"role":"assistant","turn":{turn}}}]"#);
        assert_eq!(body(&Gemini, &messages), r#"{"contents":[{"role":"user","parts":[{"text":"go"}]}]}"#);
    }
}
