//! The answers of `browser-bridge` about a page: lists whose numbers stay valid as long as the document, its dialog,
//! and the focus.

use super::listed::target;
use super::{ShownReferences, Snapshot};
use crate::target::Target;
use pipewright_record::json::Object;
use serde_json::Value;
use std::collections::HashMap;

/// The list in a result, an object with `snapshot_id` and `items`; `None` if it is not a list of `browser-bridge`.
///
/// `snapshot_id` is `sD.N`: D counts documents, and later lists of a document keep its numbers. An item is an object,
/// or a line `7 button(disabled,covered) Pay now (row "Anna")` or `8 textbox Name = "Ada"`: number, role, marks, name,
/// where it is, content. Before the place of an element without
/// a name stands what its picture is called: `9 image (icon "trash" row "Anna")`.
pub(super) fn list(result: &Value, most: usize) -> Option<ShownReferences<'static>> {
    let fields = result.get("structuredContent").unwrap_or(result);
    let document = document(fields.get("snapshot_id")?.as_str()?)?;
    let items = fields.get("items")?.as_array()?;
    let mut listed: Option<Vec<(String, Target)>> = items.iter().take(most).map(item).collect();
    let deals = deals(fields);
    for (key, target) in listed.iter_mut().flatten() {
        target.origin = origin(fields, key);
        target.deal = deals.get(key).cloned();
    }
    Some(listed.map_or(ShownReferences::Hidden, |items| ShownReferences::Numbered(document, items)))
}

/// The origin of an element: that of the page, if the list does not name it among those of other origins.
fn origin(list: &Value, key: &str) -> Option<String> {
    let is_own = |number: &Value| number.as_u64().is_some_and(|number| self::key(number) == key);
    let others = list.get("other_origins").and_then(Value::as_object).into_iter().flatten();
    let mut named = others.filter(|(_, numbers)| numbers.as_array().is_none_or(|numbers| numbers.iter().any(is_own)));
    match named.next() {
        Some((origin, _)) => Some(origin.clone()).filter(|_| named.next().is_none()),
        None => list.get("origin")?.as_str().map(str::to_owned),
    }
}

/// The deals that a list names: JSON text, by element.
fn deals(list: &Value) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for deal in list.get("deals").and_then(Value::as_array).into_iter().flatten() {
        let Some(text) = deal.get("text").filter(|text| text.is_array()) else { continue };
        let named = Object::default().put("text", text).put_some("note", deal.get("note")).end();
        let numbers = deal.get("numbers").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64);
        found.extend(numbers.map(|number| (key(number), named.clone())));
    }
    found
}

fn key(number: u64) -> String {
    format!("index={number}")
}

fn document(snapshot: &str) -> Option<u64> {
    let (document, number) = snapshot.strip_prefix('s')?.split_once('.')?;
    number.parse::<u64>().ok()?;
    document.parse().ok()
}

/// All have the same key, since a later list may have other fields.
fn item(item: &Value) -> Option<(String, Target)> {
    let (number, target) = match item {
        Value::String(line) => compact(line)?,
        Value::Object(fields) => (fields.get("index")?.as_u64()?, target(fields)),
        _ => return None,
    };
    Some((key(number), target))
}

fn compact(line: &str) -> Option<(u64, Target)> {
    let (number, element) = line.split_once(' ')?;
    let (kind, name) = element.split_once(' ').unwrap_or((element, ""));
    let role = match kind.split_once('(') {
        Some((role, marks)) if marks.ends_with(')') => role,
        Some(_) => return None,
        None => kind,
    };
    // An element without a name may have a place, and a picture that is called something: both are no names.
    let name = format!(" {name}");
    let name = without(without(&name, " = \"", "\""), " (row \"", "\")");
    let name = without(without(name, " (in \"", "\")"), " (icon \"", "\")").trim();
    let target = Target { role: Some(role.to_owned()), name: name.to_owned(), ..Target::default() };
    Some((number.parse().ok()?, target))
}

/// A name without what follows it in the list, from `begin` to `end`.
fn without<'a>(name: &'a str, begin: &str, end: &str) -> &'a str {
    let rest = name.strip_suffix(end).and_then(|name| name.rsplit_once(begin));
    rest.map_or(name, |(name, _)| name)
}

/// The message of the open dialog.
pub(super) fn dialog(result: &Value) -> Option<String> {
    let fields = result.get("structuredContent").unwrap_or(result);
    fields.get("dialog")?.get("message")?.as_str().map(str::to_owned)
}

/// The focused element.
pub(super) fn focused(result: &Value) -> Option<Target> {
    let fields = result.get("structuredContent").unwrap_or(result);
    let text = |key: &str| fields.get(key)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let name = text("focused_name").unwrap_or_default();
    Some(Target { role: Some(text("focused_role")?), name, ..Target::default() })
}

impl Snapshot {
    /// The focused element. It has the deal of the listed elements of this role and name, if they have the same one.
    pub fn focused(&self) -> Option<Target> {
        let focused = self.focused.clone().filter(|_| self.unanswered.is_empty())?;
        let listed = self.elements.values().filter_map(|known| known.target.as_ref());
        let mut deals =
            listed.filter(|one| (&one.role, &one.name) == (&focused.role, &focused.name)).map(|one| &one.deal);
        let deal = deals.next().filter(|first| deals.all(|other| other == *first)).cloned().flatten();
        Some(Target { deal, ..focused })
    }

    /// Whether a known element has a deal.
    pub fn has_deals(&self) -> bool {
        self.elements.values().any(|known| known.target.as_ref().is_some_and(|target| target.deal.is_some()))
    }
}
