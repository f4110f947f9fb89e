//! The stage: calls from the near side become the server's, its results go back.

use super::connection::Connection;
use super::media::Media;
use super::questions::Questions;
use super::results::{lost, unanswered};
use super::server::{Cause, Loss};
use crate::cmd::events::Events;
use crate::cmd::filter::Filter;
use crate::cmd::queue::Queue;
use crate::io::lines::{Piece, TOO_LONG, text};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::mcp::{Era, Names};
use crate::record::{Kind, Unreadable, looks_like_json_rpc};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that was told that nothing more comes may take so long to end by itself.
const PARTING: Duration = Duration::from_secs(3);
const LATE: &str = "the server has not answered in time (--timeout)";

/// How calls are carried out.
pub struct Settings {
    /// How long one may take; none is for ever.
    pub timeout: Option<Duration>,
    /// When all must be done.
    pub deadline: Option<Instant>,
    /// How many the server works on at once.
    pub in_flight: usize,
    /// Whether answers leave in the order in which they come.
    pub unordered: bool,
    /// Whether arguments are checked against the tool's schema.
    pub check: bool,
    pub names: Names,
    /// How a server that reports errors in what its tools give does so.
    pub status_from: Option<Filter>,
    /// Print that and end.
    pub list: Option<Listing>,
    /// What the server says on stderr is shown.
    pub verbose: bool,
    pub max_depth: usize,
    /// Whether the server may ask whoever there is, and how long that may take; none is for ever.
    pub interactive: Option<Option<Duration>>,
}

/// What of the server's can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    Tools,
    Resources,
}

/// A call that the server works on.
pub(super) struct Flying {
    /// How long it may take, and until when; without a limit, `None`.
    pub(super) timeout: Option<Duration>,
    pub(super) until: Option<Instant>,
    /// Whether it may be sent again where the server is lost.
    pub(super) is_repeatable: bool,
    /// A call of the set-up: nobody waits for it.
    pub(super) is_setup: bool,
    /// How often it has asked for something.
    pub(super) rounds: u32,
}

/// Why there is no server any more, and until when those who call are told.
pub(super) struct Over {
    pub(super) loss: Loss,
    pub(super) kind: Kind,
    pub(super) failure: (Status, String),
    /// How long a pause between two calls ends it.
    pub(super) patience: Duration,
    pub(super) until: Instant,
    /// When it ends in any case.
    pub(super) latest: Instant,
    /// Calls were made that nobody answers for that.
    pub(super) was_needed: bool,
}

pub struct Pipe {
    pub(super) connections: Vec<Connection>,
    pub(super) settings: Settings,
    pub(super) queue: Queue,
    pub(super) media: Option<Media>,
    pub(super) events: Option<Events>,
    pub(super) report: Arc<Report>,
    pub(super) near_ended: bool,
    /// The beginning of an over-long line of the near side's looks like JSON-RPC.
    near_is_json_rpc: bool,
    pub(super) questions: Questions,
}

impl Pipe {
    pub fn new(
        connections: Vec<Connection>,
        settings: Settings,
        media: Option<Media>,
        events: Option<Events>,
        report: Arc<Report>,
    ) -> Pipe {
        let questions = Questions::new(settings.interactive.flatten());
        let near_ended = settings.list.is_some();
        let (queue, near_is_json_rpc) = (Queue::default(), false);
        Pipe { connections, settings, queue, media, events, report, near_ended, near_is_json_rpc, questions }
    }

    pub(super) fn drain(&mut self, out: &mut Out) {
        let to = out.to(Side::Near);
        if self.settings.unordered { self.queue.drain_any(to) } else { self.queue.drain(to) }
    }

    /// Answers each call that has none yet.
    fn answer_all(&mut self, kind: Kind, why: &str, out: &mut Out) {
        let Pipe { queue, connections, .. } = self;
        queue.answer_all(
            |_| true,
            |waiting| unanswered(waiting, kind, why, None, connections[waiting.place].server.epoch),
        );
        self.drain(out);
    }

    /// What is late is answered, and what has to be done at its time is.
    fn due(&mut self, out: &mut Out) -> Result<(), Failure> {
        let now = Instant::now();
        if self.settings.deadline.is_some_and(|deadline| deadline <= now) {
            let why = "the time for all calls is over (--deadline)";
            self.answer_all(Kind::Timeout, why, out);
            return Err(Failure::new(Status::Deadline, why));
        }
        self.cancel_late_questions(now, out);
        for at in 0..self.connections.len() {
            out.choose_far(at);
            self.due_at(at, now, out)?;
        }
        Ok(())
    }

