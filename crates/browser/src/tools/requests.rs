//! The requests of a page, as a list, and one of them with its contents.

use super::report::ResultMembers;
use super::table::Arguments;
use super::{Problem, ProblemKind, ToolResult, ToolSession};
use crate::NetworkRequest;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::time::Instant;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Requests {
    /// The number of one request: returns its headers and contents.
    number: Option<u64>,
    /// A part of the address.
    url: Option<String>,
    /// The type: document, fetch, xhr, script, image, websocket and others.
    kind: Option<String>,
    /// Only those that failed.
    #[serde(default)]
    failed: bool,
    /// At most this many, the last ones; with number, at most this many characters of the contents.
    limit: Option<usize>,
}

/// How many are listed by default, and how many characters of contents are returned.
const LISTED: usize = 50;
const CONTENTS: usize = 10_000;

impl Arguments for Requests {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let mut all = session.browser.requests()?;
        all.sort_by_key(|request| request.number);
        if let Some(number) = self.number {
            let found = all.into_iter().find(|request| request.number == number).cloned();
            let found = found.ok_or_else(|| {
                let message = format!("no request of this tab has the number {number}, or no longer");
                Problem::new(ProblemKind::NotFound, message).with_code("no_request")
            })?;
            return session.request(&found, self.limit.unwrap_or(CONTENTS), until);
        }
        let is_meant = |request: &&NetworkRequest| {
            self.url.as_deref().is_none_or(|part| request.url.contains(part))
                && self.kind.as_deref().is_none_or(|kind| request.kind.eq_ignore_ascii_case(kind))
                && (!self.failed || request.has_failed())
        };
        let found: Vec<String> = all.into_iter().filter(is_meant).map(line).collect();
        let skipped = found.len().saturating_sub(self.limit.unwrap_or(LISTED));
        let items: Vec<String> = found.iter().skip(skipped).map(|line| (session.settings.mask)(line)).collect();
        Ok(ResultMembers::default().with("total", found.len()).with("items", items))
    }
}

impl ToolSession {
    fn request(&mut self, request: &NetworkRequest, limit: usize, until: Instant) -> ToolResult {
        let body = self.browser.response_text(request, until)?;
        let mask = &mut self.settings.mask;
        let (sent, received) = (request.request_headers.masked(mask), request.response_headers.masked(mask));
        let mut masked = |text: &str| mask(text).chars().take(limit).collect::<String>();
        let report = ResultMembers::default().with("number", request.number).with("method", request.method.as_str());
        let report = report.with("url", masked(&request.url)).with("kind", request.kind.as_str());
        let report = report.with_some("status", request.status.as_ref().map(|(status, _)| *status));
        let report = report.with_some("error", request.error.as_deref()).with("mime", request.mime.as_str());
        let report = report.with("size", request.size).with("duration_ms", request.milliseconds.round());
        let report = report.with("request_headers", json!(sent.0));
        let report = report.with("response_headers", json!(received.0));
        let report = report.with_some("request_body", request.body.as_deref().map(&mut masked));
        let is_cut = body.as_ref().is_some_and(|body| body.chars().count() > limit);
        let report = report.with_some("response_body", body.as_deref().map(&mut masked));
        Ok(report.with_some("truncated", is_cut.then_some(true)))
    }
}

/// `12 GET 404 fetch 1.2 kB 34 ms https://example.org/api`.
fn line(request: &NetworkRequest) -> String {
    let NetworkRequest { number, method, url, kind, status, error, size, milliseconds, .. } = request;
    let outcome = match (status, error) {
        (_, Some(error)) => error.clone(),
        (Some((status, _)), None) => status.to_string(),
        (None, None) => "-".to_owned(),
    };
    format!("{number} {method} {outcome} {kind} {:.1} kB {milliseconds:.0} ms {url}", *size as f64 / 1000.0)
}
