//! For any line of a game: it is read without a fault, and answered with JSON in the call's form, with the call's id and the
//! game's data unchanged. A command to the game is JSON on one line. The input is a call, a line feed, and the game's line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_games::godot::{EngineOutput, Message, answer, command, install, remove};
use pipewright_record::{Form, recognise};
use serde_json::value::RawValue;

fuzz_target!(|input: &str| {
    let mut tail = EngineOutput::default();
    input.lines().for_each(|line| _ = tail.take(line.as_bytes()));
    if let Ok(Some(installed)) = install(input, None) {
        assert_eq!(install(&installed.text, None), Ok(None), "it was inserted twice");
        assert!(
            remove(&installed.text, None).is_ok_and(|removed| removed.is_some()),
            "it was inserted, but is not found"
        );
    }
    let Some((call, reply)) = input.split_once('\n') else {
        return;
    };
    let Ok(Some(call)) = recognise(call) else {
        return;
    };
    let line = command(1, &call.tool, call.arguments.map(RawValue::get), 0.5);
    assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "not one line: {line:?}");
    serde_json::from_str::<&RawValue>(&line).expect("a command is JSON");
    let Message::Response(response) = Message::read(reply) else {
        return;
    };
    let answer = answer(&call, &response);
    serde_json::from_str::<&RawValue>(&answer).expect("an answer is JSON");
    if response.ok || call.form == Form::Godot {
        let data = response.get("data").map_or("", RawValue::get);
        assert!(answer.contains(data), "other data: {answer}");
    }
    assert!(call.id.is_none_or(|id| answer.contains(id.get())), "another id: {answer}");
});
