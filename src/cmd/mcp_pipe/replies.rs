//! Handles the lines of a server, and its calls when it is lost.

use super::results::outcome;
use super::server::{AfterLoss, LossCause, ServerLoss};
use super::world::{PrintedList, Servers};
use crate::cmd::filter::FilteredLine as Made;
use crate::cmd::world::{Calls, FIRST_LINGER, FarCall, LINGER};
use pipewright_io::report::{Failure, Status};
use pipewright_io::stage::{Out, Side};
use pipewright_lines::{Change, Line, change, text};
use pipewright_log::Direction;
use pipewright_mcp::{CallOutcome, ServerMessage, given};
use pipewright_record::json::{Object, one_line, quoted};
use pipewright_record::rpc::RpcError;
use pipewright_record::{Kind, Outcome, OwnedCall};
use serde_json::json;
use serde_json::value::RawValue;
use std::time::Instant;

impl Servers {
    pub(super) fn take_line(&mut self, at: usize, line: &Line<'_>, calls: &mut Calls, out: &mut Out) {
        let body = text(line.body());
        match self.connections[at].server.client.receive(&body, out.to(Side::Far(at))) {
            ServerMessage::Ready => self.ready(at, calls, out),
            ServerMessage::Answer(id, result) => self.take_result(at, id, result, calls, out),
            ServerMessage::Refused(error) => {
                let message = format!("the server rejected the handshake: {} ({})", error.message, error.code);
                let loss = self.connections[at].server.loss(message, LossCause::Refused);
                self.server_lost(at, &loss, calls, out);
            }
            ServerMessage::Failed(why) => {
                // An unreadable handshake may be of the other era; an unreadable list of tools is not.
                let cause = if self.connections[at].server.client.is_initialised() {
                    LossCause::Unusable
                } else {
                    LossCause::Refused
                };
                let loss = self.connections[at].server.loss(why, cause);
                self.server_lost(at, &loss, calls, out);
            }
            ServerMessage::Event(kind, params) => {
                if kind == "progress" {
                    // The server is working.
                    self.end_probe(at);
                }
                let call = progress_of(&kind, params).and_then(|id| calls.call(FarCall { far: at, id }));
                self.show_about(at, call.and_then(|call| call.call().id), &kind, params, out);
            }
            ServerMessage::Elicits(id, params) => self.elicit(at, id, params, calls, out),
            ServerMessage::Withdraws(id) => {
                if !self.withdraw(at, id) {
                    self.show(at, "cancelled", &Object::default().put("requestId", id).end(), out);
                }
            }
            ServerMessage::Asks(method, params) => {
                let asked = Object::default().text("method", &method).put("params", params);
                self.show(at, "request", &asked.end(), out);
            }
            ServerMessage::Noise(why) => {
                if body.trim_start().starts_with(['{', '[']) {
                    self.connections[at].unreadable = Some((Instant::now(), why));
                }
                self.show(at, "noise", &json!(body).to_string(), out);
            }
            ServerMessage::Resources(resources, is_last) => {
                let connection = &mut self.connections[at];
                for resource in resources {
                    print(resource.get(), connection.name().map(|name| ("server", name)), out);
                }
                connection.has_listed = is_last;
            }
            ServerMessage::NoResources(why) => {
                let connection = &mut self.connections[at];
                self.report.fault(connection.server.label(), why);
                connection.has_listed = true;
            }
            ServerMessage::Relisted => {
                self.connections[at].schemas.clear();
                self.show(at, "tools", "{}", out);
            }
            ServerMessage::NotRelisted(why) => self.show(at, "tools", &json!({"error": why}).to_string(), out),
            ServerMessage::Alive => self.end_probe(at),
            ServerMessage::Nothing => {}
        }
    }

    fn ready(&mut self, at: usize, calls: &mut Calls, out: &mut Out) {
        self.connections[at].server.finish_handshake();
        if let Some(restarts) = calls.restarts(at) {
            restarts.up();
        }
        self.connections[at].set_up = 0;
        self.connections[at].schemas.clear();
        let (era, epoch) = (self.connections[at].server.client.era(), calls.epoch(at));
        self.show(at, "started", &json!({"protocol": era.version(), "epoch": epoch}).to_string(), out);
        if self.settings.list == Some(PrintedList::Resources) {
            let connection = &mut self.connections[at];
            connection.list_by = connection.server.list_timeout().end();
            connection.server.client.list_resources(out.to(Side::Far(at)));
        }
    }

