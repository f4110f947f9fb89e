//! The game's answers, in the form of each call and with its own id.

use super::wire::Response;
use pipewright_record::json::Object;
use pipewright_record::{Call, Form, Kind, Outcome};
use serde_json::value::RawValue;

/// Why the game was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameLoss {
    /// `GAME_CRASHED`, `GAME_EXITED`, `GAME_START_FAILED`, `VERSION_MISMATCH` or `TIMEOUT`.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// Its exit status, as a shell reports it.
    pub status: Option<u8>,
    /// The last output of the engine.
    pub printed: String,
}

impl GameLoss {
    /// Whether it crashed.
    pub fn has_crashed(&self) -> bool {
        self.code == "GAME_CRASHED"
    }
}

/// The game's `response` as the answer to `call`. The additional fields of the game (`events`, `frame`, `dropped`) are
/// included in each form except JSON-RPC, which has no place for them.
pub fn answer(call: &Call<'_>, response: &Response<'_>) -> String {
    if call.form == Form::Godot {
        return godot_form(call, response);
    }
    let null = RawValue::NULL;
    let code = response.text("code");
    let message = [response.text("error"), response.text("hint")].into_iter().flatten().collect::<Vec<_>>().join("; ");
    let outcome = if response.ok {
        Outcome::Ok(response.get("data").unwrap_or(null))
    } else {
        let kind = kind_of(code.as_deref().unwrap_or_default());
        Outcome::Error { kind, message: &message, code: code.as_deref(), data: response.get("details") }
    };
    let more: Vec<(&str, &str)> =
        ["events", "dropped", "frame"].into_iter().filter_map(|key| Some((key, response.get(key)?.get()))).collect();
    call.answer_with(outcome, &more)
}

/// All fields of the game unchanged, except the id, which is that of the call, if any.
fn godot_form(call: &Call<'_>, response: &Response<'_>) -> String {
    let answer = Object::default().put("ok", response.ok).put_some("id", call.id);
    let fields = response.fields().filter(|(key, _)| !matches!(*key, "ok" | "id"));
    fields.fold(answer, |answer, (key, value)| answer.put_any(key, value)).end()
}

/// The common kind of error for a code of the game. An unknown code is an error of the tool.
pub fn kind_of(code: &str) -> Kind {
    match code {
        "BAD_JSON" => Kind::BadInput,
        "UNKNOWN_COMMAND" => Kind::UnknownTool,
        "INVALID_ARGS" | "AMBIGUOUS" => Kind::InvalidArgs,
        "NODE_NOT_FOUND" | "PROPERTY_NOT_FOUND" | "INVALID_ID" => Kind::NotFound,
        "NEEDS_APPROVAL" => Kind::NeedsApproval,
        "NOT_ALLOWED" => Kind::Denied,
        "TIMEOUT" => Kind::Timeout,
        "TOO_LARGE" => Kind::TooLarge,
        "VERSION_MISMATCH" => Kind::Protocol,
        "GAME_START_FAILED" => Kind::StartFailed,
        "GAME_CRASHED" | "GAME_EXITED" => Kind::Lost,
        _ => Kind::ToolError,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::super::wire::Message;
    use super::*;
    use pipewright_record::recognise;

    fn answered(call: &str, response: &str) -> String {
        let Message::Response(response) = Message::read(response) else { panic!("{response}") };
        answer(&recognise(call).unwrap().unwrap(), &response)
    }

    const DONE: &str = r#"{"ok":true,"id":4,"data":{"result":"ok","n":1.10},"events":[{"seq":1}],"frame":12}"#;
    const FAILED: &str = r#"{"ok":false,"id":5,"error":"no crystal 5","code":"INVALID_ID","hint":"there are 0 to 2","details":{"n":3},"events":[],"frame":13}"#;

    #[test]
    fn the_games_own_form_keeps_every_field_and_the_callers_id() {
        let call = r#"{"cmd":"swap","id":12345678901234567890}"#;
        assert_eq!(answered(call, DONE), DONE.replace("\"id\":4", "\"id\":12345678901234567890"));
        assert_eq!(answered(r#"{"cmd":"swap","id":"a"}"#, FAILED), FAILED.replace("\"id\":5", "\"id\":\"a\""));
        assert_eq!(answered(r#"{"cmd":"swap"}"#, DONE), DONE.replace(",\"id\":4", ""));
    }

    #[test]
    fn other_forms_have_the_events_too() {
        assert_eq!(
            answered(r#"{"type":"tool_call","call_id":"c","tool_name":"swap","plan_id":1}"#, DONE),
            r#"{"type":"tool_result","call_id":"c","plan_id":1,"status":"ok","result":{"result":"ok","n":1.10},"events":[{"seq":1}],"frame":12}"#
        );
        assert_eq!(
            answered(r#"{"tool":"swap","id":1}"#, FAILED),
            r#"{"id":1,"tool":"swap","status":"error","error":"no crystal 5; there are 0 to 2","kind":"not_found","code":"INVALID_ID","data":{"n":3},"events":[],"frame":13}"#
        );
        assert!(
            answered(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"swap"}}"#, DONE)
                .starts_with(r#"{"jsonrpc":"2.0","id":1,"result":{"result":"ok""#)
        );
    }
}
