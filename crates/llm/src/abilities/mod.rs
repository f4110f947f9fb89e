//! What a model's server accepts. Everything is sent until the server refuses it; then it is left out, or sent in another form.
//!
//! [`encode`] applies the abilities to a request, and [`refusal`] reads from a failure what the server refuses.

mod body;
mod names;
mod refusal;
mod shape;

pub use body::is_setting;
pub use refusal::{SentBody, refusal};

use crate::{Provider, TurnReader, text_calls};
use body::without_fields;
use names::ToolNames;
use pipewright_record::json::{Object, quoted};
use pipewright_record::{CallForm, Fields, ModelRequest, ModelTurn, Stop, ToolChoice};
use shape::shape;
use std::collections::{BTreeSet, HashSet};

/// A part of requests that not every server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ability {
    /// Tools with JSON Schemas, and structured calls of them; otherwise the system text describes the tools, and the answer is a JSON object.
    Tools,
    /// That a call is required.
    RequiredCall,
    /// A JSON Schema of the answer; otherwise the system text asks for it, and calls are asked for as lines of text.
    Schema,
    /// Pictures; otherwise a text stands in their place.
    Images,
    /// A system text; otherwise it begins the first message of the user.
    System,
    /// A message of the user directly after the result of a tool.
    UserAfterTool,
    /// Ids of calls in any form; otherwise they have nine letters and digits.
    CallIds,
    /// Messages in several parts; otherwise each is one text.
    Parts,
    /// An answer in pieces.
    Streaming,
}

impl Ability {
    /// All abilities.
    pub const ALL: [Ability; 9] = [
        Ability::Tools,
        Ability::RequiredCall,
        Ability::Schema,
        Ability::Images,
        Ability::System,
        Ability::UserAfterTool,
        Ability::CallIds,
        Ability::Parts,
        Ability::Streaming,
    ];

    /// Its name in files and in the output of `llm-pipe check`.
    pub fn name(self) -> &'static str {
        match self {
            Ability::Tools => "tools",
            Ability::RequiredCall => "required_call",
            Ability::Schema => "schema",
            Ability::Images => "images",
            Ability::System => "system",
            Ability::UserAfterTool => "user_after_tool",
            Ability::CallIds => "call_ids",
            Ability::Parts => "parts",
            Ability::Streaming => "streaming",
        }
    }

    /// The ability with this name.
    pub fn named(name: &str) -> Option<Ability> {
        Ability::ALL.into_iter().find(|ability| ability.name() == name)
    }

    /// What is done without it, for people.
    fn remedy(self) -> &'static str {
        match self {
            Ability::Tools => {
                "does not answer with structured calls: they are asked for as JSON, and the prompt describes the tools"
            }
            Ability::RequiredCall => "does not accept a required call: the model is free to answer with text",
            Ability::Schema => "does not accept the schema: the prompt describes it",
            Ability::Images => "does not accept pictures: they are left out",
            Ability::System => "does not accept a system text: it begins the first message",
            Ability::UserAfterTool => "does not accept a message after a result: it is put into the result",
            Ability::CallIds => "does not accept the ids of calls: they get nine letters",
            Ability::Parts => "does not accept messages in parts: each is one text",
            Ability::Streaming => "does not stream: each answer comes as a whole",
        }
    }
}

/// What a server has refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A part of requests, in any request.
    Ability(Ability),
    /// A field of the body, in any request.
    Field(String),
    /// A higher limit of a turn's tokens than this.
    Limit(u64),
    /// The pictures of this request, but perhaps not others.
    Pictures,
}

impl Refusal {
    /// What is refused, and what is done about it, as a sentence whose subject is the server.
    pub fn describe(&self) -> String {
        match self {
            Refusal::Ability(ability) => ability.remedy().to_owned(),
            Refusal::Field(name) => format!("does not accept the field {name:?}: it is left out"),
            Refusal::Limit(most) => format!("does not accept a limit above {most} tokens: that is the limit now"),
            Refusal::Pictures => "does not accept a picture: it is left out".to_owned(),
        }
    }
}

/// What a server is known to refuse.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Abilities {
    refused: BTreeSet<Ability>,
    /// Fields of the body that are left out.
    fields: BTreeSet<String>,
    /// The highest limit of a turn's tokens that is accepted.
    most_output: Option<u64>,
    /// Whether it has answered with structured calls: text that looks like a call does not change that.
    has_called: bool,
    /// The context window in tokens.
    context: Option<u64>,
    /// The hashes of pictures that are left out, and of those that were accepted.
    left_out: HashSet<u64>,
    accepted: HashSet<u64>,
}

impl Abilities {
    /// Whether the server is not known to refuse it.
    pub fn has(&self, ability: Ability) -> bool {
        !self.refused.contains(&ability)
    }

    /// Whether the server is known to refuse a field of the body.
    pub fn leaves_out(&self, field: &str) -> bool {
        self.fields.contains(field)
    }

