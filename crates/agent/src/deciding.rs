//! Carries out the decision of a turn, and the loop's own tools.

use super::acting::{CallAnswer, CallPurpose, PlannedCall};
use super::choices::PlanChange;
use super::conversation::Part;
use super::decision::{Decision, WrittenCall};
use super::local::{self, LocalCall};
use super::turn::Turn;
use super::{Agent, Effect, FAILED, Outcome, decision, evidence};
use pipewright_record::{Fields, MessageKind, ModelCall, OwnedTool, Pending, PlanProgress, PlanUpdate, Record, State};
use std::time::Duration;

/// The most turns in a row that may decide nothing.
const UNDECIDED: u32 = 3;

/// For a model that asks when stdin is closed.
const ALONE: &str = "Nobody is there to answer. Decide yourself, and go on.";

/// The tool for plans.
const PLAN: &str = "assistant_plan";

/// The longest line of a text that is shown as progress, in characters.
const PROGRESS: usize = 300;

/// The most reads that one turn may make.
const READS: u32 = 16;

/// Why a call of a turn is not carried out.
const ONE_ACTION: &str =
    "not executed: only the first action of a turn is. Look at its result, and call this in the next turn";
const AT_LIMIT: &str = "not executed: this was one call too many. Look at the results first";
const UNREAD: &str = "not executed: the results of the other calls come first. Call it in the next turn";
const BEHIND_ERROR: &str = "not executed: a call before it has an error";
const BEHIND_WORD: &str = "not executed: it stands behind a word to the person. Call it in the next turn";

/// The answer to a turn of text alone.
const ONLY_TEXT: &str = "the turn holds no call (one that is only quoted, or that text follows, does not count). Is the goal reached? \
                         Then call assistant_done. If not, call the tool for the next step, or assistant_ask to ask the person";

impl Agent {
    /// Counts a turn. The one in which a small model is asked for nothing but a plan is none of the limited ones.
    pub(super) fn count_turn(&mut self, calls: &[ModelCall]) {
        let is_plan =
            self.choices.take_turn() && self.form == "schema" && calls.iter().any(|call| call.tool_name == PLAN);
        self.budget.steps += u32::from(!is_plan);
        self.budget.all_steps += 1;
        // The page may have gone on while the model planned.
        self.is_stale |= is_plan;
    }

    /// The turn decides nothing, and the model has been told why, if `why` is the answer to a call.
    pub(super) fn take_undecided(&mut self, why: &str, now: Duration) {
        self.choices.note(&format!("Error: {why}"));
        self.conversation.say(&Part::Text(format!("Error: {why}")));
        self.count_undecided(why, now);
    }

    fn count_undecided(&mut self, why: &str, now: Duration) {
        self.step.fail(why);
        self.effort.undecided += 1;
        if self.effort.undecided == UNDECIDED {
            let why = format!("{UNDECIDED} turns of the model in a row decide nothing: {why}");
            self.finish(Outcome::Failed, &why, FAILED, now);
        }
    }

    pub(super) fn take_turn(&mut self, turn: &Turn, now: Duration) {
        self.count_turn(&turn.calls);
        if turn.stop == "refusal" && turn.calls.is_empty() {
            return self.finish(Outcome::Failed, &format!("the model refuses: {}", turn.text.trim()), FAILED, now);
        }
        if let Some(text) = decision::only_text(turn, &self.world.offered) {
            let text = text.to_owned();
            return self.take_text(&text, now);
        }
        match decision::calls(turn, &self.world.offered) {
            Err(why) => self.take_undecided(&why, now),
            Ok((calls, progress)) => {
                if !progress.is_empty() {
                    self.say(MessageKind::Progress, &progress);
                    self.step.progress(&progress);
                }
                self.take_calls(calls, now);
            }
        }
    }

