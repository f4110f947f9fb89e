//! For all records of an agent, the events are accepted by the client of the specification.

use super::{RecordEvents, RunInput, Thread};
use crate::approvals::Question;
use crate::session::Session;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;

/// The rules that `@ag-ui/client` 1.0.0 enforces.
#[derive(Default)]
struct Client {
    /// Whether a run is open.
    runs: bool,
    open: BTreeSet<(String, String)>,
    messages: BTreeSet<String>,
}

impl Client {
    fn take(&mut self, taken: &RecordEvents) -> Result<(), String> {
        for event in &taken.events {
            let event: Value = serde_json::from_str(event).map_err(|error| format!("{error}: {event}"))?;
            self.event(&event).map_err(|why| format!("{why}: {event}"))?;
        }
        if taken.is_over == self.runs {
            Err(format!("is_over is {}: {:?}", taken.is_over, taken.events))
        } else {
            Ok(())
        }
    }

    fn event(&mut self, event: &Value) -> Result<(), String> {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let kind = text("type");
        if !self.runs && kind != "RUN_STARTED" {
            return Err("no run is open".to_owned());
        }
        let ids = ["messageId", "toolCallId", "stepName", "subagentRunId"].map(text);
        let id = ids.into_iter().find(|id| !id.is_empty()).unwrap_or_default();
        let stem = |end: &str| kind.strip_suffix(end).map(|stem| (stem.to_owned(), id.clone()));
        match kind.as_str() {
            "RUN_STARTED" if self.runs => return Err("a second run".to_owned()),
            "RUN_STARTED" => self.runs = true,
            "RUN_FINISHED" | "RUN_ERROR" => {
                if !self.open.is_empty() && kind == "RUN_FINISHED" {
                    return Err(format!("{:?} is open", self.open));
                }
                self.runs = false;
            }
            "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" | "TOOL_CALL_ARGS" => {
                let stem = stem("_CONTENT").or_else(|| stem("_ARGS")).unwrap();
                if !self.open.contains(&stem) || event["delta"].as_str().is_none_or(str::is_empty) {
                    return Err("a part without a message, or an empty part".to_owned());
                }
            }
            "TOOL_CALL_RESULT" | "ACTIVITY_SNAPSHOT" | "CUSTOM" => {}
            _ => {
                if let Some(begun) = stem("_STARTED").or_else(|| stem("_START")) {
                    let is_new = kind != "TEXT_MESSAGE_START" || self.messages.insert(id);
                    if !self.open.insert(begun) || !is_new {
                        return Err("it is open, or was open before".to_owned());
                    }
                } else {
                    let ended = stem("_FINISHED").or_else(|| stem("_END")).or_else(|| stem("_ERROR"));
                    if !self.open.remove(&ended.ok_or("an unknown event")?) {
                        return Err("it is not open".to_owned());
                    }
                }
            }
        }
        Ok(())
    }
}

