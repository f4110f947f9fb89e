//! Requests to the model for its next call or a report, and questions to the person.

use super::budget::{Limit, Limits};
use super::conversation::{Choice, Part};
use super::turn::{self, ModelAnswer, Turn};
use super::{Activity, Agent, Effect, FAILED, Outcome};
use pipewright_record::{AgentQuestion, AssistantMessage, Fields, GoalLimit, MessageKind, Pending, Record, State};
use std::time::Duration;

/// What a request to the model is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestPurpose {
    /// The next call.
    Decision,
    /// A report at the end, and why the run ends.
    Report { limit: GoalLimit, why: String },
    /// A summary of the actions so far, and how to continue; then the person is asked.
    Summary,
}

/// The error if a limit of cost cannot be enforced.
const NO_COST: &str = "the cost is limited, but the model command does not report the cost of a turn: llm-pipe takes \
                       the model's price from models.toml";

/// The error if a limit of tokens cannot be enforced.
const NO_TOKENS: &str = "the tokens are limited, but the model command does not report the tokens of a turn";

/// News after an action that succeeded: a result alone looks like progress.
const UNCHANGED: &str = "The action was carried out, but nothing that is shown has changed.";

/// The instruction for the report at the end of a run.
const REPORT: &str = "Write a short report for the person, without a call: what was done, what worked and what did \
                      not, and what the next step would be.";

impl Agent {
    /// Makes the next call, or asks the model.
    pub(super) fn work(&mut self, now: Duration) {
        if self.make_call(now) {
            return;
        }
        if self.conversation.is_long {
            self.compact();
        }
        if self.is_stale {
            self.shown.clear();
            self.observe();
            if !self.queue.is_empty() {
                return;
            }
        }
        if !self.shown.is_empty() {
            let shown = std::mem::take(&mut self.shown);
            let repeated = self.effort.repetition.show(&shown, self.run.limits.repetition);
            let has_acted = std::mem::take(&mut self.effort.has_acted);
            if has_acted {
                self.choices.take_change(self.effort.repetition.is_unchanged());
            }
            self.report_repetition(repeated.as_deref());
            if has_acted && self.effort.repetition.is_unchanged() {
                self.conversation.say(&Part::Text(UNCHANGED.to_owned()));
            }
        }
        if !self.inbox.is_empty() {
            if self.run.goal.is_none() {
                self.budget.begin(now);
            }
            self.take_messages();
        }
        match self.budget.reached(&self.run.limits, now) {
            Some(limit @ Limit::Steps(_)) => {
                let why = format!("the limit of {limit} is reached");
                return self.ask(RequestPurpose::Report { limit: limit.kind(), why }, now);
            }
            // A report would exceed the limit further.
            Some(limit) => return self.stop_at(&limit, now),
            None if self.effort.repetition.has_persisted() => {
                let why = "it goes in circles".to_owned();
                return self.ask(RequestPurpose::Report { limit: GoalLimit::Circles, why }, now);
            }
            None => {}
        }
        if self.run.limits.turn_steps.is_some_and(|most| self.budget.actions >= most) {
            return self.ask(RequestPurpose::Summary, now);
        }
        self.follow_plan();
        let remaining = self.budget.remaining(&self.run.limits);
        self.tell_reports();
        self.conversation.say(&Part::Text(format!("[left: {remaining}]")));
        self.ask(RequestPurpose::Decision, now);
    }

