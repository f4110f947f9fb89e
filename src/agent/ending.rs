//! The end of a goal, and its report.

use super::acting::{Call, For, Planned};
use super::budget::Limit;
use super::conversation::cut;
use super::records::Pending;
use super::{Agent, Doing, Effect, Ended, FAILED, LATE, LOST, NOT_STARTED, Outcome, SHORT};
use crate::json::{Object, quoted};
use crate::record::Fields;
use std::time::Duration;

impl Agent {
    /// Ends the goal at a limit after which the model must not be asked any more.
    pub(super) fn stop_at(&mut self, limit: &Limit, now: Duration) {
        self.abandon(&format!("the limit of {limit} is reached"), now);
        self.reached = Some(limit.name());
        let summary = self.summary(&format!("stopped: the limit of {limit} is reached"));
        let status = if matches!(limit, Limit::Time(_)) { LATE } else { FAILED };
        self.finish(Outcome::Limit, &summary, status, now);
    }

    /// Gives up the open call or request.
    pub(super) fn abandon(&mut self, why: &str, now: Duration) {
        self.queue.clear();
        match std::mem::replace(&mut self.doing, Doing::Working) {
            Doing::Model(id, _) => {
                self.effects
                    .push(Effect::Model(Object::default().text("type", "cancel").text("request_id", &id).end()));
            }
            Doing::World(call) => {
                self.effects
                    .push(Effect::World(Object::default().text("type", "cancel").text("call_id", &call.id).end()));
                self.budget.go_on(now);
                self.foreign.push(quoted(&call.id));
                let why = format!("{why}: the call was cancelled, and may have been executed");
                self.answer_abandoned(&call, "cancelled", &why);
            }
            Doing::Starting => self.doing = Doing::Starting,
            _ => {}
        }
    }

    /// The open call has no result.
    pub(super) fn answer_abandoned(&mut self, call: &Call, kind: &str, why: &str) {
        let Planned { tool, arguments, .. } = &call.planned;
        if matches!(call.planned.purpose, For::Action { .. }) {
            self.step.call(tool, arguments, Some((kind, why)));
            self.history.add(format!("{tool} {}: {kind}, may have been executed", cut(arguments, SHORT)));
        }
        self.answer_call(call, why, true);
    }

    /// The world or the model command has ended.
    pub(super) fn lose(&mut self, why: &str, now: Duration) {
        match &self.doing {
            Doing::Ended => return,
            Doing::Starting => return self.fail_start(why, now),
            Doing::Idle if self.closed => return,
            Doing::World(call) => {
                let call = call.clone();
                self.answer_abandoned(&call, "lost", &format!("{why}. The call may have been executed"));
            }
            _ => {}
        }
        if self.is_working() {
            self.budget.go_on(now);
            self.end_step(now);
            let record = self.final_record(Outcome::Failed, why);
            self.report_final(&record, LOST);
            // The next process of the session continues from here.
            self.then = match self.doing {
                Doing::Waiting(pending) => Doing::Waiting(pending),
                _ => Doing::Working,
            };
        } else {
            self.effects.push(Effect::Note(why.to_owned()));
        }
        self.end(LOST);
    }

    /// The world or the model command does not start. Pending work is left to the next process of the session.
    pub(super) fn fail_start(&mut self, why: &str, now: Duration) {
        self.budget.go_on(now);
        self.effects.push(Effect::Note(why.to_owned()));
        if self.is_working() {
            let record = self.final_record(Outcome::Failed, why);
            self.report_final(&record, NOT_STARTED);
        }
        self.end(NOT_STARTED);
    }

    fn final_record(&self, outcome: Outcome, content: &str) -> String {
        let record = Object::default().text("type", "final").text("outcome", outcome.name()).text("content", content);
        let record = record.put("usage", self.budget.usage.json()).put("steps", self.budget.all_steps);
        let limit = self.reached.filter(|_| outcome == Outcome::Limit);
        record.put("denied", self.denied).text_some("limit", limit).end()
    }

    /// Reports the last record of a goal, with the current ids.
    pub(super) fn report_final(&mut self, record: &str, status: u8) {
        let record = self.with_ids(record);
        self.effects.push(Effect::Final(record, status));
    }

    /// A record of our own (JSON text) with the current ids.
    pub(super) fn with_ids(&self, record: &str) -> String {
        match Fields::read(record) {
            Ok(fields) => self.settings.ids.add(record, &fields, &self.plan),
            Err(_) => record.to_owned(),
        }
    }

    /// Ends the goal.
    pub(super) fn finish(&mut self, outcome: Outcome, content: &str, status: u8, now: Duration) {
        self.budget.go_on(now);
        self.end_step(now);
        let status = if outcome == Outcome::Done && self.denied > 0 { FAILED } else { status };
        self.status = self.status.max(status);
        let record = self.final_record(outcome, content);
        self.report_final(&record, status);
        self.ended = Some(Ended { outcome, record, status });
        self.queue.clear();
        self.reached = None;
        self.denied = 0;
        self.question = None;
        if outcome == Outcome::Done {
            self.plan.clear();
        }
        self.then = Doing::Idle;
        if !self.is_starting() {
            self.doing = Doing::Idle;
        }
        self.report_status("idle", Pending::None, None);
        if self.run.goal.is_some() {
            self.end(status);
        }
    }

    /// Reports the current step, and begins the next.
    pub(super) fn end_step(&mut self, now: Duration) {
        let next = self.step.next(self.budget.all_steps + 1, now);
        let step = std::mem::replace(&mut self.step, next);
        if let Some(event) = step.end(now) {
            self.effects.push(Effect::Step(event));
        }
    }

    /// A summary without the model.
    pub(super) fn summary(&self, why: &str) -> String {
        format!("{why}\n{}", self.history.of_message())
    }
}
