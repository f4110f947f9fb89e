//! The lines of a session file.
//!
//! ```text
//! {"format":"pipewright-session","version":3,"profile":"…","max_steps":20,…}
//! {"t":1200,"in":"person","line":{"type":"user_message","content":"…"}}
//! {"t":1500,"in":"world","line":{"type":"tool_result",…}}
//! ```

use pipewright_agent::profile::Profile;
use pipewright_agent::{AgentSettings, Input, Limits, RepetitionLimits, Run, Stored};
use pipewright_record::json::{self, Object, quoted};
use pipewright_record::{AgentIds, Fields};
use serde_json::value::RawValue;
use std::time::Duration;

const FORMAT: &str = "pipewright-session";
const VERSION: &str = "3";
/// How every session file begins.
const FILE_PREFIX: &[u8] = br#"{"format":"pipewright-session""#;
pub const NO_SESSION: &str = "not a session file of agent-loop";
const NO_INPUT: &str = "not an input of a session";

/// An input that was read from a session file.
#[derive(Debug)]
pub struct Entry {
    /// The time since the session began.
    pub t: Duration,
    /// The options that a new process was started with.
    pub options: Option<(AgentSettings, Run)>,
    kind: String,
    line: String,
    stored: Option<Result<Stored, String>>,
}

/// An input as a line of the file.
pub fn line(input: Input<'_>, t: Duration) -> String {
    let milliseconds = u64::try_from(t.as_millis()).unwrap_or(u64::MAX);
    let (kind, value) = match input {
        Input::World(text) => ("world", Some(as_json(text))),
        Input::Model(text) => ("model", Some(as_json(text))),
        Input::Person(text) => ("person", Some(as_json(text))),
        Input::Image(path, _) => ("image", Some(quoted(path))),
        Input::NoTools(why) => ("no_tools", Some(quoted(why))),
        Input::Unreadable(why) => ("unreadable", Some(quoted(why))),
        Input::BadTurn(why) => ("bad_turn", Some(quoted(why))),
        Input::Closed => ("closed", None),
        Input::WorldEnded(how) => ("world_ended", Some(quoted(how))),
        Input::ModelEnded(how) => ("model_ended", Some(quoted(how))),
        Input::Due => ("due", None),
        Input::Resumed(..) => ("resumed", None),
    };
    let entry = Object::default().put("t", milliseconds).text("in", kind).put_some("line", value);
    match input {
        Input::Image(_, Ok(Stored { path, sha256, mime })) => {
            entry.text("image", path).text("sha256", sha256).text("mime", mime)
        }
        Input::Image(_, Err(why)) => entry.text("error", why),
        Input::Resumed(settings, run) => put_options(entry, settings, run),
        _ => entry,
    }
    .line()
}

/// A line as JSON: unchanged if it is an object, otherwise as a string.
fn as_json(line: &str) -> String {
    match serde_json::from_str::<&RawValue>(line) {
        Ok(value) if value.get().starts_with('{') && !line.contains(['\n', '\r']) => value.get().to_owned(),
        _ => quoted(line),
    }
}

impl Entry {
    /// Reads an input.
    ///
    /// # Errors
    /// The line is not an input.
    pub fn read(fields: &Fields<'_>) -> Result<Entry, String> {
        let (Some(kind), Some(t)) = (fields.text("in"), number(fields, "t").map(Duration::from_millis)) else {
            return Err(NO_INPUT.to_owned());
        };
        let line = fields.get("line").map_or("\"\"", |line| line.get());
        let line = if line.starts_with('"') { fields.text("line").unwrap_or_default() } else { line.to_owned() };
        let stored = match (fields.text("image"), fields.text("error")) {
            (Some(path), _) => {
                let (sha256, mime) =
                    (fields.text("sha256").unwrap_or_default(), fields.text("mime").unwrap_or_default());
                Some(Ok(Stored { path, sha256, mime }))
            }
            (None, why) => why.map(Err),
        };
        let options = (kind == "resumed").then(|| read_options(fields)).transpose()?;
        Ok(Entry { t, options, kind, line, stored })
    }