    fn ask(&mut self, purpose: RequestPurpose, now: Duration) {
        let closing = match &purpose {
            RequestPurpose::Decision => None,
            RequestPurpose::Report { why, .. } => Some(format!("The run ends now: {why}. {REPORT}")),
            RequestPurpose::Summary => {
                Some(format!("The limit of actions for one message is reached. {REPORT} Then ask whether to go on."))
            }
        };
        let choice = match &closing {
            Some(text) => {
                self.conversation.say(&Part::Text(text.clone()));
                Choice::None
            }
            None if std::mem::take(&mut self.effort.must_call) => Choice::Any,
            None => Choice::Auto,
        };
        if purpose == RequestPurpose::Decision {
            self.end_step(now);
        }
        self.requests += 1;
        let id = format!("m{}", self.requests);
        let goal = self.goal.as_deref().unwrap_or_default();
        let choices = self.choices.json(goal, self.plan.current_text(), &self.settings.profile, closing.as_deref());
        let request = self.conversation.request(&id, choice, choices.as_deref());
        self.effects.push(Effect::Model(request));
        self.doing = Activity::Model(id, purpose);
    }

    /// Takes a line from the model command.
    pub(super) fn take_model(&mut self, line: &str, now: Duration) {
        if line.trim().is_empty() {
            return;
        }
        match turn::read(line) {
            Ok(Some((id, answer))) => {
                let Activity::Model(own, purpose) = &self.doing else { return };
                match serde_json::from_str::<String>(&id) {
                    Ok(id) if id == *own => {
                        let purpose = purpose.clone();
                        self.doing = Activity::Working;
                        self.take_answer(answer, purpose, now);
                    }
                    // The answer to a cancelled request.
                    Ok(id) if id.starts_with('m') => {}
                    _ => self.take_bad_turn("its request_id matches no request", now),
                }
            }
            Ok(None) => self.take_token(line, now),
            Err(why) if line.contains("\"model_turn\"") => self.take_bad_turn(&why.to_string(), now),
            Err(why) => self.effects.push(Effect::Note(format!("skipped a line from the model command: {why}"))),
        }
    }

    /// An unreadable turn decides nothing.
    pub(super) fn take_bad_turn(&mut self, why: &str, now: Duration) {
        let Activity::Model(_, purpose) = std::mem::replace(&mut self.doing, Activity::Working) else { return };
        match purpose {
            RequestPurpose::Decision => {
                self.count_turn(&[]);
                self.take_undecided(&format!("the turn cannot be read: {why}. Call exactly one tool"), now);
            }
            RequestPurpose::Report { limit, why } => self.report(limit, &why, None, now),
            RequestPurpose::Summary => self.ask_to_continue(None, now),
        }
    }

    /// Takes a part of an unfinished turn, or a record that the model command should not send.
    fn take_token(&mut self, line: &str, now: Duration) {
        let Ok(fields) = Fields::read(line) else { return };
        match fields.text("type").as_deref() {
            Some("assistant_message") => self.pass_on(line, &fields),
            Some("model_request") => {
                self.finish(
                    Outcome::Failed,
                    "the model command echoes requests instead of answering them",
                    FAILED,
                    now,
                );
            }
            _ => self.effects.push(Effect::Note("skipped a line from the model command: not a model_turn".to_owned())),
        }
    }

