//! From decisions to records: what is noted when a command is sent, and settled when the mod has answered.

use super::recorder::Recorder;
use super::situation::Situation;
use crate::io::report::Report;
use crate::spire::record::{Command, Decided, Outcome, closing_line};
use crate::spire::run::{RunOver, Turn};
use jiff::Timestamp;
use serde_json::value::RawValue;
use std::sync::Arc;

/// What is recorded, if anything is.
pub(super) struct Ledger {
    recorder: Option<Recorder>,
    full_state: bool,
    report: Arc<Report>,
}

impl Ledger {
    /// Without a recorder, nothing is noted. `full_state` keeps whole states.
    pub(super) fn new(recorder: Option<Recorder>, full_state: bool, report: Arc<Report>) -> Ledger {
        Ledger { recorder, full_state, report }
    }

    /// The run goes on, or another begins.
    pub(super) fn follow(&mut self, turn: Turn) {
        if let Some(recorder) = &mut self.recorder {
            recorder.follow(turn);
        }
    }

    /// What to remember of a decision until it is settled.
    pub(super) fn note_down(&self, situation: &Situation, command: Command) -> Option<Box<Decided>> {
        self.recorder.as_ref()?;
        let state = if self.full_state { whole_state(&situation.text()) } else { Ok(situation.reduced.clone()) };
        match state {
            Ok(state) => Some(Box::new(Decided {
                ts: now(),
                label: command.action.map_or_else(|| command.text.clone(), |action| situation.label(action)),
                command,
                legal_ids: situation.actions.iter().map(|action| action.id()).collect(),
                run: situation.run.clone(),
                floor: situation.floor,
                state,
            })),
            Err(error) => {
                self.report.fault("record", format_args!("a state can't be recorded: {error}"));
                None
            }
        }
    }

    /// Writes what was noted down, now that its outcome is known.
    pub(super) fn settle(&mut self, decided: Option<Box<Decided>>, outcome: Outcome<'_>) {
        let (Some(decided), Some(recorder)) = (decided, &mut self.recorder) else {
            return;
        };
        match decided.line(outcome) {
            Ok(line) => recorder.write(&decided.run, decided.floor, &line),
            Err(error) => self.report.fault("record", error),
        }
    }

    /// Writes how the run ended, behind its decisions.
    pub(super) fn close(&mut self, over: &RunOver) {
        let Some(recorder) = &mut self.recorder else { return };
        match closing_line(&now(), over) {
            Ok(line) => recorder.close(&over.run, over.floor, &line),
            Err(error) => self.report.fault("record", error),
        }
    }

    /// Forces what was written to the disk.
    pub(super) fn sync(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.sync();
        }
    }
}

fn now() -> String {
    format!("{:.6}", Timestamp::now())
}

/// The message's whole `game_state`.
fn whole_state(message: &str) -> Result<Box<RawValue>, serde_json::Error> {
    #[derive(serde::Deserialize)]
    struct Whole {
        game_state: Box<RawValue>,
    }
    serde_json::from_str(message).map(|Whole { game_state }| game_state)
}
