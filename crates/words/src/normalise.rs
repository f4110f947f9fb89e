//! A common form for all spellings of a name, and its words.
//!
//! The build script reads the lists through this file, so lists and names have the same form.

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// A word of a [normal form](normalise), as byte positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last one.
    pub end: usize,
    /// The position after an apostrophe, from which the word is also read: `l'envoyer` is also `envoyer`. Otherwise the
    /// start.
    pub elided: usize,
    /// Whether a sentence or a part of one ends before it: words on both sides do not belong together.
    pub apart: bool,
}

/// Removes differences of compatibility forms, case, accents, vowel points, invisible characters and kinds of
/// apostrophes.
pub fn normalise(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower = text.nfkd().filter(|&c| !is_dropped(c)).flat_map(char::to_lowercase).filter(|&c| !is_dropped(c));
    let mut normal = String::with_capacity(text.len());
    for c in lower {
        match c {
            'ß' => normal.push_str("ss"),
            c => normal.push(unify(c)),
        }
    }
    // Below this, no characters need to be composed again.
    if normal.chars().all(|c| c < '\u{900}') { normal } else { normal.nfc().collect() }
}

/// A text for people in one case, with composed characters.
pub fn lower_case(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).nfc().collect()
}

/// Letters that are the same to people who type them.
fn unify(c: char) -> char {
    match c {
        'ı' => 'i',
        'ς' => 'σ',
        // Arabic yeh, alef maksura and kaf become Persian ones.
        'ي' | 'ى' => 'ی',
        'ك' => 'ک',
        '’' | '‘' | 'ʼ' | 'ʻ' | 'ʹ' | '′' | '`' | '´' | '＇' => '\'',
        c => c,
    }
}

fn is_dropped(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}'
        // Hebrew points; Arabic vowel signs and the hamzas that decompose, tatweel.
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}'..='\u{5c7}'
        | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}'
        // Soft hyphen, joiners, directions, variations.
        | '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Whether the character's script has no blanks between words; also emoji, which have none around them.
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        // Thai, Lao, Burmese, Khmer.
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{aa60}'..='\u{aa7f}'
        // Kana, Han.
        | '々' | '〆' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
        || is_emoji(c)
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f300}'..='\u{1faff}')
}

/// The words of a normal form. In scripts without blanks, a run of characters is one word.
pub fn words(normal: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = normal;
    while let Some(start) = rest.find(is_unspaced_letter) {
        let run = &rest[start..];
        let (run, after) = run.split_at(run.find(|c| !is_unspaced_letter(c)).unwrap_or(run.len()));
        add_spaced(normal, &rest[..start], &mut words);
        add(normal, run, &mut words);
        rest = after;
    }
    add_spaced(normal, rest, &mut words);
    words
}

fn is_unspaced_letter(c: char) -> bool {
    c >= '\u{e00}' && c != '・' && is_unspaced(c) && !is_emoji(c)
}

fn add_spaced(normal: &str, text: &str, to: &mut Vec<Word>) {
    for word in text.unicode_words() {
        // UAX 29 keeps example.com, a:b and snake_case together.
        for part in word.split(['.', ':', '_', '·']).filter(|part| !part.is_empty()) {
            add(normal, part, to);
        }
    }
}

/// Adds a part of the normal form as a word.
fn add(normal: &str, part: &str, to: &mut Vec<Word>) {
    let start = part.as_ptr().addr() - normal.as_ptr().addr();
    let elided = part.find('\'').map_or(start, |apostrophe| start + apostrophe + 1);
    let apart = to.last().is_some_and(|last| normal[last.end..start].contains(ends_part));
    to.push(Word { start, end: start + part.len(), elided, apart });
}

fn ends_part(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ';' | '|' | '•' | '\n' | '。' | '！' | '？' | '؟' | '؛' | '।' | '։')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<String> {
        let normal = normalise(text);
        words(&normal).iter().map(|word| normal[word.start..word.end].to_owned()).collect()
    }

    #[test]
    fn spellings_of_a_word_are_the_same() {
        for (one, other) in [
            ("LÖSCHEN", "lo\u{308}schen"),
            ("İPTAL", "iptal"),
            ("Ｄｅｌｅｔｅ", "delete"),
            ("De\u{200b}l\u{ad}ete", "delete"),
            ("Yes, I’m sure", "yes, i'm sure"),
            ("Διαγραφής", "ΔΙΑΓΡΑΦΗΣ"),
            ("schließen", "SCHLIESSEN"),
            ("حَذْف", "حذف"),
            ("كاملي", "کاملی"),
            ("삭제", "\u{1109}\u{1161}\u{11a8}\u{110c}\u{1166}"),
        ] {
            assert_eq!(normalise(one), normalise(other), "{one} {other}");
        }
    }

    #[test]
    fn blanks_and_punctuation_separate_words() {
        assert_eq!(split("Re-send: e-mail (3)"), ["re", "send", "e", "mail", "3"]);
        assert_eq!(split("delete_user.now"), ["delete", "user", "now"]);
        assert_eq!(split("हटाएं"), ["हटाएं"]);
        assert_eq!(split("PDFを削除 (3)"), ["pdf", "を削除", "3"]);
        let normal = "no. l'envoyer";
        assert_eq!(
            words(normal),
            [Word { start: 0, end: 2, elided: 0, apart: false }, Word { start: 4, end: 13, elided: 6, apart: true }]
        );
    }

    proptest! {
        #[test]
        fn a_normal_form_is_stable(text in "\\PC{0,20}") {
            let normal = normalise(&text);
            prop_assert_eq!(normalise(&normal), normal);
        }
    }
}
