//! The stage: clients on one side, the world on the other, and the MCP server between them.

use super::exchange::{Inbound, ended, outbound};
use crate::cmd::options::{Limit, TOO_DEEP, TOO_LONG};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Line, Piece, deeper_than};
use pipewright_mcp::{Origin, Outbox, Server, WorldLine};
use pipewright_record::rpc::{INVALID_REQUEST, PARSE_ERROR};
use pipewright_record::{OwnedTool, Reason};
use pipewright_sys::process::{describe, exit_code};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub struct McpServeSettings {
    /// The tools, for a world that does not list them itself.
    pub tools: Option<Vec<OwnedTool>>,
    /// How long the world may take to list its tools.
    pub start_timeout: Limit,
    pub max_depth: usize,
    pub front: ClientTransport,
}

/// Where clients connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientTransport {
    /// One client, on the near side.
    Stdio,
    /// Any number, through the HTTP threads: far side 1. The world is far side 0.
    Http,
}

const WORLD: usize = 0;
const HTTP: usize = 1;

/// Stdin and stdout are one link with one session.
const STDIO: Origin<'_> = Origin { link: 0, session: 0, headers: None };

/// The number of bytes kept of an overlong line, where the id of the call is found.
const HEAD: usize = 256;

/// How long a world may take to end by itself after its stdin was closed, with no open call.
const EXIT_TIMEOUT: Duration = Duration::from_secs(3);

pub struct McpServer {
    server: Server,
    settings: McpServeSettings,
    report: Arc<Report>,
    outbox: Outbox,
    /// When the world must have listed its tools.
    tools_by: Option<Instant>,
    /// The beginning of an overlong line from the world.
    overlong: Vec<u8>,
    /// The client has closed its side.
    near_ended: bool,
    /// The world's stdin was closed.
    far_closed: bool,
    /// When a world that is not needed any more must have ended.
    end_by: Option<Instant>,
}

impl McpServer {
    pub fn new(settings: McpServeSettings, report: Arc<Report>) -> McpServer {
        McpServer {
            server: Server::default(),
            settings,
            report,
            outbox: Outbox::default(),
            tools_by: None,
            overlong: Vec::new(),
            near_ended: false,
            far_closed: false,
            end_by: None,
        }
    }

    fn take(&mut self, line: &Line<'_>) {
        if line.is_blank() {
            return;
        }
        if let Err(why) = self.take_message(STDIO, line.body()) {
            self.report.fault(format_args!("stdin:{}", line.number()), why);
        }
    }

    fn take_message(&mut self, from: Origin<'_>, message: &[u8]) -> Result<(), Reason> {
        let McpServer { server, outbox, .. } = self;
        match std::str::from_utf8(message) {
            _ if deeper_than(message, self.settings.max_depth) => {
                server.refuse_line(from, INVALID_REQUEST, TOO_DEEP, outbox)
            }
            Ok(text) => server.take_client_line(from, text, outbox),
            Err(_) => server.refuse_line(from, PARSE_ERROR, "not UTF-8", outbox),
        }
    }

    /// Takes a line of the HTTP threads.
    fn take_inbound(&mut self, line: &Line<'_>) {
        match std::str::from_utf8(line.body()).ok().and_then(Inbound::read) {
            Some(Inbound::Message { link, session, headers, message }) => {
                // The client gets an error response; other clients are not affected.
                let _ = self.take_message(Origin { link, session, headers: Some(&headers) }, message.as_bytes());
            }
            Some(Inbound::Stream { link, session }) => self.server.open_stream(Origin { link, session, headers: None }),
            Some(Inbound::Closed { link }) => self.server.close_link(link, &mut self.outbox),
            None => {}
        }
    }

    /// Reports an overlong line of the client, whose request id is unknown.
    fn take_part(&mut self, number: u64) {
        let refused = self.server.refuse_line(STDIO, INVALID_REQUEST, TOO_LONG, &mut self.outbox);
        if let Err(why) = refused {
            self.report.fault(format_args!("stdin:{number}"), why);
        }
    }

