//! The background process: one world, and many clients.
//!
//! Clients send the lines that a world takes. Requests of two clients may have the same id, so each request gets a new
//! id for the world, and its answer gets the client's id again. Records that answer no request (observations, notices
//! of gates) are dropped: clients cannot subscribe to them.

use super::{Session, lock, not_started};
use crate::cmd::options::Limit;
use crate::cmd::tool_call::one_shot::{EXIT, LIMITS, closed, too_long};
use crate::cmd::tool_call::request::{ended, is_request, no_world};
use crate::cmd::world::intake::{Intake, IntakeItem};
use pipewright_io::between::{FarEndpoint, Listener, NearKind, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Change, Limits, Piece, change, text};
use pipewright_record::{Cancel, Fields, ListTools, Record, cancelled_id, is_same_id, type_of};
use pipewright_sys::descriptor::close_stdin;
use pipewright_sys::process::is_running;
use pipewright_sys::signal::Signals;
use pipewright_sys::socket;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A client with this many open requests is read no further.
const MAX_REQUESTS: usize = 64;

/// How often to check that the owner still runs.
const OWNER: Duration = Duration::from_secs(1);

/// The id field of `list_tools` and `tool_list`.
const LIST_ID: &str = "request_id";

/// Serves a session whose listening socket is stdin, until it is stopped, idle for the given time, or its owner, a
/// process, has ended.
///
/// # Errors
/// Why the world ended, see [`ended`].
pub fn serve(
    session: &Session,
    world: Vec<OsString>,
    idle_timeout: Limit,
    owner: Option<i32>,
    signals: &Signals,
    report: &Arc<Report>,
) -> Result<Status, Failure> {
    let listener = socket::inherited().map_err(not_started)?;
    close_stdin();
    let stage = SessionServer {
        next: 1,
        requests: BTreeMap::new(),
        clients: BTreeMap::new(),
        has_answered: false,
        idle_timeout: idle_timeout.0,
        used_at: Instant::now(),
        owner,
        owner_seen_at: Instant::now(),
        exit_by: None,
        report: Arc::clone(report),
    };
    let clients = Some(Listener(Box::new(move || Ok(listener.accept()?.0))));
    let sides = Sides {
        near: NearKind::Clients,
        clients,
        far: FarEndpoint::child(world),
        far_limits: Some(LIMITS),
        ..Sides::default()
    };
    let ended = between(Box::new(stage), sides, signals, report);
    let _lock = session.folder.parent().map(lock);
    match &ended {
        // Requests that arrive meanwhile find the log, which has the reason.
        Err(_) => _ = fs::remove_file(session.socket()),
        Ok(_) => session.remove(),
    }
    ended
}

/// An open request at the world.
struct Request {
    client: usize,
    /// The id field of the request and its answer.
    id_key: &'static str,
    /// The client's id, as JSON text.
    id: Option<Box<RawValue>>,
}

struct ServedClient {
    intake: Intake,
    /// The number of open requests.
    requests: usize,
    /// Whether it has closed its side.
    has_closed: bool,
}

struct SessionServer {
    /// The id of the next request to the world.
    next: u64,
    requests: BTreeMap<u64, Request>,
    clients: BTreeMap<usize, ServedClient>,
    /// Whether the world has answered a request, so has started.
    has_answered: bool,
    idle_timeout: Option<Duration>,
    used_at: Instant,
    owner: Option<i32>,
    owner_seen_at: Instant,
    /// When the world must have ended after its output has.
    exit_by: Option<Instant>,
    report: Arc<Report>,
}

impl SessionServer {
    fn take(&mut self, number: usize, piece: &Piece<'_>, out: &mut Out) {
        self.used_at = Instant::now();
        let Some(client) = self.clients.get_mut(&number) else { return };
        match client.intake.read(piece) {
            IntakeItem::Blank | IntakeItem::Skipped => {}
            IntakeItem::Refused(kind, error) => out.add_line(Side::Near(number), &error.refusal(kind, piece.number())),
            IntakeItem::Call(text, call) => self.send(number, text, call.form.id_key(), call.id, out),
            IntakeItem::Record(text) => {
                if let Some(id) = cancelled_id(text) {
                    self.cancel(number, Some(id.get()), out);
                } else if let Ok(Some(request)) = ListTools::read(text) {
                    self.send(number, text, LIST_ID, request.request_id, out);
                } else {
                    let record_type = type_of(text).unwrap_or_default();
                    self.report
                        .note_limited(format_args!("client {number}: not a call: a record of type '{record_type}'"));
                }
            }
        }
    }

    /// Sends a request to the world, with a new id.
    fn send(&mut self, client: usize, text: &str, id_key: &'static str, id: Option<&RawValue>, out: &mut Out) {
        let number = self.next;
        let Some(line) = with_id(text, id_key, Some(&number.to_string())) else { return };
        self.next += 1;
        out.add_line(Side::FAR, &line);
        self.requests.insert(number, Request { client, id_key, id: id.map(ToOwned::to_owned) });
        self.count(client, 1, out);
    }

