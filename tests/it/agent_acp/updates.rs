//! From arbitrary records to updates.

use super::{Editor, IDLE, Place, RUNNING, no_capabilities, schema};
use pipewright_clients::acp::{StopReason, Updates};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;

fn updates(records: &[&str]) -> (Vec<Value>, Option<StopReason>) {
    let mut session = Updates::new(PathBuf::from("/home/me"));
    session.prompt(r#"{"type":"user_message","content":"x"}"#);
    let (mut all, mut stop) = (Vec::new(), None);
    for record in records {
        let taken = session.take(record);
        all.extend(taken.updates.iter().map(|update| serde_json::from_str::<Value>(update).unwrap()));
        stop = stop.or(taken.stop);
    }
    all.iter().for_each(|update| schema::hold("SessionUpdate", update));
    (all, stop)
}

fn of_kind<'a>(updates: &'a [Value], kind: &str) -> Vec<&'a Value> {
    updates.iter().filter(|update| update["sessionUpdate"] == kind).collect()
}

#[test]
fn streamed_text_is_not_repeated() {
    let (updates, _) = updates(&[
        RUNNING,
        r#"{"type":"assistant_message","request_id":"m1","token":"Hm","is_final":false,"kind":"thought"}"#,
        r#"{"type":"assistant_message","request_id":"m1","token":"I ","is_final":false,"kind":"answer"}"#,
        r#"{"type":"assistant_message","request_id":"m1","token":"echo.","is_final":false,"kind":"answer"}"#,
        r#"{"type":"assistant_message","token":"Hm","is_final":true,"kind":"thought"}"#,
        r#"{"type":"assistant_message","token":"I echo.","is_final":true,"kind":"progress"}"#,
        r#"{"type":"assistant_message","token":"I echo.","is_final":true,"kind":"progress"}"#,
        r#"{"type":"assistant_message","request_id":"m2","token":"I","is_final":false,"kind":"answer"}"#,
        r#"{"type":"assistant_message","request_id":"m2","token":"","is_final":false,"kind":"progress","restarted":true}"#,
        r#"{"type":"assistant_message","request_id":"m2","token":"Done.","is_final":false,"kind":"answer"}"#,
        r#"{"type":"final","outcome":"done","content":"Done.","usage":{},"steps":1,"denied":0,"exit_status":0}"#,
    ]);
    let said: Vec<(&Value, &Value)> = of_kind(&updates, "agent_message_chunk")
        .iter()
        .map(|chunk| (&chunk["content"]["text"], &chunk["messageId"]))
        .collect();
    let ids: Vec<&str> = said.iter().map(|(_, id)| id.as_str().unwrap()).collect();
    let texts: Vec<&str> = said.iter().map(|(text, _)| text.as_str().unwrap()).collect();
    assert_eq!(texts, ["I ", "echo.", "\n\nI echo.", "\n\nI", "\n\nDone."]);
    assert!(ids[0] == ids[1] && ids[1] != ids[2] && ids[3] != ids[4], "{ids:?}");
    assert_eq!(of_kind(&updates, "agent_thought_chunk").len(), 1);
}

