//! The requests of a page.

use crate::{ActionError, Browser};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Instant;

/// How many are kept: the last ones.
const MAX_FINISHED: usize = 500;

/// How many open requests are tracked. If a page has more of them, the earlier ones are lost.
const MAX_OPEN: usize = 10_000;

/// The longest address kept, in characters.
const MAX_ADDRESS: usize = 2000;

/// Names and values.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Headers(pub BTreeMap<String, String>);

impl Headers {
    /// The headers without secrets. `mask` replaces them in JSON text, in which it also judges values by their names.
    pub fn masked(&self, mask: &mut dyn FnMut(&str) -> String) -> Headers {
        let masked = serde_json::to_string(&self.0).ok().and_then(|text| serde_json::from_str(&mask(&text)).ok());
        masked.map_or_else(Headers::default, Headers)
    }
}

/// A request that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkRequest {
    /// Counts the requests of a page, from 1.
    pub number: u64,
    /// `GET`, `POST` and so on.
    pub method: String,
    /// Its address, at most 2,000 characters.
    pub url: String,
    /// The browser's name for its type, in small letters: `document`, `fetch`, `image`, `websocket`.
    pub kind: String,
    /// The status of its answer, if there was one, and the words of the server for it.
    pub status: Option<(u16, String)>,
    /// The browser's name for the error, such as `net::ERR_CONNECTION_REFUSED`.
    pub error: Option<String>,
    /// The type of the answer's content.
    pub mime: String,
    /// Bytes of the answer on the network.
    pub size: u64,
    /// Seconds since 1970.
    pub started: f64,
    /// How long it took, in milliseconds.
    pub milliseconds: f64,
    /// Those that were sent.
    pub request_headers: Headers,
    /// Those of the answer.
    pub response_headers: Headers,
    /// `http/1.1` or `h2`, if known.
    pub protocol: String,
    /// What was sent, if it is short.
    pub body: Option<String>,
    /// The browser's id, in its session.
    id: String,
    session: String,
}

impl NetworkRequest {
    /// Whether it had an error, or its status is 400 or more.
    pub fn has_failed(&self) -> bool {
        self.error.is_some() || self.status.as_ref().is_some_and(|(status, _)| *status >= 400)
    }
}

