//! Whatever a process sends that connects to an approver as a gate does: the queue takes it without a fault, what it holds is bounded,
//! and a question that it has taken is written as it was read. The input is lines of two gates in turn.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright::approvals::{Change, Question, Queue, revoked_rule};

fuzz_target!(|input: &str| {
    let mut queue = Queue::default();
    for (number, line) in input.lines().enumerate() {
        let before = queue.len();
        if let Ok(Change::Asked) = queue.take(number % 2, line) {
            let asked = queue.get(before).expect("what was asked is the last").question.record();
            let read = Question::read(&asked).expect("it is readable").expect("it is a question");
            assert_eq!(read.record(), asked);
        }
        let _ = revoked_rule(line);
    }
    assert!(queue.len() <= 128);
    queue.leave(0);
    queue.leave(1);
    assert!(queue.is_empty() && queue.rules().next().is_none());
});
