//! Lists of elements, and their snapshots.

use super::choices::{around_window, choices};
use super::deals::KnownDeal;
use super::report::ResultMembers;
use super::table::Arguments;
use super::{Counters, Problem, ToolResult, ToolSession};
use crate::{Element, Scope};
use pipewright_sys::lock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;
use url::Url;

/// How many elements are listed by default.
const LIMIT: usize = 30;

/// An origin that only equals itself, as browsers serialise it.
const NO_ORIGIN: &str = "null";

/// The lists that were returned.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    /// Counts documents: element numbers of an earlier one are invalid in the next.
    document: u64,
    /// The load of that document.
    loader: String,
    /// Counts lists.
    last: u64,
    /// The elements of the last list.
    items: Vec<Element>,
    /// All elements of the document that were listed, by number.
    known: HashMap<u32, Element>,
    /// The deals that results have named, by number.
    pub(super) deals: HashMap<u32, KnownDeal>,
}

impl Snapshots {
    /// Takes the elements of a document. Returns whether they are those of the last list.
    fn take(&mut self, loader: &str, items: &[Element], is_refreshed: bool) -> bool {
        let is_same_document = self.loader == loader;
        if is_same_document && !is_refreshed && self.last > 0 && self.items == items {
            return true;
        }
        if !is_same_document {
            self.document += 1;
            loader.clone_into(&mut self.loader);
            self.known.clear();
            self.deals.clear();
        }
        self.last += 1;
        self.items = items.to_vec();
        self.known.extend(items.iter().map(|element| (element.index, element.clone())));
        false
    }

    /// Continues the count of documents after those of another browser.
    pub(super) fn count_on(&mut self, from: u64) {
        self.document = from;
    }

    /// How many documents were counted.
    pub(super) fn documents(&self) -> u64 {
        self.document
    }

    /// `sD.N`: the N-th list, of the D-th document.
    fn id(&self) -> String {
        format!("s{}.{}", self.document, self.last)
    }

    /// Whether the numbers of a list still mean the same elements.
    pub(super) fn is_of_document(&self, id: &str) -> bool {
        let counts = id.strip_prefix('s').and_then(|id| id.split_once('.'));
        let counts =
            counts.and_then(|(document, list)| Some((document.parse::<u64>().ok()?, list.parse::<u64>().ok()?)));
        counts.is_some_and(|(document, list)| document == self.document && (1..=self.last).contains(&list))
    }
}

/// Which elements are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ListScope {
    #[default]
    Viewport,
    Page,
}

/// How much of each element is returned.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum View {
    #[default]
    Compact,
    Full,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// viewport: what can be seen without scrolling; page: all.
    #[serde(default)]
    scope: ListScope,
    /// At most this many elements.
    #[serde(default = "limit")]
    limit: usize,
    /// Skip this many at the beginning.
    #[serde(default)]
    offset: usize,
    /// Give a new snapshot_id even if nothing has changed since the last list.
    #[serde(default)]
    refresh: bool,
    /// compact: one text for each element; full: an object with id, index, role, name, place, value, options, focused, bbox and marks.
    #[serde(default)]
    view: View,
    /// Also return choices: the actions that fit the elements, by name. Elements near the window are then listed too.
    #[serde(default)]
    choices: bool,
}

