//! Encodings of characters by others, in text: percent signs (RFC 3986), the plus signs of forms, HTML's references,
//! quoted-printable (RFC 2045), and the hexadecimal and octal escapes of string literals.

use memchr::{memchr_iter, memchr3_iter};

/// Names of HTML's references for marks that stand in or around a value.
const NAMED: &[(&str, char)] = &[
    ("AMP", '&'),
    ("GT", '>'),
    ("LT", '<'),
    ("QUOT", '"'),
    ("amp", '&'),
    ("apos", '\''),
    ("colon", ':'),
    ("comma", ','),
    ("commat", '@'),
    ("dollar", '$'),
    ("equals", '='),
    ("gt", '>'),
    ("hyphen", '-'),
    ("lowbar", '_'),
    ("lt", '<'),
    ("nbsp", ' '),
    ("NewLine", '\n'),
    ("num", '#'),
    ("percnt", '%'),
    ("period", '.'),
    ("plus", '+'),
    ("quot", '"'),
    ("semi", ';'),
    ("sol", '/'),
    ("Tab", '\t'),
];

/// Whether there may be an encoded character in a text.
pub(super) fn may_be_in(text: &str) -> bool {
    is_quoted_printable(text)
        || memchr_iter(b'+', text.as_bytes()).any(|at| is_blank(text, at))
        || memchr3_iter(b'%', b'&', b'\\', text.as_bytes()).any(|at| first(&text[at..], false).is_some())
}

/// Whether the plus sign at `at` can stand for a blank, as in the fields of a form (application/x-www-form-urlencoded):
/// it is within a value that an equals sign begins.
pub(super) fn is_blank(text: &str, at: usize) -> bool {
    const MAX_LEN: usize = 256;
    let (before, after) = (&text.as_bytes()[at.saturating_sub(MAX_LEN)..at], &text.as_bytes()[at + 1..]);
    let is_within = before.last().is_some_and(u8::is_ascii_alphanumeric)
        && after.first().is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'%');
    is_within
        && before
            .iter()
            .rev()
            .find(|byte| matches!(byte, b'=' | b'&' | b'?' | b'"' | b'\'' | b'/') || byte.is_ascii_whitespace())
            .is_some_and(|byte| *byte == b'=')
}

/// Whether a text is quoted-printable: an equals sign is encoded, or a line is broken.
pub(super) fn is_quoted_printable(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr_iter(b'=', bytes).any(|at| {
        matches!(
            bytes[at + 1..],
            [b'3', b'D' | b'd', ..] | [b'4', b'0', ..] | [b'5', b'F', ..] | [b'\n', ..] | [b'\r', b'\n', ..]
        )
    })
}

/// The length of the encoded character at the beginning of `text`, and the character; `None` for a broken line.
pub(super) fn first(text: &str, is_quoted_printable: bool) -> Option<(usize, Option<char>)> {
    match text.as_bytes().first()? {
        b'%' => match text.strip_prefix("%u").and_then(|rest| hexadecimal(rest, 4)) {
            Some(code) => char::from_u32(code).map(|character| (6, Some(character))),
            None => character(text, |text| hexadecimal(text.strip_prefix('%')?, 2).map(|byte| (3, byte))),
        },
        b'&' => reference(text).map(|(length, character)| (length, Some(character))),
        b'\\' => character(text, |text| {
            let rest = text.strip_prefix('\\')?;
            match rest.strip_prefix('x') {
                Some(rest) => hexadecimal(rest, 2).map(|byte| (4, byte)),
                None => octal(rest).map(|byte| (4, byte)),
            }
        }),
        b'=' if is_quoted_printable => {
            let broken = ["=\r\n", "=\n"].iter().find(|line| text.starts_with(**line));
            match broken {
                Some(line) => Some((line.len(), None)),
                None => character(text, |text| hexadecimal(text.strip_prefix('=')?, 2).map(|byte| (3, byte))),
            }
        }
        _ => None,
    }
}

/// The character whose UTF-8 bytes are encoded at the beginning of `text`. `byte` gives the length and value of the
/// first one.
fn character(text: &str, byte: impl Fn(&str) -> Option<(usize, u32)>) -> Option<(usize, Option<char>)> {
    let mut bytes = Vec::with_capacity(4);
    let mut length = 0;
    while let Some((more, one)) = byte(&text[length..]).filter(|_| bytes.len() < 4) {
        length += more;
        bytes.push(u8::try_from(one).ok()?);
        match std::str::from_utf8(&bytes) {
            Ok(text) => return Some((length, text.chars().next())),
            // The bytes may be the beginning of a character.
            Err(error) if error.error_len().is_none() => {}
            Err(_) => break,
        }
    }
    let (length, _) = byte(text)?;
    Some((length, Some(char::REPLACEMENT_CHARACTER)))
}

fn hexadecimal(text: &str, digits: usize) -> Option<u32> {
    let digits = text.get(..digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// Three digits, the first of which is at most 3.
fn octal(text: &str) -> Option<u32> {
    let digits = text.get(..3).filter(|digits| digits.starts_with(['0', '1', '2', '3']))?;
    u32::from_str_radix(digits, 8).ok()
}

/// The names of these that browsers also read without a semicolon.
const UNENDED: &[&str] = &["AMP", "GT", "LT", "QUOT", "amp", "gt", "lt", "nbsp", "quot"];

/// The length of a reference such as `&quot;`, `&QUOT` or `&#34;`, and its character.
fn reference(text: &str) -> Option<(usize, char)> {
    let inner = text.strip_prefix('&')?;
    let (length, character) = match inner.strip_prefix('#') {
        Some(number) => numbered(number).map(|(length, character)| (1 + length, character))?,
        None => {
            let is_next = |name: &str| {
                inner.strip_prefix(name).is_some_and(|rest| rest.starts_with(';') || UNENDED.contains(&name))
            };
            NAMED.iter().find(|(name, _)| is_next(name)).map(|(name, character)| (name.len(), *character))?
        }
    };
    Some((1 + length + usize::from(inner[length..].starts_with(';')), character))
}

/// The length of a number such as `34` or `x22` at the beginning of `text`, and the character that has it.
fn numbered(text: &str) -> Option<(usize, char)> {
    const MAX_LEN: usize = 8;
    let digits = text.trim_start_matches(['x', 'X']);
    let radix = if digits.len() < text.len() { 16 } else { 10 };
    let count = digits.chars().take(MAX_LEN).take_while(|one| one.is_digit(radix)).count();
    let code = u32::from_str_radix(&digits[..count], radix).ok()?;
    Some((text.len() - digits.len() + count, char::from_u32(code)?))
}