    fn take_world_line(&mut self, line: &Line<'_>) -> Result<(), Failure> {
        if line.is_blank() {
            return Ok(());
        }
        let read = match std::str::from_utf8(line.body()) {
            _ if deeper_than(line.body(), self.settings.max_depth) => WorldLine::Noise(TOO_DEEP.to_owned()),
            Ok(text) => self.server.take_world_line(text, &mut self.outbox),
            Err(_) => WorldLine::Noise("not UTF-8".to_owned()),
        };
        match read {
            WorldLine::Record => {}
            WorldLine::Noise(why) => self.report.note_limited(format_args!("world:{}: {why}; skipped", line.number())),
            WorldLine::Echo if self.server.has_tools() => {}
            WorldLine::Echo => self.serve_given_tools("it passes list_tools on instead of answering it")?,
        }
        if self.server.has_tools() {
            self.tools_by = None;
        }
        Ok(())
    }

    fn take_world_part(&mut self, bytes: &[u8], number: u64, last: bool) {
        let room = HEAD - self.overlong.len();
        self.overlong.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if last {
            let why = "the world's line is longer than --max-result";
            let head = std::mem::take(&mut self.overlong);
            self.server.take_overlong(&String::from_utf8_lossy(&head), why, &mut self.outbox);
            self.report.note_limited(format_args!("world:{number}: {why}"));
        }
    }

    /// Handles a world that does not list its tools: serves the tools of `--tools`, or fails.
    fn serve_given_tools(&mut self, why: &str) -> Result<(), Failure> {
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
        let why = format!("the world ended: {}", describe(status));
        if !self.near_ended {
            self.report.note(&why);
        }
        self.server.lose_world(&why, &mut self.outbox);
        out.stop(Status::Child(exit_code(status)));
    }

    fn due(&mut self, out: &mut Out) -> Result<(), Failure> {
        if self.end_by.is_some_and(|by| by <= Instant::now()) {
            out.stop(self.report.finish());
            self.end_by = None;
        }
        if self.tools_by.is_none_or(|by| Instant::now() < by) {
            return Ok(());
        }
        if out.far_waits(WORLD) {
            // The list may have arrived: this process reads nothing at the moment.
            self.tools_by = self.settings.start_timeout.end();
            return Ok(());
        }
        let seconds = self.settings.start_timeout.seconds();
        self.serve_given_tools(&format!("no answer to list_tools within {seconds} s (--start-timeout)"))
    }

    /// Sends the queued lines, in order.
    fn send(&mut self, out: &mut Out) {
        for line in self.outbox.world.drain(..) {
            out.to(Side::Far(WORLD)).extend_from_slice(line.as_bytes());
        }
        for (link, line) in self.outbox.clients.drain(..) {
            match self.settings.front {
                ClientTransport::Stdio => out.to(Side::NEAR).extend_from_slice(line.as_bytes()),
                ClientTransport::Http => out.to(Side::Far(HTTP)).extend_from_slice(outbound(link, &line).as_bytes()),
            }
        }
        let ends = std::mem::take(&mut self.outbox.ended);
        if self.settings.front == ClientTransport::Http {
            for link in ends {
                out.to(Side::Far(HTTP)).extend_from_slice(ended(link).as_bytes());
            }
        }
        out.hold_near(0, self.server.is_full());
        // Requests that wait for the list are still to be sent.
        if self.near_ended && self.server.has_tools() && !std::mem::replace(&mut self.far_closed, true) {
            out.close_far(WORLD);
        }
        if self.far_closed && self.server.is_idle() && !out.stopped() {
            self.end_by.get_or_insert_with(|| Instant::now() + EXIT_TIMEOUT);
        }
    }
}

impl McpServer {
    fn take_event(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started(WORLD) => {
                self.tools_by = self.settings.start_timeout.end();
                self.server.ask_for_tools(&mut self.outbox);
            }
            Event::Piece(Side::NEAR, Piece::Line(line)) => self.take(&line),
            Event::Piece(Side::NEAR, Piece::Part { number, last: true, .. }) => self.take_part(number),
            Event::Piece(Side::Far(WORLD), Piece::Line(line)) => self.take_world_line(&line)?,
            Event::Piece(Side::Far(WORLD), Piece::Part { bytes, number, last }) => {
                self.take_world_part(bytes, number, last);
            }
            Event::Piece(Side::Far(HTTP), Piece::Line(line)) => self.take_inbound(&line),
            Event::Closed(Side::NEAR) => self.near_ended = true,
            Event::Exited(WORLD, status) => self.exited(status, out),
            Event::Due => self.due(out)?,
            _ => {}
        }
        Ok(())
    }
}

impl Stage for McpServer {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        let done = self.take_event(event, out);
        self.send(out);
        done
    }

    fn deadline(&self) -> Option<Instant> {
        self.tools_by.into_iter().chain(self.end_by).min()
    }
}
