//! The marks that gates write on a call, and remove again: `target`, `policy` and `requires_approval`. They are
//! top-level fields of a record; a JSON-RPC call has them in `params._meta`. A settled JSON-RPC call has no marks,
//! since a foreign server may do anything with them (one was observed that gave no reply at all). All other bytes stay.

use crate::target::Target;
use pipewright_lines::{Change, FieldError, FieldPosition, change, find};
use pipewright_record::{Call, Form};

/// The marks of a call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks<'a> {
    /// What it acts on, JSON text.
    pub target: Option<&'a str>,
    /// The decision, JSON text.
    pub policy: Option<&'a str>,
    /// Whether a person must approve the call.
    pub requires_approval: bool,
}

const NAMES: [&str; 3] = ["target", "policy", "requires_approval"];

/// The text of a call with these marks, which replace its own.
///
/// # Errors
/// If the text is not an object; the text of a recognised call is one.
pub fn mark(call: &Call<'_>, text: &str, marks: &Marks<'_>) -> Result<String, FieldError> {
    let set = |value: Option<&'static str>| value.map_or(Change::Remove, |value| Change::Set(value.as_bytes()));
    let mut changes = Vec::with_capacity(3);
    // A field of the same name that is no mark belongs to the world.
    let is_marked = call.target.is_some_and(|own| Target::read(own.get()).is_some());
    match marks.target {
        Some(target) => changes.push((NAMES[0], Change::Set(target.as_bytes()))),
        None if is_marked => changes.push((NAMES[0], Change::Remove)),
        None => {}
    }
    changes.push((NAMES[1], marks.policy.map_or(Change::Remove, |policy| Change::Set(policy.as_bytes()))));
    changes.push((NAMES[2], set(marks.requires_approval.then_some("true"))));
    at_marks(call, text, &changes)
}

/// The text of a call that may pass, without the mark that holds it. A record keeps its target and policy; a JSON-RPC
/// call loses all marks.
///
/// # Errors
/// As [`mark`].
pub fn settle(call: &Call<'_>, text: &str) -> Result<String, FieldError> {
    let removed = NAMES.map(|name| (name, Change::Remove));
    at_marks(call, text, if call.form == Form::JsonRpc { &removed } else { &removed[2..] })
}

/// The text of a call with other arguments, which are JSON text.
///
/// # Errors
/// As [`mark`].
pub fn with_arguments(call: &Call<'_>, text: &str, arguments: &str) -> Result<String, FieldError> {
    let changes = |key| [(key, Change::Set(arguments.as_bytes()))];
    match (call.form, call.arguments_key) {
        (Form::JsonRpc, key) => within(text, &["params"], &changes(key)),
        (_, key) => within(text, &[], &changes(key)),
    }
}

fn at_marks(call: &Call<'_>, text: &str, changes: &[(&str, Change<'_>)]) -> Result<String, FieldError> {
    match call.form {
        Form::JsonRpc => within(text, &["params", "_meta"], changes),
        _ => within(text, &[], changes),
    }
}

