//! The sessions of clients, each with its agent: how an agent starts, shows the history of its session, takes records,
//! and ends.

use super::agents::{Agents, MAX_RECORD};
use super::approver::gates::Gates;
use super::options::TOO_DEEP;
use pipewright_clients::approvals::QueueChange;
use pipewright_io::report::{Failure, Report};
use pipewright_io::stage::{Event, Out, Side};
use pipewright_lines::{Piece, deeper_than};
use pipewright_record::{Fields, History, Record};
use pipewright_sys::process::describe;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an agent may take to show the history of a session.
const LOAD: Duration = Duration::from_secs(60);

/// How long an agent may run after it has closed its stdout.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// An agent gets no further message while more than this many bytes wait for it to read them.
const MAX_UNREAD: u64 = 1 << 20;

/// The state of an agent.
#[derive(Debug, PartialEq, Eq)]
pub enum State {
    /// Starting; if true, it shows the session's history first.
    Starting(bool),
    /// Showing the session's history.
    Loading {
        /// When it must have shown all of it.
        by: Instant,
    },
    /// Running: it takes records.
    Running,
    /// The agent has closed its stdout.
    Ending {
        /// When it must have ended.
        by: Instant,
    },
    /// Why the agent has ended, for people.
    Ended(String),
}

/// The agent of a session, over all its starts.
#[derive(Debug)]
pub struct Agent {
    /// The session's id.
    pub id: String,
    pub state: State,
    /// Records for it that came before it could take them.
    unsent: Vec<String>,
}

impl Agent {
    /// The agent of the session `id`.
    pub fn new(id: &str, state: State) -> Agent {
        Agent { id: id.to_owned(), state, unsent: Vec::new() }
    }

    /// Whether it takes records, now or soon.
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, State::Ending { .. } | State::Ended(_))
    }

    /// Keeps a record until it runs; false if too many wait already.
    pub fn keep(&mut self, record: &str) -> bool {
        let has_room = self.unsent.iter().map(String::len).sum::<usize>() as u64 <= MAX_UNREAD;
        if has_room {
            self.unsent.push(record.to_owned());
        }
        has_room
    }

    /// Forgets the records that it has not got; gives whether there were any.
    pub fn drop_unsent(&mut self) -> bool {
        !std::mem::take(&mut self.unsent).is_empty()
    }

    fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Loading { by } | State::Ending { by } => Some(by),
            _ => None,
        }
    }
}

/// What has happened to a session.
pub enum SessionNews<'a> {
    /// A record of its history.
    History(&'a str),
    /// Its agent takes records from now on.
    Running {
        /// Whether the history has been shown before.
        has_loaded: bool,
        /// The kept records, which the agent gets now.
        given: Vec<String>,
    },
    /// A record of its agent.
    Record(&'a str, Fields<'a>),
    /// Its agent has ended, or could not be started: why, for people.
    Ended { is_well: bool, why: String },
    /// A gate below its agent asks, or takes back a question.
    Gate(QueueChange),
}

/// The sessions, by the number of the agent's far side.
pub struct Sessions<S> {
    pub agents: Agents,
    pub gates: Gates,
    pub by_number: BTreeMap<usize, S>,
    /// The number of the next agent.
    next: usize,
    max_depth: usize,
    report: Arc<Report>,
}

impl<S: AsRef<Agent> + AsMut<Agent>> Sessions<S> {
    /// No session yet. `first` is the number of the first far side that is added; `max_depth` bounds the lines of
    /// agents.
    pub fn new(agents: Agents, gates: Gates, first: usize, max_depth: usize, report: Arc<Report>) -> Sessions<S> {
        Sessions { agents, gates, by_number: BTreeMap::new(), next: first, max_depth, report }
    }

    /// The session of this number.
    pub fn get(&self, number: usize) -> Option<&S> {
        self.by_number.get(&number)
    }

    /// As [`Sessions::get`].
    pub fn get_mut(&mut self, number: usize) -> Option<&mut S> {
        self.by_number.get_mut(&number)
    }

    /// The number of a session that fits.
    pub fn find(&self, is_meant: impl Fn(&S) -> bool) -> Option<usize> {
        self.by_number.iter().find(|(_, session)| is_meant(session)).map(|(&number, _)| number)
    }

    /// The number of the session with this id.
    pub fn number(&self, id: &str) -> Option<usize> {
        self.find(|session| session.as_ref().id == id)
    }

    /// Starts the agent of a new session in `folder`, with a history if it has one; `session` makes the session. Gives
    /// its number.
    ///
    /// # Errors
    /// If the socket for the session's gates cannot be created.
    pub fn start(
        &mut self,
        id: &str,
        folder: Option<PathBuf>,
        shows_history: bool,
        session: impl FnOnce(Agent) -> S,
        out: &mut Out,
    ) -> io::Result<usize> {
        let number = self.next;
        let program = self.agents.program(number, id, folder)?;
        // Far sides are numbered in the order in which they are added, and so are sessions.
        self.next = out.add_far(program) + 1;
        self.by_number.insert(number, session(Agent::new(id, State::Starting(shows_history))));
        Ok(number)
    }

    /// Starts the agent of a session again, whose records are shown already.
    pub fn restart(&mut self, number: usize, out: &mut Out) {
        if let Some(agent) = self.agent(number) {
            agent.state = State::Starting(false);
            out.respawn(number);
        }
    }

