//! Recognising a call never panics and gives the same result twice. The answer to a call is JSON in the call's form with its id.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_record::{Call, Form, Kind, Outcome, recognise};
use serde_json::Value;
use serde_json::value::RawValue;

fuzz_target!(|line: &str| {
    let (first, again) = (recognise(line), recognise(line));
    assert_eq!(format!("{first:?}"), format!("{again:?}"), "the same line was read in two ways");
    let Ok(Some(call)) = first else {
        return;
    };
    assert!(!line.contains('\r'), "a carriage return got through");
    assert_eq!(call.arguments.is_none_or(|arguments| arguments.get().starts_with('{')), true);
    // With spaces around it, it is still the same call.
    let padded = format!(" \t{line}\n");
    assert_eq!(format!("{:?}", recognise(&padded)), format!("{:?}", Ok::<_, ()>(Some(&call))));
    let result = call.target.or(call.policy).unwrap_or(RawValue::TRUE);
    check(&call, Outcome::Ok(result));
    for (code, data) in [(None, None), (Some(line), call.arguments)] {
        check(&call, Outcome::Error { kind: Kind::Denied, message: line, code, data });
    }
});

fn check(call: &Call<'_>, outcome: Outcome<'_>) {
    let text = call.answer(outcome);
    assert!(!text.contains('\n') || has_line_feed(call, outcome), "a line feed in an answer: {text:?}");
    let answer: Box<RawValue> = match serde_json::from_str(&text) {
        Ok(answer) => answer,
        Err(error) => panic!("{error}: {text}"),
    };
    assert!(matches!(recognise(answer.get()), Ok(None) | Err(_)), "an answer is a call: {text}");
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(&text) else {
        return; // too deep for a value, or a number that a value cannot hold
    };
    let key = if call.form == Form::Record { "call_id" } else { "id" };
    let id = call.id.and_then(|id| serde_json::from_str::<Value>(id.get()).ok());
    assert_eq!(fields.get(key), id.as_ref(), "another id: {text}");
}

/// Values keep their notation, in which a line feed is white space.
fn has_line_feed(call: &Call<'_>, outcome: Outcome<'_>) -> bool {
    let (given, data) = match outcome {
        Outcome::Ok(result) => (Some(result), None),
        Outcome::Error { data, .. } => (None, data),
    };
    let context = call.context.fields().map(|(_, value)| value);
    [call.id, given, data].into_iter().flatten().chain(context).any(|value| value.get().contains('\n'))
}
