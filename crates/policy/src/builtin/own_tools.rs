//! The own tools of clients, whose use their table names.

use super::JudgedCall;
use super::address::judge_fetched as judge_address;
use super::names::Class;
use crate::verdict::Decision;
use pipewright_record::hook::OwnToolUse;
use serde_json::Value;
use url::Url;

pub(super) fn class(own: OwnToolUse) -> Class {
    match own {
        OwnToolUse::Notes => Class::Own,
        OwnToolUse::Reads | OwnToolUse::Fetches => Class::Observe,
        OwnToolUse::Runs(_) => Class::Run,
    }
}

/// Judges the addresses within the texts of a call that fetches pages; gives the decisions that need approval.
pub(super) fn judge_fetched(call: &JudgedCall<'_>) -> Vec<Decision> {
    let mut decisions = Vec::new();
    texts(&serde_json::from_str(call.raw).unwrap_or_default(), &mut |text| {
        let words = text.split(|sign: char| sign.is_whitespace() || "<>\"'`()[]{}|,".contains(sign));
        decisions.extend(words.filter(|word| word.contains(':')).filter_map(judge_word));
    });
    decisions
}

fn judge_word(word: &str) -> Option<Decision> {
    Url::parse(word).ok()?;
    judge_address(word)
}

fn texts(value: &Value, take: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, take)),
        Value::Object(fields) => fields.values().for_each(|item| texts(item, take)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
