//! The snapshots that browsers' commands print in a shell, where a page's own text may imitate their lines.
//!
//! agent-browser escapes names, but prints values of fields and some attributes as they are, line ends included. So its
//! text with such a value shows no element, unless its JSON has the role and the name of each reference beside it.
//! playwright-cli escapes everything. In both, a line of an unknown form makes the whole text doubtful, and a reference
//! that is there more than once, or outside of an element's own attributes, means no element.

use super::playwright::{end_of_double, end_of_single};
use crate::builtin::shell::browser::is_reference;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The page in the output of a browser's command for a snapshot, as lines of Playwright's form with the references
/// whose elements are certain. `None` if there is none, or any doubt about it.
pub fn page(program: &str, output: &str) -> Option<String> {
    let page = match (program, serde_json::from_str::<Value>(output)) {
        ("agent-browser", Ok(value)) => {
            let is_shown = value.get("success") == Some(&Value::Bool(true));
            let refs = value.pointer("/data/refs").and_then(Value::as_object).filter(|refs| !refs.is_empty());
            let text = value.pointer("/data/snapshot").and_then(Value::as_str).filter(|_| is_shown)?;
            read(text, text, Form::Agent(refs))
        }
        ("agent-browser", Err(_)) => read(output, output, Form::Agent(None)),
        _ => read(fenced(output)?, output, Form::Playwright),
    };
    page.filter(|page| page.contains("[ref="))
}

#[derive(Clone, Copy)]
enum Form<'a> {
    /// With the role and the name of each reference, if the output has them.
    Agent(Option<&'a Map<String, Value>>),
    Playwright,
}

/// The snapshot between the marks of the output, or all of it without marks.
fn fenced(output: &str) -> Option<&str> {
    if !output.lines().any(|line| line.starts_with("```")) {
        return Some(output);
    }
    let (before, rest) = output.split_once("### Snapshot\n```yaml\n")?;
    let (page, after) = rest.split_once("\n```")?;
    (!before.contains("```") && !after.contains("```")).then_some(page)
}

fn read(page: &str, output: &str, form: Form<'_>) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    references(output).for_each(|reference| *counts.entry(reference).or_default() += 1);
    let mut lines = String::new();
    for line in page.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).filter(|line| !line.is_empty()) {
        let said = line.trim_start_matches(' ');
        let indent = &line[..line.len() - said.len()];
        match (form, entry(said, form)) {
            (_, Some(entry)) => {
                let reference = entry.reference.filter(|reference| counts.get(reference.as_str()) == Some(&1));
                let reference = reference.filter(|reference| match form {
                    Form::Agent(Some(refs)) => is_named(refs, reference, &entry.role, &entry.name),
                    _ => true,
                });
                let reference = reference.map_or(String::new(), |reference| format!(" [ref={reference}]"));
                let name = if entry.name.is_empty() { "" } else { &format!(" {}", Value::from(entry.name)) };
                let (role, more) = (&entry.role, entry.more);
                lines.push_str(&format!("{indent}- {role}{name}{reference}{more}\n"));
            }
            // The references in it are named by the JSON.
            (Form::Agent(Some(_)), None) => {}
            // A property, in which a reference is counted as one more.
            (Form::Playwright, None) if said.starts_with("- /") => lines.push_str(&format!("{line}\n")),
            _ => return None,
        }
    }
    Some(lines)
}

/// Whatever looks like a reference, anywhere in a text.
fn references(text: &str) -> impl Iterator<Item = &str> {
    text.split("ref=").skip(1).map(|rest| {
        let end = rest.find(|sign: char| !sign.is_ascii_alphanumeric()).unwrap_or(rest.len());
        &rest[..end]
    })
}

fn is_named(refs: &Map<String, Value>, reference: &str, role: &str, name: &str) -> bool {
    let says = |key: &str| refs.get(reference).and_then(|own| own.get(key)).and_then(Value::as_str);
    says("role") == Some(role) && says("name") == Some(name) && !name.is_empty()
}

struct Entry {
    role: String,
    name: String,
    reference: Option<String>,
    /// Other attributes and the text, in Playwright's form.
    more: String,
}

/// The element of a line, if all of the line is understood.
fn entry(said: &str, form: Form<'_>) -> Option<Entry> {
    let said = said.strip_prefix("- ")?;
    let unquoted;
    let (key, value) = match said.strip_prefix('\'').filter(|_| matches!(form, Form::Playwright)) {
        Some(quoted) => {
            let end = end_of_single(quoted)?;
            unquoted = quoted[..end].replace("''", "'");
            (unquoted.as_str(), Some(&quoted[end + 1..]))
        }
        None => (said, None),
    };
    let (role, mut rest) = key.split_at(key.find(|sign: char| !sign.is_ascii_alphabetic()).unwrap_or(key.len()));
    let mut name = String::new();
    if let Some(quoted) = rest.strip_prefix(" \"") {
        let end = end_of_double(quoted)?;
        name = serde_json::from_str(&rest[1..end + 3]).ok()?;
        rest = &quoted[end + 1..];
    }
    let (mut reference, mut more) = (None, String::new());
    while let Some((attributes, behind)) = rest.strip_prefix(" [").and_then(|rest| rest.split_once(']')) {
        for attribute in attributes.split(", ") {
            match attribute.strip_prefix("ref=") {
                Some(own) if is_reference(own) && reference.is_none() => reference = Some(own.to_owned()),
                Some(_) => return None,
                None if !is_certain(attribute, form) => return None,
                None if attribute.starts_with("cursor=") => more += &format!(" [{attribute}]"),
                None => {}
            }
        }
        rest = behind;
    }
    if matches!(form, Form::Agent(_)) {
        let hints = ["clickable", "editable", "focusable"];
        let hint = hints.iter().find_map(|hint| rest.strip_prefix(' ')?.strip_prefix(hint)?.strip_prefix(" ["));
        if let Some((words, behind)) = hint.and_then(|hint| hint.split_once(']')) {
            let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b':');
            rest = words.split(", ").all(is_word).then_some(behind)?;
        }
    }
    let rest = match value {
        Some(value) => value,
        None => rest,
    };
    match (form, rest) {
        _ if role.is_empty() || value.is_some() && !key.ends_with([']', '"']) => return None,
        (_, "") => {}
        (Form::Playwright, ":") => more += ":",
        (Form::Playwright, text) if text.starts_with(": ") => more += text,
        // The JSON has the name, and the value tells nothing about it.
        (Form::Agent(Some(_)), text) if text.starts_with(':') => {}
        _ => return None,
    }
    Some(Entry { role: role.to_owned(), name, reference, more })
}

