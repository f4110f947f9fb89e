//! Parts of the conversation that every provider's encoder and reader needs.

use super::Failure;
use pipewright_record::json::Object;
use pipewright_record::{Arguments, Fields, Image, ImageSource, Message, ModelCall, ModelRequest, OwnTurn, Stop};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;

/// The raw turn, if it was made by this provider and model; turns of other models are rebuilt from their text and
/// calls.
pub(super) fn own_raw<'a>(turn: &'a OwnTurn, provider: &str, model: &str) -> Option<&'a RawValue> {
    turn.raw.as_deref().filter(|_| turn.provider == provider && turn.model == model)
}

/// The media type of an image, and its bytes in base64.
///
/// # Errors
/// The caller did not read the image's file, or its type is unknown.
pub(super) fn image_data(image: &Image) -> Result<(&str, &str), String> {
    match (&image.source, &image.mime) {
        (ImageSource::Base64(data), Some(mime)) => Ok((mime, data)),
        (ImageSource::Base64(_), None) => Err("an image has no media type".to_owned()),
        (ImageSource::File { path, .. }, _) => Err(format!("the image {path} was not read")),
    }
}

/// Arguments for a provider that accepts only objects. Other arguments are wrapped, so that the model sees its own
/// text. The key is the one in Anthropic's documentation (fine-grained tool streaming).
pub(super) fn arguments_object(arguments: &Arguments) -> Cow<'_, str> {
    match arguments {
        Arguments::Object(object) => Cow::Borrowed(object.get()),
        Arguments::Text(text) => Cow::Owned(Object::default().text("INVALID_JSON", text).end()),
    }
}

/// The calls of a turn. If a limit or a filter cut the turn, its last call is dropped: it may be unfinished, and no
/// provider marks that. Servers that read calls from the model's text complete its arguments to an object, so that an
/// object proves nothing.
pub(super) fn whole_calls(stop: Stop, mut calls: Vec<ModelCall>) -> Vec<ModelCall> {
    if matches!(stop, Stop::Length | Stop::Refusal) {
        calls.pop();
    }
    calls
}

/// Whether a call has no arguments. If its end has not come either, they may have been lost.
pub(super) fn has_no_arguments(call: &ModelCall) -> bool {
    matches!(&call.arguments, Arguments::Object(object) if object.get().trim_matches(['{', '}']).trim().is_empty())
}

/// Checks that a call has no arguments under another name than `own`: they would be left out.
pub(super) fn only_arguments(call: &Fields<'_>, own: &str) -> Result<(), Failure> {
    const NAMES: [&str; 6] = ["arguments", "args", "parameters", "params", "input", "kwargs"];
    let has_own = call.present(own).is_some();
    let is_other = |(key, json): &(&str, &RawValue)| match json.get() {
        "null" | "\"\"" | "{}" => false,
        json => *key != own && (NAMES.contains(key) || (!has_own && json.starts_with(['{', '[']))),
    };
    match call.iter().find(is_other) {
        Some((key, _)) => {
            Err(Failure::protocol(format_args!("a call has a field {key:?} beside or instead of {own:?}")))
        }
        None => Ok(()),
    }
}

/// The request for a server that does not support a JSON Schema of the answer: the system text asks for it.
#[must_use]
pub fn without_schema(request: &ModelRequest) -> ModelRequest {
    let mut written = request.clone();
    let wanted = written
        .schema
        .take()
        .map(|schema| format!("Answer with JSON that matches this JSON Schema, and write nothing else:\n{schema}"));
    let system = written.system.take().into_iter().chain(wanted).collect::<Vec<_>>().join("\n\n");
    written.system = Some(system).filter(|system| !system.is_empty());
    written
}

/// Generates ids for calls without one: `call_1` and so on, unique in the conversation, and the same in a replay.
#[derive(Debug)]
pub(super) struct CallIds {
    /// The ids in the whole conversation.
    taken: HashSet<String>,
    /// The provider's own ids in this turn.
    own: HashSet<String>,
    last: usize,
}

impl CallIds {
    /// For the next turn of a conversation.
    pub(super) fn after(request: &ModelRequest) -> CallIds {
        let turns = request.messages.iter().filter_map(|message| match message {
            Message::Assistant(turn) => Some(turn),
            Message::User(_) | Message::Tool { .. } => None,
        });
        let taken: HashSet<String> = turns.flat_map(|turn| &turn.calls).map(|call| call.call_id.clone()).collect();
        CallIds { last: taken.len(), taken, own: HashSet::new() }
    }

    /// The provider's own id, or a generated one if it is missing or used by another call of the turn. (Some servers
    /// reuse ids in each turn: those are kept, because results name their calls by them.)
    pub(super) fn take(&mut self, own: Option<String>) -> String {
        if let Some(own) = own.filter(|own| !own.is_empty() && self.own.insert(own.clone())) {
            self.taken.insert(own.clone());
            return own;
        }
        loop {
            self.last += 1;
            let id = format!("call_{}", self.last);
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn generated_ids_are_unique_in_the_conversation() {
        let request = ModelRequest::read(
            r#"{"type":"model_request","messages":[{"role":"assistant","turn":{"calls":[
                {"call_id":"call_3","tool_name":"x","arguments":{}},{"call_id":"b","tool_name":"x","arguments":{}}]}}]}"#,
        );
        let mut ids = CallIds::after(&request.unwrap().unwrap());
        let given = [None, Some("own"), Some("own"), Some(""), Some("b")].map(|own| ids.take(own.map(str::to_owned)));
        assert_eq!(given, ["call_4", "own", "call_5", "call_6", "b"]);
        let mut ids = CallIds::after(&ModelRequest::default());
        assert_eq!(
            [ids.take(None), ids.take(Some("call_2".to_owned())), ids.take(None)],
            ["call_1", "call_2", "call_3"]
        );
    }

    #[test]
    fn the_last_call_of_a_cut_turn_is_dropped() {
        let left = |stop, written: &[&str]| {
            let call = |text: &&str| ModelCall {
                call_id: String::new(),
                tool_name: "rm".to_owned(),
                arguments: Arguments::of_text(text),
            };
            whole_calls(stop, written.iter().map(call).collect()).len()
        };
        for begun in ["", "{ }", "{\"a\":", "7", "{\"a\":1}"] {
            for stop in [Stop::Length, Stop::Refusal] {
                assert_eq!(left(stop, &[begun, begun]), 1, "{begun}");
            }
            assert_eq!(left(Stop::Call, &[begun, begun]), 2, "{begun}");
        }
        assert_eq!(left(Stop::Length, &[]), 0);
    }

    #[test]
    fn arguments_are_an_object_or_the_original_text() {
        for text in ["", " ", "{}"] {
            let Arguments::Object(object) = Arguments::of_text(text) else { unreachable!("{text}") };
            assert_eq!(object.get(), "{}");
        }
        let lines = Arguments::of_text("{\n \"a\": 1.10 }");
        assert_eq!(arguments_object(&lines), r#"{  "a": 1.10 }"#);
        for text in [r#"{"a":"#, "[1]", "7"] {
            assert!(matches!(Arguments::of_text(text), Arguments::Text(written) if written == text), "{text}");
        }
        assert_eq!(arguments_object(&Arguments::of_text("{\"a")), r#"{"INVALID_JSON":"{\"a"}"#);
    }
}
