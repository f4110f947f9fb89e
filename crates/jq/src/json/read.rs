//! Parses JSON text into a document, in one pass and without recursion.

use crate::value::document::{Document, Kind, Span};
use pipewright_lines::{Kind as Token, NotJson, Tokens};

/// Why a text could not be read.
#[derive(Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The text is not one JSON value.
    NotJson(NotJson),
    /// Arrays and objects are nested beyond the limit.
    TooDeep,
    /// 4 GiB or more.
    TooLarge,
}

/// An open array or object.
struct OpenContainer {
    span: usize,
    /// The depth of its contents.
    inner: u16,
}

/// Reads exactly one JSON value.
///
/// # Errors
/// The text is anything else, or deeper than `max_depth`.
pub fn read(bytes: &[u8], max_depth: u32) -> Result<Document, ReadError> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(ReadError::TooLarge);
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| ReadError::NotJson(NotJson { what: "it is not UTF-8", at: error.valid_up_to() }))?;
    let mut spans: Vec<Span> = Vec::with_capacity(bytes.len() / 16 + 4);
    let mut open: Vec<OpenContainer> = Vec::new();
    let mut tokens = Tokens::new(text);
    for token in tokens.by_ref() {
        let kind = match token.kind {
            Token::End => {
                close(&mut spans, &mut open, token.end);
                continue;
            }
            Token::Array => Kind::Array,
            Token::Object => Kind::Object,
            Token::Key { is_escaped: true } | Token::String { is_escaped: true } => Kind::Escaped,
            Token::Key { .. } | Token::String { .. } => Kind::Plain,
            Token::Number => Kind::Number,
            Token::True => Kind::True,
            Token::False => Kind::False,
            Token::Null => Kind::Null,
        };
        if token.opens() {
            open.push(OpenContainer { span: spans.len(), inner: 0 });
            if open.len() > max_depth as usize {
                return Err(ReadError::TooDeep);
            }
        }
        let after = spans.len() as u32 + 1;
        spans.push(Span { start: token.start as u32, end: token.end as u32, after, depth: 0, kind });
    }
    tokens.finish().map_err(ReadError::NotJson)?;
    Ok(Document { spans, text: text.to_owned() })
}

/// Ends the innermost array or object at `end`.
fn close(spans: &mut [Span], open: &mut Vec<OpenContainer>, end: usize) {
    let after = spans.len() as u32;
    let Some(closed) = open.pop() else {
        return;
    };
    let depth = closed.inner + 1;
    if let Some(span) = spans.get_mut(closed.span) {
        span.end = end as u32;
        span.after = after;
        span.depth = depth;
    }
    if let Some(outer) = open.last_mut() {
        outer.inner = outer.inner.max(depth);
    }
}
