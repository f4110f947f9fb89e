//! Which element a call means: what a world has shown of its elements, and what calls name them by.
//!
//! A reference (Playwright's `e12`, the number of a list) means something only in the numbering that it was given in. It is never
//! judged by an element of another page or of an older numbering, so what is known is forgotten
//!
//! - with each new snapshot or list, which takes its place; but a list of `browser-bridge` adds to what others of the same document have
//!   shown, since a document's numbers are kept;
//! - when a new numbering is hidden: it stands in a file, or where a page's own words may stand that look like one;
//! - when what looks like a snapshot does not count as one (below);
//! - when a call was answered that leads elsewhere (navigate, back, a tab), without a snapshot in its answer;
//! - when a call was answered that acts (a click, a key, a script, whatever isn't known), unless its answer says that nothing has
//!   changed. One that only looks keeps what is known; so does one that types, unless its answer tells of a change, since
//!   a form has many fields, and its numbering is the server's until it gives a new one; and so does one that was refused
//!   before anybody carried it out, since whoever called chooses anew from the same page;
//! - when a line can't be read, or the page's address is another one.
//!
//! An element whose name says nothing of its own ("OK", an icon) is only known with what stands around it: not from part of a page,
//! nor from a list that tells no more.
//!
//! A snapshot counts only in the answer to a call of a tool that shows pages ([`call::shows`]), matched by the call's id, or in an
//! observation, which a world makes by itself; and only if no other call that may change the page was unanswered when it came. The
//! rest may be anybody's words: an `echo`, a search result, a file.
//!
//! While a call isn't answered, nothing is known: it may lead elsewhere just then. An answer settles the calls before it that only
//! look; one that may change the page is in flight until it is answered or cancelled.

mod answer;
mod bridge;
mod call;
mod chrome;
pub(super) mod godot;
mod listed;
mod playwright;
mod selector;
mod tree;

use super::detector::{Element, classify};
use super::target::Target;
use answer::{Answer, WorldOutput};
use call::Sort;
use playwright::Seen;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};

/// What a world has shown of its elements.
#[derive(Debug, Default)]
pub struct Snapshot {
    elements: HashMap<String, Known>,
    /// Godot's, by path.
    nodes: HashMap<String, Target>,
    /// The message of the browser's dialog that is open.
    dialog: Option<String>,
    address: Option<String>,
    /// That of `browser-bridge` whose numbers the elements have.
    document: Option<u64>,
    /// What has the focus, where the last answer that may have moved it tells.
    focused: Option<Target>,
    /// How many have been heard: the last one's id.
    heard: u64,
    unanswered: VecDeque<Call>,
    /// Bytes of text in both maps.
    size: usize,
}

/// What a call's arguments name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// No element.
    Nothing,
    /// One of which nothing is known: by a reference that no snapshot has shown, or a stale one, or by two that differ.
    Unknown(String),
    /// This one.
    Element(Target),
}

/// An element that a reference stands for.
#[derive(Debug)]
struct Known {
    /// `None` where two have the same reference.
    target: Option<Target>,
    /// Only part of the page was shown, so its context may be elsewhere.
    is_part: bool,
}

/// A call that waits for its answer.
#[derive(Debug)]
struct Call {
    /// Its value, as [`call::id_value`] has it.
    id: Option<String>,
    tool: String,
    sort: Sort,
    /// Its answer may define elements.
    shows: bool,
    /// It asks for part of the page only.
    is_part: bool,
}

