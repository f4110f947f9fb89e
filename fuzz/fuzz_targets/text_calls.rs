//! For any text of a model: calls are found without a fault, only of offered tools, each with an id of its own, and the record of
//! the turn is one line of JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_llm::text_calls::recognise;
use pipewright_record::{Attempts, ModelRequest, ModelTurn, Stop, Usage};
use serde_json::value::RawValue;
use std::collections::HashSet;

const REQUEST: &str = r#"{"type":"model_request","messages":[{"role":"user","content":""}],"tools":[{"name":"look"},
    {"name":"wait","input_schema":{"properties":{"ms":{"type":"integer"},"why":{"type":"string"}}}},{"name":"assistant_ask"}]}"#;

fuzz_target!(|text: &str| {
    let request = ModelRequest::read(REQUEST).expect("it can be read").expect("it is a request");
    let turn = ModelTurn {
        stop: Stop::End,
        text: text.to_owned(),
        reasoning: String::new(),
        calls: Vec::new(),
        usage: Usage::default(),
        provider: "openai",
        model: String::new(),
        raw: RawValue::from_string("{}".to_owned()).expect("JSON"),
        form: None,
        context: None,
    };
    let turn = recognise(turn, &request);
    let ids: HashSet<&str> = turn.calls.iter().map(|call| &*call.call_id).collect();
    assert_eq!(ids.len(), turn.calls.len());
    assert!(turn.calls.iter().all(|call| request.tools.iter().any(|tool| tool.name == call.tool_name)));
    assert_eq!(turn.stop == Stop::Call, !turn.calls.is_empty());
    assert!(turn.text.len() + turn.reasoning.len() <= text.len());
    let record = turn.record(None, Attempts::default());
    assert!(!record.contains(['\n', '\r']));
    serde_json::from_str::<&RawValue>(&record).expect("the record is JSON");
});
