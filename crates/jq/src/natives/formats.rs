//! Strings as other formats want them: `@csv`, `@html`, `@base64`, …

use super::{function, once, pay};
use crate::compile::Data;
use crate::fuel;
use crate::json::to_text;
use crate::value::{Error, Value, ValueResult, fail};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use jaq_core::ValT;
use jaq_core::native::Fun;

pub fn functions() -> Vec<Fun<Data>> {
    vec![
        function!("@text", 0, |value: Value| Ok(value.into_string())),
        function!("@json", 0, |value: Value| Ok(to_text(&value))),
        function!("@csv", 0, |value: Value| row(value, ",", |text| format!("\"{}\"", text.replace('"', "\"\"")))),
        function!("@tsv", 0, |value: Value| row(value, "\t", |text| {
            text.replace('\\', "\\\\").replace('\t', "\\t").replace('\r', "\\r").replace('\n', "\\n")
        })),
        function!("@html", 0, |value: Value| formatted(value, html)),
        function!("@uri", 0, |value: Value| formatted(value, uri)),
        function!("@sh", 0, shell),
        function!("@base64", 0, |value: Value| formatted(value, |text| STANDARD.encode(text))),
        function!("@base64d", 0, |value: Value| {
            let text = written(value)?;
            let stripped = text.as_text().unwrap_or_default().trim_end_matches('=');
            let decoded = STANDARD_NO_PAD.decode(stripped);
            let bytes = decoded.map_err(|_| fail(format_args!("{text} is not base64")))?;
            Ok(Value::from(String::from_utf8_lossy(&bytes).into_owned()))
        }),
    ]
}

/// A string as it is, anything else as JSON; paid for as much as a format can make of it.
fn written(value: Value) -> ValueResult {
    let text = value.into_string();
    pay(text.weight().saturating_mul(6))?;
    Ok(text)
}

fn formatted(value: Value, format: fn(&str) -> String) -> ValueResult {
    Ok(Value::from(format(written(value)?.as_text().unwrap_or_default())))
}

/// The scalars of an array in a row.
fn row(value: Value, separator: &str, quote: fn(&str) -> String) -> ValueResult {
    let mut cells = Vec::new();
    for item in value.into_items()? {
        cells.push(match &item {
            Value::Null => String::new(),
            Value::Bool(_) | Value::Number(_) => plain(item)?,
            Value::Text(text) => {
                pay(fuel::of_bytes(text.as_str().len()))?;
                quote(text.as_str())
            }
            other => return Err(fail(format_args!("{} ({other}) is not valid in a row", other.kind()))),
        });
    }
    Ok(Value::from(cells.join(separator)))
}

fn plain(value: Value) -> Result<String, Error> {
    Ok(written(value)?.as_text().unwrap_or_default().to_owned())
}

fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\'' => safe.push_str("&#39;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

fn uri(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => safe.push(char::from(byte)),
            other => safe.push_str(&format!("%{other:02X}")),
        }
    }
    safe
}

/// Strings in single quotes, an array's elements with spaces between them.
fn shell(value: Value) -> ValueResult {
    let items = if value.is_array() { value.into_items()? } else { vec![value] };
    let mut words = Vec::new();
    for item in items {
        once(|| Ok(Value::Null))?;
        words.push(match &item {
            Value::Text(text) => {
                pay(fuel::of_bytes(text.as_str().len().saturating_mul(4)))?;
                format!("'{}'", text.as_str().replace('\'', "'\\''"))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => plain(item)?,
            other => return Err(fail(format_args!("{} ({other}) cannot be quoted for a shell", other.kind()))),
        });
    }
    Ok(Value::from(words.join(" ")))
}
