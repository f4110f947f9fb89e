//! What rules and an account would have a say in; they come from outside, and so do the tests of everything else.

use super::gate::{Gate, Hold, Judge, Notebook, Settings};
use super::gate_event::GateEvent;
use crate::cmd::caller::RefuseAs;
use crate::cmd::events::Events;
use crate::cmd::rules_file::{Judged, judge};
use crate::io::lines::{Limits, Line, Piece};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::policy::annotations::Hint;
use crate::policy::audit::sha256;
use crate::policy::builtin::Builtin;
use crate::record::{Call, recognise};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MARKED: &str = r#"{"id":1,"tool":"rm","args":{"path":"a"},"requires_approval":true}"#;

/// A gate between two sides, and what it has said to both.
struct Bench {
    gate: Gate,
    out: Out,
}

impl Bench {
    fn new(near_answers: bool, judge: Judge, notebook: Notebook) -> Bench {
        let settings = Settings {
            timeout: None,
            hold: Hold::All,
            hold_limit: None,
            refuse_as: RefuseAs::Result,
            limits: Limits::default(),
            near_answers,
            asks_client: false,
        };
        let report = Arc::new(Report::new("hitl-gate", true));
        let events = Some(Events::open("-", &report).unwrap());
        let gate = Gate::new(settings, Err("no terminal".into()), false, events, (judge, notebook), report);
        Bench { gate, out: Out::default() }
    }

    /// Says a line; gives what leaves to the near and to the far side.
    fn say(&mut self, line: &[u8]) -> [Vec<String>; 2] {
        self.on(Event::Piece(Side::Near, Piece::Line(Line::new(line, 1))))
    }

    fn on(&mut self, event: Event<'_>) -> [Vec<String>; 2] {
        self.gate.on(event, &mut self.out).unwrap();
        [Side::Near, Side::Far].map(|side| {
            let said = std::mem::take(self.out.to(side));
            String::from_utf8(said).unwrap().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
        })
    }

    fn say_json(&mut self, line: &str) -> (Vec<Value>, Vec<String>) {
        let [near, far] = self.say(format!("{line}\n").as_bytes());
        (near.iter().map(|line| serde_json::from_str(line).unwrap()).collect(), far)
    }

    fn answer(&mut self, asked: &Value, rest: &str) -> (Vec<Value>, Vec<String>) {
        self.say_json(&format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{},{rest}}}"#, asked["nonce"]))
    }
}

