//! Which element a call means: the elements that a world has shown, and how calls refer to them.
//!
//! A reference (Playwright's `e12`, the number in a list) has a meaning only in the numbering that it was given in. A
//! call is never judged by an element of another page or of an older numbering. So the known elements are forgotten
//!
//! - with each new snapshot or list, which replaces them; but a list of `browser-bridge` adds to earlier ones of the
//!   same document, since a document keeps its numbers;
//! - when a new numbering is hidden: it is in a file, or in a place where a page's own text may imitate one;
//! - when something that looks like a snapshot does not count as one (below);
//! - after the answer to a call that leads to another page (navigate, back, a tab), unless the answer has a snapshot;
//! - after the answer to a call that acts (a click, a key, a script, any unknown tool), unless the answer reports that
//!   nothing has changed. A call that only looks keeps the elements. So does one that types, unless its answer reports
//!   a change, since a form has many fields, and the server keeps its numbering until it gives a new one. So does a
//!   call that was refused before it was carried out, since the caller then chooses again from the same page;
//! - when a line can't be read, or the page has another address.
//!
//! An element with a name that has no meaning of its own ("OK", an icon) is known only together with its surroundings.
//! A part of a page, or a list without context, is not enough for it.
//!
//! A snapshot counts only in the answer to a call of a tool that shows pages ([`call::shows`]), matched by the call's
//! id, or in an observation, which a world sends by itself. No other call that may change the page may be unanswered
//! when it arrives. All other text may have any author: an `echo`, a search result, a file.
//!
//! While a call is unanswered, no element is known: the call may lead to another page at that moment. An answer settles
//! the earlier calls that only look; a call that may change the page is in flight until it is answered or cancelled.

mod answer;
mod bridge;
mod call;
mod chrome;
pub(super) mod godot;
mod listed;
mod playwright;
#[cfg(feature = "gates")]
pub mod printed;
mod selector;
mod tree;

pub use answer::outcome;
pub use call::id_value;

use super::detector::{Element, classify};
use super::target::Target;
use answer::{WorldAnswer, WorldOutput};
use call::ToolEffect;
use pipewright_record::Fields;
use pipewright_record::identifier::words;
use playwright::AnswerPage;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};

/// The elements that a world has shown.
#[derive(Debug, Default, Clone)]
pub struct Snapshot {
    elements: HashMap<String, KnownElement>,
    /// Godot's nodes, by path.
    nodes: HashMap<String, Target>,
    /// The message of the browser's open dialog.
    dialog: Option<String>,
    address: Option<String>,
    /// The document of `browser-bridge` whose numbers the elements have.
    document: Option<u64>,
    /// The focused element, if the last answer that may have moved the focus has it.
    focused: Option<Target>,
    /// The number of snapshots so far, which is the id of the last one.
    snapshots: u64,
    unanswered: VecDeque<OpenCall>,
    /// Bytes of text in both maps.
    size: usize,
}

/// The element that a call's arguments refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedElement {
    /// No element.
    Nothing,
    /// An unknown one: its reference is in no snapshot, or is stale, or two references differ.
    Unknown(String),
    /// A known one.
    Element(Target),
}

/// The element of a reference.
#[derive(Debug, Clone)]
struct KnownElement {
    /// `None` if two elements have the same reference.
    target: Option<Target>,
    /// Only part of the page was shown, so its context may be elsewhere.
    is_part: bool,
}

/// A call without an answer so far.
#[derive(Debug, Clone)]
struct OpenCall {
    /// Its id, by [`call::id_value`].
    id: Option<String>,
    tool: String,
    sort: ToolEffect,
    /// Whether its answer may define elements.
    shows: bool,
    /// Whether it requests only a part of the page.
    is_part: bool,
}