    /// Prints the tools of the servers, in the order of the servers, as far as they have arrived.
    pub(super) fn print_tools(&mut self, out: &mut Out) {
        for connection in self.connections.iter_mut().filter(|connection| !connection.has_left) {
            if !connection.server.client.is_ready() && !connection.has_listed {
                return;
            }
            if std::mem::replace(&mut connection.has_listed, true) {
                continue;
            }
            for tool in connection.server.client.tools() {
                let name = connection.prefix.full_name(&tool.name);
                if self.settings.names.permits(&name) {
                    print(&tool.raw, connection.name().map(|_| ("name", name.as_str())), out);
                }
            }
        }
    }

    /// Gives up a list that has not arrived in time: the resources, or changed tools.
    pub(super) fn give_up_list(&mut self, at: usize, now: Instant) {
        let connection = &mut self.connections[at];
        if connection.list_by.take_if(|by| *by <= now).is_none() {
            return;
        }
        let why = format!("no answer within {} s (--start-timeout)", connection.server.list_timeout().seconds());
        if self.settings.list.is_some() {
            self.report.fault(connection.server.label(), format_args!("resources/list: {why}"));
            connection.has_listed = true;
        } else {
            self.report
                .note(format_args!("{}: tools/list: {why}; using the previous tools", connection.server.label()));
            connection.server.client.keep_tools();
        }
    }

    /// Sets the time limit for a changed list of tools.
    pub(super) fn watch_list(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        if self.settings.list.is_none() {
            let by = connection.list_by.or_else(|| connection.server.list_timeout().end());
            connection.list_by = by.filter(|_| connection.server.client.is_relisting());
        }
    }

    /// Writes an event for `--events`; `data` is JSON text.
    pub(super) fn show(&mut self, at: usize, event: &str, data: &str, out: &mut Out) {
        self.show_about(at, None, event, data, out);
    }

    /// Writes an event about the call with this id.
    fn show_about(&mut self, at: usize, call_id: Option<&RawValue>, event: &str, data: &str, out: &mut Out) {
        if let Some(events) = &mut self.events {
            let event = Object::default().text("event", event).text_some("server", self.connections[at].name());
            let event = event.put("data", data);
            events.take("mcp", call_id, &event.end(), out);
        }
    }

    fn take_result(
        &mut self,
        at: usize,
        id: u64,
        result: Result<&RawValue, RpcError>,
        calls: &mut Calls,
        out: &mut Out,
    ) {
        if self.settings.interactive
            && let Ok(result) = result
            && matches!(given(result), CallOutcome::InputRequired(_))
        {
            match self.ask_for_call(at, id, result, calls, out) {
                Ok(()) => return,
                Err(why) => self.report.fault("input_required", why),
            }
        }
        self.settle(at, id, result, calls);
    }

    fn settle(&mut self, at: usize, id: u64, result: Result<&RawValue, RpcError>, calls: &mut Calls) {
        let is_setup = self.connections[at].setup_call.take_if(|call| call.id == id).is_some();
        if !is_setup && calls.call(FarCall { far: at, id }).is_none() {
            return;
        }
        if let Some(restarts) = calls.restarts(at) {
            restarts.answered();
        }
        self.end_probe(at);
        self.questions.forget_call(FarCall { far: at, id });
        let saved = self.save_media(&result);
        let result = saved.as_deref().map_or(result, Ok);
        let status = result.as_ref().ok().and_then(|result| self.status_of(result));
        if is_setup {
            outcome(&result, status.as_deref(), &mut |outcome| {
                if let Outcome::Error { message, .. } = outcome {
                    self.fail_setup(at, message);
                }
                String::new()
            });
            return;
        }
        let mut failed = false;
        calls.answer(FarCall { far: at, id }, |call, times| {
            outcome(&result, status.as_deref(), &mut |outcome| {
                failed = matches!(outcome, Outcome::Error { .. });
                times.answer(call, outcome)
            })
        });
        if failed {
            self.report.fail();
        }
    }

