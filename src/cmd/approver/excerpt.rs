//! Foreign text for people: nothing in it is invisible, and of a text that is too long the beginning and the end are
//! kept.

use pipewright_io::printable::is_printable;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// At most this many blanks in a row are shown as they are; more are counted.
const BLANKS: usize = 8;

/// The text with each character that is invisible, or controls a terminal, as its code point: `<U+2800>`. Many blanks
/// in a row are counted: `<300 blanks>`, except those at the beginning, which belong to the layout.
pub fn visible(text: &str) -> String {
    let unindented = text.trim_start_matches(' ');
    let mut seen = text[..text.len() - unindented.len()].to_owned();
    let mut rest = unindented;
    while let Some(character) = rest.chars().next() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        rest = &rest[character.len_utf8().max(blanks)..];
        let _ = match (blanks, is_seen(character)) {
            (0, true) => write!(seen, "{character}"),
            (0, false) => write!(seen, "<U+{:04X}>", u32::from(character)),
            (..=BLANKS, _) => write!(seen, "{:blanks$}", ""),
            _ => write!(seen, "<{blanks} blanks>"),
        };
    }
    seen
}

/// Whether a terminal shows the character, or it is the usual blank.
fn is_seen(character: char) -> bool {
    match character {
        ' ' => true,
        // A braille cell without dots, a note without a head, a filler.
        '\u{2800}' | '\u{1d159}' | '\u{16fe4}' => false,
        _ => is_printable(character) && !character.is_whitespace(),
    }
}

pub fn columns(text: &str) -> usize {
    text.chars().map(|character| character.width().unwrap_or(0)).sum()
}

/// As much of the text as has room, and whether it was cut. A longer text is cut to its beginning and its end, with its
/// length between.
pub fn cut(text: &str, room: usize) -> (String, bool) {
    let whole = visible(text);
    // Combining marks have no width: without the second bound, a thousand of them could be piled up.
    if columns(&whole) <= room && whole.chars().count() <= room {
        return (whole, false);
    }
    let note = format!("...({} characters)...", text.chars().count());
    let half = room.saturating_sub(note.len()) / 2;
    let end: String = first_columns(whole.chars().rev(), half).chars().rev().collect();
    (first_columns(whole.chars(), half) + &note + &end, true)
}

fn first_columns(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0).max(1);
        used <= room
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_invisible() {
        assert_eq!(visible("ls -l  x"), "ls -l  x");
        assert_eq!(visible(&format!("{0}a{0}b", " ".repeat(9))), "         a<9 blanks>b");
        assert_eq!(
            visible("a\u{2800}\u{a0}\u{3000}\u{200b}\u{202e}\n\u{1b}b"),
            "a<U+2800><U+00A0><U+3000><U+200B><U+202E><U+000A><U+001B>b"
        );
        assert_eq!(visible("Löschen 削除 حذف"), "Löschen 削除 حذف");
    }

    #[test]
    fn a_long_text_is_cut_to_its_beginning_and_its_end() {
        assert_eq!(cut("short", 5), ("short".to_owned(), false));
        let (shown, is_cut) = cut(&format!("begin{}end", "削".repeat(300)), 40);
        assert!(is_cut && shown.starts_with("begin") && shown.ends_with("end") && columns(&shown) <= 40, "{shown}");
        assert!(cut(&"a\u{301}".repeat(30), 40).1, "marks count");
    }
}
