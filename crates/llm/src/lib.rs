//! Model providers: encodes requests for each, and converts its streamed answer to a turn. Does no I/O, and handles no
//! clock or key.
//!
//! A [`Provider`] encodes a [`ModelRequest`] as the body of a POST. It gives a [`TurnReader`] for the events of the
//! answer, or explains why an answer that is not a stream contains no turn. The same request always gives the same
//! bytes, and a continued conversation gives a body that begins with the same messages: so providers' caches work, and
//! signatures over earlier messages stay valid.

mod abilities;
mod anthropic;
mod assembly;
mod bounded;
mod chat;
mod conversation;
mod failure;
mod gemini;
mod interactions;
pub mod object_calls;
mod overflow;
mod responses;
mod retry;
pub mod text_calls;

pub use abilities::{Abilities, Ability, Encoded, Refusal, SentBody, encode, is_setting, refusal};
pub use anthropic::Anthropic;
pub use chat::ChatServer;
pub use conversation::without_schema;
pub use failure::{Failure, Headers, Retry};
pub use gemini::Gemini;
pub use interactions::Interactions;
pub use overflow::context_window;
pub use responses::Responses;

use bounded::{Bounded, MAX_TURN};
use pipewright_record::{Fields, ModelRequest, ModelTurn, Usage};
use serde_json::value::RawValue;

/// A part of an unfinished turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// A part of its text.
    Text(String),
    /// A part of the reasoning that the provider shows.
    Reasoning(String),
}

/// An API that models are asked through.
pub trait Provider: Sync {
    /// The name in `--model NAME/MODEL`, and in a turn's `provider`.
    fn name(&self) -> &'static str;

    /// The base URL of the provider's own servers, without a trailing slash.
    fn base_url(&self) -> &'static str;

    /// The environment variables of its key, the usual one first; empty if no key is needed.
    fn key_variables(&self) -> &'static [&'static str];

    /// The header that carries the key, and its value.
    fn key_header(&self, key: &str) -> (&'static str, String);

    /// Additional headers besides the content type and the key.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The path of requests for turns of `model`, relative to the base URL, possibly with a query: `/chat/completions`.
    fn path(&self, model: &str) -> String;

    /// Whether its models may write calls as text that the server does not recognise ([`text_calls`]).
    fn has_calls_in_text(&self) -> bool {
        false
    }

    /// Whether the server has silently dropped part of the text, judging by the tokens that it counted for a text of
    /// this size.
    fn drops_text(&self, _bytes: usize, _tokens: u64) -> bool {
        false
    }

    /// The JSON body that asks `model` for the next turn. All images of the request must have their bytes.
    ///
    /// # Errors
    /// Why the request cannot be sent, as text for people.
    fn encode(&self, request: &ModelRequest, model: &str) -> Result<String, String>;

    /// A reader of the answer to `request` for a turn of `model`, without a size limit; use [`Provider::reader`].
    fn events_reader(&self, request: &ModelRequest, model: &str) -> Box<dyn TurnReader>;

    /// A reader of the answer to `request` for a turn of `model`. It accepts at most 64 MiB of events.
    fn reader(&self, request: &ModelRequest, model: &str) -> Box<dyn TurnReader> {
        Box::new(Bounded { inner: self.events_reader(request, model), left: MAX_TURN })
    }

    /// Whether a request without a limit of the turn's tokens gets one anyway.
    fn has_own_limit(&self) -> bool {
        false
    }

    /// The place of a setting in the body, as names of fields. The names of settings are those of Chat Completions.
    fn setting<'a>(&self, name: &'a str) -> Vec<&'a str> {
        vec![name]
    }

    /// The data of the events that a stream would have for an answer that came as a whole, JSON text; `None` if it is none.
    fn events_of(&self, _answer: &str) -> Option<Vec<String>> {
        None
    }

    /// The models in the answer to GET /models, JSON text.
    fn models(&self, answer: &str) -> Vec<String> {
        models_of(answer)
    }

    /// Why an answer is not a stream of events: from its status (200 to 599), headers and body (JSON if the server has
    /// this API).
    fn failure(&self, status: u16, headers: &Headers<'_>, body: &[u8]) -> Failure;
}

/// Reads one streamed answer.
pub trait TurnReader: Send {
    /// Takes the next server-sent event, and appends its new tokens.
    ///
    /// # Errors
    /// The provider reports a failure, or violates its protocol. The reader must not be used after that.
    fn take(&mut self, name: &str, data: &[u8], tokens: &mut Vec<Token>) -> Result<(), Failure>;

    /// Whether the turn is complete, so that nothing more has to be waited for.
    fn is_complete(&self) -> bool;

    /// Whether the turn may be complete, so that only its counts may follow: some servers keep the stream open.
    fn is_ending(&self) -> bool {
        false
    }

    /// The usage so far, even of a turn that fails.
    fn usage(&self) -> Usage;

    /// The turn, after the end of the stream.
    ///
    /// # Errors
    /// The stream ended before the turn was complete, or the turn is unusable.
    fn finish(self: Box<Self>) -> Result<ModelTurn, Failure>;
}

/// The ids in `{"data":[{"id"}]}`, `{"models":[{"name"}]}` or a list of these.
fn models_of(answer: &str) -> Vec<String> {
    let fields = Fields::read(answer).unwrap_or_default();
    let list = ["data", "models"].iter().find_map(|key| fields.list(key).ok().filter(|list| !list.is_empty()));
    let list = list.or_else(|| serde_json::from_str(answer).ok()).unwrap_or_default();
    let id = |json: &RawValue| {
        let model = Fields::read(json.get()).ok()?;
        let id = model.text("id").or_else(|| model.text("name"))?;
        Some(id.strip_prefix("models/").map_or(id.clone(), str::to_owned))
    };
    list.into_iter().filter_map(id).collect()
}

/// The context window in tokens that a server names for a model in its answer to GET /models; a server with one model serves it under any name.
pub fn context_window_of(answer: &str, model: &str) -> Option<u64> {
    let list = Fields::read(answer).ok()?.list("data").ok()?;
    let models: Vec<Fields<'_>> = list.iter().filter_map(|json| Fields::read(json.get()).ok()).collect();
    let named = models.iter().find(|fields| fields.text("id").as_deref() == Some(model));
    let own = named.or(models.first().filter(|_| models.len() == 1))?;
    // vLLM, LM Studio and OpenRouter
    let names = ["max_model_len", "loaded_context_length", "max_context_length", "context_length"];
    let of_llama = own.object("meta").and_then(|meta| meta.count("n_ctx"));
    of_llama.or_else(|| names.iter().find_map(|name| own.count(name)))
}

/// All providers.
pub const PROVIDERS: &[&dyn Provider] = &[
    &Gemini,
    &Interactions,
    &Anthropic,
    &ChatServer::OPENAI,
    &Responses,
    &ChatServer::OPENROUTER,
    &ChatServer::OLLAMA,
    &ChatServer::LLAMA_CPP,
    &ChatServer::VLLM,
    &ChatServer::LM_STUDIO,
];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
