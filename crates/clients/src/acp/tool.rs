//! How an editor shows a call: by its tool's name and arguments, since nothing else is known about the tool.

use super::markdown::{list, one_line, plain};
use pipewright_record::json::Object;
use pipewright_record::{Fields, identifier};
use std::path::Path;

/// The presentation of a call.
pub(super) struct ToolCallView {
    /// One line for people.
    pub title: String,
    /// A `ToolKind`.
    pub kind: &'static str,
    /// A list of `ToolCallLocation`, as JSON text.
    pub locations: String,
    /// Each is a `ToolCallContent` of type `diff`, as JSON text.
    pub diffs: Vec<String>,
}

/// Words in tool names that imply a kind; the first kind with a matching word is used.
const KINDS: [(&str, &[&str]); 8] = [
    ("delete", &["delete", "remove", "unlink", "rm"]),
    ("move", &["move", "rename", "mv"]),
    ("edit", &["write", "edit", "replace", "patch", "insert", "append"]),
    ("execute", &["run", "execute", "exec", "shell", "bash", "command", "terminal", "evaluate"]),
    ("search", &["search", "find", "grep", "glob"]),
    ("fetch", &["fetch", "download", "navigate", "goto"]),
    ("think", &["think"]),
    ("read", &["read", "get", "list", "view", "cat", "show", "snapshot", "screenshot", "observe", "tree"]),
];

/// Arguments that are file paths for every tool.
const FILES: [&str; 7] = ["file_path", "filePath", "filepath", "file", "filename", "target_file", "notebook_path"];
/// Arguments that are file paths only if the tool's name is about files; otherwise they may be nodes of a tree, or
/// URLs.
const PATHS: [&str; 6] = ["path", "source", "destination", "old_path", "new_path", "directory"];
const FILE_WORDS: [&str; 12] =
    ["file", "files", "directory", "directories", "dir", "folder", "write", "edit", "editor", "patch", "view", "read"];

/// The names of arguments for the text that is replaced, and for its replacement.
const REPLACEMENTS: [(&str, &str); 6] = [
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("old", "new"),
    ("search", "replace"),
];
/// The names of arguments for a file's complete text.
const CONTENTS: [&str; 4] = ["content", "contents", "file_text", "text"];

/// The arguments that describe a call best, in order.
const TITLE_ARGUMENTS: [&str; 16] = [
    "file_path",
    "path",
    "file",
    "filename",
    "command",
    "cmd",
    "url",
    "query",
    "pattern",
    "element",
    "name",
    "text",
    "selector",
    "key",
    "index",
    "ref",
];

impl ToolCallView {
    /// `arguments` and `target` are JSON text. Relative paths are relative to `folder`, which is absolute.
    pub fn of(tool: &str, arguments: &str, target: Option<&str>, folder: &Path) -> ToolCallView {
        let fields = Fields::read(arguments).unwrap_or_default();
        let target = target.and_then(|target| Fields::read(target).ok()?.text("name"));
        let about = target.filter(|name| !name.trim().is_empty()).or_else(|| title_argument(&fields));
        let title = about.map_or(tool.to_owned(), |about| format!("{tool}: {about}"));
        let words = identifier::words(tool);
        let is_named = |word: &&str| words.iter().any(|own| own == word);
        let kind = KINDS.iter().find(|(_, names)| names.iter().any(&is_named)).map_or("other", |(kind, _)| *kind);
        let is_about_files = FILE_WORDS.iter().any(is_named);
        let keys = FILES.iter().chain(is_about_files.then_some(&PATHS).into_iter().flatten());
        let paths: Vec<String> = keys.filter_map(|key| absolute(&fields.text(key)?, folder)).collect();
        // ACP's line numbers have 32 bits.
        let line = fields.count("line").filter(|line| u32::try_from(*line).is_ok());
        let location = |path: &String| Object::default().text("path", path).put_some("line", line).end();
        let locations = list(&paths.iter().map(location).collect::<Vec<_>>());
        let diffs = if is_about_files { paths.first() } else { None };
        let diffs = diffs.map_or_else(Vec::new, |path| diffs_of(&fields, path, kind == "edit"));
        ToolCallView { title: one_line(&title), kind, locations, diffs }
    }
}

