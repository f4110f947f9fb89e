//! A browser as a world: calls become requests to the thread that owns it.

use super::wire::{Reply, Request};
use crate::cmd::world::{Calls, FIRST_CALLS, LINGER, Number, Refusal, Sending, World};
use crate::io::lines::{Piece, text};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Event, Out, Side};
use crate::record::{Kind, Outcome, OwnedCall, Tool};
use pipewright_browser::tools::declared;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The browser answers late calls itself, with more detail. If it does not, the call is given up after this time.
const GRACE: Duration = Duration::from_secs(3);

/// How long a browser may take to end.
const PARTING: Duration = Duration::from_secs(6);

/// A browser as a world of the runtime.
pub struct Bridge {
    tools: Vec<String>,
    state: State,
    was_up: bool,
    last: u64,
    report: Arc<Report>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Starting,
    Up,
    Down,
    /// It was asked to end, and is not waited for after this.
    Parting(Instant),
    Ended,
}

impl Bridge {
    /// `evaluates`: whether scripts may be run.
    pub fn new(evaluates: bool, report: Arc<Report>) -> Bridge {
        let tools = declared(evaluates).into_iter().map(|tool| {
            let (input_schema, annotations) = (tool.input_schema.to_string(), tool.annotations.to_string());
            let (name, description) = (tool.name, tool.description);
            Tool { name, description, input_schema: &input_schema, annotations: Some(&annotations) }.json()
        });
        Bridge { tools: tools.collect(), state: State::Starting, was_up: false, last: 0, report }
    }

    fn take(&mut self, line: &str, calls: &mut Calls) {
        // The browser's thread writes nothing else.
        let Ok(reply) = serde_json::from_str::<Reply>(line) else { return };
        match reply {
            Reply::Ready => {
                (self.state, self.was_up) = (State::Up, true);
                if let Some(restarts) = calls.restarts(0) {
                    restarts.up();
                }
            }
            Reply::NotStarted(why) | Reply::Lost(why) => self.lose(&why, calls),
            Reply::Note(text) => {
                self.report.note(text);
                self.report.fail();
            }
            Reply::Result { id, result } => {
                if let Some(restarts) = calls.restarts(0) {
                    restarts.answered();
                }
                calls.answer((0, id), |call, times| times.answer(call, Outcome::Ok(&result)));
            }
            Reply::Failed { id, kind, code, message, data } => {
                let kind = Kind::named(&kind).unwrap_or(Kind::ToolError);
                let outcome = Outcome::Error { kind, message: &message, code: code.as_deref(), data: data.as_deref() };
                if calls.answer((0, id), |call, times| times.answer(call, outcome)) {
                    self.report.fail();
                }
            }
        }
    }

    /// The browser has ended, or was not started.
    fn lose(&mut self, why: &str, calls: &mut Calls) {
        if !matches!(self.state, State::Starting | State::Up) {
            return;
        }
        let Some(restarts) = calls.restarts(0) else { return };
        let is_restarted = self.was_up && restarts.lost(why, self.state == State::Up);
        self.state = State::Down;
        calls.lose(0, &Refusal::new(Kind::Lost, why), is_restarted);
        if is_restarted {
            return;
        }
        let (kind, status, patience) = match self.was_up {
            true => (Kind::Lost, Status::Lost, LINGER),
            false => (Kind::StartFailed, Status::NotStarted, FIRST_CALLS),
        };
        let more = if self.was_up { "; it has crashed more often than --restart allows" } else { "" };
        let message = format!("{why}{more}");
        calls.give_up(0, Refusal::new(kind, &message), (status, message), patience);
    }
}

impl World for Bridge {
    fn name(&self) -> &'static str {
        "browser"
    }

    fn tools(&self) -> Vec<String> {
        self.tools.clone()
    }

    fn takes_calls(&self, _far: usize) -> bool {
        self.state == State::Up
    }

    fn send(&mut self, _far: usize, call: &OwnedCall, timeout: Option<Duration>, out: &mut Out) -> Sending {
        self.last += 1;
        let limit = timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        let request = Request::call(self.last, call.tool(), call.call().arguments_text(), limit);
        out.to(Side::Far).extend_from_slice(request.as_bytes());
        Sending::Sent { id: self.last, timeout: timeout.map(|timeout| timeout + GRACE), is_repeatable: false }
    }

    fn cancel(&mut self, number: Number, _reason: &'static str, out: &mut Out) {
        out.to(Side::Far).extend_from_slice(Request::cancel(number.1).as_bytes());
    }

    fn late(&self, _far: usize, _sent_at: Option<Instant>) -> String {
        "the browser has not answered in time (--timeout)".to_owned()
    }

    fn on(&mut self, event: Event<'_>, calls: &mut Calls, _out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started => self.state = State::Starting,
            Event::Piece(Side::Far, Piece::Line(line)) => self.take(&text(line.body()), calls),
            Event::Closed(Side::Far) | Event::Broken(Side::Far, _) => match self.state {
                State::Parting(_) => self.state = State::Ended,
                _ => self.lose("the browser's thread has ended", calls),
            },
            _ => {}
        }
        Ok(())
    }

    fn due(&mut self, _far: usize, _calls: &mut Calls, _out: &mut Out) {
        if let State::Parting(until) = self.state
            && until <= Instant::now()
        {
            self.state = State::Ended;
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Parting(until) => Some(until),
            _ => None,
        }
    }

    fn part(&mut self, _far: usize, out: &mut Out) -> bool {
        match self.state {
            State::Ended | State::Down => true,
            State::Parting(_) => false,
            State::Starting | State::Up => {
                self.state = State::Parting(Instant::now() + PARTING);
                out.close_far();
                false
            }
        }
    }
}
