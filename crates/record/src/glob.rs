//! Patterns for names: `*` stands for any text, `?` for one character. A pattern must match the complete name.

/// Whether the pattern matches the name.
///
/// ```
/// use pipewright_record::glob::matches;
/// assert!(matches("browser_*", "browser_click") && !matches("browser", "browser_click"));
/// ```
pub fn matches(pattern: &str, name: &str) -> bool {
    // Without recursion: on a mismatch, the last star takes one character more.
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut of, mut star) = (0, 0, None);
    while of < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, of));
                at += 1;
            }
            Some(&one) if one == '?' || one == name[of] => {
                at += 1;
                of += 1;
            }
            _ => {
                let Some((starred, taken)) = star else { return false };
                star = Some((starred, taken + 1));
                at = starred + 1;
                of = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|one| *one == '*')
}

/// Whether a text means more than itself as a pattern.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name) in [
            ("*", ""),
            ("browser_*", "browser_click"),
            ("*_?lick", "browser_click"),
            ("a*b*c", "aXbYbZc"),
            ("é?", "éx"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("", "a"), ("browser", "browser_click"), ("?", ""), ("a*b", "abc"), ("**x", "y")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
