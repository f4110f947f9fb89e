//! The example of the original plan: an agent refactors main.py and writes tests, with a plan, approvals and a chain of agents. Each of its
//! messages and statuses occurs, over WebSocket and in AG-UI.

use super::runs::run;
use super::{Server, Socket};
use crate::agent_acp::Place;
use crate::process::{binary, example};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The model's turns: a plan, calls that a gate holds or approves, and the progress of the plan.
const TURNS: [&str; 9] = [
    r#"{"text":"I plan the steps.","calls":[{"tool_name":"assistant_plan","arguments":{"steps":[{"id":"1","desc":"Read main.py"},{"id":"2","desc":"Refactor it"},{"id":"3","desc":"Write tests"}]}}]}"#,
    r#"{"text":"","calls":[{"tool_name":"read_file","arguments":{"path":"main.py"}}]}"#,
    r#"{"text":"","calls":[{"tool_name":"assistant_progress","arguments":{"step_id":"1","status":"done","result":"It has a function called t."}}]}"#,
    r#"{"text":"","calls":[{"tool_name":"refactor_code","arguments":{"path":"main.py"}}]}"#,
    r#"{"text":"","calls":[{"tool_name":"assistant_progress","arguments":{"step_id":"2","status":"done","result":"It is called total."}}]}"#,
    r#"{"text":"","calls":[{"tool_name":"write_file","arguments":{"path":"test_main.py","content":"assert False\n"}}]}"#,
    r#"{"text":"","calls":[{"tool_name":"run_code","arguments":{"path":"test_main.py"}}]}"#,
    r#"{"text":"","calls":[{"tool_name":"assistant_progress","arguments":{"step_id":"3","status":"done","result":"One test."}}]}"#,
    r#"{"text":"","calls":[{"tool_name":"assistant_done","arguments":{"reason":"main.py has total(numbers), and a test."}}]}"#,
];
const TESTS: &str = "from main import total\nassert total([1, 2]) == 3\n";

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web").join(name)
}

pub fn server(place: &Place) -> Server {
    place.file("main.py", "def t(numbers):\n    return sum(numbers)\n");
    let turns = place.file("turns", &TURNS.join("\n"));
    let rules = place.file(
        "rules.toml",
        "[[rule]]\nid = \"look\"\nverdict = \"allow\"\ninstead_of_builtin = true\ntool = \"read_file\"\n",
    );
    let mut agent = Command::new("python3");
    agent.arg(script("chain.py")).arg(binary("agent-loop"));
    agent.args(["--agent-id", "refactorer", "--chain-id", "chain-1", "--llm"]);
    agent.arg(format!("'{}' '{}'", example("stand-in-model").display(), turns.display())).arg("--");
    agent
        .arg(binary("policy-check"))
        .args(["--confirm", "mark", "--rules"])
        .arg(rules)
        .arg("--")
        .arg(binary("hitl-gate"));
    agent.arg("--").arg("python3").arg(script("code_world.py")).arg(place.path());
    Server::start(&agent, &[])
}

fn file(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path().join(name)).unwrap_or_default()
}

/// The types of records, and the statuses of calls.
fn kinds<'a>(records: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    let kinds = |record: &Value| {
        let status = record["status"].as_str().filter(|_| record["type"] == "status" && record["call_id"].is_string());
        [record["type"].as_str(), status].into_iter().flatten().map(str::to_owned).collect::<Vec<_>>()
    };
    records.into_iter().flat_map(kinds).collect()
}

/// The records that the original plan names.
const NAMED: [&str; 14] = [
    "user_message",
    "assistant_message",
    "plan_update",
    "plan_progress",
    "tool_call",
    "tool_result",
    "agent_chain_update",
    "error",
    "hitl_response",
    "waiting_human",
    "approved",
    "rejected",
    "edited_by_human",
    "status",
];

