//! The failed requests of a page.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::{HashMap, VecDeque};

/// How many are kept: the last ones.
const MAX_FAILED: usize = 200;

/// How many open requests are tracked. If a page has more of them, their methods are lost.
const MAX_OPEN: usize = 10_000;

/// The longest address kept, in characters.
const MAX_ADDRESS: usize = 1000;

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRequest {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// Its address, at most 1,000 characters.
    pub url: String,
    /// The reason.
    pub failure: Failure,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The status of the answer, 400 or more.
    Status(u16),
    /// The browser's name for the error, such as `net::ERR_CONNECTION_REFUSED`.
    Network(String),
}

/// The tracked requests of a page.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    under_way: HashMap<String, (String, String)>,
    failed: VecDeque<FailedRequest>,
    dropped: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestWillBeSent {
    request_id: String,
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    method: String,
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseReceived {
    request_id: String,
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    status: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoadingEnded {
    request_id: String,
    error_text: Option<String>,
    #[serde(default)]
    canceled: bool,
}

impl Requests {
    /// Takes an event of the `Network` domain, and ignores any other.
    pub(crate) fn take(&mut self, method: &str, params: &RawValue) -> Option<()> {
        match method {
            "Network.requestWillBeSent" => {
                let RequestWillBeSent { request_id, request: Request { method, url } } = read(params)?;
                if self.under_way.len() >= MAX_OPEN {
                    self.under_way.clear();
                }
                self.under_way.insert(request_id, (method, url.chars().take(MAX_ADDRESS).collect()));
            }
            "Network.responseReceived" => {
                let ResponseReceived { request_id, response: Response { status } } = read(params)?;
                let request = self.under_way.remove(&request_id)?;
                if status >= 400 {
                    self.add(request, Failure::Status(status));
                }
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                let LoadingEnded { request_id, error_text, canceled } = read(params)?;
                let request = self.under_way.remove(&request_id)?;
                // Requests cancelled by the page or a navigation did not fail.
                if let Some(error) = error_text.filter(|_| !canceled) {
                    self.add(request, Failure::Network(error));
                }
            }
            _ => {}
        }
        Some(())
    }

    fn add(&mut self, (method, url): (String, String), failure: Failure) {
        if self.failed.len() == MAX_FAILED {
            self.failed.pop_front();
            self.dropped += 1;
        }
        self.failed.push_back(FailedRequest { method, url, failure });
    }

    /// The failed requests since the last call, and how many earlier ones were dropped.
    pub(crate) fn take_failed(&mut self) -> (Vec<FailedRequest>, u64) {
        (std::mem::take(&mut self.failed).into(), std::mem::take(&mut self.dropped))
    }
}

fn read<T: DeserializeOwned>(params: &RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}
