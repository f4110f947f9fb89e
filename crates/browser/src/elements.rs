//! The elements of a page that a person could act on, numbered: the list, the badge on a picture and the action use the
//! same number.

use crate::worlds::{Frame, IsolatedWorld};
use crate::{ActionError, Browser};
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::time::Instant;

const SCRIPT: &str = concat!(
    "(() => {",
    include_str!("scripts/members.js"),
    include_str!("scripts/naming.js"),
    include_str!("scripts/tree.js"),
    include_str!("scripts/secret.js"),
    include_str!("scripts/submitter.js"),
    include_str!("scripts/telling.js"),
    include_str!("scripts/hovers.js"),
    include_str!("scripts/needed.js"),
    "return (",
    include_str!("scripts/elements.js"),
    ")})()"
);
const LIST: &str = include_str!("scripts/list.js");

/// Which elements are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those that can be seen without scrolling.
    Viewport,
    /// All elements.
    Page,
}

/// An element that can be acted on.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// Its number, from 1. It is kept as long as the document exists.
    pub index: u32,
    /// The browser's own role: `button`, `link`, `textbox`; `clickable` if it has none but listens to clicks.
    pub role: String,
    /// The browser's own name for it, at most 120 characters; a shortened name ends with `…`.
    pub name: String,
    /// The content of a field, at most 120 characters; never a secret.
    pub value: Option<String>,
    /// The labels of the options of a `<select>`, at most 200.
    pub options: Vec<String>,
    /// Where it is, if others have the same role and name: `row "Anna"`, or `in "Kettle"` for another part of the page. Without a name, first
    /// what its picture is called: `icon "trash" row "Anna"`.
    pub place: Option<String>,
    /// The name is only the text that the empty field shows.
    pub is_placeholder: bool,
    /// The name of the button that Enter presses in this field.
    pub enters: Option<String>,
    /// Its position in its frame: x, y, width and height in CSS pixels.
    pub bounds: [i64; 4],
    /// `disabled`, `off-screen`, `covered`, `checked`, `mixed`, `hover`, `expanded`, `multiline`, `multiple`, `required`, `invalid`, `focused`.
    pub marks: Vec<String>,
    /// The origin of the document that it is in, as the browser serialises it: `null` if it has none of its own.
    pub origin: String,
}

/// The elements of a page.
#[derive(Debug, Clone)]
pub struct Elements {
    /// In the order of the document.
    pub items: Vec<Element>,
}

/// The element numbers of one document.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The load of the document.
    loader: String,
    /// The highest number of earlier documents: no number is used twice.
    before: u32,
    /// Numbers by a frame's world and the number there.
    given: HashMap<(IsolatedWorld, u32), u32>,
    /// The worlds of the frames, each with the count of page events when it was last known to exist.
    pub(crate) worlds: HashMap<Frame, (IsolatedWorld, u64)>,
    /// The browser's ids of their documents.
    documents: HashMap<IsolatedWorld, i64>,
}

/// Nodes that listen, by the browser's ids.
struct ListeningNodes {
    clicked: Vec<i64>,
    hovered: Vec<i64>,
}

impl Numbers {
    /// The number of an element, which gets one if it has none.
    pub(crate) fn of(&mut self, world: &IsolatedWorld, number: u32) -> u32 {
        let next = self.last().saturating_add(1);
        *self.given.entry((world.clone(), number)).or_insert(next)
    }

    /// The highest number in use.
    fn last(&self) -> u32 {
        self.before.saturating_add(u32::try_from(self.given.len()).unwrap_or(u32::MAX))
    }

    /// All elements: their worlds, their numbers there, and here.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&IsolatedWorld, u32, u32)> {
        self.given.iter().map(|((world, number), index)| (world, *number, *index))
    }

    /// The world of an element, and its number there.
    pub(crate) fn find(&self, index: u32) -> Option<(IsolatedWorld, u32)> {
        self.given.iter().find(|(_, given)| **given == index).map(|(place, _)| place.clone())
    }
}

/// What the script of a list returns: the browser's ids of nodes that it does not know, or the list.
#[derive(Deserialize)]
struct ListResult {
    #[serde(default)]
    unknown: Vec<i64>,
    #[serde(default)]
    items: Vec<ListedElement>,
    #[serde(default)]
    opaque: usize,
    #[serde(default)]
    origin: String,
}

