//! Finds base64 in a text (RFC 4648, both alphabets; RFC 2045 with line breaks), and decodes it if it encodes text.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::ops::Range;

/// Shorter base64 has no room for a name and a value.
const MIN_LEN: usize = 20;
/// Shorter base64 that does not encode text may be a hash or an identifier.
const MIN_DATA: usize = 128;
/// The shortest line of base64 with line breaks, except for the last line.
const MIN_LINE: usize = 60;

/// Decodes with and without padding, and accepts text that was cut off.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// What base64 encodes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text(String),
    /// A picture, compressed or encrypted data.
    Data,
}

/// The places of base64 in a text, and what is encoded there.
pub(super) fn find(text: &str) -> impl Iterator<Item = (Range<usize>, Content)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let run = next_run(text.as_bytes(), at);
            at = run.end;
            if run.len() >= MIN_LEN
                && let Some((place, content)) = content(&text[run.clone()])
            {
                return Some((run.start + place.start..run.start + place.end, content));
            }
        }
        None
    })
}

/// The bytes of a base64 text.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    let in_standard_alphabet = |byte: u8| match byte {
        b'-' => Some(b'+'),
        b'_' => Some(b'/'),
        b'\r' | b'\n' => None,
        byte => Some(byte),
    };
    let mut standard: Vec<u8> = text.bytes().filter_map(in_standard_alphabet).collect();
    // In a text that was cut off, a single last character has too few bits for a byte.
    if standard.len() % 4 == 1 {
        standard.pop();
    }
    LENIENT.decode(standard).ok()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte)
}

/// The next run of base64 characters from `from` on. It continues after the end of a line of [`MIN_LINE`] characters.
fn next_run(bytes: &[u8], from: usize) -> Range<usize> {
    let start = from + bytes[from..].iter().position(|byte| is_base64(*byte)).unwrap_or(bytes.len() - from);
    let mut end = start;
    loop {
        let line = bytes[end..].iter().take_while(|byte| is_base64(**byte)).count();
        end += line;
        let break_length = match bytes[end..] {
            [b'\r', b'\n', next, ..] if is_base64(next) => 2,
            [b'\n', next, ..] if is_base64(next) => 1,
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

/// What a run encodes, and where: of a path in a URL, it may be only one part.
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

/// The text that a run encodes, if it is text.
fn text_in(run: &str) -> Option<String> {
    // Most long names and paths are not text when they are decoded, which their first bytes show.
    const SAMPLE: usize = 16;
    let sample = decoded(run.get(..SAMPLE)?)?;
    text_of(&sample)?;
    text_of(&decoded(run)?)
}

/// Whether a run looks like encoded data rather than a path or a hexadecimal number: it has capitals, small letters
/// after f and digits, and is in one alphabet.
fn is_random(run: &str) -> bool {
    let has = |is_wanted: fn(&u8) -> bool| run.as_bytes().iter().any(is_wanted);
    has(u8::is_ascii_uppercase)
        && has(|byte| matches!(byte, b'g'..=b'z'))
        && has(u8::is_ascii_digit)
        && !(run.contains(['+', '/']) && run.contains(['-', '_']))
}

/// The text that bytes are, in UTF-16 or UTF-8. A few characters may be invalid or controls.
fn text_of(bytes: &[u8]) -> Option<String> {
    const MIN_CHARACTERS_PER_STRANGE: usize = 8;
    let units =
        |read: fn([u8; 2]) -> u16| -> Vec<u16> { bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect() };
    let text = match bytes {
        [0xfe, 0xff, ..] | [0, _, ..] => String::from_utf16_lossy(&units(u16::from_be_bytes)),
        [0xff, 0xfe, ..] | [_, 0, ..] => String::from_utf16_lossy(&units(u16::from_le_bytes)),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    // Escape is not strange: coloured output of programs has it.
    let is_strange = |&character: &char| {
        character == char::REPLACEMENT_CHARACTER
            || character.is_control() && !character.is_whitespace() && character != '\u{1b}'
    };
    let strange = text.chars().filter(is_strange).count();
    (strange * MIN_CHARACTERS_PER_STRANGE <= text.chars().count()).then_some(text)
}
