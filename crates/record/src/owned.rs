//! A call that is kept after its line is gone, so the line need not be kept and recognised again.

use super::{Call, Context, Form, is_same_id};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The parts of a [`Call`], owned.
#[derive(Debug, Clone)]
pub struct OwnedCall {
    form: Form,
    id: Option<Box<RawValue>>,
    tool: String,
    arguments: Option<Box<RawValue>>,
    arguments_key: &'static str,
    timeout: Option<Box<RawValue>>,
    target: Option<Box<RawValue>>,
    requires_approval: bool,
    policy: Option<Box<RawValue>>,
    /// Most calls have none.
    context: Option<Box<[Option<Box<RawValue>>; 4]>>,
}

impl From<&Call<'_>> for OwnedCall {
    fn from(call: &Call<'_>) -> OwnedCall {
        let owned = |value: Option<&RawValue>| value.map(ToOwned::to_owned);
        OwnedCall {
            form: call.form,
            id: owned(call.id),
            tool: call.tool.clone().into_owned(),
            arguments: owned(call.arguments),
            arguments_key: call.arguments_key,
            timeout: owned(call.timeout),
            target: owned(call.target),
            requires_approval: call.requires_approval,
            policy: owned(call.policy),
            context: call.context.fields().next().map(|_| Box::new(call.context.values().map(owned))),
        }
    }
}

impl OwnedCall {
    /// The recognised call.
    pub fn call(&self) -> Call<'_> {
        Call {
            form: self.form,
            id: self.id.as_deref(),
            tool: Cow::Borrowed(&self.tool),
            arguments: self.arguments.as_deref(),
            arguments_key: self.arguments_key,
            timeout: self.timeout.as_deref(),
            target: self.target.as_deref(),
            requires_approval: self.requires_approval,
            policy: self.policy.as_deref(),
            context: self
                .context
                .as_ref()
                .map_or_else(Context::default, |values| Context::new(values.each_ref().map(Option::as_deref))),
        }
    }

    /// The tool's name.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Whether this is its id, as JSON text.
    pub fn has_id(&self, id: &str) -> bool {
        is_same_id(self.id.as_deref().map(RawValue::get), Some(id))
    }

    /// Approximate size in bytes.
    pub fn size(&self) -> usize {
        let size = |value: &Option<Box<RawValue>>| value.as_ref().map_or(0, |value| value.get().len());
        let context = self.context.iter().flat_map(|values| values.each_ref().map(size));
        let others = [&self.id, &self.arguments, &self.timeout, &self.target, &self.policy].map(size);
        self.tool.len() + others.iter().sum::<usize>() + context.sum::<usize>()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::recognise;
    use super::*;

    #[test]
    fn an_owned_call_equals_the_recognised_call() {
        for line in [
            r#"{"type":"tool_call","call_id":1.10,"tool_name":"a\"b","arguments":{"n":1.10},"timeout":"5s","plan_id":7,"target":{"role":"x"},"policy":{},"requires_approval":true}"#,
            r#"{"tool":"echo"}"#,
            r#"{"cmd":"quit","id":null,"arguments":{}}"#,
            r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"t","arguments":{}}}"#,
        ] {
            let call = recognise(line).unwrap().unwrap();
            let owned = OwnedCall::from(&call);
            assert_eq!(format!("{:?}", owned.call()), format!("{call:?}"));
        }
    }
}
