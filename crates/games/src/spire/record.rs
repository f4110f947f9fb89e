//! One recorded decision: its action, label and state, the run, and whether the mod accepted the command.

use super::action::{Action, IDS};
use super::run::{Run, RunOver};
use super::targets::Targets;
use pipewright_record::{Record, schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

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

/// The index in the table of Slay the Spire's actions.
#[derive(JsonSchema)]
#[schemars(rename = "action_id", with = "u8", extend("maximum" = IDS - 1))]
struct ActionId;

/// A decision, with the state in which it was made.
///
/// Seeds are exact integers, nearly always too large for a float: use a reader that keeps integers.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "spire_record", extend(
    "if" = { "properties": { "confirmed": { "const": false } } },
    "then" = { "required": ["error"] }
))]
pub struct SpireRecord<'a> {
    /// The time at which it was sent.
    #[schemars(with = "schema::Time")]
    ts: &'a str,
    /// null if the command has no id: key, click, a choice past the 60th, a seventh living monster.
    #[schemars(with = "Option<ActionId>")]
    action_id: Option<u8>,
    /// The command that was sent to the mod.
    cmd: &'a str,
    /// The action as the player sees it: the card, target, reward or price; the command, if it has no id.
    label: &'a str,
    /// The ids of the legal actions, without those that the mod has refused in this state.
    #[schemars(with = "Vec<ActionId>", extend("uniqueItems" = true))]
    legal_ids: &'a [u8],
    /// Present if ids mean other monsters than their own: the index in the mod's array for each such target. Living
    /// monsters past the sixth take the targets of gone ones.
    #[serde(skip_serializing_if = "Targets::is_identity")]
    #[schemars(with = "Map<String, Value>", extend(
        "propertyNames" = { "pattern": "^[0-5]$" },
        "additionalProperties" = { "type": "integer", "minimum": 6 }
    ))]
    targets: Targets,
    /// hp, max_hp, gold, floor and act; in a fight also hand, player, monsters and turn, elsewhere the screen's type,
    /// the choices and an event's options. With --full-state, the mod's game_state. Half of a surrogate pair is U+FFFD;
    /// all else is unchanged.
    #[schemars(with = "Map<String, Value>")]
    state: &'a RawValue,
    /// The run.
    run: RunFields<'a>,
    /// Present if a command was sent although it is not legal (--pass-illegal).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("const" = false))]
    legal: Option<bool>,
    /// Present if the agent was lost and sts-proxy decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("const" = "fallback"))]
    by: Option<&'a str>,
    /// Whether the mod's next message was not an error.
    confirmed: bool,
    /// The error of the mod, or a note that no message followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl Record for SpireRecord<'_> {}

/// Identifies a run, and has its progress.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "spire_run")]
struct RunFields<'a> {
    seed: Option<i64>,
    /// The mod's spelling, such as THE_SILENT.
    class: &'a str,
    ascension: i64,
    floor: i64,
}

impl<'a> RunFields<'a> {
    fn new(run: &'a Run, floor: i64) -> RunFields<'a> {
        RunFields { seed: run.seed, class: &run.class, ascension: run.ascension, floor }
    }
}

/// How a run of Slay the Spire ended: the last line of its records.
///
/// Absent if the end was not seen; the run may continue then.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "spire_run_over")]
pub struct SpireRunOver<'a> {
    /// The time at which it was written.
    #[schemars(with = "schema::Time")]
    ts: &'a str,
    /// The end of the run.
    run_over: RunOverFields,
    /// The run.
    run: RunFields<'a>,
}

impl Record for SpireRunOver<'_> {}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline, extend(
    "if" = { "properties": { "victory": { "const": null } } },
    "then" = { "required": ["reason"] }
))]
struct RunOverFields {
    /// null if the run was abandoned.
    victory: Option<bool>,
    /// The last floor.
    floor: i64,
    score: Option<i64>,
    /// Why there is no victory: another run of the same class began.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("const" = "abandoned"))]
    reason: Option<&'static str>,
}

/// The last line of a run's records, with its line feed.
pub fn closing_line(ts: &str, over: &RunOver) -> String {
    let run_over = RunOverFields {
        victory: over.end.map(|end| end.victory),
        floor: over.floor,
        score: over.end.and_then(|end| end.score),
        reason: over.end.is_none().then_some("abandoned"),
    };
    SpireRunOver { ts, run_over, run: RunFields::new(&over.run, over.floor) }.line()
}

/// A decision, kept until the mod has answered.
#[derive(Debug, Clone)]
pub struct PendingRecord {
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

impl PendingRecord {
    /// The record's line, with its line feed.
    pub fn line(&self, outcome: Outcome<'_>) -> String {
        let record = SpireRecord {
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
        record.line()
    }
}
