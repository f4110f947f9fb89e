//! Regular expressions on strings. jq's own functions for them are written in jq, using these.

use super::{charge, function};
use crate::compile::Data;
use crate::fuel;
use crate::matcher::{Matcher, matcher};
use crate::value::text::Text;
use crate::value::{Array, Error, Fields, Object, Value, ValueResult, fail, spent};
use jaq_core::ValT;
use jaq_core::native::Fun;
use regex::Captures;

pub fn functions() -> Vec<Fun<Data>> {
    vec![
        function!("__test", 2, |value: Value, pattern: Value, flags: Value| {
            let (text, matcher) = (value.text()?, compiled(&pattern, &flags)?);
            if !matcher.can_search(text, 0) {
                return Err(spent());
            }
            let found = matcher.regex.find_iter(text).find(|found| !matcher.skip_empty || !found.is_empty());
            matcher.charge(text, 0, found.as_ref().map_or(text.len(), regex::Match::end));
            Ok(Value::Bool(found.is_some()))
        }),
        function!("__match", 2, |value: Value, pattern: Value, flags: Value| {
            let mut matches = Vec::new();
            each(&value, &pattern, &flags, |_, found| matches.push(found))?;
            Ok(Array::value(matches))
        }),
        // The texts between the matches, and the matches, alternating.
        function!("__pieces", 2, |value: Value, pattern: Value, flags: Value| {
            let (mut pieces, mut at) = (Vec::new(), 0);
            each(&value, &pattern, &flags, |(start, end), found| {
                pieces.push(part(&value, at, start));
                pieces.push(found);
                at = end;
            })?;
            pieces.push(part(&value, at, usize::MAX));
            Ok(Array::value(pieces))
        }),
        // The named groups of a match.
        function!("__names", 0, |found: Value| {
            let mut fields = Fields::default();
            for group in found.index(&Value::from("captures"))?.into_items()? {
                if let Value::Text(name) = group.clone().index(&Value::from("name"))? {
                    fields.insert(name, group.index(&Value::from("string"))?);
                }
            }
            Ok(Object::value(fields))
        }),
        function!("__joined", 0, joined),
    ]
}

/// Turns strings, and arrays of alternatives, into all strings that can be formed from them.
fn joined(pieces: Value) -> ValueResult {
    let mut all = vec![Text::from("")];
    for piece in pieces.into_items()? {
        let choices = if piece.is_array() { piece.into_items()? } else { vec![piece] };
        let mut longer = Vec::new();
        for begun in all {
            for choice in choices.iter().skip(1) {
                longer.push(continued(begun.clone(), choice)?);
            }
            // The first alternative reuses the string, which is extended in place.
            if let Some(choice) = choices.first() {
                let at = longer.len() + 1 - choices.len();
                longer.insert(at, continued(begun, choice)?);
            }
        }
        all = longer;
    }
    Ok(all.into_iter().map(Value::Text).collect())
}

fn continued(mut text: Text, choice: &Value) -> Result<Text, Error> {
    let copied = text.push(choice.as_text().ok_or_else(|| choice.type_error("a string to be put in"))?);
    charge(fuel::of_bytes(copied))?;
    Ok(text)
}

fn compiled(pattern: &Value, flags: &Value) -> Result<std::rc::Rc<Matcher>, Error> {
    let text = pattern.as_text().ok_or_else(|| pattern.type_error("a string, which a pattern must be"))?;
    let flags = match flags {
        Value::Null => "",
        flags => flags.as_text().ok_or_else(|| flags.type_error("a string, which flags must be"))?,
    };
    matcher(text, flags).map_err(|message| fail(format_args!("{message} (in {pattern})")))
}

fn part(value: &Value, start: usize, end: usize) -> Value {
    match value {
        Value::Text(text) => Value::Text(text.slice(start, end.min(text.as_str().len()))),
        _ => Value::Null,
    }
}

/// Passes on the bounds and the description of each match.
fn each(
    value: &Value,
    pattern: &Value,
    flags: &Value,
    mut give: impl FnMut((usize, usize), Value),
) -> Result<(), Error> {
    let (text, matcher) = (value.text()?, compiled(pattern, flags)?);
    let (mut at, mut place) = (0, Place::default());
    let mut found = matcher.regex.captures_iter(text);
    while matcher.can_search(text, at) {
        let Some((captures, whole)) = found.next().and_then(|captures| captures.get(0).map(|whole| (captures, whole)))
        else {
            break;
        };
        if !matcher.charge(text, at, whole.end()) {
            return Err(spent());
        }
        at = whole.end();
        if matcher.skip_empty && whole.is_empty() {
            continue;
        }
        // Each match and each group becomes an object.
        charge(captures.len() as u64 * 16)?;
        give((whole.start(), whole.end()), describe(value, text, &matcher, &captures, &mut place));
        if !matcher.global {
            return Ok(());
        }
    }
    if matcher.charge(text, at, text.len()) { Ok(()) } else { Err(spent()) }
}

/// A position in a text, in bytes and in characters.
#[derive(Default)]
struct Place {
    bytes: usize,
    characters: usize,
}

impl Place {
    /// Moves on to a byte. The text is counted only once, however many matches there are.
    fn characters_to(&mut self, text: &str, bytes: usize) -> usize {
        let passed = text.get(self.bytes..bytes).unwrap_or_default();
        self.characters += passed.chars().count();
        self.bytes = self.bytes.max(bytes);
        self.characters
    }
}

fn describe(value: &Value, text: &str, matcher: &Matcher, captures: &Captures<'_>, place: &mut Place) -> Value {
    let mut groups = captures.iter().zip(matcher.regex.capture_names());
    let start = captures.get(0).map_or(0, |whole| whole.start());
    let at = place.characters_to(text, start);
    let mut fields = groups.next().map(|(whole, _)| bounds(value, text, whole, start, at)).unwrap_or_default();
    let inner = groups.map(|(group, name)| {
        let mut fields = bounds(value, text, group, start, at);
        fields.insert(Text::from("name"), name.map_or(Value::Null, Value::from));
        Object::value(fields)
    });
    fields.insert(Text::from("captures"), Array::value(inner.collect()));
    Object::value(fields)
}

/// The position of a group, in characters; none for a group that took no part.
fn bounds(value: &Value, text: &str, group: Option<regex::Match<'_>>, start: usize, at: usize) -> Fields {
    let count = |from: usize, to: usize| {
        fuel::charge(to.saturating_sub(from) as u64 / 32);
        text.get(from..to).unwrap_or_default().chars().count()
    };
    let (offset, length, string) = match group {
        Some(group) => (
            Value::from(at + count(start, group.start())),
            count(group.start(), group.end()),
            part(value, group.start(), group.end()),
        ),
        None => (Value::from(-1_i64), 0, Value::Null),
    };
    [("offset", offset), ("length", Value::from(length)), ("string", string)]
        .into_iter()
        .map(|(name, value)| (Text::from(name), value))
        .collect()
}
