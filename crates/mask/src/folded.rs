//! A text as its reader sees it: escapes, encodings and a terminal's control sequences resolved, digits and marks of
//! other scripts replaced by ASCII, invisible characters left out. Findings are mapped back to the original bytes.

use super::finding::Finding;
use super::{encoded, sequence};
use std::ops::Range;

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// JSON escapes are resolved, control sequences and invisible characters left out.
    Shown,
    /// Each control sequence is a blank, since a colour may also end a word.
    Apart,
    /// Only the escape character of each is a blank: what follows may not belong to it.
    Unescaped,
    /// Encodings of bytes are resolved: of URLs, of HTML, of mails, of string literals in programs.
    Decoded,
}

/// The text that is read; `None` if it equals `raw`.
///
/// Text that is not JSON is read in the same way, since logs quote JSON: a backslash that does not begin a JSON escape
/// is kept.
pub(super) fn read(raw: &str, reading: Reading) -> Option<String> {
    let may_differ = match reading {
        Reading::Shown => !raw.is_ascii() || raw.contains('\\') || sequence::is_in(raw),
        Reading::Apart | Reading::Unescaped => sequence::is_in(raw),
        Reading::Decoded => encoded::may_be_in(raw),
    };
    if !may_differ {
        return None;
    }
    let text: String = Characters::new(raw, reading).filter_map(|(_, character)| character).collect();
    (text != raw).then_some(text)
}

/// Maps findings in `read(raw, reading)` to their ranges in `raw`. The findings are sorted and do not overlap.
pub(super) fn map_back(raw: &str, reading: Reading, found: &mut [Finding]) {
    let mut characters = Characters::new(raw, reading);
    let mut folded = 0;
    for finding in found {
        let Range { start, end } = finding.range.clone();
        let mut written: Option<Range<usize>> = None;
        while folded < end
            && let Some((range, character)) = characters.next()
        {
            let Some(character) = character else { continue };
            if folded >= start {
                let from = written.map_or(range.start, |written| written.start);
                written = Some(from..range.end);
            }
            folded += character.len_utf8();
        }
        finding.range = written.unwrap_or(raw.len()..raw.len());
    }
}

/// The characters of a text, each with its original bytes; `None` for an invisible one.
struct Characters<'a> {
    raw: &'a str,
    at: usize,
    reading: Reading,
    is_quoted_printable: bool,
}

impl<'a> Characters<'a> {
    fn new(raw: &'a str, reading: Reading) -> Characters<'a> {
        let is_quoted_printable = reading == Reading::Decoded && encoded::is_quoted_printable(raw);
        Characters { raw, at: 0, reading, is_quoted_printable }
    }

    /// The length of what is at the beginning of `rest`, and its character.
    fn first(&self, rest: &str) -> Option<(usize, Option<char>)> {
        let first = rest.chars().next()?;
        if self.reading == Reading::Decoded {
            if first == '+' && encoded::is_blank(self.raw, self.at) {
                return Some((1, Some(' ')));
            }
            let decoded = encoded::first(rest, self.is_quoted_printable);
            return Some(decoded.unwrap_or((first.len_utf8(), Some(first))));
        }
        let length = sequence::length(rest);
        if length > 0 {
            return Some(match self.reading {
                Reading::Apart => (length, Some(' ')),
                Reading::Unescaped => (sequence::length_of_escape(rest), Some(' ')),
                Reading::Shown | Reading::Decoded => (length, None),
            });
        }
        let (length, character) = if first == '\\' { unescape(rest) } else { (first.len_utf8(), first) };
        Some((length, plain(character)))
    }
}

impl Iterator for Characters<'_> {
    type Item = (Range<usize>, Option<char>);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        let (length, character) = self.first(self.raw.get(start..)?)?;
        self.at += length;
        Some((start..self.at, character))
    }
}

/// The length of the escape at the beginning of `text`, and its character (RFC 8259, section 7). Half a surrogate pair
/// becomes U+FFFD.
fn unescape(text: &str) -> (usize, char) {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        Some(&byte @ (b'"' | b'\\' | b'/')) => (2, char::from(byte)),
        Some(b'n') => (2, '\n'),
        Some(b'r') => (2, '\r'),
        Some(b't') => (2, '\t'),
        Some(b'b') => (2, '\u{8}'),
        Some(b'f') => (2, '\u{c}'),
        Some(b'u') => match (unit(bytes, 2), unit(bytes, 8)) {
            (Some(high @ 0xd800..0xdc00), Some(low @ 0xdc00..0xe000)) if bytes.get(6..8) == Some(b"\\u") => {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (12, char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            (Some(code), _) => (6, char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)),
            (None, _) => (1, '\\'),
        },
        _ => (1, '\\'),
    }
}

/// The four hexadecimal digits at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The zeros of the scripts whose digits appear in card and phone numbers (Unicode's category Nd).
const ZEROS: [u32; 19] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040,
    0x17e0, 0x1810, 0xff10,
];

/// The ASCII character for this one; `None` for an invisible one.
fn plain(character: char) -> Option<char> {
    let code = character as u32;
    match character {
        '\0'..='\u{7f}' => Some(character),
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => None,
        '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => None,
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => Some('-'),
        '\u{2024}' | '\u{3002}' | '\u{ff61}' => Some('.'),
        '\u{fe6b}' => Some('@'),
        // Not quotes and backslashes: they would end strings that a JSON reader does not end there.
        '\u{ff02}' | '\u{ff07}' | '\u{ff3c}' => Some(character),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(code - 0xfee0),
        // Mathematical digits, in five styles.
        '\u{1d7ce}'..='\u{1d7ff}' => char::from_digit((code - 0x1d7ce) % 10, 10),
        _ if character.is_whitespace() => Some(' '),
        _ => {
            let digit = ZEROS.iter().find_map(|zero| code.checked_sub(*zero).filter(|digit| *digit < 10));
            Some(digit.and_then(|digit| char::from_digit(digit, 10)).unwrap_or(character))
        }
    }
}
