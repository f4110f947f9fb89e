//! Secrets in the output of Playwright's tools: in the code that typed them, and in a snapshot of the page.

use super::finding::{Finding, Kind};
use super::names::described_secret;
use super::pattern::Pattern;
use memchr::memmem;

/// `getByRole('textbox', { name: 'Password' }).fill('hunter2')`
static FILL_CALL: Pattern = Pattern::new(
    r#"([^;\n]*)\.(?:(?:fill|type|pressSequentially|send_keys|sendKeys)\(|value *= *)(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)"#,
);

/// `page.fill('#password', 'hunter2')`
static TYPED_INTO: Pattern = Pattern::new(
    r#"\.(?:fill|type)\(['"`]((?:[^'"`\\\n]|\\.)*)['"`], *(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)"#,
);

/// `- textbox "Password" [active] [ref=e7]: hunter2`, or the value on a line below: `- text: hunter2`
static SNAPSHOT_FIELD: Pattern =
    Pattern::new(r#"(?m)^\s*- '?textbox "((?:[^"\\\n]|\\.)*)"[^:\n]*:(?:(?:\n\s*- /.*){0,8}\n\s*- text:)? *(\S.*)$"#);

/// Finds both forms.
pub(super) fn find(text: &str, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let has_typed = [".fill(", ".type(", ".pressSequentially(", ".send_keys(", ".sendKeys(", ".value"]
        .iter()
        .any(|call| memmem::find(bytes, call.as_bytes()).is_some());
    if has_typed {
        find_after(&FILL_CALL, text, found);
        find_after(&TYPED_INTO, text, found);
    }
    if memmem::find(bytes, b"textbox \"").is_some() {
        find_after(&SNAPSHOT_FIELD, text, found);
    }
}

/// Finds the values that follow the words for a field in a pattern.
fn find_after(pattern: &Pattern, text: &str, found: &mut Vec<Finding>) {
    for groups in pattern.captures_iter(text) {
        let kind: Option<Kind> = groups.get(1).and_then(|field| described_secret(end_of(field.as_str())));
        let value = (2..groups.len()).find_map(|number| groups.get(number)).filter(|value| !value.is_empty());
        if let (Some(kind), Some(value)) = (kind, value) {
            found.push(Finding::new(text, value.range(), kind));
        }
    }
}

/// The end of a text, at most as long as a description.
fn end_of(text: &str) -> &str {
    const MAX_LEN: usize = 200;
    let from = (text.len().saturating_sub(MAX_LEN)..).find(|at| text.is_char_boundary(*at));
    &text[from.unwrap_or_default()..]
}
