//! Failures of OpenAI and compatible servers, for Chat Completions and Responses.

use crate::failure::ReportedError;
use crate::{Failure, Headers, Retry, SCHEMA_UNSUPPORTED, TOOLS_UNSUPPORTED};
use pipewright_record::Kind;

/// Codes and types of limits that no pause lifts.
const QUOTA: [&str; 4] =
    ["insufficient_quota", "credit_balance_exhausted", "billing_hard_limit_reached", "billing_not_active"];

/// Messages for a model, or a configuration, that does not support tools.
const NO_TOOLS: [&str; 4] = [
    // vLLM without --tool-call-parser
    "tool choice requires --enable-auto-tool-choice",
    // Ollama, for a model whose template has no tools
    "does not support tools",
    // OpenRouter, for a model without any provider that supports tools
    "support tool use",
    // llama.cpp
    "requires --jinja",
];

/// A text in every refusal of a JSON Schema of the answer; the rest differs between servers. Old servers and models
/// support no schema (llama.cpp before 2024-09, with status 500; DeepSeek; OpenAI before gpt-4o), others only a part of
/// JSON Schema (Groq).
const NO_SCHEMA: [&str; 3] = ["response_format", "response format", "json_schema"];

/// The failure of an answer that is not a stream.
pub(crate) fn of_answer(status: u16, headers: &Headers<'_>, body: &[u8]) -> Failure {
    of(status, headers, &ReportedError::read(status, body))
}

/// The failure of an event in a stream, whose own status was 200: `{"error":{...}}` or the error itself.
pub(crate) fn in_stream(event: &str) -> Failure {
    let reported = ReportedError::read(200, event.as_bytes());
    // OpenRouter and vLLM send the status as the code.
    let status = match reported.code("code").and_then(|code| code.parse::<u16>().ok()) {
        Some(status @ 400..=599) => status,
        _ => status_of(own_code(&reported).as_deref()),
    };
    of(status, &|_| None, &reported)
}

/// The HTTP status with which a request would be refused for the same reason. Unknown errors count as temporary.
fn status_of(code: Option<&str>) -> u16 {
    match code {
        Some("rate_limit_exceeded" | "rate_limit_error" | "slow_down") => 429,
        Some("invalid_api_key" | "authentication_error" | "permission_error") => 401,
        Some("BadRequestError" | "context_length_exceeded") => 400,
        Some(code) if code.starts_with("invalid_") || code.starts_with("image_") => 400,
        _ => 500,
    }
}

fn of(status: u16, headers: &Headers<'_>, reported: &ReportedError<'_>) -> Failure {
    let failure = Failure::of_status(status, own_code(reported), reported.message.clone(), headers);
    let is_quota = ["code", "type"].iter().filter_map(|key| reported.fields.text(key));
    if is_quota.into_iter().any(|code| QUOTA.contains(&&*code)) {
        return failure.into_quota();
    }
    let says = |phrases: &[&str]| phrases.iter().any(|words| reported.message.contains(words));
    let code = match failure.what.kind {
        Kind::BadRequest | Kind::Unavailable if says(&NO_TOOLS) => TOOLS_UNSUPPORTED,
        Kind::BadRequest | Kind::Unavailable if says(&NO_SCHEMA) => SCHEMA_UNSUPPORTED,
        _ => return failure,
    };
    Failure::new(Kind::BadRequest, failure.what.message, Retry::Never).with_code(Some(code.to_owned()))
}

/// The `code`, if it is a word. llama.cpp, vLLM and OpenRouter repeat the status there; llama.cpp and vLLM have the
/// word in `type`.
fn own_code(reported: &ReportedError<'_>) -> Option<String> {
    let text = |key| reported.fields.text(key);
    text("code").or_else(|| text("type")).or_else(|| reported.code("code"))
}
