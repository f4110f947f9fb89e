//! The element that a call acts on, as in a call's `target`.

use pipewright_record::{Fields, json};
use serde::Serialize;

/// An element of a user interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Target {
    /// The ARIA role, or the nearest word: `button`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Its accessible name, or else the text in it.
    pub name: String,
    /// The typed or set value, a submit button's `value`, a link's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The text near it: a dialog's question, a row's other cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The snapshot that showed it. Without it, only the words of the call are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// The origin of the document that it is in, as browsers serialise it: `https://shop.example`. Only a world that
    /// shows the page tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The deal beside it, JSON text, if it orders or pays and the world has told. Calls have it as an argument.
    #[serde(skip)]
    pub deal: Option<String>,
}

impl Target {
    /// Reads a call's `target`; `None` if it can't be read for certain.
    ///
    /// ```
    /// use pipewright_policy::target::Target;
    /// let target = Target::read(r#"{"role":"button","name":"Pay"}"#).expect("a target");
    /// assert_eq!(target.json(), r#"{"role":"button","name":"Pay"}"#);
    /// assert_eq!(Target::read(r#"{"name":"Pay","name":"Like"}"#), None);
    /// ```
    pub fn read(json: &str) -> Option<Target> {
        let fields = Fields::read(json).ok()?;
        let text = |key| match fields.get(key).map(|value| value.get()) {
            None | Some("null") => Some(None),
            Some(json) => serde_json::from_str::<String>(json).ok().map(Some),
        };
        Some(Target {
            role: text("role")?,
            name: text("name")?.unwrap_or_default(),
            value: text("value")?,
            context: text("context")?,
            snapshot_id: text("snapshot_id")?,
            origin: text("origin")?,
            deal: None,
        })
    }

    /// JSON text, without the fields that are not known.
    pub fn json(&self) -> String {
        json::text(self)
    }

    /// The number of bytes of its texts.
    pub(super) fn size(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        [&self.role, &self.value, &self.context, &self.origin, &self.deal].into_iter().map(length).sum::<usize>()
            + self.name.len()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_read_as_it_was_written() {
        let target = Target {
            role: Some("button".to_owned()),
            name: "a \"b\"\n\u{0}é".to_owned(),
            value: Some(String::new()),
            context: Some("Delete?".to_owned()),
            snapshot_id: Some("s1".to_owned()),
            origin: Some("https://shop.example".to_owned()),
            deal: None,
        };
        assert_eq!(Target::read(&target.json()), Some(target));
        assert_eq!(Target::default().json(), r#"{"name":""}"#);
        assert_eq!(Target::read(r#"{"role":null,"unknown":[1]}"#), Some(Target::default()));
        for bad in ["", "[]", "7", r#"{"name":7}"#, r#"{"role":["x"]}"#, r#"{"name":"a","Name":"b"}"#] {
            assert_eq!(Target::read(bad), None, "{bad}");
        }
    }
}
