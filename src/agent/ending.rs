//! How a goal ends, and what is reported then.

use super::records::Pending;
use super::step::Step;
use super::{Agent, Doing, Effect, FAILED, LOST, NOT_STARTED, Outcome};
use crate::json::Object;
use std::time::Duration;

impl Agent {
    /// Gives up what is under way.
    pub(super) fn abandon(&mut self, why: &str) {
        self.queue.clear();
        match std::mem::replace(&mut self.doing, Doing::Working) {
            Doing::Model(id, _) => {
                self.effects
                    .push(Effect::Model(Object::default().text("type", "cancel").text("request_id", &id).end()));
            }
            Doing::World(call) => {
                self.effects
                    .push(Effect::World(Object::default().text("type", "cancel").text("call_id", &call.id).end()));
                self.answer_call(&call, &format!("{why}: the call was cancelled, and may have been executed"), true);
            }
            _ => {}
        }
    }

    pub(super) fn lose(&mut self, why: &str, now: Duration) {
        match self.doing {
            Doing::Ended => {}
            Doing::Starting => {
                self.effects.push(Effect::Note(why.to_owned()));
                self.end(NOT_STARTED);
            }
            Doing::Idle if self.closed => {}
            _ => {
                self.finish(Outcome::Failed, why, LOST, now);
                self.end(LOST);
            }
        }
    }

    /// The goal is at its end.
    pub(super) fn finish(&mut self, outcome: Outcome, content: &str, status: u8, now: Duration) {
        self.budget.go_on(now);
        self.end_step(now);
        let is_flawed = self.denied > 0 || self.has_bad_input;
        let status = if outcome == Outcome::Done && is_flawed { FAILED } else { status };
        self.status = self.status.max(status);
        let record = Object::default().text("type", "final").text("outcome", outcome.name()).text("content", content);
        let record = record.put("usage", self.budget.usage.json()).put("steps", self.budget.all_steps);
        let record = record.put("denied", self.denied).put("exit_status", status);
        let record = self.settings.ids.put(record, &self.plan).end();
        self.effects.push(Effect::Session(record));
        self.queue.clear();
        self.denied = 0;
        self.doing = Doing::Idle;
        self.report_status("idle", Pending::None, None);
        if self.run.is_one_goal {
            self.end(status);
        }
    }

    /// Reports the step that is under way, and begins the next.
    pub(super) fn end_step(&mut self, now: Duration) {
        let step = std::mem::replace(&mut self.step, Step::begin(self.budget.all_steps + 1, now));
        if let Some(event) = step.end(now) {
            self.effects.push(Effect::Step(event));
        }
    }

    /// What was done, where the model cannot say it.
    pub(super) fn summary(&self, why: &str) -> String {
        format!("{why}\n{}", self.history.of_message())
    }
}
