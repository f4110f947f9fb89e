//! The stage: calls from the near side become the server's, its results go back.

use super::media::Media;
use super::results::{lost, outcome, refused};
use super::schemas::Schemas;
use super::server::{Loss, Server, Then};
use crate::cmd::events::Events;
use crate::cmd::queue::{Pending, Queue};
use crate::io::lines::{Line, Piece, deeper_than, text};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::mcp::{Era, Heard, Names, RpcError};
use crate::record::{Call, Kind, Outcome, is_cancel, recognise};
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that was told that nothing more comes may take so long to end by itself.
const PARTING: Duration = Duration::from_secs(3);

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
    /// Print the tools and end.
    pub list: bool,
    /// What the server says on stderr is shown.
    pub verbose: bool,
    pub max_depth: usize,
    /// Calls that are made first, each time the server is started.
    pub setup: Vec<String>,
}

/// A call that the server works on.
struct Flying {
    until: Option<Instant>,
    /// Whether it may be sent again where the server is lost.
    is_repeatable: bool,
    /// A call of the set-up: nobody waits for it.
    is_setup: bool,
}

pub struct Pipe {
    server: Server,
    settings: Settings,
    queue: Queue,
    flying: HashMap<u64, Flying>,
    schemas: Schemas,
    media: Option<Media>,
    /// How much of the set-up has been sent to the server that runs.
    set_up: usize,
    events: Option<Events>,
    report: Arc<Report>,
    near_ended: bool,
    /// Nothing more is asked of the server, which may end by itself until then.
    parting: Option<Instant>,
    /// An over-long line of the server's goes on.
    in_part: bool,
}

impl Pipe {
    pub fn new(
        server: Server,
        settings: Settings,
        media: Option<Media>,
        events: Option<Events>,
        report: Arc<Report>,
    ) -> Pipe {
        Pipe {
            server,
            settings,
            queue: Queue::default(),
            flying: HashMap::new(),
            schemas: Schemas::default(),
            media,
            set_up: 0,
            events,
            report,
            near_ended: false,
            parting: None,
            in_part: false,
        }
    }

    /// Takes a line of the near side's.
    fn take(&mut self, line: &Line<'_>, out: &mut Out) {
        if line.is_blank() {
            return;
        }
        if deeper_than(line.body(), self.settings.max_depth) {
            return self.refuse_line(line.number(), Kind::BadInput, "nested deeper than --max-depth");
        }
        let Ok(body) = std::str::from_utf8(line.body()) else {
            return self.refuse_line(line.number(), Kind::BadInput, "it is no UTF-8");
        };
        let call = match recognise(body) {
            Err(error) => return self.refuse_line(line.number(), Kind::BadInput, &error.to_string()),
            Ok(None) => match is_cancel(body) {
                Some(id) => return self.cancel(id.get(), out),
                None => {
                    let mut raw = line.raw().to_vec();
                    if !raw.ends_with(b"\n") {
                        raw.push(b'\n');
                    }
                    return self.queue.push(Pending::Done(raw));
                }
            },
            Ok(Some(call)) => call,
        };
        let refusal = if call.requires_approval {
            Some((Kind::NeedsApproval, "it still requires approval: let hitl-gate stand before this".to_owned()))
        } else if !self.settings.names.permits(&call.tool) {
            Some((Kind::Denied, format!("{} is not among the tools that --allow and --deny permit", call.tool)))
        } else {
            None
        };
        self.queue.push(match refusal {
            None => Pending::Unsent(body.to_owned()),
            Some((kind, why)) => {
                self.report.fault(format_args!("stdin:{}", line.number()), &why);
                Pending::Done(format!("{}\n", refused(&call, kind, &why, self.server.epoch)).into_bytes())
            }
        });
    }

    /// A line that can't be read is told, and answered like a call of our own vocabulary.
    fn refuse_line(&mut self, number: u64, kind: Kind, why: &str) {
        self.report.fault(format_args!("stdin:{number}"), why);
        let line = r#"{"type":"tool_call","tool_name":""}"#;
        if let Ok(Some(call)) = recognise(line) {
            let answer = refused(&call, kind, &format!("line {number}: {why}"), self.server.epoch);
            self.queue.push(Pending::Done(format!("{answer}\n").into_bytes()));
        }
    }

