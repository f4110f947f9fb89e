//! Whether a place in a text is quoted: in a block or a span of code, an indented or quoted line, an element of a list, a comment, behind a
//! result, or behind the words that lead to an example.

/// Words that lead to an example, in lower case.
const EXAMPLE: [&str; 5] = ["for example", "for instance", "an example", "example:", "e.g."];

/// The state at a place in a text, which is read from its beginning.
#[derive(Debug, Default)]
pub(super) struct Quotation {
    /// The fence of the block: its character and length.
    block: Option<(char, usize)>,
    is_in_comment: bool,
    /// Whether the last line with text leads to an example.
    is_example: bool,
    /// Whether the current line has text, is a quoted one, and has an open span of code.
    is_begun: bool,
    is_quote: bool,
    is_in_span: bool,
    /// The current line's indentation; a tab counts as four.
    indent: usize,
    /// Whether a result stands before: the text is an echo of the conversation.
    is_echo: bool,
}

/// The indentation from which a line is code.
const CODE: usize = 4;

impl Quotation {
    /// Reads the next part of the text.
    pub(super) fn read(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            if !self.is_begun {
                let blank = line.chars().take_while(|character| character.is_whitespace());
                self.indent += blank.map(|character| if character == '\t' { CODE } else { 1 }).sum::<usize>();
            }
            if !line.trim().is_empty() {
                self.read_line(line.trim(), line.ends_with('\n'));
            }
            if line.ends_with('\n') {
                (self.is_begun, self.is_quote, self.is_in_span, self.indent) = (false, false, false, 0);
            }
        }
    }

    /// Reads a part of a line: the last one, or one that a mark follows.
    fn read_line(&mut self, line: &str, is_last: bool) {
        let is_fence = !self.is_begun && self.read_fence(line, is_last);
        if !self.is_begun {
            self.is_quote |= line.starts_with('>') || text_of_item(line).is_some();
            self.is_echo |= super::RESULTS.iter().any(|begin| line.starts_with(begin));
        }
        self.is_begun = true;
        self.is_in_span ^= !is_fence && line.matches('`').count() % 2 == 1;
        let (begin, end) = (line.rfind("<!--"), line.rfind("-->"));
        if begin.is_some() || end.is_some() {
            self.is_in_comment = begin > end;
        }
        let line = line.to_lowercase();
        self.is_example = EXAMPLE.iter().any(|words| line.contains(words));
    }

    /// Begins or ends a block if the line is a fence. Within a block, only a fence of the same character, at least as long, and with nothing
    /// behind it ends it; any other is a line of the block.
    fn read_fence(&mut self, line: &str, is_last: bool) -> bool {
        let mut line = line;
        while let Some(text) = line.strip_prefix('>').map(str::trim_start).or_else(|| text_of_item(line)) {
            line = text;
        }
        let Some(of) = line.chars().next().filter(|character| ['`', '~'].contains(character)) else { return false };
        let behind = line.trim_start_matches(of);
        let length = line.len() - behind.len();
        match self.block {
            _ if length < 3 => return false,
            Some((own, least)) if own == of && length >= least && behind.is_empty() && is_last => self.block = None,
            None if of == '~' || !behind.contains('`') => self.block = Some((of, length)),
            Some(_) => {}
            None => return false,
        }
        true
    }

    pub(super) fn is_quoted(&self) -> bool {
        let is_in_code = self.block.is_some() || self.is_in_span || self.indent >= CODE;
        is_in_code || self.is_in_comment || self.is_example || self.is_quote || self.is_echo
    }
}

/// The text of a list's element, if the line is one.
fn text_of_item(line: &str) -> Option<&str> {
    let number = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let text = match number.len() < line.len() {
        true => number.strip_prefix(['.', ')']),
        false => line.strip_prefix(['-', '*', '+']),
    }?;
    (text.is_empty() || text.starts_with([' ', '\t'])).then(|| text.trim_start())
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
            ("  - a\n  ", false),
            ("**a** ", false),
            ("3.5 a ", false),
            ("    ", true),
            ("a\n\t", true),
            ("- ", true),
            ("a\n 2) b: ", true),
            ("function_result: name=a\n\nb\n", true),
            ("<tool_response>a</tool_response>\n", true),
            ("````\na\n```\n", true),
            ("````\na\n`````\n", false),
            ("```\na\n~~~\n", true),
            ("~~~\na\n~~~ b\n", true),
            ("```\n```", true),
            ("- ```\n  a\n  ```\n", false),
            ("  ```\n", true),
            ("> ```\n", true),
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
