//! Walks a line of JSON: each string is searched by its decoded value and by its field.

use super::finding::{Finding, Kind, settle};
use super::names::{Field, described_secret, field, secret_kind, takes_no_text};
use super::placeholders::normal;
use super::search::Search;
use super::secrets::{is_file, is_path, is_random, is_reference, scheme_length};
use pipewright_lines::{Kind as Json, Tokens};
use std::borrow::Cow;
use std::ops::Range;

/// Finds the values to mask in `json`, which is one JSON value.
pub(super) fn find(search: Search<'_>, json: &str) -> Vec<Finding> {
    let mut walk =
        Walker { search, json, frames: Vec::new(), typed: Vec::new(), described: Vec::new(), found: Vec::new() };
    walk.all();
    settle(json, walk.found)
}

/// The strings of one JSON value with the names of their fields, in order. `json` is valid. The strings of an array
/// have its name.
pub(super) fn strings(json: &str) -> Vec<(&str, Range<usize>)> {
    let mut strings = Vec::new();
    // The name of the next value, and of the open arrays and objects.
    let (mut name, mut open) = ("", Vec::new());
    for token in Tokens::new(json) {
        match token.kind {
            Json::Key { .. } => name = &json[token.range()],
            Json::String { .. } => strings.push((name, token.range())),
            Json::Array | Json::Object => open.push(name),
            Json::End => name = open.pop().unwrap_or_default(),
            _ => {}
        }
    }
    strings
}

struct Walker<'a> {
    search: Search<'a>,
    json: &'a str,
    /// The open arrays and objects.
    frames: Vec<Frame>,
    /// Values that are secrets if they are typed into a field for secrets; those of the current frame come last.
    typed: Vec<Range<usize>>,
    /// Texts that describe this field.
    described: Vec<Range<usize>>,
    found: Vec<Finding>,
}

/// An open array or object.
struct Frame {
    /// Its field in the object around it.
    field: Field,
    /// The field of the next value; in an array, of each element.
    next: Field,
    /// The start of its texts in [`Walker::typed`] and [`Walker::described`].
    typed_from: usize,
    described_from: usize,
    /// Text typed there is a secret of this kind.
    typed_kind: Option<Kind>,
    /// The value of a field `token`.
    token: Option<Range<usize>>,
    /// Whether that token is a piece of text.
    is_text: bool,
    /// The kind that the previous string in this array names.
    named: Option<Kind>,
    is_array: bool,
    /// The keys with values to mask: as compared, and as written.
    masked_keys: Vec<(String, String)>,
}

