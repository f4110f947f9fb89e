//! The calls that hooks of agent harnesses (Claude Code, Codex, Gemini CLI, ...) get on stdin, and their answers.
//!
//! [`HARNESSES`] has a row for each harness: everything that differs between them is data there. An input belongs to a
//! harness by the keys that only this harness has, and to an event by its name.

mod answer;
mod harnesses;
mod own_tool;
mod owner;
mod places;

pub use answer::{HookAnswer, WrittenAnswer};
use harnesses::FailureForm;
pub use harnesses::HARNESSES;
pub use own_tool::OwnToolUse;

use super::json::{Object, one_line, quoted};
use super::{Call, Fields, Unreadable, recognise, unreadable};
use answer::{AnswerForm, AskForm};
use owner::{Marks, event_name, is_judged, recognised};
use places::{ArgumentsPlace, ToolPlace, exact, string};

/// A harness: how its hooks are recognised, read and answered.
#[derive(Debug)]
pub struct Harness {
    /// Its name in options.
    pub name: &'static str,
    /// Keys that the inputs of no other harness have.
    own_keys: &'static [&'static str],
    /// The keys of its inputs: one of these must fit.
    marks: &'static [Marks],
    /// The key of the event's name. The only event of a harness without one has no name.
    event_keys: &'static [&'static str],
    events: &'static [HookEvent],
    /// The event after a call, if its input is that of the first event with `tool_response`, and the shell, whose
    /// outputs are read.
    after: Option<(&'static str, &'static str)>,
    /// The mark behind the server's name in the name of a tool, if that mark may also be within names.
    pub server_mark: Option<char>,
    /// Its own tools whose names tell too little.
    own_tools: &'static [(&'static str, OwnToolUse)],
    /// How a failed hook blocks the call.
    failure: FailureForm,
    /// The time in seconds after which it lets the call run, if its settings name no other.
    pub limit: u64,
}

/// An event that asks for a decision about a call.
#[derive(Debug)]
pub struct HookEvent {
    /// Its name in the input; empty if the input has none.
    pub name: &'static str,
    tool: ToolPlace,
    arguments: ArgumentsPlace,
    /// The object in which these are, if they are not at the top.
    within: Option<&'static str>,
    /// The key of the call's id.
    id: &'static str,
    form: AnswerForm,
    ask: AskForm,
    /// Whether `allow` is an answer.
    has_allow: bool,
    /// Whether `allow` may come with other arguments.
    has_update: bool,
    /// Whether the harness is about to ask the person itself.
    pub asks_itself: bool,
}

/// A call as a harness describes it.
#[derive(Debug)]
pub struct HookCall {
    /// The harness that makes it.
    pub harness: &'static Harness,
    /// The event that asks.
    pub event: &'static HookEvent,
    /// The call as a record, on one line.
    pub record: String,
    /// The folder of the client.
    pub folder: Option<String>,
    /// The client's session.
    pub session: Option<String>,
}

/// A call of the harness's own shell that was made, with its output.
#[derive(Debug)]
pub struct HookResult {
    /// The event.
    pub name: String,
    /// The call.
    pub call: HookCall,
    /// What it printed, if it ended by itself.
    pub output: Option<String>,
}

/// What a hook got.
#[derive(Debug)]
pub enum HookInput {
    /// A call to decide on.
    Call(Box<HookCall>),
    /// A call that was made.
    After(Box<HookResult>),
    /// An event that asks for no decision: its name, and whose it is, if that is known.
    Other(String, Option<&'static Harness>),
}

/// An input that cannot be read, and whose it is, if that is known.
#[derive(Debug)]
pub struct HookError {
    /// The harness that sent it.
    pub harness: Option<&'static Harness>,
    /// Why it cannot be read.
    pub why: Unreadable,
}

/// Reads the input of a hook, of the harness that is named or else recognised.
///
/// # Errors
/// It is not JSON, of no harness or of several, or a part of the call is missing, of the wrong type or ambiguous.
pub fn read(input: &str, named: Option<&'static Harness>) -> Result<HookInput, HookError> {
    let unnamed = |why| HookError { harness: named, why };
    let fields = Fields::read(input).map_err(unnamed)?;
    owner::check(&fields).map_err(unnamed)?;
    let harness = match named {
        Some(harness) => match harness.other_owner(&fields) {
            Some(other) => {
                let why = format_args!("it is the input of {}, and not of {}", other.name, harness.name);
                return unreadable(why).map_err(|why| HookError { harness: Some(other), why });
            }
            None => harness,
        },
        None => match recognised(&fields).map_err(unnamed)? {
            Some(harness) => harness,
            None => {
                return match event_name(&fields).map_err(unnamed)? {
                    Some(name) if !is_judged(&name) => Ok(HookInput::Other(name, None)),
                    _ => unreadable("it is not the input of a known harness's hook: name the harness").map_err(unnamed),
                };
            }
        },
    };
    harness.read(&fields).map_err(|why| HookError { harness: Some(harness), why })
}

impl Harness {
    /// The one with this name.
    pub fn named(name: &str) -> Option<&'static Harness> {
        HARNESSES.iter().find(|harness| harness.name == name)
    }

