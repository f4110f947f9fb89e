//! The form in which calls are asked for: structured if the model is known to answer so, else one JSON object by schema, else text.

use super::server::{Reply, Request, Server};
use super::{model, records};
use crate::process::{pipe, text};
use serde_json::{Value, json};

const TOOLS: &str = r#"[{"name":"look","description":"Looks at a place.","input_schema":{"type":"object","properties":{"place":{"type":"string"},"far":{"type":"boolean"}},"required":["place"]}},{"name":"burn","description":"Burns it down.","input_schema":{"type":"object","properties":{"heat":{"type":"integer","minimum":3}}}},{"name":"assistant_done","description":"Ends.","input_schema":{"type":"object","properties":{"reason":{"type":"string"}},"required":["reason"]}}]"#;

/// A request with these messages and further fields, JSON texts.
fn ask(messages: &str, more: &str) -> String {
    let message = r#"{"role":"user","content":"go"}"#;
    format!(r#"{{"type":"model_request","system":"S","messages":[{message}{messages}],"tools":{TOOLS}{more}}}"#) + "\n"
}

/// A turn of Chat Completions with this text.
fn said(text: &str) -> Reply {
    let delta =
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": "stop"}]});
    Reply::stream(&[&delta.to_string(), "[DONE]"])
}

/// A structured call.
fn called(tool: &str) -> Reply {
    let call = json!({"index": 0, "id": "c1", "type": "function", "function": {"name": tool, "arguments": "{\"place\":\"hall\"}"}});
    let delta = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    Reply::stream(&[&delta.to_string(), "[DONE]"])
}

/// A server whose model answers with these texts, one after the other.
fn server(texts: &'static [&'static str]) -> Server {
    Server::start(|_, before| said(texts[before.min(texts.len() - 1)]))
}

fn body(request: &Request) -> Value {
    serde_json::from_str(&request.body).unwrap()
}

/// Whether a body has tools, and whether it has a schema.
fn forms(server: &Server) -> Vec<(bool, bool)> {
    let has = |body: Value| (body.get("tools").is_some(), body.get("response_format").is_some());
    server.requests().iter().map(|request| has(body(request))).collect()
}

const STRUCTURED: (bool, bool) = (true, false);
const SCHEMA: (bool, bool) = (false, true);
const TEXT: (bool, bool) = (false, false);

const ACT: &str = r#"{"mode":"act","tool":"look","args":{"place":"hall"}}"#;

