//! The checks that go byte by byte: numbers, `true`, `false`, `null`, and escapes.

/// The position after the number, `true`, `false` or `null` that contains the byte at `at`; `None` if it is invalid.
/// For a number with more than digits, `at` is its first byte that is not a digit.
#[inline]
pub fn end_around(body: &[u8], at: usize) -> Option<usize> {
    let digits = body.get(..at)?.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let text = &body[at - digits..];
    let length = match text.first()? {
        b't' if text.starts_with(b"true") => 4,
        b'f' if text.starts_with(b"false") => 5,
        b'n' if text.starts_with(b"null") => 4,
        b'-' | b'0'..=b'9' => number_length(text)?,
        _ => return None,
    };
    let ends = matches!(text.get(length), None | Some(b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r'));
    (ends && length > digits).then_some(at - digits + length)
}

/// The length of the number at the start of the text, which is not empty.
fn number_length(text: &[u8]) -> Option<usize> {
    let mut at = usize::from(text[0] == b'-');
    at = match text.get(at)? {
        b'0' => at + 1,
        _ => digits_end(text, at)?,
    };
    if text.get(at) == Some(&b'.') {
        at = digits_end(text, at + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1;
        at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
        at = digits_end(text, at)?;
    }
    Some(at)
}

/// The position after the digits (at least one) that start at `at`.
fn digits_end(text: &[u8], at: usize) -> Option<usize> {
    let count = text.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then_some(at + count)
}

/// Whether the bytes at `at`, after a backslash, are a valid escape. Half a surrogate pair is valid.
pub fn is_escape(body: &[u8], at: usize) -> bool {
    match body.get(at) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => true,
        Some(b'u') => body.get(at + 1..at + 5).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
        _ => false,
    }
}
