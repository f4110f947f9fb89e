//! Requests to a model. Each repeats the complete conversation (`model_request` in pipewright(7)), so only the part
//! that a request adds to the earlier ones is compared.

use super::calls::text;
use pipewright_record::json::Object;
use pipewright_record::{Fields, type_of};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The fields of a request that stay the same for a whole run. They are compared apart from the messages: see
/// [`Comparison::setting_differences`](super::compare::Comparison::setting_differences).
pub(super) const SETTINGS: [&str; 6] = ["system", "tools", "core_tools", "tool_choice", "schema", "max_output_tokens"];

/// The conversations of one side, as far as its requests show them.
#[derive(Debug, Default)]
pub struct Conversations {
    /// The hash of each request's messages.
    ends: HashSet<u64>,
}

/// What one request adds to its conversation.
#[derive(Debug)]
pub struct RequestDelta {
    /// The request, JSON text without a line feed: `messages` has only the new ones, `earlier_messages` counts the
    /// others. Fields that are not compared are removed from the messages: the ids, and the path of an image that has a
    /// `sha256`.
    pub line: String,
    /// JSON text of any type.
    pub request_id: Option<Box<RawValue>>,
    /// The hash of the messages that an earlier request of this side had; at the beginning of a conversation, the hash
    /// of no messages.
    pub earlier: u64,
    /// The hash of all messages.
    pub all: u64,
}

/// A record of the model side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelRecord {
    Request,
    /// A part of a turn, while the model writes it.
    Token,
    Turn,
}

/// The kind of a line of the model side, and its `request_id`; `None` for another line.
pub(super) fn model_record(line: &[u8]) -> Option<(ModelRecord, Option<&RawValue>)> {
    let line = text(line)?;
    // Most lines are other records and need not be parsed again.
    if !line.contains("model_") && !line.contains("assistant_message") {
        return None;
    }
    let record = match type_of(line)?.as_ref() {
        "model_request" => ModelRecord::Request,
        "assistant_message" => ModelRecord::Token,
        "model_turn" => ModelRecord::Turn,
        _ => return None,
    };
    Some((record, Fields::read(line).ok()?.get("request_id")))
}

impl Conversations {
    /// Takes the next request of this side, without its line end; `None` for another line. A request continues the
    /// longest conversation that its messages begin with. One that repeats an earlier request adds what that one added.
    pub fn add(&mut self, line: &[u8]) -> Option<RequestDelta> {
        let Some((ModelRecord::Request, id)) = model_record(line) else { return None };
        let fields = Fields::read(text(line)?).ok()?;
        let messages = fields.get("messages").map(|messages| serde_json::from_str::<Vec<&RawValue>>(messages.get()));
        // Without a list of messages, it is compared unchanged.
        let messages = messages.and_then(Result::ok).unwrap_or_default();
        let mut hashes = vec![DefaultHasher::new().finish()];
        for message in &messages {
            let before = hashes[hashes.len() - 1];
            hashes.push(hash_of((before, message.get())));
        }
        let known = |at: &usize| self.ends.contains(&hashes[*at]);
        let earlier_messages = (1..messages.len()).rev().find(known).unwrap_or(0);
        let all = hashes[messages.len()];
        self.ends.insert(all);
        let new: Vec<String> = messages[earlier_messages..].iter().map(|message| compared_message(message)).collect();
        let mut delta = Object::default();
        for (key, value) in fields.iter() {
            delta = match key {
                "messages" if !messages.is_empty() => {
                    delta.put("earlier_messages", earlier_messages).put("messages", format_args!("[{}]", new.join(",")))
                }
                _ => delta.put_any(key, value),
            };
        }
        let request_id = id.map(RawValue::to_owned);
        Some(RequestDelta { line: delta.end(), request_id, earlier: hashes[earlier_messages], all })
    }
}

pub(super) fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A message without the parts that are not compared.
fn compared_message(message: &RawValue) -> String {
    rewritten(message, |key, value| match key {
        "call_id" => None,
        "content" => Some(rewritten_items(value, part)),
        "turn" => Some(rewritten(value, |key, value| match key {
            "request_id" => None,
            "calls" => Some(rewritten_items(value, |call| {
                rewritten(call, |key, value| (key != "call_id").then(|| value.get().to_owned()))
            })),
            _ => Some(value.get().to_owned()),
        })),
        _ => Some(value.get().to_owned()),
    })
}

fn part(part: &RawValue) -> String {
    let has_hash = Fields::read(part.get()).is_ok_and(|fields| fields.get("sha256").is_some());
    rewritten(part, |key, value| (key != "image" || !has_hash).then(|| value.get().to_owned()))
}

