//! MCP servers as a world: how calls are routed and sent, and what the runtime needs from the servers.

use super::connection::{Connection, route};
use super::media::Media;
use super::questions::Questions;
use super::server::LossCause;
use crate::cmd::events::Events;
use crate::cmd::filter::Filter;
use crate::cmd::options::Limit;
use crate::cmd::refusal::Refusal;
use crate::cmd::world::intake::time_limit;
use crate::cmd::world::{Calls, FarCall, SendResult, World};
use pipewright_io::report::{Failure, Report};
use pipewright_io::stage::{Event, Out, Side};
use pipewright_lines::{Piece, text};
use pipewright_mcp::{Era, NameFilter, READ_RESOURCE};
use pipewright_record::{Call, InputResponse, Kind, OwnedCall};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a server may take to end by itself after its stdin was closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(3);
pub(super) const TIMED_OUT: &str = "the server did not answer in time (--timeout)";

/// The settings for calls and results.
pub struct CallSettings {
    /// The time limit of a call; `None` is unlimited.
    pub timeout: Option<Duration>,
    /// Whether arguments are checked against the tool's schema.
    pub check: bool,
    pub names: NameFilter,
    /// How results are interpreted if a server reports errors in its tools' content.
    pub status_from: Option<Filter>,
    /// Print this list and end.
    pub list: Option<PrintedList>,
    /// Whether the server's stderr is copied.
    pub verbose: bool,
    /// Whether the server may ask for input.
    pub interactive: bool,
    /// The time limit of an answer to it; `None` is unlimited.
    pub answer_timeout: Limit,
}

/// The lists of a server that can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintedList {
    Tools,
    Resources,
}

/// The servers, and their open questions.
pub struct Servers {
    pub(super) connections: Vec<Connection>,
    pub(super) settings: CallSettings,
    pub(super) media: Option<Media>,
    pub(super) events: Option<Events>,
    pub(super) report: Arc<Report>,
    pub(super) questions: Questions,
}

impl Servers {
    pub fn new(
        connections: Vec<Connection>,
        settings: CallSettings,
        media: Option<Media>,
        events: Option<Events>,
        report: Arc<Report>,
    ) -> Servers {
        let questions = Questions::new(settings.answer_timeout);
        Servers { connections, settings, media, events, report, questions }
    }

    /// Sends the next set-up call, one at a time.
    fn send_setup(&mut self, at: usize, calls: &Calls, out: &mut Out) {
        let connection = &mut self.connections[at];
        if connection.has_left || !connection.may_send() || calls.in_flight(at) > 0 {
            return;
        }
        let Some(call) = connection.setup.get(connection.set_up) else { return };
        connection.set_up += 1;
        let timeout = time_limit(&call.call(), self.settings.timeout);
        let tool = connection.prefix.own_name(call.tool()).unwrap_or(call.tool());
        let id = connection.server.client.call(tool, call.call().arguments_text(), out.to(Side::Far(at)));
        connection.setup_call = Some(SetupCall { id, timeout, until: timeout.map(|timeout| Instant::now() + timeout) });
    }

    /// Gives up the set-up call if it is late.
    fn give_up_setup(&mut self, at: usize, calls: &mut Calls, out: &mut Out) {
        let now = Instant::now();
        let late = self.connections[at].setup_call.take_if(|call| call.until.is_some_and(|until| until <= now));
        let Some(call) = late else { return };
        self.connections[at].server.client.cancel(call.id, "timeout", out.to(Side::Far(at)));
        self.fail_setup(at, TIMED_OUT);
        self.probe_server(at, calls, out);
    }
}

/// An open set-up call; its result is not printed.
pub(super) struct SetupCall {
    pub(super) id: u64,
    pub(super) timeout: Option<Duration>,
    pub(super) until: Option<Instant>,
}

impl World for Servers {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn tools(&self) -> Vec<String> {
        let mut tools = Vec::new();
        for connection in self.connections.iter().filter(|connection| !connection.has_left) {
            for tool in connection.server.client.tools() {
                let name = connection.prefix.full_name(&tool.name);
                if self.settings.names.permits(&name) {
                    tools.push(tool.listed_as(&name));
                }
            }
        }
        tools
    }

    fn find_tools(&mut self, _out: &mut Out) -> bool {
        let mut clients =
            self.connections.iter().filter(|connection| !connection.has_left).map(|one| &one.server.client);
        clients.all(|client| client.is_ready() && !client.is_relisting())
    }

    fn route(&self, call: &Call<'_>) -> Result<usize, Refusal> {
        if !self.settings.names.permits(&call.tool) {
            let why = format!("{} is not among the tools that --allow and --deny permit", call.tool);
            return Err(Refusal::new(Kind::Denied, why));
        }
        route(&self.connections, &call.tool).map(|(at, _)| at).map_err(|why| Refusal::new(Kind::UnknownTool, why))
    }

    fn takes_calls(&self, far: usize) -> bool {
        let connection = &self.connections[far];
        connection.may_send() && connection.setup_call.is_none() && connection.set_up >= connection.setup.len()
    }

    fn send(&mut self, far: usize, call: &OwnedCall, timeout: Option<Duration>, out: &mut Out) -> SendResult {
        let connection = &mut self.connections[far];
        let arguments = call.call().arguments_text();
        let tool = connection.prefix.own_name(call.tool()).unwrap_or(call.tool());
        let client = &mut connection.server.client;
        if self.settings.check
            && let Err((kind, why)) = connection.schemas.check(client, &connection.prefix, tool, arguments)
        {
            let is_unknown_yet = kind == Kind::UnknownTool && client.is_relisting();
            return if is_unknown_yet { SendResult::Later } else { SendResult::Refused(Refusal::new(kind, why)) };
        }
        let is_repeatable = client.tool(tool).map_or(tool == READ_RESOURCE, |tool| tool.is_repeatable);
        SendResult::Sent { id: client.call(tool, arguments, out.to(Side::Far(far))), timeout, is_repeatable }
    }

