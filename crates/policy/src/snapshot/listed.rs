//! Lists of numbered elements: objects with a number or an id, and a role, a name or a text.

use crate::lists::snapshot_listed::NAMES;
use crate::target::Target;
use pipewright_record::identifier::words;
use serde_json::{Map, Value};

/// The keys of an element's number, in lists and in calls.
pub(super) const NUMBERS: [&str; 10] =
    ["index", "eid", "ref", "uid", "number", "idx", "element_index", "element_id", "elementId", "id"];

/// The keys that identify an object as an element.
const ELEMENT_KEYS: [&str; 9] =
    ["role", "name", "text", "label", "tag", "tagName", "tag_name", "aria_label", "ariaLabel"];
const CONTEXT_KEYS: [&str; 7] = ["context", "near", "nearby", "surrounding", "dialog", "parent_text", "description"];

/// The elements that a result lists, at any place in it, with their references; `None` if there is no list.
pub(super) fn read(value: &Value, most: usize) -> Option<Vec<(String, Target)>> {
    let mut found = Vec::new();
    let mut is_list = false;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                // An empty list of elements is a list: there are no elements any more.
                let is_empty = |(key, value): (&String, &Value)| {
                    matches!(&**key, "elements" | "interactives") && value.as_array().is_some_and(Vec::is_empty)
                };
                is_list |= fields.iter().any(is_empty);
                open.extend(fields.values());
            }
            Value::Array(items) => {
                let elements = items.iter().filter_map(Value::as_object).filter(|item| is_element(item));
                for element in elements.take(most.saturating_sub(found.len())) {
                    is_list = true;
                    let target = target(element);
                    found.extend(keys(element).map(|key| (key, target.clone())));
                }
                open.extend(items);
            }
            _ => {}
        }
    }
    is_list.then_some(found)
}

fn is_element(item: &Map<String, Value>) -> bool {
    keys(item).next().is_some() && ELEMENT_KEYS.iter().any(|key| item.get(*key).is_some_and(Value::is_string))
}

/// All of its references.
fn keys(item: &Map<String, Value>) -> impl Iterator<Item = String> {
    NUMBERS.iter().filter_map(|name| Some(format!("{name}={}", plain(item.get(*name)?)?)))
}

/// A number or an id as text, quoted or not.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

/// The element that an object describes.
pub(super) fn target(item: &Map<String, Value>) -> Target {
    let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let first = |keys: &[&str]| keys.iter().find_map(|key| text(key));
    let name = first(NAMES).unwrap_or_default();
    let tag = first(&["tag", "tagName", "tag_name"]).map(str::to_ascii_lowercase);
    let kind = text("type").map(str::to_ascii_lowercase);
    let role = text("role").map(str::to_owned).or_else(|| match (tag.as_deref(), kind.as_deref()) {
        (Some("a"), _) => Some("link".to_owned()),
        (Some("input"), Some("submit" | "button" | "image" | "reset")) => Some("button".to_owned()),
        (Some("input"), Some(kind @ ("checkbox" | "radio"))) => Some(kind.to_owned()),
        (Some("input" | "textarea"), _) => Some("textbox".to_owned()),
        (Some(tag), _) => Some(tag.to_owned()),
        (None, kind) => kind.map(str::to_owned),
    });
    let mut near: Vec<&str> = CONTEXT_KEYS.iter().filter_map(|key| text(key)).filter(|text| *text != name).collect();
    near.dedup();
    let near: String = near.join(" \u{b7} ").chars().take(400).collect();
    Target {
        role,
        name: name.to_owned(),
        value: first(&["value", "href", "url"]).map(str::to_owned),
        context: Some(near).filter(|near| !near.is_empty()),
        ..Target::default()
    }
}

/// Whether an answer to an acting call reports that the page has changed; `None` if it reports neither.
pub(super) fn has_changed(value: &Value) -> Option<bool> {
    says(value, &[&["changed"], NAVIGATION_KEYS].concat())
}

/// As [`has_changed`], for whether another page may have replaced it.
pub(super) fn has_left(value: &Value) -> Option<bool> {
    says(value, NAVIGATION_KEYS)
}

const NAVIGATION_KEYS: &[&str] = &["navigated", "navigation", "nav", "submitted", "enter", "reloaded"];

fn says(value: &Value, signs: &[&str]) -> Option<bool> {
    let mut open = vec![value];
    let mut said = None;
    while let Some(value) = open.pop() {
        let Value::Object(fields) = value else { continue };
        for (key, value) in fields {
            let is_sign = words(key).iter().any(|word| signs.contains(&&**word));
            match value {
                Value::Bool(true) if is_sign => return Some(true),
                Value::Bool(false) if is_sign => said = Some(false),
                Value::String(kind) if is_sign && kind == "none" => said = Some(false),
                Value::String(_) if is_sign => return Some(true),
                Value::Object(_) => open.push(value),
                _ => {}
            }
        }
    }
    said
}

/// The page's address, if an answer has it.
pub(super) fn address(value: &Value) -> Option<String> {
    let place = |value: &Value| Some(value.get("url")?.as_str()?.to_owned());
    let within = ["page", "data", "result", "state"];
    place(value).or_else(|| within.iter().find_map(|key| place(value.get(key)?)))
}