    /// Removes a session, and ends its agent.
    pub fn forget(&mut self, number: usize, out: &mut Out) -> Option<S> {
        let session = self.by_number.remove(&number)?;
        self.gates.close(number, out);
        self.agents.forget(number);
        out.remove_far(number);
        Some(session)
    }

    /// Sends a record to an agent that runs.
    pub fn send(&self, number: usize, record: &str, out: &mut Out) {
        out.add_line(Side::Far(number), record);
    }

    /// Whether an agent has not read what was sent to it before.
    pub fn is_behind(&self, number: usize, out: &Out) -> bool {
        let agent = Side::Far(number);
        out.sent(agent).saturating_sub(out.written(agent)) > MAX_UNREAD
    }

    /// Takes an event about an agent or a gate. Gives the number of the session, and what has happened to it.
    pub fn take<'a>(&mut self, event: Event<'a>, out: &mut Out) -> Option<(usize, SessionNews<'a>)> {
        match event {
            Event::Started(number) => self.take_start(number, out),
            Event::Piece(Side::Far(number), piece) => self.take_piece(number, &piece, out),
            Event::Closed(Side::Far(number)) => {
                if let Some(agent) = self.agent(number).filter(|agent| agent.is_alive()) {
                    agent.state = State::Ending { by: Instant::now() + EXIT_TIMEOUT };
                }
                None
            }
            Event::Exited(number, status) => {
                let hint = if status.success() { "" } else { "; see its stderr for the reason" };
                self.end(number, status.success(), format!("the agent ended: {}{hint}", describe(status)))
            }
            event => self.gates.take(event, out).map(|(number, change)| (number, SessionNews::Gate(change))),
        }
    }

    /// An agent whose time limit is over has been ended: its session and the news. To be called until it gives none.
    pub fn take_overdue(&mut self, out: &mut Out) -> Option<(usize, SessionNews<'static>)> {
        let now = Instant::now();
        let number = self.find(|session| session.as_ref().deadline().is_some_and(|by| by <= now))?;
        let why = match self.agent(number)?.state {
            State::Loading { .. } => "the agent did not show the session's history in time",
            _ => "the agent closed its stdout",
        };
        out.end_far(number);
        self.end(number, false, why.to_owned())
    }

    /// When the next time limit of an agent is over.
    pub fn deadline(&self) -> Option<Instant> {
        self.by_number.values().filter_map(|session| session.as_ref().deadline()).min()
    }

    /// The agent of a session could not be started.
    pub fn not_started(&mut self, number: usize, failure: &Failure) -> Option<(usize, SessionNews<'static>)> {
        self.end(number, false, format!("the agent could not be started: {failure}"))
    }

    fn end(&mut self, number: usize, is_well: bool, why: String) -> Option<(usize, SessionNews<'static>)> {
        let agent = self.agent(number).filter(|agent| !matches!(agent.state, State::Ended(_)))?;
        agent.state = State::Ended(why.clone());
        agent.unsent.clear();
        Some((number, SessionNews::Ended { is_well, why }))
    }

    fn agent(&mut self, number: usize) -> Option<&mut Agent> {
        self.get_mut(number).map(AsMut::as_mut)
    }

    fn take_start(&mut self, number: usize, out: &mut Out) -> Option<(usize, SessionNews<'static>)> {
        let agent = self.agent(number)?;
        match agent.state {
            State::Starting(true) => {
                agent.state = State::Loading { by: Instant::now() + LOAD };
                self.send(number, &History::REQUEST.json(), out);
                None
            }
            State::Starting(false) => self.run(number, false, out),
            _ => None,
        }
    }

    fn run(&mut self, number: usize, has_loaded: bool, out: &mut Out) -> Option<(usize, SessionNews<'static>)> {
        let agent = self.agent(number)?;
        agent.state = State::Running;
        let given = std::mem::take(&mut agent.unsent);
        given.iter().for_each(|record| self.send(number, record, out));
        Some((number, SessionNews::Running { has_loaded, given }))
    }

    fn take_piece<'a>(&mut self, number: usize, piece: &Piece<'a>, out: &mut Out) -> Option<(usize, SessionNews<'a>)> {
        let agent = self.get(number)?.as_ref();
        let (text, fields) = match read(piece, self.max_depth) {
            Ok(read) => read?,
            Err(why) => {
                let place = format_args!("agent of session {}:{}", agent.id, piece.number());
                self.report.fault(place, format_args!("{why}; skipped"));
                return None;
            }
        };
        if !matches!(agent.state, State::Loading { .. }) {
            return Some((number, SessionNews::Record(text, fields)));
        }
        // Records outside the history are repeated in it.
        if fields.text("type").as_deref() != Some("history") {
            return None;
        }
        match fields.get("record") {
            Some(record) => Some((number, SessionNews::History(record.get()))),
            None => self.run(number, true, out),
        }
    }
}

/// The record on a line of an agent; `None` if there is nothing to read.
///
/// # Errors
/// Why the line cannot be read.
fn read<'a>(piece: &Piece<'a>, max_depth: usize) -> Result<Option<(&'a str, Fields<'a>)>, String> {
    let line = match piece {
        Piece::Part { last: false, .. } => return Ok(None),
        Piece::Part { .. } => return Err(format!("longer than {} MiB", MAX_RECORD >> 20)),
        Piece::Line(line) if line.is_blank() => return Ok(None),
        Piece::Line(line) if deeper_than(line.body(), max_depth) => return Err(TOO_DEEP.to_owned()),
        Piece::Line(line) => line.body(),
    };
    let text = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    Fields::read(text).map(|fields| Some((text, fields))).map_err(|why| why.to_string())
}
