use super::*;
use crate::Verdict;
use crate::detector::ActionKind;
use pipewright_lines::Line;
use pipewright_record::recognise;
use proptest::prelude::*;

const TIME: &str = "2026-11-22T01:00:00.000000Z";

/// A growing audit file.
struct Audit {
    chain: Chain,
    lines: Vec<String>,
}

impl Audit {
    fn of(command: &str) -> Audit {
        let audit = Audit { chain: Chain::begin(), lines: Vec::new() };
        audit.with(&[Event::start(command, "0.1.0")])
    }

    fn with(mut self, events: &[Event<'_>]) -> Audit {
        for event in events {
            self.lines.push(self.chain.link(&event.fields(TIME)) + "\n");
        }
        self
    }
}

/// Reads files side by side, in the order that the verification asks for.
fn verify(files: &[Vec<u8>]) -> Vec<Summary> {
    let mut verification = Verification::of(files.len(), "hitl-gate");
    let mut lines: Vec<_> = files.iter().map(|file| file.split_inclusive(|&byte| byte == b'\n').zip(1..)).collect();
    while let Some(file) = verification.next() {
        match lines[file].next() {
            Some((line, number)) => verification.line(file, &Line::new(line, number)),
            None => verification.end_file(file),
        }
    }
    verification.finish()
}

fn verify_audits(audits: &[&Audit]) -> Vec<Summary> {
    verify(&Vec::from_iter(audits.iter().map(|audit| audit.lines.concat().into_bytes())))
}

fn subject(line: &'static str) -> Subject<'static> {
    let call = Box::leak(Box::new(recognise(line).unwrap().unwrap()));
    Subject::of(call)
}

const PAY: &str = r#"{"id":"c1","tool":"pay","args":{"amount":5}}"#;
const PAY_MORE: &str = r#"{"id":"c1","tool":"pay","args":{"amount":500}}"#;

fn judged(line: &'static str, verdict: Verdict, did: Did) -> Event<'static> {
    let (form, kind) = (Some(pipewright_record::Form::Short), Some(ActionKind::Pay));
    let (rule, reason, severity, mode) = ("tools.pay", "it \"pays\"\n", None, Mode::Enforce);
    Event::Verdict { subject: subject(line), form, verdict, rule, reason, kind, severity, mode, did }
}

fn settled(line: &'static str, verdict: Settlement, after: Option<&'static str>) -> Event<'static> {
    let (by, feedback) = (SettledBy::Terminal, Some("less, please"));
    Event::Settled { subject: subject(line), verdict, by, feedback, digest_after: after }
}

fn passed(line: &'static str, required_approval: bool) -> Event<'static> {
    Event::Passed { subject: subject(line), required_approval }
}

fn unapproved(summary: &Summary) -> Vec<(u64, Lack)> {
    summary.unapproved.iter().map(|call| (call.line, call.lack)).collect()
}

#[test]
fn entries_are_plain_json_without_the_arguments() {
    let asked = Event::Asked { subject: subject(PAY), nonce: "n" };
    let edited = digest(r#"{"amount":4}"#);
    let audit = Audit::of("hitl-gate").with(&[
        judged(PAY, Verdict::Confirm, Did::Marked),
        asked,
        settled(PAY, Settlement::Edited, Some(edited.clone().leak())),
        passed(r#"{"cmd":"x"}"#, false),
        Event::End,
    ]);
    let whole = audit.lines.concat();
    assert!(!whole.contains("amount"), "{whole}");
    let fields =
        |line: &String| format!("{{{}}}", &line[line.find("\"time\"").unwrap()..line.rfind(",\"hash\"").unwrap()]);
    let entries: Vec<String> = audit.lines.iter().map(fields).collect();
    let call = format!(r#""call_id":"c1","tool":"pay","digest":"{}""#, digest(r#"{"amount":5}"#));
    assert_eq!(
        entries,
        [
            format!(
                r#"{{"time":"{TIME}","event":"start","command":"hitl-gate","program":"0.1.0","format":"pipewright-audit","version":1}}"#
            ),
            format!(
                r#"{{"time":"{TIME}","event":"verdict",{call},"form":"short","verdict":"confirm","rule":"tools.pay","reason":"it \"pays\"\n","kind":"pay","mode":"enforce","did":"marked"}}"#
            ),
            format!(r#"{{"time":"{TIME}","event":"asked",{call},"nonce":"n"}}"#),
            format!(
                r#"{{"time":"{TIME}","event":"settled",{call},"verdict":"edited","by":"terminal","feedback":"less, please","digest_after":"{edited}"}}"#
            ),
            format!(
                r#"{{"time":"{TIME}","event":"passed","call_id":null,"tool":"x","digest":"{}","required_approval":false}}"#,
                digest("")
            ),
            format!(r#"{{"time":"{TIME}","event":"end"}}"#),
        ]
    );
}

#[test]
fn the_hash_is_over_the_bytes_before_it() {
    // printf '{"seq":0,"prev":"000...","event":"end"' | sha256sum
    let line = Chain::begin().link(r#""event":"end""#);
    let (before, hash) = line.split_at(line.find(",\"hash\"").unwrap());
    assert_eq!(before, format!(r#"{{"seq":0,"prev":"{}","event":"end""#, "0".repeat(64)));
    assert_eq!(hash, r#","hash":"74716aafeae1026294eb906254c8c9cf949c3d352915d9ee85359b49af7b38b7"}"#);
}

#[test]
fn a_line_feed_in_an_id_stays_on_the_line() {
    let call = recognise("{\"id\":[1,\n2],\"tool\":\"x\"}").unwrap().unwrap();
    let audit = Audit::of("hitl-gate").with(&[Event::Passed { subject: Subject::of(&call), required_approval: false }]);
    assert!(verify_audits(&[&audit])[0].is_well());
}

#[test]
fn a_call_passes_once_per_approval_and_only_as_approved() {
    use Settlement::{Approved, Edited, Rejected};
    let more = digest(r#"{"amount":500}"#).leak();
    for (events, expected) in [
        (vec![settled(PAY, Approved, None), passed(PAY, true)], vec![]),
        (vec![passed(PAY, false)], vec![]),
        (vec![passed(PAY, true)], vec![2]),
        (vec![passed(PAY, true), settled(PAY, Approved, None)], vec![2]),
        (vec![settled(PAY, Approved, None), passed(PAY, true), passed(PAY, true)], vec![4]),
        (vec![settled(PAY, Approved, None), passed(PAY_MORE, true)], vec![3]),
        (vec![settled(PAY, Rejected, None), passed(PAY, true)], vec![3]),
        (vec![settled(PAY, Edited, Some(more)), passed(PAY_MORE, true)], vec![]),
        (vec![settled(PAY, Edited, Some(more)), passed(PAY, true)], vec![3]),
        (vec![settled(PAY, Approved, None), passed(r#"{"id":"c2","tool":"pay","args":{"amount":5}}"#, true)], vec![3]),
        // An approval of an earlier session.
        (vec![settled(PAY, Approved, None), Event::start("hitl-gate", "0.1.0"), passed(PAY, true)], vec![4]),
    ] {
        let audit = Audit::of("hitl-gate").with(&events);
        let [summary] = &verify_audits(&[&audit])[..] else { panic!() };
        let expected: Vec<_> = expected.into_iter().map(|line| (line, Lack::Approval)).collect();
        assert_eq!(unapproved(summary), expected, "{}", audit.lines.concat());
        assert_eq!(summary.is_well(), expected.is_empty());
    }
}

#[test]
fn calls_passed_by_a_policy_that_only_observes_are_reported() {
    let audit = Audit::of("policy-check").with(&[
        judged(PAY, Verdict::Allow, Did::Passed),
        judged(PAY, Verdict::Confirm, Did::Passed),
        judged(PAY, Verdict::Deny, Did::Passed),
        judged(PAY, Verdict::Deny, Did::Refused),
    ]);
    let [summary] = &verify_audits(&[&audit])[..] else { panic!() };
    assert_eq!(unapproved(summary), [(3, Lack::Mark), (4, Lack::Refusal)]);
    assert_eq!(summary.verdicts, Verdicts { allow: 1, confirm: 1, deny: 2 });
    let messages: Vec<String> = summary.unapproved.iter().map(|call| call.to_string()).collect();
    assert_eq!(messages[1], r#"the call "c1" of "pay" passed, though the policy denies it"#);
}

#[test]
fn each_marked_call_is_settled_in_some_file() {
    let marked = || judged(PAY, Verdict::Confirm, Did::Marked);
    let policy = Audit::of("policy-check").with(&[marked(), marked(), Event::End]);
    let asks = |times: usize| {
        let gate = Audit::of("hitl-gate");
        gate.with(&vec![settled(PAY, Settlement::Rejected, None); times]).with(&[Event::End])
    };
    let alone = verify_audits(&[&policy]);
    assert!((alone[0].unchecked, alone[0].is_well(), alone[0].ended) == (2, true, true));
    for (times, unsettled) in [(0, 2), (1, 1), (2, 0), (3, 0)] {
        let gate = asks(times);
        for (files, place) in [([&policy, &gate], 0), ([&gate, &policy], 1)] {
            let found = verify_audits(&files);
            assert_eq!(found[place].unapproved.len(), unsettled);
            assert_eq!(found[place].unchecked, 0);
            assert!(found[place].unapproved.iter().all(|call| call.lack == Lack::Settlement));
            assert!(found[1 - place].is_well());
        }
    }
    // The questions may be spread over several gates' files.
    let (one, other) = (asks(1), asks(1));
    assert!(verify_audits(&[&one, &policy, &other]).iter().all(Summary::is_well));
    // The call that was asked about is the one that was marked.
    let other_call = Audit::of("hitl-gate").with(&[settled(PAY_MORE, Settlement::Approved, None)]);
    let found = verify_audits(&[&policy, &other_call]);
    assert_eq!(unapproved(&found[0]), [(2, Lack::Settlement), (3, Lack::Settlement)]);
}

/// The lines of an intact audit, three entries per call.
fn healthy(calls: usize) -> Vec<Vec<u8>> {
    let mut audit = Audit::of("hitl-gate");
    for _ in 0..calls {
        audit = audit.with(&[
            Event::Asked { subject: subject(PAY), nonce: "n" },
            settled(PAY, Settlement::Approved, None),
            passed(PAY, true),
        ]);
    }
    audit.with(&[Event::End]).lines.into_iter().map(String::into_bytes).collect()
}

fn broken(file: &[u8]) -> Option<u64> {
    verify(&[file.to_vec()]).remove(0).broken.map(|broken| broken.line)
}

proptest! {
    #[test]
    fn any_changed_byte_is_found(line in 0usize..10, at in any::<prop::sample::Index>(), flip in 1u8..) {
        let mut lines = healthy(3);
        let at = at.index(lines[line].len());
        lines[line][at] ^= flip;
        prop_assert_eq!(broken(&lines.concat()), Some(line as u64 + 1));
    }

    #[test]
    fn any_removed_repeated_or_moved_line_is_found(first in 0usize..10, second in 0usize..10) {
        let lines = healthy(3);
        prop_assert_eq!(broken(&lines.concat()), None);
        let mut without = lines.clone();
        without.remove(first);
        prop_assert_eq!(broken(&without.concat()), Some(first as u64 + 1));
        let mut twice = lines.clone();
        twice.insert(first.max(second) + 1, lines[first].clone());
        prop_assert_eq!(broken(&twice.concat()), Some(first.max(second) as u64 + 2));
        let mut swapped = lines.clone();
        swapped.swap(first, second);
        let expected = (first != second).then_some(first.min(second) as u64 + 1);
        prop_assert_eq!(broken(&swapped.concat()), expected);
    }

    #[test]
    fn any_bytes_are_read_without_failure(file in prop::collection::vec(any::<u8>(), 0..300)) {
        let summary = verify(std::slice::from_ref(&file)).remove(0);
        prop_assert!(!summary.is_well());
        prop_assert_eq!(summary.torn.is_some(), !file.is_empty() && !file.ends_with(b"\n"));
    }
}

#[test]
fn a_rewritten_line_breaks_the_next() {
    let mut lines = healthy(3);
    // Its own hash is right, as an attacker would make it.
    let last = String::from_utf8(lines[3].clone()).unwrap();
    let link = Link::read(last.trim_end()).unwrap();
    lines[4] = (Chain::resume(link.hash, 4).link(&passed(PAY_MORE, false).fields(TIME)) + "\n").into_bytes();
    let summary = verify(&[lines.concat()]).remove(0);
    assert_eq!(summary.broken, Some(Broken { line: 6, why: Fault::OtherBefore }));
}

#[test]
fn a_torn_last_line_does_not_break_the_chain() {
    let whole = healthy(1).concat();
    let last = whole[..whole.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    for end in last + 1..whole.len() {
        let summary = verify(&[whole[..end].to_vec()]).remove(0);
        assert_eq!((summary.torn, summary.broken, summary.entries), (Some(5), None, 4));
    }
    let cut = verify(&[whole[..last].to_vec()]).remove(0);
    assert!(cut.is_well() && !cut.ended, "a chain does not show it, but the end is missing");
}

#[test]
fn a_file_that_is_not_an_audit_is_reported() {
    let event = |fields: &str| Chain::begin().link(fields) + "\n";
    let start = |version: u64, format: &str| {
        event(&format!(r#""time":"","event":"start","command":"x","format":"{format}","version":{version}"#))
    };
    for (file, expected) in [
        (String::new(), Fault::Empty),
        ("\n".to_owned(), Fault::NoLink),
        ("{}\n".to_owned(), Fault::NoLink),
        (start(2, FORMAT), Fault::NewerVersion(2)),
        (event(r#""time":"","event":"end""#), Fault::NoStart),
        (start(1, "other"), Fault::NoEvent(r#"its format is not "pipewright-audit""#.to_owned())),
    ] {
        let summary = verify(&[file.clone().into_bytes()]).remove(0);
        assert_eq!(summary.broken, Some(Broken { line: 1, why: expected }), "{file}");
    }
    for fields in [
        r#""time":"","event":"dance""#,
        r#""time":"","event":"passed","digest":"""#,
        r#""time":"","event":"settled","digest":"","verdict":"edited""#,
        r#""time":"","event":"verdict","digest":"","verdict":"maybe","did":"passed""#,
        r#""time":"","event":"passed","event":"end""#,
        r#""no JSON"#,
    ] {
        let mut audit = Audit::of("hitl-gate");
        audit.lines.push(audit.chain.link(fields) + "\n");
        let summary = verify_audits(&[&audit]).remove(0);
        assert!(matches!(summary.broken, Some(Broken { line: 2, why: Fault::NoEvent(_) })), "{fields}");
    }
}

#[test]
fn only_open_calls_are_kept() {
    let ids: Vec<_> = (0..3_000u32).map(|id| serde_json::value::to_raw_value(&id).unwrap()).collect();
    let (mut policy, mut gate) = (Audit::of("policy-check"), Audit::of("hitl-gate"));
    for (number, id) in ids.iter().enumerate() {
        let time = format!("2026-11-22T01:00:00.{number:06}Z");
        let subject = || Subject { call_id: Some(id), tool: Some("pay"), digest: digest("{}") };
        let Event::Verdict { form, verdict, rule, reason, kind, severity, mode, did, .. } =
            judged(PAY, Verdict::Confirm, Did::Marked)
        else {
            panic!()
        };
        let marked = Event::Verdict { subject: subject(), form, verdict, rule, reason, kind, severity, mode, did };
        let (by, verdict) = (SettledBy::Answers, Settlement::Approved);
        let settled = Event::Settled { subject: subject(), verdict, by, feedback: None, digest_after: None };
        let passed = Event::Passed { subject: subject(), required_approval: true };
        policy.lines.push(policy.chain.link(&marked.fields(&time)) + "\n");
        for event in [settled, passed] {
            gate.lines.push(gate.chain.link(&event.fields(&time)) + "\n");
        }
    }
    let audits = [&policy, &gate];
    let mut verification = Verification::of(2, "hitl-gate");
    let (mut at, mut most) = ([0, 0], 0);
    while let Some(file) = verification.next() {
        match audits[file].lines.get(at[file]) {
            Some(line) => verification.line(file, &Line::new(line.as_bytes(), at[file] as u64 + 1)),
            None => verification.end_file(file),
        }
        at[file] += 1;
        most = most.max(verification.open());
    }
    assert!((1..=4).contains(&most), "{most} calls were kept");
    let found = verification.finish();
    assert!(found.iter().all(Summary::is_well));
    assert_eq!((found[0].verdicts.confirm, found[1].passed), (3_000, 3_000));
}

#[test]
fn a_marked_call_that_was_not_delivered_needs_no_settlement() {
    let undelivered = |line, did| Event::Undelivered { subject: subject(line), did };
    let judge = Audit::of("policy-check").with(&[
        judged(PAY, Verdict::Confirm, Did::Marked),
        judged(PAY_MORE, Verdict::Confirm, Did::Marked),
        undelivered(PAY, Did::Marked),
    ]);
    let ask = Audit::of("hitl-gate");
    let both = verify_audits(&[&judge, &ask]);
    assert_eq!((both[0].undelivered, unapproved(&both[0])), (1, vec![(3, Lack::Settlement)]));
    assert_eq!((verify_audits(&[&judge])[0].unchecked, verify_audits(&[&judge])[0].undelivered), (1, 1));
    // A call that had passed does not settle the mark of the same call.
    let judge =
        Audit::of("policy-check").with(&[judged(PAY, Verdict::Confirm, Did::Marked), undelivered(PAY, Did::Passed)]);
    assert_eq!(unapproved(&verify_audits(&[&judge, &ask])[0]), [(2, Lack::Settlement)]);
}
