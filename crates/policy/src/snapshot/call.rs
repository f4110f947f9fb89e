//! The effect of a call on the known elements, and the element that it refers to.

use super::listed::{NUMBERS, plain};
use super::{NamedElement, Snapshot, godot, selector};
use crate::lists::pages::{ACTING, INTERFACE, LEADING, PAGES, READING, SCRIPTS, TYPING, VIEWING};
use crate::submitting;
use crate::target::Target;
use pipewright_record::Fields;
use pipewright_record::identifier::words;
use serde_json::Value;

/// The effect of a tool on a page, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolEffect {
    /// Leads to another page or tab.
    Leads,
    /// May change anything.
    Acts,
    /// Runs a script, and gives its result.
    Runs,
    /// Types into a field.
    Types,
    /// Changes nothing.
    Looks,
    /// Changes nothing, and gives text of the page.
    Reads,
}

impl ToolEffect {
    pub fn may_change(self) -> bool {
        !matches!(self, ToolEffect::Looks | ToolEffect::Reads)
    }

    /// Whether its result may have text of the page, which may imitate anything.
    pub fn quotes(self) -> bool {
        matches!(self, ToolEffect::Runs | ToolEffect::Reads)
    }
}

/// Whether a tool's answers show the page that is acted on. Each word of its own name must be a word of user
/// interfaces: the results of a `get_url_snapshot`, a `directory_tree`, a search or a file have other authors, and may
/// imitate a page.
pub(super) fn shows(tool: &str, sort: ToolEffect, arguments: &str) -> bool {
    let own = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    let words = words(own.rsplit("__").next().unwrap_or(own));
    let is_known = |word: &String| {
        [LEADING, ACTING, TYPING, VIEWING, INTERFACE].iter().any(|list| list.contains(&&**word) && word != "search")
    };
    let is_of_page = sort != ToolEffect::Looks || words.iter().any(|word| PAGES.contains(&&**word));
    !sort.quotes() && is_of_page && words.iter().all(is_known) && !has_snapshot(arguments)
}

/// Whether a call's own arguments have lines of a snapshot, which an answer may repeat.
fn has_snapshot(arguments: &str) -> bool {
    fn is_one(value: &Value) -> bool {
        match value {
            Value::String(text) => text.contains(['\n', '\r']) && (text.contains("ref=") || text.contains("uid=")),
            Value::Array(items) => items.iter().any(is_one),
            Value::Object(fields) => fields.iter().any(|(key, value)| key.contains(['\n', '\r']) || is_one(value)),
            _ => false,
        }
    }
    serde_json::from_str(arguments).map_or(true, |value| is_one(&value))
}

/// An id by its value, as the least strict reader takes it: a server may answer `1` to a call with the id `1.0`, and
/// large numbers may lose digits. Null gives `None`.
pub fn id_value(id: &str) -> Option<String> {
    match serde_json::from_str(id) {
        Ok(Value::Null) => None,
        Ok(Value::Number(number)) => Some(number.as_f64().map_or_else(|| id.to_owned(), |number| number.to_string())),
        Ok(value) => Some(value.to_string()),
        Err(_) => Some(id.to_owned()),
    }
}

/// By the words of the tool's name; an unknown tool acts, and so does one with an effect of its own.
pub(super) fn sort(tool: &str, arguments: &str, has_effect: bool) -> ToolEffect {
    let words = words(tool);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&&**word));
    if has(LEADING) {
        ToolEffect::Leads
    } else if has(SCRIPTS) {
        ToolEffect::Runs
    } else if has(&["hover"]) {
        ToolEffect::Looks
    } else if (is_typing(&words, arguments) || has(TYPING)) && !has_effect && !submits(arguments) {
        // `type_text` types, and `overlay_act` acts.
        ToolEffect::Types
    } else if has_effect || has(ACTING) || has(TYPING) {
        ToolEffect::Acts
    } else if has(READING) {
        ToolEffect::Reads
    } else if has(VIEWING) {
        ToolEffect::Looks
    } else {
        ToolEffect::Acts
    }
}

/// Whether a tool whose `action` argument selects the action types (`browser_overlay_act`).
fn is_typing(tool: &[String], arguments: &str) -> bool {
    let is_type = |fields: &Fields<'_>| fields.get("action").is_some_and(|action| action.get() == "\"type\"");
    tool.iter().any(|word| word == "act") && Fields::read(arguments).is_ok_and(|fields| is_type(&fields))
}

/// Whether the text may also be submitted: a flag that is not known may say so, too.
fn submits(arguments: &str) -> bool {
    let Ok(Value::Object(fields)) = serde_json::from_str(arguments) else { return true };
    fields.iter().any(|(key, value)| match value {
        Value::Bool(true) if !matches!(&**key, "slowly" | "clear" | "append") => true,
        value => submitting::submits(key, value),
    })
}