    fn cancel(&mut self, id: &str, out: &mut Out) {
        let is_it =
            |call: &str| matches!(recognise(call), Ok(Some(call)) if call.id.is_some_and(|own| own.get() == id));
        let epoch = self.server.epoch;
        let cancelled = |call: &str| match recognise(call) {
            Ok(Some(call)) => refused(&call, Kind::Cancelled, "it was cancelled", epoch),
            _ => String::new(),
        };
        match self.queue.settle(is_it, cancelled) {
            Some(Some(sent)) => {
                self.flying.remove(&sent);
                self.server.client.cancel(sent, "cancelled", out.to(Side::Far));
            }
            Some(None) => {}
            None => self.report.note(format_args!("cancel: no call {id} is waiting")),
        }
        self.report.fail();
    }

    /// Sends what may be sent now.
    fn send(&mut self, out: &mut Out) {
        if !self.server.client.is_ready() || self.parting.is_some() {
            return;
        }
        while self.set_up < self.settings.setup.len() && self.flying.is_empty() {
            let line = self.settings.setup[self.set_up].clone();
            self.set_up += 1;
            if let Ok(Some(call)) = recognise(&line) {
                let arguments = call.arguments.map_or("{}", |arguments| arguments.get());
                let id = self.server.client.call(&call.tool, arguments, out.to(Side::Far));
                let until = self.settings.timeout.map(|timeout| Instant::now() + timeout);
                self.flying.insert(id, Flying { until, is_repeatable: false, is_setup: true });
            }
        }
        if self.flying.values().any(|flying| flying.is_setup) {
            return;
        }
        let Pipe { queue, flying, server, settings, schemas, report, .. } = self;
        queue.send(|line| {
            if flying.len() >= settings.in_flight {
                return None;
            }
            let Ok(Some(call)) = recognise(line) else { return Some(Err(String::new())) };
            let arguments = call.arguments.map_or("{}", |arguments| arguments.get());
            if settings.check
                && let Err((kind, why)) = schemas.check(&server.client, &call.tool, arguments)
            {
                report.fail();
                return Some(Err(refused(&call, kind, &why, server.epoch)));
            }
            let is_repeatable = server.client.tool(&call.tool).is_some_and(|tool| tool.is_repeatable);
            let id = server.client.call(&call.tool, arguments, out.to(Side::Far));
            let until = settings.timeout.map(|timeout| Instant::now() + timeout);
            flying.insert(id, Flying { until, is_repeatable, is_setup: false });
            Some(Ok(id))
        });
    }

    fn hear(&mut self, line: &Line<'_>, out: &mut Out) -> Result<(), Failure> {
        let body = text(line.body());
        match self.server.client.hear(&body, out.to(Side::Far)) {
            Heard::Ready => self.ready(out),
            Heard::Answer(id, result) => self.settle(id, result),
            Heard::Refused(error) => {
                let message = format!("the server refuses the greeting: {} ({})", error.message, error.code);
                let loss = self.server.loss(message, None);
                return self.lose(&loss, out);
            }
            Heard::Failed(why) => {
                let loss = self.server.loss(why, None);
                return self.lose(&loss, out);
            }
            Heard::Event(kind, params) => self.show(&kind, params, out),
            Heard::Asks(_, method, params) => {
                let asked = format!("{{\"method\":{},\"params\":{params}}}", json!(method));
                self.show("request", &asked, out);
            }
            Heard::Noise(_) => self.show("noise", &json!(body).to_string(), out),
            Heard::Relisted => {
                self.schemas.clear();
                self.show("tools", "{}", out);
            }
            Heard::Alive | Heard::Nothing => {}
        }
        Ok(())
    }

