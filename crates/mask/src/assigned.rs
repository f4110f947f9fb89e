//! Secrets assigned to a name in text: `password=hunter2`, `"api_key": "..."`, `Cookie: sid=1; theme=dark`.

use super::finding::{Finding, Kind};
use super::names::secret_kind;
use super::pattern::Pattern;
use super::rules::Rules;
use super::secrets::{is_file, is_path, is_random, is_reference, scheme_length};
use super::text::is_lookalike;
use memchr::{memchr2_iter, memmem};
use std::ops::Range;

/// Finds the values assigned to names of secrets.
pub(super) fn find(rules: &Rules, text: &str, found: &mut Vec<Finding>) {
    let mut end = 0;
    for at in memchr2_iter(b':', b'=', text.as_bytes()) {
        if at < end {
            continue;
        }
        let before = text[..at].trim_end_matches([' ', '\t']);
        // `config["password"] = `, and a form's field: `user[password]=`, `user%5Bpassword%5D=`
        let bracket = if text.as_bytes()[at] == b'=' {
            ["]", "%5D"].iter().find_map(|end| before.strip_suffix(end))
        } else {
            None
        };
        let name = name_before(bracket.unwrap_or(before));
        // "pass" is a verb or a result here: "What does not pass: ...", "PASS: test 1", "pass=12 fail=0"
        let is_count = || text[at + 1..].starts_with(|first: char| first.is_ascii_digit());
        let is_verb = name.eq_ignore_ascii_case("pass") && (text.as_bytes()[at] == b':' || is_count());
        if let Some(kind) = secret_kind(name).filter(|_| !is_verb)
            && let Some(range) = value_after(text, at, kind)
        {
            end = range.end;
            let value = &text[range.clone()];
            let is_folder = matches!(name, "PWD" | "OLDPWD" | "pwd") && is_path(value);
            if is_lookalike(rules, value) || is_folder || kind != Kind::PASSWORD && is_file(value) {
                continue;
            }
            found.push(Finding::new(text, range, kind));
        }
    }
}

/// Finds the values of options after a blank: `--password hunter2`.
pub(super) fn find_options(rules: &Rules, text: &str, found: &mut Vec<Finding>) {
    const MAX_LEN: usize = 100;
    let mut end = 0;
    for dashes in memmem::find_iter(text.as_bytes(), b"--") {
        if dashes < end {
            continue;
        }
        let name = &text[dashes + 2..];
        let length =
            name.bytes().take(MAX_LEN).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
        let blank = dashes + 2 + length;
        if text.as_bytes().get(blank) == Some(&b' ')
            && let Some(kind) = secret_kind(&name[..length])
            && let Some(range) = value_after(text, blank, kind)
        {
            end = range.end;
            let value = &text[range.clone()];
            if is_random(value) && !is_lookalike(rules, value) && !(kind != Kind::PASSWORD && is_file(value)) {
                found.push(Finding::new(text, range, kind));
            }
        }
    }
}

/// `<password>hunter2</password>`
static ELEMENT: Pattern = Pattern::new(r"<([A-Za-z][A-Za-z0-9_.:-]{2,60})>([^<>\s]+)</");

/// Finds the content of XML elements.
pub(super) fn find_in_elements(text: &str, found: &mut Vec<Finding>) {
    if memmem::find(text.as_bytes(), b"</").is_none() {
        return;
    }
    for groups in ELEMENT.captures_iter(text) {
        if let (Some(name), Some(value)) = (groups.get(1), groups.get(2))
            && let Some(kind) = secret_kind(name.as_str())
            && is_random(value.as_str())
        {
            found.push(Finding::new(text, value.range(), kind));
        }
    }
}

/// Matches "The password is hunter2", "Your verification code is 123456".
static SENTENCE: Pattern = Pattern::new(concat!(
    r"(?-u:\b)(?i-u:(password|passwort|kennwort|passcode|passphrase)|pin|otp",
    r"|(?:verification|confirmation|security|login|access|one-time) code)(?: (?:is|was|ist))?:? +[\x22'`]?([^\s\x22'`<>,;{$\[(][^\s\x22'`<>,;]*)",
));

/// Finds passwords and codes in sentences. There a password must have letters and digits: other words are statements
/// about passwords.
pub(super) fn find_in_sentences(text: &str, found: &mut Vec<Finding>) {
    for groups in SENTENCE.captures_iter(text) {
        let Some(value) = groups.get(2) else { continue };
        let secret = value.as_str().trim_end_matches(['.', '!', '?', ')']);
        let is_number = (4..=8).contains(&secret.len()) && secret.bytes().all(|byte| byte.is_ascii_digit());
        let has_digit = secret.bytes().any(|byte| byte.is_ascii_digit());
        let has_letter = secret.contains(char::is_alphabetic);
        let kind = match groups.get(1) {
            Some(_) if has_digit && has_letter && secret.len() >= 5 => Kind::PASSWORD,
            None if is_number => Kind::CODE,
            _ => continue,
        };
        found.push(Finding::new(text, value.start()..value.start() + secret.len(), kind));
    }
}

