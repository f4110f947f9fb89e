//! A request that is not in the recording, and the recorded requests nearest to it.

use super::key::{CALL, MessageSubject};
use super::{Answers, RecordedMessage};
use crate::compare::{Comparison, Object};
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// A request that is not in the recording.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Miss {
    /// The method of the request.
    pub method: String,
    /// The tool that was called.
    pub tool: Option<String>,
    /// Whether the recording has any request with this method.
    pub is_known: bool,
    /// If neither the method nor the tool of a call is in the recording: the recorded ones, nearest first.
    pub names: Vec<String>,
    /// Otherwise: the recorded requests with the same method and tool, nearest first.
    pub near: Vec<NearRequest>,
}

/// A recorded request with the same method and tool.
#[derive(Debug, PartialEq, Eq)]
pub struct NearRequest {
    /// A call's arguments, or else the parameters; JSON text.
    pub arguments: String,
    /// The paths at which they differ.
    pub paths: Vec<String>,
}

/// How many requests are shown, how many are searched, and the length of the longest that is searched.
const MAX_SHOWN: usize = 5;
const MAX_SEARCHED: usize = 500;
const MAX_TEXT: usize = 16 << 10;
/// How many characters of two texts are compared for similarity.
const MAX_COMPARED: usize = 200;

impl Answers {
    pub(super) fn miss(&self, key: &str, about: MessageSubject) -> Miss {
        let MessageSubject { method, tool } = about;
        let requests = || self.asked.iter().filter(|(_, asked)| asked.is_request);
        let methods: BTreeSet<&str> = requests().map(|(_, asked)| asked.about.method.as_str()).collect();
        if !methods.contains(method.as_str()) {
            return Miss { names: nearest_names(&method, methods), method, tool, is_known: false, near: Vec::new() };
        }
        let near = self.near_requests(key, || requests().filter(|(_, asked)| asked.is_of(&method, tool.as_deref())));
        let mut names = Vec::new();
        let is_recorded = requests().any(|(_, asked)| asked.is_of(&method, tool.as_deref()));
        if let Some(tool) = tool.as_deref().filter(|_| !is_recorded) {
            let tools = requests().filter_map(|(_, asked)| asked.about.tool.as_deref()).collect();
            names = nearest_names(tool, tools);
        }
        Miss { method, tool, is_known: true, names, near }
    }

    fn near_requests<'a, I: Iterator<Item = (&'a String, &'a RecordedMessage)>>(
        &self,
        key: &str,
        of: impl Fn() -> I,
    ) -> Vec<NearRequest> {
        let mut recorded: Vec<_> = of().filter(|(other, _)| other.len() <= MAX_TEXT).collect();
        // A map has no fixed order.
        recorded.sort_by_key(|(_, asked)| asked.exchanges.first());
        recorded.truncate(MAX_SEARCHED);
        // Ignored parts are no longer in the keys.
        let plain = Comparison::default();
        let mut near: Vec<_> = recorded
            .into_iter()
            .map(|(other, _)| {
                let differences = plain.differences(other.as_bytes(), key.as_bytes());
                (differences, alike(other, key), other)
            })
            .collect();
        near.sort_by(|one, other| one.0.len().cmp(&other.0.len()).then(other.1.total_cmp(&one.1)));
        near.truncate(MAX_SHOWN);
        let near = near.into_iter().map(|(differences, _, other)| NearRequest {
            arguments: arguments(other),
            paths: differences.into_iter().map(|one| one.path).collect(),
        });
        near.collect()
    }
}

impl RecordedMessage {
    fn is_of(&self, method: &str, tool: Option<&str>) -> bool {
        self.about.method == method && self.about.tool.as_deref() == tool
    }
}

fn alike(one: &str, other: &str) -> f64 {
    let beginning = |text: &str| text.chars().take(MAX_COMPARED).collect::<String>();
    strsim::normalized_levenshtein(&beginning(one), &beginning(other))
}

fn nearest_names(name: &str, names: BTreeSet<&str>) -> Vec<String> {
    let mut names: Vec<_> = names.into_iter().map(|other| (alike(name, other), other.to_owned())).collect();
    names.sort_by(|one, other| other.0.total_cmp(&one.0));
    names.into_iter().map(|(_, name)| name).take(MAX_SHOWN).collect()
}

/// The arguments in a key.
fn arguments(key: &str) -> String {
    let field = |json: &str, key: &str| {
        let fields: Object<'_> = serde_json::from_str(json).ok()?;
        fields.get(key).map(|value| RawValue::get(value).to_owned())
    };
    // A call in one of our own forms has neither field.
    let params = field(key, "params").unwrap_or_else(|| key.to_owned());
    let is_call = field(key, "method").is_none_or(|method| method.trim_matches('"') == CALL);
    field(&params, "arguments").filter(|_| is_call).unwrap_or(params)
}
