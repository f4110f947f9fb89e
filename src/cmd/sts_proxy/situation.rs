//! A state of a run as the mod sent it, and what is recorded of a decision made in it.

use crate::io::lines::{self, Line};
use crate::spire::action::Action;
use crate::spire::label::label;
use crate::spire::message::Message;
use crate::spire::reduced::reduced;
use crate::spire::run::Run;
use crate::spire::targets::Targets;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Debug)]
pub(super) struct Situation {
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

impl Situation {
    /// `None` in menus.
    pub(super) fn new(line: &Line<'_>, message: &Message<'_>, actions: Vec<Action>) -> Option<Situation> {
        let (run, state) = (Run::of(message)?, message.game_state.as_ref()?);
        Some(Situation {
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
        struct Labelled<'a> {
            action_id: u8,
            #[serde(borrow)]
            label: Cow<'a, str>,
        }
        // Far shorter than the state, which would be read once more.
        let labelled: Vec<Labelled<'_>> = serde_json::from_slice(&self.labelled).unwrap_or_default();
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
