//! The stage: the person on the near side, the model command and the world as far sides, and the loop between them.

use super::images::Images;
use super::screen::Screen;
use super::session_file::{self, Happened, SessionFile};
use crate::cmd::agent_logs::Logs;
use crate::cmd::options::{Limit, TOO_DEEP, TOO_LONG};
use pipewright_agent::{Agent, Effect, Input};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Line, Piece, deeper_than};
use pipewright_record::json::{Object, raw};
use pipewright_record::{Fields, History, Record, UserMessage, cancelled_id};
use pipewright_sys::process::describe;
use pipewright_sys::terminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The far sides, in their order.
const MODEL: usize = 0;
const WORLD: usize = 1;

/// Why a line is unreadable: it is not text, or a far side's line is too long.
const NOT_TEXT: &str = "not UTF-8";
const TOO_LONG_RESULT: &str = "longer than --max-result";

/// The files of a run.
pub struct Files {
    pub session: SessionFile,
    pub images: Images,
    pub logs: Logs,
}

pub struct Loop {
    agent: Agent,
    /// The effects to carry out when the world has started.
    first: Vec<Effect>,
    files: Files,
    screen: Screen,
    report: Arc<Report>,
    /// The place of the latest line of stdin, for messages.
    place: String,
    started: Instant,
    max_depth: usize,
    start_timeout: Limit,
    /// The person has been asked already.
    was_waiting: bool,
    /// When the world must have listed its tools.
    tools_by: Option<Instant>,
}

impl Loop {
    pub fn new(
        (agent, first): (Agent, Vec<Effect>),
        files: Files,
        screen: Screen,
        max_depth: usize,
        start_timeout: Limit,
        report: Arc<Report>,
    ) -> Loop {
        Loop {
            agent,
            first,
            files,
            screen,
            report,
            place: String::new(),
            started: Instant::now(),
            max_depth,
            start_timeout,
            was_waiting: false,
            tools_by: None,
        }
    }

    /// The time since the session began.
    fn now(&self) -> Duration {
        self.files.session.begun + self.started.elapsed()
    }

    fn take(&mut self, input: Input<'_>, out: &mut Out) {
        let now = self.now();
        self.files.session.keep(input, now);
        let effects = self.agent.take(input, now);
        self.carry_out(effects, out);
        if !self.agent.is_starting() {
            self.tools_by = None;
        }
    }

    fn carry_out(&mut self, effects: Vec<Effect>, out: &mut Out) {
        for effect in effects {
            match effect {
                Effect::Model(line) => send(MODEL, &line, out),
                Effect::World(line) => send(WORLD, &line, out),
                Effect::Session(record) => out.to(Side::NEAR).extend_from_slice(self.screen.show(&record).as_bytes()),
                Effect::Final(record, status) => {
                    let status = if status == 0 && self.report.has_failed() { Status::Fault.code() } else { status };
                    let record = with_exit_status(&record, status);
                    out.to(Side::NEAR).extend_from_slice(self.screen.show(&record).as_bytes());
                }
                Effect::Step(event) => self.files.logs.step(&event),
                Effect::Reasoning(text) => self.files.logs.reasoning(&text),
                Effect::Refused(why) => self.report.fault(&self.place, why),
                Effect::Note(note) => self.report.note_limited(note),
                Effect::End(status) => out.stop(match status {
                    0 => self.report.finish(),
                    2 => Status::Usage,
                    3 => Status::NotStarted,
                    4 => Status::Lost,
                    124 => Status::Deadline,
                    _ => Status::Fault,
                }),
            }
        }
    }

    fn line(&mut self, side: Side, line: &Line<'_>, out: &mut Out) {
        if line.is_blank() {
            return;
        }
        let (from, place) = source(side);
        if place.is_none() {
            self.place = format!("{from}:{}", line.number());
        }
        let text = match std::str::from_utf8(line.body()) {
            Ok(text) if !deeper_than(line.body(), self.max_depth) => text,
            read => {
                let why = if read.is_ok() { TOO_DEEP } else { NOT_TEXT };
                return self.unreadable(place, &format!("{from}:{}", line.number()), why, out);
            }
        };
        match place {
            None => {
                if asks_for_history(text) {
                    self.show_history(out);
                } else if let Some(record) = self.screen.read(text) {
                    self.take(Input::Person(&record), out);
                }
            }
            Some(MODEL) => self.take(Input::Model(text), out),
            Some(_) => {
                if let Some(path) = self.agent.image_in(text) {
                    let stored = self.files.images.store(&path);
                    let stored = stored.as_ref().map_err(|why| &**why);
                    self.take(Input::Image(&path, stored), out);
                }
                self.take(Input::World(text), out);
            }
        }
    }

    /// Sends the person the session's events so far, each record inside a `history` record.
    fn show_history(&mut self, out: &mut Out) {
        let mut lines = String::new();
        let mut add = |record: &str| {
            lines.push_str(&History::of(raw(record)).line());
        };
        let read = self.files.session.commit().map_err(|failure| failure.to_string()).and_then(|()| {
            let Some(path) = self.files.session.path() else { return Ok(true) };
            session_file::history(path, |happened| match happened {
                Happened::Resumed => {}
                Happened::Message(content) => {
                    add(&UserMessage::without_role(content).json());
                }
                Happened::Record(record, None) => add(&record),
                Happened::Record(record, Some(status)) => add(&with_exit_status(&record, status)),
            })
        });
        if let Err(why) = read {
            self.report.fault(&self.place, why);
        }
        lines.push_str(&History::END.line());
        out.to(Side::NEAR).extend_from_slice(lines.as_bytes());
    }

