//! Tests with a policy and an audit that fail on purpose; all else is tested from outside.

use super::gate::{Askers, Gate, HoldScope, HoldSettings, Policy};
use crate::cmd::audit::AuditWriter;
use crate::cmd::caller::RefusalForm;
use crate::cmd::events::Events;
use crate::cmd::passage::Passage;
use crate::cmd::rules_file::RulesFile;
use pipewright_io::report::Report;
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Limits, Line, Piece};
use pipewright_policy::audit::{Event as Audited, digest};
use pipewright_policy::builtin::Builtin;
use pipewright_record::recognise;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MARKED: &str = r#"{"id":1,"tool":"rm","args":{"path":"a"},"requires_approval":true}"#;

/// A gate between two sides, and its output.
struct Bench {
    gate: Gate,
    out: Out,
}

impl Bench {
    fn new(
        near_answers: bool,
        rules: Option<&str>,
        audit: impl FnMut(&Audited<'_>) -> io::Result<()> + Send + 'static,
    ) -> Bench {
        let settings = HoldSettings {
            timeout: None,
            hold: HoldScope::All,
            hold_limit: None,
            limits: Limits::default(),
            near_answers,
            remember: None,
            caller: None,
        };
        let report = Arc::new(Report::new("hitl-gate", true));
        let events = Some(Events::open("-", &report).unwrap());
        let audit = Box::new(Sink(audit));
        let passage = Passage::new(Limits::default().max_depth, RefusalForm::Result, events, Some(audit), report);
        let people = Askers {
            asker: None,
            no_terminal: "no terminal".to_owned(),
            elicitation: None,
            approvers: None,
            has_channel: false,
            notifier: None,
            how_to_approve: None,
            how_to_be_asked: None,
        };
        let rules = rules.map(|text| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text).unwrap();
            RulesFile::open(file.path(), &Report::new("hitl-gate", true)).unwrap()
        });
        let gate = Gate::new(settings, people, Policy { builtin: Builtin::default(), rules }, passage);
        Bench { gate, out: Out::default() }
    }

    /// Sends a line to the near side; gives what is written to the near and to the far side.
    fn send(&mut self, line: &[u8]) -> [Vec<String>; 2] {
        self.on(Event::Piece(Side::NEAR, Piece::Line(Line::new(line, 1))))
    }

    fn on(&mut self, event: Event<'_>) -> [Vec<String>; 2] {
        self.gate.on(event, &mut self.out).unwrap();
        [Side::NEAR, Side::FAR].map(|side| {
            let written = std::mem::take(self.out.to(side));
            String::from_utf8(written).unwrap().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
        })
    }

    fn send_json(&mut self, line: &str) -> (Vec<Value>, Vec<String>) {
        let [near, far] = self.send(format!("{line}\n").as_bytes());
        (near.iter().map(|line| serde_json::from_str(line).unwrap()).collect(), far)
    }

    fn answer(&mut self, asked: &Value, rest: &str) -> (Vec<Value>, Vec<String>) {
        self.send_json(&format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{},{rest}}}"#, asked["nonce"]))
    }
}

/// An audit that a test looks into.
struct Sink<F>(F);

