//! What the loop is begun with, what it takes, and what it gives.

use super::conversation::Stored;
use super::profile::Profile;
use super::{Ids, Limits};

/// How the loop works. Each process of a session may have its own.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What is done around the model's calls.
    pub profile: Profile,
    /// The ids of its records.
    pub ids: Ids,
    /// The world's tools that are offered, as globs; all where there are none.
    pub allow: Vec<String>,
    /// Those that are not offered, even if they are allowed.
    pub deny: Vec<String>,
    /// A new conversation is begun after a request that had more tokens.
    pub compact_at: Option<u64>,
}

/// What a process of a session is to do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// What it may not pass.
    pub limits: Limits,
    /// It ends with this goal. Without one, messages are taken until there are no more.
    pub goal: Option<String>,
}

/// What has happened.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// A line of the world's.
    World(&'a str),
    /// A line of the model side's.
    Model(&'a str),
    /// A line of the person's or client's.
    Person(&'a str),
    /// The image at a path that a result names was stored, or could not be; it comes before the result.
    Image(&'a str, Result<&'a Stored, &'a str>),
    /// The world does not list its tools: why.
    NoTools(&'a str),
    /// A line of the person's that cannot be read: why.
    Unreadable(&'a str),
    /// A line of the model side's that cannot be read, and is most likely a turn: why.
    BadTurn(&'a str),
    /// The person will send nothing more.
    Closed,
    /// The world has ended: how.
    WorldEnded(&'a str),
    /// The model side has ended: how.
    ModelEnded(&'a str),
    /// [`Agent::due`] has passed.
    Due,
    /// The process has ended since the last input; world and model side were started anew.
    Resumed(&'a Settings, &'a Run),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A line for the model side.
    Model(String),
    /// A line for the world.
    World(String),
    /// A record for the person or client.
    Session(String),
    /// The last record of a goal, JSON text that still lacks `exit_status`: that is this one, or 1 where it is 0 and something else was wrong.
    Final(String, u8),
    /// A step has ended: its event, JSON text.
    Step(String),
    /// What the model shows of its reasoning: for the log.
    Reasoning(String),
    /// The last line of the person's was not taken: why.
    Refused(String),
    /// A message for the log.
    Note(String),
    /// The run ends with this exit status.
    End(u8),
}
