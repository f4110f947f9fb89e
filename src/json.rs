//! JSON text, written piece by piece: values stay the bytes they were, with every digit and in their order.

use std::fmt::{Display, Write};

/// Why a line is no JSON, and at which column. (serde_json tells a line as well, and of what we read there is one.)
pub(crate) fn why_none(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// An object's text, field by field.
#[derive(Debug, Default, Clone)]
pub(crate) struct Object(String);

impl Object {
    /// `key` is plain: there is nothing in it to be escaped. `json` is shown as JSON text.
    pub(crate) fn put(mut self, key: &str, json: impl Display) -> Object {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        // A string always takes it.
        let _ = write!(self.0, "\"{key}\":{json}");
        self
    }

    /// The same where the key is anybody's.
    pub(crate) fn put_any(mut self, key: &str, json: impl Display) -> Object {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        let _ = write!(self.0, "{}:{json}", quoted(key));
        self
    }

    /// A text.
    pub(crate) fn text(self, key: &str, text: &str) -> Object {
        self.put(key, quoted(text))
    }

    /// What may be missing is left out.
    pub(crate) fn put_some(self, key: &str, json: Option<impl Display>) -> Object {
        match json {
            Some(json) => self.put(key, json),
            None => self,
        }
    }

    /// A text, where there is one.
    pub(crate) fn text_some(self, key: &str, text: Option<&str>) -> Object {
        self.put_some(key, text.map(quoted))
    }

    /// Fields under plain keys, in their order.
    pub(crate) fn put_all<'a>(self, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Object {
        fields.into_iter().fold(self, |object, (key, json)| object.put(key, json))
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push_str(if self.0.is_empty() { "{}" } else { "}" });
        self.0
    }

    /// The object as a line.
    pub(crate) fn line(self) -> String {
        self.end() + "\n"
    }
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    // A text is a string: it can't fail.
    serde_json::to_string(text).unwrap_or_default()
}

/// A value without the line ends that it may be written over: between tokens they are white space, and in strings there are none.
pub(crate) fn one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_what_was_put_into_it() {
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
    }
}
