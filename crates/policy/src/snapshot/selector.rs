//! Selectors: what their words tell about the elements that they find.
//!
//! The caller chose the words, so they are weaker evidence than what a page shows; such a target has no snapshot's id.

use crate::target::Target;
use pipewright_record::identifier::split;

/// The element of a selector, by its words; `None` if they tell nothing.
pub(super) fn read(selector: &str) -> Option<Target> {
    // Escapes hide words, and `aria-ref` is a reference.
    if selector.contains('\\') || selector.contains("aria-ref") {
        return None;
    }
    let mut said = Vec::new();
    let mut role = None;
    for part in selector.split(">>").map(str::trim) {
        match part.strip_prefix("text=") {
            Some(text) => said.extend(split(text)),
            None if part.starts_with("xpath=") || part.starts_with("//") => quoted(part, false, &mut role, &mut said),
            None => quoted(part.strip_prefix("css=").unwrap_or(part), true, &mut role, &mut said),
        }
    }
    let says = said.iter().any(|word| word.chars().filter(|letter| letter.is_alphabetic()).count() >= 3);
    says.then(|| Target { role, name: said.join(" "), ..Target::default() })
}

/// The words in quotes, and, if `is_outside`, those outside of them.
fn quoted<'a>(part: &'a str, is_outside: bool, role: &mut Option<String>, said: &mut Vec<&'a str>) {
    let mut rest = part;
    let outside = |text: &'a str, role: &mut Option<String>, said: &mut Vec<&'a str>| {
        *role = role.take().or_else(|| self::role(text));
        if is_outside {
            self::outside(text, said);
        }
    };
    // Quoted text is the text on the page that is searched for.
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (before, quoted) = rest.split_at(at);
        outside(before, role, said);
        let quote = &quoted[..1];
        let (text, behind) = quoted[1..].split_once(quote).unwrap_or((&quoted[1..], ""));
        match before.ends_with("getByRole(") {
            true => *role = Some(text.to_owned()),
            false => said.extend(split(text)),
        }
        rest = behind;
    }
    outside(rest, role, said);
}

/// The words outside of quotes: ids, classes, values, and the text after an engine's name (`text=Delete`).
fn outside<'a>(part: &'a str, said: &mut Vec<&'a str>) {
    for piece in part.split([' ', '>', '(', ')', ',', '+', '~']) {
        let (kind, piece) = match piece.split_once('=') {
            // In brackets, the key is an attribute's name.
            Some((key, value)) => (Some(key.rsplit('[').next().unwrap_or(key)), value),
            None => (None, piece),
        };
        // A role is not the element's name.
        if matches!(kind, Some("role" | "nth" | "visible" | "type")) {
            continue;
        }
        let mut piece = piece;
        // `tag.class#id:pseudo[attribute]`: what is before the first mark is a tag.
        if kind.is_none() {
            let Some(mark) = piece.find(['.', '#']) else { continue };
            piece = &piece[mark..];
        }
        let piece = piece.split([':', '[']).next().unwrap_or(piece);
        said.extend(split(piece).into_iter().filter(|word| !is_plain(word)));
    }
}

/// `role=button`, `button:has-text(`, `getByRole(`.
fn role(part: &str) -> Option<String> {
    let (_, named) = part.rsplit_once("role=").unwrap_or(("", part));
    let end = named.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(named.len());
    let role = match &named[..end] {
        "a" => "link",
        role @ ("button" | "link" | "checkbox" | "radio" | "tab" | "menuitem" | "option" | "textbox") => role,
        _ => return None,
    };
    Some(role.to_owned())
}

/// Words for what an element is, not for what it does.
fn is_plain(word: &str) -> bool {
    use crate::lists::snapshot_selector::SAFE_ATTRIBUTES;
    SAFE_ATTRIBUTES.contains(&&*word.to_lowercase())
}
