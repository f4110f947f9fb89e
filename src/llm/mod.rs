//! Model providers: what is sent to each, and how its streamed answer becomes a turn. Nothing here touches a stream, a clock or a key.
//!
//! A [`Provider`] encodes a [`ModelRequest`] as the body of a POST, and gives a [`TurnReader`] for the events of its answer, or tells
//! from an answer that is no stream why there is no turn. The same request always gives the same bytes, and a conversation that
//! goes on gives a body that begins with the same messages: so providers' caches work, and signatures over what stands before stay valid.

mod anthropic;
mod assembly;
mod bounded;
mod chat;
mod conversation;
mod failure;
mod gemini;
mod interactions;
mod responses;
mod retry;
pub mod text_calls;

pub use anthropic::Anthropic;
pub use chat::Chat;
pub use conversation::without_schema;
pub use failure::{Failure, Headers, Retry, SCHEMA_UNSUPPORTED, TOOLS_UNSUPPORTED};
pub use gemini::Gemini;
pub use interactions::Interactions;
pub use responses::Responses;

use crate::record::{ModelRequest, ModelTurn, Usage};
use bounded::{Bounded, LONGEST_TURN};

/// Part of a turn, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// Of its text.
    Text(String),
    /// Of the reasoning that the provider shows.
    Reasoning(String),
}

/// A way to ask models for turns: one API of one kind of server.
pub trait Provider: Sync {
    /// As in `--model NAME/MODEL`, and in `provider` of a turn.
    fn name(&self) -> &'static str;

    /// The base URL of the provider's own servers, without a slash at its end.
    fn base_url(&self) -> &'static str;

    /// The environment variables of its key, the usual one first; none where no key is needed.
    fn key_variables(&self) -> &'static [&'static str];

    /// The header that carries the key, and its value.
    fn key_header(&self, key: &str) -> (&'static str, String);

    /// Headers beside the content type and the key.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Where requests for turns of `model` are sent, below the base URL, with a query where there is one: `/chat/completions`.
    fn path(&self, model: &str) -> String;

    /// Whether its models may write calls as text, which the server does not recognise ([`text_calls`]).
    fn has_calls_in_text(&self) -> bool {
        false
    }

    /// Whether so few tokens, counted by the server in so many bytes of text, show that it has dropped part of the text without a word.
    fn drops_text(&self, _bytes: usize, _tokens: u64) -> bool {
        false
    }

    /// The JSON text that asks `model` for the next turn. Every image of the request has its bytes.
    ///
    /// # Errors
    /// What the provider cannot be asked, in words for people.
    fn encode(&self, request: &ModelRequest, model: &str) -> Result<String, String>;

    /// A reader of the answer to `request`, which was for a turn of `model`; [`Provider::reader`] bounds it.
    fn events_reader(&self, request: &ModelRequest, model: &str) -> Box<dyn TurnReader>;

    /// A reader of the answer to `request`, which was for a turn of `model`. It takes at most 64 MiB of events.
    fn reader(&self, request: &ModelRequest, model: &str) -> Box<dyn TurnReader> {
        Box::new(Bounded { inner: self.events_reader(request, model), left: LONGEST_TURN })
    }

    /// Why an answer is no stream of events: its status (200 to 599), headers and body (JSON, if the server is what we take it for).
    fn failure(&self, status: u16, headers: &Headers<'_>, body: &[u8]) -> Failure;
}

/// Reads one streamed answer.
pub trait TurnReader: Send {
    /// Takes the next server-sent event, and appends what it adds to the text.
    ///
    /// # Errors
    /// The provider reports a failure, or what comes is not its protocol. Nothing more is taken after that.
    fn take(&mut self, name: &str, data: &[u8], tokens: &mut Vec<Token>) -> Result<(), Failure>;

    /// Whether the turn is complete, so that nothing more has to be waited for.
    fn is_complete(&self) -> bool;

    /// What has been counted so far, also of a turn that fails.
    fn usage(&self) -> Usage;

    /// The turn, once the stream has ended.
    ///
    /// # Errors
    /// The stream was cut before the turn was complete, or the provider reports no usable turn.
    fn finish(self: Box<Self>) -> Result<ModelTurn, Failure>;
}

/// All of them.
pub const PROVIDERS: &[&dyn Provider] = &[
    &Gemini,
    &Interactions,
    &Anthropic,
    &Chat::OPENAI,
    &Responses,
    &Chat::OPENROUTER,
    &Chat::OLLAMA,
    &Chat::LLAMA_CPP,
    &Chat::VLLM,
    &Chat::LM_STUDIO,
];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
