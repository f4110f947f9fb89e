//! The fields of a JSON object, read so that no two readers can read them as different objects.

use super::{Text, Unreadable, unreadable};
use pipewright_lines::why_not_json;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// An object's fields, with unparsed values. No key occurs twice, regardless of escapes and case.
#[derive(Debug, Default)]
pub struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// As strict as [`recognise`].
    pub fn read(text: &'a str) -> Result<Fields<'a>, Unreadable> {
        if text.trim_start().starts_with('[') {
            return unreadable("it is an array: send one record per line");
        }
        let fields: Fields = match serde_json::from_str(text) {
            Ok(fields) => fields,
            Err(error) => return unreadable(format_args!("it is not a JSON object: {}", why_not_json(&error))),
        };
        match fields.twice() {
            Some(twice) => unreadable(format_args!("{twice:?} appears twice, or in two spellings")),
            None => Ok(fields),
        }
    }

    /// The same, and also no object within it has a key twice, and no string has an unpaired surrogate. For arguments: the
    /// program that carries out the call reads all of them.
    pub fn read_deep(text: &'a str) -> Result<Fields<'a>, Unreadable> {
        let fields = Fields::read(text)?;
        if has_lone_surrogate(text.as_bytes()) {
            return unreadable(
                "an escape such as \\ud800 is an unpaired surrogate, which some readers keep and others replace",
            );
        }
        let mut nested = fields.0.iter().map(|(_, value)| value.get()).filter(|json| json.starts_with(['{', '[']));
        nested.try_for_each(unambiguous).map(|()| fields)
    }

    /// A key that occurs twice, regardless of case.
    fn twice(&self) -> Option<String> {
        // Most objects have a few plain keys; they are compared directly.
        const FEW: usize = 16;
        let keys = || self.0.iter().map(|(key, _)| &**key);
        if self.0.len() <= FEW && keys().all(str::is_ascii) {
            let is_again =
                |(index, key): &(usize, &str)| keys().take(*index).any(|other| other.eq_ignore_ascii_case(key));
            return keys().enumerate().find(is_again).map(|(_, key)| folded(key));
        }
        let mut keys: Vec<String> = keys().map(folded).collect();
        keys.sort_unstable();
        keys.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
    }

    /// A key that equals one of these for readers that ignore case, and that one. `names` are in lower case.
    pub(super) fn in_another_case<'name>(&self, names: &[&'name str]) -> Option<(&str, &'name str)> {
        // Most keys are in lower case, as are the names.
        let has_case = |key: &&str| key.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii());
        let mut keys = self.0.iter().map(|(key, _)| &**key).filter(has_case);
        keys.find_map(|key| {
            let is_same = |name: &&&str| match key.is_ascii() {
                true => key.eq_ignore_ascii_case(name),
                false => folded(key) == **name,
            };
            Some((key, *names.iter().find(is_same)?))
        })
    }

    /// Checks that none of these names occurs in another case.
    pub fn spelled_as(&self, names: &[&str]) -> Result<(), Unreadable> {
        match self.in_another_case(names) {
            Some((key, name)) => {
                unreadable(format_args!("{key:?} is {name:?} for readers that ignore case: write {name:?}"))
            }
            None => Ok(()),
        }
    }

    /// In their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, value)| (&**key, *value))
    }

    /// The value of a field.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|&(_, value)| value)
    }

    /// A value that is present and not null.
    pub fn present(&self, key: &str) -> Option<&'a RawValue> {
        self.get(key).filter(|value| value.get() != "null")
    }

    /// The string under the key; none if it is absent or null.
    ///
    /// # Errors
    /// Another value, or an unpaired surrogate.
    pub fn string(&self, key: &str) -> Result<Option<String>, Unreadable> {
        match self.present(key).map(|value| serde_json::from_str(value.get())) {
            None => Ok(None),
            Some(Ok(text)) => Ok(Some(text)),
            Some(Err(_)) => unreadable(format_args!("{key:?} is a string")),
        }
    }

    /// The values of the list under the key; empty if it is absent or null.
    ///
    /// # Errors
    /// Another value.
    pub fn list(&self, key: &str) -> Result<Vec<&'a RawValue>, Unreadable> {
        match self.present(key).map(|value| serde_json::from_str(value.get())) {
            None => Ok(Vec::new()),
            Some(Ok(list)) => Ok(list),
            Some(Err(_)) => unreadable(format_args!("{key:?} is a list")),
        }
    }

    /// The string under the key; none for any other value.
    pub fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// The same, borrowed if it has no escapes.
    pub fn borrowed_text(&self, key: &str) -> Option<Cow<'a, str>> {
        serde_json::from_str(self.get(key)?.get()).ok().map(|Text(text)| text)
    }

    /// The count under the key; none for any other value.
    pub fn count(&self, key: &str) -> Option<u64> {
        self.get(key)?.get().parse().ok()
    }

    /// The fields of the object under the key; none for any other value, or for an object that cannot be read unambiguously.
    pub fn object(&self, key: &str) -> Option<Fields<'a>> {
        Fields::read(self.get(key)?.get()).ok()
    }

    /// The value that a reader that ignores case finds under the key.
    pub fn get_ignoring_case(&self, key: &str) -> Option<&'a RawValue> {
        let key = folded(key);
        self.0.iter().find(|(name, _)| folded(name) == key).map(|&(_, value)| value)
    }
}