#[derive(Deserialize)]
struct ListedElement {
    number: u32,
    role: String,
    name: String,
    #[serde(rename = "box")]
    bounds: [i64; 4],
    #[serde(default)]
    marks: Vec<String>,
    value: Option<String>,
    #[serde(default)]
    options: Vec<String>,
    place: Option<String>,
    #[serde(default)]
    placeholder: bool,
    enters: Option<String>,
}

impl ListedElement {
    fn element(self, index: u32, origin: String) -> Element {
        let ListedElement { role, name, value, options, place, placeholder, enters, bounds, marks, .. } = self;
        let is_placeholder = placeholder;
        Element { index, role, name, value, options, place, is_placeholder, enters, bounds, marks, origin }
    }
}

#[derive(Deserialize)]
struct Listeners {
    listeners: Vec<Listener>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listener {
    #[serde(rename = "type")]
    kind: String,
    backend_node_id: Option<i64>,
}

#[derive(Deserialize)]
struct DescribeNodeResult {
    node: Node,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    backend_node_id: i64,
    #[serde(default)]
    shadow_roots: Vec<ShadowRoot>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShadowRoot {
    #[serde(rename = "shadowRootType")]
    kind: String,
    backend_node_id: i64,
}

/// How many custom elements are checked for a closed shadow root.
const OPAQUE: usize = 100;

/// Events caused by a mouse that comes to be over an element.
const HOVERS: [&str; 2] = ["mouseenter", "pointerenter"];

/// Events caused by a person's click.
const CLICKS: [&str; 6] = ["click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart"];

impl Browser {
    /// The elements of the active page, in all its frames.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn elements(&mut self, scope: Scope, until: Instant) -> Result<Elements, ActionError> {
        let loader = self.page()?.document.loader.clone();
        if self.numbers.loader != loader {
            let before = self.numbers.last();
            self.numbers = Numbers { loader, before, ..Numbers::default() };
        }
        let frames = self.frames(until)?;
        let mut items = Vec::new();
        for frame in frames {
            let (world, listed) = match self.list(&frame, scope, until) {
                Ok(found) => found,
                // A frame may disappear while the others are listed.
                Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => continue,
                Err(fault) => return Err(fault),
            };
            for item in listed.items {
                let index = self.numbers.of(&world, item.number);
                items.push(item.element(index, listed.origin.clone()));
            }
        }
        self.release()?;
        Ok(Elements { items })
    }

    /// The highest number given to an element.
    pub fn last_number(&self) -> u32 {
        self.numbers.last()
    }

    /// Continues the numbers after those of another browser.
    pub fn count_on(&mut self, from: u32) {
        self.numbers.before = from;
    }

    /// Whether elements of this load of a document have numbers.
    pub(crate) fn has_numbers_of(&self, loader: &str) -> bool {
        self.numbers.loader == loader
    }

