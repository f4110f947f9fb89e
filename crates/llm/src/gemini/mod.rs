//! Gemini's generateContent (<https://ai.google.dev/api/generate-content>), streamed as server-sent events.

mod failure;
mod request;
mod stream;

pub(super) use failure::failure;

use super::{Failure, Headers, Provider, TurnReader};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use pipewright_record::{Fields, ModelRequest};
use serde_json::value::RawValue;

/// Gemini's generateContent.
#[derive(Debug)]
pub struct Gemini;

/// The characters that are encoded in a name which is one segment of a path: all but the unreserved characters (RFC
/// 3986 section 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The name in a turn's `provider`.
const NAME: &str = "gemini";

impl Provider for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn base_url(&self) -> &'static str {
        "https://generativelanguage.googleapis.com/v1beta"
    }

    fn key_variables(&self) -> &'static [&'static str] {
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"]
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("x-goog-api-key", key.to_owned())
    }

    fn path(&self, model: &str) -> String {
        // Google's own lists have names with the prefix. With the suffix, a name cannot be a segment of dots, which
        // URLs resolve.
        let name = model.strip_prefix("models/").unwrap_or(model);
        format!("/models/{}:streamGenerateContent?alt=sse", utf8_percent_encode(name, SEGMENT))
    }

    fn encode(&self, request: &ModelRequest, model: &str) -> Result<String, String> {
        request::body(request, model)
    }

    fn events_reader(&self, request: &ModelRequest, model: &str) -> Box<dyn TurnReader> {
        Box::new(stream::Reader::new(request, model))
    }

    fn setting<'a>(&self, name: &'a str) -> Vec<&'a str> {
        let within = match name {
            "top_p" => "topP",
            "top_k" => "topK",
            "stop" => "stopSequences",
            "presence_penalty" => "presencePenalty",
            "frequency_penalty" => "frequencyPenalty",
            "reasoning_effort" => return vec!["generationConfig", "thinkingConfig", "thinkingLevel"],
            "temperature" | "seed" => name,
            _ => return vec![name],
        };
        vec!["generationConfig", within]
    }

    fn events_of(&self, answer: &str) -> Option<Vec<String>> {
        let list: Option<Vec<&RawValue>> = serde_json::from_str(answer).ok();
        if let Some(list) = list {
            return Some(list.into_iter().map(|event| event.get().to_owned()).collect());
        }
        Fields::read(answer).ok()?.present("candidates")?;
        Some(vec![answer.to_owned()])
    }

    fn failure(&self, status: u16, headers: &Headers<'_>, body: &[u8]) -> Failure {
        failure(status, headers, body)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