#[test]
fn a_model_that_writes_its_calls_as_text_is_asked_for_json_from_then_on() {
    let server = server(&[r#"<tool_call>{"name":"look","arguments":{"place":"hall"}}</tool_call>"#, ACT]);
    let input = [ask("", ""), ask("", r#","core_tools":["look"]"#)].concat();
    let output = pipe(&mut model(&server, "llama.cpp/m"), input.as_bytes());
    let turns = records(&output);
    assert_eq!(forms(&server), [STRUCTURED, SCHEMA], "{output:?}");
    assert_eq!([&turns[0]["form"], &turns[1]["form"]], ["structured", "schema"]);
    for turn in &turns {
        assert_eq!(
            (&turn["calls"][0]["tool_name"], &turn["calls"][0]["arguments"]["place"]),
            (&"look".into(), &"hall".into())
        );
    }
    assert!(text(&output.stderr).contains("does not answer with structured calls"), "{output:?}");
    let sent = body(&server.requests()[1]);
    let system = sent["messages"][0]["content"].as_str().unwrap();
    for part in [
        "S\n\nAnswer with one JSON object",
        "look(place: text, far?: true|false): Looks",
        "Other tools, to be described before they are called: burn",
    ] {
        assert!(system.contains(part), "{part}: {system}");
    }
    assert!(!system.contains("Burns it down"), "{system}");
    let forms = sent["response_format"]["json_schema"]["schema"]["anyOf"].as_array().unwrap();
    let look = &forms[0]["properties"];
    assert_eq!((&look["tool"]["const"], &look["args"]["required"]), (&"look".into(), &json!(["place"])));
    // The next run knows it.
    pipe(&mut model(&server, "llama.cpp/m"), ask("", "").as_bytes());
    assert_eq!(forms_of(&server), SCHEMA);
}

fn forms_of(server: &Server) -> (bool, bool) {
    forms(server).pop().unwrap()
}

#[test]
fn a_required_call_that_does_not_come_is_asked_for_as_json_at_once() {
    let server = server(&["I would look.", ACT]);
    let output = pipe(&mut model(&server, "ollama/m"), ask("", r#","tool_choice":"any""#).as_bytes());
    let turn = &records(&output)[0];
    assert_eq!(
        (forms(&server), &turn["calls"][0]["tool_name"]),
        (vec![STRUCTURED, SCHEMA], &"look".into()),
        "{output:?}"
    );
}

#[test]
fn a_model_that_has_answered_with_a_structured_call_is_trusted() {
    let server = Server::start(|_, before| if before == 0 { called("look") } else { said(ACT) });
    let output = pipe(&mut model(&server, "vllm/m"), ask("", "").repeat(3).as_bytes());
    assert_eq!(forms(&server), [STRUCTURED; 3], "{output:?}");
    assert_eq!(records(&output)[2]["calls"][0]["tool_name"], "look", "text that is a call still is one");
}

#[test]
fn a_model_asks_what_a_tool_does_before_it_calls_it() {
    let server = server(&[
        "[look(place=\"hall\")]",
        r#"{"mode":"describe","tool":"burn"}"#,
        r#"{"mode":"act","tool":"burn","args":{"heat":4}}"#,
    ]);
    let core = r#","core_tools":["look"]"#;
    let output = pipe(&mut model(&server, "llama.cpp/m"), [ask("", core), ask("", core)].concat().as_bytes());
    let turns = records(&output);
    assert_eq!((&turns[1]["calls"][0]["tool_name"], turns.len()), (&"burn".into(), 2), "{output:?}");
    let messages = body(&server.requests()[2])["messages"].clone();
    let last = messages.as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    assert!(last.contains("Burns it down") && last.contains("\"minimum\":3"), "{messages}");
}

#[test]
fn a_server_without_schemas_is_asked_for_text() {
    let refusal = r#"{"error":{"message":"Failed to parse grammar","code":400}}"#;
    let server = Server::start(move |request, _| match body(request) {
        body if body.get("tools").is_some() => Reply::error(400, r#"{"error":{"message":"m does not support tools"}}"#),
        body if body.get("response_format").is_some() => Reply::error(400, refusal),
        _ => said(r#"function_call: name=look args={"place":"hall"}"#),
    });
    let output = pipe(&mut model(&server, "ollama/m"), ask("", "").as_bytes());
    let turn = &records(&output)[0];
    assert_eq!(forms(&server), [STRUCTURED, SCHEMA, TEXT], "{output:?}");
    assert_eq!((&turn["form"], &turn["calls"][0]["tool_name"]), (&"text".into(), &"look".into()));
}

#[test]
fn a_conversation_keeps_its_form_although_the_server_is_not_known_any_more() {
    let server = server(&[ACT]);
    let turn = r#",{"role":"assistant","turn":{"form":"schema","provider":"llama.cpp","model":"m","text":"","calls":[{"call_id":"c","tool_name":"look","arguments":{"place":"hall"}}]}},{"role":"tool","call_id":"c","content":[{"text":"A door."}]}"#;
    let output = pipe(&mut model(&server, "llama.cpp/m"), ask(turn, "").as_bytes());
    assert_eq!(forms(&server), [SCHEMA], "{output:?}");
    let messages = body(&server.requests()[0])["messages"].clone();
    assert_eq!(messages[2]["content"], ACT, "{messages}");
    assert!(messages[3]["content"].to_string().contains("A door."), "{messages}");
}

#[test]
fn what_was_forgotten_since_does_not_change_a_conversation_of_text() {
    let server = server(&[r#"function_call: name=look args={"place":"hall"}"#]);
    let turn = r#",{"role":"assistant","turn":{"form":"text","provider":"llama.cpp","model":"m","text":"","calls":[{"call_id":"c","tool_name":"look","arguments":{"place":"hall"}}]}},{"role":"tool","call_id":"c","content":[{"text":"A door."}]}"#;
    let output = pipe(&mut model(&server, "llama.cpp/m"), ask(turn, r#","core_tools":["look(place)"]"#).as_bytes());
    assert_eq!((forms(&server), &records(&output)[0]["form"]), (vec![TEXT], &"text".into()), "{output:?}");
    // The list is as short as for objects.
    let system = body(&server.requests()[0])["messages"][0]["content"].clone();
    let system = system.as_str().unwrap();
    assert!(
        system.contains("- look(place: text): Looks") && system.contains("- burn(heat?: integer): Burns"),
        "{system}"
    );
    assert!(!system.contains("\"properties\""), "{system}");
}

#[test]
fn a_core_tool_may_name_the_arguments_that_are_described() {
    let server = server(&["[look(place=\"hall\")]", ACT]);
    let core = r#","core_tools":["burn(heat)","look(far?, place)"]"#;
    pipe(&mut model(&server, "llama.cpp/m"), [ask("", core), ask("", core)].concat().as_bytes());
    let sent = body(&server.requests()[1]);
    let system = sent["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.contains("- burn(heat: integer): Burns it down.\n- look(far?: true|false, place: text): Looks"),
        "{system}"
    );
    let forms = &sent["response_format"]["json_schema"]["schema"]["anyOf"];
    let args = |number: usize| &forms[number]["properties"]["args"];
    assert_eq!((&args(0)["required"], &args(1)["required"]), (&json!(["heat"]), &json!(["place"])), "{forms}");
}

#[test]
fn what_models_toml_declares_is_not_tried() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("pipewright")).unwrap();
    let declared = "[\"llama.cpp/m\"]\nabilities = { tools = false }\n";
    std::fs::write(place.path().join("pipewright/models.toml"), declared).unwrap();
    let server = server(&[r#"{"mode":"done","reason":"It is burnt."}"#]);
    let mut llm = model(&server, "llama.cpp/m");
    let tools = r#"[{"name":"look"}]"#;
    let input = format!(r#"{{"type":"model_request","messages":[{{"role":"user","content":"go"}}],"tools":{tools}}}"#);
    let output = pipe(llm.env("XDG_CONFIG_HOME", place.path()), format!("{input}\n").as_bytes());
    // Without a tool for it, the end is an answer in words.
    let turn = &records(&output)[0];
    assert_eq!((forms(&server), &turn["text"], &turn["stop"]), (vec![SCHEMA], &"It is burnt.".into(), &"end".into()));
}

#[test]
fn the_context_window_is_learnt_from_an_overflow() {
    let overflow = r#"{"error":{"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","code":400}}"#;
    let server = Server::start(move |_, before| if before == 0 { Reply::error(400, overflow) } else { said("Hi") });
    let output = pipe(&mut model(&server, "llama.cpp/m"), b"{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}\n");
    let turns = records(&output);
    assert_eq!((&turns[0]["kind"], &turns[1]["context"]), (&"overflow".into(), &8192.into()), "{output:?}");
}

#[test]
fn a_model_that_answers_by_schema_chooses_an_action_and_an_element() {
    let server = server(&[
        "[look(place=\"hall\")]",
        r#"{"steps":["press B","write","write"," "]}"#,
        r#"{"step":"press B","mode":"click","element":"button B"}"#,
        r#"{"step":"write","mode":"type","element":"field","text":"x"}"#,
        "It is done.",
    ]);
    let mut choices = json!({
        "system": "Small.", "example": "An example.", "prompt": "The page.", "actions": [
            {"verb": "click", "means": "", "past": "Clicked {element}", "tool": "burn", "arguments": {"action": "click"}, "argument": "index", "elements": {"button A": 1, "button B": 2}},
            {"verb": "type", "means": "writes", "past": "Typed", "tool": "burn", "argument": "index", "elements": {"field": 3}, "text": "words"},
            {"verb": "select", "means": "chooses", "past": "Chose", "tool": "burn", "argument": "index", "text": "words"},
        ],
    });
    let with = |choices: &Value, more: &str| {
        let plan = r#""tools":[{"name":"assistant_plan","description":"","input_schema":{"type":"object"}},"#;
        ask("", &format!(r#","core_tools":["look(place)","burn"],"choices":{choices}{more}"#)).replacen(
            "\"tools\":[",
            plan,
            1,
        )
    };
    let free = with(&choices, "");
    choices["wants_plan"] = true.into();
    let first = with(&choices, "");
    choices.as_object_mut().unwrap().remove("wants_plan");
    choices["step"] = "write".into();
    let input = [first.clone(), first, free, with(&choices, ""), with(&choices, r#","tool_choice":"none""#)].concat();
    let output = pipe(&mut model(&server, "llama.cpp/m"), input.as_bytes());
    let turns = records(&output);
    let calls = |at: usize| {
        let calls = turns[at]["calls"].as_array().unwrap().iter();
        Value::from_iter(calls.map(|call| json!([call["tool_name"], call["arguments"]])))
    };
    assert_eq!(calls(1), json!([["assistant_plan", {"steps": ["press B", "write"]}]]), "{output:?}");
    assert_eq!(calls(2), json!([["burn", {"action": "click", "index": 2}]]));
    assert_eq!(calls(3), json!([["burn", {"index": 3, "words": "x"}]]));
    assert_eq!(turns[4]["text"], "It is done.");

    let schema_of =
        |at: usize| body(&server.requests()[at])["response_format"]["json_schema"]["schema"]["anyOf"].clone();
    assert_eq!(schema_of(1)[0]["required"], json!(["steps"]));
    assert_eq!(schema_of(1).as_array().unwrap().len(), 1, "only a plan");
    let asked = body(&server.requests()[2]);
    let messages = asked["messages"].as_array().unwrap();
    let system = messages[0]["content"].as_str().unwrap();
    assert!(system.starts_with("Small.\nAnswer with") && system.ends_with("\nAn example."), "{system}");
    assert!(system.contains("- look(place: text): Looks at a place.") && !system.contains("Burns"), "{system}");
    assert_eq!((&messages[1]["content"], messages.len(), &asked["max_tokens"]), (&"The page.".into(), 2, &400.into()));
    let schema = schema_of(2);
    let modes: Vec<&Value> =
        schema.as_array().unwrap().iter().map(|form| &form["properties"]["mode"]["const"]).collect();
    // Nothing can be selected, and nothing was done that could be the end.
    assert_eq!(modes, ["click", "type", "act"]);
    assert_eq!(schema[0]["properties"]["element"]["enum"], json!(["button A", "button B"]));
    assert_eq!(schema[1]["required"], json!(["step", "mode", "element", "text"]));
    assert_eq!(schema[1]["properties"]["step"], json!({"type": "string"}));
    assert_eq!(schema_of(3)[1]["properties"]["step"], json!({"const": "write"}));
    assert_eq!(forms(&server)[4], TEXT, "words are asked for without a schema");
}