#[test]
fn endless_streamed_text_is_kept_only_in_part() {
    let mut records = vec![RUNNING.to_owned()];
    let token = "0123456789abcdef".repeat(1 << 12);
    let count = 40;
    for _ in 0..count {
        records.push(json!({"type": "assistant_message", "request_id": "m1", "token": token, "is_final": false, "kind": "answer"}).to_string());
    }
    let whole = |token: &str| {
        json!({"type": "assistant_message", "token": token, "is_final": true, "kind": "progress"}).to_string()
    };
    records.push(whole(&token.repeat(count)));
    records.push(whole("another"));
    let (updates, _) = updates(&records.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(of_kind(&updates, "agent_message_chunk").len(), count + 1);
}

#[test]
fn a_turn_ends_for_the_reason_that_the_agent_gives() {
    let end = |outcome: &str, limit: Option<&str>, content: &str| {
        let last = json!({"type": "final", "outcome": outcome, "limit": limit, "content": content, "usage": {}, "steps": 1, "denied": 0, "exit_status": 0});
        updates(&[RUNNING, &last.to_string(), IDLE])
    };
    for (outcome, limit, content, stop, said) in [
        ("done", None, "Yes.", StopReason::EndTurn, Some("Yes.")),
        (
            "limit",
            Some("steps"),
            "stopped: the limit of 5 steps is reached",
            StopReason::MaxTurnRequests,
            Some("stopped: the limit of 5 steps is reached"),
        ),
        (
            "limit",
            Some("tokens"),
            "stopped: 900 tokens\nall of it",
            StopReason::MaxTokens,
            Some("stopped: 900 tokens\nall of it"),
        ),
        ("cancelled", None, "", StopReason::Cancelled, None),
        ("failed", None, "no model", StopReason::EndTurn, Some("Failed: no model")),
    ] {
        let (updates, stopped) = end(outcome, limit, content);
        assert_eq!(stopped, Some(stop), "{outcome}");
        let chunks = of_kind(&updates, "agent_message_chunk");
        assert_eq!(chunks.first().map(|chunk| chunk["content"]["text"].as_str().unwrap()), said);
    }
    for pending in ["manual", "question"] {
        let waits = json!({"type": "status", "status": "waiting_user", "pending_kind": pending});
        assert_eq!(updates(&[RUNNING, &waits.to_string()]).1, Some(StopReason::EndTurn));
    }
    assert_eq!(updates(&[IDLE]).1, None, "it has not worked yet");
    let refused = r#"{"type":"error","context":{},"content":"too long"}"#;
    assert_eq!(
        updates(&[IDLE, refused]).1,
        Some(StopReason::EndTurn),
        "nothing else comes of a message that was refused"
    );
}

#[test]
fn plans_are_complete_and_use_only_acp_states() {
    let (updates, _) = updates(&[
        r#"{"type":"plan_update","plan_id":"p","steps":[{"id":"1","desc":"a","status":"running"},{"id":"2","desc":"b","status":"blocked"},{"id":"3","desc":"c","status":"error"}],"current_step":"1"}"#,
        r#"{"type":"plan_progress","plan_id":"p","step_id":"1","result":"ok","status":"done"}"#,
    ]);
    let states: Vec<Vec<&Value>> = of_kind(&updates, "plan")
        .iter()
        .map(|plan| plan["entries"].as_array().unwrap().iter().map(|entry| &entry["status"]).collect())
        .collect();
    assert_eq!(states, [["in_progress", "pending", "pending"], ["completed", "pending", "pending"]]);
    assert_eq!(updates[1]["entries"][2]["_meta"]["pipewright/status"], "error");
    assert_eq!(updates[1]["_meta"]["pipewright/record"]["result"], "ok");
}

#[test]
fn a_file_edit_is_shown_as_a_diff_with_its_result() {
    let (updates, _) = updates(&[
        RUNNING,
        r#"{"type":"tool_call","call_id":7,"tool_name":"edit_file","arguments":{"path":"a.rs","edits":[{"oldText":"x","newText":"y"}]}}"#,
        r#"{"type":"tool_result","call_id":7,"status":"ok","result":{"content":[{"type":"text","text":"ok"}]}}"#,
    ]);
    let call = of_kind(&updates, "tool_call")[0];
    assert_eq!(
        (&call["toolCallId"], &call["kind"], &call["locations"][0]["path"]),
        (&"7".into(), &"edit".into(), &"/home/me/a.rs".into())
    );
    let diff = json!({"type": "diff", "path": "/home/me/a.rs", "oldText": "x", "newText": "y"});
    let result = of_kind(&updates, "tool_call_update")[0];
    assert_eq!((&call["content"][0], &result["content"][0]), (&diff, &diff));
    assert_eq!(result["content"][1]["content"]["text"], "```\nok\n```");
}

/// An arbitrary value in a record.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}|[\\x00-\\x7f]{0,9}|`{1,5}|/a/b|file:///x|https://x/".prop_map(Value::from),
        prop_oneof![
            "running",
            "idle",
            "waiting_user",
            "ok",
            "error",
            "done",
            "limit",
            "confirm",
            "text",
            "image",
            "p",
            "1",
            "c1"
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let keys = "[a-z]{1,4}|type|text|content|data|mimeType|oldText|newText|id|desc|status|tool_name|call_id|question|options|name|path";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keys, inner, 0..5).prop_map(|map| json!(map)),
        ]
    })
}