fn limit() -> usize {
    LIMIT
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Find {
    /// The role, such as button, link or textbox.
    role: Option<String>,
    /// A part of the name, in any case.
    text: Option<String>,
    /// At most this many elements.
    #[serde(default = "find_limit")]
    limit: usize,
    /// Skip this many at the beginning.
    #[serde(default)]
    offset: usize,
}

fn find_limit() -> usize {
    50
}

impl Arguments for List {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let is_page = self.scope == ListScope::Page;
        let scope = if is_page || self.choices { Scope::Page } else { Scope::Viewport };
        let (items, is_reused) = session.snapshot(scope, self.refresh, until)?;
        let most = self.offset.saturating_add(self.limit);
        let meant = if is_page || !self.choices { items.iter().collect() } else { around_window(&items, most) };
        let listed: Vec<&Element> = meant.iter().copied().skip(self.offset).take(self.limit).collect();
        let view: fn(&Element) -> Value = match self.view {
            View::Compact => |element| compact(element).into(),
            View::Full => full,
        };
        let report =
            ResultMembers::default().with("total", meant.len()).with("limit", self.limit).with("offset", self.offset);
        let report = report.with("reused_snapshot", is_reused).and(session.listed(&listed, view, until)?);
        Ok(report.with_some("choices", self.choices.then(|| choices(&listed))))
    }
}

impl Arguments for Find {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let (items, _) = session.snapshot(Scope::Page, false, until)?;
        let text = self.text.as_deref().map(str::to_lowercase);
        let is_meant = |element: &&Element| {
            self.role.as_deref().is_none_or(|role| element.role.eq_ignore_ascii_case(role.trim()))
                && text.as_deref().is_none_or(|text| element.name.to_lowercase().contains(text))
        };
        let found: Vec<&Element> = items.iter().filter(is_meant).collect();
        let total = found.len();
        let listed: Vec<&Element> = found.into_iter().skip(self.offset).take(self.limit).collect();
        let advice = "no control has this name; browser_extract gives the text of the page";
        let report = ResultMembers::default().with("total", total).with_some("advice", (total == 0).then_some(advice));
        Ok(report.and(session.listed(&listed, element_summary, until)?))
    }
}

impl ToolSession {
    /// The current elements; true if they are those of the last list.
    pub(super) fn snapshot(
        &mut self,
        scope: Scope,
        is_refreshed: bool,
        until: Instant,
    ) -> Result<(Vec<Element>, bool), Problem> {
        let items = self.browser.elements(scope, until)?.items;
        let loader = self.browser.page()?.document.loader.clone();
        let is_reused = self.snapshots.take(&loader, &items, is_refreshed);
        *lock(&self.settings.counted) =
            Counters { number: self.browser.last_number(), documents: self.snapshots.documents() };
        Ok((items, is_reused))
    }

    /// Whether the active page still shows the document listed last.
    pub(super) fn is_listed(&self) -> Result<bool, Problem> {
        let loader = &self.browser.page()?.document.loader;
        Ok(self.snapshots.last > 0 && self.snapshots.loader == *loader && self.browser.has_numbers_of(loader))
    }

    pub(super) fn snapshot_id(&self) -> String {
        self.snapshots.id()
    }

    /// An element of the document, as listed last.
    pub(super) fn known(&self, index: u32) -> Option<&Element> {
        self.snapshots.known.get(&index)
    }

    /// The first visible elements, and the one with this number, in the compact view.
    pub(super) fn list_viewport(&mut self, with: Option<u32>, until: Instant) -> ToolResult {
        let (items, _) = self.snapshot(Scope::Viewport, false, until)?;
        let (first, others) = items.split_at(items.len().min(LIMIT));
        let more = others.iter().filter(|element| Some(element.index) == with);
        self.listed(&first.iter().chain(more).collect::<Vec<_>>(), |element| compact(element).into(), until)
    }

    /// A list with its id, the origin of the page, the numbers of those elements that are in frames of others, and the
    /// deals of those that order or pay.
    fn listed(&mut self, items: &[&Element], view: fn(&Element) -> Value, until: Instant) -> ToolResult {
        let deals = self.listed_deals(items, until)?;
        let own = Url::parse(&self.browser.page()?.document.url).map(|url| url.origin());
        let own = own.map_or_else(|_| NO_ORIGIN.to_owned(), |origin| origin.ascii_serialization());
        let mut others: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for element in items.iter().filter(|element| element.origin != own) {
            others.entry(&element.origin).or_default().push(element.index);
        }
        let others = (!others.is_empty()).then(|| json!(others));
        let report = ResultMembers::default().with("snapshot_id", self.snapshots.id());
        let report = report.with_some("origin", (own != NO_ORIGIN).then_some(own)).with_some("other_origins", others);
        let report = report.with_some("deals", deals);
        Ok(report.with("items", items.iter().map(|element| view(element)).collect::<Vec<_>>()))
    }
}

