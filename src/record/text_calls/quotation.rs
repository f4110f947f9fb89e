//! Whether a place in a text is quoted: in a block or a span of code, a quoted line, a comment, or behind the words that lead to an example.

/// Words that lead to an example, in lower case.
const EXAMPLE: [&str; 5] = ["for example", "for instance", "an example", "example:", "e.g."];

/// The state at a place in a text, which is read from its beginning.
#[derive(Debug, Default)]
pub(super) struct Quotation {
    is_in_block: bool,
    is_in_comment: bool,
    /// Whether the last line with text leads to an example.
    is_example: bool,
    /// Whether the current line has text, is a quoted one, and has an open span of code.
    is_begun: bool,
    is_quote: bool,
    is_in_span: bool,
}

impl Quotation {
    /// Reads the next part of the text.
    pub(super) fn read(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            if !line.trim().is_empty() {
                self.read_line(line.trim());
            }
            if line.ends_with('\n') {
                (self.is_begun, self.is_quote, self.is_in_span) = (false, false, false);
            }
        }
    }

    /// Reads a part of a line.
    fn read_line(&mut self, line: &str) {
        let is_fence = !self.is_begun && (line.starts_with("```") || line.starts_with("~~~"));
        if is_fence {
            // Within a block, a fence with a language is a line like any other.
            self.is_in_block = !self.is_in_block || !line.trim_matches(['`', '~']).is_empty();
        }
        self.is_quote |= !self.is_begun && line.starts_with('>');
        self.is_begun = true;
        self.is_in_span ^= !is_fence && line.matches('`').count() % 2 == 1;
        let (begin, end) = (line.rfind("<!--"), line.rfind("-->"));
        if begin.is_some() || end.is_some() {
            self.is_in_comment = begin > end;
        }
        let line = line.to_lowercase();
        self.is_example = EXAMPLE.iter().any(|words| line.contains(words));
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.is_in_block || self.is_in_comment || self.is_example || self.is_quote || self.is_in_span
    }
}

/// The content of a block or a span of code that is the whole text.
pub(super) fn unwrapped(text: &str) -> Option<&str> {
    let text = text.trim();
    for fence in ["```", "~~~"] {
        if let Some(block) = text.strip_prefix(fence).and_then(|text| text.strip_suffix(fence)) {
            return block.split_once('\n').map(|(_, content)| content).filter(|content| !content.contains(fence));
        }
    }
    text.strip_prefix('`')?.strip_suffix('`').filter(|content| !content.contains('`'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_place_is_known() {
        for (before, is_quoted) in [
            ("", false),
            ("I look:\n", false),
            ("a `b` c\n\n", false),
            ("```sh\nls\n```\n", false),
            ("~~~\na\n~~~\n", false),
            ("> a\n", false),
            ("<!-- a -->", false),
            ("I open example.com:\n", false),
            ("For example, a.\nNow b:\n", false),
            ("```\n", true),
            ("```\na\n```json\n", true),
            ("a `b", true),
            (" > a ", true),
            ("a\n>", true),
            ("<!-- a\n", true),
            ("For Example:\n\n", true),
        ] {
            let mut whole = Quotation::default();
            whole.read(before);
            assert_eq!(whole.is_quoted(), is_quoted, "{before}");
        }
    }

    #[test]
    fn a_text_is_unwrapped_only_as_a_whole() {
        assert_eq!((unwrapped("```sh\na\n```\n"), unwrapped(" `a` ")), (Some("a\n"), Some("a")));
        for text in ["a", "`a` `b`", "```\na\n```\n```\nb\n```", "b `a`", "```", "``", "`"] {
            assert_eq!(unwrapped(text).filter(|content| !content.is_empty()), None, "{text}");
        }
    }
}
