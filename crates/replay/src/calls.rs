//! Matches recorded lines with the recorded calls they are about: by the call's id, or without one, by the order of the
//! calls.

use super::compare::MAX_DEPTH;
use super::json_rpc::name;
use pipewright_lines::deeper_than;
use pipewright_record::rpc::Message;
use pipewright_record::{Call, Fields, Form, Kind, Unreadable, cancelled_id, failed_kind, recognise};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// Reads a call. `None` for any other line.
pub(super) fn call(line: &[u8]) -> Option<Call<'_>> {
    recognise(text(line)?).ok().flatten()
}

/// Reads a call in one of our own forms.
pub(super) fn own_call(line: &[u8]) -> Option<Call<'_>> {
    call(line).filter(|call| call.form != Form::JsonRpc)
}

/// Reads a line that some server may read as a call, but that [`recognise`] refuses as unreadable.
pub(super) fn unreadable_call(line: &[u8]) -> Option<Unreadable> {
    let error = match text(line) {
        Some(text) => recognise(text).err()?,
        None => Unreadable::new("not read").in_form_of(line),
    };
    let json = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii_start();
    let lower = json.to_ascii_lowercase();
    // With an escape, a key can be written in many ways.
    let has_word =
        ["tool", "cmd", "method", "\\u"].iter().any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some());
    (has_word && matches!(json, [b'{' | b'[', ..])).then_some(error)
}

/// The text of a line that is not nested too deeply to be compared.
pub(super) fn text(line: &[u8]) -> Option<&str> {
    std::str::from_utf8(line).ok().filter(|_| !deeper_than(line, MAX_DEPTH))
}

/// A line about a call that is not itself a call.
#[derive(Debug)]
pub(super) struct CallLine<'a> {
    /// The id of the call, in one notation for all equal ids.
    pub(super) id: Option<String>,
    /// The field with the id.
    pub(super) id_key: &'static str,
    /// The form of the call, if the line shows it.
    pub(super) form: Option<Form>,
    tool: Option<Cow<'a, str>>,
    pub(super) news: CallNews,
}

impl CallLine<'_> {
    pub(super) fn is_json_rpc(&self) -> bool {
        self.form == Some(Form::JsonRpc)
    }

    /// Whether it names no call. That is the form of a gate's answer to a line that it did not read, for example
    /// because it was too long.
    pub(super) fn names_none(&self) -> bool {
        self.id.as_ref().is_none_or(|id| id == "null") && self.tool.as_ref().is_none_or(|tool| tool.is_empty())
    }
}

/// What a line reports about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallNews {
    /// The call is answered; `refused` if a gate, a person or its caller did not let it pass.
    Answered { refused: bool },
    /// Its caller cancels it.
    Cancelled,
    /// The call waits for a person.
    Held,
    /// A person, or a gate that could not ask one, did not let it pass unchanged: the call was rejected, or its
    /// arguments edited.
    Rejected,
    /// The call was passed unchanged.
    Approved,
    /// Anything else.
    Other,
}

/// Reads a line about a call. `None` for any other line.
pub(super) fn about(line: &[u8]) -> Option<CallLine<'_>> {
    let line = text(line)?;
    let fields = Fields::read(line).ok()?;
    let string = |key| fields.get(key).and_then(plain);
    if let Some(kind) = string("type") {
        let (id, tool) = (fields.get("call_id").map(name), string("tool_name"));
        let is_answer = kind == "tool_result";
        let news = if is_answer { answered(&fields, "kind") } else { call_news(&kind, &fields) };
        // Without an id, only answers and a gate's records are certain to be about a call.
        let is_about_one = id.is_some() || is_answer || news != CallNews::Other;
        let form = is_answer.then_some(Form::Record);
        return is_about_one.then_some(CallLine { id, id_key: Form::Record.id_key(), form, tool, news });
    }
    let id = fields.get("id").map(name);
    let answer = |form: Form, tool, news| Some(CallLine { id, id_key: form.id_key(), form: Some(form), tool, news });
    if let (Some(tool), Some(_)) = (string("tool"), fields.get("status")) {
        return answer(Form::Short, Some(tool), answered(&fields, "kind"));
    }
    if fields.get("ok").is_some_and(|ok| matches!(ok.get(), "true" | "false")) {
        return answer(Form::Godot, None, answered(&fields, "code"));
    }
    match Message::read(line) {
        Ok(Message::Response { outcome, .. }) => {
            let refused = match outcome {
                Ok(result) => is_refused_result(result.get()),
                Err(error) => error.data.is_some_and(|data| is_refusal_in(&data)),
            };
            answer(Form::JsonRpc, None, CallNews::Answered { refused })
        }
        _ => {
            let id = fields.get("method").and_then(|_| cancelled_id(line)).map(name)?;
            let form = Form::JsonRpc;
            Some(CallLine {
                id: Some(id),
                id_key: form.id_key(),
                form: Some(form),
                tool: None,
                news: CallNews::Cancelled,
            })
        }
    }
}

