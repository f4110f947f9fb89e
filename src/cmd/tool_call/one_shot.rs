//! A world that is started for one request.

use super::request::{Request, ended};
use crate::io::between::{Ends, Near, Way, between};
use crate::io::lines::{Limits, Piece, text};
use crate::io::lock;
use crate::io::report::{Failure, Report, Status};
use crate::io::signal::Signals;
use crate::io::stage::{Event, Out, Side, Stage};
use crate::record::type_of;
use std::ffi::OsString;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a world may take to list its tools. Worlds have limits of their own for how long they take to start, and for calls; this
/// one is for what never answers at all.
pub const LISTING: Duration = Duration::from_secs(120);

/// Longest line of a world that is read, in bytes: more than the longest result that `mcp-pipe` passes on by default.
pub const LIMITS: Limits = Limits { max_line: 256 << 20, max_depth: 512 };

/// How long after the end of a world's output its exit status is waited for.
pub const EXIT: Duration = Duration::from_millis(500);

/// Starts a world, asks it, and ends it; gives the line that answers, or how the run ended without one (by a signal).
///
/// # Errors
/// [`Status::NotStarted`] or [`Status::Lost`] where there is no answer.
pub fn ask(
    request: Request,
    world: Vec<OsString>,
    signals: &Signals,
    report: &Arc<Report>,
) -> Result<Result<String, Status>, Failure> {
    let answer = Arc::default();
    let deadline = matches!(request, Request::Tools).then(|| Instant::now() + LISTING);
    let stage = Asking { request, answer: Arc::clone(&answer), deadline, has_started: false, has_closed: false };
    let ends = Ends { near: Near::Stdout, far: Way::child(world), limits: LIMITS, ..Ends::default() };
    let status = between(Box::new(stage), ends, signals, report)?;
    let answer = lock(&answer).take();
    Ok(answer.ok_or(status))
}

struct Asking {
    request: Request,
    answer: Arc<Mutex<Option<String>>>,
    deadline: Option<Instant>,
    /// The world has written a record.
    has_started: bool,
    /// The world's output has ended.
    has_closed: bool,
}

impl Stage for Asking {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started => out.add_line(Side::Far, &self.request.record()),
            Event::Piece(Side::Far, Piece::Line(line)) => {
                let line = text(line.body());
                self.has_started |= type_of(&line).is_some();
                if self.request.is_answered_by(&line)? {
                    *lock(&self.answer) = Some(line.into_owned());
                    out.stop(Status::Well);
                }
            }
            Event::Piece(Side::Far, Piece::Part { .. }) => return Err(too_long()),
            Event::Closed(Side::Far) => {
                self.has_closed = true;
                self.deadline = Some(Instant::now() + EXIT);
            }
            Event::Exited(status) => return Err(ended(status, self.has_started)),
            Event::Due => return Err(if self.has_closed { closed() } else { no_list() }),
            _ => {}
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

/// The world's line is over [`LIMITS`].
pub fn too_long() -> Failure {
    let most = LIMITS.max_line >> 20;
    Failure::new(Status::Lost, format_args!("the world wrote a line of more than {most} MiB"))
}

/// The world goes on, and answers no more.
pub fn closed() -> Failure {
    Failure::new(Status::Lost, "the world closed its stdout, and did not end")
}

/// The world has not listed its tools in time.
pub fn no_list() -> Failure {
    let seconds = LISTING.as_secs();
    Failure::new(Status::NotStarted, format_args!("the world did not list its tools within {seconds} s"))
}
