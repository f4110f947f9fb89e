//! Lays out JSON text on many lines for reading and editing, and on one line again. Only white space between values
//! changes.

/// The text on one line, without white space between its values.
pub fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    outside_strings(json, |character, in_string| {
        if in_string || !matches!(character, ' ' | '\t' | '\n' | '\r') {
            out.push(character);
        }
    });
    out
}

/// The text with a line for each value, indented by its depth.
pub fn pretty(json: &str) -> String {
    let compact = compact(json);
    let (mut out, mut depth, mut before) = (String::with_capacity(json.len() * 2), 0_usize, ' ');
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        // At this depth, indentation is not counted any more.
        out.extend(std::iter::repeat_n("  ", depth.min(40)));
    };
    outside_strings(&compact, |character, in_string| {
        let closes = !in_string && matches!(character, '}' | ']');
        let opened = matches!(before, '{' | '[');
        if closes {
            depth = depth.saturating_sub(1);
        }
        if (opened && !closes) || (closes && !opened) || before == ',' {
            line(&mut out, depth);
        }
        out.push(character);
        // Punctuation in a string does not count.
        before = if in_string { '"' } else { character };
        match before {
            '{' | '[' => depth += 1,
            ':' => out.push(' '),
            _ => {}
        }
    });
    out
}

/// Gives every character, and whether it is in a string (quotes included).
fn outside_strings(json: &str, mut take: impl FnMut(char, bool)) {
    let (mut in_string, mut escaped) = (false, false);
    for character in json.chars() {
        let quote = character == '"' && !escaped;
        take(character, in_string || quote);
        escaped = in_string && character == '\\' && !escaped;
        in_string ^= quote;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_value_has_a_line() {
        let json = r#"{"a":[1.10,{}],"b":"x: {\"y\", [z]","c":{"d":[]}}"#;
        assert_eq!(
            pretty(json),
            "{\n  \"a\": [\n    1.10,\n    {}\n  ],\n  \"b\": \"x: {\\\"y\\\", [z]\",\n  \"c\": {\n    \"d\": []\n  }\n}"
        );
        assert_eq!(compact(&pretty(json)), json);
        assert_eq!(pretty("{}"), "{}");
    }

    proptest! {
        #[test]
        fn only_white_space_changes(keys: Vec<(String, String)>) {
            let value: serde_json::Value = keys.into_iter().map(|(key, text)| (key, serde_json::json!([text, {}, {"n": 1.5}]))).collect::<serde_json::Map<_, _>>().into();
            let text = value.to_string();
            prop_assert_eq!(&compact(&text), &text);
            prop_assert_eq!(compact(&pretty(&text)), text);
        }

        #[test]
        fn no_text_causes_a_panic(text in "[\\[\\]{}\",:a \\\\]{0,40}") {
            let _ = (pretty(&text), super::super::rows(&text), super::super::read(&text, 9));
        }
    }
}
