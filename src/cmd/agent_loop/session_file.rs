//! The session's file: every input of the loop, appended before what follows from it leaves. Because the same inputs have the same effects, a
//! session goes on by taking them again.
//!
//! ```text
//! {"format":"pipewright-session","version":1,"settings":"…"}
//! {"t":1200,"in":"person","line":{"type":"user_message","content":"…"}}
//! {"t":1500,"in":"world","line":{"type":"tool_result",…}}
//! ```

use crate::agent::profile::Profile;
use crate::agent::{Agent, Effect, Ids, Input, Limits, Run, Settings, Stored};
use crate::io::append::{Appender, OpenError};
use crate::io::report::{Failure, Report, Status};
use crate::json::{Object, quoted};
use crate::record::Fields;
use std::io::BufRead;
use std::path::Path;
use std::time::Duration;

const FORMAT: &str = "pipewright-session";
/// The beginning of a file.
const BEGIN: &str = r#"{"format":"pipewright-session""#;
const NO_SESSION: &str = "it is no session of agent-loop";

/// The file, where there is one.
#[derive(Debug)]
pub struct SessionFile {
    file: Option<Appender>,
    /// Lines that are yet to be written.
    batch: Vec<u8>,
    /// How long the session had run when it was opened.
    pub begun: Duration,
}

/// An input that was read from a file.
struct Kept {
    t: Duration,
    kind: String,
    line: String,
    stored: Option<Result<Stored, String>>,
    run: Run,
}

impl SessionFile {
    /// Opens the file, or makes it. The agent is as it was after the last input of the file; what is to be done first comes with it.
    ///
    /// # Errors
    /// [`Status::Usage`]: it is no session, or another process has it. [`Status::NotStarted`]: what the system says.
    pub fn open(
        path: Option<&Path>,
        settings: Settings,
        profile: &str,
        run: &Run,
        report: &Report,
    ) -> Result<(SessionFile, (Agent, Vec<Effect>)), Failure> {
        let header = header(&settings, profile, run);
        let mut session = SessionFile { file: None, batch: Vec::new(), begun: Duration::ZERO };
        let Some(path) = path else { return Ok((session, Agent::begin(settings, run.clone()))) };
        let refused = |why: String| Failure::new(Status::Usage, format_args!("--session: {}: {why}", path.display()));
        let opened = Appender::open(path, || replay(path, |_, _| ()).map(drop));
        let (file, torn) = opened.map_err(|error| match error {
            OpenError::Busy => refused("another agent-loop has this session".to_owned()),
            OpenError::Refused(why) => refused(why),
            OpenError::Io(error) => Failure::new(Status::NotStarted, format_args!("{}: {error}", path.display())),
        })?;
        if let Some(torn) = torn {
            let (bytes, to) = (torn.bytes, torn.moved_to.display());
            report.note(format_args!("{}: {bytes} bytes of a line that was not whole are in {to}", path.display()));
        }
        session.file = Some(file);
        let Some((mut agent, begun)) = replay(path, |_, _| ()).map_err(refused)? else {
            session.batch.extend_from_slice(header.as_bytes());
            return Ok((session, Agent::begin(settings, run.clone())));
        };
        report.note(format_args!("{}: the session goes on, with the profile that it began with", path.display()));
        agent.identify(settings.ids);
        session.begun = begun;
        session.keep(Input::Resumed(run), begun);
        let effects = agent.take(Input::Resumed(run), begun);
        Ok((session, (agent, effects)))
    }

    /// Keeps an input, until [`SessionFile::commit`] writes it.
    pub fn keep(&mut self, input: Input<'_>, t: Duration) {
        if self.file.is_none() {
            return;
        }
        let milliseconds = u64::try_from(t.as_millis()).unwrap_or(u64::MAX);
        let entry = Object::default().put("t", milliseconds);
        let (kind, value, stored) = match input {
            Input::World(text) => ("world", Some(as_json(text)), None),
            Input::Model(text) => ("model", Some(as_json(text)), None),
            Input::Person(text) => ("person", Some(as_json(text)), None),
            Input::Image(path, stored) => ("image", Some(quoted(path)), Some(stored)),
            Input::NoTools(why) => ("no_tools", Some(quoted(why)), None),
            Input::Unreadable(why) => ("unreadable", Some(quoted(why)), None),
            Input::Closed => ("closed", None, None),
            Input::WorldEnded(how) => ("world_ended", Some(quoted(how)), None),
            Input::ModelEnded(how) => ("model_ended", Some(quoted(how)), None),
            Input::Due => ("due", None, None),
            Input::Resumed(_) => ("resumed", None, None),
        };
        let entry = entry.text("in", kind).put_some("line", value);
        let entry = match stored {
            Some(Ok(stored)) => {
                entry.text("image", &stored.path).text("sha256", &stored.sha256).text("mime", &stored.mime)
            }
            Some(Err(why)) => entry.text("error", why),
            None => entry,
        };
        let entry = if let Input::Resumed(run) = input { put_run(entry, run) } else { entry };
        self.batch.extend_from_slice(entry.line().as_bytes());
    }

    /// Writes what was kept.
    ///
    /// # Errors
    /// [`Status::Fault`]: it cannot be written.
    pub fn commit(&mut self) -> Result<(), Failure> {
        let Some(file) = &mut self.file else { return Ok(()) };
        if self.batch.is_empty() {
            return Ok(());
        }
        let written = file.append(&self.batch);
        self.batch.clear();
        written
            .map_err(|error| Failure::new(Status::Fault, format_args!("--session: {}: {error}", file.path().display())))
    }
}

