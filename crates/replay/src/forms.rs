//! Live calls in another form than the recorded ones: converts the recorded call, and its recorded answer, to the form
//! of the live call.

use super::calls::{CallLine, CallNews, about, own_call};
use pipewright_lines::{Change, change};
use pipewright_record::json::Object;
use pipewright_record::{Call, Fields, Form, Kind, Outcome};
use serde_json::value::RawValue;

/// Two calls in our own forms, prepared for a comparison field by field.
pub(super) struct ComparableCalls {
    /// The recorded call in the form of the live one, JSON text.
    pub(super) recorded: String,
    /// The live call, JSON text.
    pub(super) now: String,
    /// The field with the ids of both.
    pub(super) id_key: &'static str,
}

/// Converts two calls to one form: that of the live call, with arguments, which are `{}` if they are missing or null.
/// `None` if one of the lines is not a call in one of our own forms, or if their forms differ and that of the live call
/// is not [`Form::Record`].
pub(super) fn comparable(recorded: &str, now: &str) -> Option<ComparableCalls> {
    let (call, call_now) = (own_call(recorded.as_bytes())?, own_call(now.as_bytes())?);
    if call.form != call_now.form && call_now.form != Form::Record {
        return None;
    }
    let id_key = call_now.form.id_key();
    Some(ComparableCalls {
        recorded: in_form_of(&call_now, recorded, &call)?,
        now: in_form_of(&call_now, now, &call_now)?,
        id_key,
    })
}

/// A call's line in the form of another call.
fn in_form_of(other: &Call<'_>, line: &str, call: &Call<'_>) -> Option<String> {
    let mut restated = Object::default();
    if call.form != other.form {
        restated = restated.text("type", "tool_call").text("tool_name", &call.tool).put_some("call_id", call.id);
    }
    for (key, value) in Fields::read(line).ok()?.iter() {
        let is_own = call.form != other.form && matches!(key, "tool" | "cmd" | "id");
        if !is_own && key != call.arguments_key {
            restated = restated.put_any(key, value);
        }
    }
    Some(restated.put(other.arguments_key, call.arguments.map_or("{}", RawValue::get)).end())
}

/// The fields of an answer besides its outcome.
const INCIDENTAL_FIELDS: [&str; 6] = ["events", "dropped", "frame", "epoch", "maybe_executed", "duration_ms"];

/// A line of the recorded world, as sent to the live `call`; without a line feed. A line that is not about a call is
/// kept.
pub(super) fn addressed_to(call: &Call<'_>, line: &str) -> String {
    let restated = about(line.as_bytes()).and_then(|about| with_live_id(call, &about, line));
    restated.unwrap_or_else(|| line.to_owned())
}

/// A recorded line about a call, with the id of `call`, and if it is an answer, in its form; without a line feed.
pub(super) fn with_live_id(call: &Call<'_>, about: &CallLine<'_>, line: &str) -> Option<String> {
    if matches!(about.news, CallNews::Answered { .. })
        && about.form != Some(call.form)
        && let Some(answer) = answer_in_form(line, call)
    {
        return Some(answer);
    }
    let id = call.id.map_or(Change::Remove, |id| Change::Set(id.get().as_bytes()));
    let mut changed = Vec::new();
    change(line, &[(about.id_key, id)], &mut changed).ok()?;
    String::from_utf8(changed).ok()
}

