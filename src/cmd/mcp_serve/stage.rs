//! The stage: the client on the near side, the world on the far side, and the server's side of MCP between them.

use crate::io::child::{describe, exit_code};
use crate::io::lines::{Line, Piece, TOO_DEEP, TOO_LONG, deeper_than};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::mcp::{Origin, Outbox, Server, WorldLine};
use crate::record::OwnedTool;
use crate::rpc::{INVALID_REQUEST, PARSE_ERROR};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub struct Settings {
    /// Where the world does not list them itself.
    pub tools: Option<Vec<OwnedTool>>,
    /// How long it may take to.
    pub start_timeout: Duration,
    pub max_depth: usize,
}

/// Stdin and stdout are one link, which is one session.
const STDIO: Origin<'_> = Origin { link: 0, session: 0, headers: None };

/// The beginning of a line that is too long, where the id of the call stands.
const HEAD: usize = 256;

pub struct Serving {
    server: Server,
    settings: Settings,
    report: Arc<Report>,
    outbox: Outbox,
    /// By when the world must have listed its tools.
    tools_by: Option<Instant>,
    /// The beginning of a line of the world's that is too long.
    overlong: Vec<u8>,
    /// The client will send nothing more.
    near_ended: bool,
    /// The world's stdin has been closed.
    far_closed: bool,
}

impl Serving {
    pub fn new(settings: Settings, report: Arc<Report>) -> Serving {
        Serving {
            server: Server::default(),
            settings,
            report,
            outbox: Outbox::default(),
            tools_by: None,
            overlong: Vec::new(),
            near_ended: false,
            far_closed: false,
        }
    }

    fn take(&mut self, line: &Line<'_>) {
        if line.is_blank() {
            return;
        }
        let Serving { server, outbox, .. } = self;
        let taken = match std::str::from_utf8(line.body()) {
            _ if deeper_than(line.body(), self.settings.max_depth) => {
                server.refuse_line(STDIO, INVALID_REQUEST, TOO_DEEP, outbox)
            }
            Ok(text) => server.take_client_line(STDIO, text, outbox),
            Err(_) => server.refuse_line(STDIO, PARSE_ERROR, "not UTF-8", outbox),
        };
        if let Err(why) = taken {
            self.report.fault(format_args!("stdin:{}", line.number()), why);
        }
    }

    /// A line of the client's that is too long: there is no knowing which request it is.
    fn take_part(&mut self, number: u64) {
        let refused = self.server.refuse_line(STDIO, INVALID_REQUEST, TOO_LONG, &mut self.outbox);
        if let Err(why) = refused {
            self.report.fault(format_args!("stdin:{number}"), why);
        }
    }

    fn hear(&mut self, line: &Line<'_>) -> Result<(), Failure> {
        if line.is_blank() {
            return Ok(());
        }
        let heard = match std::str::from_utf8(line.body()) {
            _ if deeper_than(line.body(), self.settings.max_depth) => WorldLine::Noise(TOO_DEEP.to_owned()),
            Ok(text) => self.server.take_world_line(text, &mut self.outbox),
            Err(_) => WorldLine::Noise("not UTF-8".to_owned()),
        };
        match heard {
            WorldLine::Record => {}
            WorldLine::Noise(why) => self.report.note_again(format_args!("world:{}: {why}; skipped", line.number())),
            WorldLine::Echo if self.server.has_tools() => {}
            WorldLine::Echo => self.do_without_list("it passes list_tools on instead of answering it")?,
        }
        if self.server.has_tools() {
            self.tools_by = None;
        }
        Ok(())
    }

    fn hear_part(&mut self, bytes: &[u8], number: u64, last: bool) {
        let room = HEAD - self.overlong.len();
        self.overlong.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if last {
            let why = "the world's line is longer than --max-result";
            let head = std::mem::take(&mut self.overlong);
            self.server.take_overlong(&String::from_utf8_lossy(&head), why, &mut self.outbox);
            self.report.note_again(format_args!("world:{number}: {why}"));
        }
    }

    /// The world does not list its tools: those of `--tools` are served, or nothing.
    fn do_without_list(&mut self, why: &str) -> Result<(), Failure> {
        self.tools_by = None;
        if let Some(tools) = self.settings.tools.take() {
            self.server.set_tools(tools, &mut self.outbox);
            return Ok(());
        }
        let why = format!("the world does not list its tools: {why}");
        self.server.fail_held(&why, &mut self.outbox);
        Err(Failure::new(Status::NotStarted, format_args!("{why}; give them with --tools FILE")))
    }

    fn exited(&mut self, status: ExitStatus, out: &mut Out) {
        let why = format!("the world has ended: {}", describe(status));
        if !self.near_ended {
            self.report.note(&why);
        }
        self.server.lose_world(&why, &mut self.outbox);
        out.stop(Status::Child(exit_code(status)));
    }

    fn due(&mut self, out: &Out) -> Result<(), Failure> {
        if self.tools_by.is_none_or(|by| Instant::now() < by) {
            return Ok(());
        }
        if out.far_waits() {
            // It may have listed them; whoever reads us has not let us read that yet.
            self.tools_by = Some(Instant::now() + self.settings.start_timeout);
            return Ok(());
        }
        let seconds = self.settings.start_timeout.as_secs_f64();
        self.do_without_list(&format!("no answer to list_tools within {seconds} s (--start-timeout)"))
    }

    /// Sends what has been decided, in its order.
    fn send(&mut self, out: &mut Out) {
        for line in self.outbox.world.drain(..) {
            out.to(Side::Far).extend_from_slice(line.as_bytes());
        }
        for (_, line) in self.outbox.clients.drain(..) {
            out.to(Side::Near).extend_from_slice(line.as_bytes());
        }
        out.hold_near(self.server.is_full());
        // Requests that wait for the list are still to be sent.
        if self.near_ended && self.server.has_tools() && !std::mem::replace(&mut self.far_closed, true) {
            out.close_far();
        }
    }
}

impl Stage for Serving {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        let done = match event {
            Event::Started => {
                self.tools_by = Some(Instant::now() + self.settings.start_timeout);
                self.server.ask_for_tools(&mut self.outbox);
                Ok(())
            }
            Event::Piece(Side::Near, Piece::Line(line)) => {
                self.take(&line);
                Ok(())
            }
            Event::Piece(Side::Near, Piece::Part { number, last: true, .. }) => {
                self.take_part(number);
                Ok(())
            }
            Event::Piece(Side::Far, Piece::Line(line)) => self.hear(&line),
            Event::Piece(Side::Far, Piece::Part { bytes, number, last }) => {
                self.hear_part(bytes, number, last);
                Ok(())
            }
            Event::Closed(Side::Near) => {
                self.near_ended = true;
                Ok(())
            }
            Event::Exited(status) => {
                self.exited(status, out);
                Ok(())
            }
            Event::Due => self.due(out),
            _ => Ok(()),
        };
        self.send(out);
        done
    }

    fn deadline(&self) -> Option<Instant> {
        self.tools_by
    }
}
