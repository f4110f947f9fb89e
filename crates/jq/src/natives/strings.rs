//! Strings and their characters.

use super::{function, pay};
use crate::compile::Data;
use crate::fuel;
use crate::json::{read, to_text};
use crate::value::document::whole;
use crate::value::text::Text;
use crate::value::{Value, ValueResult, fail};
use jaq_core::native::Fun;

pub fn functions() -> Vec<Fun<Data>> {
    vec![
        function!("utf8bytelength", 0, |value: Value| value.text().map(|text| Value::from(text.len()))),
        function!("ascii_downcase", 0, |value: Value| changed(&value, str::to_ascii_lowercase)),
        function!("ascii_upcase", 0, |value: Value| changed(&value, str::to_ascii_uppercase)),
        function!("trim", 0, |value: Value| cut(&value, str::trim)),
        function!("ltrim", 0, |value: Value| cut(&value, str::trim_start)),
        function!("rtrim", 0, |value: Value| cut(&value, str::trim_end)),
        function!("ltrimstr", 1, |value: Value, part: Value| Ok(without(&value, &part, |text, part| {
            text.strip_prefix(part)
        }))),
        function!("rtrimstr", 1, |value: Value, part: Value| Ok(without(&value, &part, |text, part| {
            text.strip_suffix(part)
        }))),
        function!("startswith", 1, |value: Value, part: Value| {
            Ok(Value::Bool(value.text()?.starts_with(part.text()?)))
        }),
        function!("endswith", 1, |value: Value, part: Value| Ok(Value::Bool(value.text()?.ends_with(part.text()?)))),
        function!("split", 1, |value: Value, separator: Value| {
            value.text()?;
            separator.text()?;
            value / separator
        }),
        function!("join", 1, join),
        function!("explode", 0, explode),
        function!("implode", 0, implode),
        function!("tonumber", 0, to_number),
    ]
}

fn changed(value: &Value, change: fn(&str) -> String) -> ValueResult {
    pay(value.weight())?;
    Ok(Value::from(change(value.text()?)))
}

/// The part of a string that `keep` leaves.
fn cut(value: &Value, keep: fn(&str) -> &str) -> ValueResult {
    value.text()?;
    pay(value.weight())?;
    Ok(part(value, |text| Some(keep(text))))
}

/// A value that isn't a string stays as it is.
fn without(value: &Value, unwanted: &Value, keep: for<'a> fn(&'a str, &str) -> Option<&'a str>) -> Value {
    match unwanted.as_text() {
        Some(unwanted) => part(value, |text| keep(text, unwanted)),
        None => value.clone(),
    }
}

fn part<'a>(value: &'a Value, keep: impl FnOnce(&'a str) -> Option<&'a str>) -> Value {
    let Value::Text(text) = value else {
        return value.clone();
    };
    match keep(text.as_str()) {
        Some(kept) => {
            let start = kept.as_ptr() as usize - text.as_str().as_ptr() as usize;
            Value::Text(text.slice(start, start + kept.len()))
        }
        None => value.clone(),
    }
}

/// As jq: null is nothing, and what isn't a string is written out.
fn join(value: Value, separator: Value) -> ValueResult {
    let items = value.into_items()?;
    if items.is_empty() {
        return Ok(Value::from(""));
    }
    let mut joined = Text::from("");
    for (index, item) in items.iter().enumerate() {
        let part = match item {
            Value::Text(text) => text.clone(),
            Value::Null => Text::from(""),
            Value::Bool(_) | Value::Number(_) => match to_text(item) {
                Value::Text(text) => text,
                _ => return Err(crate::value::spent()),
            },
            other => return Err(fail(format_args!("{} ({other}) cannot be joined", other.kind()))),
        };
        let between = if index > 0 { separator.text()? } else { "" };
        pay(fuel::of_bytes(between.len() + part.as_str().len()))?;
        joined.push(between);
        joined.push(part.as_str());
    }
    Ok(Value::Text(joined))
}

fn explode(value: Value) -> ValueResult {
    let text = value.text()?;
    pay(text.len() as u64 / 2)?;
    Ok(text.chars().map(|letter| Value::from(i64::from(u32::from(letter)))).collect())
}

fn implode(value: Value) -> ValueResult {
    let codes = value.into_items()?;
    pay(codes.len() as u64)?;
    let letter = |code: &Value| {
        let code_point = code.number()?.as_int().and_then(|int| u32::try_from(int).ok()).and_then(char::from_u32);
        code_point.ok_or_else(|| fail(format_args!("{code} is not the number of a character")))
    };
    codes.iter().map(letter).collect::<Result<String, _>>().map(Value::from)
}

fn to_number(value: Value) -> ValueResult {
    if let Value::Number(_) = value {
        return Ok(value);
    }
    let text = value.text().map_err(|_| value.wrong("a number, and can't be read as one"))?;
    pay(value.weight())?;
    match read(text.as_bytes(), 0).map(whole) {
        Ok(number @ Value::Number(_)) => Ok(number),
        _ => Err(fail(format_args!("{value} cannot be read as a number"))),
    }
}