    /// The element with this number: its world, and its object there; `None` if it no longer exists.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub(crate) fn object(
        &mut self,
        index: u32,
        until: Instant,
    ) -> Result<Option<(IsolatedWorld, String)>, ActionError> {
        let Some((world, number)) = self.numbers.find(index) else { return Ok(None) };
        let script = "(number) => { const found = globalThis[Symbol.for(\"pipewright\")]?.elements?.get(number)?.deref(); return found?.isConnected ? found : null; }";
        let found = self.run(&world, script, &json!([{"value": number}]), false, until);
        match found {
            Ok(remote) => Ok(remote.object_id.map(|object| (world, object))),
            // The document of this world has gone.
            Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn list(
        &mut self,
        frame: &Frame,
        scope: Scope,
        until: Instant,
    ) -> Result<(IsolatedWorld, ListResult), ActionError> {
        let world = self.world(frame, until)?;
        let [clicked, hovered] = self.listening_nodes(&world, [&CLICKS, &HOVERS], until)?;
        let nodes = ListeningNodes { clicked, hovered };
        let mut listed = self.list_world(&world, scope, &nodes, &[], until)?;
        if listed.opaque > 0 {
            let roots = self.closed_roots(&world, listed.opaque.min(OPAQUE), until)?;
            if !roots.is_empty() {
                listed = self.list_world(&world, scope, &nodes, &roots, until)?;
            }
        }
        Ok((world, listed))
    }

    /// `roots` are closed shadow roots, as objects of the world.
    fn list_world(
        &mut self,
        world: &IsolatedWorld,
        scope: Scope,
        ListeningNodes { clicked, hovered }: &ListeningNodes,
        roots: &[String],
        until: Instant,
    ) -> Result<ListResult, ActionError> {
        let scope = if scope == Scope::Viewport { "viewport" } else { "page" };
        let mut fresh: Option<Vec<(i64, String)>> = None;
        // The function may have to be kept first, and nodes to be looked up.
        for _ in 0..3 {
            let ids: Option<Vec<i64>> = fresh.as_ref().map(|fresh| fresh.iter().map(|(id, _)| *id).collect());
            let values =
                [json!(scope), json!(clicked), json!(hovered), json!(ids)].map(|value| json!({"value": value}));
            let objects =
                fresh.iter().flatten().map(|(_, object)| object).chain(roots).map(|id| json!({"objectId": id}));
            let arguments = values.into_iter().chain(objects).collect();
            let Some(text) = self.run(world, LIST, &arguments, true, until)?.read::<Option<String>>()? else {
                // Compiled once per document, not per list.
                let keep = format!("() => {{ (globalThis[Symbol.for(\"pipewright\")] ??= {{}}).list = {SCRIPT}; }}");
                self.run(world, &keep, &json!([]), true, until)?;
                continue;
            };
            let listed: ListResult =
                serde_json::from_str(&text).map_err(|error| ActionError::Script(error.to_string()))?;
            if listed.unknown.is_empty() {
                return Ok(listed);
            }
            // A page may have thousands, and each takes a message.
            fresh = Some(self.resolve_all(&listed.unknown, world, until)?);
        }
        Err(ActionError::Script("the list was not kept".to_owned()))
    }

    /// The closed shadow roots of the custom elements that the last list found in its world.
    pub(crate) fn closed_roots(
        &mut self,
        world: &IsolatedWorld,
        hosts: usize,
        until: Instant,
    ) -> Result<Vec<String>, ActionError> {
        let mut roots = Vec::new();
        for index in 0..hosts {
            let host = self.run(
                world,
                "(index) => globalThis[Symbol.for(\"pipewright\")].opaque[index]",
                &json!([{"value": index}]),
                false,
                until,
            )?;
            let Some(host) = host.object_id else { continue };
            let described: Result<DescribeNodeResult, ActionError> =
                self.call(Some(&world.session), "DOM.describeNode", &json!({"objectId": host}), until);
            // The element may have gone.
            let Ok(DescribeNodeResult { node }) = described else { continue };
            for root in node.shadow_roots.iter().filter(|root| root.kind == "closed") {
                roots.extend(self.resolve(root.backend_node_id, world, until));
            }
        }
        Ok(roots)
    }

    /// The browser's node id of a world's document.
    fn document_node(&mut self, world: &IsolatedWorld, until: Instant) -> Result<Option<i64>, ActionError> {
        if let Some(node) = self.numbers.documents.get(world) {
            return Ok(Some(*node));
        }
        let document = self.run(world, "() => document", &json!([]), false, until)?;
        let Some(document) = document.object_id else { return Ok(None) };
        let described: DescribeNodeResult =
            self.call(Some(&world.session), "DOM.describeNode", &json!({"objectId": document}), until)?;
        self.numbers.documents.insert(world.clone(), described.node.backend_node_id);
        Ok(Some(described.node.backend_node_id))
    }

    /// For each of these groups of events, the elements of a world that listen to any of them, by the browser's ids, including
    /// those in closed shadow roots.
    pub(crate) fn listening_nodes<const N: usize>(
        &mut self,
        world: &IsolatedWorld,
        groups: [&[&str]; N],
        until: Instant,
    ) -> Result<[Vec<i64>; N], ActionError> {
        let mut found = [const { Vec::new() }; N];
        let Some(node) = self.document_node(world, until)? else { return Ok(found) };
        // The document is the page's own object: asking through another world's object crashes Chromium 156 now and
        // then.
        let Some(document) = self.page_object(node, world, until)? else { return Ok(found) };
        let asked = json!({"objectId": document, "depth": -1, "pierce": true});
        let listeners = self.call(Some(&world.session), "DOMDebugger.getEventListeners", &asked, until);
        self.send(&world.session, "Runtime.releaseObject", &json!({"objectId": document}))?;
        let Listeners { listeners } = listeners?;
        for (events, found) in groups.into_iter().zip(&mut found) {
            let meant = listeners.iter().filter(|listener| events.contains(&listener.kind.as_str()));
            *found = meant.filter_map(|listener| listener.backend_node_id).collect();
            found.sort_unstable();
            found.dedup();
        }
        Ok(found)
    }
}
