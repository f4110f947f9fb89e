//! Carries out the decision of a turn, and the loop's own tools.

use super::acting::{CallPurpose, PlannedCall};
use super::conversation::Part;
use super::decision::{Decision, InvalidTurn};
use super::local::{self, LocalCall};
use super::turn::Turn;
use super::{Agent, Effect, FAILED, Outcome, decision, evidence};
use pipewright_record::{MessageKind, ModelCall, Pending, PlanProgress, PlanUpdate, Record, State};
use std::time::Duration;

/// The most turns in a row that may decide nothing.
const UNDECIDED: u32 = 3;

/// The longest line of a text that is shown as progress, in characters.
const PROGRESS: usize = 300;

/// The answer to a turn of text alone.
const ONLY_TEXT: &str = "the turn holds no call (one that is only quoted, or that text follows, does not count). Is the goal reached? \
                         Then call assistant_done. If not, call the tool for the next step, or assistant_ask to ask the person";

impl Agent {
    pub(super) fn count_turn(&mut self) {
        self.budget.steps += 1;
        self.budget.all_steps += 1;
    }

    pub(super) fn take_undecided(&mut self, undecided: InvalidTurn, now: Duration) {
        let InvalidTurn { call_id, why } = undecided;
        self.step.fail(&why);
        match &call_id {
            Some(call_id) => self.conversation.result(call_id, &why, true),
            None => self.conversation.say(&Part::Text(format!("Error: {why}"))),
        }
        self.effort.undecided += 1;
        if self.effort.undecided == UNDECIDED {
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
        if let Some(text) = decision::only_text(turn, &self.world.offered) {
            let text = text.to_owned();
            return self.take_text(&text, now);
        }
        let decision = decision::read(turn, &self.world.offered).and_then(|decision| {
            let own = local::read(&decision.tool, &decision.arguments);
            let call_id = decision.call_id.clone();
            own.transpose().map(|own| (decision, own)).map_err(|why| InvalidTurn { call_id, why })
        });
        match decision {
            Err(undecided) => {
                self.take_undecided(undecided, now);
                self.refuse_others(&others);
            }
            Ok((decision, own)) => {
                self.effort.undecided = 0;
                if !decision.progress.is_empty() {
                    self.say(MessageKind::Progress, &decision.progress);
                    self.step.progress(&decision.progress);
                }
                match own {
                    Some(own) => self.take_own(own, &decision, &others, now),
                    None => self.act(decision, others),
                }
            }
        }
    }

    /// Takes a turn of text alone. In a conversation it is the answer; with a goal, the model has to say by a call whether the goal is
    /// reached.
    fn take_text(&mut self, text: &str, now: Duration) {
        if self.run.goal.is_none() {
            self.effort.undecided = 0;
            self.say(MessageKind::Answer, text);
            return self.finish(Outcome::Done, text, 0, now);
        }
        self.effort.must_call = true;
        let line: String = text.lines().next().unwrap_or_default().chars().take(PROGRESS).collect();
        self.say(MessageKind::Progress, &line);
        self.step.progress(&line);
        self.take_undecided(InvalidTurn { call_id: None, why: ONLY_TEXT.to_owned() }, now);
    }

    fn act(&mut self, decision: Decision, others: Vec<String>) {
        self.budget.actions += 1;
        let Decision { call_id, tool, arguments, .. } = decision;
        let purpose = CallPurpose::Action { call_id, others };
        self.queue.push_back(PlannedCall { tool, arguments: arguments.get().to_owned(), purpose });
    }

    /// Carries out a call of one of the loop's own tools.
    fn take_own(&mut self, own: LocalCall, decision: &Decision, others: &[String], now: Duration) {
        let reply = |agent: &mut Agent, text: &str, is_error: bool| {
            let error = is_error.then_some(("invalid_args", text));
            agent.step.call(&decision.tool, decision.arguments.get(), error);
            agent.answer_own(decision.call_id.as_deref(), &decision.tool, text, is_error);
            agent.refuse_others(others);
        };
        // With --goal, nothing follows after this call.
        let is_last_word = self.run.goal.is_some() && matches!(own, LocalCall::Done { .. });
        if !self.inbox.is_empty() && (is_last_word || !own.asked().is_empty()) {
            let why = "the person has said something since, which follows: call it again if that changes nothing";
            return reply(self, why, true);
        }
        if !matches!(own, LocalCall::Done { .. }) {
            self.history.add(own.describe());
        }
        match own {
            LocalCall::Done { reason, evidence } => {
                let is_missed = self.settings.profile.needs_evidence
                    && !self.effort.missed_evidence
                    && !evidence::is_observed(&evidence, &self.effort.seen);
                if is_missed {
                    self.effort.missed_evidence = true;
                    let why = "the evidence does not stand in the last observation: look again, and give a text that \
                        stands there word for word, or go on";
                    return reply(self, why, true);
                }
                reply(self, "ok", false);
                self.say(MessageKind::Answer, &reason);
                self.finish(Outcome::Done, &reason, 0, now);
            }
            LocalCall::Ask { .. } => {
                reply(self, "The person is asked; the answer is in the next message.", false);
                self.step.ask(own.asked(), false);
                self.ask_person(MessageKind::Question, own.asked(), own.question(), Pending::Question, now);
            }
            LocalCall::NeedUser(what) => {
                reply(self, "The person does it; the next message comes when it is done.", false);
                self.step.ask(&what, true);
                self.ask_person(MessageKind::Question, &what, None, Pending::Manual, now);
            }
            LocalCall::Goal(goal) => {
                reply(self, "ok", false);
                self.goal = Some(goal);
                self.report_status(State::Running, Pending::None, None);
            }
            LocalCall::Plan(steps) => {
                self.plan.replace(steps);
                reply(self, "ok", false);
                self.report_plan();
            }
            LocalCall::Progress { step_id, status, result } => match self.plan.progress(&step_id, status) {
                Ok(()) => {
                    reply(self, "ok", false);
                    let progress = PlanProgress {
                        plan_id: self.plan.step().plan_id.unwrap_or_default(),
                        step_id: step_id.into(),
                        result: Some(result.into()),
                        status: status.into(),
                        agent: self.settings.ids.borrowed(),
                    };
                    self.effects.push(Effect::Session(progress.json()));
                    self.report_plan();
                }
                Err(why) => reply(self, &why, true),
            },
        }
    }

    fn report_plan(&mut self) {
        let update = PlanUpdate { agent: self.settings.ids.borrowed(), ..self.plan.record() };
        self.effects.push(Effect::Session(update.json()));
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