fn call_news(kind: &str, fields: &Fields<'_>) -> CallNews {
    let key = match kind {
        "policy_request" => return CallNews::Held,
        "status" => "status",
        "policy_result" => "verdict",
        "hitl_response" => "action",
        "cancel" => return CallNews::Cancelled,
        _ => return CallNews::Other,
    };
    match fields.get(key).and_then(plain).as_deref() {
        Some("waiting_human") => CallNews::Held,
        Some("rejected" | "reject" | "edited" | "edited_by_human" | "edit") => CallNews::Rejected,
        Some("approved" | "approve") => CallNews::Approved,
        _ => CallNews::Other,
    }
}

fn answered(fields: &Fields<'_>, kind_key: &str) -> CallNews {
    let kind = fields.get(kind_key).and_then(plain);
    // If a gate is behind mcp-pipe, the gate's answer is in `data`.
    let refused = kind.is_some_and(|kind| is_refusal(&kind))
        || fields.get("data").is_some_and(|data| fields.get("error").is_some() && is_refusal_in(data.get()));
    // A call that mcp-pipe gave up after sending it was not refused.
    CallNews::Answered { refused: refused && fields.get("maybe_executed").is_none() }
}

/// Whether an error's data shows that the call was refused. Behind mcp-pipe it may be the result given by a gate.
fn is_refusal_in(data: &str) -> bool {
    is_refused_result(data) || Fields::read(data).is_ok_and(|data| says_refused(&data))
}

fn is_refused_result(result: &str) -> bool {
    failed_kind(result).is_some_and(|kind| is_refusal(kind.name()))
}

fn says_refused(about: &Fields<'_>) -> bool {
    about.get("maybe_executed").is_none() && about.get("kind").and_then(plain).is_some_and(|kind| is_refusal(&kind))
}

fn is_refusal(kind: &str) -> bool {
    use Kind::{BadInput, Cancelled, Denied, NeedsApproval, Rejected, TooLarge};
    [BadInput, Cancelled, Denied, NeedsApproval, Rejected, TooLarge].iter().any(|refusal| refusal.name() == kind)
}

fn plain(value: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(serde::Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str(value.get()).ok().map(|Text(text)| text)
}

/// The recorded calls without an answer so far, and the data kept for each.
#[derive(Debug)]
pub(super) struct OpenCalls<T>(HashMap<Option<String>, VecDeque<OpenCall<T>>>);

#[derive(Debug)]
struct OpenCall<T> {
    form: Form,
    tool: String,
    known: T,
}

/// A world stops reading while this many calls wait for answers (pipewright(7)). So older calls with the same id, or
/// without one, were never answered.
const MAX_OPEN: usize = 1024;

impl<T> Default for OpenCalls<T> {
    fn default() -> OpenCalls<T> {
        OpenCalls(HashMap::new())
    }
}

impl<T> OpenCalls<T> {
    pub(super) fn push(&mut self, call: &Call<'_>, known: T) {
        let open = OpenCall { form: call.form, tool: call.tool.clone().into_owned(), known };
        let same = self.0.entry(call.id.map(name)).or_default();
        // Answers without an id come in the order of the calls. An id that is used again means the latest call.
        if call.id.is_none() {
            same.push_back(open);
            if same.len() > MAX_OPEN {
                same.pop_front();
            }
        } else {
            same.push_front(open);
            same.truncate(MAX_OPEN);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The data of the calls that a line may be about, likeliest first.
    pub(super) fn of(&mut self, about: &CallLine<'_>) -> impl Iterator<Item = &mut T> {
        let same = self.0.get_mut(&about.id).into_iter().flatten();
        same.filter(|open| open.is_about_any(about)).map(|open| &mut open.known)
    }

    /// The data of the call that a line is most likely about.
    pub(super) fn first(&self, about: &CallLine<'_>) -> Option<&T> {
        self.0.get(&about.id)?.iter().find(|open| open.is_about_any(about)).map(|open| &open.known)
    }

    /// The data of the calls with the same id as this one, or of those without an id if it has none.
    pub(super) fn with_id_of(&mut self, call: &Call<'_>) -> impl Iterator<Item = &mut T> {
        self.0.get_mut(&call.id.map(name)).into_iter().flatten().map(|open| &mut open.known)
    }

    /// All of them.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.values_mut().flatten().map(|open| &mut open.known)
    }

    /// Removes the call that an answer most likely belongs to.
    pub(super) fn close(&mut self, about: &CallLine<'_>) -> Option<T> {
        let same = self.0.get_mut(&about.id)?;
        let at = same.iter().position(|open| open.is_about_any(about))?;
        let open = same.remove(at);
        if same.is_empty() {
            self.0.remove(&about.id);
        }
        open.map(|open| open.known)
    }
}

impl<T> OpenCall<T> {
    fn is_about_any(&self, about: &CallLine<'_>) -> bool {
        about.form.is_none_or(|form| form == self.form) && about.tool.as_ref().is_none_or(|tool| *tool == self.tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unanswered_calls_do_not_accumulate() {
        let mut open = OpenCalls::default();
        for (line, first) in [(&b"{\"cmd\":\"play 1\"}"[..], 3000 - MAX_OPEN), (b"{\"cmd\":\"play 1\",\"id\":7}", 2999)]
        {
            let Some(call) = call(line) else { unreachable!("it is a call") };
            (0..3000).for_each(|number| open.push(&call, number));
            let left: Vec<usize> = open.with_id_of(&call).map(|known| *known).collect();
            assert_eq!((left.len(), left[0]), (MAX_OPEN, first));
        }
    }
}