    fn take_answer(&mut self, answer: ModelAnswer, asked: RequestPurpose, now: Duration) {
        match answer {
            ModelAnswer::Failed(kind, why, usage) => {
                self.budget.usage = self.budget.usage.plus(usage);
                match asked {
                    // A conversation that is too long is summarised, once.
                    RequestPurpose::Decision if kind == "overflow" && !self.conversation.is_compacted => self.compact(),
                    RequestPurpose::Decision => {
                        self.finish(Outcome::Failed, &format!("the model failed: {kind}: {why}"), FAILED, now)
                    }
                    RequestPurpose::Report { limit, why } => self.report(limit, &why, None, now),
                    RequestPurpose::Summary => self.ask_to_continue(None, now),
                }
            }
            ModelAnswer::Turn(turn) => {
                self.budget.usage = self.budget.usage.plus(turn.usage);
                let Limits { max_cost, max_tokens, .. } = &self.run.limits;
                let has_no_cost = max_cost.is_some() && turn.usage.cost.is_none();
                let has_no_tokens = max_tokens.is_some() && turn.usage.input.or(turn.usage.output).is_none();
                if !turn.is_cached && (has_no_cost || has_no_tokens) {
                    let why = if has_no_cost { NO_COST } else { NO_TOKENS };
                    return self.finish(Outcome::Failed, why, FAILED, now);
                }
                self.conversation.answer(&turn);
                // The answer and the next observation have to fit as well.
                let fitting = turn.context.map(|tokens| tokens / 4 * 3);
                let most = self.settings.compact_at.into_iter().chain(fitting).min();
                self.conversation.is_long = most.zip(turn.usage.input).is_some_and(|(most, input)| input >= most);
                self.form.clone_from(&turn.form);
                self.step.form(&turn.form);
                if !turn.reasoning.is_empty() {
                    self.effects.push(Effect::Reasoning(turn.reasoning.clone()));
                    self.say(MessageKind::Thought, &turn.reasoning);
                }
                match asked {
                    RequestPurpose::Decision => self.take_turn(&turn, now),
                    // If the turn makes calls anyway, they get results.
                    RequestPurpose::Report { limit, why } => {
                        self.refuse_all(&turn.calls);
                        self.report(limit, &why, Some(&turn), now);
                    }
                    RequestPurpose::Summary => {
                        self.refuse_all(&turn.calls);
                        self.ask_to_continue(Some(turn.text), now);
                    }
                }
            }
        }
    }

    /// Ends the run at a limit.
    fn report(&mut self, limit: GoalLimit, why: &str, turn: Option<&Turn>, now: Duration) {
        let text = turn.and_then(|turn| reported(&turn.text));
        let why = format!("stopped: {why}");
        let content = text.map_or_else(|| self.summary(&why), |text| format!("{why}\n{text}"));
        self.finish(Outcome::Limit(limit), &content, FAILED, now);
    }

    /// Asks the person whether to continue.
    fn ask_to_continue(&mut self, text: Option<String>, now: Duration) {
        let text = text.filter(|text| reported(text).is_some());
        let text = text.unwrap_or_else(|| self.summary("The limit of actions for one message is reached. Go on?"));
        self.ask_person(MessageKind::Summary, &text, None, Pending::Question, now);
    }

    /// Asks the person, and waits for the next message.
    pub(super) fn ask_person(
        &mut self,
        kind: MessageKind,
        text: &str,
        question: Option<AgentQuestion<'_>>,
        pending: Pending,
        now: Duration,
    ) {
        let record = AssistantMessage { question, ..AssistantMessage::whole(kind, text) }.json();
        self.effects.push(Effect::Session(self.with_ids(&record)));
        self.question = Some(record);
        self.budget.hold(now);
        self.doing = Activity::Waiting(pending);
        self.report_status(State::WaitingUser, pending, None);
    }

    /// Begins a new conversation, with the needed parts of the old one.
    pub(super) fn compact(&mut self) {
        let mut new = self.new_conversation();
        new.is_compacted = true;
        // Parts that were not sent yet are kept.
        let unsent = std::mem::replace(&mut self.conversation, new).unsent();
        let goal = self.goal.clone().unwrap_or_default();
        let mut text = format!("Goal: {goal}\nThis conversation goes on from an earlier one. The person has said:\n");
        text.push_str(&self.history.messages());
        text.push_str("What was done:\n");
        text.push_str(&self.history.text());
        if self.plan.step().plan_id.is_some() {
            text.push_str(&format!("The plan:\n{}", self.plan.text()));
        }
        self.conversation.say(&Part::Text(text));
        match self.settings.profile.observe.is_empty() {
            true => self.observed.clone().into_iter().for_each(|text| self.conversation.say(&Part::Text(text))),
            false => {
                if !self.result.is_empty() {
                    self.conversation.say(&Part::Text(self.result.clone()));
                }
                self.is_stale = true;
            }
        }
        self.conversation.say_again(unsent);
    }
}

/// The text of a report. A model that answers with objects may write one more call in its place, which tells a person
/// nothing.
fn reported(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty() && !text.starts_with('{'))
}
