//! Texts that the parser and the shells, or two shells, read differently before there are words.

use crate::Unreadable;

/// Refuses such texts.
pub(super) fn check(text: &str) -> Result<(), Unreadable> {
    // `$'a'`, `$"a"` and `$[1]`; zsh's `$~a`, `$=a`, `$^a` and `$+a`.
    if ["$'", "$\"", "$[", "$~", "$=", "$^", "$+"].into_iter().any(|part| text.contains(part)) {
        return Err(Unreadable("it quotes or expands in a way that only some shells know"));
    }
    if has_subscript(text) {
        return Err(Unreadable("shells may evaluate an index"));
    }
    if has_range(text) {
        return Err(Unreadable("shells may take a redirection for a pattern"));
    }
    if has_empty_end(text) {
        return Err(Unreadable("the end of a here-document is not certain"));
    }
    if text.match_indices("\\\n").any(|(at, _)| !is_between_words(text, at)) {
        return Err(Unreadable("a line is continued within a word"));
    }
    Ok(())
}

/// Whether a continued line, at its backslash, is between words. Shells join lines before they look for words,
/// operators and the end of a here-document; between words all readers agree.
fn is_between_words(text: &str, at: usize) -> bool {
    let (before, behind) = (&text[..at], &text[at + 2..]);
    before.ends_with([' ', '\t']) || before.ends_with(['|', '&', ';']) && behind.starts_with([' ', '\t'])
}

/// `$a[b]`, which zsh takes for an element of a list.
fn has_subscript(text: &str) -> bool {
    text.split('$').skip(1).any(|behind| {
        let name = behind.find(|one: char| !one.is_ascii_alphanumeric() && one != '_').unwrap_or(behind.len());
        // A variable with a sign for its name.
        let name = if name == 0 { behind.chars().next().map_or(0, char::len_utf8) } else { name };
        behind[name..].starts_with('[')
    })
}

/// `<1-3>`, which zsh takes for a pattern of numbers.
fn has_range(text: &str) -> bool {
    text.split('<').skip(1).any(|behind| {
        let behind = behind.trim_start_matches(|one: char| one.is_ascii_digit());
        let Some(behind) = behind.strip_prefix('-') else { return false };
        behind.trim_start_matches(|one: char| one.is_ascii_digit()).starts_with('>')
    })
}

/// Whether a here-document ends at an empty line: `cat <<\'\'`. The parser does not end at such a text without a line.
fn has_empty_end(text: &str) -> bool {
    text.match_indices("<<").any(|(at, _)| {
        let behind = &text[at + 2..];
        let end = behind.strip_prefix('-').unwrap_or(behind).trim_start_matches([' ', '\t']);
        let is_quote = |one: char| matches!(one, '\'' | '"' | '\\' | '$');
        let unquoted = end.trim_start_matches(is_quote);
        let ends = |one: char| one.is_whitespace() || ";&|<>()".contains(one);
        let is_empty = unquoted.is_empty() || end.len() > unquoted.len() && unquoted.starts_with(ends);
        !behind.starts_with('<') && is_empty
    })
}
