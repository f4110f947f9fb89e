//! For any lines of a process that connects to an approver as a gate: the queue accepts them without a fault and stays bounded,
//! and a question that was accepted is written as it was read. The input is lines of two gates, alternating.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_clients::approvals::{Question, Queue, QueueChange, revoked_rule};

fuzz_target!(|input: &str| {
    let mut queue = Queue::default();
    for (number, line) in input.lines().enumerate() {
        if let Ok(QueueChange::Asked) = queue.take(number % 2, line) {
            for pending in (0..queue.len()).filter_map(|place| queue.get(place)) {
                let asked = pending.question.record();
                let read = Question::read(&asked).expect("it is readable").expect("it is a question");
                assert_eq!(read.record(), asked);
            }
        }
        let _ = revoked_rule(line);
    }
    assert!(queue.len() <= 2);
    queue.leave(0);
    queue.leave(1);
    assert!(queue.is_empty() && queue.rules().next().is_none());
});
