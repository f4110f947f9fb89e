//! For any text as a message of the mod: nothing panics, the actions are in the order of their ids without repetitions, and they
//! are written as JSON with the same meaning.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_games::spire::action::Action;
use pipewright_games::spire::label::label;
use pipewright_games::spire::legal_actions::legal_actions;
use pipewright_games::spire::message::Message;
use pipewright_games::spire::offer::{self, write_actions, write_bare};
use pipewright_games::spire::reduced::reduced;
use pipewright_games::spire::run::{Run, Runs};
use pipewright_games::spire::summary::summary;
use pipewright_games::spire::targets::Targets;
use pipewright_lines::{Line, text};
use serde_json::Value;

fuzz_target!(|raw: &[u8]| {
    let line = Line::new(raw, 1);
    let content = text(line.body());
    let Ok(Some(message)) = Message::read(&content) else {
        return;
    };
    let actions = legal_actions(&message);
    assert!(actions.windows(2).all(|pair| pair[0].id() < pair[1].id()), "not strictly ascending: {actions:?}");
    let targets = Targets::of(message.combat_state());
    for &action in &actions {
        assert_eq!(Action::from_id(action.id()), Some(action));
        assert_eq!(Action::from_command(&action.command(&targets), &targets), Some(action));
    }
    check_written(&line, &content, &message, &actions);
    let _ = summary(&message);
    let _ = Runs::default().follow(&message);
    if let Some(run) = Run::of(&message) {
        assert!(run.class_name().bytes().all(|byte| byte.is_ascii_alphanumeric()));
    }
    if let Some(state) = &message.game_state {
        let kept = reduced(state).expect("what was JSON is JSON");
        assert!(kept.get().starts_with('{') && content.len() + 100 > kept.get().len(), "more than there was: {kept}");
    }
});

fn check_written(line: &Line<'_>, content: &str, message: &Message<'_>, actions: &[Action]) {
    let mut bare = Vec::new();
    write_bare(actions, &mut bare);
    let ids: Value = serde_json::from_slice(&bare).expect("the ids are JSON");
    assert_eq!(ids["action_ids"].as_array().map(Vec::len), Some(actions.len()));
    let mut written = Vec::new();
    write_actions(message, actions, &mut written);
    let offered: Vec<Value> = serde_json::from_slice(&written).expect("the actions are JSON");
    assert_eq!(offered.len(), actions.len());
    for (offer, &action) in offered.iter().zip(actions) {
        assert_eq!(offer["action_id"], action.id());
        assert_eq!(offer["cmd"], action.command(&Targets::of(message.combat_state())));
        assert_eq!(offer["label"], label(message, action));
    }
    check_set(line, content, message, &written);
}

/// The line with the field is read as the same message, and setting the field again changes nothing.
fn check_set(line: &Line<'_>, content: &str, message: &Message<'_>, written: &[u8]) {
    let mut once = Vec::new();
    offer::set(line, content, message, written, &mut once);
    let line = Line::new(&once, 1);
    let content = text(line.body());
    let again = Message::read(&content).expect("it stays readable").expect("and the mod's");
    assert_eq!(again.valid_actions.map(|value| value.get().as_bytes()), Some(written));
    assert_eq!(legal_actions(&again), legal_actions(message));
    let mut twice = Vec::new();
    offer::set(&line, &content, &again, written, &mut twice);
    assert_eq!(once, twice);
}
