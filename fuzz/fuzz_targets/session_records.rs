//! For any lines of an agent: a client's session accepts them, and each update for an editor, and each event for an AG-UI client,
//! is one line of JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_clients::acp::Updates;
use pipewright_clients::agui::{RecordEvents, RunInput, Thread};
use pipewright_clients::approvals::Question;
use pipewright_clients::session::Session;
use serde_json::value::RawValue;
use std::path::PathBuf;

fuzz_target!(|text: &str| {
    as_runs(text);
    let mut updates = Updates::new(PathBuf::from("/home/me"));
    for line in text.split('\n') {
        // A line that begins with `>` is a prompt.
        if let Some(prompt) = line.strip_prefix('>') {
            updates.prompt(prompt);
            continue;
        }
        for update in updates.take(line).updates {
            assert!(!update.contains(['\n', '\r']));
            serde_json::from_str::<&RawValue>(&update).expect("an update is JSON");
        }
    }
    for update in updates.ended().updates {
        serde_json::from_str::<&RawValue>(&update).expect("an update is JSON");
    }
});

/// A line that begins with `>` is the input of a run.
fn as_runs(text: &str) {
    let (mut thread, mut is_open) = (Thread::new("t", Session::default()), false);
    for line in text.split('\n') {
        let taken = match line.strip_prefix('>').map(RunInput::read) {
            Some(Ok(input)) if !is_open => {
                is_open = true;
                thread.begin(&input).0
            }
            Some(_) => continue,
            None => match Question::read(line) {
                Ok(Some(question)) => thread.hold(&question),
                _ => thread.take(line),
            },
        };
        check(&taken, &mut is_open);
    }
    check(&thread.ended("the agent has ended"), &mut is_open);
}

fn check(taken: &RecordEvents, is_open: &mut bool) {
    assert!(*is_open || taken.events.is_empty(), "no run is open");
    *is_open &= !taken.is_over;
    for event in &taken.events {
        assert!(!event.contains(['\n', '\r']));
        serde_json::from_str::<&RawValue>(event).expect("an event is JSON");
    }
}