    fn due_at(&mut self, at: usize, now: Instant, out: &mut Out) -> Result<(), Failure> {
        if self.connections[at].is_over() {
            return Ok(());
        }
        if self.connections[at].parting.is_some_and(|parting| parting <= now) {
            self.connections[at].has_left = true;
            return Ok(());
        }
        if out.far_waits() || self.questions.are_of(at) {
            // It may have answered, and who reads us hasn't let us hear that yet; or it waits for an answer itself.
            self.wait_anew(at);
        }
        self.give_up_list(at, now);
        self.give_up_late_calls(at, now, out)?;
        if self.connections[at].server.is_to_restart() {
            out.respawn();
        } else if let Some(loss) = self.connections[at].server.overdue() {
            self.lose(at, &loss, out)?;
        }
        self.probe(at, out)
    }

    /// What the server hasn't said yet isn't late for its own fault.
    pub(super) fn wait_anew(&mut self, at: usize) {
        let now = Instant::now();
        for flying in self.connections[at].flying.values_mut().filter(|flying| flying.until.is_some()) {
            flying.until = flying.timeout.map(|timeout| now + timeout);
        }
        self.connections[at].server.wait_anew();
    }

    fn give_up_late_calls(&mut self, at: usize, now: Instant, out: &mut Out) -> Result<(), Failure> {
        let late = |flying: &Flying| flying.until.is_some_and(|until| until <= now);
        let ids: Vec<u64> =
            self.connections[at].flying.iter().filter(|(_, flying)| late(flying)).map(|(id, _)| *id).collect();
        for id in &ids {
            self.connections[at].server.client.cancel(*id, "timeout", out.to(Side::Far));
            self.report.fail();
            if self.connections[at].flying.remove(id).is_some_and(|flying| flying.is_setup) {
                self.fail_setup(at, LATE);
            }
            self.questions.forget_call((at, *id));
            let (epoch, unreadable) = (self.connections[at].server.epoch, &self.connections[at].unreadable);
            self.queue.answer((at, *id), |waiting| {
                let came_since = |at: &Instant| waiting.sent_at.is_some_and(|sent_at| sent_at <= *at);
                let reply = unreadable.as_ref().filter(|(at, _)| came_since(at));
                let reply = reply.map_or(String::new(), |(_, why)| format!("; it has sent a line that is {why}"));
                unanswered(waiting, Kind::Timeout, &format!("{LATE}{reply}"), None, epoch)
            });
        }
        if ids.is_empty() { Ok(()) } else { self.suspect(at, out) }
    }

    /// What follows from every event.
    fn go_on(&mut self, out: &mut Out) -> Result<(), Failure> {
        if !self.questions.is_empty() {
            if self.near_ended {
                self.cancel_questions("nobody answers: stdin has ended", out);
            } else if self.queue.is_full() {
                // An answer would stand behind what can't be read yet.
                self.cancel_questions("nobody has answered before a thousand more lines", out);
            }
        }
        self.refuse_what_is_over();
        if self.settings.list == Some(Listing::Tools) {
            self.list_tools(out);
        }
        (0..self.connections.len()).for_each(|at| self.watch_list(at));
        self.send(out);
        (0..self.connections.len()).for_each(|at| self.watch(at));
        self.drain(out);
        out.hold_near(self.queue.is_full());
        self.end(out)
    }

    /// Answers the calls of servers that are gone for good.
    fn refuse_what_is_over(&mut self) {
        let Pipe { queue, connections, report, .. } = self;
        for (at, connection) in connections.iter_mut().enumerate() {
            let Some(Over { loss, kind, was_needed, .. }) = &mut connection.over else { continue };
            let epoch = connection.server.epoch;
            if queue.answer_all(|waiting| waiting.place == at, |waiting| lost(waiting, *kind, loss, epoch)) {
                *was_needed = true;
                report.fail();
            }
        }
    }