const RECORDS: &[&str] = &[
    r#"{"type":"status","status":"running","pending_kind":"none"}"#,
    r#"{"type":"status","status":"idle","pending_kind":"none"}"#,
    r#"{"type":"status","status":"waiting_user","pending_kind":"question"}"#,
    r#"{"type":"status","status":"waiting_user","pending_kind":"confirm","pending_action":{"call_id":"a1","tool_name":"t","arguments":{}}}"#,
    r#"{"type":"status","status":"approved","call_id":"a1"}"#,
    r#"{"type":"assistant_message","token":"He","is_final":false,"request_id":"m1"}"#,
    r#"{"type":"assistant_message","token":"llo","is_final":false,"request_id":"m1"}"#,
    r#"{"type":"assistant_message","token":"","is_final":true,"request_id":"m1"}"#,
    r#"{"type":"assistant_message","token":"Anew","is_final":false,"request_id":"m1","restarted":true}"#,
    r#"{"type":"assistant_message","token":"Hello","is_final":true,"kind":"answer"}"#,
    r#"{"type":"assistant_message","token":"I think","is_final":false,"request_id":"m2","kind":"thought"}"#,
    r#"{"type":"assistant_message","token":"I think so","is_final":true,"kind":"thought"}"#,
    r#"{"type":"assistant_message","token":"Which?","is_final":true,"kind":"question","question":{"options":["a","b"]}}"#,
    r#"{"type":"plan_update","plan_id":"p","steps":[{"id":"1","desc":"a","status":"running"},{"id":"2","desc":"b","status":"pending"}],"current_step":"1"}"#,
    r#"{"type":"plan_update","plan_id":"p","steps":[{"id":"2","desc":"b","status":"running"}],"current_step":"2"}"#,
    r#"{"type":"plan_progress","plan_id":"p","step_id":"1","status":"done"}"#,
    r#"{"type":"plan_progress","plan_id":"p","step_id":"2","status":"running"}"#,
    r#"{"type":"tool_call","call_id":"a1","tool_name":"t","arguments":{"n":1.10},"plan_id":"p","step_id":"1"}"#,
    r#"{"type":"tool_result","call_id":"a1","status":"ok","result":{"x":1}}"#,
    r#"{"type":"tool_call","call_id":2,"tool_name":"t"}"#,
    r#"{"type":"tool_result","call_id":2,"status":"error","error":"no","kind":"failed"}"#,
    r#"{"type":"agent_chain_update","chain_id":"c","agents":[{"agent_id":"x","status":"running"},{"agent_id":"y","status":"pending"}]}"#,
    r#"{"type":"agent_chain_update","chain_id":"c","agents":[{"agent_id":"x","status":"done"},{"agent_id":"y","status":"running"}]}"#,
    r#"{"type":"agent_chain_update","chain_id":"c","agents":[{"agent_id":"y","status":"error"}]}"#,
    r#"{"type":"error","context":{"plan_id":"p"},"content":"no"}"#,
    r#"{"type":"observation","text":"x"}"#,
    r#"{"type":"final","outcome":"done","content":"Hello"}"#,
    r#"{"type":"final","outcome":"failed","content":"no"}"#,
    r#"{"type":"final","outcome":"cancelled","content":""}"#,
    r#"{"type":"user_message","content":"x"}"#,
    r#"{"other":1}"#,
    "no record",
];

fn question(nonce: &str) -> Question {
    let record = format!(
        r#"{{"type":"status","status":"waiting_human","call_id":"a1","nonce":"{nonce}","tool_name":"t","arguments":{{}},"arguments_sha256":"00"}}"#
    );
    Question::read(&record).unwrap().unwrap()
}

fn input(run: usize, messages: &[(&str, &str)]) -> RunInput {
    let messages = messages.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect();
    RunInput { thread: "t".to_owned(), run: format!("r{run}"), messages, answers: Vec::new() }
}

fn kinds(taken: &RecordEvents) -> Vec<String> {
    let kind = |event: &String| serde_json::from_str::<Value>(event).unwrap()["type"].as_str().unwrap().to_owned();
    taken.events.iter().map(kind).collect()
}

