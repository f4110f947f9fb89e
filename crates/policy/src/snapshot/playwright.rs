//! The snapshots of Playwright's MCP server: `- button "Pay now" [ref=e12]`, one element per line, indented like YAML.
//!
//! Written after the output of its versions 0.0.41 (the whole page with each answer), 0.0.56 (what has changed) and
//! 0.0.83 (a link to a file, and the page only on request).

use super::tree::{ElementKind, TreeNode};
use std::collections::HashMap;

/// The page in an answer.
#[derive(Debug)]
pub(super) enum AnswerPage<'a> {
    Nothing,
    /// There are new references, but in another place, or where they can't be told from a page's own text.
    Hidden,
    /// The lines of the snapshot.
    Page(Vec<&'a str>),
}

/// Finds the snapshot in an answer's text. The result of a tool may be a page's own text (its console, its content),
/// which may imitate a snapshot. So a result counts as a snapshot only with `in_result`, for the tool that writes
/// snapshots there.
pub(super) fn find<'a>(text: &'a str, in_result: bool) -> AnswerPage<'a> {
    let mut section = "";
    let mut fence: Option<bool> = None;
    let (mut page, mut result, mut snapshots) = (Vec::new(), Vec::new(), 0);
    let (mut is_doubtful, mut has_section) = (false, false);
    for line in text.split('\n').map(|line| line.trim_end_matches('\r')) {
        if let (Some(title), None) = (line.strip_prefix("### "), fence) {
            section = title.trim();
            is_doubtful |= matches!(section, "Result" | "Error");
            has_section |= section == "Snapshot";
        } else if fence.is_some() && line == "```" {
            fence = None;
        } else if let (Some(language), None) = (line.strip_prefix("```"), fence) {
            let is_page = language == "yaml" && section != "Result" && section != "Error";
            snapshots += usize::from(is_page);
            fence = Some(is_page);
        } else if fence == Some(true) {
            page.push(line);
        } else if section == "Result" || section.is_empty() {
            result.push(line);
        }
    }
    let shows = |lines: &[&str]| lines.iter().any(|line| line.contains("[ref=") || line.contains("[unchanged]"));
    let is_bare = section.is_empty() && text.trim_start().starts_with("- ");
    match (snapshots, is_doubtful) {
        (_, true) if in_result && !has_section => AnswerPage::Page(result),
        (0, false) if is_bare && shows(&result) => AnswerPage::Page(result),
        (1, false) => AnswerPage::Page(page),
        (0, _) if !has_section && !text.contains("[ref=") => AnswerPage::Nothing,
        _ => AnswerPage::Hidden,
    }
}

/// The message of the page's open dialog (alert, confirm, prompt), from the last such section of an answer.
pub(super) fn dialog(text: &str) -> Option<String> {
    let (_, state) = text.rsplit_once("### Modal state\n")?;
    let (_, message) = state.lines().next()?.split_once("dialog with message \"")?;
    // The quotes in it are not escaped.
    Some(message.rsplit_once("\"]").map_or(message, |(message, _)| message).to_owned())
}

/// Whether only the changes are shown.
pub(super) fn is_part(lines: &[&str]) -> bool {
    lines.iter().any(|line| line.contains("<changed>") || line.trim_end().ends_with("[unchanged]"))
}

/// Reads the lines; those marked as unchanged have no role yet.
pub(super) fn read(lines: &[&str], most: usize) -> Vec<TreeNode> {
    let mut items: Vec<TreeNode> = Vec::new();
    // The elements that the next line may be inside of, with their depths.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for line in lines {
        let rest = line.trim_start_matches(' ');
        let Some(said) = rest.strip_prefix("- ") else { continue };
        let depth = line.len() - rest.len();
        while open.last().is_some_and(|&(_, above)| above >= depth) {
            open.pop();
        }
        let parent = open.last().map(|&(at, _)| at);
        match entry(said) {
            TreeEntry::Property(name, value) => {
                if let (Some(parent), "url" | "placeholder") = (parent, name) {
                    items[parent].value.get_or_insert(value);
                }
            }
            TreeEntry::Element(mut item) if items.len() < most => {
                item.parent = parent;
                open.push((items.len(), depth));
                items.push(item);
            }
            _ => {}
        }
    }
    items
}

enum TreeEntry<'a> {
    /// `/url: ...` of the element that it is in.
    Property(&'a str, String),
    Element(TreeNode),
    Unread,
}

