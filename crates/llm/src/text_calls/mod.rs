//! Calls in a model's text: the server does not parse the model's own form of calls, or the model has none.

#[cfg(test)]
mod tests;

use super::conversation::CallIds;
use super::object_calls::{all_lines, chosen};
use super::{ModelRequest, ModelTurn};
use pipewright_record::{
    Arguments, Message, ModelCall, OwnTurn, Part, Stop, ToolChoice, has_lone_surrogate, text_calls as forms,
};

/// Moves parts of the turn's text to their fields: reasoning at its beginning and, if the turn has no calls, calls of
/// the request's tools. These parts are removed from the text; `raw` is unchanged. A text that was cut has no calls:
/// its last call may be missing.
#[must_use]
pub fn recognise(mut turn: ModelTurn, request: &ModelRequest) -> ModelTurn {
    if let Some((reasoning, rest)) = forms::reasoning(&turn.text) {
        let all = [&*turn.reasoning, reasoning].into_iter().filter(|text| !text.is_empty());
        turn.reasoning = all.collect::<Vec<_>>().join("\n");
        turn.text = rest.to_owned();
    }
    let is_whole = turn.stop == Stop::End && turn.calls.is_empty();
    if is_whole && request.tool_choice != ToolChoice::None {
        let (calls, rest) = match chosen(&turn.text, request) {
            Some(calls) => (calls, String::new()),
            None => forms::calls(&turn.text, &request.tools),
        };
        if !calls.is_empty() {
            let mut ids = CallIds::after(request);
            let is_lossy = has_lone_surrogate(turn.raw.get().as_bytes());
            let call = |(tool_name, arguments)| {
                let arguments = if is_lossy { without_replaced(arguments) } else { arguments };
                ModelCall { call_id: ids.take(None), tool_name, arguments }
            };
            turn.calls = calls.into_iter().map(call).collect();
            turn.text = rest;
            turn.stop = Stop::Call;
        }
    }
    turn
}

/// The text has U+FFFD in the place of an unpaired surrogate: arguments with it are not those that the model wrote.
fn without_replaced(arguments: Arguments) -> Arguments {
    match arguments {
        Arguments::Object(object) if object.get().contains('\u{fffd}') => Arguments::Text(object.get().to_owned()),
        other => other,
    }
}

/// The request for a model without tool support: the tools are described above the conversation, and calls and results
/// are text.
#[must_use]
pub fn without_tools(request: &ModelRequest) -> ModelRequest {
    let mut written = request.clone();
    written.tools.clear();
    written.tool_choice = ToolChoice::Auto;
    if !request.tools.is_empty() && request.tool_choice != ToolChoice::None {
        let must = if request.tool_choice == ToolChoice::Any { "\nCall a tool in every answer." } else { "" };
        let system = request.system.iter().cloned().chain([describe(request) + must]);
        written.system = Some(system.collect::<Vec<_>>().join("\n\n"));
    }
    written.messages = messages_as_text(&request.messages, line);
    written
}

/// A conversation in which calls are text in this form, and results are messages of the user.
pub(super) fn messages_as_text(messages: &[Message], form: fn(&ModelCall) -> String) -> Vec<Message> {
    let mut written: Vec<Message> = Vec::new();
    let mut names = std::collections::HashMap::new();
    for message in messages {
        let content = match message {
            Message::Assistant(turn) => {
                names.extend(turn.calls.iter().map(|call| (&*call.call_id, &*call.tool_name)));
                written.push(Message::Assistant(as_text(turn, form)));
                continue;
            }
            Message::User(content) => content.clone(),
            Message::Tool { call_id, content, is_error } => {
                let name = names.get(&**call_id).copied().unwrap_or(call_id);
                let error = if *is_error { " error" } else { "" };
                let mut parts = vec![Part::Text(format!("function_result: name={name}{error}"))];
                parts.extend(content.iter().cloned());
                parts
            }
        };
        // The templates of such models require alternating roles.
        match written.last_mut() {
            Some(Message::User(last)) => last.extend(content),
            _ => written.push(Message::User(content)),
        }
    }
    written
}

fn as_text(turn: &OwnTurn, form: fn(&ModelCall) -> String) -> OwnTurn {
    if turn.calls.is_empty() {
        return turn.clone();
    }
    let text = Some(turn.text.clone()).filter(|text| !text.is_empty());
    let lines: Vec<String> = text.into_iter().chain(turn.calls.iter().map(form)).collect();
    OwnTurn { text: lines.join("\n"), raw: None, calls: Vec::new(), ..turn.clone() }
}

fn line(call: &ModelCall) -> String {
    let arguments = match &call.arguments {
        Arguments::Object(object) => object.get(),
        Arguments::Text(text) => text,
    };
    format!("function_call: name={} args={arguments}", call.tool_name)
}

/// Tells the model which tools exist, and how to call one in its text.
pub fn describe(request: &ModelRequest) -> String {
    let mut text = "You can call tools. To call one, write a line of this form:\n\
        function_call: name=NAME args={\"argument\":\"value\"}\n\
        args is one JSON object. End your answer after the call: the result is in the next message.\n\
        The tools, each with its args (? marks those that may be left out):"
        .to_owned();
    text.push_str(&all_lines(request));
    text
}