/// Checks that each object within a JSON value has each key once. Each level is parsed separately, so depth costs time;
/// serde_json limits the depth.
fn unambiguous(json: &str) -> Result<(), Unreadable> {
    const DEEPEST: usize = 127;
    let mut level = vec![json];
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for json in level {
            let values: Vec<&RawValue> = match json.starts_with('{') {
                true => Fields::read(json)?.0.into_iter().map(|(_, value)| value).collect(),
                false => serde_json::from_str(json).or_else(|_| unreadable("an array in it cannot be read"))?,
            };
            next.extend(values.into_iter().map(RawValue::get).filter(|json| json.starts_with(['{', '['])));
        }
        if next.is_empty() {
            return Ok(());
        }
        level = next;
    }
    unreadable("it nests too deeply to be read reliably")
}

/// A key as readers that ignore case compare it. Upper case first, for letters (a long s) that have no way back.
fn folded(key: &str) -> String {
    if key.is_ascii() {
        return key.to_ascii_lowercase();
    }
    key.to_uppercase().to_lowercase()
}

/// Whether JSON text has an escape for half of a surrogate pair without the other half (RFC 8259, section 8.2).
pub fn has_lone_surrogate(json: &[u8]) -> bool {
    lone_surrogate(json, 0).is_some()
}

/// JSON text with U+FFFD for each half of a surrogate pair without the other half.
pub fn without_lone_surrogates(json: &str) -> String {
    let mut bytes = json.as_bytes().to_vec();
    let mut at = 0;
    while let Some(found) = lone_surrogate(&bytes, at) {
        at = found + 6;
        bytes[found..at].copy_from_slice(b"\\ufffd");
    }
    // Only ASCII was replaced, by ASCII.
    String::from_utf8(bytes).unwrap_or_default()
}

/// The position of the first one from `at` on, which is not within an escape.
fn lone_surrogate(json: &[u8], mut at: usize) -> Option<usize> {
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    while let Some(found) = memchr::memchr(b'\\', json.get(at..)?) {
        at += found;
        at += match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => return Some(at),
            // The backslash and the escaped character.
            _ => 2,
        };
    }
    None
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Fields<'a>, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Text(key), value)) = map.next_entry()? {
                    fields.push((key, value));
                }
                Ok(fields)
            }
        }
        from.deserialize_map(Collect).map(Fields)
    }
}