/// A record with a known type and known fields of arbitrary values.
fn record() -> impl Strategy<Value = Value> {
    let types = prop::sample::select(vec![
        "assistant_message",
        "plan_update",
        "plan_progress",
        "tool_call",
        "tool_result",
        "status",
        "error",
        "final",
        "user_message",
        "agent_chain_update",
        "observation",
        "policy_result",
        "history",
        "input_request",
        "else",
    ]);
    let keys = prop::sample::select(vec![
        "call_id",
        "tool_name",
        "arguments",
        "args",
        "target",
        "status",
        "pending_kind",
        "pending_action",
        "token",
        "is_final",
        "kind",
        "request_id",
        "question",
        "restarted",
        "plan_id",
        "step_id",
        "steps",
        "result",
        "error",
        "data",
        "outcome",
        "content",
        "edited_arguments",
        "current_step",
    ]);
    (types, prop::collection::btree_map(keys, value(), 0..9)).prop_map(|(record_type, mut fields)| {
        fields.insert("type", record_type.into());
        json!(fields)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_records_are_valid_updates(records in prop::collection::vec(record(), 1..14)) {
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        updates(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn records_without_an_acp_form_are_complete_in_meta() {
    let place = Place::new();
    let chain =
        r#"{"type":"agent_chain_update","chain_id":"c","agents":[{"agent_id":"a","status":"running"}],"n":1.10}"#;
    let mut editor = Editor::greet(place.scripted(&[RUNNING, chain, IDLE]), no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "x");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    let records: Vec<Value> = editor
        .updates("session_info_update")
        .iter()
        .map(|update| update["_meta"]["pipewright/record"].clone())
        .collect();
    assert_eq!(records[2], serde_json::from_str::<Value>(chain).unwrap());
    editor.end(0);
}

/// The texts of the chunks that a line produces.
fn said(session: &mut Updates, line: &str) -> (Vec<String>, Option<StopReason>) {
    let taken = session.take(line);
    let updates: Vec<Value> = taken.updates.iter().map(|update| serde_json::from_str(update).unwrap()).collect();
    let texts = of_kind(&updates, "agent_message_chunk");
    (texts.iter().map(|chunk| chunk["content"]["text"].as_str().unwrap().to_owned()).collect(), taken.stop)
}

const DONE: &str =
    r#"{"type":"final","outcome":"done","content":"Done.","usage":{},"steps":1,"denied":0,"exit_status":0}"#;

#[test]
fn the_same_end_is_shown_in_each_turn_and_the_end_of_an_earlier_turn_ends_no_later_one() {
    let mut session = Updates::new(PathBuf::from("/home/me"));
    let message = r#"{"type":"user_message","content":"x"}"#;
    for _ in 0..2 {
        session.prompt(message);
        assert!(said(&mut session, RUNNING).1.is_none());
        let (texts, stop) = said(&mut session, DONE);
        assert_eq!((texts.len(), stop), (1, Some(StopReason::EndTurn)));
        assert_eq!(said(&mut session, IDLE).1, None);
    }
    // The editor gave up a turn on which the agent still works.
    session.prompt(message);
    said(&mut session, RUNNING);
    session.end_turn();
    session.prompt(message);
    let cancelled = DONE.replace("done", "cancelled");
    assert_eq!((said(&mut session, &cancelled).1, said(&mut session, IDLE).1), (None, None));
    said(&mut session, RUNNING);
    assert_eq!(said(&mut session, DONE).1, Some(StopReason::EndTurn));
}

#[test]
fn an_edited_call_is_shown_as_it_was_made() {
    let (updates, _) = updates(&[
        RUNNING,
        r#"{"type":"tool_call","call_id":"a1","tool_name":"write_file","arguments":{"path":"a.txt","content":"old"}}"#,
        r#"{"type":"status","status":"edited_by_human","call_id":"a1","edited_arguments":{"path":"b.txt","content":"new"}}"#,
        r#"{"type":"tool_result","call_id":"a1","status":"ok","result":"written"}"#,
    ]);
    let changes = of_kind(&updates, "tool_call_update");
    assert_eq!(changes[0]["title"], "write_file: b.txt");
    for change in &changes {
        assert!(!change.to_string().contains("a.txt") && change["content"].to_string().contains("b.txt"), "{change}");
    }
}

#[test]
fn a_streamed_question_has_its_options_and_no_control_characters() {
    let (updates, _) = updates(&[
        RUNNING,
        r#"{"type":"assistant_message","request_id":"m1","token":"Which\u001b[2J?","is_final":false,"kind":"question"}"#,
        r#"{"type":"assistant_message","token":"Which\u001b[2J?","is_final":true,"kind":"question","question":{"question":"Which?","options":["red"]}}"#,
    ]);
    let texts: Vec<&Value> =
        of_kind(&updates, "agent_message_chunk").iter().map(|chunk| &chunk["content"]["text"]).collect();
    assert_eq!(texts, ["Which?[2J?", "\n- red"]);
}