    /// The input.
    ///
    /// # Errors
    /// Its kind is unknown.
    pub fn input(&self) -> Result<Input<'_>, String> {
        Ok(match (self.kind.as_str(), &self.options) {
            ("world", _) => Input::World(&self.line),
            ("model", _) => Input::Model(&self.line),
            ("person", _) => Input::Person(&self.line),
            ("image", _) => {
                let stored = self.stored.as_ref();
                let stored = stored.map_or(Err(""), |stored| stored.as_ref().map_err(|why| &**why));
                Input::Image(&self.line, stored)
            }
            ("no_tools", _) => Input::NoTools(&self.line),
            ("unreadable", _) => Input::Unreadable(&self.line),
            ("bad_turn", _) => Input::BadTurn(&self.line),
            ("closed", _) => Input::Closed,
            ("world_ended", _) => Input::WorldEnded(&self.line),
            ("model_ended", _) => Input::ModelEnded(&self.line),
            ("due", _) => Input::Due,
            (_, Some((settings, run))) => Input::Resumed(settings, run),
            _ => return Err(NO_INPUT.to_owned()),
        })
    }
}

/// The first line of a new session.
pub fn header(settings: &AgentSettings, run: &Run) -> String {
    put_options(Object::default().text("format", FORMAT).put("version", VERSION), settings, run).line()
}

/// Whether a file without a complete line may be the start of a session.
pub fn may_begin_header(bytes: &[u8]) -> bool {
    bytes.starts_with(FILE_PREFIX) || FILE_PREFIX.starts_with(bytes)
}

/// Checks the first line of a session.
///
/// # Errors
/// The file is not a session that this version reads.
pub fn check_header(header: &Fields<'_>) -> Result<(), String> {
    if header.text("format").as_deref() != Some(FORMAT) {
        return Err(NO_SESSION.to_owned());
    }
    match header.get("version").map(RawValue::get) {
        Some(VERSION) => Ok(()),
        other => {
            Err(format!("the session has version {}; this agent-loop reads version {VERSION}", other.unwrap_or("?")))
        }
    }
}

fn put_options(entry: Object, settings: &AgentSettings, run: &Run) -> Object {
    let entry = entry.text("profile", &settings.profile.text);
    let entry = entry.put("allow", json::text(&settings.allow)).put("deny", json::text(&settings.deny));
    let entry = entry.put_some("compact_at", settings.compact_at);
    let Limits { max_steps, turn_steps, deadline, max_tokens, max_cost, repetition } = &run.limits;
    let entry = entry.put("max_steps", max_steps).put_some("turn_steps", *turn_steps);
    let entry = entry.put_some("deadline_ms", deadline.map(|deadline| deadline.as_millis()));
    let entry = entry.put_some("max_tokens", *max_tokens).put_some("max_cost", *max_cost);
    let entry = entry.put("max_repeats", repetition.repeats).put("max_unchanged", repetition.unchanged);
    entry.text_some("goal", run.goal.as_deref())
}

/// The options that a process of the session was started with, except for the ids of its records.
///
/// # Errors
/// What is missing or invalid.
pub fn read_options(fields: &Fields<'_>) -> Result<(AgentSettings, Run), String> {
    let globs = |key: &str| fields.get(key).and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default();
    let profile = Profile::read(&fields.text("profile").unwrap_or_default());
    let settings = AgentSettings {
        profile: profile.map_err(|why| format!("its profile: {why}"))?,
        ids: AgentIds::default(),
        allow: globs("allow"),
        deny: globs("deny"),
        compact_at: number(fields, "compact_at"),
    };
    let limits = Limits {
        max_steps: number(fields, "max_steps").ok_or("max_steps is missing")?,
        turn_steps: number(fields, "turn_steps"),
        deadline: number(fields, "deadline_ms").map(Duration::from_millis),
        max_tokens: number(fields, "max_tokens"),
        max_cost: number(fields, "max_cost"),
        repetition: RepetitionLimits {
            repeats: number(fields, "max_repeats").ok_or("max_repeats is missing")?,
            unchanged: number(fields, "max_unchanged").ok_or("max_unchanged is missing")?,
        },
    };
    Ok((settings, Run { limits, goal: fields.text("goal") }))
}

fn number<T: std::str::FromStr>(fields: &Fields<'_>, key: &str) -> Option<T> {
    fields.get(key)?.get().parse().ok()
}
