//! Writes unchanged parts of the input from their own text.

use super::write::{Writer, write, write_text};
use crate::value::Object;
use crate::value::document::{Document, Kind, Node, children, unescape, value};
use std::collections::HashSet;
use std::rc::Rc;

/// Writes an array or object of the input.
pub fn write_node(node: &Node, to: &mut Writer<'_>) {
    let (document, at) = node.place();
    write_span(document, at, to);
}

fn write_span(document: &Rc<Document>, at: u32, to: &mut Writer<'_>) {
    let Some(span) = document.spans.get(at as usize).filter(|_| !to.overflowed()) else {
        return;
    };
    match span.kind {
        Kind::Null | Kind::True | Kind::False | Kind::Number => to.push(document.written(span).as_bytes()),
        Kind::Plain => {
            to.push(b"\"");
            to.push(document.written(span).as_bytes());
            to.push(b"\"");
        }
        Kind::Escaped => write_text(&unescape(document.written(span)), to),
        Kind::Array => {
            to.push(b"[");
            for (index, item) in children(document, at).enumerate() {
                if index > 0 {
                    to.push(b",");
                }
                write_span(document, item, to);
            }
            to.push(b"]");
        }
        Kind::Object if has_plain_keys(document, at) => {
            to.push(b"{");
            for (index, part) in children(document, at).enumerate() {
                match index {
                    0 => {}
                    index if index % 2 == 0 => to.push(b","),
                    _ => to.push(b":"),
                }
                write_span(document, part, to);
            }
            to.push(b"}");
        }
        Kind::Object => {
            if let Ok(fields) = value(document, at).into_fields() {
                write(&Object::value(fields), to);
            }
        }
    }
}

/// How many keys are compared pairwise.
const MAX_PAIRWISE: usize = 16;

/// Whether no key has escapes, and each occurs once.
fn has_plain_keys(document: &Document, at: u32) -> bool {
    let keys = children(document, at).step_by(2).filter_map(|key| document.spans.get(key as usize));
    let mut seen = [""; MAX_PAIRWISE];
    let mut more = HashSet::new();
    for (count, key) in keys.enumerate() {
        let written = document.written(key);
        let few = seen.get(..count).unwrap_or(&seen);
        if key.kind == Kind::Escaped || few.contains(&written) {
            return false;
        }
        match seen.get_mut(count) {
            Some(place) => *place = written,
            None if !more.insert(written) => return false,
            None => {}
        }
    }
    true
}