    fn ready(&mut self, out: &mut Out) {
        self.server.is_up();
        self.set_up = 0;
        self.schemas.clear();
        let (era, epoch) = (self.server.client.era(), self.server.epoch);
        self.show("started", &json!({"protocol": era.version(), "epoch": epoch}).to_string(), out);
        if self.settings.list {
            for tool in self.server.client.tools().filter(|tool| self.settings.names.permits(&tool.name)) {
                // A description may be written over several lines.
                let raw = serde_json::from_str(&tool.raw).map_or(tool.raw.clone(), |raw: Box<RawValue>| one_line(&raw));
                out.to(Side::Near).extend_from_slice(format!("{raw}\n").as_bytes());
            }
            self.near_ended = true;
        }
    }

    /// An event as `--events` has it; `data` is JSON text.
    fn show(&mut self, event: &str, data: &str, out: &mut Out) {
        if let Some(events) = &mut self.events {
            let event = format!("{{\"event\":{},\"data\":{data}}}", json!(event));
            events.take("mcp", &event, out);
        }
    }

    fn settle(&mut self, id: u64, result: Result<&RawValue, RpcError>) {
        let Some(flying) = self.flying.remove(&id) else { return };
        let epoch = self.server.epoch.to_string();
        let saved = match (&mut self.media, &result) {
            (Some(media), Ok(raw)) => media.save(raw).unwrap_or_else(|error| {
                self.report.fault("--save-media", format_args!("{error}; it stays in the result"));
                None
            }),
            _ => None,
        };
        let result = match &saved {
            Some(saved) => Ok(&**saved),
            None => result,
        };
        let (failed, report, is_setup) = (std::cell::Cell::new(false), &self.report, flying.is_setup);
        let answer = |call: &Call<'_>| {
            let more = [("epoch", epoch.as_str())];
            outcome(&result, &mut |outcome| {
                failed.set(matches!(outcome, Outcome::Error { .. }));
                call.answer_with(outcome, &more)
            })
        };
        if is_setup {
            let line = &self.settings.setup[self.set_up - 1];
            let told = recognise(line).ok().flatten().map(|call| answer(&call)).unwrap_or_default();
            if failed.get() {
                report.fault("--setup", format_args!("{line}: {told}"));
            }
            return;
        }
        self.queue.answer(id, |line| match recognise(line) {
            Ok(Some(call)) => answer(&call),
            _ => String::new(),
        });
        if failed.get() {
            self.report.fail();
        }
    }

    /// The server is gone, or can't be spoken with.
    fn lose(&mut self, loss: &Loss, out: &mut Out) -> Result<(), Failure> {
        if self.parting.is_some() {
            out.stop(self.report.finish());
            return Ok(());
        }
        let then = self.server.lose(loss);
        self.show("lost", &json!({"why": loss.message, "status": loss.status, "stderr": loss.stderr}).to_string(), out);
        let more = [("maybe_executed", "true"), ("epoch", &*self.server.epoch.to_string())];
        for (id, flying) in std::mem::take(&mut self.flying) {
            if flying.is_repeatable && then == Then::Restart {
                self.queue.unsend(id);
            } else if !flying.is_setup {
                self.report.fail();
                self.queue.answer(id, |call| lost(call, loss, &more));
            }
        }
        if then == Then::Restart {
            return Ok(());
        }
        self.server.say_tail(loss);
        if self.queue.answer_all(|call| lost(call, loss, &more[1..])) {
            self.report.fail();
        }
        self.drain(out);
        Err(match then {
            Then::NotStarted(why) => Failure::new(Status::NotStarted, why),
            _ => Failure::new(Status::Lost, format_args!("{}; it was started too often (--restart)", loss.message)),
        })
    }

    fn drain(&mut self, out: &mut Out) {
        let to = out.to(Side::Near);
        if self.settings.unordered { self.queue.drain_any(to) } else { self.queue.drain(to) }
    }

    /// What is late is answered, and what has to be done at its time is.
    fn due(&mut self, out: &mut Out) -> Result<(), Failure> {
        let now = Instant::now();
        if self.settings.deadline.is_some_and(|deadline| deadline <= now) {
            let epoch = self.server.epoch;
            self.queue.answer_all(|line| match recognise(line) {
                Ok(Some(call)) => refused(&call, Kind::Timeout, "the time for all calls is over (--deadline)", epoch),
                _ => String::new(),
            });
            self.drain(out);
            return Err(Failure::new(Status::Deadline, "the time for all calls is over (--deadline)"));
        }
        if self.parting.is_some_and(|parting| parting <= now) {
            out.stop(self.report.finish());
            return Ok(());
        }
        self.give_up_late_calls(now, out);
        if self.server.is_to_restart() {
            out.respawn();
        } else if let Some(loss) = self.server.overdue() {
            self.lose(&loss, out)?;
        }
        Ok(())
    }

    fn give_up_late_calls(&mut self, now: Instant, out: &mut Out) {
        let late = |flying: &Flying| flying.until.is_some_and(|until| until <= now);
        let ids: Vec<u64> = self.flying.iter().filter(|(_, flying)| late(flying)).map(|(id, _)| *id).collect();
        let epoch = self.server.epoch;
        for id in ids {
            self.flying.remove(&id);
            self.server.client.cancel(id, "timeout", out.to(Side::Far));
            self.report.fail();
            self.queue.answer(id, |line| match recognise(line) {
                Ok(Some(call)) => {
                    refused(&call, Kind::Timeout, "the server has not answered in time (--timeout)", epoch)
                }
                _ => String::new(),
            });
        }
    }

    /// What follows from every event.
    fn go_on(&mut self, out: &mut Out) {
        self.send(out);
        self.drain(out);
        out.hold_near(self.queue.is_full());
        let is_done = self.near_ended && self.queue.is_empty() && self.flying.is_empty();
        if is_done && self.parting.is_none() && self.server.client.is_ready() {
            self.parting = Some(Instant::now() + PARTING);
            out.close_far();
        }
    }

    /// Of a result that is too long, the beginning may tell which; else it is that of the only call.
    fn hear_part(&mut self, bytes: &[u8], last: bool, out: &mut Out) {
        if std::mem::replace(&mut self.in_part, !last) {
            return;
        }
        let why = "the server's line is longer than --max-result";
        self.show("noise", &json!(why).to_string(), out);
        let named = text(&bytes[..bytes.len().min(64)]).split_once("\"id\":").and_then(|(_, rest)| {
            rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|id| id.parse::<u64>().ok())
        });
        let only = if self.flying.len() == 1 { self.flying.keys().next().copied() } else { None };
        let Some(id) = named.filter(|id| self.flying.contains_key(id)).or(only) else { return };
        self.flying.remove(&id);
        self.report.fail();
        let epoch = self.server.epoch;
        self.queue.answer(id, |line| match recognise(line) {
            Ok(Some(call)) => refused(&call, Kind::TooLarge, why, epoch),
            _ => String::new(),
        });
    }
}