/// An object with changed values, or without some of its fields. Other values are kept.
fn rewritten(object: &RawValue, value_of: impl Fn(&str, &RawValue) -> Option<String>) -> String {
    let Some(fields) = object.get().starts_with('{').then(|| Fields::read(object.get()).ok()).flatten() else {
        return object.get().to_owned();
    };
    let object = fields.iter().filter_map(|(key, value)| Some((key, value_of(key, value)?)));
    object.fold(Object::default(), |object, (key, value)| object.put_any(key, value)).end()
}

/// A list with changed items. Other values are kept.
fn rewritten_items(list: &RawValue, item: impl Fn(&RawValue) -> String) -> String {
    match serde_json::from_str::<Vec<&RawValue>>(list.get()) {
        Ok(items) => format!("[{}]", items.into_iter().map(item).collect::<Vec<_>>().join(",")),
        Err(_) => list.get().to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(id: &str, messages: &[&str]) -> String {
        format!(r#"{{"type":"model_request","request_id":{id},"messages":[{}],"system":"s"}}"#, messages.join(","))
    }

    fn user(text: &str) -> String {
        format!(r#"{{"role":"user","content":[{{"text":"{text}"}}]}}"#)
    }

    fn delta(conversations: &mut Conversations, messages: &[&str]) -> String {
        conversations.add(request("1", messages).as_bytes()).unwrap().line
    }

    #[test]
    fn a_request_is_reduced_to_its_addition_to_the_longest_conversation() {
        let (a, b, c) = (&*user("a"), &*user("b"), &*user("c"));
        let mut conversations = Conversations::default();
        let shown = |earlier: usize, new: &[&str]| {
            request("1", new).replace("\"messages\"", &format!("\"earlier_messages\":{earlier},\"messages\""))
        };
        assert_eq!(delta(&mut conversations, &[a]), shown(0, &[a]));
        assert_eq!(delta(&mut conversations, &[a, b, c]), shown(1, &[b, c]));
        assert_eq!(delta(&mut conversations, &[b]), shown(0, &[b]), "another conversation");
        assert_eq!(delta(&mut conversations, &[a, b, c]), shown(1, &[b, c]), "again");
        assert_eq!(delta(&mut conversations, &[a, b, c, a]), shown(3, &[a]));
        assert_eq!(delta(&mut conversations, &[c, b]), shown(0, &[c, b]), "compaction");
    }

    #[test]
    fn ids_and_the_paths_of_hashed_images_are_left_out_of_messages() {
        let mut conversations = Conversations::default();
        let messages = [
            r#"{"role":"assistant","turn":{"request_id":"m1","text":"t","calls":[{"call_id":"c","tool_name":"x","arguments":{"call_id":1.10}}],"raw":{"request_id":1}}}"#,
            r#"{"role":"tool","call_id":"c","content":[{"image":"a.png","sha256":"00"},{"image":"b.png"}]}"#,
        ];
        let expected = [
            r#"{"role":"assistant","turn":{"text":"t","calls":[{"tool_name":"x","arguments":{"call_id":1.10}}],"raw":{"request_id":1}}}"#,
            r#"{"role":"tool","content":[{"sha256":"00"},{"image":"b.png"}]}"#,
        ];
        assert!(delta(&mut conversations, &messages).contains(&expected.join(",")));
    }

    #[test]
    fn other_lines_are_not_requests_and_a_request_without_messages_is_kept() {
        let mut conversations = Conversations::default();
        for line in ["", "model_request", r#"{"type":"x","a":"model_request"}"#, r#"{"type":"model_turn"}"#] {
            assert!(conversations.add(line.as_bytes()).is_none(), "{line}");
        }
        for line in [r#"{"type":"model_request"}"#, r#"{"type":"model_request","messages":7,"request_id":1.0}"#] {
            assert_eq!(conversations.add(line.as_bytes()).unwrap().line, line);
        }
    }

    proptest! {
        #[test]
        fn new_and_earlier_messages_are_all_messages(requests in prop::collection::vec(prop::collection::vec("[ab]", 1..5), 1..9)) {
            let mut conversations = Conversations::default();
            for texts in requests {
                let messages: Vec<String> = texts.iter().map(|text| user(text)).collect();
                let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
                let line = delta(&mut conversations, &messages);
                let delta: serde_json::Value = serde_json::from_str(&line).unwrap();
                let earlier = delta["earlier_messages"].as_u64().unwrap() as usize;
                prop_assert!(earlier < messages.len());
                prop_assert!(line.contains(&messages[earlier..].join(",")));
                prop_assert_eq!(earlier + delta["messages"].as_array().unwrap().len(), messages.len());
            }
        }
    }
}
