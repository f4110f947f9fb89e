//! Typing and choosing: whether the text is also entered, and whether the choice alone has an effect.

use super::element::{find, judge_element};
use super::{JudgedCall, allow, found};
use crate::detector::ActionKind;
use crate::lists::typing::{SEARCH, TEXT_ROLES};
use crate::snapshot::NamedElement;
use crate::submitting;
use crate::target::Target;
use crate::verdict::Decision;
use pipewright_record::Fields;
use pipewright_record::identifier::words;
use serde_json::Value;

/// Words for a search in scripts without blanks: a part of a name is enough.
const UNSPACED_SEARCH: &[&str] = &["ค้นหา", "搜", "查找", "検索", "검색"];

/// Whether a field is for searching.
fn searches(target: &Target) -> bool {
    let is_named = words(&target.name).iter().any(|word| SEARCH.contains(&word.as_str()))
        || UNSPACED_SEARCH.iter().any(|word| target.name.contains(word));
    (target.role.as_deref() == Some("searchbox") || is_named) && find(target).is_none()
}

/// Enter submits a form; in a search field it only searches.
pub fn judge_submit(target: Option<&Target>) -> Decision {
    match target {
        Some(target) if searches(target) => allow("it only searches"),
        _ => found(ActionKind::Submit, "builtin.submit", "Enter submits a form".to_owned()),
    }
}

/// Judges a tool that does the action in its `action` (`browser_overlay_act`) if that types or chooses; `None` if it
/// clicks, or the element is not known.
pub fn judge_action(call: &JudgedCall<'_>) -> Option<Decision> {
    let NamedElement::Element(target) = &call.named else { return None };
    match &*action(call)? {
        // `browser-bridge` presses Enter in a search field.
        "type" if target.role.as_deref() == Some("searchbox") || submits(call) => Some(judge_submit(Some(target))),
        "type" | "select" | "deselect" => Some(judge_entering(call)),
        _ => None,
    }
}

/// Whether a tool that does the action in its `action` types without naming an element: where the focus is.
pub fn types_into_focus(tool: &str, arguments: &Fields<'_>) -> bool {
    words(tool).iter().any(|word| word == "act")
        && super::text(arguments, "action").is_some_and(|action| action == "type")
}

fn action(call: &JudgedCall<'_>) -> Option<String> {
    call.words.iter().any(|word| word == "act").then(|| super::text(&call.arguments, "action"))?
}

/// Judges text that is typed or an option that is chosen, without submitting it.
pub fn judge_entering(call: &JudgedCall<'_>) -> Decision {
    judge_choice(call).unwrap_or_else(|| allow("it only types or chooses"))
}

/// An item of a Godot node, which is chosen by its label or its path ("File/Delete all"); a number tells nothing about
/// it.
pub fn judge_item(call: &JudgedCall<'_>) -> Option<Decision> {
    let chooses = call.words.iter().any(|word| ["select", "choose", "pick"].contains(&word.as_str()));
    let item = call.arguments.get("item").filter(|_| chooses && call.arguments.get("path").is_some())?;
    let parts: Vec<String> = match serde_json::from_str(item.get()).ok()? {
        Value::String(path) => path.split('/').map(str::to_owned).collect(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.as_str().map(str::to_owned)).collect(),
        number => return Some(judge_element(&NamedElement::Unknown(format!("item {number}")))),
    };
    let named = parts.into_iter().map(|name| Target { name, ..Target::default() });
    named.filter_map(|target| Some((find(&target)?, target))).next().map(|(finding, target)| {
        found(finding.kind, "builtin.choice", format!("it chooses {:?}: {}", target.name, finding.because))
    })
}

/// Whether a call also enters the typed text.
pub fn submits(call: &JudgedCall<'_>) -> bool {
    call.arguments.iter().any(|(key, raw)| match serde_json::from_str::<Value>(raw.get()) {
        Ok(value) => submitting::submits(key, &value),
        Err(_) => true,
    })
}

/// Judges a choice that has an effect of its own: a box "Pay automatically", an option "Delete my account".
fn judge_choice(call: &JudgedCall<'_>) -> Option<Decision> {
    let mut chosen: Vec<Target> = Vec::new();
    if let NamedElement::Element(target) = &call.named
        && !is_text_field(target)
    {
        chosen.push(target.clone());
    }
    let chooses = call
        .words
        .iter()
        .any(|word| ["select", "choose", "option", "check", "pick", "set", "toggle"].contains(&word.as_str()));
    let selects = action(call).is_some_and(|action| ["select", "deselect"].contains(&&*action));
    for (key, raw) in call.arguments.iter() {
        let is_choice = selects && key == "text"
            || chooses && ["value", "values", "option", "options", "label", "labels", "choice"].contains(&key);
        if (is_choice || key == "fields")
            && let Ok(value) = serde_json::from_str(raw.get())
        {
            append(&value, &mut chosen);
        }
    }
    let (target, finding) = chosen.iter().find_map(|target| Some((target, find(target)?)))?;
    let kind: ActionKind = finding.kind;
    Some(found(kind, "builtin.choice", format!("it chooses {:?}: {}", target.name, finding.because)))
}

/// The fields of a form, and options by their texts.
fn append(value: &Value, chosen: &mut Vec<Target>) {
    match value {
        Value::String(name) => chosen.push(Target { name: name.clone(), ..Target::default() }),
        Value::Array(items) => items.iter().for_each(|item| append(item, chosen)),
        Value::Object(fields) => {
            let text = |keys: &[&str]| keys.iter().find_map(|key| fields.get(*key)?.as_str()).map(str::to_owned);
            let role = text(&["type", "role"]);
            let name = text(&["name", "label", "element"]).unwrap_or_default();
            let target = Target { role, name, ..Target::default() };
            if !is_text_field(&target) {
                chosen.push(target);
            }
        }
        _ => {}
    }
}

pub fn is_text_field(target: &Target) -> bool {
    let named = words(&target.name);
    match target.role.as_deref() {
        Some(role) => TEXT_ROLES.contains(&role.to_lowercase().as_str()),
        None => {
            named.iter().any(|word| ["field", "textbox", "textarea", "input", "box", "editor"].contains(&word.as_str()))
                && !named.iter().any(|word| ["check", "checkbox"].contains(&word.as_str()))
        }
    }
}
