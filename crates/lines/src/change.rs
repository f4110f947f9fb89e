//! Changes or removes several fields of an object's text at once; everything else stays unchanged.

use super::field::{FieldError, range_in};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Range;

/// The change of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// Its new value, as JSON text; a new field is appended last.
    Set(&'a [u8]),
    /// Remove it.
    Remove,
}

/// Changes several top-level fields of an object's text at once; everything else stays unchanged.
///
/// ```
/// use pipewright_lines::{Change, change};
/// let mut out = Vec::new();
/// change(r#"{"a":1.10, "b":2 }"#, &[("a", Change::Remove), ("c", Change::Set(b"[]"))], &mut out)?;
/// assert_eq!(out, br#"{ "b":2 ,"c":[]}"#);
/// # Ok::<(), pipewright_lines::FieldError>(())
/// ```
///
/// # Errors
/// As [`find`]; nothing is written then.
pub fn change(text: &str, changes: &[(&str, Change<'_>)], out: &mut Vec<u8>) -> Result<(), FieldError> {
    if !text.trim_start().starts_with('{') {
        return Err(FieldError::NotAnObject);
    }
    let mut parser = serde_json::Deserializer::from_str(text);
    let members = parser.deserialize_map(Members { text, changes }).and_then(|members| parser.end().map(|()| members));
    let members = members.map_err(FieldError::Invalid)?;
    let is_there = |index: usize| members.iter().filter(|member| member.change == Some(index)).count();
    if (0..changes.len()).any(|index| is_there(index) > 1) {
        return Err(FieldError::Twice);
    }
    let bytes = text.as_bytes();
    // The opening brace is the first character that is not white space.
    let mut end = text.len() - text.trim_start().len() + 1;
    out.extend_from_slice(&bytes[..end]);
    let mut any = false;
    for member in &members {
        let before = &bytes[end..member.value.start];
        end = member.value.end;
        let change = member.change.map(|index| changes[index].1);
        if change == Some(Change::Remove) {
            continue;
        }
        // The first remaining field must not have a comma before it.
        let first_comma =
            before.iter().position(|byte| *byte == b',').filter(|at| before[..*at].trim_ascii().is_empty());
        let from = if any { 0 } else { first_comma.map_or(0, |at| at + 1) };
        out.extend_from_slice(&before[from..]);
        match change {
            Some(Change::Set(value)) => out.extend_from_slice(value),
            _ => out.extend_from_slice(&bytes[member.value.clone()]),
        }
        any = true;
    }
    let close = text.trim_end().len() - 1;
    out.extend_from_slice(&bytes[end..close]);
    for (index, (key, change)) in changes.iter().enumerate() {
        if let (Change::Set(value), 0) = (change, is_there(index)) {
            if std::mem::replace(&mut any, true) {
                out.push(b',');
            }
            // Converting a text to JSON cannot fail.
            out.extend_from_slice(serde_json::to_string(key).unwrap_or_default().as_bytes());
            out.push(b':');
            out.extend_from_slice(value);
        }
    }
    out.extend_from_slice(&bytes[close..]);
    Ok(())
}

struct Member {
    value: Range<usize>,
    /// The index of the change for it.
    change: Option<usize>,
}

struct Members<'k> {
    text: &'k str,
    changes: &'k [(&'k str, Change<'k>)],
}

impl<'de, 'k: 'de> Visitor<'de> for Members<'k> {
    type Value = Vec<Member>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Member>, A::Error> {
        let mut members = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            let change = self.changes.iter().position(|(name, _)| *name == key);
            members.push(Member { value: range_in(self.text, value.get()), change });
        }
        Ok(members)
    }
}

#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn change_ab(text: &str) -> String {
        let mut out = Vec::new();
        change(text, &[("a", Change::Remove), ("b", Change::Set(b"[1]"))], &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fields_are_changed_and_taken_out_in_the_raw_line() {
        for (text, changed) in [
            ("{}", r#"{"b":[1]}"#),
            (r#"{"a":1}"#, r#"{"b":[1]}"#),
            (r#" {"a":1,"c":1.10}"#, r#" {"c":1.10,"b":[1]}"#),
            (r#"{"c":1 ,"a":[2,{"b":3}] }"#, r#"{"c":1 ,"b":[1]}"#),
            (r#"{"c":1, "\u0061" : 2, "b" : 3 , "d":{}}"#, r#"{"c":1, "b" : [1] , "d":{}}"#),
            (r#"{ "a":1 , "b":2}"#, r#"{ "b":[1]}"#),
        ] {
            assert_eq!(change_ab(text), changed, "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(&change_ab(text)).is_ok());
        }
        let mut out = Vec::new();
        change("{}", &[("a\"b", Change::Set(b"1"))], &mut out).unwrap();
        assert_eq!(out, br#"{"a\"b":1}"#);
        let twice = change(r#"{"a":1,"\u0061":2}"#, &[("a", Change::Remove)], &mut Vec::new());
        assert!(matches!(twice, Err(FieldError::Twice)));
        assert!(change("[1]", &[], &mut Vec::new()).is_err() && change("{\"a\"", &[], &mut Vec::new()).is_err());
    }

    proptest! {
        #[test]
        fn changing_is_what_it_would_be_as_values(object: std::collections::BTreeMap<String, i64>, a: Option<i64>, b: bool) {
            let mut object: serde_json::Map<String, serde_json::Value> = object.into_iter().map(|(key, value)| (key, value.into())).collect();
            if let Some(a) = a { object.insert("a".to_owned(), a.into()); }
            if b { object.insert("b".to_owned(), serde_json::Value::Null); }
            let text = serde_json::Value::Object(object.clone()).to_string();
            let changed: serde_json::Value = serde_json::from_str(&change_ab(&text)).unwrap();
            object.remove("a");
            object.insert("b".to_owned(), serde_json::json!([1]));
            prop_assert_eq!(changed, serde_json::Value::Object(object));
        }
    }
}
