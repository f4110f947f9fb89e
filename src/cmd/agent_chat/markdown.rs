//! Renders Markdown on a terminal: wrapped, indented and styled. Control characters in the text have no effect.

use super::style::{Style, Styles};
use pipewright_io::printable::printable;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

/// Lines with line feeds, at most `width` columns wide unless a single word is wider. `text` may be an incomplete
/// document that is still being written.
pub fn render(text: &str, styles: Styles, width: usize) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Renderer { styles, width: width.max(20), ..Renderer::new(styles) };
    for event in Parser::new_ext(text, options) {
        page.take(event);
    }
    page.end_block();
    page.out
}

/// A block that encloses text.
enum Container {
    Quote,
    /// The text before the first line of an item, and before its other lines.
    Item {
        first: Option<String>,
        rest: String,
    },
}

struct Renderer {
    styles: Styles,
    width: usize,
    out: String,
    containers: Vec<Container>,
    /// The next numbers of the open lists; `None` for a list without numbers.
    lists: Vec<Option<u64>>,
    /// The styles of the text, innermost last.
    spans: Vec<Style>,
    /// The words of the block. A word consists of texts with their styles.
    words: Vec<Vec<(Style, String)>>,
    /// Whether the next text begins a word.
    begins_word: bool,
    in_code: bool,
    links: Vec<String>,
    cells: usize,
    /// Whether a blank line is due before the next block.
    wants_gap: bool,
}

