//! The snapshots of chrome-devtools-mcp: `uid=1_2 button "Next page"`, one element per line, indented by depth.
//!
//! Written after the output of its version 1.11.0, and of 0.2, which has another heading (src/formatters of
//! github.com/ChromeDevTools/chrome-devtools-mcp). Names and values are in quotes, and nothing in them is escaped.

use super::playwright::kind;
use super::tree::{ElementKind, TreeNode};

/// The heading before the lines of the snapshot.
const HEADINGS: [&str; 2] = ["## Latest page snapshot", "## Page content"];
/// The heading before a page's own text, which may have line breaks.
const DIALOG: &str = "# Open dialog";

/// The lines of the snapshot in an answer's text; `Err` if they can't be told from a page's own text, and `None` if
/// there is no snapshot.
pub(super) fn find(text: &str) -> Option<Result<Vec<&str>, ()>> {
    let mut lines = text.lines().map(str::trim_end);
    if !text.contains("uid=") || !lines.any(|line| HEADINGS.contains(&line)) {
        return None;
    }
    let is_doubtful = text.lines().any(|line| line.trim_end() == DIALOG)
        || text.lines().filter(|line| HEADINGS.contains(&line.trim_end())).count() > 1;
    Some(if is_doubtful { Err(()) } else { Ok(lines.collect()) })
}

/// Reads the lines. A line that does not begin an element continues a name that has a line break.
pub(super) fn read(lines: &[&str], most: usize) -> Vec<TreeNode> {
    let mut items: Vec<TreeNode> = Vec::new();
    // The elements that the next line may be inside of, with their depths.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let is_element = |line: &&&str| line.trim_start_matches(' ').starts_with("uid=");
    let mut lines = lines.iter().peekable();
    while let Some(line) = lines.next() {
        let rest = line.trim_start_matches(' ');
        let Some(element) = rest.strip_prefix("uid=").filter(|_| items.len() < most) else { continue };
        let depth = line.len() - rest.len();
        while open.last().is_some_and(|&(_, above)| above >= depth) {
            open.pop();
        }
        let parent = open.last().map(|&(at, _)| at);
        open.push((items.len(), depth));
        let mut element = element.to_owned();
        while let Some(more) = lines.next_if(|line| !is_element(line) && !line.starts_with("## ")) {
            element.push(' ');
            element.push_str(more);
        }
        items.push(TreeNode { parent, ..item(element.trim_end()) });
    }
    items
}

/// `1_2 button "Next page" focusable url="https://..."`.
fn item(element: &str) -> TreeNode {
    let element = element.strip_suffix(" [selected in the DevTools Elements panel]").unwrap_or(element);
    let (uid, rest) = element.split_once(' ').unwrap_or((element, ""));
    // A text has no role in these snapshots.
    let (role, rest) = if rest.starts_with('"') { ("", rest) } else { rest.split_once(' ').unwrap_or((rest, "")) };
    let (name, attributes) = rest.strip_prefix('"').map_or(("", rest), name);
    let value = ["value", "url"].into_iter().find_map(|key| attribute(attributes, key));
    TreeNode {
        key: Some(format!("uid={uid}")),
        role: role.to_owned(),
        name: name.to_owned(),
        value,
        kind: if role == "ignored" { ElementKind::Group } else { kind(role, false) },
        ..TreeNode::default()
    }
}

/// A name, which may have quotes of its own, and the rest of the line: the name ends at the first quote that only
/// attributes follow. Without such a quote, all of the text is the name.
fn name(rest: &str) -> (&str, &str) {
    let ends = rest.match_indices('"').map(|(at, _)| (&rest[..at], &rest[at + 1..]));
    ends.into_iter().find(|(_, behind)| is_attributes(behind)).unwrap_or((rest, ""))
}

/// ` focusable url="..."`, or nothing.
fn is_attributes(mut text: &str) -> bool {
    while let Some(attribute) = text.strip_prefix(' ') {
        let end = attribute.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(attribute.len());
        text = &attribute[end..];
        if let Some((_, behind)) = text.strip_prefix("=\"").and_then(|value| value.split_once('"')) {
            text = behind;
        }
        if end == 0 {
            return false;
        }
    }
    text.is_empty()
}

fn attribute(attributes: &str, key: &str) -> Option<String> {
    let at = attributes.find(&format!("{key}=\""))?;
    attributes[at..].split('"').nth(1).map(str::to_owned)
}
