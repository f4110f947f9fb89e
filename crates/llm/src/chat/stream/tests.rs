//! From streamed answers to turns.
#![allow(clippy::unwrap_used)]

use crate::chat::request::arguments_text;
use crate::tests::{answer, calls, events, request, short};
use crate::{ChatServer, Failure, Retry, Token};
use pipewright_record::{Kind, ModelCall, ModelTurn, Stop, Usage};
use proptest::prelude::*;

const TEXT: &str = include_str!("../../../../../tests/fixtures/models/openai_chat_text.sse");
const TOOL: &str = include_str!("../../../../../tests/fixtures/models/openai_chat_tool.sse");
const TWO_CALLS: &str = include_str!("../../../../../tests/fixtures/models/openai_chat_two_calls.sse");
const CUT: &str = include_str!("../../../../../tests/fixtures/models/openai_chat_cut.sse");

fn read(stream: &str) -> Result<ModelTurn, Failure> {
    let answer = answer(&ChatServer::OPENAI, &short(), stream);
    let turn = answer.turn?;
    assert_eq!(answer.is_complete, stream.contains("[DONE]"));
    let (mut text, mut reasoning) = (String::new(), String::new());
    for token in answer.tokens {
        match token {
            Token::Text(more) => text += &more,
            Token::Reasoning(more) => reasoning += &more,
        }
    }
    assert_eq!((&turn.text, &turn.reasoning), (&text, &reasoning), "the tokens are another text");
    Ok(turn)
}

/// A stream of these deltas (JSON texts), and its end.
fn stream(deltas: &[&str], finish_reason: &str) -> String {
    let end = format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{finish_reason}"}}]}}"#);
    let chunk = |delta: &&str| format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#);
    let chunks: Vec<String> = deltas.iter().map(chunk).chain([end, "[DONE]".to_owned()]).collect();
    events(&chunks.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn an_empty_finish_reason_is_ignored() {
    let begun = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"Transfer 100"},"finish_reason":""}]}"#;
    assert_eq!(read(&events(&[begun])).unwrap_err(), Failure::cut());
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}"#;
    assert_eq!(read(&events(&[begun, end, begun, "[DONE]"])).unwrap().stop, Stop::Length);
}

#[test]
fn only_the_first_choice_is_the_turn() {
    let both = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"one"}},{"index":1,"delta":{"content":"two"},"finish_reason":"length"}]}"#;
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let turn = read(&events(&[both, end, "[DONE]"])).unwrap();
    assert_eq!((turn.stop, &*turn.text), (Stop::End, "one"));
}

