//! From streamed answers to turns.
#![allow(clippy::unwrap_used)]

use crate::tests::{Answer, answer, calls, events, short};
use crate::{Failure, Responses, Retry, Token};
use pipewright_record::{Kind, ModelTurn, Stop, Usage};
use proptest::prelude::*;
use std::time::Duration;

const TOOL: &str = include_str!("../../../../../tests/fixtures/models/openai_responses_tool.sse");

fn shown(answer: &Answer) -> (String, String) {
    let (mut text, mut reasoning) = (String::new(), String::new());
    for token in &answer.tokens {
        match token {
            Token::Text(more) => text += more,
            Token::Reasoning(more) => reasoning += more,
        }
    }
    (text, reasoning)
}

fn read(stream: &str) -> Result<ModelTurn, Failure> {
    answer(&Responses, &short(), stream).turn
}

/// A stream with these finished items and this last event.
fn stream(items: &[&str], last: &str) -> String {
    let done = |(at, item): (usize, &&str)| {
        format!(r#"{{"type":"response.output_item.done","output_index":{at},"item":{item}}}"#)
    };
    // Not in order.
    let mut data: Vec<String> = items.iter().enumerate().map(done).rev().collect();
    data.push(last.to_owned());
    events(&data.iter().map(String::as_str).collect::<Vec<_>>())
}

const COMPLETED: &str = r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#;

#[test]
fn arguments_that_an_item_does_not_have_are_not_left_out() {
    let item = |arguments: &str| {
        format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"function_call","call_id":"a","name":"x"{arguments}}}}}"#
        )
    };
    let given = |event: &str, at: &str| format!(r#"{{"type":"response.function_call_arguments.{event}"{at}}}"#);
    let end = |kind: &str, status: &str| format!(r#"{{"type":"response.{kind}","response":{{"status":"{status}"}}}}"#);
    let completed = end("completed", "completed");
    let turn = |data: &[&str]| answer(&Responses, &short(), &events(data)).turn;
    let done = given("done", r#","output_index":0,"arguments":"{\"n\":1}""#);
    let no_index = given("done", r#","arguments":"{\"n\":1}""#);
    let delta = given("delta", r#","output_index":0,"delta":"{\"n\":1}""#);
    let other = given("done", r#","output_index":1,"arguments":"{\"n\":1}""#);
    let whole = item(r#","arguments":"{\"n\":1}""#);
    for empty in ["", r#","arguments":"""#, r#","arguments":null"#, r#","arguments":"{}""#] {
        for event in [&done, &no_index, &delta, &other] {
            assert_eq!(turn(&[event, &item(empty), &completed]).unwrap_err().what.kind, Kind::Protocol, "{event}");
        }
        assert_eq!(turn(&[&item(empty), &completed]).unwrap().stop, Stop::Call);
    }
    assert!(turn(&[&item(r#","parameters":{"n":1}"#), &completed]).is_err());
    for event in [&done, &no_index, &delta] {
        assert_eq!(
            calls(&turn(&[event, &whole, &completed]).unwrap()),
            r#"{"call_id":"a","tool_name":"x","arguments":{"n":1}}"#
        );
    }
    for status in ["failed", "cancelled"] {
        assert_eq!(turn(&[&whole, &end("completed", status)]).unwrap_err(), Failure::cut());
    }
    let cut = turn(&[&whole, &end("completed", "incomplete")]).unwrap();
    assert_eq!((cut.stop, cut.calls.len()), (Stop::Length, 0));
}

#[test]
fn a_captured_stream_gives_the_unstreamed_output() {
    let answer = answer(&Responses, &short(), TOOL);
    let (text, reasoning) = shown(&answer);
    assert!(answer.is_complete);
    let turn = answer.turn.unwrap();
    assert_eq!(
        (turn.stop, turn.provider, &*turn.text, &*turn.reasoning),
        (Stop::Call, "openai-responses", &*text, &*reasoning)
    );
    assert_eq!((&*text, &*reasoning), ("I look at the page.", "I should look first."));
    assert_eq!(
        calls(&turn),
        r#"{"call_id":"call_peJRHB_QZfj68OAo","tool_name":"browser_list_interactives","arguments":{"limit":30}}"#
    );
    let output = TOOL.rsplit_once(r#""output":"#).unwrap().1.split_once(r#","usage""#).unwrap().0;
    assert_eq!(turn.raw.get(), output);
}

#[test]
fn a_stream_without_its_end_is_a_failure() {
    for count in 0..TOOL.matches("\n\n").count() {
        let cut: String = TOOL.split_inclusive("\n\n").take(count).collect();
        assert_eq!(read(&cut).unwrap_err(), Failure::cut(), "{cut}");
    }
}

#[test]
fn items_are_unchanged_and_in_the_order_of_the_output() {
    let reasoning = r#"{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"x=","n":1.10}"#;
    let message =
        r#"{"type":"message","phase":"commentary","content":[{"type":"output_text","text":"one","annotations":[]}]}"#;
    let last = r#"{"type":"message","phase":"final_answer","content":[{"type":"output_text","text":"two \ud83d"}]}"#;
    let other = r#"{"type":"compaction","encrypted_content":"y"}"#;
    let turn = read(&stream(&[reasoning, message, other, last], COMPLETED)).unwrap();
    assert_eq!(turn.raw.get(), format!("[{reasoning},{message},{other},{last}]"));
    assert_eq!((turn.stop, &*turn.reasoning), (Stop::End, "a\n\nb"));
    assert!(turn.text.starts_with("one\n\ntwo \u{fffd}"), "{}", turn.text);
    // If the items come only with the end.
    let end = format!(r#"{{"type":"response.completed","response":{{"output":[{message}]}}}}"#);
    assert_eq!(read(&stream(&[], &end)).unwrap().raw.get(), format!("[{message}]"));
}

#[test]
fn messages_and_parts_of_reasoning_are_separated() {
    let added = |kind: &str| format!(r#"{{"type":"response.output_item.added","item":{{"type":"{kind}"}}}}"#);
    let delta = |of: &str, text: &str| format!(r#"{{"type":"response.{of}.delta","delta":"{text}"}}"#);
    let part = r#"{"type":"response.reasoning_summary_part.added"}"#.to_owned();
    let (reasoning, text) = ("reasoning_summary_text", "output_text");
    let data = [
        added("reasoning"),
        part.clone(),
        delta(reasoning, "a"),
        part,
        delta(reasoning, "b"),
        added("message"),
        delta(text, "one"),
        added("function_call"),
        added("message"),
        delta(text, "two"),
    ];
    let answer = answer(&Responses, &short(), &events(&data.each_ref().map(String::as_str)));
    assert_eq!(shown(&answer), ("one\n\ntwo".to_owned(), "a\n\nb".to_owned()));
}

#[test]
fn every_end_has_a_stop() {
    let end = |reason: &str| {
        format!(
            r#"{{"type":"response.incomplete","response":{{"incomplete_details":{{"reason":"{reason}"}},"output":[],"usage":{{"input_tokens":9,"input_tokens_details":{{"cached_tokens":4}},"output_tokens":5,"output_tokens_details":{{"reasoning_tokens":2}}}}}}}}"#
        )
    };
    let message = r#"{"type":"message","content":[{"type":"output_text","text":"a"}]}"#;
    let turn = |reason: &str| read(&stream(&[message], &end(reason))).unwrap();
    assert_eq!(turn("max_output_tokens").stop, Stop::Length);
    assert_eq!(turn("content_filter").stop, Stop::Refusal);
    assert_eq!(turn("steered").stop, Stop::End);
    for unknown in ["", "a_new_one"] {
        assert_eq!(turn(unknown).stop, Stop::Length, "{unknown}");
    }
    let unsaid = r#"{"type":"response.incomplete","response":{"output":[]}}"#;
    assert_eq!(read(&stream(&[message], unsaid)).unwrap().stop, Stop::Length);
    assert_eq!(
        turn("steered").usage,
        Usage { input: Some(9), output: Some(5), cached: Some(4), reasoning: Some(2), cost: None }
    );
    let refusal = r#"{"type":"message","content":[{"type":"refusal","refusal":"I won't."}]}"#;
    let refused = read(&stream(&[refusal], COMPLETED)).unwrap();
    assert_eq!((refused.stop, &*refused.text), (Stop::Refusal, "I won't."));
    let call = r#"{"type":"function_call","name":"x","arguments":"{\"a","call_id":""}"#;
    let turn = read(&stream(&[message, call], &end("steered"))).unwrap();
    assert_eq!(turn.stop, Stop::Call);
    assert_eq!(calls(&turn), r#"{"call_id":"call_1","tool_name":"x","arguments_text":"{\"a"}"#);
    assert!(turn.raw.get().ends_with(r#""call_id":"call_1"}]"#), "{}", turn.raw);
}

#[test]
fn a_failure_in_the_stream_has_a_code() {
    for (event, kind, retry, code) in [
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"m"}}}"#,
            Kind::Unavailable,
            Retry::Backoff,
            "server_error",
        ),
        (
            r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"m"}}}"#,
            Kind::RateLimited,
            Retry::Backoff,
            "rate_limit_exceeded",
        ),
        (
            r#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model"}}}"#,
            Kind::Overflow,
            Retry::Never,
            "context_length_exceeded",
        ),
        (
            r#"{"type":"error","code":"insufficient_quota","message":"m","param":null,"sequence_number":1}"#,
            Kind::Quota,
            Retry::Never,
            "insufficient_quota",
        ),
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","code":"invalid_prompt","message":"m"}}"#,
            Kind::BadRequest,
            Retry::Never,
            "invalid_prompt",
        ),
        (
            r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
            Kind::Unavailable,
            Retry::After(Duration::from_secs(2)),
            "unavailable_error",
        ),
    ] {
        let failure = read(&stream(&[], event)).unwrap_err();
        assert_eq!(
            (failure.what.kind, failure.retry, failure.what.code.as_deref()),
            (kind, retry, Some(code)),
            "{event}"
        );
    }
}

proptest! {
    #[test]
    fn any_split_of_the_text_gives_the_same_text(text in ".{0,12}", cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5)) {
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(units.len() + 1)).collect();
        cuts.extend([0, units.len()]);
        cuts.sort_unstable();
        let escaped = |units: &[u16]| units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
        let delta = |pair: &[usize]| format!(r#"{{"type":"response.output_text.delta","delta":"{}"}}"#, escaped(&units[pair[0]..pair[1]]));
        let item = format!(r#"{{"type":"message","content":[{{"text":{}}}]}}"#, pipewright_record::json::quoted(&text));
        let deltas: Vec<String> = cuts.windows(2).map(delta).collect();
        let data = events(&deltas.iter().map(String::as_str).collect::<Vec<_>>()) + &stream(&[&item], COMPLETED);
        let answer = answer(&Responses, &short(), &data);
        prop_assert_eq!(&shown(&answer).0, &text);
        prop_assert_eq!(answer.turn.unwrap().text, text);
    }
}
