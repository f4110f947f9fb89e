//! Follows paths through text that is known to be JSON: other values are skipped as fast as their end can be
//! found, and nothing is validated again. For text that is not JSON, only termination is guaranteed.

use super::depth::string_end;
use super::path::{Node, Step};
use std::borrow::Cow;

/// Records the values that `node` and its children select in the value at `at`, and returns the position after that value. Does
/// not descend deeper than the paths.
pub(super) fn follow<'a>(node: &Node, json: &'a str, at: usize, found: &mut [Option<&'a str>]) -> usize {
    let at = behind_space(json.as_bytes(), at);
    let end = match json.as_bytes().get(at) {
        Some(b'{') if !node.below.is_empty() => follow_object(node, json, at + 1, found),
        Some(b'[') if !node.below.is_empty() => follow_array(node, json, at + 1, found),
        _ => value_end(json.as_bytes(), at),
    };
    for &number in &node.wanted {
        if let Some(place) = found.get_mut(number) {
            *place = json.get(at..end);
        }
    }
    end
}

/// `at` is the position after the opening brace.
fn follow_object<'a>(node: &Node, json: &'a str, mut at: usize, found: &mut [Option<&'a str>]) -> usize {
    let bytes = json.as_bytes();
    loop {
        at = behind_space(bytes, at);
        match bytes.get(at) {
            Some(b'"') => {
                let key = Key::read(bytes, at + 1);
                // The position after the colon.
                let value = behind_space(bytes, key.end + 1) + 1;
                at = match node.below.iter().find(|(step, _)| key.is(step)) {
                    Some((_, below)) => follow(below, json, value, found),
                    None => value_end(bytes, behind_space(bytes, value)),
                };
            }
            Some(b',') => at += 1,
            Some(b'}') => return at + 1,
            _ => return bytes.len(),
        }
    }
}

/// `at` is the position after the opening bracket.
fn follow_array<'a>(node: &Node, json: &'a str, mut at: usize, found: &mut [Option<&'a str>]) -> usize {
    let bytes = json.as_bytes();
    let mut index = 0;
    loop {
        at = behind_space(bytes, at);
        match bytes.get(at) {
            Some(b']') => return at + 1,
            Some(b',') => at += 1,
            Some(_) => {
                let wanted = node.below.iter().find(|(step, _)| match step {
                    Step::Item(item) => *item == index,
                    Step::Each => index == 0,
                    Step::Field(_) => false,
                });
                index += 1;
                let end = match wanted {
                    Some((_, below)) => follow(below, json, at, found),
                    None => value_end(bytes, at),
                };
                // In JSON this always advances; in other text the `+ 1` guarantees it.
                at = end.max(at + 1);
            }
            None => return bytes.len(),
        }
    }
}

/// An object's key, without its quotes.
struct Key<'a> {
    text: &'a [u8],
    is_escaped: bool,
    /// The position of its closing quote.
    end: usize,
}

impl<'a> Key<'a> {
    /// `start` is the position after the quote. Keys are short: a byte at a time is faster than a vectorized search.
    fn read(bytes: &'a [u8], start: usize) -> Key<'a> {
        let (mut end, mut is_escaped) = (start, false);
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b'"' => break,
                b'\\' => {
                    is_escaped = true;
                    end += 2;
                }
                _ => end += 1,
            }
        }
        Key { text: bytes.get(start..end).unwrap_or_default(), is_escaped, end }
    }

    fn is(&self, step: &Step) -> bool {
        match step {
            Step::Each => true,
            Step::Item(_) => false,
            Step::Field(field) if !self.is_escaped => self.text == field.as_bytes(),
            Step::Field(field) => {
                let quoted = [b"\"", self.text, b"\""].concat();
                serde_json::from_slice::<Cow<'_, str>>(&quoted).is_ok_and(|key| key == *field)
            }
        }
    }
}

pub(crate) fn behind_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// Texts up to this length are searched a byte at a time.
const SHORT: usize = 24;

/// From the position after the opening quote to the position after the closing one.
fn text_end(bytes: &[u8], at: usize) -> usize {
    for (offset, byte) in bytes.get(at..).unwrap_or_default().iter().take(SHORT).enumerate() {
        match byte {
            b'"' => return at + offset + 1,
            b'\\' => return string_end(bytes, at + offset),
            _ => {}
        }
    }
    string_end(bytes, at + SHORT)
}

pub(super) fn value_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => text_end(bytes, at + 1),
        Some(b'{' | b'[') => brackets_end(bytes, at),
        _ => {
            let rest = bytes.get(at..).unwrap_or_default();
            let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
            at + rest.iter().position(ends).unwrap_or(rest.len())
        }
    }
}

fn brackets_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0usize;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = text_end(bytes, at),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}