    fn save_media(&mut self, result: &Result<&RawValue, RpcError>) -> Option<Box<RawValue>> {
        let (Some(media), Ok(raw)) = (&mut self.media, result) else { return None };
        media.save(raw).unwrap_or_else(|error| {
            self.report.fault("--save-media", format_args!("{error}; the data stays in the result"));
            None
        })
    }

    /// The output of `--status-from` for a result.
    fn status_of(&self, result: &RawValue) -> Option<Box<RawValue>> {
        let (filter, mut made) = (self.settings.status_from.as_ref()?, Vec::new());
        match filter.change_json(result.get().as_bytes(), Direction::Out, &mut made) {
            Ok(Made::Json | Made::Text) => {
                String::from_utf8(made).ok().and_then(|made| RawValue::from_string(made).ok())
            }
            Ok(Made::Nothing) => None,
            Ok(Made::Failed(why)) | Err(why) => {
                self.report.fault("the result", format_args!("{why}; it is left unchanged"));
                None
            }
        }
    }

    /// Reports a failed set-up call without its arguments: a login has its secrets there.
    pub(super) fn fail_setup(&self, at: usize, why: &str) {
        let (setup, number) = (&self.connections[at].setup, self.connections[at].set_up);
        let tool = setup.get(number.saturating_sub(1)).map(OwnedCall::tool).unwrap_or_default();
        self.report.fault("--setup", format_args!("call {number}, {tool}: {why}"));
    }

    /// Handles the loss of a server, or one that cannot be used.
    pub(super) fn server_lost(&mut self, at: usize, loss: &ServerLoss, calls: &mut Calls, out: &mut Out) {
        if self.connections[at].parting.is_some() {
            self.connections[at].has_left = true;
            return;
        }
        if self.connections[at].server.is_down() {
            return;
        }
        self.questions.clear(at);
        self.connections[at].setup_call = None;
        let Some(restarts) = calls.restarts(at) else { return };
        let then = self.connections[at].server.after_loss(loss, restarts);
        let lost = json!({"why": loss.message, "status": loss.status, "stderr": loss.stderr});
        self.show(at, "lost", &lost.to_string(), out);
        loss.refused.iter().for_each(|id| calls.send_once_more(FarCall { far: at, id: *id }));
        calls.far_side_lost(at, &loss.refusal(Kind::Lost), then == AfterLoss::Restart);
        let (kind, failure, patience) = match then {
            AfterLoss::GiveUp(why) => (Kind::Lost, Failure::new(Status::Lost, why), LINGER),
            AfterLoss::NotStarted(why) => (Kind::StartFailed, Failure::new(Status::NotStarted, why), FIRST_LINGER),
            AfterLoss::Restart => return,
        };
        self.connections[at].server.say_tail(loss);
        if self.connections.len() > 1 {
            self.report.note(format_args!("{failure}; calls of its tools fail"));
        }
        self.connections[at].has_left = true;
        self.connections[at].has_listed = true;
        calls.give_up(at, loss.refusal(kind), failure, patience);
    }
}

/// Our number for the call of a progress notification: it is the token that we send.
fn progress_of(kind: &str, params: &str) -> Option<u64> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Progress {
        progress_token: u64,
    }
    let progress: Progress = serde_json::from_str(params).ok().filter(|_| kind == "progress")?;
    Some(progress.progress_token)
}

/// Prints an item of a server's list on one line: its JSON may span several lines. If there are several servers, a
/// field is added that names the server.
fn print(json: &str, which: Option<(&str, &str)>, out: &mut Out) {
    let line = one_line(json);
    let mut changed = Vec::new();
    if let Some((key, text)) = which
        && change(&line, &[(key, Change::Set(quoted(text).as_bytes()))], &mut changed).is_ok()
    {
        out.to(Side::NEAR).append(&mut changed);
        out.to(Side::NEAR).push(b'\n');
    } else {
        out.add_line(Side::NEAR, &line);
    }
}
