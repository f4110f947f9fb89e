//! What the server says, and what becomes of its calls when it is gone.

use super::pipe::{Over, Pipe};
use super::results::{answered, lost, outcome};
use super::server::{Cause, Loss, Then};
use crate::io::lines::{Line, text};
use crate::io::report::{Failure, Status};
use crate::io::stage::{Out, Side};
use crate::json::{Object, one_line};
use crate::mcp::{Given, Heard, given};
use crate::record::{Kind, Outcome, recognise};
use crate::rpc::RpcError;
use serde_json::json;
use serde_json::value::RawValue;
use std::time::{Duration, Instant};

/// Calls that were on their way when the server was lost for good are answered too: as long as the pauses between them are
/// shorter than this,
const LINGER: Duration = Duration::from_millis(100);
/// or this where the server was never up, since the caller may be starting as well,
const FIRST_CALLS: Duration = Duration::from_secs(1);
/// and for this long in all.
const LONGEST_LINGER: Duration = Duration::from_secs(5);

impl Pipe {
    pub(super) fn hear(&mut self, line: &Line<'_>, out: &mut Out) -> Result<(), Failure> {
        let body = text(line.body());
        match self.server.client.hear(&body, out.to(Side::Far)) {
            Heard::Ready => self.ready(out),
            Heard::Answer(id, result) => self.take_result(id, result, out),
            Heard::Refused(error) => {
                let message = format!("the server refuses the greeting: {} ({})", error.message, error.code);
                let loss = self.server.loss(message, Cause::Refused);
                return self.lose(&loss, out);
            }
            Heard::Failed(why) => {
                // A greeting that can't be read may be of the other era; a list of tools is not.
                let cause = if self.server.client.has_greeted() { Cause::Unusable } else { Cause::Refused };
                let loss = self.server.loss(why, cause);
                return self.lose(&loss, out);
            }
            Heard::Event(kind, params) => self.show(&kind, params, out),
            Heard::Elicits(id, params) => self.elicit(id, params, out),
            Heard::Withdraws(id) => {
                if !self.withdraw(id) {
                    self.show("cancelled", &Object::default().put("requestId", id).end(), out);
                }
            }
            Heard::Asks(method, params) => {
                let asked = Object::default().text("method", &method).put("params", params);
                self.show("request", &asked.end(), out);
            }
            Heard::Noise(why) => {
                if body.trim_start().starts_with(['{', '[']) {
                    self.unreadable = Some((Instant::now(), why));
                }
                self.show("noise", &json!(body).to_string(), out);
            }
            Heard::Relisted => {
                self.schemas.clear();
                self.show("tools", "{}", out);
            }
            Heard::NotRelisted(why) => self.show("tools", &json!({"error": why}).to_string(), out),
            Heard::Alive => self.end_suspicion(),
            Heard::Nothing => {}
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
                let raw =
                    serde_json::from_str(&tool.raw).map_or(tool.raw.clone(), |raw: Box<RawValue>| one_line(raw.get()));
                out.to(Side::Near).extend_from_slice(format!("{raw}\n").as_bytes());
            }
            self.near_ended = true;
        }
    }

    /// An event as `--events` has it; `data` is JSON text.
    pub(super) fn show(&mut self, event: &str, data: &str, out: &mut Out) {
        if let Some(events) = &mut self.events {
            let event = Object::default().text("event", event).put("data", data);
            events.take("mcp", &event.end(), out);
        }
    }

    fn take_result(&mut self, id: u64, result: Result<&RawValue, RpcError>, out: &mut Out) {
        if self.settings.interactive.is_some()
            && let Ok(result) = result
            && matches!(given(result), Given::InputRequired(_))
        {
            match self.ask_for_call(id, result, out) {
                Ok(()) => return,
                Err(why) => self.report.fault("input_required", why),
            }
        }
        self.settle(id, result);
    }

    fn settle(&mut self, id: u64, result: Result<&RawValue, RpcError>) {
        let Some(flying) = self.flying.remove(&id) else { return };
        self.server.has_answered();
        self.end_suspicion();
        let saved = match (&mut self.media, &result) {
            (Some(media), Ok(raw)) => media.save(raw).unwrap_or_else(|error| {
                self.report.fault("--save-media", format_args!("{error}; it stays in the result"));
                None
            }),
            _ => None,
        };
        let result = saved.as_deref().map_or(result, Ok);
        if flying.is_setup {
            outcome(&result, &mut |outcome| {
                if let Outcome::Error { message, .. } = outcome {
                    self.fail_setup(message);
                }
                String::new()
            });
            return;
        }
        let (epoch, mut failed) = (self.server.epoch, false);
        self.queue.answer(id, |waiting| {
            outcome(&result, &mut |outcome| {
                failed = matches!(outcome, Outcome::Error { .. });
                waiting.answer(|call| answered(call, outcome, waiting.sent_at, epoch))
            })
        });
        if failed {
            self.report.fail();
        }
    }

    /// Told without the call's arguments: a login has its secrets there.
    pub(super) fn fail_setup(&self, why: &str) {
        let call =
            self.settings.setup.get(self.set_up.saturating_sub(1)).and_then(|line| recognise(line).ok().flatten());
        let tool = call.map(|call| call.tool.into_owned()).unwrap_or_default();
        self.report.fault("--setup", format_args!("call {}, {tool}: {why}", self.set_up));
    }

    /// The server is gone, or can't be spoken with.
    pub(super) fn lose(&mut self, loss: &Loss, out: &mut Out) -> Result<(), Failure> {
        if self.parting.is_some() {
            out.stop(self.report.finish());
            return Ok(());
        }
        if self.server.is_down() {
            return Ok(());
        }
        self.questions.clear();
        let then = self.server.lose(loss);
        self.show("lost", &json!({"why": loss.message, "status": loss.status, "stderr": loss.stderr}).to_string(), out);
        let epoch = self.server.epoch;
        for (id, flying) in std::mem::take(&mut self.flying) {
            if flying.is_repeatable && then == Then::Restart {
                self.queue.renumber(id, None);
            } else if !flying.is_setup {
                self.report.fail();
                self.queue.answer(id, |call| lost(call, Kind::Lost, loss, epoch));
            }
        }
        if then != Then::Restart {
            self.server.say_tail(loss);
        }
        let (kind, failure, patience) = match then {
            Then::GiveUp(why) => (Kind::Lost, (Status::Lost, why), LINGER),
            Then::NotStarted(why) => (Kind::StartFailed, (Status::NotStarted, why), FIRST_CALLS),
            Then::Restart => return Ok(()),
        };
        let now = Instant::now();
        let over =
            Over { loss: loss.clone(), kind, failure, patience, until: now + patience, latest: now + LONGEST_LINGER };
        self.over = Some(over);
        Ok(())
    }
}
