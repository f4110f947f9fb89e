//! Anthropic's Messages API (<https://platform.claude.com/docs/en/api/messages>), streamed.

mod request;
mod stream;

use super::failure::ReportedError;
use super::{Failure, Headers, Provider, TurnReader};
use pipewright_record::json::Object;
use pipewright_record::{Fields, Kind, ModelRequest};
use serde_json::value::RawValue;

/// Anthropic's Messages API.
#[derive(Debug)]
pub struct Anthropic;

/// The name in a turn's `provider`.
const NAME: &str = "anthropic";

/// The version of the API that the requests follow.
const VERSION: &str = "2026-10-21";

/// Spending limits, which no pause lifts (`error.details.error_code` of a 429 without `retry-after`).
const SPENDING_LIMITS: [&str; 2] = ["enforced_spend_limit_reached", "contract_spend_limit_reached"];

impl Provider for Anthropic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn base_url(&self) -> &'static str {
        "https://api.anthropic.com/v1"
    }

    fn key_variables(&self) -> &'static [&'static str] {
        &["ANTHROPIC_API_KEY"]
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", VERSION)]
    }

    fn path(&self, _model: &str) -> String {
        "/messages".to_owned()
    }

    fn encode(&self, request: &ModelRequest, model: &str) -> Result<String, String> {
        request::body(request, model)
    }

    fn events_reader(&self, request: &ModelRequest, model: &str) -> Box<dyn TurnReader> {
        Box::new(stream::Reader::new(request, model))
    }

    fn has_own_limit(&self) -> bool {
        true
    }

    fn setting<'a>(&self, name: &'a str) -> Vec<&'a str> {
        match name {
            "stop" => vec!["stop_sequences"],
            "reasoning_effort" => vec!["output_config", "effort"],
            _ => vec![name],
        }
    }

    fn events_of(&self, answer: &str) -> Option<Vec<String>> {
        let message = Fields::read(answer).ok()?;
        let blocks = message.list("content").ok().filter(|_| message.present("content").is_some())?;
        let event = |kind| Object::default().text("type", kind);
        let mut events = vec![event("message_start").put("message", answer).end()];
        for (index, block) in blocks.into_iter().enumerate() {
            events.push(event("content_block_start").put("index", index).put("content_block", block).end());
            events.push(event("content_block_stop").put("index", index).end());
        }
        let reason = message.present("stop_reason").map_or("null", RawValue::get);
        let delta = Object::default().put("stop_reason", reason).end();
        let usage = message.present("usage").map(RawValue::get);
        events.push(event("message_delta").put("delta", delta).put_some("usage", usage).end());
        events.push(event("message_stop").end());
        Some(events)
    }

    fn failure(&self, status: u16, headers: &Headers<'_>, body: &[u8]) -> Failure {
        failure(Some(status), headers, body)
    }
}

/// Reads `{"type":"error","error":{"type","message","details"?:{"error_code"}}}`. In a stream, which has no status, the
/// type implies one.
fn failure(status: Option<u16>, headers: &Headers<'_>, body: &[u8]) -> Failure {
    let reported = ReportedError::read(status.unwrap_or(200), body);
    let status = status.filter(|status| *status >= 300 || !reported.is_error);
    let of_type = reported.code("type");
    let status = status.unwrap_or(match of_type.as_deref() {
        Some("invalid_request_error") => 400,
        Some("authentication_error") => 401,
        Some("billing_error") => 402,
        Some("permission_error") => 403,
        Some("not_found_error") => 404,
        Some("request_too_large") => 413,
        Some("rate_limit_error") => 429,
        Some("timeout_error") => 504,
        Some("overloaded_error") => 529,
        // api_error, and future types.
        _ => 500,
    });
    let detail = reported.fields.object("details").and_then(|details| details.text("error_code"));
    let is_spent = detail.as_deref().is_some_and(|code| SPENDING_LIMITS.contains(&code));
    let failure = Failure::of_status(status, detail.or(of_type), reported.message, headers);
    // An empty balance of a prepaid account is reported as an invalid_request_error.
    let is_spent =
        is_spent || failure.what.kind == Kind::BadRequest && failure.what.message.contains("credit balance is too low");
    if is_spent { failure.into_quota() } else { failure }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
