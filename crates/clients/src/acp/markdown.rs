//! Text for places that editors show as Markdown.

use pipewright_record::json::{Object, quoted};

/// The longest title, in characters.
const TITLE: usize = 160;

/// A text as a code block, in which Markdown has no effect.
pub(super) fn fenced(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let text = text.strip_suffix('\n').unwrap_or(text);
    format!("{fence}\n{text}\n{fence}")
}

/// A text on one line, cut to the length of a title. Control characters become spaces; direction marks and invisible
/// characters become `?`.
pub(super) fn one_line(text: &str) -> String {
    let plain = text.split(|character: char| character.is_control() || character.is_whitespace());
    let plain = plain.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ").replace(is_unseen, "?");
    match plain.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

/// Marks of the writing direction (UAX #9), and characters without width.
fn is_unseen(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A text `ContentBlock`, as JSON text.
pub(super) fn text_block(text: &str) -> String {
    Object::default().text("type", "text").text("text", &visible(text)).end()
}

/// A text for editors that print it unescaped on a terminal: control characters except line feeds and tabs become `?`.
pub(super) fn visible(text: &str) -> String {
    text.replace(|character: char| character.is_control() && !matches!(character, '\n' | '\t'), "?")
}

/// A `ToolCallContent` with a `ContentBlock`, as JSON text.
pub(super) fn content(block: &str) -> String {
    Object::default().text("type", "content").put("content", block).end()
}

/// A list of JSON texts.
pub(super) fn list(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

/// The content of a JSON string; other JSON unchanged.
pub(super) fn plain(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

/// An ACP id, which is a string: other JSON values are converted to a string of their JSON text.
pub(super) fn id_text(json: &str) -> String {
    quoted(&plain(json))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!(fenced("a\n"), "```\na\n```");
        assert_eq!(fenced("x ```` y"), "`````\nx ```` y\n`````");
    }

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(one_line(" a\n\tb\u{1b}[31m "), "a b [31m");
        assert_eq!(one_line("Pay\u{202e}won"), "Pay?won");
        assert_eq!(one_line(&"é".repeat(500)).chars().count(), TITLE + 1);
    }
}
