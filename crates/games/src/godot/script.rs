//! Finds the class_name statement in the text of a GDScript.

/// The name that a script gives its class (`class_name X`). Ignores strings and comments.
pub fn class_name(script: &str) -> Option<String> {
    without_strings(script).split(['\n', ';']).find_map(|statement| {
        let mut rest = statement.trim_start();
        while let Some(annotated) = rest.strip_prefix('@') {
            rest = annotated.trim_start_matches(is_of_name).trim_start();
            if let Some(arguments) = rest.strip_prefix('(') {
                rest = arguments.split_once(')')?.1.trim_start();
            }
        }
        let named = rest.strip_prefix("class_name").filter(|named| named.starts_with(char::is_whitespace))?;
        let name: String = named.trim_start().chars().take_while(|c| is_of_name(*c)).collect();
        (!name.is_empty()).then_some(name)
    })
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The script with empty strings and without comments.
fn without_strings(script: &str) -> String {
    let mut code = String::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = rest.find(['"', '\'', '#']) {
        code.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('#') {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            continue;
        }
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote)).unwrap_or("\"");
        rest = after_string(&rest[quote.len()..], quote);
        code.push_str("\"\"");
    }
    code.push_str(rest);
    code
}

/// The text after a string that ends with `quote`; a backslash escapes the next character, also in raw strings.
fn after_string<'a>(text: &'a str, quote: &str) -> &'a str {
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '"', '\'']) {
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix(quote) {
            return after;
        }
        let length = if rest.starts_with('\\') { 2 } else { 1 };
        rest = rest.char_indices().nth(length).map_or("", |(next, _)| &rest[next..]);
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_name_is_read_from_the_statement() {
        for (script, name) in [
            ("class_name Ball\nextends Node2D\n", "Ball"),
            ("# A ball\r\nextends Node2D\r\nclass_name  Ball\r\n", "Ball"),
            ("@tool\n@icon(\"res://class_name Icon.svg\") class_name Ball extends Node2D", "Ball"),
            ("@tool @icon('a') @abstract class_name Ball", "Ball"),
            ("extends Node;class_name Ball_2", "Ball_2"),
            ("class_name Größe # class_name Other", "Größe"),
            ("var a = \"\\\"\"\nclass_name Ball", "Ball"),
            ("var a = r\"\\\"\"\nclass_name Ball", "Ball"),
            ("\"\"\"it's \"a\" comment\"\"\"\nclass_name Ball", "Ball"),
        ] {
            assert_eq!(class_name(script).as_deref(), Some(name), "{script}");
        }
    }

    #[test]
    fn strings_and_comments_are_ignored() {
        for script in [
            "extends Node\n",
            "# class_name Ball\n",
            "extends Node # \"\n# class_name Ball\n",
            "var text = \"\"\"\nclass_name Ball\n\"\"\"\n",
            "var text = '''\n\"\nclass_name Ball\\'''\nclass_name Ball\n'''\n",
            "var text = \"a\nclass_name Ball\n\"\n",
            "var text = 'it\\'s\nclass_name Ball'\n",
            "class_name",
            "class_names Ball",
            "@icon(\"a\" class_name Ball",
            "\"never ends\nclass_name Ball",
            "\"\\",
            "'é\\é",
        ] {
            assert_eq!(class_name(script), None, "{script}");
        }
    }
}
