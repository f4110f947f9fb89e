//! Requests to a world, and their answers.

use pipewright_io::report::{Failure, Status};
use pipewright_record::json::raw;
use pipewright_record::{Fields, ListTools, Record, ToolCall, is_same_id, recognise, type_of};
use pipewright_sys::process::{describe, exit_code};
use std::process::ExitStatus;

/// A request. A connection carries only one at a time.
#[derive(Debug)]
pub enum Request {
    /// A call.
    Call {
        /// The tool's name.
        tool: String,
        /// A JSON object as text, on one line.
        arguments: String,
    },
    /// The list of tools.
    Tools,
}

/// The request's id, as JSON text. A session replaces it by an id of its own.
const ID: &str = "1";

impl Request {
    /// The record as JSON text, without a line feed.
    pub fn record(&self) -> String {
        match self {
            Request::Call { tool, arguments } => ToolCall::new(raw(ID), tool, Some(raw(arguments))).json(),
            Request::Tools => ListTools { request_id: Some(raw(ID)) }.json(),
        }
    }

    /// Whether a line answers the request.
    ///
    /// # Errors
    /// [`Status::NotStarted`] if the line is a request: a program that sends those back is not a world.
    pub fn is_answered_by(&self, line: &str) -> Result<bool, Failure> {
        if is_request(line) {
            return Err(no_world());
        }
        let (answer_type, id_key) = match self {
            Request::Call { .. } => ("tool_result", "call_id"),
            Request::Tools => ("tool_list", "request_id"),
        };
        let has_id = |fields: Fields<'_>| is_same_id(fields.get(id_key).map(|id| id.get()), Some(ID));
        Ok(type_of(line).is_some_and(|found| found == answer_type) && Fields::read(line).is_ok_and(has_id))
    }
}

/// Whether a line is a request to a world.
pub fn is_request(line: &str) -> bool {
    type_of(line).is_some_and(|found| found == "list_tools") || matches!(recognise(line), Ok(Some(_)))
}

/// The error for a program that echoes its input.
pub fn no_world() -> Failure {
    let why = "the started program is not a world: it echoes its input; see pipewright(7) for worlds";
    Failure::new(Status::NotStarted, why)
}

/// The error for a world that ended without an answer. It may have reported the reason on stderr. `has_started` is
/// whether it wrote a record: if so, the call may have been carried out, whatever the exit status.
pub fn ended(status: ExitStatus, has_started: bool) -> Failure {
    let never_started = !has_started && matches!(exit_code(status), 2 | 3);
    let (ends_with, verb) = if never_started { (Status::NotStarted, "did not start") } else { (Status::Lost, "ended") };
    Failure::new(ends_with, format_args!("the world {verb}: {}", describe(status)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_the_matching_answer_answers_a_request() {
        let call = Request::Call { tool: "a\"b".to_owned(), arguments: r#"{"n":1.10}"#.to_owned() };
        assert_eq!(call.record(), r#"{"type":"tool_call","call_id":1,"tool_name":"a\"b","arguments":{"n":1.10}}"#);
        assert!(recognise(&call.record()).unwrap().is_some());
        for (line, is_answer) in [
            (r#"{"type":"tool_result","call_id":1,"status":"ok","result":{}}"#, true),
            (r#"{"status":"ok","call_id":1,"type":"tool_result"}"#, true),
            (r#"{"type":"tool_result","call_id":"1","status":"ok"}"#, false),
            (r#"{"type":"tool_result","status":"ok"}"#, false),
            (r#"{"type":"status","status":"waiting_human","call_id":1}"#, false),
            (r#"{"type":"tool_list","request_id":1,"tools":[]}"#, false),
            ("loading...", false),
        ] {
            assert_eq!(call.is_answered_by(line).unwrap(), is_answer, "{line}");
        }
        assert!(Request::Tools.is_answered_by(r#"{"type":"tool_list","request_id":1,"tools":[]}"#).unwrap());
        for echoed in [call.record(), Request::Tools.record()] {
            assert!(call.is_answered_by(&echoed).is_err(), "{echoed}");
        }
    }
}
