//! Strings: joining, replacing, and parsing numbers.

use super::{charge, function};
use crate::compile::Data;
use crate::fuel;
use crate::json::{read, to_text};
use crate::value::document::whole;
use crate::value::{Value, ValueResult, fail};
use jaq_core::native::Fun;

pub fn functions() -> Vec<Fun<Data>> {
    vec![
        function!("join", 1, |value: Value, separator: Value| row(value, separator.text()?, str::to_owned)),
        function!("@csv", 0, |value: Value| row(value, ",", |text| format!("\"{}\"", text.replace('"', "\"\"")))),
        function!("@tsv", 0, |value: Value| row(value, "\t", |text| {
            text.replace('\\', "\\\\").replace('\t', "\\t").replace('\r', "\\r").replace('\n', "\\n")
        })),
        function!("__replace", 2, replace),
        function!("explode", 0, explode),
        function!("implode", 0, implode),
        function!("tonumber", 0, to_number),
    ]
}

/// The elements of an array as a row: strings formatted by `cell`, nothing for null, other scalars as JSON.
fn row(value: Value, separator: &str, cell: fn(&str) -> String) -> ValueResult {
    let mut cells = Vec::new();
    for item in value.into_items()? {
        charge(fuel::of_bytes(separator.len()).saturating_add(item.weight()))?;
        cells.push(match &item {
            Value::Null => String::new(),
            Value::Text(text) => cell(text.as_str()),
            Value::Bool(_) | Value::Number(_) => to_text(&item).as_text().unwrap_or_default().to_owned(),
            other => return Err(fail(format_args!("{} ({other}) cannot be put in a row", other.kind()))),
        });
    }
    Ok(Value::from(cells.join(separator)))
}

/// Replaces each `old` with `new`.
fn replace(value: Value, old: Value, new: Value) -> ValueResult {
    let (text, old, new) = (value.text()?, old.text()?, new.text()?);
    charge(fuel::of_bytes(text.len()))?;
    charge(fuel::of_bytes(text.matches(old).count().saturating_mul(new.len())))?;
    Ok(Value::from(text.replace(old, new)))
}

fn explode(value: Value) -> ValueResult {
    let text = value.text()?;
    charge(text.len() as u64 / 2)?;
    Ok(text.chars().map(|letter| Value::from(i64::from(u32::from(letter)))).collect())
}

fn implode(value: Value) -> ValueResult {
    let codes = value.into_items()?;
    charge(codes.len() as u64)?;
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
    let text = value.text().map_err(|_| value.type_error("a number, and cannot be parsed as one"))?;
    charge(value.weight())?;
    match read(text.as_bytes(), 0).map(whole) {
        Ok(number @ Value::Number(_)) => Ok(number),
        _ => Err(fail(format_args!("{value} cannot be read as a number"))),
    }
}