/// The references that an answer shows.
#[derive(Debug, PartialEq)]
enum ShownReferences<'a> {
    /// There are new references, which can't be read.
    Hidden,
    Page(Vec<&'a str>),
    /// Those of chrome-devtools-mcp.
    Chrome(Vec<&'a str>),
    List(Vec<(String, Target)>),
    /// Elements of a document of `browser-bridge`.
    Numbered(u64, Vec<(String, Target)>),
}

/// The greatest number of elements, of bytes of their texts, and of unanswered calls that are kept.
const MAX_ELEMENTS: usize = 20_000;
const MAX_BYTES: usize = 8 << 20;
const MAX_CALLS: usize = 1000;

impl Snapshot {
    /// The elements in the text of a snapshot that shows a part of a page.
    pub fn of_part(text: &str) -> Snapshot {
        let mut snapshot = Snapshot::default();
        snapshot.add_tree(&text.lines().collect::<Vec<_>>(), true);
        snapshot
    }

    /// Reads a line of the world: an answer in any form, or an observation.
    pub fn observe(&mut self, line: &[u8]) {
        match answer::read(line) {
            WorldOutput::Nothing => {}
            WorldOutput::Unreadable => self.forget_all(),
            WorldOutput::Answer(answer) => self.take_world_answer(&answer),
        }
    }

    /// Reads a call that passes. `id` is JSON text, as in the call; `arguments` is a JSON object. Whether the tool has an
    /// effect besides what it does to a page is for the policy to know.
    pub fn passes(&mut self, id: Option<&str>, tool: &str, arguments: &str, has_effect: bool) {
        if self.unanswered.len() == MAX_CALLS {
            self.unanswered.pop_front();
            self.forget_all();
        }
        let id = id.and_then(call::id_value);
        let sort = call::sort(tool, arguments, has_effect);
        let mut call = OpenCall {
            shows: call::shows(tool, sort, arguments),
            is_part: call::is_part(sort, arguments),
            tool: tool.to_owned(),
            id,
            sort,
        };
        // If two calls have the same id, it is unknown which of them an answer belongs to.
        for twin in self.unanswered.iter_mut().filter(|other| other.id.is_some() && other.id == call.id) {
            (twin.sort, twin.shows) = (ToolEffect::Acts, false);
            (call.sort, call.shows) = (ToolEffect::Acts, false);
        }
        self.unanswered.push_back(call);
    }

    /// Reads a request to cancel a call, by its id: the call may have been carried out, and may get no answer.
    pub fn cancelled(&mut self, id: &str) {
        let Some(id) = call::id_value(id) else { return };
        if let Some(at) = self.unanswered.iter().position(|call| call.id.as_ref() == Some(&id)) {
            self.unanswered.remove(at);
            self.forget_all();
        }
    }

    /// The element that a call's arguments refer to.
    pub fn target(&self, tool: &str, arguments: &str) -> NamedElement {
        call::names((tool, &words(tool)), arguments, self)
    }

    /// The same for arguments that have been read, and a tool with a name of these words.
    pub fn target_in(&self, tool: (&str, &[String]), arguments: &str, fields: &Fields<'_>) -> NamedElement {
        call::names_in(tool, arguments, fields, self)
    }

    /// Whether the known elements are those of `browser-bridge`.
    pub fn is_numbered(&self) -> bool {
        self.document.is_some()
    }

    fn take_world_answer(&mut self, answer: &WorldAnswer) {
        if answer.is_refused && self.take_back(answer.id.as_ref()) {
            return;
        }
        let asked = self.settle(answer);
        let (values, texts) = (answer.values(), answer.texts());
        let is_source = answer.is_observation || asked.as_ref().is_some_and(|call| call.shows);
        let counts = is_source && !self.unanswered.iter().any(|call| call.sort.may_change());
        if !answer.is_observation && asked.as_ref().is_some_and(|call| call.shows || call.sort.may_change()) {
            let said = || texts.iter().rev().find_map(|text| playwright::dialog(text));
            self.dialog = if is_source { said().or_else(|| values.iter().find_map(bridge::dialog)) } else { None };
        }
        let focused = values.iter().find_map(bridge::focused).filter(|_| counts);
        if focused.is_some() || asked.as_ref().is_some_and(|call| call.sort.may_change()) {
            self.focused = focused;
        }
        let is_found = asked.as_ref().is_some_and(|call| call::is_find(&call.tool));
        let mut shown = shown(&texts, &values, is_found && !answer.failed);
        let is_change = counts && matches!(&shown[..], [ShownReferences::Page(lines)] if playwright::is_part(lines));
        self.stale(answer, &values, asked.as_ref(), is_change);
        let is_part = is_found || asked.as_ref().is_some_and(|call| call.is_part);
        match (shown.pop(), shown.is_empty()) {
            // The snapshot has been written to a file.
            (None, _) if asked.as_ref().is_some_and(|call| call.shows && call::is_snapshot(&call.tool)) => {
                self.forget()
            }
            (None, _) => {}
            (Some(ShownReferences::Page(lines)), true) if counts => self.add_tree(&lines, is_part),
            (Some(ShownReferences::Chrome(lines)), true) if counts => {
                self.replace(tree::targets(chrome::read(&lines, MAX_ELEMENTS)), false)
            }
            (Some(ShownReferences::List(list)), true) if counts => self.replace(list, is_part),
            (Some(ShownReferences::Numbered(document, list)), true) if counts => self.add_numbered(document, list),
            _ => self.forget(),
        }
        // A game carries out its calls in order, so its nodes always count.
        if is_source {
            values.iter().for_each(|value| self.add_nodes(value));
        }
    }

    /// Forgets a call that was not carried out, if it is the only one with this id. A program between us and the world
    /// answered it, so the answer tells nothing about earlier calls.
    fn take_back(&mut self, id: Option<&String>) -> bool {
        let mut same = self.unanswered.iter().enumerate().filter(|(_, call)| call.id.as_ref() == id);
        let (Some((at, _)), None) = (same.next(), same.next()) else { return false };
        self.unanswered.remove(at).is_some()
    }

    /// The call that an answer belongs to. Earlier calls that only look are settled, too: they may never be answered,
    /// and they change nothing.
    fn settle(&mut self, answer: &WorldAnswer) -> Option<OpenCall> {
        if answer.is_observation {
            return None;
        }
        let at = self.unanswered.iter().position(|call| call.id == answer.id)?;
        let later = self.unanswered.split_off(at + 1);
        let asked = self.unanswered.pop_back();
        self.unanswered.retain(|call| call.sort.may_change());
        self.unanswered.extend(later);
        asked
    }

    /// Forgets what an answered call may have changed, unless the answer itself shows the change.
    fn stale(&mut self, answer: &WorldAnswer, values: &[Value], asked: Option<&OpenCall>, is_change: bool) {
        let shows = asked.is_some_and(|call| call.shows);
        // Typing changes a page. Numbers that are bound to its document stay valid; others do, too, if the answer
        // reports no change.
        let is_typed = self.document.is_some() && asked.is_some_and(|call| call.sort == ToolEffect::Types);
        let has_changed = if is_typed { listed::has_left } else { listed::has_changed };
        let changed: Vec<bool> = values.iter().filter_map(has_changed).collect();
        let is_same = shows && !changed.is_empty() && !changed.contains(&true) && !answer.failed;
        let is_stale = match asked.map(|call| call.sort) {
            Some(ToolEffect::Leads) => true,
            Some(ToolEffect::Acts | ToolEffect::Runs) => !is_same && !is_change,
            Some(ToolEffect::Types) => (answer.failed || changed.contains(&true)) && !is_change,
            Some(ToolEffect::Looks | ToolEffect::Reads) | None => false,
        };
        let address = values.iter().find_map(listed::address);
        let is_elsewhere = address.is_some() && self.address.is_some() && address != self.address;
        if is_stale || is_elsewhere {
            self.forget();
        }
        self.address = address.or(self.address.take());
    }

    /// Forgets all references.
    pub fn forget(&mut self) {
        self.size -= self.elements.values().filter_map(|known| known.target.as_ref()).map(Target::size).sum::<usize>();
        self.elements.clear();
        self.document = None;
    }

    /// As [`Snapshot::forget`], and the focus.
    fn forget_all(&mut self) {
        self.forget();
        self.focused = None;
    }

    fn add_tree(&mut self, lines: &[&str], is_part: bool) {
        let mut items = playwright::read(lines, MAX_ELEMENTS);
        if !playwright::is_part(lines) {
            return self.replace(tree::targets(items), is_part);
        }
        playwright::fill_in(&mut items, &self.elements);
        // The surroundings of elements that are not shown may have changed, too.
        self.elements.values_mut().for_each(|known| known.is_part = true);
        self.update(tree::targets(items));
    }

    fn add_numbered(&mut self, document: u64, targets: Vec<(String, Target)>) {
        if self.document != Some(document) {
            self.forget();
        }
        self.update(targets);
        self.document = Some(document);
    }

    /// The shown elements replace those with the same keys; the others stay.
    fn update(&mut self, targets: Vec<(String, Target)>) {
        for (key, _) in &targets {
            let known = self.elements.remove(key).and_then(|known| known.target);
            self.size -= known.as_ref().map_or(0, Target::size);
        }
        self.snapshots += 1;
        self.add(targets, true);
    }

    fn replace(&mut self, targets: Vec<(String, Target)>, is_part: bool) {
        self.forget();
        self.snapshots += 1;
        self.add(targets, is_part);
    }

    fn add(&mut self, targets: Vec<(String, Target)>, mut is_part: bool) {
        is_part |= targets.len() >= MAX_ELEMENTS;
        for (key, mut target) in targets {
            target.snapshot_id = Some(format!("s{}", self.snapshots));
            if let Some(known) = self.elements.get_mut(&key) {
                if known.target.as_ref() != Some(&target) {
                    self.size -= known.target.take().as_ref().map_or(0, Target::size);
                }
                continue;
            }
            if self.elements.len() >= MAX_ELEMENTS || self.size + target.size() > MAX_BYTES {
                continue;
            }
            self.size += target.size();
            self.elements.insert(key, KnownElement { target: Some(target), is_part });
        }
    }

    fn add_nodes(&mut self, value: &Value) {
        let items = godot::read(value, MAX_ELEMENTS);
        if !items.is_empty() {
            self.snapshots += 1;
        }
        let removed = godot::removed(value).map(godot::key).collect::<Vec<_>>();
        for key in removed {
            self.size -= self.nodes.remove(&key).map_or(0, |target| target.size());
        }
        for (key, mut target) in tree::targets(items) {
            target.snapshot_id = Some(format!("s{}", self.snapshots));
            let old = self.nodes.remove(&key);
            self.size -= old.as_ref().map_or(0, Target::size);
            // A difference has only the changed fields.
            if let Some(old) = old {
                target.role = target.role.or(old.role);
                target.context = target.context.or(old.context);
            }
            if self.size + target.size() <= MAX_BYTES && self.nodes.len() < MAX_ELEMENTS {
                self.size += target.size();
                self.nodes.insert(key, target);
            }
        }
    }

    /// The element of a reference.
    fn known(&self, key: &str) -> Option<&Target> {
        let known = self.elements.get(key).filter(|_| self.unanswered.is_empty())?;
        // What is around a picture tells whose it is ("Anna"), not what it does.
        let is_named = |target: &Target| !target.name.is_empty() || target.value.is_some() || is_written(target);
        let is_enough = |target: &&Target| !known.is_part && target.context.is_some() && is_named(target);
        known.target.as_ref().filter(|target| is_enough(target) || !depends_on_context(target))
    }
}

/// Everything in an answer that looks like a snapshot or a list.
fn shown<'a>(texts: &[&'a str], values: &[Value], in_result: bool) -> Vec<ShownReferences<'a>> {
    let mut shown: Vec<ShownReferences<'_>> = Vec::new();
    for text in texts {
        match playwright::find(text, in_result) {
            AnswerPage::Nothing => {}
            AnswerPage::Hidden => shown.push(ShownReferences::Hidden),
            AnswerPage::Page(lines) => shown.push(ShownReferences::Page(lines)),
        }
        shown.extend(chrome::find(text).map(|found| found.map_or(ShownReferences::Hidden, ShownReferences::Chrome)));
    }
    let list = |value| {
        bridge::list(value, MAX_ELEMENTS).or_else(|| listed::read(value, MAX_ELEMENTS).map(ShownReferences::List))
    };
    shown.extend(values.iter().filter_map(list));
    // A list may be in the answer twice: as text and structured.
    shown.dedup();
    shown
}

/// Whether it is a field, in which a click only sets the cursor.
fn is_written(target: &Target) -> bool {
    matches!(target.role.as_deref(), Some("combobox" | "searchbox" | "spinbutton" | "textbox"))
}

/// Whether a name has no meaning of its own ("OK"), so that its surroundings count.
fn depends_on_context(target: &Target) -> bool {
    let element = Element {
        role: target.role.as_deref(),
        name: &target.name,
        value: target.value.as_deref(),
        ..Element::default()
    };
    classify(&element).is_none() && classify(&Element { context: Some("Delete?"), ..element }).is_some()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
