//! Sets a field in the raw line: inserts it before the closing brace, or replaces the bytes of its value. The rest
//! of the line is neither parsed into values nor printed again, so that big integers, `1.10`, key order and
//! bytes that are not UTF-8 stay unchanged.

use super::{Line, text, why_not_json};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Range;

/// The position of a top-level field in a line's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldPosition {
    /// There is no such field.
    Absent,
    /// The range of its value's bytes.
    Present(Range<usize>),
}

/// Why a field cannot be set.
#[derive(Debug, thiserror::Error)]
pub enum FieldError {
    /// The line is not a JSON object: a filter passes it on unchanged.
    #[error("not a JSON object")]
    NotAnObject,
    /// The field occurs more than once, so readers may disagree about its value.
    #[error("the field is there twice")]
    Twice,
    /// The line begins like an object but is not JSON.
    #[error("not JSON: {}", why_not_json(.0))]
    Invalid(serde_json::Error),
}

/// Finds the top-level field `key` of a line's body, however its name is escaped.
///
/// # Errors
/// If the body is not one JSON object with at most one such field.
pub fn find(body: &[u8], key: &str) -> Result<FieldPosition, FieldError> {
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(FieldError::NotAnObject);
    }
    let text = text(body);
    let mut parser = serde_json::Deserializer::from_str(&text);
    let place = parser.deserialize_map(FieldFinder { key, text: &text }).and_then(|place| parser.end().map(|()| place));
    place.map_err(FieldError::Invalid)?.ok_or(FieldError::Twice)
}

/// Returns `None` if the key occurs more than once.
struct FieldFinder<'k> {
    key: &'k str,
    text: &'k str,
}

impl<'de, 'k: 'de> Visitor<'de> for FieldFinder<'k> {
    type Value = Option<FieldPosition>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<FieldPosition>, A::Error> {
        let mut place = Some(FieldPosition::Absent);
        while let Some(IsKey(found)) = map.next_key_seed(KeySeed(self.key))? {
            if !found {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value: &RawValue = map.next_value()?;
            place = match place {
                Some(FieldPosition::Absent) => Some(FieldPosition::Present(range_in(self.text, value.get()))),
                _ => None,
            };
        }
        Ok(place)
    }
}

/// The range of `part`, which was borrowed from `whole`.
pub fn range_in(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

struct IsKey(bool);
struct KeySeed<'k>(&'k str);

impl<'de> serde::de::DeserializeSeed<'de> for KeySeed<'_> {
    type Value = IsKey;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<IsKey, D::Error> {
        let key = std::borrow::Cow::<'de, str>::deserialize(from)?;
        Ok(IsKey(key == self.0))
    }
}

/// Writes the line with `key` set to `value` (JSON text) at the position that [`find`] returned. White space
/// before the closing brace, the line ending and everything else stay unchanged.
pub fn set_at(line: &Line<'_>, place: &FieldPosition, key: &str, value: &[u8], out: &mut Vec<u8>) {
    let body = line.body();
    out.extend_from_slice(line.before());
    match place {
        FieldPosition::Present(range) => {
            out.extend_from_slice(&body[..range.start]);
            out.extend_from_slice(value);
            out.extend_from_slice(&body[range.end..]);
        }
        FieldPosition::Absent => {
            let brace = body.trim_ascii_end().len().saturating_sub(1);
            out.extend_from_slice(&body[..brace]);
            if body[..brace].trim_ascii_end().last() != Some(&b'{') {
                out.push(b',');
            }
            out.push(b'"');
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(b"\":");
            out.extend_from_slice(value);
            out.extend_from_slice(&body[brace..]);
        }
    }
    out.extend_from_slice(line.after());
}