#[test]
fn a_held_call_interrupts_the_run_and_the_next_run_continues() {
    let (mut thread, mut client) = (Thread::new("t", Session::default()), Client::default());
    let (begun, new) = thread.begin(&input(1, &[("u1", "Do it.")]));
    client.take(&begun).unwrap();
    assert_eq!(new, ["Do it."]);
    thread.sent(r#"{"type":"user_message","content":"Do it."}"#);
    for record in [RECORDS[0], RECORDS[13], RECORDS[17]] {
        client.take(&thread.take(record)).unwrap();
    }
    let held = thread.hold(&question("n1"));
    client.take(&held).unwrap();
    assert_eq!(kinds(&held), ["STEP_FINISHED", "RUN_FINISHED"], "the call is shown already");
    assert!(held.events[1].contains(r#""interrupts":[{"id":"n1","reason":"tool_call""#), "{}", held.events[1]);
    // Events in the meantime belong to the next run.
    assert_eq!(thread.take(RECORDS[4]), RecordEvents::default());
    thread.release("n1");
    let (begun, new) = thread.begin(&input(2, &[("u1", "Do it.")]));
    client.take(&begun).unwrap();
    assert_eq!((kinds(&begun), new.len()), (vec!["RUN_STARTED".to_owned(), "CUSTOM".to_owned()], 0));
    client.take(&thread.take(RECORDS[0])).unwrap();
    client.take(&thread.take(RECORDS[18])).unwrap();
    let done = thread.take(RECORDS[26]);
    client.take(&done).unwrap();
    assert!(done.is_over && done.events.iter().any(|event| event.contains(r#""delta":"Hello""#)));
}

#[test]
fn a_streamed_message_is_shown_once() {
    let mut thread = Thread::new("t", Session::default());
    thread.begin(&input(1, &[("u1", "Hi.")]));
    thread.sent(r#"{"type":"user_message","content":"Hi."}"#);
    let mut all = String::new();
    for record in [RECORDS[0], RECORDS[5], RECORDS[6], RECORDS[7], RECORDS[9], RECORDS[26]] {
        all.push_str(&thread.take(record).events.join("\n"));
    }
    assert_eq!((all.matches("TEXT_MESSAGE_START").count(), all.matches("_CONTENT").count()), (1, 2), "{all}");
}

#[test]
fn a_turn_between_runs_is_dropped_completely() {
    let (mut thread, mut client) = (Thread::new("t", Session::default()), Client::default());
    for number in 0..400 {
        for record in [RECORDS[0], RECORDS[13], RECORDS[5], RECORDS[21]] {
            thread.take(record);
        }
        thread.take(&format!(
            r#"{{"type":"tool_call","call_id":"a{number}","tool_name":"t","arguments":{{"x":"{}"}}}}"#,
            "x".repeat(5000)
        ));
    }
    let (begun, _) = thread.begin(&input(1, &[]));
    client.take(&begun).unwrap();
    assert!(begun.events[1].contains(r#""name":"gap","value":{"records":"#), "{}", begun.events[1]);
    assert!(begun.events.iter().map(String::len).sum::<usize>() < 2 << 20);
}

#[test]
fn a_question_ends_the_run_and_a_refused_message_fails_it() {
    let mut thread = Thread::new("t", Session::default());
    thread.begin(&input(1, &[("u1", "Hi.")]));
    thread.take(RECORDS[0]);
    assert!(!thread.take(RECORDS[12]).is_over);
    let asked = thread.take(RECORDS[2]);
    assert!(asked.is_over && asked.events.last().unwrap().contains(r#""outcome":{"type":"success"}"#));
    thread.begin(&input(2, &[("u2", "Hi.")]));
    let refused = thread.take(RECORDS[24]);
    assert!(refused.is_over && refused.events.last().unwrap().contains("RUN_ERROR"));
}

proptest! {
    #[test]
    fn the_client_accepts_the_events_of_any_records(steps in prop::collection::vec(0..RECORDS.len() + 6, 0..80)) {
        let (mut thread, mut client) = (Thread::new("t", Session::default()), Client::default());
        let (mut run, mut nonce) = (0, 0);
        for step in steps {
            let taken = match RECORDS.get(step) {
                Some(record) => thread.take(record),
                None if step == RECORDS.len() => thread.ended("the agent ended"),
                None if step == RECORDS.len() + 1 => {
                    nonce += 1;
                    thread.hold(&question(&format!("n{nonce}")))
                }
                None if step == RECORDS.len() + 2 => {
                    thread.release(&format!("n{nonce}"));
                    RecordEvents::default()
                }
                None if client.runs => continue,
                None => {
                    run += 1;
                    let (begun, _) = thread.begin(&input(run, &[]));
                    prop_assert_eq!(client.take(&begun), Ok(()));
                    thread.end_if_idle()
                }
            };
            let is_nothing = taken == RecordEvents::default();
            prop_assert!(is_nothing || client.take(&taken).is_ok(), "{:?}", client.take(&taken));
        }
    }
}