impl Walker<'_> {
    fn all(&mut self) {
        for token in Tokens::new(self.json) {
            match token.kind {
                Json::Key { .. } => self.key(token.range()),
                Json::String { .. } => self.value(token.range()),
                Json::Array | Json::Object => self.open(token.kind == Json::Array),
                Json::End => self.close(),
                _ => {}
            }
        }
    }

    fn next(&self) -> Field {
        self.frames.last().map_or(Field::Other, |frame| frame.next)
    }

    fn open(&mut self, is_array: bool) {
        let field = self.next();
        let secret = match field {
            Field::Secret(kind) | Field::Secrets(kind) => Some(kind),
            Field::Token => Some(Kind::TOKEN),
            Field::FolderOrPassword => Some(Kind::PASSWORD),
            _ => None,
        };
        self.frames.push(Frame {
            field,
            next: match field {
                Field::Secrets(kind) if is_array => Field::Secret(kind),
                Field::Token if is_array => Field::Secret(Kind::TOKEN),
                field if is_array => field,
                _ => Field::Other,
            },
            typed_from: self.typed.len(),
            described_from: self.described.len(),
            // In a list of cookies, each one's value is in a field.
            typed_kind: secret,
            token: None,
            is_text: false,
            named: None,
            is_array,
            masked_keys: Vec::new(),
        });
    }

    fn close(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        match frame.token {
            Some(token) if frame.is_text => self.look_into(token, false),
            Some(token) => self.take(token, Kind::TOKEN),
            None => {}
        }
        let has_typed = self.typed.len() > frame.typed_from;
        let kind = match frame.typed_kind {
            None if has_typed || frame.field == Field::Target => self.described_kind(frame.described_from),
            kind => kind.filter(|_| !frame.is_text),
        };
        self.described.truncate(frame.described_from);
        match kind {
            Some(kind) => {
                for range in self.typed.drain(frame.typed_from..).collect::<Vec<_>>() {
                    self.take(range, kind);
                }
            }
            // The target may come later.
            None if frame.field == Field::Arguments => {}
            None => self.typed.truncate(frame.typed_from),
        }
        if let Some(outer) = self.frames.last_mut()
            && matches!(frame.field, Field::Target | Field::Arguments)
        {
            outer.typed_kind = outer.typed_kind.or(kind);
        }
    }

    /// The kind that the texts describe, from this one on.
    fn described_kind(&self, from: usize) -> Option<Kind> {
        let texts = || self.described[from..].iter().map(|range| decoded(&self.json[range.clone()]));
        if texts().any(|text| takes_no_text(&text)) { None } else { texts().find_map(|text| described_secret(&text)) }
    }

    /// Keys are masked too: tables may be keyed by address or number.
    fn key(&mut self, content: Range<usize>) {
        let name = decoded(&self.json[content.clone()]);
        let next = self.search.rules().field(&name).map_or_else(|| field(&name), Field::Secret);
        if let Some(frame) = self.frames.last_mut() {
            // In an assistant_message, or in a provider's data about each token.
            frame.is_text |= matches!(&*name, "is_final" | "logprob");
            frame.next = match frame.field {
                Field::Secrets(kind) if !is_of_schema(&name) => Field::Secret(kind),
                _ => next,
            };
        }
        let from = self.found.len();
        self.look_into(content, false);
        if self.found.len() > from {
            self.distinguish_key(from, name.into_owned());
        }
    }

    /// Gives a key a placeholder of its own if another key of the object would become the same one. The findings in the
    /// key begin at `from`.
    fn distinguish_key(&mut self, from: usize, name: String) {
        let Some(frame) = self.frames.last_mut() else { return };
        let compared = self.found[from..]
            .iter()
            .fold(name.clone(), |text, finding| text.replace(&finding.value, &normal(finding.kind, &finding.value)));
        let others = frame.masked_keys.iter().filter(|(other, written)| *other == compared && *written != name).count();
        frame.masked_keys.push((compared, name));
        if others > 0
            && let Some(last) = self.found.last_mut()
        {
            last.value.push_str(&format!("\0{others}"));
        }
    }

    fn value(&mut self, content: Range<usize>) {
        if let Some(kind) = self.kind_before(&content) {
            return self.take(content, kind);
        }
        match self.next() {
            Field::Token => {
                if let Some(earlier) = self.frames.last_mut().and_then(|frame| frame.token.replace(content)) {
                    self.take(earlier, Kind::TOKEN);
                }
            }
            Field::FolderOrPassword if is_path(&self.json[content.clone()]) => self.look_into(content, false),
            Field::FolderOrPassword => self.take(content, Kind::PASSWORD),
            Field::Secret(kind) | Field::Secrets(kind) => self.take(content, kind),
            Field::Phone => self.look_into(content, true),
            other => {
                match other {
                    Field::Typed => self.typed.push(content.clone()),
                    Field::Description | Field::Target => self.described.push(content.clone()),
                    _ => {}
                }
                self.look_into(content, false);
            }
        }
    }

    /// The kind named by the string before `content` in an array, as in `["Authorization", "Bearer abc1"]` and
    /// `["--password", "hunter2"]`. Other lists contain only names of fields, so the value must not be a word.
    fn kind_before(&mut self, content: &Range<usize>) -> Option<Kind> {
        let frame = self.frames.last_mut().filter(|frame| frame.is_array)?;
        let text = &self.json[content.clone()];
        let named = std::mem::replace(&mut frame.named, secret_kind(text));
        named.filter(|_| frame.named.is_none() && (is_random(text) || scheme_length(text) > 0))
    }

    /// Takes a complete string as a value of this kind, except for the name of an authentication scheme.
    fn take(&mut self, content: Range<usize>, kind: Kind) {
        let start = content.start + scheme_length(&self.json[content.clone()]);
        let range = start..content.end;
        let text = &self.json[range.clone()];
        if is_reference(text) || kind != Kind::PASSWORD && is_file(text) {
            return;
        }
        if self.search.is_lookalike(text) {
            self.look_into(range, false);
        } else if !text.is_empty() {
            self.found.push(Finding { value: decoded(text).into_owned(), range, kind });
        }
    }

    fn look_into(&mut self, content: Range<usize>, is_phone: bool) {
        let found = self.search.in_string(&self.json[content.clone()], is_phone);
        let shifted = found.into_iter().map(|finding| Finding {
            range: finding.range.start + content.start..finding.range.end + content.start,
            ..finding
        });
        self.found.extend(shifted);
    }
}

/// Whether a schema uses this key to describe a field. The field's value is not there.
fn is_of_schema(name: &str) -> bool {
    matches!(
        name,
        "type"
            | "title"
            | "description"
            | "format"
            | "pattern"
            | "enum"
            | "required"
            | "$ref"
            | "name"
            | "domain"
            | "path"
    )
}

/// A string's content with its escapes resolved.
fn decoded(content: &str) -> Cow<'_, str> {
    if !content.contains('\\') {
        return Cow::Borrowed(content);
    }
    // Half a surrogate pair cannot be decoded.
    serde_json::from_str(&format!("\"{content}\"")).map_or(Cow::Borrowed(content), Cow::Owned)
}
