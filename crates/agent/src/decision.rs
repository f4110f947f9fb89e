//! The decisions of a turn: its calls. A turn without any is an error that is reported to the model.

use super::turn::Turn;
use pipewright_record::{Arguments, Fields, OwnedTool, text_calls};
use serde_json::value::RawValue;

/// A call as the model wrote it.
#[derive(Debug, Clone)]
pub(super) struct WrittenCall {
    /// The model's own id of the call; `None` if the call was found in the text.
    pub(super) call_id: Option<String>,
    pub(super) tool: String,
    arguments: Arguments,
}

/// A call that can be carried out.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    /// The model's own id of the call; `None` if the call was found in the text.
    pub(super) call_id: Option<String>,
    pub(super) tool: String,
    /// A JSON object.
    pub(super) arguments: Box<RawValue>,
}

/// The text of a turn that is nothing else: neither calls, in whatever form, nor cut.
pub(super) fn only_text<'t>(turn: &'t Turn, tools: &[OwnedTool]) -> Option<&'t str> {
    let text = text_calls::reasoning(&turn.text).map_or(&*turn.text, |(_, rest)| rest).trim();
    let is_whole = turn.calls.is_empty() && turn.stop == "end" && !text.is_empty();
    (is_whole && text_calls::calls(text, tools).0.is_empty()).then_some(text)
}

/// The longest line of progress, in characters.
const LINE: usize = 300;

/// The calls of a turn, at least one: the structured ones, otherwise those in its text. Also gives one line for the person: the model's
/// text besides the calls.
///
/// # Errors
/// There is no call: why, as text for the model.
pub(super) fn calls(turn: &Turn, tools: &[OwnedTool]) -> Result<(Vec<WrittenCall>, String), String> {
    let written = turn.calls.iter().map(|call| {
        let (tool, arguments) = (call.tool_name.clone(), call.arguments.clone());
        WrittenCall { call_id: Some(call.call_id.clone()), tool, arguments }
    });
    let mut calls: Vec<WrittenCall> = written.collect();
    let mut text = turn.text.clone();
    // The last call in a text that was cut may be missing.
    if calls.is_empty() && turn.stop != "length" {
        let said = text_calls::reasoning(&turn.text).map_or(&*turn.text, |(_, rest)| rest);
        let (found, rest) = text_calls::calls(said, tools);
        let written = |(tool, arguments)| WrittenCall { call_id: None, tool, arguments };
        calls.extend(found.into_iter().map(written));
        text = rest;
    }
    if calls.is_empty() {
        return Err(no_call(&turn.stop));
    }
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    Ok((calls, line.chars().take(LINE).collect()))
}

impl WrittenCall {
    /// The call, if it can be carried out.
    ///
    /// # Errors
    /// Why not, as text for the model.
    pub(super) fn decide(self, tools: &[OwnedTool]) -> Result<Decision, String> {
        let WrittenCall { call_id, tool, arguments } = self;
        let Some(offered) = tools.iter().find(|offered| offered.name == tool) else {
            let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
            return Err(format!("there is no tool {tool:?}. The tools: {}", names.join(", ")));
        };
        let arguments = match arguments {
            Arguments::Object(object) => object,
            Arguments::Text(text) => {
                let text = super::conversation::cut(&text, LINE);
                return Err(format!("the arguments of {tool} are not a JSON object: {text}"));
            }
        };
        // A reader that takes the first of two values and one that takes the last would see different calls.
        if let Err(why) = Fields::read_deep(arguments.get()) {
            return Err(format!("the arguments of {tool} cannot be used: {why}"));
        }
        match missing(offered, &arguments) {
            Some(missing) => Err(format!("the arguments of {tool} are incomplete: {missing:?} is required")),
            None => Ok(Decision { call_id, tool, arguments }),
        }
    }
}

/// A field that a tool of the world requires and its arguments do not have. (The loop's own tools require less than
/// they ask for.)
fn missing(tool: &OwnedTool, arguments: &RawValue) -> Option<String> {
    let arguments = Fields::read(arguments.get()).ok().filter(|_| !super::local::is_own(&tool.name))?;
    let required = Fields::read(&tool.input_schema).ok()?.list("required").ok()?;
    let mut required = required.into_iter().filter_map(|name| serde_json::from_str::<String>(name.get()).ok());
    required.find(|name| arguments.get(name).is_none())
}

fn no_call(stop: &str) -> String {
    match stop {
        "length" => {
            "the turn was cut at its limit of tokens, and holds no call: answer more shortly, with one call".to_owned()
        }
        _ => {
            "the turn holds no call (one that is only quoted, or that text follows, does not count). Call exactly one \
              tool: assistant_done when the goal is reached, assistant_ask to ask the person"
                .to_owned()
        }
    }
}
