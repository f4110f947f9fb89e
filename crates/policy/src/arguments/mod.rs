//! A call's arguments as a person reads and edits them. They stay text: numbers keep every digit, and unedited parts
//! keep their bytes.

mod edit;
mod layout;

pub use edit::{edited_arguments, with_value};
pub use layout::{compact, pretty};

use pipewright_lines::{Step, is_json};
use pipewright_record::json::quoted;
use pipewright_record::{Fields, Reason};
use serde_json::value::RawValue;

/// Deeper values are shown as one row.
const MAX_DEPTH: usize = 16;

/// A value and its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The path in jq's syntax: `.target.name`, `.items[0]`; for people.
    pub path: String,
    /// JSON text on one line; a string without needless escapes: `"\u0041"` is `"A"`.
    pub value: String,
}

/// Every value that has no values in it, in order.
pub fn rows(json: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    collect(json.trim(), &mut Vec::new(), &mut rows);
    rows
}

fn collect(json: &str, path: &mut Vec<Step>, rows: &mut Vec<Row>) {
    let is_deep = path.len() >= MAX_DEPTH;
    match json.as_bytes().first() {
        Some(b'{')
            if !is_deep
                && let Ok(fields) = Fields::read(json)
                && fields.iter().next().is_some() =>
        {
            for (key, value) in fields.iter() {
                path.push(Step::Field(key.to_owned()));
                collect(value.get(), path, rows);
                path.pop();
            }
        }
        Some(b'[')
            if !is_deep
                && let Ok(items) = items(json)
                && !items.is_empty() =>
        {
            for (index, value) in items.iter().enumerate() {
                path.push(Step::Item(index));
                collect(value.get(), path, rows);
                path.pop();
            }
        }
        // An empty object at the top: there are no arguments.
        Some(b'{') if path.is_empty() && compact(json) == "{}" => {}
        _ => rows.push(Row { path: words(path), value: shown(json) }),
    }
}

/// An array's items as raw text.
fn items(json: &str) -> Result<Vec<&RawValue>, serde_json::Error> {
    serde_json::from_str(json)
}

/// A value's text; strings without the escapes that would hide their text.
fn shown(json: &str) -> String {
    match serde_json::from_str::<String>(json) {
        Ok(text) => quoted(&text),
        Err(_) => compact(json),
    }
}

fn words(path: &[Step]) -> String {
    let mut words = String::new();
    for step in path {
        match step {
            Step::Field(key) if is_plain(key) => words.extend([".", key]),
            Step::Field(key) => words.extend([".", &quoted(key)]),
            Step::Item(index) => words.push_str(&format!("[{index}]")),
            Step::Each => words.push_str("[]"),
        }
    }
    if words.is_empty() { ".".to_owned() } else { words }
}

fn is_plain(key: &str) -> bool {
    key.chars().all(|character| character.is_alphanumeric() || character == '_')
        && key.chars().next().is_some_and(|first| !first.is_ascii_digit())
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The old value, which is not there any more.
    Gone(Row),
    /// The new value.
    New(Row),
}

/// The differences between the values of two texts.
pub fn differences(old: &str, new: &str) -> Vec<Difference> {
    let (old, new) = (rows(old), rows(new));
    let index = |rows: &[Row]| -> std::collections::HashMap<String, String> {
        rows.iter().map(|row| (row.path.clone(), row.value.clone())).collect()
    };
    let (was, is) = (index(&old), index(&new));
    let mut lines = Vec::new();
    for row in &old {
        if is.get(&row.path) != Some(&row.value) {
            lines.push(Difference::Gone(row.clone()));
            // The new value follows the old one.
            let value = is.get(&row.path);
            lines.extend(value.map(|value| Difference::New(Row { path: row.path.clone(), value: value.clone() })));
        }
    }
    lines.extend(new.into_iter().filter(|row| !was.contains_key(&row.path)).map(Difference::New));
    lines
}

/// Arguments that a person wrote, on one line.
///
/// # Errors
/// Why they are not arguments, for people.
pub fn read(text: &str, max_depth: usize) -> Result<String, Reason> {
    // serde_json's error has the place.
    if let Err(error) = serde_json::from_str::<&RawValue>(text.trim()) {
        return Err(format!("not JSON: {error}").into());
    }
    if !text.trim_start().starts_with('{') || !is_json(text.trim().as_bytes(), max_depth) {
        return Err("arguments are a JSON object: {\"name\": value, ...}".into());
    }
    Fields::read(text.trim()).map_err(|error| error.to_string())?;
    Ok(compact(text))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn shown(json: &str) -> Vec<String> {
        rows(json).into_iter().map(|Row { path, value }| format!("{path}={value}")).collect()
    }

    #[test]
    fn arguments_are_rows_of_paths_and_values() {
        assert_eq!(
            shown(r#"{"a":{"b c":[1.10,{}]},"n":12345678901234567890123, "s":"\u0064el\n", "e":[]}"#),
            [r#".a."b c"[0]=1.10"#, r#".a."b c"[1]={}"#, ".n=12345678901234567890123", r#".s="del\n""#, ".e=[]",]
        );
        assert_eq!(shown("{}"), [""; 0]);
        assert_eq!(shown(" { } "), [""; 0]);
        let deep = "[".repeat(400) + &"]".repeat(400);
        assert_eq!(rows(&format!(r#"{{"x":{deep}}}"#)).len(), 1, "a deep value is one row");
    }

    #[test]
    fn a_difference_names_old_and_new() {
        let lines = differences(r#"{"a":1,"b":"x","c":[1,2]}"#, r#"{"a":1.0,"c":[1],"d":null}"#);
        let shown: Vec<String> = lines
            .iter()
            .map(|line| match line {
                Difference::Gone(row) => format!("-{}={}", row.path, row.value),
                Difference::New(row) => format!("+{}={}", row.path, row.value),
            })
            .collect();
        assert_eq!(shown, ["-.a=1", "+.a=1.0", "-.b=\"x\"", "-.c[1]=2", "+.d=null"]);
        assert_eq!(differences(r#"{"a":"A"}"#, r#"{ "a" : "\u0041" }"#), []);
    }

    #[test]
    fn arguments_that_are_not_an_object_are_refused() {
        assert_eq!(read("{ \"a\" : 1.10,\n \"b\": \"x y\" }\n", 9), Ok(r#"{"a":1.10,"b":"x y"}"#.to_owned()));
        for (bad, why) in [("{", "not JSON"), ("[1]", "object"), ("{\"a\":1,\"a\":2}", "twice"), ("", "not JSON")] {
            assert!(read(bad, 9).is_err_and(|error| error.contains(why)), "{bad}");
        }
        assert!(read(r#"{"a":[[1]]}"#, 2).is_err());
    }
}
