//! Carries out the decision of a turn, and the loop's own tools.

use super::acting::{For, Planned};
use super::conversation::Part;
use super::decision::{Decision, Undecided};
use super::local::{self, Local};
use super::records::Pending;
use super::turn::Turn;
use super::{Agent, Effect, FAILED, Outcome, decision, evidence};
use crate::json::Object;
use crate::record::ModelCall;
use std::time::Duration;

/// The most turns in a row that may decide nothing.
const UNDECIDED: u32 = 3;

impl Agent {
    pub(super) fn count_turn(&mut self) {
        self.budget.steps += 1;
        self.budget.all_steps += 1;
    }

    pub(super) fn take_undecided(&mut self, undecided: Undecided, now: Duration) {
        let Undecided { call_id, why } = undecided;
        self.step.fail(&why);
        match &call_id {
            Some(call_id) => self.conversation.result(call_id, &why, true),
            None => self.conversation.say(&Part::Text(format!("Error: {why}"))),
        }
        self.undecided += 1;
        if self.undecided == UNDECIDED {
            let why = format!("{UNDECIDED} turns of the model in a row decide nothing: {why}");
            self.finish(Outcome::Failed, &why, FAILED, now);
        }
    }

    pub(super) fn take_turn(&mut self, turn: &Turn, now: Duration) {
        self.count_turn();
        let others = others(&turn.calls);
        if turn.stop == "refusal" && turn.calls.is_empty() {
            return self.finish(Outcome::Failed, &format!("the model refuses: {}", turn.text.trim()), FAILED, now);
        }
        let decision = decision::read(turn, &self.tools).and_then(|decision| {
            let own = local::read(&decision.tool, &decision.arguments);
            let call_id = decision.call_id.clone();
            own.transpose().map(|own| (decision, own)).map_err(|why| Undecided { call_id, why })
        });
        match decision {
            Err(undecided) => {
                self.take_undecided(undecided, now);
                self.refuse_others(&others);
            }
            Ok((decision, own)) => {
                self.undecided = 0;
                if !decision.progress.is_empty() {
                    self.say("progress", &decision.progress);
                    self.step.progress(&decision.progress);
                }
                match own {
                    Some(own) => self.take_own(own, &decision, &others, now),
                    None => self.act(decision, others),
                }
            }
        }
    }

    fn act(&mut self, decision: Decision, others: Vec<String>) {
        self.budget.actions += 1;
        let Decision { call_id, tool, arguments, .. } = decision;
        let purpose = For::Action { call_id, others };
        self.queue.push_back(Planned { tool, arguments: arguments.get().to_owned(), purpose });
    }

    /// Carries out a call of one of the loop's own tools.
    fn take_own(&mut self, own: Local, decision: &Decision, others: &[String], now: Duration) {
        let reply = |agent: &mut Agent, text: &str, is_error: bool| {
            let error = is_error.then_some(("invalid_args", text));
            agent.step.call(&decision.tool, decision.arguments.get(), error);
            agent.answer_own(decision.call_id.as_deref(), &decision.tool, text, is_error);
            agent.refuse_others(others);
        };
        // With --goal, nothing follows after this call.
        let is_last_word = self.run.goal.is_some() && matches!(own, Local::Done { .. });
        if !self.inbox.is_empty() && (is_last_word || !own.asked().is_empty()) {
            let why = "the person has said something since, which follows: call it again if that changes nothing";
            return reply(self, why, true);
        }
        if !matches!(own, Local::Done { .. }) {
            self.history.add(own.describe());
        }
        match own {
            Local::Done { reason, evidence } => {
                let is_missed = self.settings.profile.needs_evidence
                    && !self.missed_evidence
                    && !evidence::is_observed(&evidence, &self.seen);
                if is_missed {
                    self.missed_evidence = true;
                    let why = "the evidence does not stand in the last observation: look again, and give a text that stands there word for word, or go on";
                    return reply(self, why, true);
                }
                reply(self, "ok", false);
                self.say("answer", &reason);
                self.finish(Outcome::Done, &reason, 0, now);
            }
            Local::Ask { .. } => {
                reply(self, "The person is asked; the answer is in the next message.", false);
                self.step.ask(own.asked(), false);
                self.ask_person("question", own.asked(), own.question(), Pending::Question, now);
            }
            Local::NeedUser(what) => {
                reply(self, "The person does it; the next message comes when it is done.", false);
                self.step.ask(&what, true);
                self.ask_person("question", &what, None, Pending::Manual, now);
            }
            Local::Goal(goal) => {
                reply(self, "ok", false);
                self.goal = Some(goal);
                self.report_status("running", Pending::None, None);
            }
            Local::Plan(steps) => {
                self.plan.replace(steps);
                reply(self, "ok", false);
                self.report_plan();
            }
            Local::Progress { step_id, status, result } => match self.plan.progress(&step_id, status) {
                Ok(()) => {
                    reply(self, "ok", false);
                    let (plan_id, _) = self.plan.ids().unwrap_or_default();
                    let record = Object::default().text("type", "plan_progress").text("plan_id", &plan_id);
                    let record =
                        record.text("step_id", &step_id).text("result", &result).text("status", &status.to_string());
                    let record = self.settings.ids.put_own(record).end();
                    self.effects.push(Effect::Session(record));
                    self.report_plan();
                }
                Err(why) => reply(self, &why, true),
            },
        }
    }

    fn report_plan(&mut self) {
        let (plan_id, _) = self.plan.ids().unwrap_or_default();
        let record = self.plan.put(Object::default().text("type", "plan_update").text("plan_id", &plan_id));
        let record = self.settings.ids.put_own(record).end();
        self.effects.push(Effect::Session(record));
    }
}

/// The ids of calls, each once.
pub(super) fn ids(calls: &[ModelCall]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for call in calls {
        if !ids.contains(&call.call_id) {
            ids.push(call.call_id.clone());
        }
    }
    ids
}

/// The ids of the calls that are not carried out.
fn others(calls: &[ModelCall]) -> Vec<String> {
    ids(calls).into_iter().skip(1).collect()
}