/// The argument that describes the call: a string or a number.
fn title_argument(fields: &Fields<'_>) -> Option<String> {
    let is_short = |json: &&str| !json.starts_with(['{', '[']) && *json != "null" && *json != "\"\"";
    let named = TITLE_ARGUMENTS.iter().filter_map(|key| Some(fields.get(key)?.get()));
    let any = fields.iter().map(|(_, value)| value.get());
    named.chain(any).find(is_short).map(plain)
}

/// The absolute path; `None` if it is not a local file path.
fn absolute(path: &str, folder: &Path) -> Option<String> {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let is_path = !path.is_empty() && !path.contains("://") && !path.contains(char::is_control);
    is_path.then(|| folder.join(path).to_string_lossy().into_owned())
}

fn diffs_of(fields: &Fields<'_>, path: &str, writes: bool) -> Vec<String> {
    let diff = |old: Option<&str>, new: &str| {
        Object::default().text("type", "diff").text("path", path).text_some("oldText", old).text("newText", new).end()
    };
    let replaced = |fields: &Fields<'_>| {
        let pairs = REPLACEMENTS.iter().filter_map(|(old, new)| Some((fields.text(old)?, fields.text(new)?)));
        pairs.map(|(old, new)| diff(Some(&old), &new)).next()
    };
    if let Some(diff) = replaced(fields) {
        return vec![diff];
    }
    let edits = fields.list("edits").unwrap_or_default();
    let edits: Vec<String> = edits.iter().filter_map(|edit| replaced(&Fields::read(edit.get()).ok()?)).collect();
    let content = CONTENTS.iter().find_map(|key| fields.text(key)).filter(|_| writes);
    if edits.is_empty() { content.map(|content| diff(None, &content)).into_iter().collect() } else { edits }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tool: &str, arguments: &str) -> ToolCallView {
        ToolCallView::of(tool, arguments, None, Path::new("/home/me"))
    }

    #[test]
    fn a_call_is_shown_by_its_name_and_main_argument() {
        for (tool, arguments, title, kind) in [
            ("browser_click", r#"{"ref":"e7","element":"Pay now"}"#, "browser_click: Pay now", "other"),
            ("read_text_file", r#"{"path":"a.txt"}"#, "read_text_file: a.txt", "read"),
            ("deleteAccount", "{}", "deleteAccount", "delete"),
            ("browser_navigate", r#"{"url":"https://a.example/"}"#, "browser_navigate: https://a.example/", "fetch"),
            ("set", r#"{"list":[1],"n":1.10}"#, "set: 1.10", "other"),
            ("search_files", r#"{"path":"/x","pattern":"*.rs"}"#, "search_files: /x", "search"),
        ] {
            let shown = shown(tool, arguments);
            assert_eq!((&*shown.title, shown.kind), (title, kind));
        }
        let target = ToolCallView::of(
            "browser_click",
            r#"{"ref":"e7"}"#,
            Some(r#"{"role":"button","name":"Pay\nnow"}"#),
            Path::new("/"),
        );
        assert_eq!(target.title, "browser_click: Pay now");
    }

    #[test]
    fn only_file_paths_become_absolute() {
        assert_eq!(
            shown("read_file", r#"{"path":"a.txt","line":7}"#).locations,
            r#"[{"path":"/home/me/a.txt","line":7}]"#
        );
        assert_eq!(shown("open", r#"{"file_path":"file:///b"}"#).locations, r#"[{"path":"/b"}]"#);
        assert_eq!(shown("press_button", r#"{"path":"/root/Main/Go"}"#).locations, "[]");
        assert_eq!(shown("read_file", r#"{"path":"https://a.example/"}"#).locations, "[]");
    }

    #[test]
    fn file_edits_are_shown_as_diffs() {
        let written = shown("write_file", r#"{"path":"a","content":"x"}"#);
        assert_eq!(written.diffs, [r#"{"type":"diff","path":"/home/me/a","newText":"x"}"#]);
        let replaced = r#"{"type":"diff","path":"/home/me/a","oldText":"x","newText":"y"}"#;
        for arguments in [
            r#"{"path":"a","old_string":"x","new_string":"y"}"#,
            r#"{"path":"a","edits":[{"oldText":"x","newText":"y"}]}"#,
        ] {
            assert_eq!(shown("edit_file", arguments).diffs, [replaced]);
        }
        assert!(shown("read_file", r#"{"path":"a","content":"x"}"#).diffs.is_empty());
        assert!(shown("press", r#"{"path":"a","content":"x"}"#).diffs.is_empty());
    }
}