impl Renderer {
    fn new(styles: Styles) -> Renderer {
        Renderer {
            styles,
            width: 80,
            out: String::new(),
            containers: Vec::new(),
            lists: Vec::new(),
            spans: Vec::new(),
            words: Vec::new(),
            begins_word: true,
            in_code: false,
            links: Vec::new(),
            cells: 0,
            wants_gap: false,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.code(&text),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text, None),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text, Some(Style::Code));
            }
            Event::SoftBreak => self.begins_word = true,
            Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.gap();
                let rule = self.styles.paint(Style::Dim, &"─".repeat(self.width.min(40)));
                self.line(&rule);
                self.wants_gap = true;
            }
            Event::TaskListMarker(is_done) => self.text(if is_done { "[x] " } else { "[ ] " }, None),
            Event::FootnoteReference(name) => self.text(&format!("[{name}]"), None),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.end_block();
                self.gap();
                self.spans.push(if level == HeadingLevel::H1 { Style::Title } else { Style::Bold });
            }
            Tag::Paragraph => {
                self.end_block();
                self.gap();
            }
            Tag::BlockQuote(_) => {
                self.end_block();
                self.gap();
                self.containers.push(Container::Quote);
            }
            Tag::CodeBlock(_) => {
                self.end_block();
                self.gap();
                self.in_code = true;
            }
            Tag::List(number) => {
                self.end_block();
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(number);
            }
            Tag::Item => {
                self.end_block();
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                let rest = " ".repeat(mark.width());
                self.containers.push(Container::Item { first: Some(mark), rest });
                self.wants_gap = false;
            }
            Tag::Table(_) => {
                self.end_block();
                self.gap();
            }
            Tag::TableHead => self.spans.push(Style::Bold),
            Tag::TableRow => self.cells = 0,
            Tag::TableCell => {
                if self.cells > 0 {
                    self.text(" | ", Some(Style::Dim));
                    self.begins_word = true;
                }
                self.cells += 1;
            }
            Tag::Emphasis => self.spans.push(Style::Italic),
            Tag::Strong => self.spans.push(Style::Bold),
            Tag::Strikethrough => self.spans.push(Style::Dim),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.links.push(dest_url.into_string()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.end_block();
                self.spans.pop();
                self.wants_gap = true;
            }
            TagEnd::Paragraph => {
                self.end_block();
                self.wants_gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.end_block();
                self.containers.pop();
                self.wants_gap = true;
            }
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.wants_gap = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.wants_gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.end_block();
                self.containers.pop();
                self.wants_gap = false;
            }
            TagEnd::TableHead => {
                self.end_block();
                self.spans.pop();
                self.cells = 0;
            }
            TagEnd::TableRow => self.end_block(),
            TagEnd::Table => self.wants_gap = true,
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => _ = self.spans.pop(),
            TagEnd::Link | TagEnd::Image => {
                let address = self.links.pop().unwrap_or_default();
                let shown: String = self.words.last().into_iter().flatten().map(|(_, text)| text.as_str()).collect();
                if !address.is_empty() && shown != address {
                    self.begins_word = true;
                    self.text(&format!("({address})"), Some(Style::Dim));
                }
            }
            _ => {}
        }
    }

    /// Adds text to the block.
    fn text(&mut self, text: &str, style: Option<Style>) {
        let style = style.or(self.spans.last().copied()).unwrap_or(Style::Plain);
        for (index, part) in text.split(char::is_whitespace).enumerate() {
            self.begins_word |= index > 0;
            if part.is_empty() {
                continue;
            }
            // Variation selectors and joiners are dropped: the rest of the text would be shown as `?`.
            let part = printable(&part.replace(['\u{fe0f}', '\u{200d}'], "")).into_owned();
            match self.words.last_mut().filter(|_| !self.begins_word) {
                Some(word) => word.push((style, part)),
                None => self.words.push(vec![(style, part)]),
            }
            self.begins_word = false;
        }
    }

    /// Adds the text of a code block, line by line as it is.
    fn code(&mut self, text: &str) {
        for line in text.lines() {
            let line = self.styles.paint(Style::Code, &printable(&line.replace('\t', "    ")));
            self.line(&format!("    {line}"));
        }
    }

    fn end_block(&mut self) {
        if !self.words.is_empty() {
            self.end_line();
        }
        self.begins_word = true;
    }

    /// Writes the collected words, wrapped.
    fn end_line(&mut self) {
        let room = self.width.saturating_sub(self.prefix_width()).max(10);
        let (mut row, mut used) = (String::new(), 0);
        for word in std::mem::take(&mut self.words) {
            let wide: usize = word.iter().map(|(_, text)| text.width()).sum();
            if used > 0 && used + 1 + wide > room {
                self.line(&std::mem::take(&mut row));
                used = 0;
            }
            if used > 0 {
                row.push(' ');
                used += 1;
            }
            word.iter().for_each(|(style, text)| row.push_str(&self.styles.paint(*style, text)));
            used += wide;
        }
        self.line(&row);
        self.begins_word = true;
    }

    fn prefix_width(&self) -> usize {
        let width = |around: &Container| match around {
            Container::Quote => 2,
            Container::Item { rest, .. } => rest.len(),
        };
        self.containers.iter().map(width).sum()
    }

    /// Writes the blank line between blocks.
    fn gap(&mut self) {
        if std::mem::take(&mut self.wants_gap) && !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn line(&mut self, row: &str) {
        for around in &mut self.containers {
            match around {
                Container::Quote => self.out.push_str(&self.styles.paint(Style::Dim, "│ ")),
                Container::Item { first, rest } => self.out.push_str(first.take().as_deref().unwrap_or(rest)),
            }
        }
        self.out.push_str(row);
        self.out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Styles = Styles { color: false };

    #[test]
    fn blocks_are_laid_out_and_wrapped() {
        let text = "# The lamp\nIt *costs* **19**\nand `ships` today, see [the page](https://x.example/a).\n\n1. \
                    one\n2. two two two two two two\n   - three\n\n> said\n\n```sh\n  ls   -l\n```\n\n| a | b \
                    |\n|---|---|\n| 1 | 2 |\n";
        assert_eq!(
            render(text, PLAIN, 24),
            "The lamp\n\nIt costs 19 and ships\ntoday, see the page\n(https://x.example/a).\n\n1. one\n2. two two two \
             two two\n   two\n   • three\n\n│ said\n\n      ls   -l\n\na | b\n1 | 2\n"
        );
    }

    #[test]
    fn text_is_styled_if_the_terminal_has_colours() {
        assert_eq!(render("a **b**c", Styles { color: true }, 80), "a \x1b[1mb\x1b[0mc\n");
    }

    proptest! {
        #[test]
        fn no_text_controls_the_terminal(text in "(?s)[\\PC\u{1b}\u{7}\u{9b}\u{202e}\r\n*_`>#|\\[\\]()<!~ \
            -]{0,200}", width in 1..120usize) {
            let shown = render(&text, PLAIN, width);
            prop_assert!(shown.chars().all(|character| character == '\n' || pipewright_io::printable::is_printable(character)), "{shown:?}");
        }
    }
}