/// Changes fields of the object at `path`, which is created if it is missing, and removed if it becomes empty.
fn within(text: &str, path: &[&str], changes: &[(&str, Change<'_>)]) -> Result<String, FieldError> {
    let mut out = Vec::with_capacity(text.len() + 256);
    let Some((key, deeper)) = path.split_first() else {
        change(text, changes, &mut out)?;
        return string(out);
    };
    let inner = match find(text.as_bytes(), key)? {
        FieldPosition::Present(range) => Some(&text[range]),
        FieldPosition::Absent => None,
    };
    let changed = within(inner.unwrap_or("{}"), deeper, changes)?;
    let is_empty = changed.bytes().all(|byte| byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}'));
    // An empty object of the caller stays.
    let had_any = inner.is_some_and(|inner| inner.trim().len() > 2);
    match (inner, is_empty) {
        (None, true) => return Ok(text.to_owned()),
        (Some(_), true) if had_any => change(text, &[(key, Change::Remove)], &mut out)?,
        _ => change(text, &[(key, Change::Set(changed.as_bytes()))], &mut out)?,
    }
    string(out)
}

/// Text in which complete values were replaced by text.
fn string(bytes: Vec<u8>) -> Result<String, FieldError> {
    String::from_utf8(bytes).map_err(|_| FieldError::NotAnObject)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use pipewright_record::recognise;

    fn marked(text: &str, marks: &Marks<'_>) -> String {
        mark(&recognise(text).unwrap().unwrap(), text, marks).unwrap()
    }

    const HELD: Marks<'_> =
        Marks { target: Some(r#"{"name":"Pay"}"#), policy: Some(r#"{"verdict":"confirm"}"#), requires_approval: true };

    #[test]
    fn marks_are_written_where_the_form_has_them_and_removed_again() {
        for (call, held, settled) in [
            (
                r#"{"tool":"click","args":{"n":1.10} }"#,
                r#"{"tool":"click","args":{"n":1.10} ,"target":{"name":"Pay"},"policy":{"verdict":"confirm"},"requires_approval":true}"#,
                r#"{"tool":"click","args":{"n":1.10} ,"target":{"name":"Pay"},"policy":{"verdict":"confirm"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"target":{"name":"Pay"},"policy":{"verdict":"confirm"},"requires_approval":true}}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#,
            ),
            (
                r#"{"method":"tools/call","params":{"_meta":{"progressToken":1.0},"name":"x"},"id":1}"#,
                r#"{"method":"tools/call","params":{"_meta":{"progressToken":1.0,"target":{"name":"Pay"},"policy":{"verdict":"confirm"},"requires_approval":true},"name":"x"},"id":1}"#,
                r#"{"method":"tools/call","params":{"_meta":{"progressToken":1.0},"name":"x"},"id":1}"#,
            ),
        ] {
            assert_eq!(marked(call, &HELD), held);
            let again = recognise(held).unwrap().unwrap();
            assert!(again.requires_approval && again.policy.is_some() && again.target.is_some());
            assert_eq!(settle(&again, held).unwrap(), settled);
            assert!(!recognise(settled).unwrap().unwrap().requires_approval);
        }
    }

    #[test]
    fn the_callers_own_marks_are_overwritten() {
        let own =
            r#"{"type":"tool_call","tool_name":"x","policy":{"verdict":"allow"},"requires_approval":false,"z":1}"#;
        assert_eq!(
            marked(own, &Marks { policy: Some("{}"), requires_approval: true, ..Marks::default() }),
            r#"{"type":"tool_call","tool_name":"x","policy":{},"requires_approval":true,"z":1}"#
        );
        let own =
            r#"{"method":"tools/call","id":1,"params":{"name":"x","_meta":{"policy":1,"requires_approval":false}}}"#;
        assert_eq!(marked(own, &Marks::default()), r#"{"method":"tools/call","id":1,"params":{"name":"x"}}"#);
        let own = r#"{"method":"tools/call","id":1,"params":{"name":"x","_meta":{}}}"#;
        assert_eq!(marked(own, &Marks::default()), own);
    }

    #[test]
    fn arguments_are_replaced_in_every_form() {
        for (call, edited) in [
            (r#"{"tool":"x"}"#, r#"{"tool":"x","args":{"a":1.10}}"#),
            (r#"{"cmd":"x","args":{},"id":1}"#, r#"{"cmd":"x","args":{"a":1.10},"id":1}"#),
            (
                r#"{"type":"tool_call","tool_name":"x","arguments":{"b":2}}"#,
                r#"{"type":"tool_call","tool_name":"x","arguments":{"a":1.10}}"#,
            ),
            (
                r#"{"method":"tools/call","params":{"name":"x"}}"#,
                r#"{"method":"tools/call","params":{"name":"x","arguments":{"a":1.10}}}"#,
            ),
        ] {
            let recognised = recognise(call).unwrap().unwrap();
            assert_eq!(with_arguments(&recognised, call, r#"{"a":1.10}"#).unwrap(), edited);
        }
    }
}