/// The tracked requests of a page.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    under_way: HashMap<String, (NetworkRequest, f64)>,
    finished: VecDeque<NetworkRequest>,
    last: u64,
    /// The number of the last failed one that was taken, and how many later ones are no longer kept.
    taken: u64,
    dropped: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestWillBeSent {
    request_id: String,
    request: Request,
    #[serde(rename = "type", default)]
    kind: String,
    timestamp: f64,
    wall_time: f64,
    redirect_response: Option<Response>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    headers: Headers,
    post_data: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseReceived {
    request_id: String,
    response: Response,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    status: u16,
    #[serde(default)]
    status_text: String,
    #[serde(default)]
    headers: Headers,
    #[serde(default)]
    mime_type: String,
    #[serde(default)]
    protocol: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoadingEnded {
    request_id: String,
    timestamp: f64,
    #[serde(default)]
    encoded_data_length: f64,
    error_text: Option<String>,
    #[serde(default)]
    canceled: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WebSocketCreated {
    request_id: String,
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseBody {
    body: String,
    base64_encoded: bool,
}

impl Requests {
    /// Takes an event of the `Network` domain, and ignores any other. Returns a request that has ended with it.
    pub(crate) fn take(&mut self, method: &str, params: &RawValue, session: &str) -> Option<NetworkRequest> {
        match method {
            "Network.requestWillBeSent" => {
                let sent: RequestWillBeSent = read(params)?;
                let redirected = self.under_way.remove(&sent.request_id).map(|(mut request, began)| {
                    sent.redirect_response.into_iter().for_each(|response| request.answer(response));
                    self.end(request, (sent.timestamp - began) * 1000.0)
                });
                let Request { method, url, headers, post_data } = sent.request;
                let mut request = self.begin(sent.request_id, url, sent.kind.to_lowercase(), session);
                (request.method, request.request_headers, request.body) = (method, headers, post_data);
                request.started = sent.wall_time;
                self.under_way.insert(request.id.clone(), (request, sent.timestamp));
                redirected
            }
            "Network.responseReceived" => {
                let ResponseReceived { request_id, response } = read(params)?;
                self.under_way.get_mut(&request_id)?.0.answer(response);
                None
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                let ended: LoadingEnded = read(params)?;
                let (mut request, began) = self.under_way.remove(&ended.request_id)?;
                // Requests cancelled by the page or a navigation did not fail.
                request.error = ended.error_text.filter(|_| !ended.canceled);
                request.size = ended.encoded_data_length as u64;
                Some(self.end(request, (ended.timestamp - began) * 1000.0))
            }
            // It stays open: what is listed is that it was opened.
            "Network.webSocketCreated" => {
                let WebSocketCreated { request_id, url } = read(params)?;
                let mut request = self.begin(request_id, url, "websocket".to_owned(), session);
                request.method = "GET".to_owned();
                Some(self.end(request, 0.0))
            }
            _ => None,
        }
    }

    fn begin(&mut self, id: String, url: String, kind: String, session: &str) -> NetworkRequest {
        if self.under_way.len() >= MAX_OPEN {
            self.under_way.clear();
        }
        self.last += 1;
        NetworkRequest {
            number: self.last,
            method: String::new(),
            url: url.chars().take(MAX_ADDRESS).collect(),
            kind,
            status: None,
            error: None,
            mime: String::new(),
            size: 0,
            started: 0.0,
            milliseconds: 0.0,
            request_headers: Headers::default(),
            response_headers: Headers::default(),
            protocol: String::new(),
            body: None,
            id,
            session: session.to_owned(),
        }
    }

    fn end(&mut self, mut request: NetworkRequest, milliseconds: f64) -> NetworkRequest {
        request.milliseconds = milliseconds.max(0.0);
        if self.finished.len() == MAX_FINISHED
            && let Some(oldest) = self.finished.pop_front()
        {
            self.dropped += u64::from(oldest.has_failed() && oldest.number > self.taken);
        }
        self.finished.push_back(request.clone());
        request
    }

    /// The failed requests since the last call, and how many earlier ones were dropped.
    pub(crate) fn take_failed(&mut self) -> (Vec<NetworkRequest>, u64) {
        let failed = self.finished.iter().filter(|request| request.has_failed() && request.number > self.taken);
        let failed = failed.cloned().collect();
        self.taken = self.last;
        (failed, std::mem::take(&mut self.dropped))
    }
}

impl NetworkRequest {
    fn answer(&mut self, response: Response) {
        self.status = Some((response.status, response.status_text));
        self.response_headers = response.headers;
        self.mime = response.mime_type;
        self.protocol = response.protocol;
    }
}

impl Browser {
    /// The last 500 requests of the active page that have ended, oldest first.
    ///
    /// # Errors
    /// The page is closed.
    pub fn requests(&self) -> Result<Vec<&NetworkRequest>, ActionError> {
        Ok(self.page()?.requests.finished.iter().collect())
    }

    /// The content of the answer to a request, if it is text; `None` if the browser no longer has it, or it is not.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn response_text(&mut self, request: &NetworkRequest, until: Instant) -> Result<Option<String>, ActionError> {
        let asked = json!({"requestId": request.id});
        match self.call(Some(&request.session), "Network.getResponseBody", &asked, until) {
            Ok(ResponseBody { body, base64_encoded: false }) => Ok(Some(body)),
            Ok(ResponseBody { body, .. }) => {
                let bytes = BASE64_STANDARD.decode(body).unwrap_or_default();
                Ok(String::from_utf8(bytes).ok())
            }
            Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

fn read<T: DeserializeOwned>(params: &RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}
