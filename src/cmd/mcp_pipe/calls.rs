//! From a line of the near side's to a call of the server's tool.

use super::connection::{Connection, route};
use super::pipe::{Flying, Pipe, Settings};
use super::results::{refused, unanswered};
use crate::cmd::intake;
use crate::cmd::queue::{Pending, Sending, Waiting};
use crate::io::lines::Line;
use crate::io::stage::{Out, Side};
use crate::mcp::READ_RESOURCE;
use crate::record::{Call, InputResponse, Kind, Unreadable, cancelled_id, is_same_id, recognise};
use serde_json::value::RawValue;
use std::time::{Duration, Instant};

impl Pipe {
    /// Takes a line of the near side's.
    pub(super) fn take(&mut self, line: &Line<'_>, out: &mut Out) {
        if line.is_blank() {
            return;
        }
        let (body, call) = match intake::read(line, self.settings.max_depth) {
            Ok(read) => read,
            Err(error) => return self.refuse_line(line.number(), Kind::BadInput, &error),
        };
        let Some(call) = call else { return self.take_other(body, line, out) };
        let at = route(&self.connections, &call.tool).map(|(at, _)| at);
        let refusal = if call.requires_approval {
            Some((Kind::NeedsApproval, "it still requires approval: let hitl-gate stand before this".to_owned()))
        } else if !self.settings.names.permits(&call.tool) {
            Some((Kind::Denied, format!("{} is not among the tools that --allow and --deny permit", call.tool)))
        } else if let Err(why) = &at {
            Some((Kind::UnknownTool, why.clone()))
        } else {
            intake::timeout(&call).err().map(|why| (Kind::BadInput, why))
        };
        let at = at.unwrap_or_default();
        self.queue.push(match refusal {
            None => Pending::unsent(at, body),
            Some((kind, why)) => {
                self.report.fault(format_args!("stdin:{}", line.number()), &why);
                Pending::done(&refused(&call, kind, &why, self.connections[at].server.epoch))
            }
        });
    }

    /// Takes a record that is no call.
    fn take_other(&mut self, body: &str, line: &Line<'_>, out: &mut Out) {
        if let Some(id) = cancelled_id(body) {
            return self.cancel(id.get(), out);
        }
        if self.settings.interactive.is_some() {
            let answered = match InputResponse::read(body) {
                Ok(None) => Ok(false),
                Ok(Some(answer)) => self.take_answer(&answer, out).map(|()| true),
                Err(error) => Err(error.to_string()),
            };
            match answered {
                Ok(false) => {}
                Ok(true) => return,
                Err(why) => return self.report.fault(format_args!("stdin:{}", line.number()), why),
            }
        }
        let mut raw = line.raw().to_vec();
        if !raw.ends_with(b"\n") {
            raw.push(b'\n');
        }
        self.queue.push(Pending::Done(raw));
    }

    /// Reports a line that cannot be read, and answers it as far as a call can be read in it.
    pub(super) fn refuse_line(&mut self, number: u64, kind: Kind, error: &Unreadable) {
        self.report.fault(format_args!("stdin:{number}"), error);
        self.queue.push(Pending::done(&error.refusal(kind, number)));
    }

    fn cancel(&mut self, id: &str, out: &mut Out) {
        let is_it =
            |call: &str| matches!(recognise(call), Ok(Some(call)) if is_same_id(call.id.map(RawValue::get), Some(id)));
        let Pipe { queue, connections, .. } = self;
        let answer = |waiting: &Waiting| {
            let epoch = connections[waiting.place].server.epoch;
            unanswered(waiting, Kind::Cancelled, "it was cancelled", None, epoch)
        };
        match queue.settle(is_it, answer) {
            Some(Some((at, sent))) => {
                out.choose_far(at);
                self.connections[at].flying.remove(&sent);
                self.questions.forget_call((at, sent));
                self.connections[at].server.client.cancel(sent, "cancelled", out.to(Side::Far));
            }
            Some(None) => {}
            None => self.report.note(format_args!("cancel: no call {id} is waiting")),
        }
        self.report.fail();
    }

