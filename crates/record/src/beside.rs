//! The fields of a call that neither this vocabulary nor MCP defines. They are passed on to the other side as well.

use super::{Call, Fields, Form};
use crate::json::Object;

/// An object of a call.
#[derive(Clone, Copy)]
enum Part {
    /// The complete call in one of our own forms.
    Record,
    /// The complete call in JSON-RPC.
    Message,
    Params,
    Meta,
    Target,
    Policy,
}

impl Part {
    /// The fields defined here whose values contain no further objects.
    fn defined(self) -> &'static [&'static str] {
        match self {
            Part::Record => &[
                "type",
                "tool",
                "cmd",
                "tool_name",
                "id",
                "call_id",
                "timeout",
                "requires_approval",
                "session_id",
                "agent_id",
                "plan_id",
                "step_id",
            ],
            Part::Message => &["jsonrpc", "id", "method"],
            Part::Params => &["name"],
            Part::Meta => &["progressToken", "requires_approval"],
            Part::Target => &["role", "name", "value", "context", "snapshot_id"],
            Part::Policy => &["verdict", "rule", "reason", "kind", "severity"],
        }
    }

    /// The kind of the object in this field, if it is defined.
    fn within(self, key: &str) -> Option<Part> {
        match (self, key) {
            (Part::Message, "params") => Some(Part::Params),
            (Part::Params, "_meta") => Some(Part::Meta),
            (Part::Record | Part::Meta, "target") => Some(Part::Target),
            (Part::Record | Part::Meta, "policy") => Some(Part::Policy),
            _ => None,
        }
    }

    /// The other fields of this object, as an object. None if there are none, or if it cannot be read.
    fn others(self, json: &str, arguments: &str) -> Option<String> {
        let holds_arguments = matches!(self, Part::Record | Part::Params);
        let mut others = None;
        for (key, value) in Fields::read(json).ok()?.iter() {
            let json = value.get();
            let holds_others = json.starts_with(['{', '[']);
            let other = match self.within(key) {
                Some(part) if json.starts_with('{') => part.others(json, arguments),
                _ if !holds_others && self.defined().contains(&key) => None,
                _ if holds_arguments && key == arguments => None,
                _ => Some(json.to_owned()),
            };
            if let Some(other) = other {
                others = Some(others.take().unwrap_or_else(Object::default).put_any(key, other));
            }
        }
        others.map(Object::end)
    }
}

impl Call<'_> {
    /// The fields of `line`, in which this call was recognised, that are not defined here: a JSON object nested as in the line.
    /// None if there are none.
    ///
    /// ```
    /// use pipewright_record::recognise;
    /// let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":1},"b":2}}"#;
    /// let call = recognise(line)?.expect("a call");
    /// assert_eq!(call.beside_arguments(line).as_deref(), Some(r#"{"params":{"b":2}}"#));
    /// # Ok::<(), pipewright_record::Unreadable>(())
    /// ```
    pub fn beside_arguments(&self, line: &str) -> Option<String> {
        let whole = if self.form == Form::JsonRpc { Part::Message } else { Part::Record };
        whole.others(line, self.arguments_key)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::recognise;

    #[test]
    fn only_undefined_fields_are_beside_the_arguments() {
        let none = [
            r#"{"tool":"t","args":{"a":1},"id":7,"timeout":"5s","requires_approval":true,"session_id":"s","target":{"role":"r","name":null},"policy":{"verdict":"confirm"}}"#,
            r#"{"type":"tool_call","tool_name":"t","call_id":1,"arguments":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{},"_meta":{"progressToken":"p","target":{"name":"n"}}}}"#,
        ];
        let some = [
            (r#"{"tool":"t","arguments":{"a":1},"n":1.10}"#, r#"{"n":1.10}"#),
            (
                r#"{"tool":"t","session_id":["x"],"target":{"name":"n","href":"h"}}"#,
                r#"{"session_id":["x"],"target":{"href":"h"}}"#,
            ),
            // In JSON-RPC these fields have no special meaning.
            (
                r#"{"jsonrpc":{"x":1},"method":"tools/call","timeout":1,"params":{"name":"t","target":1,"_meta":{"progressToken":{},"k\"":2,"policy":[]}}}"#,
                r#"{"jsonrpc":{"x":1},"timeout":1,"params":{"target":1,"_meta":{"progressToken":{},"k\"":2,"policy":[]}}}"#,
            ),
        ];
        for (line, expected) in
            none.map(|line| (line, None)).into_iter().chain(some.map(|(line, json)| (line, Some(json))))
        {
            let call = recognise(line).unwrap().unwrap();
            assert_eq!(call.beside_arguments(line).as_deref(), expected, "{line}");
        }
    }
}