#[test]
fn captured_streams_give_the_unstreamed_messages() {
    let text = read(TEXT).unwrap();
    assert_eq!((text.stop, &*text.text, text.provider, &*text.model), (Stop::End, "Hi there!", "openai", "m"));
    assert_eq!(text.usage, Usage { input: Some(2), output: Some(3), ..Usage::default() });
    assert_eq!(text.raw.get(), r#"{"role":"assistant","content":"Hi there!"}"#);

    let tool = read(TOOL).unwrap();
    assert_eq!((tool.stop, &*tool.text, &*tool.reasoning), (Stop::Call, "I look at the page.", "I should look first."));
    assert_eq!(
        calls(&tool),
        r#"{"call_id":"call_mzsgkd0pjWAnVWcN","tool_name":"browser_list_interactives","arguments":{"limit":30}}"#
    );
    let raw = concat!(
        r#"{"role":"assistant","reasoning_content":"I should look first.","content":"I look at the page.","tool_calls":["#,
        r#"{"id":"call_mzsgkd0pjWAnVWcN","type":"function","function":{"name":"browser_list_interactives","arguments":"{\"limit\":30}"}}]}"#
    );
    assert_eq!(tool.raw.get(), raw);

    let two = read(TWO_CALLS).unwrap();
    assert_eq!(
        two.calls.iter().map(|call| &*call.tool_name).collect::<Vec<_>>(),
        ["browser_wait", "browser_screenshot"]
    );
    assert!(two.raw.get().starts_with(r#"{"role":"assistant","content":null,"tool_calls":[{"#), "{}", two.raw);
}

#[test]
fn a_stream_without_its_end_is_a_failure() {
    assert_eq!(read(CUT).unwrap_err(), Failure::cut());
    for count in 0..TOOL.matches("\n\n").count() - 2 {
        let cut: String = TOOL.split_inclusive("\n\n").take(count).collect();
        assert_eq!(read(&cut).unwrap_err(), Failure::cut(), "{cut}");
    }
    // The reason has come, but not the end.
    let whole: String = TOOL.split_inclusive("\n\n").take_while(|event| !event.contains("[DONE]")).collect();
    assert_eq!(read(&whole).unwrap().stop, Stop::Call);
    assert_eq!(read("data: [DONE]\n\n").unwrap_err(), Failure::cut());
    let unexplained =
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n";
    assert_eq!(read(unexplained).unwrap().stop, Stop::End);
    // A call has an effect, and another one may be missing.
    let call = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}"#;
    let unexplained = stream(&[r#"{"role":"assistant","content":null}"#, call], "")
        .replace(r#""finish_reason":"""#, r#""finish_reason":null"#);
    let failure = read(&unexplained).unwrap_err();
    assert!(failure.what.kind == Kind::Lost && failure.what.message.contains("no finish_reason"), "{failure:?}");
}

#[test]
fn a_failure_in_any_form_is_the_servers_own() {
    let begun = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"a\"}}]}\n\n";
    for failed in [
        "event: error\ndata: {\"type\":\"error\",\"message\":\"out of memory\"}\n\n",
        "event: error\ndata: {\"message\":\"out of memory\"}\n\n",
        "data: {\"type\":\"error\",\"message\":\"out of memory\"}\n\n",
    ] {
        let failure = read(&format!("{begun}{failed}data: [DONE]\n\n")).unwrap_err();
        assert!(failure.what.message.contains("out of memory"), "{failed}: {failure:?}");
    }
}

#[test]
fn no_text_is_lost_by_its_form() {
    let text = |delta: &str| read(&stream(&[delta], "stop")).map(|turn| turn.text);
    assert_eq!(text(r#"{"content":{"text":"Hi"}}"#).unwrap(), "Hi");
    assert_eq!(text(r#"{"content":[{"type":"text","text":"Hi"}]}"#).unwrap(), "Hi");
    assert!(text(r#"{"content":5}"#).unwrap_err().what.message.contains("content"));
    let continued = "data: {\"choices\":[{\"text\":\"Hi\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    assert_eq!(read(continued).unwrap().text, "Hi");
}

#[test]
fn every_end_has_a_stop() {
    let stop = |delta: &str, reason: &str| read(&stream(&[delta], reason)).unwrap().stop;
    let text = r#"{"role":"assistant","content":"a","refusal":null}"#;
    assert_eq!(stop(text, "stop"), Stop::End);
    assert_eq!(stop(text, "length"), Stop::Length);
    assert_eq!(stop(text, "content_filter"), Stop::Refusal);
    let call = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}"#;
    for (reason, expected) in
        [("stop", Stop::Call), ("tool_calls", Stop::Call), ("length", Stop::Length), ("content_filter", Stop::Refusal)]
    {
        assert_eq!(stop(call, reason), expected);
    }
    let refused = read(&stream(&[r#"{"content":null,"refusal":"I"}"#, r#"{"refusal":" won't."}"#], "stop")).unwrap();
    assert_eq!((refused.stop, &*refused.text), (Stop::Refusal, "I won't."));
    assert_eq!(refused.raw.get(), r#"{"content":null,"refusal":"I won't.","role":"assistant"}"#);
    let failed = read(&stream(&[text], "error")).unwrap_err();
    assert_eq!((failed.what.kind, failed.retry), (Kind::Unavailable, Retry::Backoff));
}

#[test]
fn a_call_that_was_cut_by_a_limit_is_only_in_raw() {
    let call = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"rm","arguments":""}}]}"#;
    let cut = read(&stream(&[call], "length")).unwrap();
    assert_eq!((cut.stop, &*calls(&cut)), (Stop::Length, ""));
    assert!(cut.raw.get().contains(r#""content":null,"tool_calls":[{"id":"a""#), "{}", cut.raw);
    let whole = read(&stream(&[call], "tool_calls")).unwrap();
    assert_eq!((whole.stop, &*calls(&whole)), (Stop::Call, r#"{"call_id":"a","tool_name":"rm","arguments":{}}"#));
}

#[test]
fn calls_are_separated_in_the_forms_of_all_servers() {
    let read = |deltas: &[&str]| {
        let turn = read(&stream(deltas, "stop")).unwrap();
        let call =
            |call: &ModelCall| format!("{} {} {}", call.call_id, call.tool_name, arguments_text(&call.arguments));
        turn.calls.iter().map(call).collect::<Vec<_>>()
    };
    // Ollama: every call under index 0, complete, and some without an id.
    let ollama = [
        r#"{"tool_calls":[{"id":"a","index":0,"type":"function","function":{"name":"x","arguments":"{\"n\":1}"}}]}"#,
        r#"{"tool_calls":[{"id":"b","index":0,"type":"function","function":{"name":"x","arguments":"{}"}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"name":"y","arguments":"{}"}},{"index":0,"function":{"name":"y","arguments":{"n":1.10}}}]}"#,
    ];
    assert_eq!(read(&ollama), ["a x {\"n\":1}", "b x {}", "call_1 y {}", "call_2 y {\"n\":1.10}"]);
    // Id and name repeated in every piece, or empty; null arguments.
    let repeated = [
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":null}}]}"#,
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"n\""}}]}"#,
        r#"{"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":":1}"}}]}"#,
        r#"{"tool_calls":[{"index":0,"id":null,"function":{"name":null}}]}"#,
    ];
    assert_eq!(read(&repeated), ["a x {\"n\":1}"]);
    // No index; interleaved pieces of several calls; the same id twice.
    let without = [
        r#"{"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{"}}]}"#,
        r#"{"tool_calls":[{"function":{"arguments":"}"}},{"id":"b","function":{"name":"y","arguments":""}}]}"#,
    ];
    assert_eq!(read(&without), ["a x {}", "b y {}"]);
    let mixed = [
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{"}},{"index":1,"id":"a","function":{"name":"y","arguments":"["}}]}"#,
        r#"{"tool_calls":[{"index":1,"function":{"arguments":"1"}},{"index":0,"function":{"arguments":"}"}}]}"#,
    ];
    assert_eq!(read(&mixed), ["a x {}", "call_1 y [1"]);
}

#[test]
fn a_generated_id_is_in_the_message_and_unique_in_the_conversation() {
    let before = request(
        r#""messages":[{"role":"assistant","turn":{"calls":[{"call_id":"call_1","tool_name":"x","arguments":{}}]}}]"#,
    );
    let call = r#"{"tool_calls":[{"index":0,"function":{"name":"x","arguments":{"a":1.10}},"extra":{"sign":1.0}}]}"#;
    let turn = answer(&ChatServer::OPENAI, &before, &stream(&[call], "tool_calls")).turn.unwrap();
    let raw = concat!(
        r#"{"role":"assistant","content":null,"tool_calls":[{"extra":{"sign":1.0},"id":"call_2","type":"function","#,
        r#""function":{"name":"x","arguments":"{\"a\":1.10}"}}]}"#
    );
    assert_eq!(turn.raw.get(), raw);
}

#[test]
fn unknown_fields_are_merged_as_in_an_unstreamed_answer() {
    let turn = read(&stream(
        &[
            r#"{"role":"assistant","content":"","reasoning":"Let","reasoning_details":[{"type":"reasoning.text","text":"Let","index":0,"format":"f"}],"n":1.0}"#,
            r#"{"role":"assistant","reasoning":" me","reasoning_details":[{"type":"reasoning.text","text":" me","index":0,"format":"f"}],"n":1.10,"obfuscation":"xx"}"#,
            r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"AA=","index":1},1],"annotations":[{"url":"u"}]}"#,
            r#"{"content":"Yes\u002e","annotations":[{"url":"u"}]}"#,
        ],
        "stop",
    ))
    .unwrap();
    let raw = concat!(
        r#"{"role":"assistant","content":"Yes\u002e","reasoning":"Let me","reasoning_details":[{"type":"reasoning.text","text":"Let me","index":0,"format":"f"},"#,
        r#"{"type":"reasoning.encrypted","data":"AA=","index":1},1],"n":1.10,"annotations":[{"url":"u"},{"url":"u"}]}"#
    );
    assert_eq!((turn.raw.get(), &*turn.text, &*turn.reasoning), (raw, "Yes.", "Let me"));
}

#[test]
fn reasoning_under_two_names_is_shown_once() {
    let delta = r#"{"reasoning":"a","reasoning_content":"a","content":"b"}"#;
    assert_eq!(read(&stream(&[delta, delta], "stop")).unwrap().reasoning, "aa");
}

#[test]
fn the_usage_is_read_from_the_chunk_without_choices() {
    let usage = r#"data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}"#;
    let stream = stream(&[r#"{"content":"a"}"#], "stop").replace("data: [DONE]", &format!("{usage}\n\ndata: [DONE]"));
    let expected = Usage { input: Some(9), output: Some(5), cached: Some(4), reasoning: Some(2), cost: None };
    assert_eq!(read(&stream).unwrap().usage, expected);
    // The usage was counted, although there is no turn.
    let failed = stream.replace("[DONE]", r#"{"error":{"message":"m"}}"#);
    let failed = answer(&ChatServer::OPENAI, &short(), &failed);
    assert!(failed.turn.is_err() && !failed.is_complete && failed.usage == expected);
}

#[test]
fn an_error_in_the_stream_is_a_failure() {
    let begin = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    for (event, kind, retry) in [
        (
            r#"{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
            Kind::Unavailable,
            Retry::Backoff,
        ),
        (
            r#"{"error":{"message":"boom","type":"InternalServerError","param":null,"code":500}}"#,
            Kind::Unavailable,
            Retry::Backoff,
        ),
        (
            r#"{"object":"error","message":"This model's maximum context length is 8 tokens","type":"BadRequestError","param":null,"code":400}"#,
            Kind::Overflow,
            Retry::Never,
        ),
        (
            r#"{"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            Kind::Quota,
            Retry::Never,
        ),
        (r#"{"error":{"message":"m","code":"rate_limit_exceeded"}}"#, Kind::RateLimited, Retry::Backoff),
        (r#"{"error":"gone"}"#, Kind::Unavailable, Retry::Backoff),
        ("not json", Kind::Protocol, Retry::Backoff),
        (r#"{"choices":{}}"#, Kind::Protocol, Retry::Backoff),
        (r#"{"choices":[{"delta":7}]}"#, Kind::Protocol, Retry::Backoff),
    ] {
        let failure = read(&format!("{begin}data: {event}\n\ndata: [DONE]\n\n")).unwrap_err();
        assert_eq!((failure.what.kind, failure.retry), (kind, retry), "{event}: {failure:?}");
    }
}

/// Cuts a text at most this often, between any UTF-16 units, and gives the pieces as JSON strings.
fn pieces(text: &str, cuts: &[prop::sample::Index]) -> Vec<String> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(units.len() + 1)).collect();
    cuts.extend([0, units.len()]);
    cuts.sort_unstable();
    let escaped = |units: &[u16]| units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    cuts.windows(2).map(|pair| format!("\"{}\"", escaped(&units[pair[0]..pair[1]]))).collect()
}

proptest! {
    #[test]
    fn any_split_of_the_deltas_gives_the_same_turn(
        texts in prop::collection::vec(".{0,12}", 3),
        cuts in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..5), 3),
    ) {
        let turn = |cuts: &[Vec<prop::sample::Index>]| {
            let mut deltas = Vec::new();
            deltas.extend(pieces(&texts[0], &cuts[0]).iter().map(|piece| format!(r#"{{"reasoning":{piece}}}"#)));
            deltas.extend(pieces(&texts[1], &cuts[1]).iter().map(|piece| format!(r#"{{"role":"assistant","content":{piece}}}"#)));
            deltas.push(r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":""}}]}"#.to_owned());
            let arguments = format!("{{\"t\":{}}}", pipewright_record::json::quoted(&texts[2]));
            deltas.extend(pieces(&arguments, &cuts[2]).iter().map(|piece| {
                format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":{piece}}}}}]}}"#)
            }));
            let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
            read(&stream(&deltas, "stop")).unwrap()
        };
        let (whole, cut) = (turn(&[vec![], vec![], vec![]]), turn(&cuts));
        prop_assert_eq!(whole.raw.get(), cut.raw.get());
        prop_assert_eq!((&whole.text, &whole.reasoning), (&texts[1], &texts[0]));
        prop_assert_eq!((&cut.text, &cut.reasoning), (&texts[1], &texts[0]));
        prop_assert_eq!(calls(&whole), calls(&cut));
    }
}