/// JSON text without line feeds: between its tokens they are only white space.
fn one_line(raw: &RawValue) -> String {
    raw.get().replace(['\n', '\r'], " ")
}

impl Stage for Pipe {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started => self.server.greet(out.to(Side::Far)),
            Event::Piece(Side::Near, Piece::Line(line)) => self.take(&line, out),
            Event::Piece(Side::Near, Piece::Part { last: true, number, .. }) => {
                self.refuse_line(number, Kind::TooLarge, "longer than --max-line");
            }
            Event::Piece(Side::Far, Piece::Line(line)) => self.hear(&line, out)?,
            Event::Piece(Side::Far, Piece::Part { bytes, last, .. }) => self.hear_part(bytes, last, out),
            Event::Piece(Side::FarError, piece) => {
                self.server.print(piece.raw());
                if self.settings.verbose {
                    out.to(Side::FarError).extend_from_slice(piece.raw());
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
            Event::Signal(_) | Event::Broken(..) | Event::Closed(_) | Event::Reopen => {}
        }
        self.go_on(out);
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        let calls = self.flying.values().filter_map(|flying| flying.until);
        calls.chain(self.server.deadline()).chain(self.settings.deadline).chain(self.parting).min()
    }
}

/// The eras by the names that `--protocol` takes.
pub fn era(text: &str) -> Result<Era, String> {
    [Era::Legacy, Era::Modern]
        .into_iter()
        .find(|era| era.version() == text)
        .ok_or_else(|| format!("{} or {}", Era::Legacy.version(), Era::Modern.version()))
}