/// A recorded answer in the form of a call, if both are in our own forms; JSON text without a line feed. `None` if it
/// is not an answer.
fn answer_in_form(line: &str, call: &Call<'_>) -> Option<String> {
    let fields = Fields::read(line).ok().filter(|_| call.form != Form::JsonRpc)?;
    let text = |key| fields.get(key).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
    let is_ok = match fields.get("ok") {
        Some(ok) => ok.get() == "true",
        None => text("status")? == "ok",
    };
    let beside: Vec<(&str, &str)> =
        INCIDENTAL_FIELDS.iter().filter_map(|key| Some((*key, fields.get(key)?.get()))).collect();
    let (data, code) = (fields.get("data"), text("code"));
    if is_ok {
        let result = data.or(fields.get("result")).unwrap_or(RawValue::NULL);
        return Some(call.answer_with(Outcome::Ok(result), &beside));
    }
    let message = [text("error"), text("hint")].into_iter().flatten().collect::<Vec<_>>().join("; ");
    // A game has its own codes, and no kinds.
    let kind = text("kind").or_else(|| code.clone()).and_then(|kind| Kind::named(&kind)).unwrap_or(Kind::ToolError);
    let data = data.or(fields.get("details"));
    Some(call.answer_with(Outcome::Error { kind, message: &message, code: code.as_deref(), data }, &beside))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::compare::Comparison;
    use pipewright_record::recognise;
    use proptest::prelude::*;

    const RECORD: &str = r#"{"type":"tool_call","call_id":"m1","tool_name":"a","plan_id":2}"#;
    const OTHERS: [&str; 2] = [r#"{"id":7,"tool":"a"}"#, r#"{"cmd":"a"}"#];

    fn call(line: &str) -> Call<'_> {
        recognise(line).unwrap().unwrap()
    }

    fn paths(recorded: &str, now: &str) -> Vec<String> {
        let comparison = Comparison { ignores_ids: true, ..Comparison::default() };
        let all = comparison.differences(recorded.as_bytes(), now.as_bytes());
        all.into_iter().map(|difference| difference.path).collect()
    }

    #[test]
    fn a_call_is_the_same_as_a_tool_call_with_the_same_tool_arguments_and_other_fields() {
        let now = r#"{"type":"tool_call","call_id":"m1","tool_name":"a","arguments":{"n":1.10,"id":1}}"#;
        for (recorded, differences) in [
            (r#"{"id":1,"tool":"a","args":{"id":1,"n":1.10}}"#, &[][..]),
            (r#"{"arguments":{"id":1,"n":1.1},"cmd":"a"}"#, &[]),
            (r#"{"type":"tool_call","tool_name":"a","args":{"id":1,"n":1.1}}"#, &[]),
            (r#"{"id":1,"tool":"b","args":{"id":1,"n":1.1}}"#, &[".tool_name"]),
            (r#"{"id":1,"tool":"a","args":{"id":2,"n":1.1},"session_id":1}"#, &[".arguments.id", ".session_id"]),
            (r#"{"id":1,"tool":"a"}"#, &[".arguments.id", ".arguments.n"]),
        ] {
            assert_eq!(paths(recorded, now), differences, "{recorded}");
        }
        // The opposite conversion is not needed.
        assert!(!paths(now, r#"{"tool":"a","args":{"id":1,"n":1.10}}"#).is_empty());
    }

    #[test]
    fn arguments_that_are_missing_null_or_empty_are_the_same() {
        for recorded in [r#"{"tool":"a","id":1}"#, r#"{"tool":"a","args":null}"#, r#"{"tool":"a","arguments":{ }}"#] {
            for now in [r#"{"tool":"a"}"#, r#"{"tool":"a","args":null}"#, RECORD] {
                let expected: &[&str] = if now == RECORD { &[".plan_id"] } else { &[] };
                assert_eq!(paths(recorded, now), expected, "{recorded} {now}");
            }
        }
    }

    #[test]
    fn a_line_that_is_not_about_a_call_is_kept() {
        for line in ["", "[]", r#"{"tool":"a"}"#, r#"{"type":"observation","data":{"call_id":1}}"#] {
            assert_eq!(
                (addressed_to(&call(RECORD), line), answer_in_form(line, &call(RECORD))),
                (line.to_owned(), None)
            );
        }
    }

    proptest! {
        #[test]
        fn an_answer_in_another_form_becomes_the_answer_to_the_call(
            data in r#"[1-9][0-9]{0,24}|"[a-z{}]{0,4}"|\{"ok":(true|\[1\.10\])\}"#,
            message in ".{0,9}",
            code in proptest::option::of(".{0,9}"),
            kind in proptest::sample::select(Kind::ALL),
            epoch in 0_u64..9,
        ) {
            let data: &RawValue = serde_json::from_str(&data).unwrap();
            let epoch = epoch.to_string();
            let beside = [("frame", "12"), ("epoch", epoch.as_str())];
            let code = code.as_deref();
            let failed = |code, data| Outcome::Error { kind, message: &message, code, data };
            for outcome in [Outcome::Ok(data), failed(code, Some(data)), failed(None, None)] {
                for (recorded, now) in [(OTHERS[0], RECORD), (RECORD, OTHERS[0]), (RECORD, OTHERS[1])] {
                    let (recorded, now) = (call(recorded), call(now));
                    let restated = answer_in_form(&recorded.answer_with(outcome, &beside), &now);
                    prop_assert_eq!(restated, Some(now.answer_with(outcome, &beside)));
                }
            }
            // A game's form has a code instead of the kind.
            let (ok, refused) = (Outcome::Ok(data), failed(None, Some(data)));
            for (outcome, expected) in [(ok, ok), (refused, failed(Some(kind.name()), Some(data)))] {
                let godot = call(OTHERS[1]).answer_with(outcome, &beside[..1]);
                let beside = [("events", "[]"), ("frame", "12")];
                prop_assert_eq!(answer_in_form(&godot, &call(RECORD)), Some(call(RECORD).answer_with(expected, &beside)));
            }
        }
    }
}