/// `7 button(disabled) Pay now`, `8 button Edit (row "Anna")`, `9 textbox Name = "Ada"`.
fn compact(element: &Element) -> String {
    let Element { index, role, name, marks, value, place, .. } = element;
    let mut line = format!("{index} {role}");
    if !marks.is_empty() {
        line += &format!("({})", marks.join(","));
    }
    if !name.is_empty() {
        line += &format!(" {name}");
    }
    if let Some(place) = place {
        line += &format!(" ({place})");
    }
    if let Some(value) = value {
        line += &format!(" = {}", json!(value));
    }
    line
}

fn element_summary(element: &Element) -> Value {
    let Element { index, role, name, .. } = element;
    json!({"id": index.to_string(), "index": index, "role": role, "name": name})
}

fn full(element: &Element) -> Value {
    let Element { bounds: [x, y, width, height], marks, value: text, options, place, .. } = element;
    let mut value = element_summary(element);
    value["focused"] = marks.iter().any(|mark| mark == "focused").into();
    value["bbox"] = json!({"x": x, "y": y, "width": width, "height": height});
    value["marks"] = json!(marks);
    if let Some(text) = text {
        value["value"] = json!(text);
    }
    if !options.is_empty() {
        value["options"] = json!(options);
    }
    if let Some(place) = place {
        value["place"] = json!(place);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(index: u32, name: &str) -> Element {
        Element {
            index,
            name: name.to_owned(),
            role: "button".to_owned(),
            value: None,
            options: Vec::new(),
            place: None,
            is_placeholder: false,
            enters: None,
            bounds: [0; 4],
            marks: Vec::new(),
            origin: NO_ORIGIN.to_owned(),
        }
    }

    #[test]
    fn the_same_elements_keep_the_list_id_and_another_document_ends_all_ids() {
        let mut snapshots = Snapshots::default();
        assert!(!snapshots.take("A", &[element(1, "Pay")], false));
        assert_eq!(snapshots.id(), "s1.1");
        assert!(snapshots.take("A", &[element(1, "Pay")], false));
        assert!(!snapshots.take("A", &[element(1, "Pay")], true));
        assert!(!snapshots.take("A", &[element(2, "Go")], false));
        assert_eq!((snapshots.id().as_str(), snapshots.known.len()), ("s1.3", 2));
        assert!(snapshots.is_of_document("s1.1") && !snapshots.is_of_document("s1.4"));
        assert!(!snapshots.take("B", &[element(2, "Go")], false));
        assert_eq!((snapshots.id().as_str(), snapshots.known.len()), ("s2.4", 1));
        for none in ["s1.1", "s1.4", "s3.4", "s2", "", "s2.x", "2.4", "s2.0"] {
            assert!(!snapshots.is_of_document(none), "{none}");
        }
    }

    #[test]
    fn the_compact_view_has_marks_after_the_role() {
        let mut pay = element(7, "Pay now");
        assert_eq!(compact(&pay), "7 button Pay now");
        pay.marks = vec!["disabled".to_owned(), "covered".to_owned()];
        assert_eq!(compact(&pay), "7 button(disabled,covered) Pay now");
        pay.name = String::new();
        assert_eq!(compact(&pay), "7 button(disabled,covered)");
        pay = element(7, "Name");
        (pay.place, pay.value) = (Some("row \"Anna\"".to_owned()), Some("a \"b\"".to_owned()));
        assert_eq!(compact(&pay), r#"7 button Name (row "Anna") = "a \"b\"""#);
    }
}