    /// Sends what may be sent now.
    pub(super) fn send(&mut self, out: &mut Out) {
        (0..self.connections.len()).for_each(|at| self.send_setup(at, out));
        let Pipe { queue, connections, settings, report, .. } = self;
        let room = |connection: &Connection| {
            connection.takes_calls()
                && connection.flying.len() < settings.in_flight
                && !connection.flying.values().any(|flying| flying.is_setup)
        };
        let mut has_room: Vec<bool> = connections.iter().map(room).collect();
        queue.send(|waiting| {
            if !has_room.contains(&true) {
                return Sending::Stop;
            }
            let at = waiting.place;
            if !has_room[at] {
                return Sending::Later;
            }
            let connection = &mut connections[at];
            out.choose_far(at);
            let sent = connection.send_call(waiting, settings, out.to(Side::Far));
            match &sent {
                Sending::Later => has_room[at] = false,
                Sending::Answered(_) => report.fail(),
                Sending::Sent((_, id)) => {
                    has_room[at] = connection.flying.len() < settings.in_flight;
                    return Sending::Sent((at, *id));
                }
                Sending::Stop => {}
            }
            sent
        });
    }

    /// Sends the next call of a set-up, one at a time.
    fn send_setup(&mut self, at: usize, out: &mut Out) {
        let connection = &mut self.connections[at];
        if !connection.takes_calls() || !connection.flying.is_empty() {
            return;
        }
        let Some(line) = connection.setup.get(connection.set_up) else { return };
        connection.set_up += 1;
        if let Ok(Some(call)) = recognise(line) {
            out.choose_far(at);
            let timeout = timeout(&call, self.settings.timeout);
            let tool = connection.own_name(&call.tool).unwrap_or(&call.tool);
            let id = connection.server.client.call(tool, arguments(&call), out.to(Side::Far));
            connection.flying.insert(id, Flying::new(timeout, false, true));
        }
    }
}

impl Connection {
    /// Sends a call, or says why not.
    fn send_call(&mut self, waiting: &Waiting, settings: &Settings, to: &mut Vec<u8>) -> Sending {
        // It was a call of the server's when it came.
        let Ok(Some(call)) = recognise(&waiting.call) else { return Sending::Answered(String::new()) };
        let tool = self.own_name(&call.tool).unwrap_or(&call.tool);
        if settings.check
            && let Err((kind, why)) = self.schemas.check(&self.server.client, &self.prefix, tool, arguments(&call))
        {
            if kind == Kind::UnknownTool && self.server.client.is_relisting() {
                return Sending::Later;
            }
            return Sending::Answered(unanswered(waiting, kind, &why, None, self.server.epoch));
        }
        let listed = self.server.client.tool(tool);
        let is_repeatable = listed.map_or(tool == READ_RESOURCE, |tool| tool.is_repeatable);
        let id = self.server.client.call(tool, arguments(&call), to);
        self.flying.insert(id, Flying::new(timeout(&call, settings.timeout), is_repeatable, false));
        Sending::Sent((0, id))
    }
}

/// The call's arguments, a JSON object.
pub(super) fn arguments<'a>(call: &Call<'a>) -> &'a str {
    call.arguments.map_or("{}", RawValue::get)
}

/// How long a call may take; `None` is without a limit. Its own timeout was read when it came.
fn timeout(call: &Call<'_>, usual: Option<Duration>) -> Option<Duration> {
    match intake::timeout(call) {
        Ok(Some(own)) => Some(own).filter(|own| !own.is_zero()),
        _ => usual,
    }
}

impl Flying {
    fn new(timeout: Option<Duration>, is_repeatable: bool, is_setup: bool) -> Flying {
        Flying { timeout, until: timeout.map(|it| Instant::now() + it), is_repeatable, is_setup, rounds: 0 }
    }
}