/// What an answer shows of references.
#[derive(Debug, PartialEq)]
enum Shown<'a> {
    /// They are given anew, and it can't be told how.
    Hidden,
    Page(Vec<&'a str>),
    /// chrome-devtools-mcp's.
    Chrome(Vec<&'a str>),
    List(Vec<(String, Target)>),
    /// Elements of a document of `browser-bridge`.
    Numbered(u64, Vec<(String, Target)>),
}

/// So many elements are kept, so many bytes of their texts, and so many calls that nobody answers.
const MOST: usize = 20_000;
const MOST_BYTES: usize = 8 << 20;
const MOST_CALLS: usize = 1000;

impl Snapshot {
    /// Looks at a line that the world said, in any form of answer; also at an observation.
    pub fn observe(&mut self, line: &[u8]) {
        match answer::read(line) {
            WorldOutput::Nothing => {}
            WorldOutput::Unreadable => self.lose(),
            WorldOutput::Answer(answer) => self.learn(&answer),
        }
    }

    /// Looks at a call that passes. `id` is JSON text, as it stands in the call; `arguments` is a JSON object.
    pub fn passes(&mut self, id: Option<&str>, tool: &str, arguments: &str) {
        if self.unanswered.len() == MOST_CALLS {
            self.unanswered.pop_front();
            self.lose();
        }
        let id = id.and_then(call::id_value);
        let sort = call::sort(tool, arguments);
        let mut call = Call {
            shows: call::shows(tool, sort, arguments),
            is_part: call::is_part(sort, arguments),
            tool: tool.to_owned(),
            id,
            sort,
        };
        // Which of two with one id an answer is to can't be told.
        for twin in self.unanswered.iter_mut().filter(|other| other.id.is_some() && other.id == call.id) {
            (twin.sort, twin.shows) = (Sort::Acts, false);
            (call.sort, call.shows) = (Sort::Acts, false);
        }
        self.unanswered.push_back(call);
    }

    /// Looks at a request to cancel a call, by its id: it may have been carried out, and need not be answered.
    pub fn cancelled(&mut self, id: &str) {
        let Some(id) = call::id_value(id) else { return };
        if let Some(at) = self.unanswered.iter().position(|call| call.id.as_ref() == Some(&id)) {
            self.unanswered.remove(at);
            self.lose();
        }
    }

    /// What a call's arguments name.
    pub fn target(&self, tool: &str, arguments: &str) -> Named {
        call::names(tool, arguments, self)
    }

    /// What has the focus.
    pub fn focused(&self) -> Option<&Target> {
        self.focused.as_ref().filter(|_| self.unanswered.is_empty())
    }

    /// Whether the elements that are known are `browser-bridge`'s.
    pub fn is_numbered(&self) -> bool {
        self.document.is_some()
    }

    fn learn(&mut self, answer: &Answer) {
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
        let is_change = counts && matches!(&shown[..], [Shown::Page(lines)] if playwright::is_part(lines));
        self.stale(answer, &values, asked.as_ref(), is_change);
        let is_part = is_found || asked.as_ref().is_some_and(|call| call.is_part);
        match (shown.pop(), shown.is_empty()) {
            // It has been written into a file.
            (None, _) if asked.as_ref().is_some_and(|call| call.shows && call::is_snapshot(&call.tool)) => {
                self.forget()
            }
            (None, _) => {}
            (Some(Shown::Page(lines)), true) if counts => self.see(&lines, is_part),
            (Some(Shown::Chrome(lines)), true) if counts => {
                self.replace(tree::targets(chrome::read(&lines, MOST)), false)
            }
            (Some(Shown::List(list)), true) if counts => self.replace(list, is_part),
            (Some(Shown::Numbered(document, list)), true) if counts => self.see_numbered(document, list),
            _ => self.forget(),
        }
        // A game carries out its calls in order.
        if is_source {
            values.iter().for_each(|value| self.see_nodes(value));
        }
    }

    /// Forgets a call that nobody has carried out, if it is the only one with this id. Its answer came from somebody between, so it
    /// tells nothing of the calls before it.
    fn take_back(&mut self, id: Option<&String>) -> bool {
        let mut same = self.unanswered.iter().enumerate().filter(|(_, call)| call.id.as_ref() == id);
        let (Some((at, _)), None) = (same.next(), same.next()) else { return false };
        self.unanswered.remove(at).is_some()
    }

    /// The call that an answer is to. Those before it that only look are settled, too: nobody may answer them any more, and they
    /// change nothing.
    fn settle(&mut self, answer: &Answer) -> Option<Call> {
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

    /// Forgets what an answered call may have changed, but where the answer itself shows what has.
    fn stale(&mut self, answer: &Answer, values: &[Value], asked: Option<&Call>, is_change: bool) {
        let shows = asked.is_some_and(|call| call.shows);
        // What is typed changes a page. Numbers that are bound to its document stay, as others do where the answer tells nothing.
        let is_typed = self.document.is_some() && asked.is_some_and(|call| call.sort == Sort::Types);
        let has_changed = if is_typed { listed::has_left } else { listed::has_changed };
        let changed: Vec<bool> = values.iter().filter_map(has_changed).collect();
        let is_same = shows && !changed.is_empty() && !changed.contains(&true) && !answer.failed;
        let is_stale = match asked.map(|call| call.sort) {
            Some(Sort::Leads) => true,
            Some(Sort::Acts | Sort::Runs) => !is_same && !is_change,
            Some(Sort::Types) => (answer.failed || changed.contains(&true)) && !is_change,
            Some(Sort::Looks | Sort::Reads) | None => false,
        };
        let address = values.iter().find_map(listed::address);
        let is_elsewhere = address.is_some() && self.address.is_some() && address != self.address;
        if is_stale || is_elsewhere {
            self.forget();
        }
        self.address = address.or(self.address.take());
    }

    /// Nothing is known of any reference.
    pub fn forget(&mut self) {
        self.size -= self.elements.values().filter_map(|known| known.target.as_ref()).map(Target::size).sum::<usize>();
        self.elements.clear();
        self.document = None;
    }

    /// As [`Snapshot::forget`], where what has the focus isn't known either.
    fn lose(&mut self) {
        self.forget();
        self.focused = None;
    }

    fn see(&mut self, lines: &[&str], is_part: bool) {
        let mut items = playwright::read(lines, MOST);
        if !playwright::is_part(lines) {
            return self.replace(tree::targets(items), is_part);
        }
        playwright::fill_in(&mut items, &self.elements);
        // Where an element stands that isn't told of may have changed as well.
        self.elements.values_mut().for_each(|known| known.is_part = true);
        self.update(tree::targets(items));
    }

    fn see_numbered(&mut self, document: u64, targets: Vec<(String, Target)>) {
        if self.document != Some(document) {
            self.forget();
        }
        self.update(targets);
        self.document = Some(document);
    }

    /// Those that are shown take the place of what was known of them; the others stay.
    fn update(&mut self, targets: Vec<(String, Target)>) {
        for (key, _) in &targets {
            let known = self.elements.remove(key).and_then(|known| known.target);
            self.size -= known.as_ref().map_or(0, Target::size);
        }
        self.heard += 1;
        self.add(targets, true);
    }

    fn replace(&mut self, targets: Vec<(String, Target)>, is_part: bool) {
        self.forget();
        self.heard += 1;
        self.add(targets, is_part);
    }

    fn add(&mut self, targets: Vec<(String, Target)>, mut is_part: bool) {
        is_part |= targets.len() >= MOST;
        for (key, mut target) in targets {
            target.snapshot_id = Some(format!("s{}", self.heard));
            if let Some(known) = self.elements.get_mut(&key) {
                if known.target.as_ref() != Some(&target) {
                    self.size -= known.target.take().as_ref().map_or(0, Target::size);
                }
                continue;
            }
            if self.elements.len() >= MOST || self.size + target.size() > MOST_BYTES {
                continue;
            }
            self.size += target.size();
            self.elements.insert(key, Known { target: Some(target), is_part });
        }
    }

    fn see_nodes(&mut self, value: &Value) {
        let items = godot::read(value, MOST);
        if !items.is_empty() {
            self.heard += 1;
        }
        let removed = godot::removed(value).map(godot::key).collect::<Vec<_>>();
        for key in removed {
            self.size -= self.nodes.remove(&key).map_or(0, |target| target.size());
        }
        for (key, mut target) in tree::targets(items) {
            target.snapshot_id = Some(format!("s{}", self.heard));
            let old = self.nodes.remove(&key);
            self.size -= old.as_ref().map_or(0, Target::size);
            // A difference has only the fields that differ.
            if let Some(old) = old {
                target.role = target.role.or(old.role);
                target.context = target.context.or(old.context);
            }
            if self.size + target.size() <= MOST_BYTES && self.nodes.len() < MOST {
                self.size += target.size();
                self.nodes.insert(key, target);
            }
        }
    }

    /// What a reference stands for.
    fn known(&self, key: &str) -> Option<&Target> {
        let known = self.elements.get(key).filter(|_| self.unanswered.is_empty())?;
        let is_told = |target: &&Target| !known.is_part && target.context.is_some();
        known.target.as_ref().filter(|target| is_told(target) || !depends_on_context(target))
    }
}

/// What an answer says that looks like a snapshot or a list, whoever has written it.
fn shown<'a>(texts: &[&'a str], values: &[Value], in_result: bool) -> Vec<Shown<'a>> {
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for text in texts {
        match playwright::find(text, in_result) {
            Seen::Nothing => {}
            Seen::Hidden => shown.push(Shown::Hidden),
            Seen::Page(lines) => shown.push(Shown::Page(lines)),
        }
        shown.extend(chrome::find(text).map(|found| found.map_or(Shown::Hidden, Shown::Chrome)));
    }
    let list = |value| bridge::list(value, MOST).or_else(|| listed::read(value, MOST).map(Shown::List));
    shown.extend(values.iter().filter_map(list));
    // A list may be there twice: as text and structured.
    shown.dedup();
    shown
}

/// Whether a name says nothing of its own ("OK"), so that what stands around it counts.
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
