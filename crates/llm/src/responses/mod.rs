//! OpenAI's Responses API, without server-side storage: every request carries the complete conversation.
//!
//! Source: OpenAI's API reference, `POST /v1/responses`.

mod request;
mod stream;
#[cfg(test)]
mod tests;

use super::chat::failure;
use super::{Failure, Headers, Provider, TurnReader};
use pipewright_record::json::Object;
use pipewright_record::{Fields, ModelRequest};
use serde_json::value::RawValue;

/// OpenAI's servers, with the API that keeps reasoning from turn to turn.
#[derive(Debug)]
pub struct Responses;

const NAME: &str = "openai-responses";

impl Provider for Responses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn base_url(&self) -> &'static str {
        super::ChatServer::OPENAI.base_url()
    }

    fn key_variables(&self) -> &'static [&'static str] {
        super::ChatServer::OPENAI.key_variables()
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        super::ChatServer::OPENAI.key_header(key)
    }

    fn path(&self, _model: &str) -> String {
        "/responses".to_owned()
    }

    fn encode(&self, request: &ModelRequest, model: &str) -> Result<String, String> {
        request::body(request, model)
    }

    fn events_reader(&self, request: &ModelRequest, model: &str) -> Box<dyn TurnReader> {
        Box::new(stream::Reader::new(request, model))
    }

    fn setting<'a>(&self, name: &'a str) -> Vec<&'a str> {
        if name == "reasoning_effort" { vec!["reasoning", "effort"] } else { vec![name] }
    }

    fn events_of(&self, answer: &str) -> Option<Vec<String>> {
        let response = Fields::read(answer).ok()?;
        let items = response.list("output").ok().filter(|_| response.present("output").is_some())?;
        let parts = items.iter().filter_map(|item| Fields::read(item.get()).ok()?.list("content").ok()).flatten();
        let delta = |part: &RawValue| {
            let text = Fields::read(part.get()).ok()?.present("text")?.get();
            Some(Object::default().text("type", "response.output_text.delta").put("delta", text).end())
        };
        let mut events: Vec<String> = parts.filter_map(delta).collect();
        let end = match response.text("status").as_deref() {
            Some("failed") => "response.failed",
            Some("incomplete") => "response.incomplete",
            _ => "response.completed",
        };
        events.push(Object::default().text("type", end).put("response", answer).end());
        Some(events)
    }

    fn failure(&self, status: u16, headers: &Headers<'_>, body: &[u8]) -> Failure {
        failure::of_answer(status, headers, body)
    }
}
