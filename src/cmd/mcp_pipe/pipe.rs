//! The stage: calls from the near side become the server's, its results go back.

use super::health::Health;
use super::media::Media;
use super::overlong::Overlong;
use super::questions::Questions;
use super::results::{lost, unanswered};
use super::schemas::Schemas;
use super::server::{Cause, Loss, Server};
use crate::cmd::events::Events;
use crate::cmd::filter::Filter;
use crate::cmd::queue::Queue;
use crate::io::lines::{Piece, TOO_LONG, text};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::mcp::{Era, Names};
use crate::record::{Kind, Unreadable};
use serde_json::json;
use std::collections::HashMap;
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
    /// Calls that are made first, each time the server is started.
    pub setup: Vec<String>,
    /// How long a server idles before it is asked whether it is there; never, where there is none.
    pub probe: Option<Duration>,
    /// After how many requests in a row without an answer a server is started again; 0 is never.
    pub restart_after: u32,
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
}

pub struct Pipe {
    pub(super) server: Server,
    pub(super) settings: Settings,
    pub(super) queue: Queue,
    pub(super) flying: HashMap<u64, Flying>,
    pub(super) schemas: Schemas,
    pub(super) media: Option<Media>,
    /// When the list that the server was asked for must be there.
    pub(super) list_by: Option<Instant>,
    /// How much of the set-up has been sent to the server that runs.
    pub(super) set_up: usize,
    pub(super) events: Option<Events>,
    pub(super) report: Arc<Report>,
    pub(super) near_ended: bool,
    /// There is no server any more.
    pub(super) over: Option<Over>,
    /// Nothing more is asked of the server, which may end by itself until then.
    pub(super) parting: Option<Instant>,
    /// A line of the server's that is too long goes on.
    pub(super) overlong: Overlong,
    pub(super) questions: Questions,
    pub(super) health: Health,
    /// The last line of the server's that could be an answer and can't be read: when it came, and why.
    pub(super) unreadable: Option<(Instant, String)>,
}

impl Pipe {
    pub fn new(
        server: Server,
        settings: Settings,
        media: Option<Media>,
        events: Option<Events>,
        report: Arc<Report>,
    ) -> Pipe {
        let questions = Questions::new(settings.interactive.flatten());
        let health = Health::new(settings.probe, settings.restart_after);
        Pipe {
            server,
            settings,
            queue: Queue::default(),
            flying: HashMap::new(),
            schemas: Schemas::default(),
            media,
            list_by: None,
            set_up: 0,
            events,
            report,
            near_ended: false,
            over: None,
            parting: None,
            overlong: Overlong::default(),
            questions,
            health,
            unreadable: None,
        }
    }

    pub(super) fn drain(&mut self, out: &mut Out) {
        let to = out.to(Side::Near);
        if self.settings.unordered { self.queue.drain_any(to) } else { self.queue.drain(to) }
    }

    /// What is late is answered, and what has to be done at its time is.
    fn due(&mut self, out: &mut Out) -> Result<(), Failure> {
        if self.over.is_some() {
            return Ok(());
        }
        let now = Instant::now();
        if self.settings.deadline.is_some_and(|deadline| deadline <= now) {
            let epoch = self.server.epoch;
            let why = "the time for all calls is over (--deadline)";
            self.queue.answer_all(|call| unanswered(call, Kind::Timeout, why, None, epoch));
            self.drain(out);
            return Err(Failure::new(Status::Deadline, why));
        }
        if self.parting.is_some_and(|parting| parting <= now) {
            out.stop(self.report.finish());
            return Ok(());
        }
        if out.far_waits() || !self.questions.is_empty() {
            // It may have answered, and who reads us hasn't let us hear that yet; or it waits for an answer itself.
            self.wait_anew();
        }
        self.give_up_list(now);
        self.cancel_late_questions(now, out);
        self.give_up_late_calls(now, out)?;
        if self.server.is_to_restart() {
            out.respawn();
        } else if let Some(loss) = self.server.overdue() {
            self.lose(&loss, out)?;
        }
        self.probe(out)
    }

    /// What the server hasn't said yet isn't late for its own fault.
    pub(super) fn wait_anew(&mut self) {
        let now = Instant::now();
        for flying in self.flying.values_mut().filter(|flying| flying.until.is_some()) {
            flying.until = flying.timeout.map(|timeout| now + timeout);
        }
        self.server.wait_anew();
    }