/// Whether only a part of a page is requested.
pub(super) fn is_part(sort: ToolEffect, arguments: &str) -> bool {
    if sort != ToolEffect::Looks {
        return false;
    }
    let Ok(fields) = Fields::read(arguments) else { return true };
    fields.iter().any(|(key, _)| matches!(key, "depth" | "target" | "ref" | "selector" | "root" | "filter" | "limit"))
}

/// Whether a tool gives the lines of a snapshot that match a search.
pub(super) fn is_find(tool: &str) -> bool {
    tool.rsplit(['.', '/', ':']).next().is_some_and(|tool| tool.ends_with("browser_find"))
}

/// Whether a tool takes a snapshot.
pub(super) fn is_snapshot(tool: &str) -> bool {
    words(tool).iter().any(|word| word == "snapshot")
}

/// Arguments that refer to an element, besides numbers: Playwright's own, and those of others.
const REFERENCES: [&str; 6] = ["ref", "target", "startRef", "startTarget", "start_ref", "sourceRef"];
const SELECTORS: [&str; 4] = ["selector", "css", "xpath", "locator"];
const TEXTS: [&str; 3] = ["text", "label", "name"];

/// Whether an argument with this key can refer to an element.
fn may_name(key: &str) -> bool {
    matches!(key, "fields" | "elements" | "path" | "from" | "from_uid")
        || [&REFERENCES[..], &SELECTORS, &NUMBERS].iter().any(|keys| keys.contains(&key))
}

/// The element that arguments refer to: those of a tool with a name of these words, or a part of them.
pub(super) fn names(tool: (&str, &[String]), arguments: &str, snapshot: &Snapshot) -> NamedElement {
    if arguments.trim().is_empty() {
        return NamedElement::Nothing;
    }
    match Fields::read(arguments) {
        Ok(fields) => names_in(tool, arguments, &fields, snapshot),
        Err(_) => NamedElement::Unknown(short(arguments)),
    }
}

/// The same for arguments that have been read.
pub(super) fn names_in(
    (tool, words): (&str, &[String]),
    arguments: &str,
    fields: &Fields<'_>,
    snapshot: &Snapshot,
) -> NamedElement {
    if let Some(answer) = dialog(tool, fields, snapshot) {
        return answer;
    }
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&&**word));
    // A `target` or a `ref` of a deployment is not an element.
    let is_acting =
        has(ACTING) || has(TYPING) || has(&["browser", "page", "dom", "element", "ui"]) || sets_node(words, fields);
    // The number of a tab is not an element, but that of a link that is opened in a tab is.
    let is_tab = has(&["tab", "tabs"]) && !has(&["open"]);
    if !is_acting || is_tab || has(&["network", "request", "requests"]) {
        return NamedElement::Nothing;
    }
    let mut found: Vec<NamedElement> = Vec::new();
    for (key, raw) in fields.iter().filter(|(key, _)| may_name(key)) {
        let Ok(value) = serde_json::from_str::<Value>(raw.get()) else {
            return NamedElement::Unknown(short(raw.get()));
        };
        let text = value.as_str();
        let is_number = NUMBERS.contains(&key);
        found.extend(match (key, text, plain(&value)) {
            // Playwright's form has `fields`, chrome-devtools-mcp's `elements`.
            ("fields" | "elements", _, _) => {
                value.get(0).map(|field| names((tool, words), &field.to_string(), snapshot))
            }
            ("target", None, _) if value.is_object() => Some(names((tool, words), raw.get(), snapshot)),
            ("path", Some(path), _) if !path.is_empty() => Some(node(path, snapshot)),
            (key, Some(text), _) if REFERENCES.contains(&key) => Some(reference(text, key, snapshot)),
            (key, Some(text), _) if SELECTORS.contains(&key) => Some(select(text, snapshot)),
            ("from", Some(path), _) if path.starts_with("/root") || godot::is_short(path) => Some(node(path, snapshot)),
            ("from", _, Some(number)) if has(&["drag"]) => Some(numbered("index", &number, snapshot)),
            ("from_uid", _, Some(number)) => Some(numbered("uid", &number, snapshot)),
            (_, _, Some(number)) if is_number => Some(numbered(key, &number, snapshot)),
            _ => None,
        });
    }
    let clicks = has(&["click", "tap", "press"]) && !has(&["key", "keys", "action"]);
    if found.is_empty() && clicks {
        let said = |key| fields.get(key).and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        found.extend(TEXTS.into_iter().filter_map(said).map(|text| by_text(&text)));
    }
    // If there are several, a server may use any of them.
    found.retain(|named| *named != NamedElement::Nothing);
    match &found[..] {
        [] => NamedElement::Nothing,
        // Where an element is dropped may be of another origin.
        [NamedElement::Element(target), others @ ..] if others.iter().all(|other| *other == found[0]) => {
            let origin = target.origin.clone().filter(|_| fields.get_ignoring_case("to").is_none());
            NamedElement::Element(Target { origin, ..target.clone() })
        }
        [first, others @ ..] if others.iter().all(|other| other == first) => first.clone(),
        _ => NamedElement::Unknown(short(arguments)),
    }
}