/// A line as JSON: itself where it is an object, else a text.
fn as_json(line: &str) -> String {
    match serde_json::from_str::<&serde_json::value::RawValue>(line) {
        Ok(value) if value.get().starts_with('{') && !line.contains(['\n', '\r']) => value.get().to_owned(),
        _ => quoted(line),
    }
}

impl Kept {
    /// `None` is no input.
    fn read(fields: &Fields<'_>) -> Option<Kept> {
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
        let t = Duration::from_millis(number(fields, "t")?);
        Some(Kept { t, kind: fields.text("in")?, line, stored, run: read_run(fields) })
    }

    fn input(&self) -> Input<'_> {
        match self.kind.as_str() {
            "world" => Input::World(&self.line),
            "model" => Input::Model(&self.line),
            "person" => Input::Person(&self.line),
            "image" => {
                let stored = self
                    .stored
                    .as_ref()
                    .map_or(Err("the file does not say"), |stored| stored.as_ref().map_err(|why| &**why));
                Input::Image(&self.line, stored)
            }
            "no_tools" => Input::NoTools(&self.line),
            "unreadable" => Input::Unreadable(&self.line),
            "closed" => Input::Closed,
            "world_ended" => Input::WorldEnded(&self.line),
            "model_ended" => Input::ModelEnded(&self.line),
            "resumed" => Input::Resumed(&self.run),
            _ => Input::Due,
        }
    }
}

/// Takes all inputs of a session again; `seen` gets each with its effects. Gives the agent as it was then, and when that was. A last line that is
/// not whole is left out; `None` is a file without a whole line.
///
/// # Errors
/// It cannot be read, or is no session: where, and why.
pub fn replay(path: &Path, mut seen: impl FnMut(Input<'_>, Vec<Effect>)) -> Result<Option<(Agent, Duration)>, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut lines = std::io::BufReader::new(file);
    let mut line = String::new();
    let mut number = 0u64;
    let (mut agent, mut last) = (None, Duration::ZERO);
    loop {
        line.clear();
        lines.read_line(&mut line).map_err(|error| error.to_string())?;
        let Some(whole) = line.strip_suffix('\n') else { break };
        number += 1;
        let wrong = |why: String| format!("line {number}: {why}");
        let fields = Fields::read(whole).map_err(|why| wrong(why.to_string()))?;
        match &mut agent {
            None => agent = Some(begin(&fields)?),
            Some(agent) => {
                let kept = Kept::read(&fields).ok_or_else(|| wrong("it is no input of a session".to_owned()))?;
                last = kept.t;
                let effects = agent.take(kept.input(), kept.t);
                seen(kept.input(), effects);
            }
        }
    }
    // A process may have been killed before it had written the first line.
    let is_begun = |line: &str| line.starts_with(BEGIN) || BEGIN.starts_with(line);
    match agent {
        None if !is_begun(&line) => Err(NO_SESSION.to_owned()),
        agent => Ok(agent.map(|agent| (agent, last))),
    }
}

/// The first line of a new session.
fn header(settings: &Settings, profile: &str, run: &Run) -> String {
    let list = |globs: &[String]| serde_json::to_string(globs).unwrap_or_default();
    let header = Object::default().text("format", FORMAT).put("version", 1).text("profile", profile);
    let header = header.put("allow", list(&settings.allow)).put("deny", list(&settings.deny));
    put_run(header.put_some("compact_at", settings.compact_at), run).line()
}

/// The agent of a session with this first line.
fn begin(header: &Fields<'_>) -> Result<Agent, String> {
    if header.text("format").as_deref() != Some(FORMAT) {
        return Err(NO_SESSION.to_owned());
    }
    if header.get("version").is_none_or(|version| version.get() != "1") {
        return Err("it is of a later version".to_owned());
    }
    let globs = |key: &str| header.get(key).and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default();
    let settings = Settings {
        profile: Profile::read(&header.text("profile").unwrap_or_default())?,
        ids: Ids::default(),
        allow: globs("allow"),
        deny: globs("deny"),
        compact_at: number(header, "compact_at"),
    };
    Ok(Agent::begin(settings, read_run(header)).0)
}

fn put_run(entry: Object, run: &Run) -> Object {
    let Limits { max_steps, turn_steps, deadline, max_tokens, max_cost } = &run.limits;
    let entry = entry.put("max_steps", max_steps).put_some("turn_steps", *turn_steps);
    let entry = entry.put_some("deadline_ms", deadline.map(|deadline| deadline.as_millis()));
    entry.put_some("max_tokens", *max_tokens).put_some("max_cost", *max_cost).put("one_goal", run.is_one_goal)
}

fn read_run(fields: &Fields<'_>) -> Run {
    let limits = Limits {
        max_steps: number(fields, "max_steps").unwrap_or_default(),
        turn_steps: number(fields, "turn_steps"),
        deadline: number(fields, "deadline_ms").map(Duration::from_millis),
        max_tokens: number(fields, "max_tokens"),
        max_cost: number(fields, "max_cost"),
    };
    Run { limits, is_one_goal: fields.get("one_goal").is_some_and(|value| value.get() == "true") }
}

fn number<T: std::str::FromStr>(fields: &Fields<'_>, key: &str) -> Option<T> {
    fields.get(key)?.get().parse().ok()
}
