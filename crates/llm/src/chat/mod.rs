//! OpenAI's Chat Completions, and compatible servers.
//!
//! Source: OpenAI's API reference, `POST /v1/chat/completions`. Comments name the servers that deviate from it.

pub(super) mod calls;
pub(super) mod failure;
pub(super) mod growing_text;
pub(super) mod message;
pub(super) mod request;
mod stream;
#[cfg(test)]
mod tests;
pub(super) mod usage;

use super::{Failure, Headers, Provider, TurnReader};
use pipewright_record::{Fields, ModelRequest};

/// A kind of server with this API.
#[derive(Debug)]
pub struct ChatServer {
    name: &'static str,
    base_url: &'static str,
    key_variables: &'static [&'static str],
    /// The field that limits the tokens of a turn. OpenAI's reasoning models reject `max_tokens`; older versions of the
    /// other servers ignore `max_completion_tokens`.
    limit: &'static str,
}

impl ChatServer {
    /// OpenAI's own servers.
    pub const OPENAI: ChatServer = ChatServer {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        key_variables: &["OPENAI_API_KEY"],
        limit: "max_completion_tokens",
    };
    /// OpenRouter, which passes requests on to many providers.
    pub const OPENROUTER: ChatServer = ChatServer {
        name: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        key_variables: &["OPENROUTER_API_KEY"],
        limit: "max_tokens",
    };
    /// Ollama on this machine.
    pub const OLLAMA: ChatServer = ChatServer::local("ollama", "http://localhost:11434/v1");
    /// llama.cpp's `llama-server` on this machine.
    pub const LLAMA_CPP: ChatServer = ChatServer::local("llama.cpp", "http://localhost:8080/v1");
    /// vLLM on this machine.
    pub const VLLM: ChatServer = ChatServer::local("vllm", "http://localhost:8000/v1");
    /// LM Studio on this machine.
    pub const LM_STUDIO: ChatServer = ChatServer::local("lmstudio", "http://localhost:1234/v1");

    /// A server that needs no key, at its default address.
    const fn local(name: &'static str, base_url: &'static str) -> ChatServer {
        ChatServer { name, base_url, key_variables: &[], limit: "max_tokens" }
    }
}

impl Provider for ChatServer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn base_url(&self) -> &'static str {
        self.base_url
    }

    fn key_variables(&self) -> &'static [&'static str] {
        self.key_variables
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn has_calls_in_text(&self) -> bool {
        true
    }

    /// Ollama drops the front of a prompt that does not fit its context window, and keeps as much as fills half of the
    /// window (issue 17427). A token has about four bytes.
    fn drops_text(&self, bytes: usize, tokens: u64) -> bool {
        self.name == ChatServer::OLLAMA.name && tokens > 0 && (bytes as u64) / 8 > tokens
    }

    fn path(&self, _model: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn encode(&self, request: &ModelRequest, model: &str) -> Result<String, String> {
        request::body(self, request, model)
    }

    fn events_reader(&self, request: &ModelRequest, model: &str) -> Box<dyn TurnReader> {
        Box::new(stream::Reader::new(self.name, request, model))
    }

    fn events_of(&self, answer: &str) -> Option<Vec<String>> {
        let fields = Fields::read(answer).ok()?;
        fields.present("choices")?;
        Some(vec![answer.to_owned(), "[DONE]".to_owned()])
    }

    fn failure(&self, status: u16, headers: &Headers<'_>, body: &[u8]) -> Failure {
        failure::of_answer(status, headers, body)
    }
}
