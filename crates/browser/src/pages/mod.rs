//! The state of the browser's pages, kept from its events in order.

mod page;

use crate::interception::DeniedAddress;
use crate::requests::NetworkRequest;
use crate::wire::Event;
pub use page::{Dialog, Document, Navigations, Page};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::time::Instant;

/// The pages, in the order in which they were opened, and the frames with their own processes.
#[derive(Debug, Default)]
pub struct Pages {
    pages: Vec<Page>,
    /// The request that has ended with the last event.
    ended: Option<NetworkRequest>,
    /// The sessions of frames with their own processes.
    frames: HashMap<String, ProcessFrame>,
}

/// A frame with its own process.
#[derive(Debug)]
struct ProcessFrame {
    /// The session that it belongs to.
    outer: String,
    id: String,
    /// Its address when it was last reported.
    url: String,
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
struct AttachedToTarget {
    session_id: String,
    #[serde(default)]
    waiting_for_debugger: bool,
    target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetEvent {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionEvent {
    session_id: String,
}

#[derive(Deserialize)]
struct TargetInfoChanged {
    #[serde(rename = "targetInfo")]
    info: TargetInfo,
}

/// A session that has begun, which gets initial commands.
#[derive(Debug, PartialEq, Eq)]
pub struct NewSession {
    /// The session.
    pub session: String,
    /// The session belongs to a page or a frame, which are listened to. Others are not used.
    pub is_wanted: bool,
}

impl Pages {
    /// All of them.
    pub fn all(&self) -> &[Page] {
        &self.pages
    }

    /// The page of a session, or of one of its frames' sessions.
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

    /// A session, and those of the frames in its page that have their own processes.
    pub(crate) fn sessions_below(&self, session: &str) -> Vec<String> {
        let mut below: Vec<String> = self.frames.keys().filter(|frame| self.root(frame) == session).cloned().collect();
        // A stable order.
        below.sort_unstable();
        below.insert(0, session.to_owned());
        below
    }

    /// The session around that of a frame, and the frame; `None` for a page's own session.
    pub(crate) fn around(&self, session: &str) -> Option<(String, String)> {
        self.frames.get(session).map(|frame| (frame.outer.clone(), frame.id.clone()))
    }

    /// The request that has ended with the last event.
    pub(crate) fn take_ended(&mut self) -> Option<NetworkRequest> {
        self.ended.take()
    }

    /// The address of a frame with its own session.
    pub(crate) fn frame_address(&self, session: &str) -> Option<&str> {
        self.frames.get(session).map(|frame| frame.url.as_str())
    }

    /// A session, the one around it, and so on up to the page's.
    fn ancestors<'a>(&'a self, session: &'a str) -> impl Iterator<Item = &'a str> {
        // No session is nested in itself, so this ends.
        std::iter::successors(Some(session), |session| Some(self.frames.get(*session)?.outer.as_str()))
    }

    /// The session of the page that a frame's session belongs to.
    fn root<'a>(&'a self, session: &'a str) -> &'a str {
        self.ancestors(session).last().unwrap_or(session)
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
            if let Some(page) = self.page_mut(&id) {
                page.title = title;
            }
        }
    }

    /// A document is refused in a frame.
    pub(crate) fn refuse(&mut self, session: &str, frame: &str, denied: DeniedAddress) {
        if let Some(page) = self.of_session_mut(session).filter(|page| page.document.frame == frame) {
            page.refused = Some(denied);
        }
    }

    /// A page that was open before its events were received: its document, and whether that is loaded.
    pub(crate) fn adopt(&mut self, id: &str, shown: Document, now: Instant) {
        if let Some(page) = self.page_mut(id) {
            page.adopt(shown, now);
        }
    }

    /// A page is about to go elsewhere.
    pub(crate) fn depart(&mut self, id: &str) {
        if let Some(page) = self.page_mut(id) {
            page.refused = None;
        }
    }

    /// Takes an event. Returns a session that has begun with it.
    pub fn take(&mut self, event: &Event, now: Instant) -> Option<NewSession> {
        let Event { session, method, params } = event;
        match method.as_str() {
            "Target.attachedToTarget" => return self.attach(read(params)?, session.as_deref(), now),
            "Target.detachedFromTarget" => {
                let SessionEvent { session_id } = read(params)?;
                self.frames.remove(&session_id);
                self.pages.retain(|page| page.session != session_id);
            }
            "Target.targetInfoChanged" => {
                let TargetInfoChanged { info } = read(params)?;
                if let Some(frame) = self.frames.values_mut().find(|frame| frame.id == info.target_id) {
                    frame.url = info.url;
                    return None;
                }
                let page = self.pages.iter_mut().find(|page| page.id == info.target_id)?;
                page.title = info.title;
            }
            "Target.targetCrashed" => {
                let TargetEvent { target_id } = read(params)?;
                self.pages.iter_mut().find(|page| page.id == target_id)?.is_crashed = true;
            }
            _ => {
                let session = session.as_deref()?;
                let is_root = self.root(session) == session;
                let page = self.of_session_mut(session)?;
                page.take(method, params, is_root, now);
                self.ended = page.requests.take(method, params, session);
            }
        }
        None
    }

    fn attach(&mut self, attached: AttachedToTarget, parent: Option<&str>, now: Instant) -> Option<NewSession> {
        let AttachedToTarget { session_id: session, target_info: info, waiting_for_debugger: is_new } = attached;
        let (is_page, is_frame) = (info.kind == "page", info.kind == "iframe");
        let parent = parent.filter(|parent| self.ancestors(parent).all(|outer| outer != session));
        if let (true, Some(parent)) = (is_frame, parent) {
            let frame = ProcessFrame { outer: parent.to_owned(), id: info.target_id, url: info.url };
            self.frames.insert(session.clone(), frame);
        } else if is_page {
            self.pages.push(Page::new(info, session.clone(), is_new, now));
        }
        Some(NewSession { session, is_wanted: is_page || is_frame })
    }
}

fn read<T: DeserializeOwned>(params: &RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}
