//! Questions of gates and tools to the person, in an editor.

use super::{DONE, ECHO, Editor, Place, no_capabilities};
use serde_json::{Value, json};

fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

/// The option ids of a permission request.
fn options(permission: &Value) -> Vec<&str> {
    permission["params"]["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| option["optionId"].as_str().unwrap())
        .collect()
}

/// The last state of the first call.
fn outcome(editor: &Editor) -> Value {
    editor.updates("tool_call_update").into_iter().rfind(|update| update["toolCallId"] == "a1").unwrap()
}

#[test]
fn a_rejected_call_fails_and_the_turn_continues() {
    let place = Place::new();
    let mut editor = Editor::greet(place.agent(&[ECHO, DONE], &[]), no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Echo.");
    let permission = editor.asked("session/request_permission");
    assert_eq!(options(&permission), ["allow", "allow_session", "allow_session_2", "reject"], "no forms, no edits");
    let call = &permission["params"]["toolCall"];
    assert_eq!(
        (&call["title"], &call["rawInput"]["n"], &call["status"]),
        (&"echo: hi".into(), &1.into(), &"pending".into())
    );
    assert!(call["content"].to_string().contains("ask"), "the policy's reason: {call}");
    editor.choose(&permission, "reject");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    let failed = outcome(&editor);
    assert_eq!(failed["status"], "failed");
    assert!(failed["content"][0]["content"]["text"].as_str().unwrap().contains("rejected"), "{failed}");
    editor.end(0);
}

#[test]
fn a_tool_is_allowed_for_the_session() {
    let place = Place::new();
    let mut editor = Editor::greet(place.agent(&[ECHO, ECHO, DONE], &[]), no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Echo twice.");
    let permission = editor.asked("session/request_permission");
    editor.choose(&permission, "allow_session");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert_eq!(editor.updates("tool_call").len(), 2);
    assert!(editor.passed.iter().all(|message| message["method"] != "session/request_permission"));
    editor.end(0);
}

#[test]
fn a_command_is_allowed_for_the_session_by_its_program() {
    let place = Place::new();
    let [make, again, remove] = ["mkdir a", "mkdir b", "rm -rf ~"]
        .map(|command| json!({"calls": [{"tool_name": "echo", "arguments": {"command": command}}]}).to_string());
    let mut editor = Editor::greet(place.agent(&[&make, &again, &remove, DONE], &[]), no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Make folders.");
    let permission = editor.asked("session/request_permission");
    assert_eq!(permission["params"]["options"][1]["name"], "Allow `mkdir *` in this folder for the session");
    editor.choose(&permission, "allow_session");
    let permission = editor.asked("session/request_permission");
    assert_eq!(permission["params"]["toolCall"]["rawInput"]["command"], "rm -rf ~");
    assert_eq!(permission["params"]["options"][1]["name"], "Allow exactly this call for the session");
    editor.choose(&permission, "reject");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    editor.end(0);
}

#[test]
fn arguments_are_edited_in_a_form() {
    let place = Place::new();
    let mut editor = Editor::greet(place.agent(&[ECHO, DONE], &[]), forms());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Echo.");
    let permission = editor.asked("session/request_permission");
    assert_eq!(options(&permission), ["allow", "allow_session", "allow_session_2", "edit", "reject"]);
    editor.choose(&permission, "edit");
    let form = editor.asked("elicitation/create");
    assert_eq!(form["params"]["toolCallId"], "a1");
    assert_eq!(form["params"]["requestedSchema"]["properties"]["message"]["default"], "hi");
    editor.answer(&form, json!({"action": "decline"}));
    let permission = editor.asked("session/request_permission");
    editor.choose(&permission, "edit");
    let form = editor.asked("elicitation/create");
    editor.answer(&form, json!({"action": "accept", "content": {"message": "ho"}}));
    let form = editor.asked("elicitation/create");
    assert!(form["params"]["message"].as_str().unwrap().contains("n is missing"), "{form}");
    editor.answer(&form, json!({"action": "accept", "content": {"message": "ho", "n": 2}}));
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    let done = outcome(&editor);
    assert_eq!(
        (&done["status"], &done["rawOutput"]["message"], &done["rawOutput"]["n"]),
        (&"completed".into(), &"ho".into(), &2.into())
    );
    let edited = editor.updates("tool_call_update").into_iter().find(|update| update["rawInput"]["n"] == 2);
    assert!(edited.is_some(), "the editor shows what is called");
    editor.end(0);
}

#[test]
fn only_the_first_answer_with_the_right_id_counts() {
    let place = Place::new();
    let mut editor = Editor::greet(place.agent(&[ECHO, DONE], &[]), no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Echo.");
    let permission = editor.asked("session/request_permission");
    let allow = r#""result":{"outcome":{"outcome":"selected","optionId":"allow"}}"#;
    for id in ["77", "\"1\"", "1.0", "-1", "18446744073709551616"] {
        editor.talk.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},{allow}}}"#));
    }
    editor.talk.receive_nothing_for(300);
    editor.choose(&permission, "reject");
    editor.talk.say(&format!(r#"{{"jsonrpc":"2.0","id":{},{allow}}}"#, permission["id"]));
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert_eq!(outcome(&editor)["status"], "failed");
    let ended = editor.talk.end_after_close();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(ended.stderr.lines().count(), 6, "{}", ended.stderr);
}

#[test]
fn invalid_choices_reject_the_call() {
    for answer in [
        r#""result":{"outcome":{"outcome":"selected","optionId":"edit"}}"#,
        r#""result":{"outcome":{"outcome":"cancelled"}}"#,
        r#""result":{}"#,
        r#""error":{"code":-32601,"message":"no such method"}"#,
        // Not an answer at all.
        r#""result":{},"error":{"code":1,"message":"both"}"#,
        r#""error":null"#,
    ] {
        let place = Place::new();
        let mut editor = Editor::greet(place.agent(&[ECHO, DONE], &[]), no_capabilities());
        let session = editor.begin(place.path());
        let prompt = editor.prompt(&session, "Echo.");
        let permission = editor.asked("session/request_permission");
        editor.talk.say(&format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, permission["id"]));
        assert_eq!(editor.stop_reason(prompt), "end_turn");
        assert_eq!(outcome(&editor)["status"], "failed", "{answer}");
    }
}

#[test]
fn in_observe_mode_held_calls_are_rejected_without_a_question() {
    let place = Place::new();
    let mut editor = Editor::greet(place.agent(&[ECHO, ECHO, DONE], &[]), no_capabilities());
    let session = editor.begin(place.path());
    let unknown = editor.ask("session/set_mode", json!({"sessionId": session, "modeId": "yolo"}));
    assert_eq!(unknown["error"]["code"], -32602);
    let prompt = editor.prompt(&session, "Echo twice.");
    let permission = editor.asked("session/request_permission");
    // The open question is withdrawn, too.
    let answer = editor.ask("session/set_mode", json!({"sessionId": session, "modeId": "observe"}));
    assert_eq!(answer["result"], json!({}));
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    let withdrawn = editor.passed.iter().find(|message| message["method"] == "$/cancel_request").unwrap();
    assert_eq!(withdrawn["params"]["requestId"], permission["id"]);
    assert_eq!(editor.updates("tool_call").len(), 2);
    let failed: Vec<Value> = editor.updates("tool_call_update");
    let failed: Vec<&Value> = failed.iter().filter(|update| update["status"] == "failed").collect();
    assert_eq!(failed.len(), 2);
    assert!(failed.iter().all(|update| update.to_string().contains("observe mode")), "{failed:?}");
    editor.end(0);
}

#[test]
fn a_turn_is_cancelled_while_the_person_is_asked() {
    let place = Place::new();
    let mut editor = Editor::greet(place.agent(&[ECHO, DONE], &[]), no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Echo.");
    let permission = editor.asked("session/request_permission");
    editor.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(editor.stop_reason(prompt), "cancelled");
    editor.answer(&permission, json!({"outcome": {"outcome": "cancelled"}}));
    let prompt = editor.prompt(&session, "Stop.");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    drop(editor);
}

#[test]
fn a_session_is_closed_while_the_person_is_asked() {
    let place = Place::new();
    let mut editor = Editor::greet(place.agent(&[ECHO, DONE], &[]), no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Echo.");
    let permission = editor.asked("session/request_permission");
    let closed = editor.request("session/close", json!({"sessionId": session}));
    assert_eq!(editor.stop_reason(prompt), "cancelled");
    assert_eq!(editor.answer_to(closed)["result"], json!({}));
    editor.choose(&permission, "allow");
    let again = editor.ask("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": "x"}]}));
    assert_eq!(again["error"]["code"], -32602);
    assert_eq!(editor.talk.end_after_close().status.code(), Some(0));
}

const INPUT: &str = r#"{"type":"input_request","request_id":"q1","call_id":"c1","tool":"order","source":"mcp","method":"elicitation/create","params":{"message":"How many?","requestedSchema":{"type":"object","properties":{"count":{"type":"integer","minimum":1},"size":{"type":"string","enum":["S","L"]},"extras":{"type":"array","items":{"type":"string","enum":["a"]}}},"required":["count"]}},"epoch":0}"#;

/// An agent that asks, and shows the answer as its message.
fn asking(place: &Place) -> std::process::Command {
    let agent = format!(
        "read -r line; echo '{}'; echo '{}'; echo '{INPUT}'; read -r answer; \
         echo '{{\"type\":\"tool_result\",\"call_id\":\"c1\",\"status\":\"ok\",\"result\":1}}'; \
         printf '{{\"type\":\"final\",\"outcome\":\"done\",\"content\":\"%s\",\"usage\":{{}},\"steps\":0,\"denied\":0,\"exit_status\":0}}\\n' \"$(echo \"$answer\" | tr '\"' '|')\"; echo '{}'; cat",
        super::RUNNING,
        r#"{"type":"tool_call","call_id":"c1","tool_name":"order","arguments":{}}"#,
        super::IDLE
    );
    let mut command = std::process::Command::new("sh");
    let agent = place.file("agent.sh", &format!("echo '{}'; {agent}", super::IDLE));
    command.arg(agent);
    command
}

#[test]
fn a_tools_question_becomes_a_form_in_the_editor() {
    let place = Place::new();
    let mut editor = Editor::greet(asking(&place), forms());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Order.");
    let form = editor.asked("elicitation/create");
    assert_eq!(form["params"]["message"], "order asks: How many?");
    assert_eq!(form["params"]["requestedSchema"]["required"], json!(["count"]));
    editor.answer(&form, json!({"action": "accept", "content": {"count": 2}}));
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert!(editor.said().contains("|action|:|accept|,|content|:{|count|:2}"), "{}", editor.said());
    editor.end(0);
}

#[test]
fn a_tools_question_is_declined_if_the_editor_has_no_forms() {
    let place = Place::new();
    let mut editor = Editor::greet(asking(&place), no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Order.");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert!(editor.said().contains("How many?") && editor.said().contains("|decline|"), "{}", editor.said());
    editor.end(0);
}