    /// Handles an unreadable line. An unreadable line of the world becomes the awaited result, since its call is unknown.
    fn unreadable(&mut self, place: Option<usize>, at: &str, why: &str, out: &mut Out) {
        match (place, self.agent.call_under_way()) {
            (None, _) => self.take(Input::Unreadable(why), out),
            (Some(WORLD), Some(call_id)) => {
                let kind = if why == NOT_TEXT { "protocol" } else { "too_large" };
                let result =
                    Object::default().text("type", "tool_result").text("call_id", call_id).text("status", "error");
                let result = result
                    .text("kind", kind)
                    .text("error", &format!("the world's line is {why}"))
                    .put("maybe_executed", true);
                self.take(Input::World(&result.end()), out);
            }
            (Some(MODEL), _) if self.agent.is_model_asked() => self.take(Input::BadTurn(why), out),
            _ => self.report.note_limited(format_args!("{at}: {why}: skipped")),
        }
    }
}

/// Adds the exit status to a record that ends a goal, which is an object with fields.
fn with_exit_status(record: &str, status: u8) -> String {
    format!("{},\"exit_status\":{status}}}", record.strip_suffix('}').unwrap_or(record))
}

/// Whether a line from the person requests the session's history.
fn asks_for_history(line: &str) -> bool {
    line.contains("history") && Fields::read(line).is_ok_and(|fields| fields.text("type").as_deref() == Some("history"))
}

/// Where a line comes from, for messages, and its far side.
fn source(side: Side) -> (&'static str, Option<usize>) {
    match side {
        Side::Far(MODEL) => ("the model command", Some(MODEL)),
        Side::Far(_) => ("the world", Some(WORLD)),
        _ => ("stdin", None),
    }
}

fn send(far: usize, line: &str, out: &mut Out) {
    let to = out.to(Side::Far(far));
    to.extend_from_slice(line.as_bytes());
    to.push(b'\n');
}

impl Stage for Loop {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started(WORLD) => {
                self.tools_by = self.start_timeout.end().filter(|_| self.agent.is_starting());
                let first = std::mem::take(&mut self.first);
                self.carry_out(first, out);
            }
            Event::Piece(side, Piece::Line(line)) => self.line(side, &line, out),
            Event::Piece(side, Piece::Part { number, last: true, .. }) => {
                let (from, place) = source(side);
                let at = format!("{from}:{number}");
                if place.is_none() {
                    self.place.clone_from(&at);
                }
                self.unreadable(place, &at, if place.is_none() { TOO_LONG } else { TOO_LONG_RESULT }, out);
            }
            Event::Closed(Side::NEAR) => self.take(Input::Closed, out),
            Event::Exited(MODEL, status) => self.take(Input::ModelEnded(&describe(status)), out),
            Event::Exited(_, status) => self.take(Input::WorldEnded(&describe(status)), out),
            Event::Due => {
                if self.tools_by.is_some_and(|by| by <= Instant::now()) {
                    let why =
                        format!("no answer to list_tools within {} s (--start-timeout)", self.start_timeout.seconds());
                    self.take(Input::NoTools(&why), out);
                }
                let now = self.now();
                if self.agent.due().is_some_and(|due| due <= now) {
                    self.take(Input::Due, out);
                }
            }
            Event::Signal(signal) => {
                let effects = self.agent.interrupt(signal.exit_code(), self.now());
                let last = effects.into_iter().filter(|effect| match effect {
                    Effect::Session(_) | Effect::Step(_) | Effect::Final(..) => true,
                    // A world on another machine does not receive the signal: without this it would work on the call to its end.
                    Effect::World(record) => cancelled_id(record).is_some(),
                    _ => false,
                });
                self.carry_out(last.collect(), out);
            }
            _ => {}
        }
        let is_waiting = self.agent.is_waiting();
        if is_waiting && !self.was_waiting && self.screen.reads_text() {
            // Input that was typed before the question does not answer it.
            terminal::forget_input(std::io::stdin());
        }
        self.was_waiting = is_waiting;
        // Two readers of a terminal take each other's lines: while a call is open, a gate may ask there.
        out.hold_near(0, self.screen.reads_text() && !self.agent.is_asking() || self.agent.is_behind());
        Ok(())
    }

    fn not_started(&mut self, _far: usize, failure: Failure, out: &mut Out) -> Result<(), Failure> {
        let effects = self.agent.take(Input::NoTools(&failure.to_string()), self.now());
        // The caller reports the failure itself.
        self.carry_out(effects.into_iter().filter(|effect| matches!(effect, Effect::Final(..))).collect(), out);
        Err(failure)
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.files.session.commit()
    }

    fn deadline(&self) -> Option<Instant> {
        let due = self.agent.due().map(|due| self.started + due.saturating_sub(self.files.session.begun));
        due.into_iter().chain(self.tools_by).min()
    }
}
