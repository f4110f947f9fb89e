//! Keys that look like another one, or that some readers turn into another one: `ｕｒｌ` in wide letters, `cоmmand` with a
//! Cyrillic letter. No list knows them, and what a server makes of them is not known.

use std::ops::RangeInclusive;

/// Invisible signs, marks over the letter before, and other forms of letters, which some readers replace by the plain
/// ones (Unicode's compatibility forms).
const OTHER_FORMS: &[RangeInclusive<char>] = &[
    '\u{aa}'..='\u{aa}',
    '\u{ad}'..='\u{ad}',
    '\u{ba}'..='\u{ba}',
    '\u{130}'..='\u{133}',
    '\u{13f}'..='\u{140}',
    '\u{149}'..='\u{149}',
    '\u{17f}'..='\u{17f}',
    '\u{1c4}'..='\u{1cc}',
    '\u{1f1}'..='\u{1f3}',
    '\u{2b0}'..='\u{36f}',
    '\u{1d2c}'..='\u{1d6a}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{209f}',
    '\u{20d0}'..='\u{218f}',
    '\u{115f}'..='\u{1160}',
    '\u{2460}'..='\u{24ff}',
    '\u{3164}'..='\u{3164}',
    '\u{3300}'..='\u{33ff}',
    '\u{fb00}'..='\u{fb06}',
    '\u{fe00}'..='\u{fe2f}',
    '\u{feff}'..='\u{ff5e}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{1d400}'..='\u{1d7ff}',
    '\u{1f100}'..='\u{1f1ff}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Scripts with letters that look like those of English, and are not mixed with them in one word.
const LIKE_LATIN: &[RangeInclusive<char>] = &[
    '\u{250}'..='\u{2af}',
    '\u{370}'..='\u{58f}',
    '\u{13a0}'..='\u{13ff}',
    '\u{1d00}'..='\u{1d2b}',
    '\u{1f00}'..='\u{1fff}',
    '\u{2c80}'..='\u{2cff}',
    '\u{a4d0}'..='\u{a4ff}',
    '\u{a640}'..='\u{a69f}',
];

pub fn is_disguised(key: &str) -> bool {
    let has = |ranges: &[RangeInclusive<char>]| key.chars().any(|one| ranges.iter().any(|range| range.contains(&one)));
    !key.is_ascii() && (has(OTHER_FORMS) || key.contains(|one: char| one.is_ascii_alphabetic()) && has(LIKE_LATIN))
}

/// Whether a label has a word of Latin and Cyrillic letters, which only an imitation of another word has.
pub fn has_mixed_word(label: &str) -> bool {
    let has = |word: &str, range: RangeInclusive<char>| word.contains(|one: char| range.contains(&one));
    let mut words = label.split(|one: char| !one.is_alphabetic());
    !label.is_ascii()
        && words.any(|word| word.contains(|one: char| one.is_ascii_alphabetic()) && has(word, '\u{400}'..='\u{52f}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_letters_of_its_own_language_is_no_disguise() {
        for key in [
            "c\u{43e}mmand",
            "\u{ff55}\u{ff52}\u{ff4c}",
            "url\u{301}",
            "u\u{200b}rl",
            "\u{1d42e}rl",
            "\u{440}ath",
            "c\u{ba}mmand",
            "ur\u{217c}",
            "com\u{133}mand",
            "url\u{3164}",
        ] {
            assert!(is_disguised(key), "{key}");
        }
        for key in ["url", "größe", "prénom", "ключ", "ключ_1", "用户ID", "ファイル", "चाबी", "मार्ग", "열쇠", ""]
        {
            assert!(!is_disguised(key), "{key}");
        }
    }
}