#[test]
fn the_original_plans_example_is_played_over_websocket() {
    let place = Place::new();
    let server = server(&place);
    let mut socket: Socket = server.socket("refactoring");
    socket.say(json!({"type": "user_message", "session_id": "refactoring", "content": "Refactor main.py and write tests.", "role": "user"}));
    let mut all = Vec::new();
    // Approved, edited, rejected, by the call's id only, as in the plan.
    for answer in [
        json!({"action": "approve"}),
        json!({"action": "edit", "edited_arguments": {"content": TESTS}, "feedback": "a real test"}),
        json!({"action": "reject", "feedback": "I run it myself"}),
    ] {
        let held = socket.held();
        assert_eq!((&held["plan_id"], &held["step_id"].is_string()), (&"plan-1".into(), &true), "{held}");
        if all.is_empty() {
            // The agent refuses a message while it waits; the error has the state of the plan.
            socket.message(" ");
            let error = socket.until(|record| record["type"] == "error");
            assert_eq!(error["context"]["plan_id"], "plan-1", "{error}");
            all.push(error);
        }
        let mut response = json!({"type": "hitl_response", "call_id": held["call_id"]});
        response.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        socket.say(response);
        all.push(held);
    }
    let last = socket.until_type("final");
    assert_eq!(last["outcome"], "done");
    socket
        .until(|record| record["type"] == "status" && record["status"] == "idle" && record["current_goal"].is_string());
    all.extend(socket.passed.drain(..).chain([last]));
    let seen = kinds(&all);
    let missing: Vec<&str> = NAMED.into_iter().filter(|name| !seen.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?} of {seen:?}");
    let of_plan = all.iter().filter(|record| ["tool_call", "tool_result"].contains(&record["type"].as_str().unwrap()));
    let own = of_plan.filter(|record| record.get("agent_id").is_some());
    assert!(
        own.clone().count() > 6
            && own.clone().all(|record| record["plan_id"] == "plan-1" && record["step_id"].is_string())
    );
    assert!(file(&place, "main.py").contains("def total"));
    assert_eq!(file(&place, "test_main.py"), TESTS);
}

#[test]
fn the_original_plans_example_is_played_in_ag_ui() {
    let place = Place::new();
    let server = server(&place);
    let mut all = run(
        &server,
        "r0",
        json!({"messages": [{"id": "u1", "role": "user", "content": "Refactor main.py and write tests."}]}),
    );
    // A person at the page sends a message that the agent refuses.
    let mut socket = server.socket("t-1");
    socket.message(" ");
    socket.until_type("error");
    for (number, payload) in [
        json!({"action": "approve"}),
        json!({"action": "edit", "edited_arguments": {"content": TESTS}}),
        json!({"action": "reject"}),
    ]
    .into_iter()
    .enumerate()
    {
        let interrupts = all.last().unwrap()["outcome"]["interrupts"].clone();
        let resume = json!([{"interruptId": interrupts[0]["id"], "status": "resolved", "payload": payload}]);
        all.extend(run(&server, &format!("r{}", number + 1), json!({"resume": resume})));
    }
    assert_eq!(all.last().unwrap()["result"]["outcome"], "done");
    let events: BTreeSet<&str> = all.iter().map(|event| event["type"].as_str().unwrap()).collect();
    for kind in [
        "ACTIVITY_SNAPSHOT",
        "STEP_STARTED",
        "STEP_FINISHED",
        "TEXT_MESSAGE_CONTENT",
        "TOOL_CALL_START",
        "TOOL_CALL_RESULT",
        "SUBAGENT_STARTED",
        "SUBAGENT_FINISHED",
    ] {
        assert!(events.contains(kind), "{kind} of {events:?}");
    }
    let seen = kinds(all.iter().filter(|event| event["type"] == "CUSTOM").map(|event| &event["value"]));
    for name in [
        "plan_progress",
        "agent_chain_update",
        "error",
        "hitl_response",
        "waiting_human",
        "approved",
        "rejected",
        "edited_by_human",
    ] {
        assert!(seen.contains(name), "{name} of {seen:?}");
    }
    let calls = all.iter().filter(|event| event["type"] == "TOOL_CALL_START");
    assert!(
        calls.clone().count() == 4 && calls.clone().all(|event| event["metadata"]["plan_id"] == "plan-1"),
        "{:?}",
        calls.collect::<Vec<_>>()
    );
    assert_eq!(file(&place, "test_main.py"), TESTS);
}
