//! Gemini's Interactions (<https://ai.google.dev/api/interactions-api>), streamed, and without the server's memory: the
//! complete conversation is sent each time.

mod request;
mod stream;

use super::gemini::Gemini;
use super::{Failure, Headers, Provider, TurnReader};
use pipewright_record::ModelRequest;

/// Gemini's Interactions.
#[derive(Debug)]
pub struct Interactions;

/// The name in a turn's `provider`.
const NAME: &str = "gemini-interactions";

impl Provider for Interactions {
    fn name(&self) -> &'static str {
        NAME
    }

    fn base_url(&self) -> &'static str {
        Gemini.base_url()
    }

    fn key_variables(&self) -> &'static [&'static str] {
        Gemini.key_variables()
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        Gemini.key_header(key)
    }

    fn path(&self, _model: &str) -> String {
        "/interactions".to_owned()
    }

    fn encode(&self, request: &ModelRequest, model: &str) -> Result<String, String> {
        request::body(request, model)
    }

    fn events_reader(&self, request: &ModelRequest, model: &str) -> Box<dyn TurnReader> {
        Box::new(stream::Reader::new(request, model))
    }

    fn setting<'a>(&self, name: &'a str) -> Vec<&'a str> {
        let within = match name {
            "stop" => "stop_sequences",
            "reasoning_effort" => "thinking_level",
            "temperature" | "top_p" | "top_k" | "seed" => name,
            _ => return vec![name],
        };
        vec!["generation_config", within]
    }

    fn failure(&self, status: u16, headers: &Headers<'_>, body: &[u8]) -> Failure {
        Gemini.failure(status, headers, body)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
