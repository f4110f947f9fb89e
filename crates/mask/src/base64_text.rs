//! Base64 in a text (RFC 4648, both alphabets; RFC 2045 with line breaks): text in it is searched; what is no text
//! cannot be.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::ops::Range;

/// Shorter text has no room for a name and a value.
const MIN_LEN: usize = 20;
/// Shorter data may be a hash or an identifier.
const MIN_DATA: usize = 128;
/// Lines of broken base64 are at least so long, except for the last.
const MIN_LINE: usize = 60;

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// What is encoded at a place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text(String),
    /// A picture, compressed or encrypted data.
    Data,
}

/// The encoded contents of a text.
pub(super) fn find(text: &str) -> impl Iterator<Item = (Range<usize>, Content)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let run = next_run(text.as_bytes(), at);
            at = run.end;
            if run.len() >= MIN_LEN
                && let Some(found) = content(&text[run.clone()])
            {
                return Some((run.start + found.0.start..run.start + found.0.end, found.1));
            }
        }
        None
    })
}

/// The bytes of a base64 text.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    let plain = |byte: u8| match byte {
        b'-' => Some(b'+'),
        b'_' => Some(b'/'),
        b'\r' | b'\n' => None,
        byte => Some(byte),
    };
    let mut plain: Vec<u8> = text.bytes().filter_map(plain).collect();
    // Of a text that was cut off, the last character may tell nothing.
    if plain.len() % 4 == 1 {
        plain.pop();
    }
    LENIENT.decode(plain).ok()
}

fn belongs(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte)
}

/// The next characters of the alphabets, from `from` on, over the ends of long lines.
fn next_run(bytes: &[u8], from: usize) -> Range<usize> {
    let start = from + bytes[from..].iter().position(|byte| belongs(*byte)).unwrap_or(bytes.len() - from);
    let mut end = start;
    loop {
        let line = bytes[end..].iter().take_while(|byte| belongs(**byte)).count();
        end += line;
        let break_length = match bytes[end..] {
            [b'\r', b'\n', next, ..] if belongs(next) => 2,
            [b'\n', next, ..] if belongs(next) => 1,
            _ => 0,
        };
        if line < MIN_LINE || break_length == 0 {
            break;
        }
        end += break_length;
    }
    let padding = bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
    start..end + padding
}

/// The content of a run, and where it is: in the path of an address, only a part may be text.
fn content(run: &str) -> Option<(Range<usize>, Content)> {
    if let Some(text) = text_in(run) {
        return Some((0..run.len(), Content::Text(text)));
    }
    let mut start = 0;
    for part in run.split(['/', '_', '-']) {
        let range = start..start + part.len();
        start = range.end + 1;
        if part.len() >= MIN_LEN
            && part.len() < run.len()
            && let Some(text) = text_in(part)
        {
            return Some((range, Content::Text(text)));
        }
    }
    (run.len() >= MIN_DATA && is_random(run)).then_some((0..run.len(), Content::Data))
}

fn text_in(run: &str) -> Option<String> {
    // Most long names and paths are not text when they are decoded, which their first bytes show.
    const SAMPLE: usize = 16;
    let sample = decoded(run.get(..SAMPLE)?)?;
    text_of(&sample)?;
    text_of(&decoded(run)?)
}

/// Whether it is neither a path nor a hexadecimal number: in one alphabet, with capitals, small letters and digits.
fn is_random(run: &str) -> bool {
    let has = |belongs: fn(&u8) -> bool| run.as_bytes().iter().any(belongs);
    has(u8::is_ascii_uppercase)
        && has(|byte| matches!(byte, b'g'..=b'z'))
        && has(u8::is_ascii_digit)
        && !(run.contains(['+', '/']) && run.contains(['-', '_']))
}

/// The text that bytes are, in UTF-16 or nearly in UTF-8.
fn text_of(bytes: &[u8]) -> Option<String> {
    const MIN_TEXT_RATIO: usize = 8;
    let wide =
        |unit: fn([u8; 2]) -> u16| -> Vec<u16> { bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect() };
    let text = match bytes {
        [0xfe, 0xff, ..] | [0, _, ..] => String::from_utf16_lossy(&wide(u16::from_be_bytes)),
        [0xff, 0xfe, ..] | [_, 0, ..] => String::from_utf16_lossy(&wide(u16::from_le_bytes)),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    let is_strange = |one: &char| {
        one.is_control() && !one.is_whitespace() && *one != '\u{1b}' || *one == char::REPLACEMENT_CHARACTER
    };
    (text.chars().filter(is_strange).count() * MIN_TEXT_RATIO <= text.chars().count()).then_some(text)
}
