//! Colours of a terminal, or none.

/// The role of a text, which sets its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Bold,
    Dim,
    Italic,
    Code,
    Title,
    Good,
    Bad,
}

/// Whether texts are styled.
#[derive(Debug, Clone, Copy)]
pub struct Styles {
    pub color: bool,
}

impl Styles {
    /// A printable text in its style.
    pub fn paint(self, style: Style, text: &str) -> String {
        let code = match style {
            _ if !self.color || text.is_empty() => return text.to_owned(),
            Style::Plain => return text.to_owned(),
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Italic => "3",
            Style::Code => "36",
            Style::Title => "1;36",
            Style::Good => "32",
            Style::Bad => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// A text without the codes of [`Styles::paint`].
pub fn unstyled(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split("\x1b[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    plain
}
