//! Positions of errors in TOML text.

/// The line and the column, counted from 1, of a byte of a text.
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// An error of the parser, as `LINE:COLUMN: WHY`.
pub fn describe(text: &str, error: &toml::de::Error) -> String {
    let (line, column) = place(text, error.span().map_or(0, |span| span.start));
    format!("{line}:{column}: {}", error.message())
}
