//! From a line of the near side's to a call of the server's tool.

use super::pipe::{Flying, Pipe};
use super::results::refused;
use crate::cmd::queue::Pending;
use crate::io::lines::{Line, TOO_DEEP, deeper_than};
use crate::io::stage::{Out, Side};
use crate::record::{InputResponse, Kind, is_cancel, recognise};
use std::time::Instant;

impl Pipe {
    /// Takes a line of the near side's.
    pub(super) fn take(&mut self, line: &Line<'_>, out: &mut Out) {
        if line.is_blank() {
            return;
        }
        if deeper_than(line.body(), self.settings.max_depth) {
            return self.refuse_line(line.number(), Kind::BadInput, TOO_DEEP);
        }
        let Ok(body) = std::str::from_utf8(line.body()) else {
            return self.refuse_line(line.number(), Kind::BadInput, "it is no UTF-8");
        };
        let call = match recognise(body) {
            Err(error) => return self.refuse_line(line.number(), Kind::BadInput, &error.to_string()),
            Ok(None) => return self.take_other(body, line, out),
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

    /// Takes a record that is no call.
    fn take_other(&mut self, body: &str, line: &Line<'_>, out: &mut Out) {
        if let Some(id) = is_cancel(body) {
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

    /// A line that can't be read is told, and answered like a call of our own vocabulary.
    pub(super) fn refuse_line(&mut self, number: u64, kind: Kind, why: &str) {
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
                self.flying.insert(id, Flying { until, is_repeatable: false, is_setup: true, rounds: 0 });
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
            flying.insert(id, Flying { until, is_repeatable, is_setup: false, rounds: 0 });
            Some(Ok(id))
        });
    }
}