    fn give_up_late_calls(&mut self, now: Instant, out: &mut Out) -> Result<(), Failure> {
        let late = |flying: &Flying| flying.until.is_some_and(|until| until <= now);
        let ids: Vec<u64> = self.flying.iter().filter(|(_, flying)| late(flying)).map(|(id, _)| *id).collect();
        for id in &ids {
            self.server.client.cancel(*id, "timeout", out.to(Side::Far));
            self.report.fail();
            if self.flying.remove(id).is_some_and(|flying| flying.is_setup) {
                self.fail_setup(LATE);
            }
            self.questions.forget_call(*id);
            let (epoch, unreadable) = (self.server.epoch, &self.unreadable);
            self.queue.answer(*id, |waiting| {
                let came_since = |at: &Instant| waiting.sent_at.is_some_and(|sent_at| sent_at <= *at);
                let reply = unreadable.as_ref().filter(|(at, _)| came_since(at));
                let reply = reply.map_or(String::new(), |(_, why)| format!("; it has sent a line that is {why}"));
                unanswered(waiting, Kind::Timeout, &format!("{LATE}{reply}"), None, epoch)
            });
        }
        if ids.is_empty() { Ok(()) } else { self.suspect(out) }
    }

    fn interrupt(&mut self, out: &mut Out) {
        let (epoch, why) = (self.server.epoch, "mcp-pipe was interrupted");
        self.queue.answer_all(|call| unanswered(call, Kind::Cancelled, why, None, epoch));
        self.drain(out);
    }

    /// What follows from every event.
    fn go_on(&mut self, out: &mut Out) -> Result<(), Failure> {
        if let Some(Over { loss, kind, failure: (status, why), until, .. }) = &self.over {
            let epoch = self.server.epoch;
            if self.queue.answer_all(|call| lost(call, *kind, loss, epoch)) {
                self.report.fail();
            }
            let end = (self.near_ended || *until <= Instant::now()).then(|| Failure::new(*status, why));
            self.drain(out);
            out.hold_near(false);
            return end.map_or(Ok(()), Err);
        }
        if !self.questions.is_empty() {
            if self.near_ended {
                self.cancel_questions("nobody answers: stdin has ended", out);
            } else if self.queue.is_full() {
                // An answer would stand behind what can't be read yet.
                self.cancel_questions("nobody has answered before a thousand more lines", out);
            }
        }
        self.watch_list();
        self.send(out);
        self.watch();
        self.drain(out);
        out.hold_near(self.queue.is_full());
        let is_done = self.near_ended && self.queue.is_empty() && self.flying.is_empty();
        if is_done && self.server.is_lost() {
            // Nobody would ask the next one anything.
            out.stop(self.report.finish());
        } else if is_done && self.parting.is_none() && self.server.client.is_ready() {
            self.parting = Some(Instant::now() + PARTING);
            out.close_far();
        }
        Ok(())
    }
}

impl Stage for Pipe {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started => self.server.greet(out.to(Side::Far)),
            Event::Piece(Side::Near, Piece::Line(line)) => {
                if let Some(over) = &mut self.over {
                    over.until = (Instant::now() + over.patience).min(over.latest);
                }
                self.take(&line, out);
            }
            Event::Piece(Side::Near, Piece::Part { last: true, number, .. }) => {
                self.refuse_line(number, Kind::TooLarge, &Unreadable::new(TOO_LONG));
            }
            Event::Piece(Side::Far, Piece::Line(line)) => self.hear(&line, out)?,
            Event::Piece(Side::Far, Piece::Part { bytes, last, .. }) => self.hear_part(bytes, last, out)?,
            Event::Piece(Side::FarError, piece) => {
                self.server.print(piece.raw());
                if self.settings.verbose {
                    out.pass(Side::FarError, &piece);
                }
                self.show("stderr", &json!(text(piece.raw()).trim_end()).to_string(), out);
            }
            Event::Piece(..) => {}
            Event::Closed(Side::Near) => self.near_ended = true,
            Event::Closed(Side::Far) | Event::Broken(Side::Far, _) => self.server.closed(),
            Event::Exited(status) => {
                let loss = self.server.exited(status);
                self.lose(&loss, out)?;
            }
            Event::Due => self.due(out)?,
            Event::Signal(_) => self.interrupt(out),
            Event::Broken(..) | Event::Closed(_) | Event::Reopen => {}
        }
        self.go_on(out)
    }

    fn not_started(&mut self, failure: Failure, out: &mut Out) -> Result<(), Failure> {
        let loss = self.server.loss(failure.to_string(), Cause::NoProgram);
        self.lose(&loss, out)?;
        self.go_on(out)
    }

    fn deadline(&self) -> Option<Instant> {
        if let Some(over) = &self.over {
            return Some(over.until);
        }
        let calls = self.flying.values().filter_map(|flying| flying.until);
        let others = [
            self.server.deadline(),
            self.questions.deadline(),
            self.health.deadline(),
            self.settings.deadline,
            self.list_by,
        ];
        calls.chain(others.into_iter().flatten()).chain(self.parting).min()
    }
}

/// The eras by the names that `--protocol` takes.
pub fn era(text: &str) -> Result<Era, String> {
    [Era::Legacy, Era::Modern]
        .into_iter()
        .find(|era| era.version() == text)
        .ok_or_else(|| format!("{} or {}", Era::Legacy.version(), Era::Modern.version()))
}