fn name(event: &GateEvent<'_>) -> &'static str {
    match event {
        GateEvent::Asked { .. } => "asked",
        GateEvent::Settled { .. } => "settled",
        GateEvent::Passed { .. } => "passed",
        GateEvent::Undelivered { .. } => "undelivered",
        GateEvent::Allowed { .. } => "allowed",
        GateEvent::Revoked { .. } => "revoked",
    }
}

fn allows(call: &Call<'_>) -> Result<Judged, String> {
    Ok(judge(call, &Builtin::default(), None, Hint::None))
}

/// Nothing can be noted of this sort.
fn without(sort: &'static str) -> Notebook {
    Box::new(move |event| match name(&event) {
        name if name == sort => Err(Failure::new(Status::Fault, "the disk is full")),
        _ => Ok(()),
    })
}

#[test]
fn what_cannot_be_noted_down_does_not_pass() {
    let refused = |(near, far): &(Vec<Value>, Vec<String>)| {
        let answer = near.last().unwrap();
        assert_eq!((&answer["kind"], far.len()), (&"denied".into(), 0), "{near:?}");
        assert!(answer["error"].as_str().unwrap().contains("the disk is full"));
    };
    refused(&Bench::new(true, Box::new(allows), without("passed")).say_json(r#"{"tool":"look","id":1}"#));
    let mut bench = Bench::new(true, Box::new(allows), without("asked"));
    let said = bench.say_json(MARKED);
    refused(&said);
    assert_eq!(said.0.len(), 1, "nobody is asked");
    let mut bench = Bench::new(true, Box::new(allows), without("settled"));
    let (asked, _) = bench.say_json(MARKED);
    refused(&bench.answer(&asked[0], r#""action":"approve""#));
    // The next is asked about all the same.
    assert_eq!(bench.say_json(MARKED).0[0]["status"], "waiting_human");
}

#[test]
fn edited_arguments_are_judged_once_more() {
    let judge: Judge = Box::new(|call| match call.arguments_text().contains("/etc") {
        true => Err("rule etc: not there".to_owned()),
        false => allows(call),
    });
    let mut bench = Bench::new(true, judge, Box::new(|_| Ok(())));
    let (asked, _) = bench.say_json(MARKED);
    let (near, far) = bench.answer(&asked[0], r#""action":"edit","edited_arguments":{"path":"/etc"}"#);
    assert_eq!((&near[0]["status"], far.len()), (&"rejected".into(), 0));
    assert!(near[2]["error"].as_str().unwrap().contains("rule etc: not there"), "{near:?}");
    let (asked, _) = bench.say_json(MARKED);
    let (_, far) = bench.answer(&asked[0], r#""action":"edit","edited_arguments":{"path":"/tmp"}"#);
    assert_eq!(far, [r#"{"id":1,"tool":"rm","args":{"path":"/tmp"}}"#]);
}

#[test]
fn everything_is_noted_before_it_happens() {
    let noted: Arc<Mutex<Vec<String>>> = Arc::default();
    let notes = Arc::clone(&noted);
    let notebook: Notebook = Box::new(move |event| {
        let note = match event {
            GateEvent::Asked { call, nonce } => format!("asked {} {}", call.tool, nonce.len()),
            GateEvent::Settled { call, verdict, by, sha256, feedback, .. } => {
                format!("settled {} {} {} {sha256} {feedback:?}", call.tool, verdict.name(), by.name())
            }
            GateEvent::Passed { call } => format!("passed {}", call.tool),
            GateEvent::Undelivered { call } => format!("undelivered {}", call.tool),
            GateEvent::Allowed { id, .. } | GateEvent::Revoked { id } => id.to_owned(),
        };
        notes.lock().unwrap().push(note);
        Ok(())
    });
    let mut bench = Bench::new(true, Box::new(allows), notebook);
    bench.say_json(r#"{"tool":"look"}"#);
    let (asked, _) = bench.say_json(MARKED);
    bench.answer(&asked[0], r#""action":"edit","edited_arguments":{"path":"b"},"feedback":"so""#);
    let passed = sha256(br#"{"path":"b"}"#);
    assert_eq!(
        *noted.lock().unwrap(),
        [
            "passed look".to_owned(),
            "asked rm 32".to_owned(),
            format!("settled rm edited answers {passed} Some(\"so\")")
        ]
    );
}

proptest! {
    /// Callers that do not wait, and repeat what they called: no approval passes two calls, and no call is answered twice.
    #[test]
    fn an_approval_passes_one_call_however_often_it_is_repeated(steps in prop::collection::vec((0..4_u8, 0..2_usize), 1..60)) {
        let mut bench = Bench::new(true, Box::new(allows), Box::new(|_| Ok(())));
        bench.gate.settings.hold_limit = Some(Duration::from_nanos(1));
        let (mut question, mut ended, mut approved) = (None::<Value>, HashSet::new(), [0_i32; 2]);
        for (id, (step, path)) in steps.into_iter().enumerate() {
            let [near, far] = match (step, &question) {
                (0, _) => bench.say(format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"rm","arguments":{{"path":{path}}},"_meta":{{"requires_approval":true}}}}}}"#
                ).as_bytes()),
                (1, _) => bench.on(Event::Due),
                (_, Some(asked)) => {
                    let action = if step == 2 { "approve" } else { "reject" };
                    approved[asked["arguments"]["path"].as_u64().unwrap() as usize] += i32::from(step == 2);
                    let (id, nonce) = (&asked["call_id"], &asked["nonce"]);
                    bench.say(format!(r#"{{"type":"hitl_response","call_id":{id},"nonce":{nonce},"action":"{action}"}}"#).as_bytes())
                }
                _ => continue,
            };
            if step > 1 {
                question = None;
            }
            for said in near.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
                if let Some(id) = said["id"].as_u64() {
                    prop_assert!(ended.insert(id), "{} is answered twice", id);
                } else if said["nonce"].is_string() {
                    question = Some(said);
                }
            }
            for passed in far.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
                let path = passed["params"]["arguments"]["path"].as_u64().unwrap() as usize;
                approved[path] -= 1;
                prop_assert!(ended.insert(passed["id"].as_u64().unwrap()) && approved[path] >= 0, "{}", passed);
            }
        }
    }

    /// Whatever comes: what leaves to the other side is no call that still needs somebody, and is what came.
    #[test]
    fn nothing_passes_that_somebody_must_agree_to(
        edits in prop::collection::vec((0..90_usize, "[{}\\[\\]\":,a-zA-Z_ \\\\]{0,3}", 0..4_usize), 0..4),
    ) {
        for call in [MARKED, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"requires_approval":true}}}"#] {
            let mut line = call.to_owned();
            for (at, text, gone) in &edits {
                let at = (*at).min(line.len());
                let end = (at + gone).min(line.len());
                line.replace_range(at..end, text);
            }
            let mut bench = Bench::new(false, Box::new(allows), Box::new(|_| Ok(())));
            let [_, far] = bench.say(format!("{line}\n").as_bytes());
            for passed in far.iter().filter(|passed| !passed.trim().is_empty()) {
                prop_assert_eq!(passed, &line);
                let call = recognise(passed);
                prop_assert!(matches!(&call, Ok(None)) || matches!(&call, Ok(Some(call)) if !call.requires_approval), "{}", passed);
            }
        }
    }
}
