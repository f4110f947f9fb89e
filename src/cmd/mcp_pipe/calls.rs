//! From a line of the near side's to a call of the server's tool.

use super::pipe::{Flying, Pipe};
use super::results::{refused, unanswered};
use crate::cmd::intake;
use crate::cmd::queue::Pending;
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
        let refusal = if call.requires_approval {
            Some((Kind::NeedsApproval, "it still requires approval: let hitl-gate stand before this".to_owned()))
        } else if !self.settings.names.permits(&call.tool) {
            Some((Kind::Denied, format!("{} is not among the tools that --allow and --deny permit", call.tool)))
        } else {
            intake::timeout(&call).err().map(|why| (Kind::BadInput, why))
        };
        self.queue.push(match refusal {
            None => Pending::unsent(body),
            Some((kind, why)) => {
                self.report.fault(format_args!("stdin:{}", line.number()), &why);
                Pending::done(&refused(&call, kind, &why, self.server.epoch))
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
        let epoch = self.server.epoch;
        match self.queue.settle(is_it, |call| unanswered(call, Kind::Cancelled, "it was cancelled", None, epoch)) {
            Some(Some(sent)) => {
                self.flying.remove(&sent);
                self.questions.forget_call(sent);
                self.server.client.cancel(sent, "cancelled", out.to(Side::Far));
            }
            Some(None) => {}
            None => self.report.note(format_args!("cancel: no call {id} is waiting")),
        }
        self.report.fail();
    }

    /// Sends what may be sent now.
    pub(super) fn send(&mut self, out: &mut Out) {
        if !self.server.client.is_ready() || self.parting.is_some() || self.health.is_suspect() {
            return;
        }
        while self.set_up < self.settings.setup.len() && self.flying.is_empty() {
            let line = self.settings.setup[self.set_up].clone();
            self.set_up += 1;
            if let Ok(Some(call)) = recognise(&line) {
                let timeout = timeout(&call, self.settings.timeout);
                let id = self.server.client.call(&call.tool, arguments(&call), out.to(Side::Far));
                self.flying.insert(id, Flying::new(timeout, false, true));
            }
        }
        if self.flying.values().any(|flying| flying.is_setup) {
            return;
        }
        let Pipe { queue, flying, server, settings, schemas, report, .. } = self;
        queue.send(|waiting| {
            if flying.len() >= settings.in_flight {
                return None;
            }
            let Ok(Some(call)) = recognise(&waiting.call) else { return Some(Err(String::new())) };
            if settings.check
                && let Err((kind, why)) = schemas.check(&server.client, &call.tool, arguments(&call))
            {
                if kind == Kind::UnknownTool && server.client.is_relisting() {
                    return None;
                }
                report.fail();
                return Some(Err(refused(&call, kind, &why, server.epoch)));
            }
            let is_repeatable =
                server.client.tool(&call.tool).map_or(call.tool == READ_RESOURCE, |tool| tool.is_repeatable);
            let id = server.client.call(&call.tool, arguments(&call), out.to(Side::Far));
            flying.insert(id, Flying::new(timeout(&call, settings.timeout), is_repeatable, false));
            Some(Ok(id))
        });
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
