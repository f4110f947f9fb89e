//! What the server says, and what becomes of its calls when it is gone.

use super::pipe::{Listing, Over, Pipe};
use super::results::{answered, lost, outcome};
use super::server::{Cause, Loss, Then};
use crate::io::lines::{Line, text};
use crate::io::report::{Failure, Status};
use crate::io::stage::{Out, Side};
use crate::journal::Direction;
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
            Heard::Resources(resources, is_last) => {
                resources.iter().for_each(|resource| print(resource.get(), out));
                self.near_ended = is_last;
            }
            Heard::NoResources(why) => {
                self.report.fault("the server", why);
                self.near_ended = true;
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
        match self.settings.list {
            Some(Listing::Tools) => {
                for tool in self.server.client.tools().filter(|tool| self.settings.names.permits(&tool.name)) {
                    print(&tool.raw, out);
                }
                self.near_ended = true;
            }
            Some(Listing::Resources) => {
                self.list_by = Some(Instant::now() + self.server.list_timeout());
                self.server.client.list_resources(out.to(Side::Far));
            }
            None => {}
        }
    }

    /// Gives up a list that has not come in time: the resources, or tools that have changed.
    pub(super) fn give_up_list(&mut self, now: Instant) {
        if self.list_by.take_if(|by| *by <= now).is_none() {
            return;
        }
        let why = format!("no answer within {} s (--start-timeout)", self.server.list_timeout().as_secs_f64());
        if self.settings.list.is_some() {
            self.report.fault("resources/list", why);
            self.near_ended = true;
        } else {
            self.report.note(format_args!("tools/list: {why}; the tools that are known stay"));
            self.server.client.keep_tools();
        }
    }

    /// A list of tools that has changed is waited for, for a while.
    pub(super) fn watch_list(&mut self) {
        if self.settings.list.is_none() {
            let is_relisting = self.server.client.is_relisting();
            let by = self.list_by.unwrap_or_else(|| Instant::now() + self.server.list_timeout());
            self.list_by = is_relisting.then_some(by);
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
        let status = result.as_ref().ok().and_then(|result| self.status_of(result));
        if flying.is_setup {
            outcome(&result, status.as_deref(), &mut |outcome| {
                if let Outcome::Error { message, .. } = outcome {
                    self.fail_setup(message);
                }
                String::new()
            });
            return;
        }
        let (epoch, mut failed) = (self.server.epoch, false);
        self.queue.answer(id, |waiting| {
            outcome(&result, status.as_deref(), &mut |outcome| {
                failed = matches!(outcome, Outcome::Error { .. });
                waiting.answer(|call| answered(call, outcome, waiting.sent_at, epoch))
            })
        });
        if failed {
            self.report.fail();
        }
    }

    /// What `--status-from` makes of a result.
    fn status_of(&self, result: &RawValue) -> Option<Box<RawValue>> {
        let (filter, mut made) = (self.settings.status_from.as_ref()?, Vec::new());
        match filter.change_line(result.get().as_bytes(), Direction::Out, &mut made) {
            Ok(true) => String::from_utf8(made).ok().and_then(|made| RawValue::from_string(made).ok()),
            Ok(false) => None,
            Err(why) => {
                self.report.fault("the result", format_args!("{why}; it stays as it is"));
                None
            }
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

/// Prints what the server lists, in one line: a description may be written over several.
fn print(json: &str, out: &mut Out) {
    out.to(Side::Near).extend_from_slice(format!("{}\n", one_line(json)).as_bytes());
}
