//! Control sequences of terminals (ECMA-48), such as those for colours, also as programs show them when they are not
//! carried out: `^[[32m`, `\033[32m`, `[32m`.

use memchr::{memchr_iter, memchr2_iter};

const ESCAPE: char = '\u{1b}';
/// The control sequence introducer as a single character.
const CSI: char = '\u{9b}';

/// How the escape character is written by programs that show it.
const ESCAPE_NOTATIONS: &[&str] =
    &["\\u001b", "\\u001B", "\\x1b", "\\x1B", "\\033", "\\e", "\\E", "^[", "#033", "\u{241b}", "<ESC>", ""];

/// Whether there may be a sequence in a text.
pub(super) fn is_in(text: &str) -> bool {
    let bytes = text.as_bytes();
    // The introducer has two bytes in UTF-8.
    memchr2_iter(ESCAPE as u8, 0xc2, bytes).any(|at| bytes[at] != 0xc2 || bytes.get(at + 1) == Some(&0x9b))
        || memchr_iter(b'[', bytes).any(|at| {
            let has_escape = |escape: &&str| !escape.is_empty() && text[..at].ends_with(*escape);
            shown_colour(&text[at..]) > 0 || ESCAPE_NOTATIONS.iter().any(has_escape)
        })
}

/// The length of the sequence at the beginning of `text`, or 0. Of a text within a sequence, such as the address of a
/// link, only the beginning counts, so the text is searched.
pub(super) fn length(text: &str) -> usize {
    let mut characters = text.chars();
    match characters.next() {
        Some(ESCAPE) => match characters.next() {
            Some('[') => control(text, 2),
            // Operating system commands, device controls and the like, and their end.
            Some(']' | 'P' | 'X' | '^' | '_' | '\\') => 2,
            Some(' '..='~') => end_of(text, 1, '0'..='~'),
            _ => 1,
        },
        Some(CSI) => control(text, CSI.len_utf8()),
        Some('\\' | '^' | '#' | '\u{241b}' | '<' | '[') => {
            let shown = ESCAPE_NOTATIONS.iter().find_map(|escape| Some((escape.len(), text.strip_prefix(escape)?)));
            shown.map_or(0, |(escape, rest)| match shown_colour(rest) {
                0 if escape > 0 && rest.starts_with('[') => escape + control(rest, 1),
                0 => 0,
                length => escape + length,
            })
        }
        _ => 0,
    }
}

/// The length of the escape character at the beginning of a sequence.
pub(super) fn length_of_escape(text: &str) -> usize {
    let shown = ESCAPE_NOTATIONS.iter().find(|escape| !escape.is_empty() && text.starts_with(**escape));
    shown.map_or_else(|| text.chars().next().map_or(0, char::len_utf8), |escape| escape.len())
}

/// The length of a control sequence whose parameters begin at `from`.
fn control(text: &str, from: usize) -> usize {
    let parameters = text[from..].bytes().take_while(|byte| (b'0'..=b'?').contains(byte)).count();
    end_of(text, from + parameters, '@'..='~')
}

/// The position after the final character, which follows intermediate ones. Without a final one, the sequence was cut
/// off.
fn end_of(text: &str, from: usize, last: std::ops::RangeInclusive<char>) -> usize {
    let intermediates = text[from..].bytes().take_while(|byte| (b' '..=b'/').contains(byte)).count();
    let end = from + intermediates;
    if text[end..].starts_with(|one| last.contains(&one)) { end + 1 } else { from }
}

/// The length of `[32m` or `[0K` at the beginning of `text`, or 0. Other sequences without their escape look like other
/// text.
fn shown_colour(text: &str) -> usize {
    const MAX_LEN: usize = 40;
    let Some(inner) = text.strip_prefix('[') else { return 0 };
    let length = inner.bytes().take(MAX_LEN).take_while(|byte| byte.is_ascii_digit() || b";:".contains(byte)).count();
    if length > 0 && inner[length..].starts_with(['m', 'K']) { length + 2 } else { 0 }
}
