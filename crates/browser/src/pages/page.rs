//! One page: what it shows, what it loads and what holds it up.

use super::{TargetInfo, read};
use crate::interception::Denied;
use crate::requests::Requests;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::time::Instant;

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

impl Page {
    /// `is_new` says that it has only now been opened.
    pub(super) fn new(info: TargetInfo, session: String, is_new: bool, now: Instant) -> Page {
        let document = Document {
            url: info.url,
            frame: info.target_id.clone(),
            // One that was there before is taken as loaded until it says otherwise.
            is_parsed: !is_new,
            is_loaded: !is_new,
            ..Document::default()
        };
        Page {
            id: info.target_id,
            session,
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
        }
    }

    /// It was there before its events were taken.
    pub(super) fn adopt(&mut self, shown: Document, now: Instant) {
        self.network.quiet_since = (shown.is_loaded && self.network.under_way.is_empty()).then_some(now);
        self.document = shown;
    }

    /// Since when it has loaded nothing; `None` while it does.
    pub fn quiet_since(&self) -> Option<Instant> {
        self.network.quiet_since
    }

    /// `is_own` says that the event is of the page's own session, not of a frame's.
    pub(super) fn take(&mut self, method: &str, params: &RawValue, is_own: bool, now: Instant) -> Option<()> {
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
