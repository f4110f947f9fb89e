//! The session's file: every input of the loop, appended before what follows from it leaves. Because the same inputs have the same effects, a
//! session goes on by taking them again.

use super::entry::{self, Entry, NO_SESSION, header, line, read_options};
use crate::agent::{Agent, Effect, Input, Run, Settings};
use crate::io::append::{Appender, OpenError};
use crate::io::regular;
use crate::io::report::{Failure, Report, Status};
use crate::record::Fields;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

/// The file, where there is one.
#[derive(Debug)]
pub struct SessionFile {
    file: Option<Appender>,
    /// Lines that are yet to be written.
    batch: Vec<u8>,
    /// How long the session had run when it was opened.
    pub begun: Duration,
}

impl SessionFile {
    /// Opens the file, or makes it. The agent is as it was after the last input of the file; what is to be done first comes with it.
    ///
    /// # Errors
    /// [`Status::Usage`]: it is no session, or another process has it. [`Status::NotStarted`]: what the system says.
    pub fn open(
        path: Option<&Path>,
        settings: Settings,
        run: &Run,
        report: &Report,
    ) -> Result<(SessionFile, (Agent, Vec<Effect>)), Failure> {
        let mut session = SessionFile { file: None, batch: Vec::new(), begun: Duration::ZERO };
        let Some(path) = path else { return Ok((session, Agent::begin(settings, run.clone()))) };
        let refused = |why: String| Failure::new(Status::Usage, format_args!("--session: {}: {why}", path.display()));
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(refused("it is no regular file".to_owned()));
        }
        let opened = Appender::open(path, || replay(path, |_, _, _| ()).map(drop));
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
        let Some((mut agent, begun)) = replay(path, |_, _, _| ()).map_err(refused)? else {
            session.batch.extend_from_slice(header(&settings, run).as_bytes());
            return Ok((session, Agent::begin(settings, run.clone())));
        };
        report.note(format_args!("{}: the session goes on", path.display()));
        session.begun = begun;
        let input = Input::Resumed(&settings, run);
        session.keep(input, begun);
        let effects = agent.take(input, begun);
        Ok((session, (agent, effects)))
    }

    /// Where it is; `None` where the session is not kept.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(Appender::path)
    }

    /// Keeps an input, until [`SessionFile::commit`] writes it.
    pub fn keep(&mut self, input: Input<'_>, t: Duration) {
        if self.file.is_some() {
            self.batch.extend_from_slice(line(input, t).as_bytes());
        }
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

/// What has happened in a session, as the person has seen it.
#[derive(Debug)]
pub enum Happened {
    /// A new process went on with it.
    Resumed,
    /// The person has said this.
    Message(String),
    /// This record was reported; one that ends a goal has no `exit_status` yet, which comes with it.
    Record(String, Option<u8>),
}

/// Gives all that has happened in a session to `seen`; false where nothing has.
///
/// # Errors
/// As [`replay`].
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

/// Takes all inputs of a session again; `seen` gets each, but `None` for the beginning, with what the process is to do and the effects. Gives the agent as it was then, and when that was. A last
/// line that is not whole is left out; `None` is a file without a whole line.
///
/// # Errors
/// It cannot be read, or is no session: where, and why.
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
                let effects = agent.take(entry.input(), entry.t);
                seen(Some(entry.input()), run, effects);
            }
        }
    }
    match begun {
        // A process may have been killed before it had written the first line.
        None if !entry::may_begin_header(&bytes) => Err(NO_SESSION.to_owned()),
        begun => Ok(begun.map(|(agent, _)| (agent, last))),
    }
}
