//! A browser as a world: calls become requests to the thread that owns it.

use super::wire::{self, Reply, Request, line};
use crate::cmd::refusal::Refusal;
use crate::cmd::world::{Calls, FIRST_LINGER, FarCall, LINGER, SendResult, World};
use pipewright_browser::tools::declared;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side};
use pipewright_lines::{Piece, text};
use pipewright_record::{Kind, Outcome, OwnedCall, Tool};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The browser answers late calls itself, with more detail. If it does not, the call is given up after this time.
const GRACE: Duration = Duration::from_secs(3);

/// How long a browser may take to end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(6);

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
    /// The browser was asked to end, and is not waited for after this time.
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

    fn take(&mut self, reply: &str, calls: &mut Calls) {
        // The browser's thread writes nothing else.
        let Ok(reply) = serde_json::from_str::<Reply>(reply) else { return };
        match reply {
            Reply::Ready => {
                (self.state, self.was_up) = (State::Up, true);
                if let Some(restarts) = calls.restarts(0) {
                    restarts.up();
                }
            }
            Reply::NotStarted(why) | Reply::Lost(why) => self.browser_lost(&why, calls),
            Reply::Note(text) => {
                self.report.note(text);
                self.report.fail();
            }
            Reply::Result { id, result } => {
                if let Some(restarts) = calls.restarts(0) {
                    restarts.answered();
                }
                calls.answer(FarCall { far: 0, id }, |call, times| times.answer(call, Outcome::Ok(&result)));
            }
            Reply::Failed { id, kind, code, message, data } => {
                let kind = Kind::named(&kind).unwrap_or(Kind::ToolError);
                let outcome = Outcome::Error { kind, message: &message, code: code.as_deref(), data: data.as_deref() };
                if calls.answer(FarCall { far: 0, id }, |call, times| times.answer(call, outcome)) {
                    self.report.fail();
                }
            }
        }
    }

    /// The browser has ended, or was not started.
    fn browser_lost(&mut self, why: &str, calls: &mut Calls) {
        if !matches!(self.state, State::Starting | State::Up) {
            return;
        }
        let Some(restarts) = calls.restarts(0) else { return };
        let is_restarted = self.was_up && restarts.lost(why, self.state == State::Up);
        self.state = State::Down;
        calls.far_side_lost(0, &Refusal::new(Kind::Lost, why), is_restarted);
        if is_restarted {
            return;
        }
        let (kind, status, patience) = match self.was_up {
            true => (Kind::Lost, Status::Lost, LINGER),
            false => (Kind::StartFailed, Status::NotStarted, FIRST_LINGER),
        };
        let more = if self.was_up { "; it has crashed more often than --restart allows" } else { "" };
        let message = format!("{why}{more}");
        calls.give_up(0, Refusal::new(kind, &message), Failure::new(status, message), patience);
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

    fn send(&mut self, _far: usize, call: &OwnedCall, timeout: Option<Duration>, out: &mut Out) -> SendResult {
        self.last += 1;
        let limit = timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        let Ok(arguments) = serde_json::from_str(call.call().arguments_text()) else {
            return SendResult::Refused(Refusal::new(Kind::BadInput, "its arguments are not JSON"));
        };
        let request = Request::Call(wire::Call { id: self.last, tool: call.tool().to_owned(), arguments, limit });
        out.to(Side::FAR).extend_from_slice(line(&request).as_bytes());
        SendResult::Sent { id: self.last, timeout: timeout.map(|timeout| timeout + GRACE), is_repeatable: false }
    }

    fn cancel(&mut self, number: FarCall, _reason: &'static str, out: &mut Out) {
        out.to(Side::FAR).extend_from_slice(line(&Request::Cancel(number.id)).as_bytes());
    }

    fn late_message(&self, _far: usize, _sent_at: Option<Instant>) -> String {
        "the browser has not answered in time (--timeout)".to_owned()
    }

    fn on(&mut self, event: Event<'_>, calls: &mut Calls, _out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started(_) => self.state = State::Starting,
            Event::Piece(Side::FAR, Piece::Line(line)) => self.take(&text(line.body()), calls),
            Event::Closed(Side::FAR) | Event::Broken(Side::FAR, _) => match self.state {
                State::Parting(_) => self.state = State::Ended,
                _ => self.browser_lost("the browser's thread has ended", calls),
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

    fn ask_to_end(&mut self, far: usize, out: &mut Out) -> bool {
        match self.state {
            State::Ended | State::Down => true,
            State::Parting(_) => false,
            State::Starting | State::Up => {
                self.state = State::Parting(Instant::now() + EXIT_TIMEOUT);
                out.close_far(far);
                false
            }
        }
    }
}