    /// Ends what nobody has any use of: each server where all is answered, and the run where no server is left.
    fn end(&mut self, out: &mut Out) -> Result<(), Failure> {
        let (now, is_one_of_several) = (Instant::now(), self.connections.len() > 1);
        let all_over = self.connections.iter().all(|it| it.over.as_ref().is_some_and(|over| over.until <= now));
        let wants_listing =
            self.connections.iter().any(|it| self.settings.list.is_some() && !it.has_listed && !it.is_over());
        let is_done = self.near_ended
            && self.queue.is_empty()
            && !wants_listing
            && self.connections.iter().all(|connection| connection.flying.is_empty());
        for (at, connection) in self.connections.iter_mut().enumerate().filter(|(_, it)| is_done && !it.is_over()) {
            // Nobody would ask the next one anything; of several, one that was asked nothing isn't waited for.
            if connection.server.is_lost() || (is_one_of_several && !connection.server.client.is_ready()) {
                connection.has_left = true;
            } else if connection.parting.is_none() && connection.server.client.is_ready() {
                connection.parting = Some(now + PARTING);
                out.choose_far(at);
                out.close_far();
            }
        }
        let has_ended = is_done && self.connections.iter().all(Connection::is_over);
        if !has_ended && !all_over {
            return Ok(());
        }
        let mut over = self.connections.iter_mut().filter_map(|connection| connection.over.take());
        match over.find(|over| over.was_needed || !is_one_of_several) {
            Some(Over { failure: (status, why), .. }) => Err(Failure::new(status, why)),
            None => {
                out.stop(self.report.finish());
                Ok(())
            }
        }
    }
}

impl Stage for Pipe {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        let at = out.far();
        match event {
            Event::Started => self.connections[at].server.greet(out.to(Side::Far)),
            Event::Piece(Side::Near, Piece::Line(line)) => {
                for over in self.connections.iter_mut().filter_map(|connection| connection.over.as_mut()) {
                    over.until = (Instant::now() + over.patience).min(over.latest);
                }
                self.take(&line, out);
            }
            Event::Piece(Side::Near, Piece::Part { bytes, last, number }) => {
                self.near_is_json_rpc |= looks_like_json_rpc(bytes);
                if last {
                    let is_json_rpc = std::mem::take(&mut self.near_is_json_rpc);
                    let error = Unreadable::new(TOO_LONG).in_json_rpc(is_json_rpc);
                    self.refuse_line(number, Kind::TooLarge, &error);
                }
            }
            Event::Piece(Side::Far, Piece::Line(line)) => self.hear(at, &line, out)?,
            Event::Piece(Side::Far, Piece::Part { bytes, last, .. }) => self.hear_part(at, bytes, last, out)?,
            Event::Piece(Side::FarError, piece) => {
                self.connections[at].server.print(piece.raw());
                if self.settings.verbose {
                    out.pass(Side::FarError, &piece);
                }
                self.show(at, "stderr", &json!(text(piece.raw()).trim_end()).to_string(), out);
            }
            Event::Piece(..) => {}
            Event::Closed(Side::Near) => self.near_ended = true,
            Event::Closed(Side::Far) | Event::Broken(Side::Far, _) => self.connections[at].server.closed(),
            Event::Exited(status) => {
                let loss = self.connections[at].server.exited(status);
                self.lose(at, &loss, out)?;
            }
            Event::Due => self.due(out)?,
            Event::Signal(_) => self.answer_all(Kind::Cancelled, "mcp-pipe was interrupted", out),
            Event::Broken(..) | Event::Closed(_) | Event::Reopen => {}
        }
        self.go_on(out)
    }

    fn not_started(&mut self, failure: Failure, out: &mut Out) -> Result<(), Failure> {
        let at = out.far();
        let loss = self.connections[at].server.loss(failure.to_string(), Cause::NoProgram);
        self.lose(at, &loss, out)?;
        self.go_on(out)
    }

    fn deadline(&self) -> Option<Instant> {
        let others = [self.questions.deadline(), self.settings.deadline];
        // What ends the run where no server is left.
        let over = self.connections.iter().map(|connection| connection.over.as_ref().map(|over| over.until));
        let end = if over.clone().all(|until| until.is_some()) { over.max().flatten() } else { None };
        self.connections.iter().map(Connection::deadline).chain(others).chain([end]).flatten().min()
    }
}

/// The eras by the names that `--protocol` takes.
pub fn era(text: &str) -> Result<Era, String> {
    [Era::Legacy, Era::Modern]
        .into_iter()
        .find(|era| era.version() == text)
        .ok_or_else(|| format!("{} or {}", Era::Legacy.version(), Era::Modern.version()))
}
