//! Writes JSON text piece by piece: values keep their bytes, with every digit and in their order.

use serde::Serialize;
use serde_json::value::RawValue;
use std::fmt::{Display, Write};

/// An object's text, field by field.
#[derive(Debug, Default, Clone)]
pub struct Object(String);

impl Object {
    /// `key` is plain: nothing in it needs escaping. `json` is displayed as JSON text.
    pub fn put(mut self, key: &str, json: impl Display) -> Object {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        // Writing to a String cannot fail.
        let _ = write!(self.0, "\"{key}\":{json}");
        self
    }

    /// The same for any key.
    pub fn put_any(mut self, key: &str, json: impl Display) -> Object {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        let _ = write!(self.0, "{}:{json}", quoted(key));
        self
    }

    /// Puts a text.
    pub fn text(self, key: &str, text: &str) -> Object {
        self.put(key, quoted(text))
    }

    /// Puts a value if there is one.
    pub fn put_some(self, key: &str, json: Option<impl Display>) -> Object {
        match json {
            Some(json) => self.put(key, json),
            None => self,
        }
    }

    /// Puts a text if there is one.
    pub fn text_some(self, key: &str, text: Option<&str>) -> Object {
        self.put_some(key, text.map(quoted))
    }

    /// Puts fields with plain keys, in their order.
    pub fn put_all<'a>(self, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Object {
        fields.into_iter().fold(self, |object, (key, json)| object.put(key, json))
    }

    /// The object's text.
    pub fn end(mut self) -> String {
        self.0.push_str(if self.0.is_empty() { "{}" } else { "}" });
        self.0
    }

    /// The object as a line.
    pub fn line(self) -> String {
        self.end() + "\n"
    }
}

/// A value as JSON text. Keys of maps in it are strings.
pub fn text(value: &(impl Serialize + ?Sized)) -> String {
    // Only a map whose keys are no strings could fail.
    serde_json::to_string(value).unwrap_or_default()
}

/// A string as JSON text.
pub fn quoted(string: &str) -> String {
    text(string)
}

/// JSON text as a value; null if it is not JSON.
pub fn raw(json: &str) -> &RawValue {
    serde_json::from_str(json).unwrap_or(RawValue::NULL)
}

/// A value without line breaks: between tokens they are white space. JSON allows no control characters in strings, but models write them
/// there: they are escaped, so that the text stays what it is.
pub fn one_line(json: &str) -> String {
    if !json.bytes().any(|byte| byte < b' ') {
        return json.to_owned();
    }
    let mut line = String::with_capacity(json.len() + 16);
    let (mut is_in_string, mut is_escaped) = (false, false);
    for character in json.chars() {
        match character {
            '\0'..' ' if is_in_string && !is_escaped => {
                line.push_str(quoted(character.encode_utf8(&mut [0; 4])).trim_matches('"'));
            }
            '\n' | '\r' => line.push(' '),
            _ => line.push(character),
        }
        is_in_string ^= character == '"' && !is_escaped;
        is_escaped = is_in_string && character == '\\' && !is_escaped;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_the_fields_put_into_it() {
        let object = Object::default()
            .put("n", "1.10")
            .put_any("a\"b", 7)
            .text("t", "\n")
            .put_some("none", None::<u64>)
            .text_some("none", None)
            .put_all([("x", "[]"), ("y", "{}")]);
        assert_eq!(object.end(), r#"{"n":1.10,"a\"b":7,"t":"\n","x":[],"y":{}}"#);
        assert_eq!(Object::default().line(), "{}\n");
        assert_eq!(one_line("{\r\n\"a\":1}"), "{  \"a\":1}");
        for (written, line) in [
            ("[\"a\nb\r\t\0\",\n\t1]", r#"["a\nb\r\t\u0000", <1]"#),
            ("\"\\\"\n\\\\\"\n", r#""\"\n\\" "#),
            // An escaped line feed is no JSON, and does not become any.
            ("\"\\\n\"", "\"\\ \""),
        ] {
            assert_eq!(one_line(written), line.replace('<', "\t"), "{written:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_text_with_raw_control_characters_stays_the_same(text in "[\\x00-\\x1fa\"\\\\]{0,12}") {
            let raw = text.replace('\\', "\\\\").replace('"', "\\\"");
            let line = one_line(&format!("[\r\n\"{raw}\"]"));
            proptest::prop_assert!(!line.contains(['\n', '\r']));
            let read: Vec<String> = serde_json::from_str(&line).map_err(|why| proptest::test_runner::TestCaseError::fail(why.to_string()))?;
            proptest::prop_assert_eq!(read, [text]);
        }
    }
}