    /// Declares whether the server has an ability.
    pub fn set(&mut self, ability: Ability, has: bool) {
        self.has_called |= has && ability == Ability::Tools;
        if has {
            self.refused.remove(&ability)
        } else {
            self.refused.insert(ability)
        };
    }

    /// Remembers that the model answered with structured calls; true if that was not known.
    pub fn prove_calls(&mut self) -> bool {
        !std::mem::replace(&mut self.has_called, true)
    }

    /// Whether the form of a turn's calls shows that its model does not answer with structured calls: it wrote a call as text, or none
    /// although one was required.
    pub fn lacks_calls(&self, turn: &ModelTurn, request: &ModelRequest) -> bool {
        let is_open = turn.form == Some(CallForm::Structured) && !self.has_called && turn.calls.is_empty();
        let is_required = request.tool_choice == ToolChoice::Any && turn.stop == Stop::End;
        is_open && (is_required || !text_calls::recognise(turn.clone(), request).calls.is_empty())
    }

    /// The context window in tokens, if it is known.
    pub fn context(&self) -> Option<u64> {
        self.context
    }

    /// Remembers the context window.
    pub fn set_context(&mut self, tokens: u64) {
        self.context = Some(tokens);
    }

    /// Remembers a refusal of this request. Of its pictures, those are left out that were never accepted; all, if there are none.
    pub fn learn(&mut self, refusal: &Refusal, request: &ModelRequest) {
        match refusal {
            Refusal::Ability(ability) => self.set(*ability, false),
            Refusal::Field(name) => _ = self.fields.insert(name.clone()),
            Refusal::Limit(most) => self.most_output = Some(*most),
            Refusal::Pictures => {
                let sent = shape::pictures(request).filter(|hash| !self.left_out.contains(hash));
                let sent: HashSet<u64> = sent.collect();
                let new: HashSet<u64> = sent.difference(&self.accepted).copied().collect();
                self.left_out.extend(if new.is_empty() { sent } else { new });
            }
        }
    }

    /// Remembers that the server accepted the pictures of this request.
    pub fn accept(&mut self, request: &ModelRequest) {
        self.accepted.extend(shape::pictures(request).filter(|hash| !self.left_out.contains(hash)));
    }

    /// What is known for every request: `{"refused":[...],"fields":[...],"most_output"?:N,"context"?:N,"has_called"?:true}`, one line.
    pub fn json(&self) -> String {
        let list = |names: Vec<&str>| format!("[{}]", names.into_iter().map(quoted).collect::<Vec<_>>().join(","));
        let refused = list(self.refused.iter().map(|ability| ability.name()).collect());
        let fields = list(self.fields.iter().map(String::as_str).collect());
        let object = Object::default().put("refused", refused).put("fields", fields);
        let object = object.put_some("most_output", self.most_output).put_some("context", self.context);
        object.put_some("has_called", self.has_called.then_some(true)).end()
    }

    /// Reads [`Abilities::json`]. Names that are not known are skipped.
    pub fn read(json: &str) -> Abilities {
        let fields = Fields::read(json).unwrap_or_default();
        let texts = |key| -> Vec<String> {
            let list = fields.list(key).unwrap_or_default().into_iter();
            list.filter_map(|json| serde_json::from_str(json.get()).ok()).collect()
        };
        let refused = texts("refused").iter().filter_map(|name| Ability::named(name)).collect();
        let left_out = texts("fields").into_iter().filter(|name| body::is_optional(name)).collect();
        Abilities {
            refused,
            fields: left_out,
            most_output: fields.count("most_output"),
            context: fields.count("context"),
            has_called: fields.get("has_called").is_some_and(|value| value.get() == "true"),
            ..Abilities::default()
        }
    }
}

/// A request as it is sent, and the reader of its answer.
pub struct Encoded {
    /// The body of the POST, JSON text.
    pub body: String,
    /// What a refusal can be about.
    pub sent: SentBody,
    /// The reader of the answer.
    pub reader: Box<dyn TurnReader>,
}

/// Encodes a request for a server with these abilities. `settings` are additional fields of the body, each with a JSON value.
///
/// # Errors
/// Why the request cannot be sent, as text for people.
pub fn encode(
    provider: &dyn Provider,
    request: &ModelRequest,
    model: &str,
    abilities: &Abilities,
    settings: &[(String, String)],
) -> Result<Encoded, String> {
    let names = ToolNames::of(request);
    let shaped = shape(request, abilities, &names);
    let form = shape::form(request, abilities);
    let body = provider.encode(&shaped, model)?;
    let body = body::with_settings(body, provider, settings);
    let body = without_fields(body, abilities);
    let sent = SentBody::of(&body, form);
    let reader = names.reader(provider.reader(request, model), form);
    Ok(Encoded { body, sent, reader })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