    /// Takes the calls of a turn in their order: any number of notes and some reads, then one action or one word to the
    /// person. A call that is not carried out gets an error that says why.
    fn take_calls(&mut self, calls: Vec<WrittenCall>, now: Duration) {
        let (mut end, mut invalid, mut reads) = (None, None, 0);
        for call in calls {
            let (call_id, tool) = (call.call_id.clone(), call.tool.clone());
            let refused = |text: String| CallAnswer { call_id, tool, text, is_error: true };
            let decided = call.decide(&self.world.offered).and_then(|decision| {
                let own = local::read(&decision.tool, &decision.arguments).transpose()?;
                Ok((decision, own))
            });
            let why = match (decided, end) {
                (Ok((decision, Some(own))), None | Some(ONE_ACTION)) if own.is_note() => {
                    self.take_own(own, &decision, now);
                    continue;
                }
                (_, Some(why)) => why,
                (Err(why), None) => {
                    self.answer(refused(why.clone()));
                    (end, invalid) = (Some(BEHIND_ERROR), Some(why));
                    continue;
                }
                (Ok((_, Some(_))), None) if !self.queue.is_empty() => UNREAD,
                (Ok((decision, Some(own))), None) => {
                    self.take_own(own, &decision, now);
                    end = Some(BEHIND_WORD);
                    continue;
                }
                (Ok((decision, None)), None) => {
                    let is_read = self.is_read(&decision.tool);
                    reads += u32::from(is_read);
                    self.act(decision);
                    let is_full = self.run.limits.turn_steps.is_some_and(|most| self.budget.actions >= most);
                    end = if is_read { (is_full || reads == READS).then_some(AT_LIMIT) } else { Some(ONE_ACTION) };
                    continue;
                }
            };
            self.answer(refused(why.to_owned()));
            end = Some(why);
        }
        match invalid.filter(|_| self.queue.is_empty()) {
            Some(why) => self.count_undecided(&why, now),
            None => self.effort.undecided = 0,
        }
    }

    /// Whether a tool of the world changes nothing, as far as the profile or the world says so.
    fn is_read(&self, tool: &str) -> bool {
        let is_annotated = |tool: &OwnedTool| {
            let annotations = tool.annotations.as_deref().map(Fields::read).and_then(Result::ok);
            annotations
                .is_some_and(|annotations| annotations.get("readOnlyHint").is_some_and(|hint| hint.get() == "true"))
        };
        self.settings.profile.is_look(tool)
            || self.world.offered.iter().any(|offered| offered.name == tool && is_annotated(offered))
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
        self.take_undecided(ONLY_TEXT, now);
    }

    fn act(&mut self, decision: Decision) {
        self.budget.actions += 1;
        let Decision { call_id, tool, arguments } = decision;
        let purpose = CallPurpose::Action { call_id, then: Vec::new() };
        self.queue.push_back(PlannedCall { tool, arguments: arguments.get().to_owned(), purpose });
    }

    /// Carries out a call of one of the loop's own tools.
    fn take_own(&mut self, own: LocalCall, decision: &Decision, now: Duration) {
        let reply = |agent: &mut Agent, text: &str, is_error: bool| {
            let error = is_error.then_some(("invalid_args", text));
            let Decision { call_id, tool, arguments } = decision;
            agent.begin_call(now);
            agent.step.call(tool, arguments.get(), error);
            agent.answer(CallAnswer { call_id: call_id.clone(), tool: tool.clone(), text: text.to_owned(), is_error });
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
            // A model may ask what it can find out itself.
            LocalCall::Ask { .. } if self.closed && self.run.goal.is_some() && !self.is_alone => {
                self.is_alone = true;
                reply(self, ALONE, true);
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

    /// No call is made in a report; each needs an answer.
    pub(super) fn refuse_all(&mut self, calls: &[ModelCall]) {
        for ModelCall { call_id, tool_name, .. } in calls {
            let text = "not executed: this turn is a report, without calls".to_owned();
            let (call_id, tool) = (Some(call_id.clone()), tool_name.clone());
            self.answer(CallAnswer { call_id, tool, text, is_error: true });
        }
    }

    /// A model that chooses by schema does not say how far its plan is.
    pub(super) fn follow_plan(&mut self) {
        // The form is known after the first turn, and a new goal is forgotten before that.
        let Some(change) = self.choices.plan_change(self.plan.current_text()).filter(|_| self.form == "schema") else {
            return;
        };
        if change == PlanChange::Void {
            self.plan.clear();
        } else if self.plan.end_step() {
            self.report_plan();
        }
    }

    fn report_plan(&mut self) {
        let update = PlanUpdate { agent: self.settings.ids.borrowed(), ..self.plan.record() };
        self.effects.push(Effect::Session(update.json()));
    }
}
