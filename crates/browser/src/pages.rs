//! What is known of the browser's pages: kept from its events, in the order in which they come.

use crate::interception::Denied;
use crate::requests::Requests;
use crate::wire::Event;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// The pages, in the order in which they were opened, and the frames that have processes of their own.
#[derive(Debug, Default)]
pub struct Pages {
    pages: Vec<Page>,
    /// The sessions of frames with processes of their own; the session that each belongs to, and the frame.
    frames: HashMap<String, (String, String)>,
}

/// One page: a tab.
#[derive(Debug)]
pub struct Page {
    /// The target's id.
    pub id: String,
    /// Commands to it are sent in this session.
    pub session: String,
    /// As its title is now.
    pub title: String,
    /// The page that opened it.
    pub opener: Option<String>,
    /// Its document.
    pub document: Document,
    /// What was loaded before, and what has changed without a new document.
    pub navigations: Navigations,
    /// What holds it up until somebody answers.
    pub dialog: Option<Dialog>,
    /// Its process has ended; only a new document brings it back.
    pub is_crashed: bool,
    /// Where it was going, but may not.
    pub(crate) refused: Option<Denied>,
    network: Network,
    pub(crate) requests: Requests,
    /// The status of the last answer that is a document, and its load: it comes before the document is shown.
    answered: Option<(String, u16)>,
}

/// What a page shows.
#[derive(Debug, Default, Clone)]
pub struct Document {
    /// Its frame.
    pub frame: String,
    /// The load that brought it; another one is another document.
    pub loader: String,
    /// Its address.
    pub url: String,
    /// The status of the answer that it came with, where it came over HTTP.
    pub status: Option<u16>,
    /// `DOMContentLoaded` has been.
    pub is_parsed: bool,
    /// `load` has been.
    pub is_loaded: bool,
}

/// How often the page has shown something else.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Navigations {
    /// With a new document.
    pub full: u64,
    /// Without one: `history.pushState`, or another fragment.
    pub within: u64,
}

/// `alert`, `confirm`, `prompt` or `beforeunload`.
#[derive(Debug, Clone, Deserialize)]
pub struct Dialog {
    /// Which of them.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it asks.
    pub message: String,
    /// What a `prompt` suggests.
    #[serde(rename = "defaultPrompt", default)]
    pub default: String,
}

