//! Failures of OpenAI and compatible servers, for Chat Completions and Responses.

use crate::failure::ReportedError;
use crate::retry::pause_until;
use crate::{Failure, Headers, Retry};

/// Codes and types of limits that no pause lifts.
const QUOTA: [&str; 4] =
    ["insufficient_quota", "credit_balance_exhausted", "billing_hard_limit_reached", "billing_not_active"];

/// The failure of an answer that is not a stream.
pub(crate) fn of_answer(status: u16, headers: &Headers<'_>, body: &[u8]) -> Failure {
    let reported = ReportedError::read(status, body);
    // Some proxies report the failure of a provider with status 200.
    if status < 300 && reported.is_error {
        return of_reported(&reported, headers);
    }
    of(status, headers, &reported)
}

/// The failure of an event in a stream, whose own status was 200: `{"error":{...}}` or the error itself.
pub(crate) fn in_stream(event: &str) -> Failure {
    of_reported(&ReportedError::read(200, event.as_bytes()), &|_| None)
}

fn of_reported(reported: &ReportedError<'_>, headers: &Headers<'_>) -> Failure {
    // OpenRouter and vLLM send the status as the code.
    let status = match reported.code("code").and_then(|code| code.parse::<u16>().ok()) {
        Some(status @ 400..=599) => status,
        _ => status_of(own_code(reported).as_deref()),
    };
    of(status, headers, reported)
}

/// The HTTP status with which a request would be refused for the same reason. Unknown errors count as temporary.
fn status_of(code: Option<&str>) -> u16 {
    match code {
        Some("rate_limit_exceeded" | "rate_limit_error" | "slow_down") => 429,
        Some("invalid_api_key" | "authentication_error" | "permission_error") => 401,
        Some("BadRequestError" | "context_length_exceeded" | "model_not_found") => 400,
        Some(code) if code.starts_with("invalid_") || code.starts_with("image_") => 400,
        _ => 500,
    }
}

fn of(status: u16, headers: &Headers<'_>, reported: &ReportedError<'_>) -> Failure {
    let mut failure = Failure::of_status(status, own_code(reported), reported.message.clone(), headers);
    let is_quota = ["code", "type"].iter().filter_map(|key| reported.fields.text(key));
    if is_quota.into_iter().any(|code| QUOTA.contains(&&*code)) {
        return failure.into_quota();
    }
    failure.param = reported.fields.text("param");
    if failure.retry == Retry::Backoff
        && failure.is_busy
        && let Some(pause) = reset(reported).and_then(|reset| pause_until(&reset, headers))
    {
        failure.retry = Retry::After(pause);
    }
    failure
}

/// When OpenRouter accepts requests again, in milliseconds since 1970.
fn reset(reported: &ReportedError<'_>) -> Option<String> {
    let headers = reported.fields.object("metadata")?.object("headers")?;
    headers.text("X-RateLimit-Reset").or_else(|| headers.count("X-RateLimit-Reset").map(|reset| reset.to_string()))
}

/// The `code`, if it is a word. llama.cpp, vLLM and OpenRouter repeat the status there; llama.cpp and vLLM have the
/// word in `type`.
fn own_code(reported: &ReportedError<'_>) -> Option<String> {
    let text = |key| reported.fields.text(key);
    text("code").or_else(|| text("type")).or_else(|| reported.code("code"))
}