/// Whether an attribute is one that the browser's command has written itself.
fn is_certain(attribute: &str, form: Form<'_>) -> bool {
    let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b",-.".contains(&byte));
    // agent-browser prints what the page says.
    let is_said = name == "checked" && matches!(form, Form::Agent(None));
    !name.is_empty() && is_plain(name) && is_plain(value) && !is_said
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn attributes_before_a_reference_are_read() {
        let page =
            page("agent-browser", "- button \"Pay \\\"now\\\"\" [expanded=false, ref=e1]\n- tab \"A\" [ref=e2]\n");
        assert_eq!(page.unwrap(), "- button \"Pay \\\"now\\\"\" [ref=e1]\n- tab \"A\" [ref=e2]\n");
        let text = "### Page\n- Page URL: http://x/\n### Snapshot\n```yaml\n- generic [active] [ref=e1]:\n  - 'link \"a: it''s\" [ref=e3] [cursor=pointer]':\n    - /url: /x\n  - text: Hello\n```\n";
        let expected =
            "- generic [ref=e1]:\n  - link \"a: it's\" [ref=e3] [cursor=pointer]:\n    - /url: /x\n  - text: Hello\n";
        assert_eq!(super::page("playwright-cli", text).unwrap(), expected);
    }

    #[test]
    fn a_text_with_any_doubt_shows_nothing() {
        for text in [
            "- textbox \"Notes\" [ref=e3]: hello\n- button \"Next\" [ref=e10]\n",
            "- textbox \"Notes\" [ref=e3]: \n- button \"Next\" [ref=e10]\n",
            "- checkbox \"Pay\" [checked=true, ref=e10]\n- button \"Next\" [level=1, ref=e77]\n",
            "- button \"Next\" [ref=e10]\nsomething else\n",
            "- button \"Next\" [ref=e10, ref=e11]\n",
            "- button \"Next\" [ref=e10] [ref=e11]\n",
            "- button Next [ref=e10]\n",
            "- button \"Next [ref=e10]\n",
            "- button \"Next\" [ref=e10] more\n",
            "{\"success\":false,\"data\":{\"snapshot\":\"- button \\\"Next\\\" [ref=e10]\"}}",
            "- button \"Next\"\n",
        ] {
            assert_eq!(page("agent-browser", text), None, "{text}");
        }
        assert_eq!(page("playwright-cli", "- button \"Next\" [ref=e10]\n### Result\nx\n"), None);
        assert_eq!(page("playwright-cli", "### Result\n```yaml\n- button \"Next\" [ref=e10]\n```\n"), None);
    }

    #[test]
    fn a_reference_that_is_there_twice_or_in_a_text_means_no_element() {
        let text = "- button \"Next\" [ref=e10]\n- button \"Pay\" [expanded=false, ref=e10]\n- tab \"A\" [ref=e2]\n";
        assert_eq!(page("agent-browser", text).unwrap(), "- button \"Next\"\n- button \"Pay\"\n- tab \"A\" [ref=e2]\n");
        let text = "- button \"see ref=e2\" [ref=e10]\n- tab \"A\" [ref=e2]\n";
        assert_eq!(page("agent-browser", text).unwrap(), "- button \"see ref=e2\" [ref=e10]\n- tab \"A\"\n");
        let text =
            "- button \"Next\" [ref=e1]: go [ref=e2]\n- tab \"A\" [ref=e2]\n- text: \"[ref=e1]\"\n- tab \"B\" [ref=e3]";
        let expected = "- button \"Next\": go [ref=e2]\n- tab \"A\"\n- text: \"[ref=e1]\"\n- tab \"B\" [ref=e3]\n";
        let page = page("playwright-cli", text).unwrap();
        assert_eq!(page, expected);
        let shown = super::super::Snapshot::of_part(&page);
        assert!(shown.known("ref=e2").is_none() && shown.known("ref=e3").is_some());
    }

    #[test]
    fn names_in_json_decide_about_lines() {
        let text = "- textbox \"Notes\" [ref=e3]: x\n- button \"Next\" [ref=e10]\nno line\n- button \"Next\" [ref=e11]\n- generic \"Go\" [ref=e2] clickable [onclick]\n";
        let refs = serde_json::json!({
            "e3": {"role": "textbox", "name": "Notes"}, "e10": {"role": "button", "name": "Pay"},
            "e11": {"role": "button", "name": "Next"}, "e2": {"role": "generic", "name": ""},
        });
        let output = serde_json::json!({"success": true, "data": {"snapshot": text, "refs": refs}}).to_string();
        let expected =
            "- textbox \"Notes\" [ref=e3]\n- button \"Next\"\n- button \"Next\" [ref=e11]\n- generic \"Go\"\n";
        assert_eq!(page("agent-browser", &output).unwrap(), expected);
    }
}