/// Whether a call sets the value of a Godot node.
fn sets_node(words: &[String], fields: &Fields<'_>) -> bool {
    let path = || fields.get("path").and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    words == ["set", "value"] && path().is_some_and(|path| path.starts_with("/root") || godot::is_short(&path))
}

/// The answer to a browser's own dialog: its message tells what is being accepted.
fn dialog(tool: &str, fields: &Fields<'_>, snapshot: &Snapshot) -> Option<NamedElement> {
    let accepts = fields.get("accept").filter(|_| tool.ends_with("dialog"))?.get() == "true";
    let known = snapshot.dialog.as_ref().filter(|_| snapshot.unanswered.is_empty());
    Some(match known {
        Some(message) => NamedElement::Element(Target {
            role: Some("button".to_owned()),
            name: if accepts { "OK" } else { "Cancel" }.to_owned(),
            value: None,
            context: Some(message.chars().take(400).collect()),
            snapshot_id: Some(format!("s{}", snapshot.snapshots)),
            origin: None,
            deal: None,
        }),
        None if accepts => NamedElement::Unknown("a dialog".to_owned()),
        None => NamedElement::Nothing,
    })
}

/// Playwright's `e12`, `f1e12`, `s2e12`; any other text is a selector, unless the argument takes only references.
fn reference(text: &str, argument: &str, snapshot: &Snapshot) -> NamedElement {
    let written = text.strip_prefix("aria-ref=").unwrap_or(text);
    match snapshot.known(&format!("ref={written}")) {
        Some(target) => NamedElement::Element(target.clone()),
        None if argument.ends_with("arget") && !looks_like_reference(written) => select(text, snapshot),
        None => numbered("ref", written, snapshot),
    }
}

fn looks_like_reference(text: &str) -> bool {
    let mut parts = text.rsplitn(2, 'e');
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_frame = |text: &str| text.is_empty() || text.strip_prefix(['f', 's']).is_some_and(is_number);
    parts.next().is_some_and(is_number) && parts.next().is_none_or(is_frame)
}

fn select(text: &str, snapshot: &Snapshot) -> NamedElement {
    if let Some(target) = text.strip_prefix("aria-ref=").and_then(|text| snapshot.known(&format!("ref={text}"))) {
        return NamedElement::Element(target.clone());
    }
    selector::read(text).map_or_else(|| NamedElement::Unknown(short(text)), NamedElement::Element)
}

/// The element with a number of a list. Lists and calls may use different keys for the number; that works if the list
/// uses only one.
fn numbered(argument: &str, number: &str, snapshot: &Snapshot) -> NamedElement {
    if snapshot.elements.is_empty() {
        return NamedElement::Unknown(short(number));
    }
    let own = snapshot.known(&format!("{argument}={number}"));
    let named = || {
        let is_there = |name: &&&str| snapshot.elements.contains_key(&format!("{name}={number}"));
        let mut others = NUMBERS.iter().filter(is_there);
        let other = others.next().filter(|_| others.next().is_none())?;
        let is_used = snapshot.elements.keys().any(|key| key.split('=').next() == Some(argument));
        snapshot.known(&format!("{other}={number}")).filter(|_| !is_used)
    };
    match own.or_else(named) {
        Some(target) => NamedElement::Element(target.clone()),
        None => NamedElement::Unknown(short(number)),
    }
}

/// A Godot node by its path, or by a selector.
fn node(path: &str, snapshot: &Snapshot) -> NamedElement {
    if let Some(target) = snapshot.nodes.get(&godot::key(path)) {
        return NamedElement::Element(target.clone());
    }
    if godot::is_short(path) {
        return NamedElement::Unknown(short(path));
    }
    let target = match path.starts_with('/') {
        true => godot::own_name(path).map(|name| Target { name, ..Target::default() }),
        false => selector::read(path),
    };
    target.map_or_else(|| NamedElement::Unknown(short(path)), NamedElement::Element)
}

/// An element that is referred to by its text.
fn by_text(text: &str) -> NamedElement {
    match text.chars().any(char::is_alphabetic) {
        true => NamedElement::Element(Target { name: text.to_owned(), ..Target::default() }),
        false => NamedElement::Unknown(short(text)),
    }
}

/// For people.
fn short(text: &str) -> String {
    text.chars().take(200).collect()
}
