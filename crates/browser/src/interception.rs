//! Refuses addresses: the browser asks before it loads a document, in a page or a frame, and before it follows a
//! redirect.
//!
//! Only the browser itself resolves a name, so the same answer is judged and used. A request to a private address
//! behind a public name is therefore sent, but its answer is not shown. Not judged is the address of an answer that
//! came through a proxy, that the browser had in its cache from an earlier run, or that a page prefetched under a
//! public name.

use crate::addresses::{AddressRules, Judgement};
use crate::fence::Fence;
use crate::routes::Routes;
use crate::wire::Event;
use crate::{ActionError, Browser};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::fmt;
use url::Url;

/// A refused address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeniedAddress {
    /// The address, shortened if very long.
    pub address: String,
    /// The reason, and what would allow it.
    pub why: String,
}

impl fmt::Display for DeniedAddress {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} is not allowed: {}", self.address, self.why)
    }
}

/// How many refused addresses are kept for [`Browser::take_refused`].
const MAX_REFUSED: usize = 32;

/// The longest address kept, in characters.
const MAX_ADDRESS: usize = 200;

/// How many requests may be open before answered ones are forgotten.
const MAX_REQUESTS: usize = 4096;

/// How many names that resolve to private addresses are remembered.
const NAMES: usize = 1000;

/// Why the answer to a form is not loaded again. A payment would be made twice, and nobody has been asked about the
/// second one.
const RESENT_FORM: &str =
    "the page is the answer to a form, and loading it again would send the form again; navigate to an address instead";

/// An empty document. Without its own icon, the browser would request `/favicon.ico`.
const EMPTY: &str = "<link rel=icon href=data:,>";

/// Decides about addresses.
#[derive(Debug, Default)]
pub(crate) struct Interception {
    allowed: AddressRules,
    routes: Routes,
    /// Requested documents whose host is a name, by the browser's id of the request.
    asked: HashMap<String, RequestedDocument>,
    /// Names that resolved to private addresses. Their answers may be in the browser's cache.
    private_names: HashSet<String>,
    refused: Vec<DeniedAddress>,
    /// A session in which all documents are empty and are not requested.
    emptied: Option<String>,
    /// The frame of a page that is reloaded, until its document is requested.
    reloaded: Option<String>,
}

/// A requested document whose host is a name.
#[derive(Debug)]
struct RequestedDocument {
    url: String,
    frame: String,
    /// The answer came from a private address.
    is_private: bool,
    /// The answer was passed on.
    is_answered: bool,
}

/// The commands that answer an event, in its session.
pub(crate) struct Reply {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    /// The refused address, and the frame it was for.
    pub(crate) denied: Option<(DeniedAddress, String)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: String,
    request: Request,
    frame_id: String,
    network_id: Option<String>,
    response_status_code: Option<u16>,
    response_error_reason: Option<String>,
    #[serde(default)]
    resource_type: String,
}

