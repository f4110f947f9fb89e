//! What a rule sees of a call, whatever form that came in.

use super::plain;
use crate::json::Object;
use crate::policy::target::Target;
use crate::record::Call;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What is known of a call.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// JSON text: an object.
    pub arguments: &'a str,
    /// What it acts on, where that is known.
    pub target: Option<&'a Target>,
    call: &'a Call<'a>,
}

impl<'a> Facts<'a> {
    /// Of a call, which acts on `target`.
    pub fn new(call: &'a Call<'a>, target: Option<&'a Target>) -> Facts<'a> {
        let arguments = call.arguments.map_or("{}", RawValue::get);
        Facts { tool: &call.tool, arguments, target, call }
    }

    /// `agent_id` and its like, as text.
    pub fn context(&self, key: &str) -> Option<Cow<'a, str>> {
        self.call.context.iter().find(|(own, _)| *own == key).map(|(_, value)| plain(value.get()))
    }

    /// `{"tool","arguments","target","id","session_id","agent_id","plan_id","step_id"}`, JSON text: what a rule's `when` sees.
    pub fn json(&self) -> String {
        Object::default()
            .text("tool", self.tool)
            .put("arguments", self.arguments)
            .put("target", self.target.map_or_else(|| "null".to_owned(), Target::json))
            .put("id", self.call.id.unwrap_or(RawValue::NULL))
            .put_all(self.call.context.iter().map(|&(key, value)| (key, value.get())))
            .end()
    }
}
