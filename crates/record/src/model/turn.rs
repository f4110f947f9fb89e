//! `model_turn`: a model's answer, or the reason why there is none.

use crate::json::{raw, text};
use crate::{Fields, Kind, Record, Unreadable, named, schema, unreadable};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

named! {
    /// How a turn ended.
    pub enum Stop as "stop" {
        /// The model calls at least one tool and waits for the results.
        Call = "call",
        /// The model has finished its answer.
        End = "end",
        /// The limit of output tokens, or the context window, ended the turn.
        Length = "length",
        /// The model, or a filter of the provider, refused to answer.
        Refusal = "refusal",
    }
}

named! {
    /// The form in which a model was asked for calls.
    pub enum CallForm as "model_call_form" {
        /// The structured calls of the provider's API.
        Structured = "structured",
        /// One JSON object by schema.
        Schema = "schema",
        /// Lines of text.
        Text = "text",
    }
}

/// Tokens as the provider counts them, and their cost. Unknown values are left out.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "usage")]
pub struct Usage {
    /// All tokens of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// All tokens of the output, including reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The input tokens that the provider had in its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// The output tokens that are reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// In US dollars, if the model's prices are known.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "dollars")]
    #[schemars(range(min = 0))]
    pub cost: Option<f64>,
}

impl Usage {
    /// The sum of two attempts.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        Usage {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            cached: sum(self.cached, other.cached),
            reasoning: sum(self.reasoning, other.reasoning),
            cost: match (self.cost, other.cost) {
                (Some(one), Some(other)) => Some(one + other),
                (one, other) => one.or(other),
            },
        }
    }

    /// Reads `{"input"?,"output"?,"cached"?,"reasoning"?,"cost"?}`. Any other value counts as not reported.
    pub fn of(fields: &Fields<'_>) -> Usage {
        let count = |key: &str| fields.get(key)?.get().parse().ok();
        let cost = fields.get("cost").and_then(|cost| cost.get().parse().ok()).filter(|cost: &f64| *cost >= 0.0);
        let (input, output, cached, reasoning) = (count("input"), count("output"), count("cached"), count("reasoning"));
        Usage { input, output, cached, reasoning, cost }
    }

    /// `{"input"?,"output"?,"cached"?,"reasoning"?,"cost"?}`.
    pub fn json(&self) -> String {
        text(self)
    }
}

/// Writes a cost in plain digits, without the surplus ones that adding binary fractions leaves.
fn dollars<S: Serializer>(cost: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    let rounded = cost.map(|cost| ((cost * 1e9).round() / 1e9).to_string());
    rounded.as_deref().map(raw).serialize(to)
}

/// The arguments of a model's call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub enum Arguments {
    /// An object.
    #[serde(rename = "arguments")]
    #[schemars(with = "schema::Arguments")]
    Object(Box<RawValue>),
    /// The model's text, if it is not an object.
    #[serde(rename = "arguments_text")]
    Text(String),
}

impl Arguments {
    /// Arguments that came as text: empty text, or `null`, means no arguments.
    pub fn of_text(text: &str) -> Arguments {
        let json = if ["", "null"].contains(&text.trim()) { "{}" } else { text };
        match RawValue::from_string(crate::json::one_line(json)) {
            Ok(object) if object.get().starts_with('{') => Arguments::Object(object),
            _ => Arguments::Text(text.to_owned()),
        }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "model_call")]
pub struct ModelCall {
    /// Unique in the turn: the provider's id, or a generated one. The message with the result repeats it.
    pub call_id: String,
    /// The tool's name as the model wrote it.
    pub tool_name: String,
    /// Its arguments.
    #[serde(flatten)]
    pub arguments: Arguments,
}

impl ModelCall {
    /// `{"call_id","tool_name","arguments"|"arguments_text"}`.
    pub fn json(&self) -> String {
        text(self)
    }
}

