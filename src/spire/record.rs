//! One recorded decision: its action, label and state, the run, and whether the mod accepted the command.

use super::action::Action;
use super::run::{Run, RunOver};
use super::targets::Targets;
use serde::Serialize;
use serde_json::value::RawValue;

/// The result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// The next message was not an error.
    Accepted,
    /// The mod's error text.
    Refused(&'a str),
    /// No message came before the end.
    Unknown,
}

/// A command for the mod.
#[derive(Debug, Clone)]
pub struct Command {
    /// The line, without its line feed.
    pub text: String,
    /// `None` if the command has no id.
    pub action: Option<Action>,
    /// False if it is not legal but was sent anyway.
    pub is_legal: bool,
    /// Who decided, if not the player.
    pub by: Option<&'static str>,
}

impl Command {
    /// The command of a legal action, in a state with these targets.
    pub fn of(action: Action, targets: &Targets) -> Command {
        Command { text: action.command(targets), action: Some(action), is_legal: true, by: None }
    }
}

#[derive(Serialize)]
struct Record<'a> {
    ts: &'a str,
    action_id: Option<u8>,
    cmd: &'a str,
    label: &'a str,
    legal_ids: &'a [u8],
    #[serde(skip_serializing_if = "Targets::are_plain")]
    targets: Targets,
    state: &'a RawValue,
    run: RunFields<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    legal: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
    confirmed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct RunFields<'a> {
    seed: Option<i64>,
    class: &'a str,
    ascension: i64,
    floor: i64,
}

impl<'a> RunFields<'a> {
    fn new(run: &'a Run, floor: i64) -> RunFields<'a> {
        RunFields { seed: run.seed, class: &run.class, ascension: run.ascension, floor }
    }
}

#[derive(Serialize)]
struct Closing<'a> {
    ts: &'a str,
    run_over: RunOverFields,
    run: RunFields<'a>,
}

#[derive(Serialize)]
struct RunOverFields {
    victory: Option<bool>,
    floor: i64,
    score: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// The last line of a run's records, with its line feed:
/// `{"ts","run_over":{"victory","floor","score","reason"?},"run":{"seed","class","ascension","floor"}}`.
///
/// # Errors
/// None in practice, as [`Decided::line`].
pub fn closing_line(ts: &str, over: &RunOver) -> Result<Vec<u8>, serde_json::Error> {
    let run_over = RunOverFields {
        victory: over.end.map(|end| end.victory),
        floor: over.floor,
        score: over.end.and_then(|end| end.score),
        reason: over.end.is_none().then_some("abandoned"),
    };
    let mut line = serde_json::to_vec(&Closing { ts, run_over, run: RunFields::new(&over.run, over.floor) })?;
    line.push(b'\n');
    Ok(line)
}

/// A decision, kept until the mod has answered.
#[derive(Debug, Clone)]
pub struct Decided {
    /// Time, in RFC 3339.
    pub ts: String,
    /// The command.
    pub command: Command,
    /// Its label: the card, the target, the choice; without an id, the command.
    pub label: String,
    /// The ids of the legal actions, in order.
    pub legal_ids: Vec<u8>,
    /// Which monsters the targets of these ids are.
    pub targets: Targets,
    /// The run.
    pub run: Run,
    /// The floor of the run.
    pub floor: i64,
    /// The state, as JSON text.
    pub state: Box<RawValue>,
}

impl Decided {
    /// The record's line, with its line feed:
    /// `{"ts","action_id","cmd","label","legal_ids","targets"?,"state","run":{"seed","class","ascension","floor"},"legal"?,"by"?,"confirmed","error"?}`.
    ///
    /// # Errors
    /// None in practice: everything in it is text and numbers.
    pub fn line(&self, outcome: Outcome<'_>) -> Result<Vec<u8>, serde_json::Error> {
        let record = Record {
            ts: &self.ts,
            action_id: self.command.action.map(Action::id),
            cmd: &self.command.text,
            label: &self.label,
            legal_ids: &self.legal_ids,
            targets: self.targets,
            state: &self.state,
            run: RunFields::new(&self.run, self.floor),
            legal: (!self.command.is_legal).then_some(false),
            by: self.command.by,
            confirmed: outcome == Outcome::Accepted,
            error: match outcome {
                Outcome::Accepted => None,
                Outcome::Refused(error) => Some(error),
                Outcome::Unknown => Some("no message followed"),
            },
        };
        let mut line = serde_json::to_vec(&record)?;
        line.push(b'\n');
        Ok(line)
    }
}
