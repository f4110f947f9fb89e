//! One page: what it shows and loads, and what blocks it.

use super::{TargetInfo, read};
use crate::interception::DeniedAddress;
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
    /// The session for its commands.
    pub session: String,
    /// Its current title.
    pub title: String,
    /// The page that opened it.
    pub opener: Option<String>,
    /// Its document.
    pub document: Document,
    /// Counts earlier documents, and changes of address without a new document.
    pub navigations: Navigations,
    /// The dialog that blocks it until it is answered.
    pub dialog: Option<Dialog>,
    /// Its process has ended; only a new document can restart it.
    pub is_crashed: bool,
    /// The address it was refused.
    pub(crate) refused: Option<DeniedAddress>,
    network: Network,
    pub(crate) requests: Requests,
    /// The status of the last answer that is a document, and its load. It comes before the document is shown.
    answered: Option<(String, u16)>,
}

/// What a page shows.
#[derive(Debug, Default, Clone)]
pub struct Document {
    /// Its frame.
    pub frame: String,
    /// The id of the load; another id means another document.
    pub loader: String,
    /// Its address.
    pub url: String,
    /// The HTTP status of its answer, if it was loaded over HTTP.
    pub status: Option<u16>,
    /// `DOMContentLoaded` has fired.
    pub is_parsed: bool,
    /// `load` has fired.
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
    /// The type of the dialog.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its text.
    pub message: String,
    /// The default answer of a `prompt`.
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
struct FrameNavigated {
    frame: Frame,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigatedWithinDocument {
    frame_id: String,
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LifecycleEvent {
    frame_id: String,
    loader_id: String,
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestEvent {
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
    /// `is_new`: it has only now been opened.
    pub(super) fn new(info: TargetInfo, session: String, is_new: bool, now: Instant) -> Page {
        let document = Document {
            url: info.url,
            frame: info.target_id.clone(),
            // A page that was already open counts as loaded until an event contradicts.
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

    /// Takes the state of a page that was open before its events were received.
    pub(super) fn adopt(&mut self, shown: Document, now: Instant) {
        self.network.quiet_since = (shown.is_loaded && self.network.under_way.is_empty()).then_some(now);
        self.document = shown;
    }

    /// Since when it has loaded nothing; `None` while it is loading.
    pub fn quiet_since(&self) -> Option<Instant> {
        self.network.quiet_since
    }

    /// `is_own`: the event is from the page's own session, not from a frame's.
    pub(super) fn take(&mut self, method: &str, params: &RawValue, is_own: bool, now: Instant) -> Option<()> {
        match method {
            "Page.frameNavigated" if is_own => {
                let FrameNavigated { frame, kind } = read(params)?;
                if frame.parent_id.is_none() {
                    self.show(frame);
                    // The browser kept this page in its cache, complete, and sends no more lifecycle events for it.
                    if kind == "BackForwardCacheRestore" {
                        (self.document.is_parsed, self.document.is_loaded) = (true, true);
                        self.network.quiet_since = Some(now);
                    }
                }
            }
            "Page.navigatedWithinDocument" if is_own => {
                let NavigatedWithinDocument { frame_id, url } = read(params)?;
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
                let request: RequestEvent = read(params)?;
                // Connections that stay open by design are not waited for.
                if !matches!(request.kind.as_deref(), Some("EventSource" | "WebSocket" | "Ping")) {
                    self.network.under_way.insert(request.request_id);
                    self.network.quiet_since = None;
                }
            }
            "Network.responseReceived" => {
                let RequestEvent { kind, loader_id, response, frame_id, .. } = read(params)?;
                let is_document =
                    kind.as_deref() == Some("Document") && frame_id.as_ref() == Some(&self.document.frame);
                if is_own && is_document {
                    self.answered = loader_id.zip(response.map(|response| response.status));
                }
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                let RequestEvent { request_id, .. } = read(params)?;
                if self.network.under_way.remove(&request_id) && self.network.under_way.is_empty() {
                    self.network.quiet_since = Some(now);
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Another document is shown.
    fn show(&mut self, frame: Frame) {
        self.navigations.full += 1;
        self.is_crashed = false;
        // Its beginning may already have been reported.
        let is_begun = self.document.loader == frame.loader_id;
        let (is_parsed, is_loaded) = (is_begun && self.document.is_parsed, is_begun && self.document.is_loaded);
        let status = self.answered.as_ref().filter(|(loader, _)| *loader == frame.loader_id).map(|(_, status)| *status);
        let url = frame.url + &frame.url_fragment;
        self.document = Document { frame: frame.id, loader: frame.loader_id, url, status, is_parsed, is_loaded };
    }

    fn live(&mut self, LifecycleEvent { frame_id, loader_id, name }: LifecycleEvent, now: Instant) {
        if frame_id != self.document.frame {
            return;
        }
        match name.as_str() {
            // The first event of a load: open requests belong to the previous document.
            "init" => {
                // The document's own request has the id of its load.
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
