//! The end of a goal, and its report.

use super::acting::{CallPurpose, OpenCall, PlannedCall};
use super::budget::Limit;
use super::conversation::cut;
use super::records::with_ids;
use super::{
    Activity, Agent, Effect, FAILED, GoalEnd, MAX_NOTE_LEN, Outcome, STATUS_LOST, STATUS_NOT_STARTED, STATUS_TIMEOUT,
};
use pipewright_record::json::quoted;
use pipewright_record::{Cancel, Fields, Final, Pending, Record, State};
use std::borrow::Cow;
use std::time::Duration;

impl Agent {
    /// Ends the goal at a limit after which the model must not be asked any more.
    pub(super) fn stop_at(&mut self, limit: &Limit, now: Duration) {
        self.abandon(&format!("the limit of {limit} is reached"), now);
        let summary = self.summary(&format!("stopped: the limit of {limit} is reached"));
        let status = if matches!(limit, Limit::Time(_)) { STATUS_TIMEOUT } else { FAILED };
        self.finish(Outcome::Limit(limit.kind()), &summary, status, now);
    }

    /// Gives up the open call or request.
    pub(super) fn abandon(&mut self, why: &str, now: Duration) {
        match std::mem::replace(&mut self.doing, Activity::Working) {
            Activity::Model(id, _) => self.effects.push(Effect::Model(Cancel::request(&id).json())),
            Activity::World(call) => {
                self.effects.push(Effect::World(Cancel::call(&call.id).json()));
                self.budget.restart(now);
                self.foreign.push(quoted(&call.id));
                let why = format!("{why}: the call was cancelled, and may have been executed");
                self.answer_abandoned(&call, "cancelled", &why);
            }
            Activity::Starting => self.doing = Activity::Starting,
            _ => {}
        }
        self.drop_calls();
    }

    /// The open call has no result.
    pub(super) fn answer_abandoned(&mut self, call: &OpenCall, kind: &str, why: &str) {
        let PlannedCall { tool, arguments, .. } = &call.planned;
        if matches!(call.planned.purpose, CallPurpose::Action { .. }) {
            self.step.call(tool, arguments, Some((kind, why)));
            self.history.add(format!("{tool} {}: {kind}, may have been executed", cut(arguments, MAX_NOTE_LEN)));
        }
        self.answer_call(call, why, true);
    }

    /// The world or the model command has ended.
    pub(super) fn fail_process(&mut self, why: &str, now: Duration) {
        match &self.doing {
            Activity::Ended => return,
            Activity::Starting => return self.fail_start(why, now),
            Activity::Idle if self.closed => return,
            Activity::World(call) => {
                let call = call.clone();
                self.answer_abandoned(&call, "lost", &format!("{why}. The call may have been executed"));
            }
            _ => {}
        }
        if self.is_working() {
            self.budget.restart(now);
            self.end_step(now);
            let record = self.final_record(Outcome::Failed, why);
            self.report_final(&record, STATUS_LOST);
            // The next process of the session continues from here.
            self.then = match self.doing {
                Activity::Waiting(pending) => Activity::Waiting(pending),
                _ => Activity::Working,
            };
        } else {
            self.effects.push(Effect::Note(why.to_owned()));
        }
        self.end(STATUS_LOST);
    }

    /// The world or the model command does not start. Pending work is left to the next process of the session.
    pub(super) fn fail_start(&mut self, why: &str, now: Duration) {
        self.budget.restart(now);
        self.effects.push(Effect::Note(why.to_owned()));
        if self.is_working() {
            let record = self.final_record(Outcome::Failed, why);
            self.report_final(&record, STATUS_NOT_STARTED);
        }
        self.end(STATUS_NOT_STARTED);
    }

    fn final_record(&self, outcome: Outcome, content: &str) -> String {
        let record = Final {
            outcome: outcome.kind().into(),
            content: content.into(),
            usage: self.budget.usage,
            steps: self.budget.all_steps,
            denied: self.denied,
            limit: outcome.limit().map(Cow::from),
            form: Some(Cow::from(&*self.form)).filter(|form| !form.is_empty()),
            ..Final::default()
        };
        record.json()
    }

    /// Reports the last record of a goal, with the current ids.
    pub(super) fn report_final(&mut self, record: &str, status: u8) {
        let record = self.with_ids(record);
        self.effects.push(Effect::Final(record, status));
    }

    /// A record of our own (JSON text) with the current ids.
    pub(super) fn with_ids(&self, record: &str) -> String {
        match Fields::read(record) {
            Ok(fields) => with_ids(&self.settings.ids, record, &fields, &self.plan),
            Err(_) => record.to_owned(),
        }
    }

    /// Ends the goal.
    pub(super) fn finish(&mut self, outcome: Outcome, content: &str, status: u8, now: Duration) {
        self.budget.restart(now);
        self.end_step(now);
        let status = if outcome == Outcome::Done && self.denied > 0 { FAILED } else { status };
        self.status = self.status.max(status);
        let record = self.final_record(outcome, content);
        self.report_final(&record, status);
        self.ended = Some(GoalEnd { outcome, record, status });
        self.drop_calls();
        self.denied = 0;
        self.question = None;
        if outcome == Outcome::Done {
            self.plan.clear();
        }
        self.then = Activity::Idle;
        if !self.is_starting() {
            self.doing = Activity::Idle;
        }
        self.report_status(State::Idle, Pending::None, None);
        if self.run.goal.is_some() {
            self.end(status);
        }
    }

    /// Reports the current step, and begins the next.
    pub(super) fn end_step(&mut self, now: Duration) {
        self.report_step(self.budget.all_steps + 1, now);
    }

    /// A call of the turn follows. Each has an event of its own, with the number of the step.
    pub(super) fn begin_call(&mut self, now: Duration) {
        if self.step.has_call() {
            self.report_step(self.budget.all_steps, now);
        }
    }

    fn report_step(&mut self, next: u32, now: Duration) {
        let next = self.step.next(next, now);
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