fn entry(said: &str) -> TreeEntry<'_> {
    let unquoted;
    let (key, value) = match said.strip_prefix('\'') {
        Some(quoted) => {
            let Some(end) = end_of_single(quoted) else { return TreeEntry::Unread };
            unquoted = quoted[..end].replace("''", "'");
            (unquoted.as_str(), quoted[end + 1..].trim_start().strip_prefix(':'))
        }
        None => (said, None),
    };
    if let (Some(property), true) = (said.strip_prefix('/'), value.is_none()) {
        let (name, value) = property.split_once(": ").unwrap_or((property, ""));
        return TreeEntry::Property(name, scalar(value));
    }
    let Some((mut item, rest)) = element(key) else { return TreeEntry::Unread };
    let value = value.or_else(|| rest.strip_prefix(':'));
    let value = value.map(scalar).unwrap_or_default();
    match item.kind {
        ElementKind::Typed if !value.is_empty() => item.value = Some(value),
        _ => item.text = value,
    }
    TreeEntry::Element(item)
}

/// Role, name and attributes, and the rest of the line.
fn element(key: &str) -> Option<(TreeNode, &str)> {
    let key = key.strip_prefix("<changed> ").unwrap_or(key);
    let end = key.find([' ', ':']).unwrap_or(key.len());
    let (role, mut rest) = key.split_at(end);
    if role.is_empty() || !role.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=".contains(&byte)) {
        return None;
    }
    if let Some(reference) = role.strip_prefix("ref=") {
        let is_unchanged = rest.trim() == "[unchanged]";
        return is_unchanged.then(|| (TreeNode { key: Some(key_of(reference)), ..TreeNode::default() }, ""));
    }
    let mut item = TreeNode { role: role.to_owned(), ..TreeNode::default() };
    if let Some(quoted) = rest.strip_prefix(" \"") {
        let end = end_of_double(quoted)?;
        // Half a surrogate pair is not text; the name then stays as it is written.
        item.name = serde_json::from_str(&rest[1..end + 3]).unwrap_or_else(|_| quoted[..end].to_owned());
        rest = &quoted[end + 1..];
    }
    let mut is_pointed = false;
    while let Some((attribute, behind)) = rest.strip_prefix(" [").and_then(|rest| rest.split_once(']')) {
        if let Some(reference) = attribute.strip_prefix("ref=") {
            item.key = Some(key_of(reference));
        }
        is_pointed |= attribute == "cursor=pointer";
        rest = behind;
    }
    item.kind = kind(role, is_pointed);
    Some((item, rest))
}

fn key_of(reference: &str) -> String {
    format!("ref={reference}")
}

pub(super) fn kind(role: &str, is_pointed: bool) -> ElementKind {
    match role {
        "dialog" | "alertdialog" | "alert" | "form" | "group" | "row" | "listitem" | "article" | "radiogroup" => {
            ElementKind::Container
        }
        "textbox" | "searchbox" | "spinbutton" | "slider" | "combobox" => ElementKind::Typed,
        "button" | "link" | "menuitem" | "menuitemcheckbox" | "menuitemradio" | "option" | "tab" | "checkbox"
        | "radio" | "switch" | "treeitem" => ElementKind::Active,
        "generic" if is_pointed => ElementKind::Active,
        "generic" => ElementKind::Group,
        _ => ElementKind::Other,
    }
}

/// The end of a text in single quotes: a quote within it is doubled.
pub(super) fn end_of_single(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += memchr::memchr(b'\'', &bytes[at..])?;
        if bytes.get(at + 1) != Some(&b'\'') {
            return Some(at);
        }
        at += 2;
    }
}

/// The end of a text in double quotes: a quote within it has a backslash before it.
pub(super) fn end_of_double(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', &bytes[at..])?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
        if at > bytes.len() {
            return None;
        }
    }
}

/// A YAML value as Playwright writes it.
fn scalar(text: &str) -> String {
    let text = text.trim();
    let Some(quoted) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(quoted.len());
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (letter, false) => out.push(letter),
            _ => match letters.next() {
                Some('n' | 'r' | 't' | 'b' | 'f') => out.push(' '),
                // \x00 to \x1f and \x7f to \x9f: control characters.
                Some('x') => {
                    letters.by_ref().take(2).for_each(drop);
                    out.push(' ');
                }
                Some(letter) => out.push(letter),
                None => {}
            },
        }
    }
    out
}

/// Fills in the elements that are marked as unchanged.
pub(super) fn fill_in(items: &mut [TreeNode], known: &HashMap<String, super::KnownElement>) {
    for item in items.iter_mut().filter(|item| item.role.is_empty()) {
        let Some(Some(target)) = item.key.as_ref().and_then(|key| known.get(key)).map(|known| &known.target) else {
            item.key = None;
            continue;
        };
        item.role = target.role.clone().unwrap_or_default();
        item.name.clone_from(&target.name);
        item.value.clone_from(&target.value);
        item.known.clone_from(&target.context);
        item.kind = kind(&item.role, false);
    }
}