#[derive(Deserialize)]
struct Request {
    url: String,
    /// Only of a request that is paused.
    #[serde(default)]
    method: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseExtraInfo {
    request_id: String,
    #[serde(rename = "resourceIPAddressSpace")]
    space: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseReceived {
    #[serde(rename = "type")]
    kind: String,
    frame_id: Option<String>,
    response: Request,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoadingFailed {
    request_id: String,
}

impl Interception {
    pub(crate) fn new(allowed: AddressRules, routes: Routes) -> Interception {
        Interception { allowed, routes, ..Interception::default() }
    }

    /// What the browser asks about: documents, everything loaded from files, since a screenshot could show it, and what
    /// has a route.
    pub(crate) fn patterns(&self) -> Value {
        let own = [json!({"resourceType": "Document"}), json!({"urlPattern": "file:*"})];
        json!({"patterns": own.into_iter().chain(self.routes.patterns()).collect::<Vec<Value>>()})
    }

    /// From now on, the documents of this session are empty and are not requested.
    pub(crate) fn answer_for(&mut self, session: Option<String>) {
        self.emptied = session;
    }

    /// A page is reloaded, by the id of its frame: its next document is not requested if that would send a form again.
    /// `None` afterwards.
    pub(crate) fn reload(&mut self, frame: Option<String>) {
        self.reloaded = frame;
    }

    /// Takes an event, and returns the reply to it.
    pub(crate) fn take(&mut self, event: &Event) -> Option<Reply> {
        let params = event.params.get();
        let is_emptied = event.session.is_some() && event.session == self.emptied;
        match event.method.as_str() {
            "Fetch.requestPaused" => {
                let paused: RequestPaused = serde_json::from_str(params).ok()?;
                Some(if is_emptied { empty(&paused.request_id) } else { self.decide(paused) })
            }
            _ if is_emptied => None,
            "Network.responseReceivedExtraInfo" if !self.asked.is_empty() => {
                let ResponseExtraInfo { request_id, space } = serde_json::from_str(params).ok()?;
                let asked = self.asked.get_mut(&request_id)?;
                asked.is_private = matches!(space.as_str(), "Loopback" | "Local");
                // In all observed cases this comes before the answer is paused; the protocol does not guarantee it.
                let is_late = asked.is_private && asked.is_answered;
                is_late
                    .then(|| self.asked.remove(&request_id))?
                    .map(|RequestedDocument { url, frame, .. }| self.leave(&url, frame))
            }
            "Network.loadingFailed" | "Network.loadingFinished" if !self.asked.is_empty() => {
                let LoadingFailed { request_id } = serde_json::from_str(params).ok()?;
                self.asked.remove(&request_id);
                None
            }
            // A document that was loaded in advance (speculation rules) comes without a question.
            "Network.responseReceived" => {
                let ResponseReceived { kind, frame_id, response } = serde_json::from_str(params).ok()?;
                let is_page = kind == "Document" && response.url.starts_with("http");
                let is_refused = is_page && matches!(self.judge(&response.url), Judgement::Refused(_));
                is_refused.then(|| frame_id.map(|frame| self.leave(&response.url, frame)))?
            }
            _ => None,
        }
    }

    fn decide(&mut self, paused: RequestPaused) -> Reply {
        let RequestPaused { request_id, request: Request { url, method }, frame_id, network_id, .. } = paused;
        let is_answered = paused.response_status_code.is_some() || paused.response_error_reason.is_some();
        let routed = (!is_answered).then(|| self.routes.answer(&method, &url)).flatten();
        // Of other requests, the browser asks only for routes and files.
        if paused.resource_type != "Document" && !url.starts_with("file:") {
            return routed.map_or_else(|| continue_request(&request_id, false), |answer| fulfil(&request_id, answer));
        }
        let is_reload = !is_answered && self.reloaded.take_if(|frame| *frame == frame_id).is_some();
        if is_reload && method != "GET" {
            let denied =
                DeniedAddress { address: url.chars().take(MAX_ADDRESS).collect(), why: RESENT_FORM.to_owned() };
            return keep_page(&request_id, denied, frame_id);
        }
        let why = match self.judge(&url) {
            Judgement::Refused(why) => why,
            Judgement::Named | Judgement::Allowed if routed.is_some() => {
                return routed
                    .map_or_else(|| continue_request(&request_id, false), |answer| fulfil(&request_id, answer));
            }
            Judgement::Named if is_answered => match network_id.and_then(|id| self.asked.get_mut(&id)) {
                Some(asked) if asked.is_private => private_name(&url),
                asked => {
                    asked.into_iter().for_each(|asked| asked.is_answered = true);
                    return continue_request(&request_id, false);
                }
            },
            Judgement::Named => {
                if self.asked.len() >= MAX_REQUESTS {
                    self.asked.retain(|_, asked| !asked.is_answered);
                }
                let asked = RequestedDocument { url, frame: frame_id, is_private: false, is_answered: false };
                self.asked.extend(network_id.map(|id| (id, asked)));
                return continue_request(&request_id, true);
            }
            Judgement::Allowed => return continue_request(&request_id, false),
        };
        keep_page(&request_id, self.deny(&url, why), frame_id)
    }

    /// Replaces a document that is already shown.
    fn leave(&mut self, url: &str, frame: String) -> Reply {
        let params = json!({"url": "about:blank", "frameId": frame});
        let why = match self.judge(url) {
            Judgement::Refused(why) => why,
            Judgement::Allowed | Judgement::Named => private_name(url),
        };
        Reply { method: "Page.navigate", params, denied: Some((self.deny(url, why), frame)) }
    }

    fn judge(&self, url: &str) -> Judgement {
        match self.allowed.judge(url) {
            Judgement::Named if name(url).is_some_and(|name| self.private_names.contains(&name)) => {
                Judgement::Refused(private_name(url))
            }
            judgement => judgement,
        }
    }

    fn deny(&mut self, url: &str, why: String) -> DeniedAddress {
        if let (Judgement::Named, Some(name)) = (self.allowed.judge(url), name(url))
            && self.private_names.len() < NAMES
        {
            self.private_names.insert(name);
        }
        let denied = DeniedAddress { address: url.chars().take(MAX_ADDRESS).collect(), why };
        if self.refused.len() < MAX_REFUSED && !self.refused.contains(&denied) {
            self.refused.push(denied.clone());
        }
        denied
    }
}

/// The page stays as it is.
fn keep_page(request: &str, denied: DeniedAddress, frame: String) -> Reply {
    let params = json!({"requestId": request, "errorReason": "Aborted"});
    Reply { method: "Fetch.failRequest", params, denied: Some((denied, frame)) }
}

fn continue_request(request: &str, until_answered: bool) -> Reply {
    let params = json!({"requestId": request, "interceptResponse": until_answered});
    Reply { method: "Fetch.continueRequest", params, denied: None }
}

fn fulfil(request: &str, mut answer: Value) -> Reply {
    answer["requestId"] = request.into();
    Reply { method: "Fetch.fulfillRequest", params: answer, denied: None }
}

fn empty(request: &str) -> Reply {
    let headers = json!([{"name": "content-type", "value": "text/html"}]);
    let body = BASE64_STANDARD.encode(EMPTY);
    let params = json!({"requestId": request, "responseCode": 200, "responseHeaders": headers, "body": body});
    Reply { method: "Fetch.fulfillRequest", params, denied: None }
}

fn name(url: &str) -> Option<String> {
    Url::parse(url).ok()?.domain().map(str::to_owned)
}

/// Why an address with a public name is refused.
pub(crate) fn private_name(url: &str) -> String {
    format!("{} resolves to a private address: allow its origin", name(url).unwrap_or_default())
}

impl Browser {
    /// The addresses refused since the last call, including those of frames and of windows that pages opened; at most
    /// 32, and 32 that the fence refused.
    pub fn take_refused(&mut self) -> Vec<DeniedAddress> {
        let mut refused = std::mem::take(&mut self.interception.refused);
        refused.extend(self.fence.iter().flat_map(Fence::take_refused));
        refused
    }

    /// Checks whether the active page may go to an address.
    pub(crate) fn check_address(&mut self, url: &str) -> Result<(), ActionError> {
        match self.interception.judge(url) {
            Judgement::Refused(why) => {
                let denied = DeniedAddress { address: url.chars().take(MAX_ADDRESS).collect(), why };
                Err(ActionError::Denied(denied.to_string()))
            }
            Judgement::Allowed | Judgement::Named => Ok(()),
        }
    }
}
