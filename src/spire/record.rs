//! One recorded decision: its action, label and state, the run, and whether the mod accepted the command.

use super::action::Action;
use super::run::Run;
use serde::Serialize;
use serde_json::value::RawValue;

/// How a command fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// The next message was no error.
    Accepted,
    /// The mod's error text.
    Refused(&'a str),
    /// No message came before the end.
    Unknown,
}

/// What is sent to the mod.
#[derive(Debug, Clone)]
pub struct Command {
    /// The line, without its line feed.
    pub text: String,
    /// `None` where the command has no id.
    pub action: Option<Action>,
}

impl From<Action> for Command {
    fn from(action: Action) -> Command {
        Command { text: action.to_string(), action: Some(action) }
    }
}

#[derive(Serialize)]
struct Record<'a> {
    ts: &'a str,
    action_id: Option<u8>,
    cmd: &'a str,
    label: &'a str,
    legal_ids: &'a [u8],
    state: &'a RawValue,
    run: RunFields<'a>,
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

/// What was decided, kept until the mod has answered.
#[derive(Debug, Clone)]
pub struct Decided {
    /// When, in RFC 3339.
    pub ts: String,
    /// What.
    pub command: Command,
    /// What it is called: the card, the target, the choice; without an id, the command.
    pub label: String,
    /// The ids of the legal actions, in their order: what there was to choose from.
    pub legal_ids: Vec<u8>,
    /// In which run.
    pub run: Run,
    /// On which floor of it.
    pub floor: i64,
    /// In which state: JSON text.
    pub state: Box<RawValue>,
}

impl Decided {
    /// The record's line, with its line feed:
    /// `{"ts","action_id","cmd","label","legal_ids","state","run":{"seed","class","ascension","floor"},"confirmed","error"?}`.
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
            state: &self.state,
            run: RunFields {
                seed: self.run.seed,
                class: &self.run.class,
                ascension: self.run.ascension,
                floor: self.floor,
            },
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
