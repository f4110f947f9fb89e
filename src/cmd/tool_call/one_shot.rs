//! Starts a world for one request.

use super::request::{Request, ended};
use pipewright_io::between::{FarEndpoint, NearKind, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Limits, Piece, text};
use pipewright_record::type_of;
use pipewright_sys::lock;
use pipewright_sys::signal::Signals;
use std::ffi::OsString;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a world may take to list its tools. Worlds have their own time limits for starting and for calls; this
/// limit is for a world that never answers.
pub const LIST_TIMEOUT: Duration = Duration::from_secs(120);

/// The longest line that is read from a world, in bytes: more than the longest result that `mcp-pipe` passes on by
/// default.
pub const LIMITS: Limits = Limits { max_line: 256 << 20, max_depth: 512 };

/// How long to wait for the exit status after a world's output has ended.
pub const EXIT: Duration = Duration::from_millis(500);

/// Starts a world, sends the request, and ends the world. Gives the line that answers, or the status if a signal ended
/// the run first.
///
/// # Errors
/// [`Status::NotStarted`] or [`Status::Lost`] if there is no answer.
pub fn ask(
    request: Request,
    world: Vec<OsString>,
    signals: &Signals,
    report: &Arc<Report>,
) -> Result<Result<String, Status>, Failure> {
    let answer = Arc::default();
    let deadline = matches!(request, Request::Tools).then(|| Instant::now() + LIST_TIMEOUT);
    let stage = OneShot { request, answer: Arc::clone(&answer), deadline, has_started: false, has_closed: false };
    let sides = Sides { near: NearKind::Stdout, far: FarEndpoint::child(world), limits: LIMITS, ..Sides::default() };
    let status = between(Box::new(stage), sides, signals, report)?;
    let answer = lock(&answer).take();
    Ok(answer.ok_or(status))
}

struct OneShot {
    request: Request,
    answer: Arc<Mutex<Option<String>>>,
    deadline: Option<Instant>,
    /// The world has written a record.
    has_started: bool,
    /// The world's output has ended.
    has_closed: bool,
}

impl Stage for OneShot {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started(_) => out.add_line(Side::FAR, &self.request.record()),
            Event::Piece(Side::FAR, Piece::Line(line)) => {
                let line = text(line.body());
                self.has_started |= type_of(&line).is_some();
                if self.request.is_answered_by(&line)? {
                    *lock(&self.answer) = Some(line.into_owned());
                    out.stop(Status::Success);
                }
            }
            Event::Piece(Side::FAR, Piece::Part { .. }) => return Err(too_long()),
            Event::Closed(Side::FAR) => {
                self.has_closed = true;
                self.deadline = Some(Instant::now() + EXIT);
            }
            Event::Exited(_, status) => return Err(ended(status, self.has_started)),
            Event::Due => return Err(if self.has_closed { closed() } else { no_list() }),
            _ => {}
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

/// A line of the world exceeds [`LIMITS`].
pub fn too_long() -> Failure {
    let most = LIMITS.max_line >> 20;
    Failure::new(Status::Lost, format_args!("the world wrote a line longer than {most} MiB"))
}

/// The world runs but can answer no more.
pub fn closed() -> Failure {
    Failure::new(Status::Lost, "the world closed its stdout but did not end")
}

/// The world did not list its tools in time.
pub fn no_list() -> Failure {
    let seconds = LIST_TIMEOUT.as_secs();
    Failure::new(Status::NotStarted, format_args!("the world did not list its tools within {seconds} s"))
}
