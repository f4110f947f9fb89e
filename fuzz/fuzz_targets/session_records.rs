//! Whatever an agent writes: a client's session takes it, and each update for an editor is one line of JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright::acp::Updates;
use serde_json::value::RawValue;
use std::path::PathBuf;

fuzz_target!(|text: &str| {
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
