//! Parsed JSON: the text, and the positions of all values in it.
//!
//! A filter usually looks at only a few fields of a message. So the input is parsed in one pass into a flat list of
//! spans, which become values when a filter looks at them, one level at a time.

use super::number::Number;
use super::text::Text;
use super::{Measure, Value};
use crate::fuel;
use std::rc::Rc;

/// The kind of a span.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Null,
    False,
    True,
    Number,
    /// A string without escapes.
    Plain,
    /// A string with escapes.
    Escaped,
    Array,
    /// Its spans are keys and values, alternating.
    Object,
}

/// A value in the text.
#[derive(Clone, Copy)]
pub struct Span {
    /// The start and end of its text; for a string, without its quotes.
    pub start: u32,
    pub end: u32,
    /// The index of the first span after it.
    pub after: u32,
    /// Its depth: 0 for an empty or scalar value.
    pub depth: u16,
    pub kind: Kind,
}

/// A text and its spans. A string that was created has no spans.
#[derive(Clone, Default)]
pub struct Document {
    pub text: String,
    pub spans: Vec<Span>,
}

impl Document {
    /// The text of a span.
    pub fn written(&self, span: &Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// An array or an object of the input that has not been looked at so far.
#[derive(Clone)]
pub struct Node {
    document: Rc<Document>,
    at: u32,
}

impl Node {
    fn span(&self) -> Option<&Span> {
        self.document.spans.get(self.at as usize)
    }

    pub fn is_object(&self) -> bool {
        self.span().is_some_and(|span| span.kind == Kind::Object)
    }

    pub fn measure(&self) -> Measure {
        let Some(span) = self.span() else {
            return Measure::SCALAR;
        };
        let spans = u64::from(span.after - self.at);
        Measure { weight: spans + u64::from(span.end - span.start) / 16, depth: u32::from(span.depth) }
    }

    /// Its document, and its index there.
    pub fn place(&self) -> (&Rc<Document>, u32) {
        (&self.document, self.at)
    }

    /// The spans directly below this one.
    fn children(&self) -> Children<'_> {
        children(&self.document, self.at)
    }

    /// The values directly below this one, including an object's keys.
    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        self.children().map(|at| value(&self.document, at))
    }

    /// The number of values directly below.
    pub fn count(&self) -> usize {
        self.children().count()
    }

    /// The element of an array.
    pub fn item(&self, index: usize) -> Option<Value> {
        fuel::charge(index as u64 / 8);
        self.children().nth(index).map(|at| value(&self.document, at))
    }

    /// The field of an object. If it occurs more than once, the last one counts.
    pub fn field(&self, name: &str) -> Option<Value> {
        let mut children = self.children();
        let mut found = None;
        let mut seen: u64 = 0;
        while let (Some(key), Some(at)) = (children.next(), children.next()) {
            seen += 1;
            if is_named(&self.document, key, name) {
                found = Some(at);
            }
        }
        fuel::charge(seen / 8);
        found.map(|at| value(&self.document, at))
    }
}

/// The spans directly below the span at `at`.
pub fn children(document: &Document, at: u32) -> Children<'_> {
    let after = document.spans.get(at as usize).map_or(at, |span| span.after);
    Children { document, next: at + 1, after }
}

/// An iterator over sibling spans.
pub struct Children<'a> {
    document: &'a Document,
    next: u32,
    after: u32,
}

impl Iterator for Children<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.next >= self.after {
            return None;
        }
        let at = self.next;
        self.next = self.document.spans.get(at as usize)?.after;
        Some(at)
    }
}

fn is_named(document: &Document, key: u32, name: &str) -> bool {
    let Some(span) = document.spans.get(key as usize) else {
        return false;
    };
    match span.kind {
        Kind::Escaped => unescape(document.written(span)) == name,
        _ => document.written(span) == name,
    }
}

/// The value of the complete document.
pub fn whole(document: Document) -> Value {
    value(&Rc::new(document), 0)
}

/// The value of the span at `at`.
pub fn value(document: &Rc<Document>, at: u32) -> Value {
    let Some(span) = document.spans.get(at as usize) else {
        return Value::Null;
    };
    let text = || Text::part(document, span.start, span.end);
    match span.kind {
        Kind::Null => Value::Null,
        Kind::False => Value::Bool(false),
        Kind::True => Value::Bool(true),
        Kind::Number => Value::Number(Number::written(text())),
        Kind::Plain => Value::Text(text()),
        Kind::Escaped => Value::from(unescape(text().as_str())),
        Kind::Array | Kind::Object => Value::Node(Node { document: Rc::clone(document), at }),
    }
}

/// The text of a string with its escapes resolved. Half a surrogate pair becomes U+FFFD, as in jq.
pub fn unescape(written: &str) -> String {
    let mut meant = String::with_capacity(written.len());
    let mut rest = written;
    while let Some((plain, escape)) = rest.split_once('\\') {
        meant.push_str(plain);
        let letter = escape.chars().next().unwrap_or_default();
        rest = escape.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            'b' => meant.push('\u{8}'),
            'f' => meant.push('\u{c}'),
            'n' => meant.push('\n'),
            'r' => meant.push('\r'),
            't' => meant.push('\t'),
            'u' => rest = unescape_code(rest, &mut meant),
            other => meant.push(other),
        }
    }
    meant.push_str(rest);
    meant
}

/// Reads four hexadecimal digits, and the second half of a pair if there is one.
fn unescape_code<'a>(rest: &'a str, meant: &mut String) -> &'a str {
    let code = |text: &str| text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let first = code(rest).unwrap_or(0xfffd);
    let rest = rest.get(4..).unwrap_or_default();
    if let Some(second) = rest.strip_prefix("\\u").and_then(code)
        && (0xd800..0xdc00).contains(&first)
        && (0xdc00..0xe000).contains(&second)
    {
        let pair = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        meant.push(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER));
        return rest.get(6..).unwrap_or_default();
    }
    meant.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}
