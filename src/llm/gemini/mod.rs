//! Gemini's generateContent (<https://ai.google.dev/api/generate-content>), streamed as server-sent events.

mod failure;
mod request;
mod stream;

pub(super) use failure::failure;

use super::{Failure, Headers, Provider, TurnReader};
use crate::record::ModelRequest;

/// Gemini's generateContent.
#[derive(Debug)]
pub struct Gemini;

/// As in `provider` of a turn.
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
        format!("/models/{model}:streamGenerateContent?alt=sse")
    }

    fn encode(&self, request: &ModelRequest, model: &str) -> Result<String, String> {
        request::body(request, model)
    }

    fn reader(&self, request: &ModelRequest, model: &str) -> Box<dyn TurnReader> {
        Box::new(stream::Reader::new(request, model))
    }

    fn failure(&self, status: u16, headers: &Headers<'_>, body: &[u8]) -> Failure {
        failure(status, headers, body)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
