//! One canonical text for all notations of a JSON value: no white space, sorted keys, uniform escapes, and uniform
//! numbers if [`number`] reads them; other numbers keep their digits.

use super::compare::{Array, Object, below, number};
use pipewright_lines::Step;
use pipewright_record::json::quoted;

/// Appends a value's canonical text, without the parts at the ignored paths. Text that is not JSON is kept.
pub(super) fn write(json: &str, ignored: &[&[Step]], out: &mut String) {
    let json = json.trim_ascii();
    match json.as_bytes().first() {
        Some(b'{') => match serde_json::from_str::<Object<'_>>(json) {
            Ok(fields) => write_object(&fields, ignored, out),
            Err(_) => out.push_str(json),
        },
        Some(b'[') => match serde_json::from_str::<Array<'_>>(json) {
            Ok(items) => write_array(&items, ignored, out),
            Err(_) => out.push_str(json),
        },
        Some(b'"') => match serde_json::from_str::<String>(json) {
            Ok(text) => write_text(&text, out),
            // Half a surrogate pair is valid JSON but not a valid text.
            Err(_) => out.push_str(json),
        },
        _ => match number(json) {
            // -0 and 0 are the same number.
            Some(number) => out.push_str(&(number + 0.0).to_string()),
            None => out.push_str(json),
        },
    }
}

/// As [`write`], for an object whose fields are already read.
pub(super) fn write_object(fields: &Object<'_>, ignored: &[&[Step]], out: &mut String) {
    out.push('{');
    let mut is_first = true;
    for (key, value) in fields {
        let below = below(ignored, |step| matches!(step, Step::Field(field) if field == key));
        if below.iter().any(|steps| steps.is_empty()) {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            out.push(',');
        }
        write_text(key, out);
        out.push(':');
        write(value.get(), &below, out);
    }
    out.push('}');
}

fn write_array(items: &Array<'_>, ignored: &[&[Step]], out: &mut String) {
    out.push('[');
    for (index, value) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        let below = below(ignored, |step| *step == Step::Item(index));
        // The other elements keep their positions.
        if below.iter().any(|steps| steps.is_empty()) {
            out.push_str("null");
        } else {
            write(value.get(), &below, out);
        }
    }
    out.push(']');
}

pub(super) fn write_text(text: &str, out: &mut String) {
    out.push_str(&quoted(text));
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use pipewright_lines::Path;

    fn canonical(json: &str, ignored: &[&str]) -> String {
        let ignored: Vec<Path> = ignored.iter().map(|path| Path::parse(path).unwrap()).collect();
        let mut out = String::new();
        write(json, &ignored.iter().map(Path::steps).collect::<Vec<_>>(), &mut out);
        out
    }

    #[test]
    fn one_value_has_one_text() {
        assert_eq!(
            canonical("{ \"b\" : [1.10, 12345678901234567890123, \"\\u0041\"],\n\"\\u0061\":{} }", &[]),
            r#"{"a":{},"b":[1.1,12345678901234567890123,"A"]}"#
        );
        for (one, other) in [("1.0", "1"), ("-0", "0"), ("1e2", "100"), ("2.50", "2.5")] {
            assert_eq!(canonical(one, &[]), canonical(other, &[]));
        }
        assert_ne!(canonical("1.00000000000000000", &[]), canonical("1", &[]));
        assert_eq!(canonical(r#"["\ud800"]"#, &[]), r#"["\ud800"]"#);
    }

    #[test]
    fn ignored_parts_are_left_out() {
        assert_eq!(
            canonical(r#"{"a":{"t":1,"b":2},"c":[{"t":1},7]}"#, &[".a.t", ".c[].t"]),
            r#"{"a":{"b":2},"c":[{},7]}"#
        );
        assert_eq!(canonical("[1,2]", &[".[0]"]), "[null,2]");
    }
}