    /// What its own tool with this name does, if the name tells too little.
    pub fn own_tool(&self, tool: &str) -> Option<OwnToolUse> {
        self.own_tools.iter().find(|(name, _)| *name == tool).map(|(_, own)| *own)
    }

    /// How a failure, with its reason, blocks the call.
    pub fn block(&self, why: &str) -> WrittenAnswer {
        match (self.failure, self.events) {
            (FailureForm::Answer, [event, ..]) => event.answer(&HookAnswer::Deny(why)),
            _ => WrittenAnswer::ExitStatus(why.to_owned()),
        }
    }

    /// The answer that leaves everything to the harness.
    pub fn no_opinion(&self) -> WrittenAnswer {
        let event = self.events.first();
        event.map_or(WrittenAnswer::Text(String::new()), |event| event.answer(&HookAnswer::NoOpinion))
    }

    fn read(&'static self, fields: &Fields<'_>) -> Result<HookInput, Unreadable> {
        let mut name = None;
        for key in self.event_keys {
            if let Some(value) = exact(fields, key)? {
                name = Some(string(key, value)?);
            }
        }
        let event = self.events.iter().find(|event| name.as_deref().unwrap_or_default() == event.name);
        match (event, name) {
            // What follows a call has its result as well.
            (Some(_), None) if exact(fields, "toolResult")?.is_some() => {
                Ok(HookInput::Other("postToolUse".to_owned(), Some(self)))
            }
            (Some(event), _) => self.read_call(event, fields).map(|call| HookInput::Call(Box::new(call))),
            (None, Some(name)) if self.events.iter().any(|event| event.name.eq_ignore_ascii_case(name.trim())) => {
                unreadable(format_args!("the event {name:?} is known in another spelling"))
            }
            (None, Some(name)) if is_judged(&name) => {
                unreadable(format_args!("the event {name:?} is not one of {}", self.name))
            }
            (None, Some(name)) => Ok(match self.read_result(&name, fields) {
                Some(result) => HookInput::After(Box::new(result)),
                None => HookInput::Other(name, Some(self)),
            }),
            (None, None) => {
                unreadable(format_args!("it has no {:?}", self.event_keys.first().copied().unwrap_or_default()))
            }
        }
    }

    fn read_result(&'static self, name: &str, fields: &Fields<'_>) -> Option<HookResult> {
        let (_, shell) = self.after.filter(|(event, _)| *event == name)?;
        let call = self.read_call(self.events.first()?, fields).ok()?;
        if call.call().ok()?.tool != shell {
            return None;
        }
        let output = match fields.object("tool_response") {
            Some(response) => {
                let is_cut = ["interrupted", "isError", "is_error", "backgroundTaskId"]
                    .iter()
                    .any(|key| response.get(key).is_some_and(|value| !matches!(value.get(), "false" | "null")));
                response.text("stdout").or_else(|| response.text("output")).filter(|_| !is_cut)
            }
            None => fields.text("tool_response"),
        };
        Some(HookResult { name: name.to_owned(), call, output })
    }

    fn read_call(&'static self, event: &'static HookEvent, fields: &Fields<'_>) -> Result<HookCall, Unreadable> {
        let inner = match event.within {
            Some(key) => match exact(fields, key)? {
                Some(value) => Some(Fields::read(value.get())?),
                None => return unreadable(format_args!("it has no {key:?}")),
            },
            None => None,
        };
        let own = inner.as_ref().unwrap_or(fields);
        let tool = event.tool.read(own)?;
        let arguments = event.arguments.read(own)?;
        let record = Object::default()
            .text("type", "tool_call")
            .put_some("call_id", exact(own, event.id)?.map(|id| one_line(id.get())))
            .text("tool_name", &tool)
            .put("arguments", one_line(&arguments))
            .put_some("agent_id", exact(fields, "agent_id")?.map(|agent| one_line(agent.get())))
            .end();
        let text = |keys: &[&str]| keys.iter().find_map(|key| fields.text(key));
        let call = HookCall {
            harness: self,
            event,
            record,
            folder: text(&["cwd"]).or_else(|| {
                let roots: Vec<String> =
                    serde_json::from_str(fields.get("workspace_roots").or(fields.get("workspaceRoots"))?.get()).ok()?;
                roots.into_iter().next()
            }),
            session: text(&["session_id", "sessionId", "sessionID", "conversation_id", "taskId"]),
        };
        call.check().map(|()| call)
    }
}

impl HookCall {
    /// The call.
    ///
    /// # Errors
    /// As [`recognise`]. A call that was read has none.
    pub fn call(&self) -> Result<Call<'_>, Unreadable> {
        match recognise(&self.record)? {
            Some(call) => Ok(call),
            None => unreadable("it is not a call"),
        }
    }

    fn check(&self) -> Result<(), Unreadable> {
        self.call().map(drop)
    }

    /// What the harness takes as this answer.
    pub fn answer(&self, answer: &HookAnswer<'_>) -> WrittenAnswer {
        self.event.answer(answer)
    }
}

/// A text for the person and the model, as JSON.
fn said(text: &str) -> String {
    quoted(if text.trim().is_empty() { "the policy does not allow this" } else { text })
}
