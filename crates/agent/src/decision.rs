//! The decision of a turn: one call. Every turn is a decision, or an error that is reported to the model.

use super::turn::Turn;
use pipewright_record::{Arguments, Fields, OwnedTool, text_calls};
use serde_json::value::RawValue;

/// One call.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    /// The model's own id of the call; `None` if the call was found in the text.
    pub(super) call_id: Option<String>,
    pub(super) tool: String,
    /// A JSON object.
    pub(super) arguments: Box<RawValue>,
    /// One line for the person: the model's text besides the call.
    pub(super) progress: String,
}

/// Why a turn decides nothing, as text for the model; and the call that this is about, if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InvalidTurn {
    pub(super) call_id: Option<String>,
    pub(super) why: String,
}

/// The text of a turn that is nothing else: neither calls, in whatever form, nor cut.
pub(super) fn only_text<'t>(turn: &'t Turn, tools: &[OwnedTool]) -> Option<&'t str> {
    let text = text_calls::reasoning(&turn.text).map_or(&*turn.text, |(_, rest)| rest).trim();
    let is_whole = turn.calls.is_empty() && turn.stop == "end" && !text.is_empty();
    (is_whole && text_calls::calls(text, tools).0.is_empty()).then_some(text)
}

/// The longest line of progress, in characters.
const LINE: usize = 300;

/// Reads the first call of a turn: a structured one, otherwise one in its text.
///
/// # Errors
/// There is no call, or it cannot be carried out.
pub(super) fn read(turn: &Turn, tools: &[OwnedTool]) -> Result<Decision, InvalidTurn> {
    let (call_id, tool, arguments, text) = match turn.calls.first() {
        Some(call) => (Some(call.call_id.clone()), call.tool_name.clone(), call.arguments.clone(), turn.text.clone()),
        // The last call in a text that was cut may be missing.
        None if turn.stop == "length" => return Err(InvalidTurn { call_id: None, why: no_call(&turn.stop) }),
        None => {
            let text = text_calls::reasoning(&turn.text).map_or(&*turn.text, |(_, rest)| rest);
            let (mut calls, rest) = text_calls::calls(text, tools);
            if calls.is_empty() {
                return Err(InvalidTurn { call_id: None, why: no_call(&turn.stop) });
            }
            let (tool, arguments) = calls.swap_remove(0);
            (None, tool, arguments, rest)
        }
    };
    let undecided = |why: String| Err(InvalidTurn { call_id: call_id.clone(), why });
    let Some(offered) = tools.iter().find(|offered| offered.name == tool) else {
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        return undecided(format!("there is no tool {tool:?}. The tools: {}", names.join(", ")));
    };
    let arguments = match arguments {
        Arguments::Object(object) => object,
        Arguments::Text(text) => {
            return undecided(format!(
                "the arguments of {tool} are not a JSON object: {}",
                super::conversation::cut(&text, LINE)
            ));
        }
    };
    if let Some(missing) = missing(offered, &arguments) {
        return undecided(format!("the arguments of {tool} are incomplete: {missing:?} is required"));
    }
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let progress = line.chars().take(LINE).collect();
    Ok(Decision { call_id, tool, arguments, progress })
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
