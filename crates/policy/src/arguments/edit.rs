//! Changes values in arguments; every other byte stays.

use super::items;
use pipewright_lines::{Change, FieldError, FieldPosition, Path, Step, change, find, range_in};
use pipewright_record::json::quoted;
use pipewright_record::{Fields, Reason};

/// The arguments with an answer's changes: `edited` is merged over them at the top level, or replaces them.
///
/// # Errors
/// Why that is not possible, for people.
pub fn edited_arguments(own: &str, edited: &str, replace: bool) -> Result<String, Reason> {
    let fields = Fields::read(edited).map_err(|error| format!("edited_arguments: {error}"))?;
    if replace {
        return Ok(edited.to_owned());
    }
    let changes: Vec<(&str, Change<'_>)> =
        fields.iter().map(|(key, value)| (key, Change::Set(value.get().as_bytes()))).collect();
    Ok(changed(own, &changes)?)
}

/// The arguments with another value at a path (`.target.name`, `name`, `items[0]`): JSON, or any other text as a
/// string.
///
/// # Errors
/// Why that is not possible, for people.
pub fn with_value(own: &str, path: &str, value: &str) -> Result<String, Reason> {
    let json = match serde_json::from_str::<&serde_json::value::RawValue>(value) {
        Ok(json) => json.get().to_owned(),
        Err(_) => quoted(value),
    };
    let dotted = if path.starts_with(['.', '[']) { path.to_owned() } else { format!(".{path}") };
    match Path::parse(&dotted) {
        Some(path) if !path.steps().is_empty() => Ok(set(own, path.steps(), &json)?),
        Some(_) => Err("which argument? e NAME=VALUE".into()),
        // The text is not a path, so it is a name, which may be anything.
        None => Ok(set(own, &[Step::Field(path.to_owned())], &json)?),
    }
}

fn set(own: &str, steps: &[Step], value: &str) -> Result<String, String> {
    let Some((step, deeper)) = steps.split_first() else { return Ok(value.to_owned()) };
    match step {
        Step::Field(key) => {
            let inner = match find(own.as_bytes(), key) {
                Ok(FieldPosition::Present(range)) => set(&own[range], deeper, value)?,
                Ok(FieldPosition::Absent) => set(empty_for(deeper), deeper, value)?,
                Err(error) => return Err(describe(&error)),
            };
            changed(own, &[(key, Change::Set(inner.as_bytes()))])
        }
        Step::Item(index) => {
            let items = items(own).map_err(|_| "there is no list".to_owned())?;
            let Some(item) = items.get(*index) else { return Err(format!("the list has {} items", items.len())) };
            let range = range_in(own, item.get());
            Ok([&own[..range.start], &set(item.get(), deeper, value)?, &own[range.end..]].concat())
        }
        Step::Each => Err("which item? items[0]".to_owned()),
    }
}

/// The initial value of a missing field.
fn empty_for(deeper: &[Step]) -> &'static str {
    if matches!(deeper.first(), Some(Step::Item(_) | Step::Each)) { "[]" } else { "{}" }
}

fn changed(own: &str, changes: &[(&str, Change<'_>)]) -> Result<String, String> {
    let mut out = Vec::with_capacity(own.len() + 64);
    change(own, changes, &mut out).map_err(|error| describe(&error))?;
    // Complete values were replaced by text.
    String::from_utf8(out).map_err(|error| error.to_string())
}

fn describe(error: &FieldError) -> String {
    match error {
        FieldError::NotAnObject => "there is no object to set such a field in".to_owned(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edited_fields_replace_the_calls_own_and_all_else_stays() {
        let own = r#"{ "path":"main.py", "n":1.10 ,"big":12345678901234567890123}"#;
        assert_eq!(
            edited_arguments(own, r#"{"path":"x","new \"key\"":[1]}"#, false),
            Ok(r#"{ "path":"x", "n":1.10 ,"big":12345678901234567890123,"new \"key\"":[1]}"#.to_owned())
        );
        assert_eq!(edited_arguments(own, "{}", false), Ok(own.to_owned()));
        assert_eq!(edited_arguments(own, r#"{"n":2.0}"#, true), Ok(r#"{"n":2.0}"#.to_owned()));
        for replace in [false, true] {
            assert!(edited_arguments(own, r#"{"a":1,"A":2}"#, replace).is_err());
            assert!(edited_arguments(own, "[]", replace).is_err());
        }
    }

    #[test]
    fn a_value_is_set_at_a_path() {
        let own = r#"{"a":{"b":[1, 2.0,{"c":3}]},"odd key":1}"#;
        for (path, value, edited) in [
            ("a.b[1]", "7", r#"{"a":{"b":[1, 7,{"c":3}]},"odd key":1}"#),
            (".a.b[2].c", "\"x\"", r#"{"a":{"b":[1, 2.0,{"c":"x"}]},"odd key":1}"#),
            ("a", "hello you", r#"{"a":"hello you","odd key":1}"#),
            ("odd key", "true", r#"{"a":{"b":[1, 2.0,{"c":3}]},"odd key":true}"#),
            (".\"odd key\"", "", r#"{"a":{"b":[1, 2.0,{"c":3}]},"odd key":""}"#),
            ("new.deep", "1e2", r#"{"a":{"b":[1, 2.0,{"c":3}]},"odd key":1,"new":{"deep":1e2}}"#),
        ] {
            assert_eq!(with_value(own, path, value).as_deref(), Ok(edited), "{path}");
        }
        for (path, why) in
            [("a.b[9]", "3 items"), ("a.b.c", "no object"), ("a[0]", "no list"), ("a.b[]", "which"), (".", "which")]
        {
            assert!(
                with_value(own, path, "1").is_err_and(|error| error.contains(why)),
                "{path}: {:?}",
                with_value(own, path, "1")
            );
        }
    }
}