/// The name at the end of `before`, without quotes.
fn name_before(before: &str) -> &str {
    const MAX_LEN: usize = 100;
    // A word, a blank and a quote are not a quoted name.
    let inner = before.strip_suffix(['"', '\'', '`']).unwrap_or(before).trim_end_matches('\\');
    let belongs = |character: &char| character.is_alphanumeric() || "_-.".contains(*character);
    let length = inner.chars().rev().take(MAX_LEN).take_while(belongs).map(char::len_utf8).sum::<usize>();
    let (outer, name) = inner.split_at(inner.len() - length);
    if outer.ends_with('%') { name.strip_prefix("5B").unwrap_or(name) } else { name }
}

/// Whether an environment variable ends before the equals sign at `at`, as in `DB_PASSWORD=x`, at the beginning of a
/// line or an argument. Then only a blank ends its value.
fn is_variable(text: &str, at: usize) -> bool {
    let belongs = |character: char| character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_';
    let outer = text[..at].trim_end_matches(belongs);
    let begins = outer.is_empty() || outer.ends_with([' ', '\t', '\n', '"', '\'']);
    begins && outer.len() < at && text[at..].starts_with('=') && !text[at + 1..].starts_with(['$', '<', '{', '[', '('])
}

/// The value after the colon, equals sign or blank at `at`.
fn value_after(text: &str, at: usize, kind: Kind) -> Option<Range<usize>> {
    let is_colon = text.as_bytes().get(at) == Some(&b':');
    let rest = &text[at + 1..];
    let is_arrow = || rest.starts_with('>') && rest[1..].trim_start().starts_with(['"', '\'']);
    if rest.starts_with([':', '=', '>']) && !(is_colon && rest.starts_with('=')) && !is_arrow() {
        return None; // a path, a comparison or a match arm in code
    }
    let rest = rest.strip_prefix(['=', '>']).unwrap_or(rest);
    let rest = rest.trim_start_matches([' ', '\t']).trim_start_matches('\\');
    // Python's bytes literals.
    let rest = rest.strip_prefix(['b', 'u']).filter(|rest| rest.starts_with(['"', '\''])).unwrap_or(rest);
    let start = text.len() - rest.len();
    if let Some(quote @ ('"' | '\'' | '`')) = rest.chars().next() {
        return quoted(rest, quote).map(|value| start + value.start..start + value.end);
    }
    // Up to the next colon, so that no text is searched twice.
    let has_cookie = || {
        let mark = rest.find(['=', ':', '\n', '<', '"', '\'', '`']);
        mark.is_some_and(|at| rest[at..].starts_with('='))
    };
    if is_colon && kind == Kind::COOKIE && has_cookie() {
        let length = rest.find(['\n', '\r', '"', '\'', '`']).unwrap_or(rest.len());
        return Some(start..start + rest[..length].trim_end().len());
    }
    let scheme = scheme_length(rest);
    let value = &rest[scheme..];
    let marks = if is_variable(text, at) { "\"'`" } else { "&;,<>()[]{}\"'`" };
    let length =
        value.find(|character: char| character.is_whitespace() || marks.contains(character)).unwrap_or(value.len());
    let (value, behind) = value.split_at(length);
    let is_none = value.is_empty() || is_code(value, behind) || is_colon && is_prose(value, behind);
    (!is_none && (kind == Kind::PASSWORD || is_random(value))).then_some(start + scheme..start + scheme + length)
}

/// The text within the quotes at the beginning of `rest`, to the end if they are not closed. A backslash escapes a
/// quote.
fn quoted(rest: &str, quote: char) -> Option<Range<usize>> {
    // Shorter than any secret: "unexpected token: '<'".
    const MIN_LEN: usize = 3;
    let mut is_escaped = false;
    let close = rest.char_indices().skip(1).find(|(_, character)| {
        let closes = *character == quote && !is_escaped;
        is_escaped = *character == '\\' && !is_escaped;
        closes
    });
    let end = close.map_or(rest.len(), |(at, _)| at);
    let scheme = scheme_length(&rest[1..end]);
    (end > MIN_LEN).then_some(1 + scheme..end)
}

/// Whether it is code: a word that stands for a value or its type, or a name with a bracket after it.
fn is_code(value: &str, behind: &str) -> bool {
    const MAX_LEN: usize = 100;
    if value.len() > MAX_LEN {
        return false;
    }
    let word = value.to_lowercase();
    behind.starts_with(['(', '[', '{', '<'])
        || is_reference(value)
        // Asterisks replace a secret.
        || !value.contains(char::is_alphanumeric)
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

/// Whether it is part of a sentence or a declaration: "token: unexpected end of input", "TOKEN: usize = 8".
fn is_prose(value: &str, behind: &str) -> bool {
    let goes_on = behind.trim_start().starts_with(|character: char| character.is_lowercase() || character == '=');
    value.bytes().all(|byte| byte.is_ascii_lowercase()) && behind.starts_with(' ') && goes_on
}