/// What a page is loading.
#[derive(Debug, Default)]
struct Network {
    under_way: HashSet<String>,
    quiet_since: Option<Instant>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_id: String,
    #[serde(rename = "type")]
    kind: String,
    title: String,
    url: String,
    opener_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: String,
    #[serde(default)]
    waiting_for_debugger: bool,
    target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfTarget {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfSession {
    session_id: String,
}

#[derive(Deserialize)]
struct Changed {
    #[serde(rename = "targetInfo")]
    info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    id: String,
    parent_id: Option<String>,
    loader_id: String,
    url: String,
    #[serde(default)]
    url_fragment: String,
}

#[derive(Deserialize)]
struct Navigated {
    frame: Frame,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Within {
    frame_id: String,
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lifecycle {
    frame_id: String,
    loader_id: String,
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfRequest {
    request_id: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    loader_id: Option<String>,
    frame_id: Option<String>,
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Response {
    status: u16,
}

/// A session that has begun, and what has to be said there.
#[derive(Debug, PartialEq, Eq)]
pub struct Begun {
    /// The session.
    pub session: String,
    /// It is that of a page or of a frame, which are listened to; of anything else nothing is wanted.
    pub is_wanted: bool,
}

impl Pages {
    /// All of them.
    pub fn all(&self) -> &[Page] {
        &self.pages
    }

    /// The page of a session, also of a session of one of its frames.
    pub fn of_session(&self, session: &str) -> Option<&Page> {
        let session = self.root(session);
        self.pages.iter().find(|page| page.session == session)
    }

    fn of_session_mut(&mut self, session: &str) -> Option<&mut Page> {
        let session = self.root(session).to_owned();
        self.pages.iter_mut().find(|page| page.session == session)
    }

    pub(crate) fn page_mut(&mut self, id: &str) -> Option<&mut Page> {
        self.pages.iter_mut().find(|page| page.id == id)
    }

    /// A session, and those of the frames in its page that have processes of their own.
    pub(crate) fn sessions_below(&self, session: &str) -> Vec<String> {
        let mut below: Vec<String> = self.frames.keys().filter(|frame| self.root(frame) == session).cloned().collect();
        // The order is the same each time.
        below.sort_unstable();
        below.insert(0, session.to_owned());
        below
    }

    /// The session around that of a frame, and the frame; `None` for a page's own.
    pub(crate) fn around(&self, session: &str) -> Option<(String, String)> {
        self.frames.get(session).cloned()
    }

    /// A session, that around it, and so on to that of the page.
    fn outwards<'a>(&'a self, session: &'a str) -> impl Iterator<Item = &'a str> {
        // No session is put below itself, so there is an end.
        std::iter::successors(Some(session), |session| Some(self.frames.get(*session)?.0.as_str()))
    }

    /// The session of the page that a frame's session belongs to.
    fn root<'a>(&'a self, session: &'a str) -> &'a str {
        self.outwards(session).last().unwrap_or(session)
    }

    /// A page loads something else, in a new process if the old one has crashed.
    pub(crate) fn load(&mut self, id: &str) {
        if let Some(page) = self.page_mut(id) {
            page.is_crashed = false;
        }
    }

    /// The titles of pages, by their ids.
    pub(crate) fn set_titles(&mut self, titles: impl IntoIterator<Item = (String, String)>) {
        for (id, title) in titles {
            if let Some(page) = self.pages.iter_mut().find(|page| page.id == id) {
                page.title = title;
            }
        }
    }

    /// A document is not loaded into a frame.
    pub(crate) fn refuse(&mut self, session: &str, frame: &str, denied: Denied) {
        if let Some(page) = self.of_session_mut(session).filter(|page| page.document.frame == frame) {
            page.refused = Some(denied);
        }
    }

    /// A page that was there before its events were taken: what it shows, and whether that is loaded.
    pub(crate) fn adopt(&mut self, id: &str, shown: Document, now: Instant) {
        let Some(page) = self.pages.iter_mut().find(|page| page.id == id) else { return };
        page.network.quiet_since = (shown.is_loaded && page.network.under_way.is_empty()).then_some(now);
        page.document = shown;
    }

    /// A page is about to go elsewhere.
    pub(crate) fn depart(&mut self, id: &str) {
        if let Some(page) = self.pages.iter_mut().find(|page| page.id == id) {
            page.refused = None;
        }
    }

    /// Takes an event. Gives a session that has begun with it.
    pub fn take(&mut self, event: &Event, now: Instant) -> Option<Begun> {
        let Event { session, method, params } = event;
        match method.as_str() {
            "Target.attachedToTarget" => return self.attach(read(params)?, session.as_deref(), now),
            "Target.detachedFromTarget" => {
                let OfSession { session_id } = read(params)?;
                self.frames.remove(&session_id);
                self.pages.retain(|page| page.session != session_id);
            }
            "Target.targetInfoChanged" => {
                let Changed { info } = read(params)?;
                let page = self.pages.iter_mut().find(|page| page.id == info.target_id)?;
                page.title = info.title;
            }
            "Target.targetCrashed" => {
                let OfTarget { target_id } = read(params)?;
                self.pages.iter_mut().find(|page| page.id == target_id)?.is_crashed = true;
            }
            _ => {
                let session = session.as_deref()?;
                let is_root = self.root(session) == session;
                self.of_session_mut(session)?.take(method, params, is_root, now);
            }
        }
        None
    }

    fn attach(&mut self, attached: Attached, parent: Option<&str>, now: Instant) -> Option<Begun> {
        let Attached { session_id: session, target_info: info, waiting_for_debugger: is_new } = attached;
        let (is_page, is_frame) = (info.kind == "page", info.kind == "iframe");
        let parent = parent.filter(|parent| self.outwards(parent).all(|outer| outer != session));
        if let (true, Some(parent)) = (is_frame, parent) {
            self.frames.insert(session.clone(), (parent.to_owned(), info.target_id));
        } else if is_page {
            let document = Document {
                url: info.url,
                frame: info.target_id.clone(),
                // One that was there before is taken as loaded until it says otherwise.
                is_parsed: !is_new,
                is_loaded: !is_new,
                ..Document::default()
            };
            self.pages.push(Page {
                id: info.target_id,
                session: session.clone(),
                title: info.title,
                opener: info.opener_id,
                document,
                navigations: Navigations::default(),
                dialog: None,
                is_crashed: false,
                refused: None,
                network: Network { quiet_since: (!is_new).then_some(now), ..Network::default() },
                requests: Requests::default(),
                answered: None,
            });
        }
        Some(Begun { session, is_wanted: is_page || is_frame })
    }
}

impl Page {
    /// Since when it has loaded nothing; `None` while it does.
    pub fn quiet_since(&self) -> Option<Instant> {
        self.network.quiet_since
    }

    /// `is_own` says that the event is of the page's own session, not of a frame's.
    fn take(&mut self, method: &str, params: &RawValue, is_own: bool, now: Instant) -> Option<()> {
        self.requests.take(method, params);
        match method {
            "Page.frameNavigated" if is_own => {
                let Navigated { frame, kind } = read(params)?;
                if frame.parent_id.is_none() {
                    self.show(frame);
                    // The browser kept this page complete and sends no more lifecycle events for it.
                    if kind == "BackForwardCacheRestore" {
                        (self.document.is_parsed, self.document.is_loaded) = (true, true);
                        self.network.quiet_since = Some(now);
                    }
                }
            }
            "Page.navigatedWithinDocument" if is_own => {
                let Within { frame_id, url } = read(params)?;
                if frame_id == self.document.frame {
                    self.document.url = url;
                    self.navigations.within += 1;
                }
            }
            "Page.lifecycleEvent" if is_own => self.live(read(params)?, now),
            "Page.javascriptDialogOpening" => self.dialog = Some(read(params)?),
            "Page.javascriptDialogClosed" => self.dialog = None,
            "Inspector.targetCrashed" if is_own => self.is_crashed = true,
            "Network.requestWillBeSent" => {
                let request: OfRequest = read(params)?;
                // What goes on for ever by design is no reason to wait.
                if !matches!(request.kind.as_deref(), Some("EventSource" | "WebSocket" | "Ping")) {
                    self.network.under_way.insert(request.request_id);
                    self.network.quiet_since = None;
                }
            }
            "Network.responseReceived" => {
                let OfRequest { kind, loader_id, response, frame_id, .. } = read(params)?;
                let is_document =
                    kind.as_deref() == Some("Document") && frame_id.as_ref() == Some(&self.document.frame);
                if is_own && is_document {
                    self.answered = loader_id.zip(response.map(|response| response.status));
                }
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                let OfRequest { request_id, .. } = read(params)?;
                if self.network.under_way.remove(&request_id) && self.network.under_way.is_empty() {
                    self.network.quiet_since = Some(now);
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Another document is there.
    fn show(&mut self, frame: Frame) {
        self.navigations.full += 1;
        self.is_crashed = false;
        // Its beginning may have been told before.
        let is_begun = self.document.loader == frame.loader_id;
        let (is_parsed, is_loaded) = (is_begun && self.document.is_parsed, is_begun && self.document.is_loaded);
        let status = self.answered.as_ref().filter(|(loader, _)| *loader == frame.loader_id).map(|(_, status)| *status);
        let url = frame.url + &frame.url_fragment;
        self.document = Document { frame: frame.id, loader: frame.loader_id, url, status, is_parsed, is_loaded };
    }

    fn live(&mut self, Lifecycle { frame_id, loader_id, name }: Lifecycle, now: Instant) {
        if frame_id != self.document.frame {
            return;
        }
        match name.as_str() {
            // The first of a load: what was under way belongs to the document before.
            "init" => {
                // The document's own request has the number of its load.
                self.network.under_way.retain(|request| *request == loader_id);
                self.network.quiet_since = self.network.under_way.is_empty().then_some(now);
                self.document.loader = loader_id;
                (self.document.status, self.document.is_parsed, self.document.is_loaded) = (None, false, false);
            }
            "DOMContentLoaded" => self.document.is_parsed = true,
            "load" => (self.document.is_parsed, self.document.is_loaded) = (true, true),
            _ => {}
        }
    }
}

fn read<T: DeserializeOwned>(params: &RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}
