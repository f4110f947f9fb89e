//! Text of others, made safe to show.

use std::borrow::Cow;

/// Makes untrusted text safe to show. Control characters (they control terminals), marks that change the writing
/// direction, and other invisible characters (zero-width characters, tags, fillers: two texts that differ in them look
/// alike) become `?`. So do line breaks: untrusted text must not begin a line.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let shown = |character| if is_printable(character) { character } else { '?' };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Whether it is a visible character, a space or a tab.
pub fn is_printable(character: char) -> bool {
    match character {
        '\t' => true,
        // Line and paragraph separators, and marks around annotations.
        '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' => false,
        _ => !character.is_control() && !is_ignorable(character),
    }
}

/// Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt), which includes all marks that change the writing
/// direction.
fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_cannot_steer_the_terminal() {
        assert_eq!(printable("Strike+ (1) 打击"), "Strike+ (1) 打击");
        assert_eq!(printable("a\x1b[2Jb\x07\u{9b}1m"), "a?[2Jb??1m");
        assert_eq!(printable("x\u{202e}y\r\nz"), "x?y??z");
        assert_eq!(printable("\u{feff}a\u{200b}b\u{ad}c\u{61c}d\u{2066}e\u{2028}f"), "?a?b?c?d?e?f");
        assert_eq!(printable("a\u{e0041}b\u{3164}c\u{180e}d\u{fe0f}e\u{fffa}"), "a?b?c?d?e?");
        assert_eq!(printable("Löschen, удалить, 삭제, حذف, é"), "Löschen, удалить, 삭제, حذف, é");
    }
}
