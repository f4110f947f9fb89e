use super::Interactions;
use crate::tests::{Answer, answer, body, calls, events, request, short};
use crate::{Failure, Provider, Retry, Token};
use pipewright_record::{Kind, Stop, Usage};
use proptest::prelude::*;

const USER: &str = r#"{"role":"user","content":"go"}"#;
const DONE: &str = r#"{"event_type":"interaction.completed","interaction":{"status":"completed"}}"#;

fn read(data: &[&str]) -> Answer {
    answer(&Interactions, &short(), &events(data))
}

fn failure(data: &[&str]) -> Failure {
    read(data).turn.unwrap_err()
}

fn begin(index: u64, step: &str) -> String {
    format!(r#"{{"event_type":"step.start","index":{index},"step":{step}}}"#)
}

fn delta(index: u64, delta: &str) -> String {
    format!(r#"{{"event_type":"step.delta","index":{index},"delta":{delta}}}"#)
}

#[test]
fn a_streamed_answer_becomes_the_steps() {
    let stream = include_str!("../../../../tests/fixtures/models/interactions_tool.sse");
    let answer = answer(&Interactions, &short(), stream);
    let turn = answer.turn.unwrap();
    assert_eq!(
        turn.raw.get(),
        concat!(
            r#"[{"type":"model_output","content":[{"type":"text","text":"I look at the page."}]},"#,
            r#"{"type":"function_call","id":"call_nmPJvMc8R9MBsIqS","name":"browser_list_interactives","arguments":{"limit":30}}]"#
        )
    );
    assert_eq!((turn.stop, &*turn.text, answer.is_complete), (Stop::Call, "I look at the page.", true));
    assert_eq!(
        calls(&turn),
        r#"{"call_id":"call_nmPJvMc8R9MBsIqS","tool_name":"browser_list_interactives","arguments":{"limit":30}}"#
    );
}

#[test]
fn steps_keep_signatures_and_unknown_fields() {
    let signed = delta(0, r#"{"type":"thought_signature","signature":"S"}"#);
    let summary = delta(0, r#"{"type":"thought_summary","content":{"type":"text","text":"I think."}}"#);
    let image = r#"{"type":"image","data":"AA==","mime_type":"image/png"}"#;
    let answer = read(&[
        &begin(0, r#"{"type":"thought","new":1.10}"#),
        &summary,
        &signed,
        r#"{"event_type":"new.event"}"#,
        &begin(1, r#"{"type":"model_output","content":[{"type":"text","text":"a"}]}"#),
        &delta(1, r#"{"type":"text","text":"b"}"#),
        &delta(1, image),
        &delta(1, r#"{"type":"text","text":"c"}"#),
        &delta(1, r#"{"type":"new_delta"}"#),
        &begin(2, r#"{"type":"model_output"}"#),
        &begin(3, r#"{"type":"function_call","id":"f","name":"x","arguments":{"n":1.10}}"#),
        DONE,
    ]);
    let turn = answer.turn.unwrap();
    assert_eq!(
        turn.raw.get(),
        format!(
            concat!(
                r#"[{{"type":"thought","new":1.10,"signature":"S","summary":[{{"type":"text","text":"I think."}}]}},"#,
                r#"{{"type":"model_output","content":[{{"type":"text","text":"ab"}},{image},{{"type":"text","text":"c"}}]}},"#,
                r#"{{"type":"function_call","id":"f","name":"x","arguments":{{"n":1.10}}}}]"#
            ),
            image = image
        )
    );
    assert_eq!((turn.stop, &*turn.text, &*turn.reasoning), (Stop::Call, "abc", "I think."));
    assert_eq!(answer.tokens[..2], [Token::Reasoning("I think.".to_owned()), Token::Text("a".to_owned())]);
}

proptest! {
    #[test]
    fn any_split_of_the_deltas_gives_the_same_turn(texts in prop::collection::vec(".{0,4}", 0..6), cut in 0..20usize) {
        let arguments = r#"{"text":"a\n","n":1.10}"#;
        let quoted = pipewright_record::json::quoted;
        let turn = |texts: &[String], arguments: &[&str]| {
            let texts = texts.iter().map(|text| delta(0, &format!(r#"{{"type":"text","text":{}}}"#, quoted(text))));
            let pieces = arguments.iter().map(|piece| {
                delta(1, &format!(r#"{{"type":"arguments_delta","arguments":{}}}"#, quoted(piece)))
            });
            let mut data = vec![begin(0, r#"{"type":"model_output"}"#)];
            data.extend(texts);
            data.push(begin(1, r#"{"type":"function_call","id":"f","name":"x","arguments":{}}"#));
            data.extend(pieces);
            data.push(DONE.to_owned());
            read(&data.iter().map(|data| &**data).collect::<Vec<_>>()).turn.unwrap()
        };
        let split = turn(&texts, &[&arguments[..cut], &arguments[cut..]]);
        let whole = turn(&[texts.concat()], &[arguments]);
        prop_assert_eq!(split.raw.get(), whole.raw.get());
        prop_assert_eq!(&split.text, &whole.text);
        prop_assert_eq!(calls(&split), calls(&whole));
    }
}

#[test]
fn the_status_sets_the_stop() {
    let text = begin(0, r#"{"type":"model_output","content":[{"type":"text","text":"a"}]}"#);
    let end = |interaction: &str| {
        read(&[&text, &format!(r#"{{"event_type":"interaction.completed","interaction":{interaction}}}"#)])
    };
    for (status, stop) in [
        ("completed", Stop::End),
        ("requires_action", Stop::End),
        ("incomplete", Stop::Length),
        ("budget_exceeded", Stop::Length),
        ("requires_continuation", Stop::Length),
    ] {
        assert_eq!(end(&format!(r#"{{"status":"{status}"}}"#)).turn.unwrap().stop, stop, "{status}");
    }
    let usage = r#"{"status":"completed","usage":{"total_input_tokens":10,"total_output_tokens":3,"total_thought_tokens":4,"total_cached_tokens":8}}"#;
    assert_eq!(
        end(usage).usage,
        Usage { input: Some(10), output: Some(7), cached: Some(8), reasoning: Some(4), cost: None }
    );
    let kind = |interaction: &str| end(interaction).turn.unwrap_err().what.kind;
    assert_eq!(kind(r#"{"status":"in_progress"}"#), Kind::Protocol);
    assert_eq!(kind(r#"{"status":"failed"}"#), Kind::Unavailable);
    assert_eq!(kind(r#"{"status":"failed","errors":[{"code":"quota_exceeded","message":"m"}]}"#), Kind::Quota);
}

#[test]
fn a_cut_or_failed_stream_gives_no_turn() {
    let text = begin(0, r#"{"type":"model_output"}"#);
    let stop = r#"{"event_type":"step.stop","index":0}"#;
    assert_eq!(failure(&[&text, stop]), Failure::cut());
    let counted = r#"{"event_type":"step.stop","index":0,"metadata":{"total_usage":{"total_input_tokens":3}}}"#;
    assert_eq!(read(&[&text, counted]).usage.input, Some(3));
    let error = |code: &str| {
        failure(&[&text, &format!(r#"{{"event_type":"error","error":{{"code":"{code}","message":"m"}}}}"#)])
    };
    for (code, kind, retry) in [
        ("rate_limit_exceeded", Kind::RateLimited, Retry::Backoff),
        ("too_many_requests", Kind::RateLimited, Retry::Backoff),
        ("quota_exceeded", Kind::Quota, Retry::Never),
        ("invalid_request", Kind::BadRequest, Retry::Never),
        ("internal", Kind::Unavailable, Retry::Backoff),
    ] {
        let failure = error(code);
        assert_eq!((failure.what.kind, failure.retry, failure.what.code.as_deref()), (kind, retry, Some(code)));
    }
    for data in [
        &["[]"][..],
        &[r#"{"event_type":"step.start","index":0}"#],
        &[&delta(0, r#"{"type":"text","text":"a"}"#)],
        &[&text, &text],
        &[&text, &delta(0, r#"{"type":"text","text":7}"#)],
        &[&begin(0, r#"{"type":"function_call"}"#), DONE],
    ] {
        assert_eq!(failure(data).what.kind, Kind::Protocol, "{data:?}");
    }
}

#[test]
fn a_request_has_everything_in_the_order_that_keeps_the_prefix() {
    let rest = r#""tools":[{"name":"x","description":"d","input_schema":{"n":1.10}}],"tool_choice":"any","max_output_tokens":9,"schema":{"a":1.0}"#;
    let image = r#"{"role":"user","content":[{"text":"go"},{"image_base64":"AA==","mime":"image/png"}]}"#;
    assert_eq!(
        body(&Interactions, &format!(r#""system":"S","messages":[{image}],{rest}"#)),
        concat!(
            r#"{"model":"m","store":false,"stream":true,"system_instruction":"S","#,
            r#""tools":[{"type":"function","name":"x","description":"d","parameters":{"n":1.10}}],"#,
            r#""input":[{"type":"user_input","content":[{"type":"text","text":"go"},{"type":"image","data":"AA==","mime_type":"image/png"}]}],"#,
            r#""generation_config":{"max_output_tokens":9,"tool_choice":"any"},"#,
            r#""response_format":{"type":"text","mime_type":"application/json","schema":{"a":1.0}}}"#
        )
    );
}

#[test]
fn own_steps_are_sent_back_unchanged_and_foreign_turns_are_rebuilt() {
    let steps =
        r#"{"type":"thought","signature":"S","n":1.10},{"type":"function_call","id":"a","name":"x","arguments":{}}"#;
    let calls = r#""calls":[{"call_id":"a","tool_name":"x","arguments":{}}]"#;
    let own = format!(r#"{{"provider":"gemini-interactions","model":"m","raw":[{steps}],{calls}}}"#);
    let first = format!(r#""messages":[{USER},{{"role":"assistant","turn":{own}}}"#);
    let second = format!(r#"{first},{{"role":"tool","call_id":"a","content":"no","is_error":true}}]"#);
    let (first, second) = (body(&Interactions, &(first + "]")), body(&Interactions, &second));
    let before = first.strip_suffix("]}").unwrap();
    assert!(before.ends_with(steps), "{before}");
    assert_eq!(
        second.strip_prefix(before).unwrap(),
        r#",{"type":"function_result","call_id":"a","name":"x","result":[{"type":"text","text":"no"}],"is_error":true}]}"#
    );
    let foreign = format!(r#"{{"provider":"gemini","model":"m","raw":{{}},"text":"t",{calls}}}"#);
    let rebuilt = body(&Interactions, &format!(r#""messages":[{{"role":"assistant","turn":{foreign}}}]"#));
    assert!(
        rebuilt.ends_with(concat!(
            r#""input":[{"type":"model_output","content":[{"type":"text","text":"t"}]},"#,
            r#"{"type":"function_call","id":"a","name":"x","arguments":{}}]}"#
        )),
        "{rebuilt}"
    );
    let unreadable =
        r#""messages":[{"role":"assistant","turn":{"provider":"gemini-interactions","model":"m","raw":7}}]"#;
    assert!(Interactions.encode(&request(unreadable), "m").is_err());
}