    /// Cancels the calls of a client with this id, or all of its calls.
    fn cancel(&self, client: usize, id: Option<&str>, out: &mut Out) {
        let is_its_call = |request: &Request| request.client == client && request.id_key != LIST_ID;
        for (number, request) in self.requests.iter().filter(|(_, request)| is_its_call(request)) {
            if id.is_none() || is_same_id(request.id.as_deref().map(RawValue::get), id) {
                out.add_line(Side::FAR, &Cancel::call(number).json());
            }
        }
    }

    /// Sends an answer to the client that waits for it.
    fn answer(&mut self, text: &str, out: &mut Out) -> Result<(), Failure> {
        let Some((number, id_key)) = answered(text) else {
            return if !self.has_answered && is_request(text) { Err(no_world()) } else { Ok(()) };
        };
        self.has_answered = true;
        self.used_at = Instant::now();
        let Some(request) = self.requests.get(&number).filter(|request| request.id_key == id_key) else {
            return Ok(());
        };
        let client = request.client;
        if let Some(line) = with_id(text, id_key, request.id.as_deref().map(RawValue::get)) {
            out.add_line(Side::Near(client), &line);
        }
        self.requests.remove(&number);
        self.count(client, -1, out);
        Ok(())
    }

    /// Changes a client's number of open requests.
    fn count(&mut self, number: usize, by: isize, out: &mut Out) {
        let Some(client) = self.clients.get_mut(&number) else { return };
        client.requests = client.requests.saturating_add_signed(by);
        out.hold_near(number, client.requests >= MAX_REQUESTS);
        self.disconnect_if_done(number, out);
    }

    /// Disconnects a client that has closed its side and has every answer.
    fn disconnect_if_done(&mut self, number: usize, out: &mut Out) {
        if self.clients.get(&number).is_some_and(|client| client.has_closed && client.requests == 0) {
            self.clients.remove(&number);
            out.close_near(number);
        }
    }

    /// A client is gone: its answers are not needed any more.
    fn forget_client(&mut self, number: usize, out: &mut Out) {
        self.cancel(number, None, out);
        self.clients.remove(&number);
        // A world may never answer them, and a session with open requests is not idle.
        self.requests.retain(|_, request| request.client != number);
        self.used_at = Instant::now();
    }

    /// The process that starts a session waits for the world's list of tools. If it is gone, the session ends.
    fn end_unless_wanted(&self, out: &mut Out) {
        if !self.has_answered && self.clients.is_empty() {
            out.stop(Status::Success);
        }
    }

    fn idle_at(&self) -> Option<Instant> {
        self.idle_timeout.filter(|_| self.requests.is_empty()).map(|timeout| self.used_at + timeout)
    }

    fn due(&mut self, out: &mut Out) -> Result<(), Failure> {
        let now = Instant::now();
        if self.exit_by.is_some_and(|by| by <= now) {
            return Err(closed());
        }
        if self.idle_at().is_some_and(|at| at <= now) {
            out.stop(Status::Success);
        }
        if let Some(owner) = self.owner {
            self.owner_seen_at = now;
            if !is_running(owner) {
                out.stop(Status::Success);
            }
        }
        Ok(())
    }
}

impl Stage for SessionServer {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Joined(number) => {
                let intake = Intake::new(Limits::default().max_depth);
                self.clients.insert(number, ServedClient { intake, requests: 0, has_closed: false });
            }
            Event::Piece(Side::Near(number), piece) => self.take(number, &piece, out),
            Event::Closed(Side::Near(number)) => {
                if let Some(client) = self.clients.get_mut(&number) {
                    client.has_closed = true;
                }
                self.disconnect_if_done(number, out);
                self.end_unless_wanted(out);
            }
            Event::Broken(Side::Near(number), _) => {
                self.forget_client(number, out);
                self.end_unless_wanted(out);
            }
            Event::Piece(Side::FAR, Piece::Line(line)) => self.answer(&text(line.body()), out)?,
            Event::Piece(Side::FAR, Piece::Part { .. }) => return Err(too_long()),
            Event::Closed(Side::FAR) => self.exit_by = Some(Instant::now() + EXIT),
            // An answer does not prove a start: a gate whose world cannot be started lists no tools before it ends.
            Event::Exited(_, status) => return Err(ended(status, false)),
            Event::Due => self.due(out)?,
            _ => {}
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        let look = self.owner.map(|_| self.owner_seen_at + OWNER);
        self.idle_at().into_iter().chain(look).chain(self.exit_by).min()
    }
}

/// The number of the request that a world's line answers, and the line's id field.
fn answered(text: &str) -> Option<(u64, &'static str)> {
    let fields = Fields::read(text).ok()?;
    let id_key = match type_of(text).as_deref() {
        Some("tool_result") => "call_id",
        Some("tool_list") => LIST_ID,
        Some(_) => return None,
        // The other forms of calls.
        None => "id",
    };
    Some((fields.get(id_key)?.get().parse().ok()?, id_key))
}

/// The line with another id, or without an id.
fn with_id(text: &str, id_key: &str, id: Option<&str>) -> Option<String> {
    let to = id.map_or(Change::Remove, |id| Change::Set(id.as_bytes()));
    let mut changed = Vec::new();
    change(text, &[(id_key, to)], &mut changed).ok()?;
    String::from_utf8(changed).ok()
}
