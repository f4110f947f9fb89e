//! Writes a value as JSON text, up to a limit.

use super::verbatim;
use crate::fuel::{self, StopReason};
use crate::value::number::Number;
use crate::value::{Value, array, object};

/// Accepts bytes up to a limit.
pub struct Writer<'a> {
    to: &'a mut Vec<u8>,
    /// The final length that `to` may have.
    most: usize,
    overflowed: bool,
}

impl<'a> Writer<'a> {
    /// Adds at most `room` bytes to `to`.
    pub fn new(to: &'a mut Vec<u8>, room: usize) -> Writer<'a> {
        let most = to.len().saturating_add(room);
        Writer { to, most, overflowed: false }
    }

    /// Whether more was written than there was room for.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Adds bytes, as far as there is room.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = self.most.saturating_sub(self.to.len());
        self.overflowed |= bytes.len() > room;
        self.to.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

/// Writes a value as compact JSON. Stops when there is no room left.
pub fn write(value: &Value, to: &mut Writer<'_>) {
    if to.overflowed {
        return;
    }
    match value {
        Value::Null => to.push(b"null"),
        Value::Bool(true) => to.push(b"true"),
        Value::Bool(false) => to.push(b"false"),
        Value::Number(number) => write_number(number, to),
        Value::Text(text) => write_text(text.as_str(), to),
        Value::Node(node) => verbatim::write_node(node, to),
        _ if value.is_array() => {
            to.push(b"[");
            for (index, item) in array(value).items().iter().enumerate() {
                if index > 0 {
                    to.push(b",");
                }
                write(item, to);
            }
            to.push(b"]");
        }
        _ => {
            to.push(b"{");
            for (index, (key, field)) in object(value).fields().iter().enumerate() {
                if index > 0 {
                    to.push(b",");
                }
                write_text(key.as_str(), to);
                to.push(b":");
                write(field, to);
            }
            to.push(b"}");
        }
    }
}

fn write_number(number: &Number, to: &mut Writer<'_>) {
    match number {
        Number::Int(int) => to.push(int.to_string().as_bytes()),
        Number::Written(text) => to.push(text.as_str().as_bytes()),
        // JSON has neither NaN nor infinity; jq writes them like this.
        Number::Float(float) if float.is_nan() => to.push(b"null"),
        Number::Float(float) if float.is_infinite() => {
            to.push(if *float > 0.0 { b"1.7976931348623157e+308" } else { b"-1.7976931348623157e+308" });
        }
        Number::Float(float) => to.push(
            serde_json::Number::from_f64(*float).map_or_else(String::new, |number| number.to_string()).as_bytes(),
        ),
    }
}

pub(super) fn write_text(text: &str, to: &mut Writer<'_>) {
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    to.push(b"\"");
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|&byte| is_special(byte)) {
        let (plain, special) = rest.split_at(at);
        to.push(plain);
        match special.first() {
            Some(b'"') => to.push(b"\\\""),
            Some(b'\\') => to.push(b"\\\\"),
            Some(b'\n') => to.push(b"\\n"),
            Some(b'\r') => to.push(b"\\r"),
            Some(b'\t') => to.push(b"\\t"),
            Some(byte) => to.push(format!("\\u{byte:04x}").as_bytes()),
            None => {}
        }
        rest = special.get(1..).unwrap_or_default();
        if to.overflowed {
            return;
        }
    }
    to.push(rest);
    to.push(b"\"");
}

/// The value's JSON as a string. Charged in advance: shared parts are written as often as they occur.
pub fn to_text(value: &Value) -> Value {
    if !fuel::charge(value.weight()) {
        return Value::Null;
    }
    let mut text = Vec::new();
    let mut writer = Writer::new(&mut text, u32::MAX as usize / 2);
    write(value, &mut writer);
    if writer.overflowed() {
        fuel::stop(StopReason::Fuel);
    }
    Value::from(String::from_utf8_lossy(&text).into_owned())
}

/// How much of a value a message shows.
const MAX_SHOWN: usize = 60;

/// The beginning of a value's JSON, for messages.
pub fn excerpt(value: &Value) -> String {
    let mut shown = Vec::new();
    let mut writer = Writer::new(&mut shown, MAX_SHOWN);
    write(value, &mut writer);
    let is_cut = writer.overflowed();
    let mut shown = String::from_utf8_lossy(&shown).trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned();
    if is_cut {
        shown.push('…');
    }
    shown
}
