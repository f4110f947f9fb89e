//! From decisions to records: a decision is noted when its command is sent, and settled when the mod has answered.

use super::decision_state::DecisionState;
use super::recorder::Recorder;
use jiff::Timestamp;
use pipewright_games::spire::record::{Command, Outcome, PendingRecord, closing_line};
use pipewright_games::spire::run::{RunOver, RunTransition};
use pipewright_io::report::Report;
use pipewright_record::{has_lone_surrogate, without_lone_surrogates};
use serde_json::value::RawValue;
use std::sync::Arc;

/// The recorder, if there is one, and what it records.
pub(super) struct OptionalRecorder {
    recorder: Option<Recorder>,
    full_state: bool,
    report: Arc<Report>,
}

impl OptionalRecorder {
    /// Without a recorder, nothing is recorded. `full_state` keeps complete states.
    pub(super) fn new(recorder: Option<Recorder>, full_state: bool, report: Arc<Report>) -> OptionalRecorder {
        OptionalRecorder { recorder, full_state, report }
    }

    /// The run continues, or another begins.
    pub(super) fn follow(&mut self, turn: RunTransition) {
        if let Some(recorder) = &mut self.recorder {
            recorder.follow(turn);
        }
    }

    /// What to remember of a decision until it is settled.
    pub(super) fn note_down(&self, situation: &DecisionState, command: Command) -> Option<Box<PendingRecord>> {
        self.recorder.as_ref()?;
        let state = if self.full_state { whole_state(&situation.text()) } else { Ok(situation.reduced.clone()) };
        match state.and_then(readable) {
            Ok(state) => Some(Box::new(PendingRecord {
                ts: now(),
                label: command.action.map_or_else(|| command.text.clone(), |action| situation.label(action)),
                command,
                legal_ids: situation.actions.iter().map(|action| action.id()).collect(),
                targets: situation.targets,
                run: situation.run.clone(),
                floor: situation.floor,
                state,
            })),
            Err(error) => {
                self.report.fault("record", format_args!("cannot record a state: {error}"));
                None
            }
        }
    }

    /// Writes a noted decision, once its outcome is known.
    pub(super) fn settle(&mut self, decided: Option<Box<PendingRecord>>, outcome: Outcome<'_>) {
        let (Some(decided), Some(recorder)) = (decided, &mut self.recorder) else {
            return;
        };
        recorder.write(&decided.run, decided.floor, decided.line(outcome).as_bytes());
    }

    /// Writes how the run ended, after its decisions.
    pub(super) fn close(&mut self, over: &RunOver) {
        let Some(recorder) = &mut self.recorder else { return };
        recorder.close(&over.run, over.floor, closing_line(&now(), over).as_bytes());
    }

    /// Forces the written records to the disk.
    pub(super) fn sync(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.sync();
        }
    }
}

fn now() -> String {
    format!("{:.6}", Timestamp::now())
}

/// The state for every reader of JSON: many refuse a line with half of a surrogate pair.
fn readable(state: Box<RawValue>) -> Result<Box<RawValue>, serde_json::Error> {
    if !has_lone_surrogate(state.get().as_bytes()) {
        return Ok(state);
    }
    RawValue::from_string(without_lone_surrogates(state.get()))
}

/// The message's complete `game_state`.
fn whole_state(message: &str) -> Result<Box<RawValue>, serde_json::Error> {
    #[derive(serde::Deserialize)]
    struct CompleteState {
        game_state: Box<RawValue>,
    }
    serde_json::from_str(message).map(|CompleteState { game_state }| game_state)
}
