//! A field that is set in a raw line occurs once, with the new value, and nothing else changes.
//!
//! Input: a byte (odd: the line is the first of its stream), and the line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_lines::{Line, deeper_than, set};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

const FIELD: &str = "f";
const VALUE: &str = r#"[{"cmd":"play 1"}]"#;
/// Deeper lines can be set too, but comparing their contents needs stack.
const DEEPEST: usize = 100;

fuzz_target!(|input: &[u8]| {
    let Some((first, raw)) = input.split_first() else {
        return;
    };
    let number = if first % 2 == 1 { 1 } else { 2 };
    let mut once = Vec::new();
    if set(&Line::new(raw, number), FIELD, VALUE.as_bytes(), &mut once).is_err() {
        assert!(once.is_empty(), "something was written all the same");
        return;
    }
    let mut twice = Vec::new();
    set(&Line::new(&once, number), FIELD, VALUE.as_bytes(), &mut twice).expect("it was just set");
    assert_eq!(once, twice, "setting twice is not setting once");
    compare(Line::new(raw, number), Line::new(&once, number));
});

fn compare(before: Line<'_>, after: Line<'_>) {
    assert_eq!((before.before(), before.after()), (after.before(), after.after()), "what is around the body changed");
    if std::str::from_utf8(before.body()).is_err() || deeper_than(before.body(), DEEPEST) {
        return;
    }
    serde_json::from_slice::<&RawValue>(after.body()).expect("what was written is JSON");
    // Some JSON has no value in serde_json: `1e999`, half a surrogate pair.
    let Some(mut expected) = object(before.body()) else {
        return;
    };
    let found = object(after.body()).expect("it was readable before");
    if !expected.contains_key(FIELD) {
        assert!(is_inserted(before.body(), after.body()), "bytes were lost or changed");
    }
    // Readers differ about repeated keys, and a map keeps one of them.
    if count_keys(before.body()) != count(&expected) {
        return;
    }
    expected.insert(FIELD.to_owned(), serde_json::from_str(VALUE).expect("it is JSON"));
    assert!(expected.iter().eq(found.iter()), "{expected:?} became {found:?}");
    assert_eq!(count_keys(after.body()), count(&found), "a key occurs twice");
}

fn object(body: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(body).ok()
}

/// Whether `after` is `before` with an insertion at one place.
fn is_inserted(before: &[u8], after: &[u8]) -> bool {
    let head = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(one, other)| one == other).count();
    head + tail >= before.len()
}

/// The number of keys on all levels in the text.
fn count_keys(body: &[u8]) -> usize {
    let mut count = 0;
    let mut at = 0;
    while at < body.len() {
        match body[at] {
            b'"' => {
                at += 1;
                while body[at] != b'"' {
                    at += if body[at] == b'\\' { 2 } else { 1 };
                }
            }
            // Outside of strings, a colon only occurs after a key.
            b':' => count += 1,
            _ => {}
        }
        at += 1;
    }
    count
}

/// The number of keys on all levels in the parsed value.
fn count(object: &Map<String, Value>) -> usize {
    object.values().map(|value| 1 + count_in(value)).sum()
}

fn count_in(value: &Value) -> usize {
    match value {
        Value::Object(object) => count(object),
        Value::Array(array) => array.iter().map(count_in).sum(),
        _ => 0,
    }
}