    fn cancel(&mut self, number: FarCall, reason: &'static str, out: &mut Out) {
        self.questions.forget_call(number);
        self.connections[number.far].server.client.cancel(number.id, reason, out.to(Side::Far(number.far)));
    }

    fn late_message(&self, far: usize, sent_at: Option<Instant>) -> String {
        let came_since = |at: &Instant| sent_at.is_some_and(|sent_at| sent_at <= *at);
        let reply = self.connections[far].unreadable.as_ref().filter(|(at, _)| came_since(at));
        let reply = reply.map_or(String::new(), |(_, why)| format!("; it sent a line that is {why}"));
        format!("{TIMED_OUT}{reply}")
    }

    fn timed_out(&mut self, far: usize, calls: &mut Calls, out: &mut Out) {
        self.probe_server(far, calls, out);
    }

    fn take_record(&mut self, text: &str, calls: &mut Calls, out: &mut Out) -> Result<bool, String> {
        if !self.settings.interactive {
            return Ok(false);
        }
        match InputResponse::read(text) {
            Ok(None) => Ok(false),
            Ok(Some(answer)) => self.take_answer(&answer, calls, out).map(|()| true),
            Err(error) => Err(error.to_string()),
        }
    }

    fn on(&mut self, event: Event<'_>, calls: &mut Calls, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started(at) => self.connections[at].server.start_handshake(out.to(Side::Far(at))),
            Event::Piece(Side::Far(at), Piece::Line(line)) => self.take_line(at, &line, calls, out),
            Event::Piece(Side::Far(at), Piece::Part { bytes, last, .. }) => self.take_part(at, bytes, last, calls, out),
            Event::Piece(Side::FarError(at), piece) => {
                self.connections[at].server.print(piece.raw());
                if self.settings.verbose {
                    out.pass(Side::FarError(at), &piece);
                }
                self.show(at, "stderr", &json!(text(piece.raw()).trim_end()).to_string(), out);
            }
            Event::Closed(Side::Far(at)) | Event::Broken(Side::Far(at), _) => self.connections[at].server.closed(),
            Event::Exited(at, status) => {
                let loss = self.connections[at].server.exited(status);
                self.server_lost(at, &loss, calls, out);
            }
            _ => {}
        }
        Ok(())
    }

    fn not_started(&mut self, far: usize, failure: Failure, calls: &mut Calls, out: &mut Out) {
        let loss = self.connections[far].server.loss(failure.to_string(), LossCause::NoProgram);
        self.server_lost(far, &loss, calls, out);
    }

    fn advance(&mut self, calls: &mut Calls, near_ended: bool, out: &mut Out) {
        if !self.questions.is_empty() {
            if near_ended {
                self.cancel_questions("nobody can answer: stdin has ended", calls, out);
            } else if calls.is_full() {
                // An answer would come after lines that cannot be read yet.
                self.cancel_questions("no answer within the next thousand lines", calls, out);
            }
        }
        if self.settings.list == Some(PrintedList::Tools) {
            self.print_tools(out);
        }
        for at in 0..self.connections.len() {
            self.watch_list(at);
            self.send_setup(at, calls, out);
            self.watch(at, calls);
        }
    }

    fn restart_timeouts(&mut self, far: usize) {
        if let Some(call) = &mut self.connections[far].setup_call {
            call.until = call.timeout.map(|timeout| Instant::now() + timeout);
        }
        self.connections[far].server.restart_timeouts();
    }

    fn waits_for_near(&self, far: usize) -> bool {
        self.questions.has_own_of(far)
    }

    fn due(&mut self, far: usize, calls: &mut Calls, out: &mut Out) {
        let now = Instant::now();
        if self.connections[far].has_left || self.connections[far].parting.is_some_and(|parting| parting <= now) {
            self.connections[far].has_left = true;
            return;
        }
        self.cancel_late_questions(now, calls, out);
        self.give_up_list(far, now);
        self.give_up_setup(far, calls, out);
        if let Some(loss) = self.connections[far].server.overdue() {
            self.server_lost(far, &loss, calls, out);
        }
        self.probe(far, calls, out);
    }

    fn deadline(&self) -> Option<Instant> {
        self.connections.iter().map(Connection::deadline).chain([self.questions.deadline()]).flatten().min()
    }

    fn is_busy(&self) -> bool {
        self.connections.iter().any(|it| it.setup_call.is_some() || (self.settings.list.is_some() && !it.has_listed))
    }

    fn ask_to_end(&mut self, far: usize, out: &mut Out) -> bool {
        let is_one_of_several = self.connections.len() > 1;
        let connection = &mut self.connections[far];
        let is_ready = connection.server.client.is_ready();
        // An unavailable server gets no more calls; one of several that never got a call is not waited for.
        if connection.server.is_lost() || (is_one_of_several && !is_ready) {
            connection.has_left = true;
        } else if connection.parting.is_none() && is_ready {
            connection.parting = Some(Instant::now() + EXIT_TIMEOUT);
            out.close_far(far);
        }
        connection.has_left
    }
}

/// An era by its name in `--protocol`.
pub fn era(text: &str) -> Result<Era, String> {
    [Era::Legacy, Era::Modern]
        .into_iter()
        .find(|era| era.version() == text)
        .ok_or_else(|| format!("expected {} or {}", Era::Legacy.version(), Era::Modern.version()))
}
