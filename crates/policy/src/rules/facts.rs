//! The facts about a call that rules use, the same for every form of call.

use super::plain;
use crate::target::Target;
use crate::working_folder::WorkingFolder;
use pipewright_record::Call;
use pipewright_record::json::{Object, quoted};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The facts about a call.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// JSON text: an object.
    pub arguments: &'a str,
    /// The element that it acts on, if known.
    pub target: Option<&'a Target>,
    /// The name of the agent, as the gate's user gave it. The call's own `agent_id` does not count, since the caller
    /// wrote it.
    pub agent: Option<&'a str>,
    /// Where it runs, and how its paths are followed.
    pub place: Option<&'a WorkingFolder>,
    call: &'a Call<'a>,
}

impl<'a> Facts<'a> {
    /// The facts about a call that acts on `target`, by the agent with this name.
    pub fn new(call: &'a Call<'a>, target: Option<&'a Target>, agent: Option<&'a str>) -> Facts<'a> {
        Facts { tool: &call.tool, arguments: call.arguments_text(), target, agent, place: None, call }
    }

    /// The facts about the same call, whose paths are those of this place.
    #[must_use]
    pub fn in_place(self, place: &'a WorkingFolder) -> Facts<'a> {
        Facts { place: Some(place), ..self }
    }

    /// `plan_id` and similar fields, as text.
    pub fn context(&self, key: &str) -> Option<Cow<'a, str>> {
        self.call.context.fields().find(|(own, _)| *own == key).map(|(_, value)| plain(value.get()))
    }

    /// `{"tool","arguments","target","agent","id","session_id","agent_id","plan_id","step_id"}`, JSON text: the input
    /// of a rule's `when`.
    pub fn json(&self) -> String {
        Object::default()
            .text("tool", self.tool)
            .put("arguments", self.arguments)
            .put("target", self.target.map_or_else(|| "null".to_owned(), Target::json))
            .put("agent", self.agent.map_or_else(|| "null".to_owned(), quoted))
            .put("id", self.call.id.unwrap_or(RawValue::NULL))
            .put_all(self.call.context.fields().map(|(key, value)| (key, value.get())))
            .end()
    }
}
