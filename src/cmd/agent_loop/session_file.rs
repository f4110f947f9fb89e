//! The session's file: every input of the loop, appended before its effects are sent. The same inputs always have the
//! same effects, so a session is continued by applying its inputs again.

use super::entry::{self, Entry, NO_SESSION, header, line, read_options};
use crate::cmd::usage;
use pipewright_agent::{Agent, AgentSettings, Effect, Input, Run};
use pipewright_io::append::{Appender, OpenError};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_record::Fields;
use pipewright_sys::{file, regular};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

/// The file, if there is one.
#[derive(Debug)]
pub struct SessionFile {
    file: Option<Appender>,
    /// Lines that are not written yet.
    batch: Vec<u8>,
    /// The session's age when it was opened.
    pub begun: Duration,
}

impl SessionFile {
    /// Opens or creates the file. The agent gets the state after the file's last input; the effects that are still due
    /// are returned with it.
    ///
    /// # Errors
    /// [`usage`]: the file is not a session, or another process has it open. [`Status::NotStarted`]: the system's error.
    pub fn open(
        path: Option<&Path>,
        settings: AgentSettings,
        run: &Run,
        report: &Report,
    ) -> Result<(SessionFile, (Agent, Vec<Effect>)), Failure> {
        let mut session = SessionFile { file: None, batch: Vec::new(), begun: Duration::ZERO };
        let Some(path) = path else { return Ok((session, Agent::begin(settings, run.clone()))) };
        let refused = |why: String| usage(format_args!("--session: {}: {why}", path.display()));
        if file::is_special(path) {
            return Err(refused("not a regular file".to_owned()));
        }
        let opened = Appender::open(path, || replay(path, |_, _, _| ()).map(drop));
        let (file, torn) = opened.map_err(|error| match error {
            OpenError::Busy => refused("another agent-loop has this session open".to_owned()),
            OpenError::Refused(why) => refused(why),
            OpenError::Io(error) => Failure::new(Status::NotStarted, format_args!("{}: {error}", path.display())),
        })?;
        if let Some(torn) = torn {
            let (bytes, to) = (torn.bytes, torn.moved_to.display());
            report.note(format_args!("{}: moved {bytes} bytes of an incomplete last line to {to}", path.display()));
        }
        session.file = Some(file);
        let Some((mut agent, begun)) = replay(path, |_, _, _| ()).map_err(refused)? else {
            session.batch.extend_from_slice(header(&settings, run).as_bytes());
            return Ok((session, Agent::begin(settings, run.clone())));
        };
        report.note(format_args!("{}: continuing the session", path.display()));
        session.begun = begun;
        let input = Input::Resumed(&settings, run);
        session.keep(input, begun);
        let effects = agent.take(input, begun);
        Ok((session, (agent, effects)))
    }

    /// The file's path; `None` without a session file.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(Appender::path)
    }

    /// Queues an input for [`SessionFile::commit`].
    pub fn keep(&mut self, input: Input<'_>, t: Duration) {
        if self.file.is_some() {
            self.batch.extend_from_slice(line(input, t).as_bytes());
        }
    }

    /// Writes the queued inputs.
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

/// An event of a session, as shown to a person.
#[derive(Debug)]
pub enum Happened {
    /// A new process continued it.
    Resumed,
    /// The person sent this message.
    Message(String),
    /// A record was reported. The exit status is set for a record that ends a goal, whose own `exit_status` is not set
    /// yet.
    Record(String, Option<u8>),
}

/// Passes all events of a session to `seen`; false if there are none.
pub fn history(path: &Path, mut seen: impl FnMut(Happened)) -> Result<bool, String> {
    let mut goal = None;
    let read = replay(path, |input, run, effects| {
        if let Some(Input::Resumed(..)) = input {
            seen(Happened::Resumed);
        }
        if goal != run.goal {
            goal.clone_from(&run.goal);
            run.goal.iter().for_each(|goal| seen(Happened::Message(goal.clone())));
        }
        if let Some(Input::Person(line)) = input
            && let Ok(fields) = Fields::read(line)
            && fields.text("type").as_deref() == Some("user_message")
        {
            fields.text("content").into_iter().for_each(|content| seen(Happened::Message(content)));
        }
        for effect in effects {
            match effect {
                Effect::Session(record) => seen(Happened::Record(record, None)),
                Effect::Final(record, status) => seen(Happened::Record(record, Some(status))),
                _ => {}
            }
        }
    })?;
    Ok(read.is_some())
}

/// Applies all inputs of a session again. `seen` gets each input (`None` for the start), the process's options, and the
/// effects. Gives the agent in its last state, and the time of the last input. An incomplete last line is ignored.
/// `None` if the file has no complete line.
///
/// # Errors
/// The file cannot be read, or is not a session: where, and why.
pub fn replay(
    path: &Path,
    mut seen: impl FnMut(Option<Input<'_>>, &Run, Vec<Effect>),
) -> Result<Option<(Agent, Duration)>, String> {
    let mut lines = BufReader::new(regular::open(path).map_err(|error| error.to_string())?);
    let mut bytes = Vec::new();
    let mut number = 0u64;
    let mut last = Duration::ZERO;
    let mut begun: Option<(Agent, Run)> = None;
    loop {
        bytes.clear();
        lines.read_until(b'\n', &mut bytes).map_err(|error| error.to_string())?;
        let Some(whole) = bytes.strip_suffix(b"\n") else { break };
        number += 1;
        let wrong = |why: String| format!("line {number}: {why}");
        let whole = std::str::from_utf8(whole).map_err(|_| wrong("not UTF-8".to_owned()))?;
        let fields = Fields::read(whole).map_err(|why| wrong(why.to_string()))?;
        match &mut begun {
            None => {
                entry::check_header(&fields)?;
                let (settings, run) = read_options(&fields).map_err(wrong)?;
                let (agent, effects) = Agent::begin(settings, run.clone());
                seen(None, &run, effects);
                begun = Some((agent, run));
            }
            Some((agent, run)) => {
                let entry = Entry::read(&fields).map_err(wrong)?;
                last = entry.t;
                if let Some((_, own)) = &entry.options {
                    run.clone_from(own);
                }
                let input = entry.input().map_err(wrong)?;
                let effects = agent.take(input, entry.t);
                seen(Some(input), run, effects);
            }
        }
    }
    match begun {
        // A process may have been killed before it wrote the complete first line.
        None if !entry::may_begin_header(&bytes) => Err(NO_SESSION.to_owned()),
        begun => Ok(begun.map(|(agent, _)| (agent, last))),
    }
}
