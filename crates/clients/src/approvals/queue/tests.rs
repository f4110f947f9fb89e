use super::*;
use crate::approvals::{RevokeRule, RulesInForce, refused, revoked_rule, settled};
use pipewright_record::Record;
use pipewright_record::recognise;
use proptest::prelude::*;

fn question(nonce: &str, line: &str) -> Question {
    let call = recognise(line).unwrap().unwrap();
    Question {
        nonce: nonce.to_owned(),
        sha256: "00".to_owned(),
        call: (&call).into(),
        beside_arguments: Some(r#"{"n":1.10}"#.to_owned()),
        caller: Some("a \"shell\"".to_owned()),
        asked_at: "2026-11-22T01:00:00.5Z".parse().ok(),
        expires_at: None,
        rule_offers: vec!["tool = \"x\"\n".to_owned()],
        rules_file: Some("rules.toml".to_owned()),
    }
}

const CALL: &str = r#"{"type":"tool_call","call_id":1.10,"tool_name":"a\"b","arguments":{"n":1.10},"plan_id":7,"target":{"role":"x"},"policy":{}}"#;

fn session_rules<'a>(caller: Option<&str>, rules: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let rules = rules.map(|(id, rule)| RuleInForce { rule_id: id.to_owned(), rule: rule.to_owned() });
    RulesInForce { caller, rules: rules.collect() }.json()
}

#[test]
fn a_question_is_read_as_it_was_written() {
    let record = question("n", CALL).record();
    let read = Question::read(&record).unwrap().unwrap();
    assert_eq!(read.record(), record);
    assert_eq!(read.call.call().arguments_text(), r#"{"n":1.10}"#);
}

#[test]
fn a_question_is_open_until_its_own_gate_settles_it_or_disconnects() {
    let call = recognise(CALL).unwrap().unwrap();
    let settled = settled(&call, "n", "rejected", "timeout", "00");
    let mut queue = Queue::default();
    assert_eq!(queue.take(1, &question("n", CALL).record()).unwrap(), QueueChange::Asked);
    assert_eq!(queue.take(2, &question("m", CALL).record()).unwrap(), QueueChange::Asked);
    assert!(queue.take(3, &question("n", CALL).record()).is_err(), "the nonce of another gate's question");
    assert_eq!(queue.take(2, &settled).unwrap(), QueueChange::Nothing, "the question of another gate");
    assert_eq!(queue.take(2, &refused(&call, "n", "no")).unwrap(), QueueChange::Nothing);
    assert_eq!(
        queue.take(1, &refused(&call, "n", "no")).unwrap(),
        QueueChange::Refused { nonce: "n".into(), why: "no".into() }
    );
    assert_eq!((queue.position("m"), queue.len()), (Some(1), 2));
    let QueueChange::Settled { nonce, settlement } = queue.take(1, &settled).unwrap() else { unreachable!() };
    assert_eq!((nonce.as_str(), settlement.note.contains("nobody answered in time")), ("n", true));
    assert_eq!(queue.take(2, &question("more", CALL).record()).unwrap(), QueueChange::SecondQuestion);
    assert_eq!(queue.leave(2).as_deref(), Some("m"));
    assert!(queue.is_empty());
}

#[test]
fn gates_take_turns_and_those_that_were_connected_first_come_first() {
    let mut queue = Queue::default();
    let ask = |queue: &mut Queue, gate, nonce| queue.take(gate, &question(nonce, CALL).record()).unwrap();
    let nonces = |queue: &Queue| {
        let pending = (0..queue.len()).filter_map(|place| queue.get(place));
        pending.map(|pending| pending.question.nonce.clone()).collect::<String>()
    };
    for (gate, nonce) in [(7, "g"), (5, "e"), (2, "b")] {
        ask(&mut queue, gate, nonce);
    }
    assert_eq!(nonces(&queue), "beg");
    let call = recognise(CALL).unwrap().unwrap();
    for (gate, (nonce, again)) in [(2, ("b", "B")), (5, ("e", "E"))] {
        queue.take(gate, &settled(&call, nonce, "rejected", "approver", "00")).unwrap();
        ask(&mut queue, gate, again);
    }
    ask(&mut queue, 9, "i");
    assert_eq!(nonces(&queue), "gBEi", "new questions wait behind those that are open");
    queue.leave(7);
    ask(&mut queue, 1, "a");
    assert_eq!(nonces(&queue), "aBEi");
}

#[test]
fn rules_in_force_are_those_that_their_gate_sent_last() {
    let mut queue = Queue::default();
    let rules = [("session-1", "tool = \"a\""), ("session-2", "tool = \"b\"\n")];
    assert_eq!(queue.take(1, &session_rules(None, rules.into_iter())).unwrap(), QueueChange::Rules);
    queue.take(2, &session_rules(Some("x"), rules.into_iter().take(1))).unwrap();
    assert_eq!(
        queue.rules().map(|(gate, rule)| (gate, &*rule.rule_id)).collect::<Vec<_>>(),
        [(1, "session-1"), (1, "session-2"), (2, "session-1")]
    );
    queue.take(1, &session_rules(None, rules.into_iter().skip(1))).unwrap();
    queue.leave(2);
    assert_eq!(queue.rules().map(|(_, rule)| &*rule.rule).collect::<Vec<_>>(), ["tool = \"b\"\n"]);
    assert_eq!(revoked_rule(&RevokeRule { rule_id: "session-\"1\"" }.json()).as_deref(), Some("session-\"1\""));
    assert_eq!(revoked_rule(r#"{"type":"hitl_response"}"#), None);
}

proptest! {
    /// For any input of a process that connects as a gate: the reader does not fail, and its memory is bounded.
    #[test]
    fn no_line_breaks_the_queue(
        edits in prop::collection::vec((0..400_usize, "[{}\\[\\]\":,a-zA-Z_ \\\\\\PC]{0,4}", 0..6_usize), 0..4),
        which in 0..4_usize,
    ) {
        let call = recognise(CALL).unwrap().unwrap();
        let mut line = match which {
            0 => question("n", CALL).record(),
            1 => settled(&call, "n", "approved", "approver", "00"),
            2 => refused(&call, "n", "why"),
            _ => session_rules(None, [("a", "b")].into_iter()),
        };
        for (at, text, gone) in &edits {
            let boundary = |at: usize| (0..=at.min(line.len())).rev().find(|&at| line.is_char_boundary(at)).unwrap();
            let (start, end) = (boundary(*at), boundary(at + gone));
            line.replace_range(start..end, text);
        }
        let mut queue = Queue::default();
        queue.take(1, &question("n", CALL).record()).unwrap();
        let change = queue.take(1, &line);
        prop_assert!(queue.len() <= 2);
        prop_assert_ne!(change, Ok(QueueChange::Asked), "a gate has one question");
        if let Ok(QueueChange::Asked) = queue.take(2, &line) {
            let asked = queue.get(1).unwrap().question.record();
            prop_assert_eq!(Question::read(&asked).unwrap().unwrap().record(), asked);
        }
        if let Ok(Some(question)) = Question::read(&line) {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&question.record()).is_ok());
        }
    }
}
