//! Each call is answered exactly once, and in order, after any sequence of events.

use super::calls::{Calls, SendResult};
use super::{FIRST_LINGER, FarCall, Restarts};
use crate::cmd::refusal::Refusal;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_record::{Kind, Outcome, recognise};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

#[derive(Debug, Clone)]
enum Step {
    Push(usize),
    /// The number of calls to send for each far side; the next call is refused, and further calls wait.
    Send([usize; 2]),
    Answer(usize, u64),
    Refuse(usize, u64),
    Renumber(usize, u64),
    Cancel(usize),
    Lose(usize, bool),
    GiveUp(usize),
    Drain,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..2_usize).prop_map(Step::Push),
        3 => [0..4_usize, 0..4_usize].prop_map(Step::Send),
        3 => (0..2_usize, 0..30_u64).prop_map(|(far, id)| Step::Answer(far, id)),
        1 => (0..2_usize, 0..30_u64).prop_map(|(far, id)| Step::Refuse(far, id)),
        1 => (0..2_usize, 0..30_u64).prop_map(|(far, id)| Step::Renumber(far, id)),
        1 => (0..30_usize).prop_map(Step::Cancel),
        1 => (0..2_usize, any::<bool>()).prop_map(|(far, again)| Step::Lose(far, again)),
        1 => (0..20_usize).prop_map(Step::GiveUp),
        2 => Just(Step::Drain),
    ]
}

/// Runs the steps; returns the ids of the calls in the order of their answers, and the number of calls.
fn take(steps: &[Step], unordered: bool) -> (Vec<u64>, u64) {
    let refusal = Refusal::new(Kind::Lost, "lost");
    let restarts = [Some(Restarts::new(3)), None];
    let mut calls = Calls::new(restarts, unordered, Arc::new(Report::new("test", true)));
    let (mut pushed, mut sent, mut out) = (0, 0, Vec::new());
    for step in steps {
        match step {
            Step::Push(far) => {
                let line = format!(r#"{{"tool":"t","id":{pushed}}}"#);
                calls.push(*far, &recognise(&line).unwrap().unwrap());
                pushed += 1;
            }
            Step::Send(most) => {
                let mut left = *most;
                calls.send(|waiting| match &mut left[waiting.far] {
                    0 => Some(SendResult::Later),
                    1 => {
                        left[waiting.far] = 0;
                        Some(SendResult::Refused(refusal.clone()))
                    }
                    left => {
                        *left -= 1;
                        sent += 1;
                        Some(SendResult::Sent { id: sent, timeout: Some(FIRST_LINGER), is_repeatable: sent % 2 == 0 })
                    }
                });
            }
            Step::Answer(far, id) => {
                calls.answer(FarCall { far: *far, id: *id }, |call, times| {
                    times.answer(call, Outcome::Ok(RawValue::NULL))
                });
            }
            Step::Refuse(far, id) => _ = calls.refuse(FarCall { far: *far, id: *id }, &refusal),
            Step::Renumber(far, id) => {
                sent += 1;
                calls.renumber(FarCall { far: *far, id: *id }, FarCall { far: *far, id: sent });
            }
            Step::Cancel(id) => _ = calls.cancel(&id.to_string(), &refusal),
            Step::Lose(far, again) => calls.far_side_lost(*far, &refusal, *again),
            Step::GiveUp(far) if *far < 2 => {
                calls.give_up(*far, refusal.clone(), Failure::new(Status::Lost, ""), FIRST_LINGER);
                calls.refuse_over();
            }
            Step::GiveUp(_) => {}
            Step::Drain => calls.drain(&mut out),
        }
    }
    calls.refuse_all(&refusal);
    calls.drain(&mut out);
    assert!(calls.is_empty(), "a call is left");
    assert_eq!((calls.in_flight(0), calls.in_flight(1)), (0, 0));
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap();
    (String::from_utf8(out).unwrap().lines().map(id).collect(), pushed)
}

proptest! {
    #[test]
    fn each_call_is_answered_once_and_in_order(steps in prop::collection::vec(step(), 0..60)) {
        let (answered, pushed) = take(&steps, false);
        prop_assert_eq!(answered, (0..pushed).collect::<Vec<_>>());
    }

    #[test]
    fn each_call_is_answered_once_in_any_order(steps in prop::collection::vec(step(), 0..60)) {
        let (mut answered, pushed) = take(&steps, true);
        answered.sort_unstable();
        prop_assert_eq!(answered, (0..pushed).collect::<Vec<_>>());
    }
}