/// [`find`] and [`set_at`] in one. `key` is a plain name that needs no escapes.
///
/// ```
/// use pipewright_lines::{Line, set};
/// let mut out = Vec::new();
/// set(&Line::new(b"{\"big\":12345678901234567890 }\n", 1), "ok", b"true", &mut out)?;
/// assert_eq!(out, b"{\"big\":12345678901234567890 ,\"ok\":true}\n");
/// # Ok::<(), pipewright_lines::FieldError>(())
/// ```
///
/// # Errors
/// As [`find`]; nothing is written then.
pub fn set(line: &Line<'_>, key: &str, value: &[u8], out: &mut Vec<u8>) -> Result<(), FieldError> {
    let place = find(line.body(), key)?;
    set_at(line, &place, key, value, out);
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set_f(raw: &str) -> Result<String, String> {
        let mut out = Vec::new();
        set(&Line::new(raw.as_bytes(), 1), "f", b"[1]", &mut out)
            .map(|()| String::from_utf8(out).unwrap())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_field_is_set_in_the_raw_line() {
        assert_eq!(set_f("{}").unwrap(), r#"{"f":[1]}"#);
        assert_eq!(set_f(" { } \r\n").unwrap(), " { \"f\":[1]} \r\n");
        assert_eq!(set_f("{\"a\":1.10 } \n").unwrap(), "{\"a\":1.10 ,\"f\":[1]} \n");
        assert_eq!(set_f("\u{feff}{\"a\":{}}").unwrap(), "\u{feff}{\"a\":{},\"f\":[1]}");
        assert_eq!(set_f(r#"{"f" : {"f":2} ,"b":3}"#).unwrap(), r#"{"f" : [1] ,"b":3}"#);
        assert_eq!(set_f(r#"{"\u0066":null}"#).unwrap(), r#"{"\u0066":[1]}"#);
        assert_eq!(set_f(r#"{"a":{"f":1}}"#).unwrap(), r#"{"a":{"f":1},"f":[1]}"#);
    }

    #[test]
    fn what_cannot_be_set_says_why() {
        assert!(set_f(r#"{"f":1,"f":2}"#).unwrap_err().contains("twice"));
        assert!(set_f(r#"{"f":1,"\u0066":2}"#).unwrap_err().contains("twice"));
        assert!(set_f("[]").unwrap_err().contains("not a JSON object"));
        assert!(set_f("").unwrap_err().contains("not a JSON object"));
        assert!(set_f("{\"a\":1}}").unwrap_err().contains("not JSON"));
        assert!(set_f("{\"a\":1} {}").unwrap_err().contains("not JSON"));
        assert!(set_f("{\"a\":").unwrap_err().contains("not JSON"));
        assert!(set_f("{\"a\":NaN}").unwrap_err().contains("not JSON"));
    }

    #[test]
    fn bytes_that_are_no_utf8_stay() {
        let mut out = Vec::new();
        set(&Line::new(b"{\"n\":\"\xb4\xf2\",\"f\":0}\n", 1), "f", b"1", &mut out).unwrap();
        assert_eq!(out, b"{\"n\":\"\xb4\xf2\",\"f\":1}\n");
    }

    #[test]
    fn nesting_is_no_trouble() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(set_f(&deep).unwrap().ends_with(",\"f\":[1]}"));
    }

    proptest! {
        #[test]
        fn setting_changes_that_field_alone(
            fields in prop::collection::vec(("[a-h]{1,2}", "[0-9]{1,25}", "[ \t]{0,2}"), 0..6),
            tail in "[ \t]{0,3}\r?\n?",
        ) {
            // Distinct keys: duplicates are tested above.
            let mut seen = std::collections::HashSet::new();
            let fields: Vec<_> = fields.into_iter().filter(|(key, ..)| seen.insert(key.clone())).collect();
            let print = |changed: Option<&str>| {
                let all: Vec<String> = fields.iter().map(|(key, value, space)| {
                    let value = if key == "f" { changed.unwrap_or("7") } else { &format!("\"{value}\"") };
                    format!("{space}\"{key}\"{space}:{space}{value}")
                }).collect();
                all.join(",")
            };
            let raw = format!("{{{}}}{tail}", print(None));
            let expected = if fields.iter().any(|(key, ..)| key == "f") {
                format!("{{{}}}{tail}", print(Some("[1]")))
            } else {
                let comma = if fields.is_empty() { "" } else { "," };
                format!("{{{}{comma}\"f\":[1]}}{tail}", print(None))
            };
            prop_assert_eq!(set_f(&raw).unwrap(), expected);
        }
    }
}
