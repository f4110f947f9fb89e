//! Small tables, for people, spreadsheets and programs.

use super::Format;
use csv::WriterBuilder;
use pipewright_io::printable::printable;
use pipewright_record::json::quoted;
use std::io::Write;
use unicode_width::UnicodeWidthStr;

/// Appends the table. The first two columns are texts, the others numbers.
pub(super) fn print(format: Format, titles: &[&str], rows: &[Vec<String>], out: &mut Vec<u8>) {
    match format {
        Format::Table => for_people(titles, rows, out),
        Format::Csv => {
            let mut writer = WriterBuilder::new().from_writer(Vec::new());
            // A vector takes everything.
            let _ = writer.write_record(titles);
            for row in rows {
                let _ = writer.write_record(row);
            }
            out.extend(writer.into_inner().unwrap_or_default());
        }
        Format::Json => {
            for row in rows {
                for (number, (title, cell)) in titles.iter().zip(row).enumerate() {
                    let text = || quoted(cell);
                    let value = if number < 2 {
                        text()
                    } else if cell.is_empty() {
                        "null".to_owned()
                    } else {
                        cell.clone()
                    };
                    let before = if number == 0 { '{' } else { ',' };
                    let _ = write!(out, "{before}\"{title}\":{value}");
                }
                out.extend_from_slice(b"}\n");
            }
        }
    }
}

fn for_people(titles: &[&str], rows: &[Vec<String>], out: &mut Vec<u8>) {
    let titles: Vec<String> = titles.iter().map(|title| title.replace('_', " ")).collect();
    let lines: Vec<Vec<String>> = std::iter::once(&titles)
        .chain(rows)
        .map(|row| row.iter().map(|cell| printable(cell).into_owned()).collect())
        .collect();
    let width =
        |column: usize| lines.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..titles.len()).map(width).collect();
    for row in lines {
        let mut line = String::new();
        for (number, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let space = " ".repeat(width - cell.width());
            let cell = if number < 2 { format!("{cell}{space}  ") } else { format!("{space}{cell}  ") };
            line.push_str(&cell);
        }
        out.extend_from_slice(line.trim_end().as_bytes());
        out.push(b'\n');
    }
}
