//! `model_turn`: a model's answer, or the reason why there is none.

use crate::json::{Object, quoted};
use crate::record::{Fields, Kind, Unreadable, unreadable};
use serde_json::value::RawValue;

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The model calls at least one tool and waits for the results.
    Call,
    /// The model has finished its answer.
    End,
    /// The limit of output tokens, or the context window, ended the turn.
    Length,
    /// The model, or a filter of the provider, refused to answer.
    Refusal,
}

impl Stop {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Call => "call",
            Stop::End => "end",
            Stop::Length => "length",
            Stop::Refusal => "refusal",
        }
    }
}

/// Token counts, as the provider reports them, and their cost. `None` means not reported, which is not 0.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Usage {
    /// All tokens read, including cached ones.
    pub input: Option<u64>,
    /// All tokens written, including reasoning.
    pub output: Option<u64>,
    /// The part of the input that came from the provider's cache.
    pub cached: Option<u64>,
    /// The part of the output that is reasoning.
    pub reasoning: Option<u64>,
    /// US dollars, if the model's prices are known.
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
    pub(crate) fn of(fields: &Fields<'_>) -> Usage {
        let count = |key: &str| fields.get(key)?.get().parse().ok();
        let cost = fields.get("cost").and_then(|cost| cost.get().parse().ok()).filter(|cost: &f64| *cost >= 0.0);
        let (input, output, cached, reasoning) = (count("input"), count("output"), count("cached"), count("reasoning"));
        Usage { input, output, cached, reasoning, cost }
    }

    /// `{"input"?,"output"?,"cached"?,"reasoning"?,"cost"?}`.
    pub fn json(&self) -> String {
        let object = Object::default().put_some("input", self.input).put_some("output", self.output);
        object
            .put_some("cached", self.cached)
            .put_some("reasoning", self.reasoning)
            .put_some("cost", self.cost.map(dollars))
            .end()
    }
}

/// Without the surplus digits that adding binary fractions leaves.
fn dollars(cost: f64) -> f64 {
    (cost * 1e9).round() / 1e9
}

/// The arguments of a model's call.
#[derive(Debug, Clone)]
pub enum Arguments {
    /// JSON text: an object.
    Object(Box<RawValue>),
    /// The model's text, if it is not an object.
    Text(String),
}

impl Arguments {
    /// Arguments that came as text: empty text means no arguments.
    pub(crate) fn of_text(text: &str) -> Arguments {
        let json = if text.trim().is_empty() { "{}" } else { text };
        match RawValue::from_string(crate::json::one_line(json)) {
            Ok(object) if object.get().starts_with('{') => Arguments::Object(object),
            _ => Arguments::Text(text.to_owned()),
        }
    }
}

/// A call in a turn.
#[derive(Debug, Clone)]
pub struct ModelCall {
    /// The provider's id, or a generated one if it gave none; unique in the turn.
    pub call_id: String,
    /// The tool's name as the model wrote it.
    pub tool_name: String,
    /// Its arguments.
    pub arguments: Arguments,
}

impl ModelCall {
    /// `{"call_id","tool_name","arguments"|"arguments_text"}`.
    pub fn json(&self) -> String {
        let object = Object::default().text("call_id", &self.call_id).text("tool_name", &self.tool_name);
        match &self.arguments {
            Arguments::Object(arguments) => object.put("arguments", arguments.get()),
            Arguments::Text(text) => object.text("arguments_text", text),
        }
        .end()
    }
}

/// A complete turn.
#[derive(Debug, Clone)]
pub struct ModelTurn {
    /// How it ended.
    pub stop: Stop,
    /// All of its text.
    pub text: String,
    /// The part of the model's reasoning that the provider shows; may be empty.
    pub reasoning: String,
    /// In the order in which they were made.
    pub calls: Vec<ModelCall>,
    /// Its token counts and cost.
    pub usage: Usage,
    /// The provider's name, as in `--model PROVIDER/NAME`.
    pub provider: &'static str,
    /// The model, as requested.
    pub model: String,
    /// The turn as the provider would have sent it unstreamed: JSON text that is sent back unchanged.
    pub raw: Box<RawValue>,
}

/// Why there is no turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnFailure {
    /// A kind of the common list.
    pub kind: Kind,
    /// For people.
    pub message: String,
    /// The provider's own code.
    pub code: Option<String>,
}

/// Figures about the complete request, however it ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attempts {
    /// From the first attempt to the end, in milliseconds.
    pub latency_ms: u64,
    /// Attempts after the first.
    pub retries: u32,
    /// The turn comes from the cache.
    pub is_cached: bool,
}

impl ModelTurn {
    /// The record, JSON text without a line feed. `request_id` is JSON text.
    pub fn record(&self, request_id: Option<&RawValue>, attempts: Attempts) -> String {
        let calls: Vec<String> = self.calls.iter().map(ModelCall::json).collect();
        let object = begin(request_id, "ok").text("stop", self.stop.name()).text("text", &self.text);
        let reasoning = Some(&self.reasoning).filter(|reasoning| !reasoning.is_empty()).map(|text| quoted(text));
        object
            .put_some("reasoning", reasoning)
            .put("calls", format_args!("[{}]", calls.join(",")))
            .put("usage", self.usage.json())
            .text("provider", self.provider)
            .text("model", &self.model)
            .put("raw", self.raw.get())
            .put("latency_ms", attempts.latency_ms)
            .put("retries", attempts.retries)
            .put_some("from_cache", attempts.is_cached.then_some(true))
            .end()
    }

    /// Reads a `model_turn` with the status `ok`, as [`ModelTurn::record`] writes it, without its usage.
    ///
    /// # Errors
    /// Text that is not such a record.
    pub fn read(record: &str, provider: &'static str) -> Result<ModelTurn, Unreadable> {
        let fields = Fields::read(record)?;
        let stop = fields.string("stop")?;
        let stop = [Stop::Call, Stop::End, Stop::Length, Stop::Refusal]
            .into_iter()
            .find(|one| stop.as_deref() == Some(one.name()));
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
        })
    }
}

impl TurnFailure {
    /// The record, JSON text without a line feed. `request_id` is JSON text.
    pub fn record(&self, request_id: Option<&RawValue>, usage: Usage, attempts: Attempts) -> String {
        begin(request_id, "error")
            .text("kind", self.kind.name())
            .text("error", &self.message)
            .text_some("code", self.code.as_deref())
            .put("usage", usage.json())
            .put("latency_ms", attempts.latency_ms)
            .put("retries", attempts.retries)
            .end()
    }
}

fn begin(request_id: Option<&RawValue>, status: &str) -> Object {
    Object::default().text("type", "model_turn").put_some("request_id", request_id).text("status", status)
}
