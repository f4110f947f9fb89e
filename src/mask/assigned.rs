//! Secrets that text assigns to a name: `password=hunter2`, `"api_key": "..."`, `Cookie: sid=1; theme=dark`.

use super::finding::{Finding, Kind};
use super::names::secret;
use super::rules::Rules;
use super::secrets::scheme_length;
use super::text::is_lookalike;
use memchr::memchr2_iter;
use std::ops::Range;

/// Finds the values of names that are those of secrets.
pub(super) fn find(rules: &Rules, text: &str, found: &mut Vec<Finding>) {
    let mut end = 0;
    for at in memchr2_iter(b':', b'=', text.as_bytes()) {
        if at < end {
            continue;
        }
        let name = name_before(&text[..at]);
        // "What does not pass: ..."
        let is_verb = name == "pass" && text.as_bytes()[at] == b':';
        if let Some(kind) = secret(name).filter(|_| !is_verb)
            && let Some(range) = value_behind(text, at, kind)
        {
            end = range.end;
            if is_lookalike(rules, &text[range.clone()]) {
                continue;
            }
            found.push(Finding::new(text, range, kind));
        }
    }
}

/// The name that `before` ends with, without quotes and blanks.
fn name_before(before: &str) -> &str {
    const LONGEST: usize = 100;
    let trimmed = before.trim_end_matches([' ', '\t']);
    // A word, a blank and a quote are no name in quotes.
    let trimmed = trimmed.strip_suffix(['"', '\'', '`']).unwrap_or(trimmed).trim_end_matches('\\');
    let belongs = |character: &char| character.is_alphanumeric() || "_-.".contains(*character);
    let length = trimmed.chars().rev().take(LONGEST).take_while(belongs).map(char::len_utf8).sum::<usize>();
    &trimmed[trimmed.len() - length..]
}

/// The value behind the colon or the equals sign at `at`.
fn value_behind(text: &str, at: usize, kind: Kind) -> Option<Range<usize>> {
    let is_colon = text.as_bytes().get(at) == Some(&b':');
    let rest = &text[at + 1..];
    if rest.starts_with([':', '=', '>']) && !(is_colon && rest.starts_with('=')) {
        return None; // a path, a comparison or a match of code
    }
    let rest = rest.strip_prefix('=').unwrap_or(rest);
    let rest = rest.trim_start_matches([' ', '\t']).trim_start_matches('\\');
    let start = text.len() - rest.len();
    if let Some(quote @ ('"' | '\'' | '`')) = rest.chars().next() {
        return quoted(rest, quote).map(|value| start + value.start..start + value.end);
    }
    // The name of a cookie stands near; only then is the end of the line looked for, so that no text is looked through twice.
    const NEAR: usize = 100;
    let has_cookie = || rest.bytes().take(NEAR).take_while(|byte| *byte != b'\n').any(|byte| byte == b'=');
    if is_colon && kind == Kind::COOKIE && has_cookie() {
        let length = rest.find(['\n', '\r', '"', '\'', '`']).unwrap_or(rest.len());
        return Some(start..start + rest[..length].trim_end().len());
    }
    let scheme = scheme_length(rest);
    let value = &rest[scheme..];
    let length = value
        .find(|character: char| character.is_whitespace() || "&;,<>()[]{}\"'`".contains(character))
        .unwrap_or(value.len());
    let (value, behind) = value.split_at(length);
    let is_none = value.is_empty() || is_code(value, behind) || is_colon && is_prose(value, behind);
    (!is_none && (kind == Kind::PASSWORD || is_random(value))).then_some(start + scheme..start + scheme + length)
}

/// Whether it can be a key or a token: those are no plain words.
fn is_random(value: &str) -> bool {
    value.len() >= 20 || value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Within the quotes that `rest` begins with; to the end where they are not closed. A backslash escapes a quote.
fn quoted(rest: &str, quote: char) -> Option<Range<usize>> {
    // Shorter than any secret: "unexpected token: '<'".
    const SHORTEST: usize = 3;
    let mut is_escaped = false;
    let close = rest.char_indices().skip(1).find(|(_, character)| {
        let closes = *character == quote && !is_escaped;
        is_escaped = *character == '\\' && !is_escaped;
        closes
    });
    let end = close.map_or(rest.len(), |(at, _)| at);
    let scheme = scheme_length(&rest[1..end]);
    (end > SHORTEST).then_some(1 + scheme..end)
}

/// Whether it is code: a word that stands for a value or its type, or what goes on with a bracket.
fn is_code(value: &str, behind: &str) -> bool {
    const LONGEST: usize = 100;
    if value.len() > LONGEST {
        return false;
    }
    let word = value.to_lowercase();
    behind.starts_with(['(', '[', '{', '<'])
        || matches!(
            &*word,
            "string"
                | "str"
                | "text"
                | "true"
                | "false"
                | "null"
                | "none"
                | "nil"
                | "undefined"
                | "required"
                | "optional"
                | "number"
                | "any"
        )
}

/// Whether a sentence or a declaration goes on: "token: unexpected end of input", "TOKEN: usize = 8".
fn is_prose(value: &str, behind: &str) -> bool {
    let goes_on = behind.trim_start().starts_with(|character: char| character.is_lowercase() || character == '=');
    value.bytes().all(|byte| byte.is_ascii_lowercase()) && behind.starts_with(' ') && goes_on
}
