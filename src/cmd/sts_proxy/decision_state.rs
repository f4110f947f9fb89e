//! A state of a run as the mod sent it, and what is recorded of a decision made in it.

use pipewright_games::spire::action::Action;
use pipewright_games::spire::label::label;
use pipewright_games::spire::message::Message;
use pipewright_games::spire::reduced::reduced;
use pipewright_games::spire::run::Run;
use pipewright_games::spire::targets::Targets;
use pipewright_lines::{self as lines, Line};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Debug)]
pub(super) struct DecisionState {
    /// The mod's line, as it came.
    pub(super) raw: Vec<u8>,
    /// The legal actions, without those that the mod refused in this state.
    pub(super) actions: Vec<Action>,
    /// They as JSON text with their labels; empty if they were not offered so.
    pub(super) labelled: Vec<u8>,
    pub(super) targets: Targets,
    /// The part of the state that is recorded by default.
    pub(super) reduced: Box<RawValue>,
    pub(super) run: Run,
    pub(super) floor: i64,
}

impl DecisionState {
    /// `None` in menus.
    pub(super) fn new(line: &Line<'_>, message: &Message<'_>, actions: Vec<Action>) -> Option<DecisionState> {
        let (run, state) = (Run::of(message)?, message.game_state.as_ref()?);
        Some(DecisionState {
            raw: line.raw().to_vec(),
            actions,
            labelled: Vec::new(),
            targets: Targets::of(message.combat_state()),
            reduced: reduced(state).unwrap_or_default(),
            run,
            floor: state.floor,
        })
    }

    /// The label of an action in this state.
    pub(super) fn label(&self, action: Action) -> String {
        #[derive(Deserialize)]
        struct LabelledAction<'a> {
            action_id: u8,
            #[serde(borrow)]
            label: Cow<'a, str>,
        }
        // Far shorter than the state, which would be read once more.
        let labelled: Vec<LabelledAction<'_>> = serde_json::from_slice(&self.labelled).unwrap_or_default();
        if let Some(found) = labelled.into_iter().find(|labelled| labelled.action_id == action.id()) {
            return found.label.into_owned();
        }
        match Message::read(&self.text()) {
            Ok(Some(message)) => label(&message, action),
            _ => action.to_string(), // cannot happen: it was read when the situation was made
        }
    }

    /// The message's text.
    pub(super) fn text(&self) -> Cow<'_, str> {
        // Only the first line of a stream may begin with a byte order mark; any other line with one is not a message.
        lines::text(Line::new(&self.raw, 1).body())
    }
}