/// A complete turn.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelTurn {
    /// How the turn ended: with calls, with its text, at a limit of tokens, or because the model or its provider refused.
    pub stop: Stop,
    /// The complete text.
    pub text: String,
    /// The part of the model's reasoning that the provider shows.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// In the order in which they were made.
    pub calls: Vec<ModelCall>,
    /// The tokens and the cost of the turn.
    pub usage: Usage,
    /// The provider's name, as in `--model PROVIDER/NAME`.
    pub provider: &'static str,
    /// The model as it was requested.
    pub model: String,
    /// The provider's turn. It is sent back unchanged, to that provider and model only.
    pub raw: Box<RawValue>,
    /// The form of calls, if the request has tools. A conversation keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<CallForm>,
    /// The model's context window in tokens, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
}

/// Why there is no turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TurnFailure {
    /// Why it failed.
    pub kind: Kind,
    /// For people.
    #[serde(rename = "error")]
    pub message: String,
    /// The code of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// Figures about the complete request, however it ended.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct Attempts {
    /// Milliseconds from the first attempt to the end.
    pub latency_ms: u64,
    /// Attempts after the first.
    pub retries: u32,
    /// The turn comes from the cache: nothing was sent, and usage is empty.
    #[serde(rename = "from_cache", skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub is_cached: bool,
}

/// A model's turn, or the reason why there is none.
///
/// The answer to model_request.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "model_turn")]
#[schemars(
    extend(
        "required" = ["status", "usage"],
        "if" = { "properties": { "status": { "const": "ok" } } },
        "then" = { "required": ["stop", "text", "calls", "provider", "model", "raw"] },
        "else" = { "required": ["kind", "error"] }
    )
)]
pub struct TurnRecord<'a> {
    /// The request_id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Id>")]
    request_id: Option<&'a RawValue>,
    /// Whether there is a turn.
    #[schemars(extend("enum" = ["ok", "error"]))]
    status: &'static str,
    #[serde(flatten)]
    turn: Option<&'a ModelTurn>,
    #[serde(flatten)]
    failure: Option<&'a TurnFailure>,
    /// The tokens and the cost, also of a failed request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Usage")]
    usage: Option<Usage>,
    #[serde(flatten)]
    attempts: Attempts,
}

impl Record for TurnRecord<'_> {}

impl ModelTurn {
    /// The record, JSON text without a line feed. `request_id` is JSON text.
    pub fn record(&self, request_id: Option<&RawValue>, attempts: Attempts) -> String {
        TurnRecord { request_id, status: "ok", turn: Some(self), failure: None, usage: None, attempts }.json()
    }

    /// Reads a `model_turn` with the status `ok`, as [`ModelTurn::record`] writes it, without its usage.
    ///
    /// # Errors
    /// Text that is not such a record.
    pub fn read(record: &str, provider: &'static str) -> Result<ModelTurn, Unreadable> {
        let fields = Fields::read(record)?;
        let stop = fields.string("stop")?;
        let stop = stop.as_deref().and_then(Stop::named);
        let (Some("ok"), Some(stop), Some(raw)) = (fields.string("status")?.as_deref(), stop, fields.present("raw"))
        else {
            return unreadable("it is not a model_turn with \"status\":\"ok\", \"stop\" and \"raw\"");
        };
        Ok(ModelTurn {
            stop,
            text: fields.string("text")?.unwrap_or_default(),
            reasoning: fields.string("reasoning")?.unwrap_or_default(),
            calls: super::request::calls(&fields)?,
            usage: Usage::default(),
            provider,
            model: fields.string("model")?.unwrap_or_default(),
            raw: raw.to_owned(),
            form: fields.string("form")?.as_deref().and_then(CallForm::named),
            context: fields.count("context"),
        })
    }
}

impl TurnFailure {
    /// The record, JSON text without a line feed. `request_id` is JSON text.
    pub fn record(&self, request_id: Option<&RawValue>, usage: Usage, attempts: Attempts) -> String {
        let (failure, usage) = (Some(self), Some(usage));
        TurnRecord { request_id, status: "error", turn: None, failure, usage, attempts }.json()
    }
}
