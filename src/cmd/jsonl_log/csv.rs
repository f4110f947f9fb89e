//! Messages as rows of a table.

use super::LogTask;
use crate::cmd::filter::Filter;
use crate::cmd::log_file::Entry;
use crate::cmd::usage;
use ::csv::{Writer, WriterBuilder};
use pipewright_io::report::{Failure, Report};
use pipewright_lines::{Path, Paths, plain_text};
use pipewright_log::read::{Content, Found, Message};
use pipewright_log::time;

/// One column.
enum Column {
    /// A path in the message: its index in `paths`.
    Path(usize),
    Time,
    T,
    Seq,
    Direction,
    File,
    Line,
    Filter(Box<Filter>),
}

/// Writes rows.
pub(super) struct Csv {
    titles: Vec<String>,
    columns: Vec<Column>,
    paths: Paths,
    /// Which of the paths select the complete message.
    whole: Vec<bool>,
    /// The paths, as given, that no message has contained so far.
    unmatched: Vec<Option<String>>,
    /// Whether any row was written.
    has_rows: bool,
    filter: Option<Filter>,
    rows: Writer<Vec<u8>>,
    cell: Vec<u8>,
}

impl Csv {
    /// # Errors
    /// [`usage`] if a field is neither a path nor a filter.
    pub(super) fn new(fields: &str, filter: Option<Filter>) -> Result<Csv, Failure> {
        let (mut titles, mut columns, mut paths, mut unmatched) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for field in split(fields) {
            let (name, field) = name_of(field.trim());
            if field.is_empty() {
                return Err(usage(format_args!("FIELDS: an empty field in {fields:?}")));
            }
            let column = match field {
                "$time" => Column::Time,
                "$t" => Column::T,
                "$seq" => Column::Seq,
                "$dir" => Column::Direction,
                "$file" => Column::File,
                "$line" => Column::Line,
                _ => match Path::parse(field) {
                    Some(path) if !field.contains("[]") => {
                        paths.push(path);
                        unmatched.push(Some(field.to_owned()));
                        Column::Path(paths.len() - 1)
                    }
                    _ => Column::Filter(Box::new(Filter::compile("FIELDS", field)?)),
                },
            };
            columns.push(column);
            // The column of the complete message is titled `.`, as given.
            let title = field.trim_start_matches(['.', '$']);
            titles.push(name.unwrap_or(if title.is_empty() { field } else { title }).to_owned());
        }
        let whole = paths.iter().map(|path| path.steps().is_empty()).collect();
        let rows = WriterBuilder::new().from_writer(Vec::new());
        let (paths, cell) = (Paths::new(&paths), Vec::new());
        Ok(Csv { titles, columns, paths, whole, unmatched, has_rows: false, filter, rows, cell })
    }

    fn write_row(&mut self, log: &str, line: u64, message: &Message<'_>, report: &Report) {
        let mut found = vec![None; self.paths.len()];
        let text = match &message.content {
            Content::Json(json) => {
                // The reader has already accepted it as JSON.
                self.paths.find_in_json(json, &mut found);
                None
            }
            _ => message.body().map(String::from_utf8_lossy),
        };
        self.has_rows = true;
        for (number, unmatched) in self.unmatched.iter_mut().enumerate().filter(|(_, path)| path.is_some()) {
            if found[number].is_some() || self.whole[number] {
                *unmatched = None;
            }
        }
        for column in &self.columns {
            self.cell.clear();
            let mut put = |text: &str| self.cell.extend_from_slice(text.as_bytes());
            match column {
                Column::Path(number) => match (found[*number], &text) {
                    (Some(json), _) => put(&plain_text(json)),
                    (None, Some(text)) if self.whole[*number] => put(text),
                    _ => {}
                },
                Column::Time => put(&message.date().map(time::write).unwrap_or_default()),
                Column::T => put(&number(message.t)),
                Column::Seq => put(&number(message.seq)),
                Column::Direction => put(message.direction.map_or("", |direction| direction.name())),
                Column::File => put(log),
                Column::Line => put(&line.to_string()),
                Column::Filter(filter) => {
                    if let Err(error) = filter.cell(message, &mut self.cell) {
                        self.cell.clear();
                        report.fault(format_args!("{log}:{line}"), format_args!("{error}; its cell is empty"));
                    }
                }
            }
            // Writing to a vector cannot fail.
            let _ = self.rows.write_field(&self.cell);
        }
        let _ = self.rows.write_record(None::<&[u8]>);
    }

    fn give_rows(&mut self, out: &mut Vec<u8>) {
        let rows = std::mem::replace(&mut self.rows, WriterBuilder::new().from_writer(Vec::new()));
        out.extend(rows.into_inner().unwrap_or_default());
    }
}

impl LogTask for Csv {
    fn needs_times(&self) -> bool {
        self.columns.iter().any(|column| matches!(column, Column::Time))
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        let _ = self.rows.write_record(&self.titles);
        self.give_rows(out);
    }

    fn take(&mut self, log: &str, entry: &Entry<'_>, report: &Report, _out: &mut Vec<u8>) {
        let Found::Message(message) = &entry.found else { return };
        let place = || format!("{log}:{}", entry.line);
        if self.filter.as_ref().is_some_and(|filter| !filter.matches(message, report, place)) {
            return;
        }
        self.write_row(log, entry.line, message, report);
    }

    fn end_read(&mut self, out: &mut Vec<u8>) {
        self.give_rows(out);
    }

    fn end(&mut self, report: &Report, _out: &mut Vec<u8>) {
        if let Some(filter) = &self.filter {
            filter.sum_up(report);
        }
        for path in self.unmatched.iter().flatten().filter(|_| self.has_rows) {
            report.note(format_args!("no message has {path}, so its column is empty"));
        }
    }
}

fn number(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

/// Splits `name=FIELD`. If the text before `=` is not a name, as in `.a == 1`, the complete field is a filter.
fn name_of(field: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
    };
    match field.split_once('=') {
        Some((name, rest)) if is_name(name) && !rest.starts_with('=') => (Some(name), rest.trim_start()),
        _ => (None, field),
    }
}

/// Splits at commas outside of brackets and strings.
fn split(fields: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut escaped, mut start) = (0u32, false, false, 0);
    let mut parts = Vec::new();
    for (at, character) in fields.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&fields[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&fields[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_split_outside_brackets_and_strings() {
        assert_eq!(split(r#".a,[.b,.c],"x,\",y",f(1;2)"#), [".a", "[.b,.c]", r#""x,\",y""#, "f(1;2)"]);
        assert_eq!(split(""), [""]);
    }

    #[test]
    fn a_name_is_followed_by_an_equals_sign() {
        assert_eq!(name_of("hit-points=.hp"), (Some("hit-points"), ".hp"));
        assert_eq!(name_of("имя= .a == 1"), (Some("имя"), ".a == 1"));
        for none in [".a", ".a=1", "empty==.a", ".a == 1", "2=.a", "=.a", "a b=.c", "$x=1"] {
            assert_eq!(name_of(none), (None, none));
        }
    }
}
