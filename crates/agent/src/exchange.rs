//! The loop's settings, inputs and effects.

use super::Limits;
use super::conversation::Stored;
use super::profile::Profile;
use pipewright_record::AgentIds;

/// How the loop works. Each process of a session may have its own settings.
#[derive(Debug, Clone)]
pub struct AgentSettings {
    /// How the world is observed and used around the model's calls.
    pub profile: Profile,
    /// The ids of the session's records.
    pub ids: AgentIds<'static>,
    /// The world's tools that are offered, as globs; all if empty.
    pub allow: Vec<String>,
    /// Tools that are not offered even if they are allowed.
    pub deny: Vec<String>,
    /// A new conversation is begun after a request with more tokens than this.
    pub compact_at: Option<u64>,
}

/// The task of a process of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Its limits.
    pub limits: Limits,
    /// The run ends with this goal. Without one, it takes messages until there are no more.
    pub goal: Option<String>,
}

/// An event.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// A line from the world.
    World(&'a str),
    /// A line from the model command.
    Model(&'a str),
    /// A line from the person or client.
    Person(&'a str),
    /// The image at a path in a result was stored, or could not be; precedes the result.
    Image(&'a str, Result<&'a Stored, &'a str>),
    /// The world does not list its tools: why.
    NoTools(&'a str),
    /// An unreadable line from the person: why.
    Unreadable(&'a str),
    /// An unreadable line from the model command, which is probably a turn: why.
    BadTurn(&'a str),
    /// The person has closed the input.
    Closed,
    /// The world has ended: how.
    WorldEnded(&'a str),
    /// The model command has ended: how.
    ModelEnded(&'a str),
    /// [`Agent::due`] has passed.
    Due,
    /// The process has ended since the last input; the world and the model command were restarted.
    Resumed(&'a AgentSettings, &'a Run),
}

/// An action that an input causes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A line for the model command.
    Model(String),
    /// A line for the world.
    World(String),
    /// A record for the person or client.
    Session(String),
    /// The last record of a goal as JSON text without `exit_status`. The status is this number, or 1 if this is 0 and
    /// another error occurred.
    Final(String, u8),
    /// The event of a finished step, as JSON text.
    Step(String),
    /// Reasoning that the model shows, for the log.
    Reasoning(String),
    /// The last line from the person was refused: why.
    Refused(String),
    /// A message for stderr.
    Note(String),
    /// The run ends with this exit status.
    End(u8),
}