impl<F: FnMut(&Audited<'_>) -> io::Result<()> + Send> AuditWriter for Sink<F> {
    fn write(&mut self, event: &Audited<'_>) -> io::Result<()> {
        (self.0)(event)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

fn name(event: &Audited<'_>) -> &'static str {
    match event {
        Audited::Asked { .. } => "asked",
        Audited::Settled { .. } => "settled",
        Audited::Passed { .. } => "passed",
        _ => "another",
    }
}

/// Events of this sort can't be written.
fn without(sort: &'static str) -> impl FnMut(&Audited<'_>) -> io::Result<()> + Send {
    move |event| if name(event) == sort { Err(io::Error::other("the disk is full")) } else { Ok(()) }
}

#[test]
fn a_call_that_cannot_be_audited_does_not_pass() {
    let refused = |(near, far): &(Vec<Value>, Vec<String>)| {
        let answer = near.last().unwrap();
        assert_eq!((&answer["kind"], far.len()), (&"denied".into(), 0), "{near:?}");
        assert!(answer["error"].as_str().unwrap().contains("the disk is full"));
    };
    refused(&Bench::new(true, None, without("passed")).send_json(r#"{"tool":"look","id":1}"#));
    let mut bench = Bench::new(true, None, without("asked"));
    let said = bench.send_json(MARKED);
    refused(&said);
    assert_eq!(said.0.len(), 1, "nobody is asked");
    let mut bench = Bench::new(true, None, without("settled"));
    let (asked, _) = bench.send_json(MARKED);
    refused(&bench.answer(&asked[0], r#""action":"approve""#));
    // The next call is asked about as usual.
    assert_eq!(bench.send_json(MARKED).0[0]["status"], "waiting_human");
}

#[test]
fn edited_arguments_are_judged_again() {
    let rules =
        "[[rule]]\nid = \"etc\"\nverdict = \"deny\"\nreason = \"not there\"\narguments = { \".path\" = \"/etc\" }";
    let mut bench = Bench::new(true, Some(rules), |_| Ok(()));
    let (asked, _) = bench.send_json(MARKED);
    let (near, far) = bench.answer(&asked[0], r#""action":"edit","edited_arguments":{"path":"/etc"}"#);
    assert_eq!((&near[0]["status"], far.len()), (&"rejected".into(), 0));
    assert!(near[2]["error"].as_str().unwrap().contains("not there (etc)"), "{near:?}");
    let (asked, _) = bench.send_json(MARKED);
    let (_, far) = bench.answer(&asked[0], r#""action":"edit","edited_arguments":{"path":"/tmp"}"#);
    assert_eq!(far, [r#"{"id":1,"tool":"rm","args":{"path":"/tmp"}}"#]);
}

#[test]
fn every_event_is_audited() {
    let events: Arc<Mutex<Vec<String>>> = Arc::default();
    let written = Arc::clone(&events);
    let audit = move |event: &Audited<'_>| {
        let note = match event {
            Audited::Asked { subject, nonce } => format!("asked {} {}", subject.tool.unwrap(), nonce.len()),
            Audited::Settled { subject, verdict, by, feedback, digest_after } => {
                let (tool, after) = (subject.tool.unwrap(), digest_after.unwrap());
                format!("settled {tool} {} {} {after} {feedback:?}", verdict.name(), by.name())
            }
            Audited::Passed { subject, .. } => format!("passed {} {}", subject.tool.unwrap(), subject.digest),
            _ => name(event).to_owned(),
        };
        written.lock().unwrap().push(note);
        Ok(())
    };
    let mut bench = Bench::new(true, None, audit);
    bench.send_json(r#"{"tool":"look"}"#);
    let (asked, _) = bench.send_json(MARKED);
    bench.answer(&asked[0], r#""action":"edit","edited_arguments":{"path":"b"},"feedback":"so""#);
    let passed = digest(br#"{"path":"b"}"#);
    assert_eq!(
        *events.lock().unwrap(),
        [
            format!("passed look {}", digest("")),
            "asked rm 32".to_owned(),
            format!("settled rm edited answers {passed} Some(\"so\")"),
            format!("passed rm {passed}")
        ]
    );
}

proptest! {
    /// Callers that do not wait, and repeat their calls: no approval passes two calls, and no call is answered twice.
    #[test]
    fn an_approval_passes_one_call_for_any_number_of_repetitions(steps in prop::collection::vec((0..4_u8, 0..2_usize), 1..60)) {
        let mut bench = Bench::new(true, None, |_| Ok(()));
        bench.gate.settings.hold_limit = Some(Duration::from_nanos(1));
        let (mut question, mut ended, mut approved) = (None::<Value>, HashSet::new(), [0_i32; 2]);
        for (id, (step, path)) in steps.into_iter().enumerate() {
            let [near, far] = match (step, &question) {
                (0, _) => bench.send(format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"rm","arguments":{{"path":{path}}},"_meta":{{"requires_approval":true}}}}}}"#
                ).as_bytes()),
                (1, _) => bench.on(Event::Due),
                (_, Some(asked)) => {
                    let action = if step == 2 { "approve" } else { "reject" };
                    approved[asked["arguments"]["path"].as_u64().unwrap() as usize] += i32::from(step == 2);
                    let (id, nonce) = (&asked["call_id"], &asked["nonce"]);
                    bench.send(format!(r#"{{"type":"hitl_response","call_id":{id},"nonce":{nonce},"action":"{action}"}}"#).as_bytes())
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

    /// For any input: no call that needs approval is written to the other side, and every line is written as it came.
    #[test]
    fn no_call_passes_that_needs_approval(
        edits in prop::collection::vec((0..90_usize, "[{}\\[\\]\":,a-zA-Z_ \\\\]{0,3}", 0..4_usize), 0..4),
    ) {
        for call in [MARKED, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"requires_approval":true}}}"#] {
            let mut line = call.to_owned();
            for (at, text, gone) in &edits {
                let at = (*at).min(line.len());
                let end = (at + gone).min(line.len());
                line.replace_range(at..end, text);
            }
            let mut bench = Bench::new(false, None, |_| Ok(()));
            let [_, far] = bench.send(format!("{line}\n").as_bytes());
            for passed in far.iter().filter(|passed| !passed.trim().is_empty()) {
                prop_assert_eq!(passed, &line);
                let call = recognise(passed);
                prop_assert!(matches!(&call, Ok(None)) || matches!(&call, Ok(Some(call)) if !call.requires_approval), "{}", passed);
            }
        }
    }
}
