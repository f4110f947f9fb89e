//! Asking: the model for its next call, or for a report; the person for an answer.

use super::budget::{Limit, Limits};
use super::conversation::{Choice, Part};
use super::deciding::ids;
use super::decision::Undecided;
use super::records::Pending;
use super::turn::{self, Answer, Turn};
use super::{Agent, Doing, Effect, FAILED, Outcome};
use crate::json::Object;
use crate::record::Fields;
use std::time::Duration;

/// What the model is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The next call.
    Decision,
    /// What was done, at the end: why that is.
    Report(String),
    /// What was done so far, and how to go on: the person is asked.
    Summary,
}

/// A limit of cost that nothing would ever reach.
const NO_COST: &str = "the cost is limited, and the model side does not report what a turn costs: llm-pipe takes the model's price from models.toml";

/// The same of tokens.
const NO_TOKENS: &str = "the tokens are limited, and the model side does not report how many a turn has";

/// What a run says at its end.
const REPORT: &str = "Write a short report for the person, without a call: what was done, what worked and what did not, and what the next step would be.";

impl Agent {
    /// Makes the next call, or asks the model.
    pub(super) fn work(&mut self, now: Duration) {
        if self.make_call(now) {
            return;
        }
        if self.wants_compaction {
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
            let repeated = self.repetition.show(&shown);
            self.report_repetition(repeated);
        }
        if !self.inbox.is_empty() {
            if self.run.goal.is_none() {
                self.budget.begin(now);
            }
            self.take_messages();
        }
        match self.budget.reached(&self.run.limits, now) {
            Some(limit @ Limit::Steps(_)) => {
                self.reached = Some(limit.name());
                return self.ask(Purpose::Report(format!("the limit of {limit} is reached")), now);
            }
            // A report would take more of it.
            Some(limit) => return self.stop_at(&limit, now),
            None if self.repetition.is_hopeless() => {
                self.reached = Some("circles");
                return self.ask(Purpose::Report("it goes in circles".to_owned()), now);
            }
            None => {}
        }
        if self.run.limits.turn_steps.is_some_and(|most| self.budget.actions >= most) {
            return self.ask(Purpose::Summary, now);
        }
        let remaining = self.budget.remaining(&self.run.limits);
        self.tell_reports();
        self.conversation.say(&Part::Text(format!("[left: {remaining}]")));
        self.ask(Purpose::Decision, now);
    }

    fn ask(&mut self, purpose: Purpose, now: Duration) {
        let choice = match &purpose {
            Purpose::Decision => Choice::Auto,
            Purpose::Report(why) => {
                self.conversation.say(&Part::Text(format!("The run ends now: {why}. {REPORT}")));
                Choice::None
            }
            Purpose::Summary => {
                let text =
                    format!("The limit of actions for one message is reached. {REPORT} Then ask whether to go on.");
                self.conversation.say(&Part::Text(text));
                Choice::None
            }
        };
        if purpose == Purpose::Decision {
            self.end_step(now);
        }
        self.requests += 1;
        let id = format!("m{}", self.requests);
        let request = self.conversation.request(&id, choice);
        self.effects.push(Effect::Model(request));
        self.doing = Doing::Model(id, purpose);
    }

    /// Takes a line of the model side's.
    pub(super) fn take_model(&mut self, line: &str, now: Duration) {
        if line.trim().is_empty() {
            return;
        }
        match turn::read(line) {
            Ok(Some((id, answer))) => {
                let Doing::Model(own, purpose) = &self.doing else { return };
                match serde_json::from_str::<String>(&id) {
                    Ok(id) if id == *own => {
                        let purpose = purpose.clone();
                        self.doing = Doing::Working;
                        self.take_answer(answer, purpose, now);
                    }
                    // Of a request that was cancelled.
                    Ok(id) if id.starts_with('m') => {}
                    _ => self.take_bad_turn("its request_id is none of a request", now),
                }
            }
            Ok(None) => self.take_token(line, now),
            Err(why) if line.contains("\"model_turn\"") => self.take_bad_turn(&why.to_string(), now),
            Err(why) => self.effects.push(Effect::Note(format!("a line of the model side is skipped: {why}"))),
        }
    }

    /// A turn that cannot be read decides nothing.
    pub(super) fn take_bad_turn(&mut self, why: &str, now: Duration) {
        let Doing::Model(_, purpose) = std::mem::replace(&mut self.doing, Doing::Working) else { return };
        match purpose {
            Purpose::Decision => {
                self.count_turn();
                let why = format!("the turn cannot be read: {why}. Call exactly one tool");
                self.take_undecided(Undecided { call_id: None, why }, now);
            }
            Purpose::Report(limit) => self.report(&limit, None, now),
            Purpose::Summary => self.ask_to_go_on(None, now),
        }
    }

    /// Part of a turn, while it is written; or what is none of the model side's records.
    fn take_token(&mut self, line: &str, now: Duration) {
        let Ok(fields) = Fields::read(line) else { return };
        match fields.text("type").as_deref() {
            Some("assistant_message") => self.pass_on(line, &fields),
            Some("model_request") => {
                self.finish(
                    Outcome::Failed,
                    "the model side passes requests on instead of answering them",
                    FAILED,
                    now,
                );
            }
            _ => self.effects.push(Effect::Note("a line of the model side is no model_turn: skipped".to_owned())),
        }
    }

    fn take_answer(&mut self, answer: Answer, asked: Purpose, now: Duration) {
        match answer {
            Answer::Failed(kind, why, usage) => {
                self.budget.usage = self.budget.usage.plus(usage);
                match asked {
                    // What does not fit is said in fewer words, once.
                    Purpose::Decision if kind == "overflow" && !self.is_compacted => self.compact(),
                    Purpose::Decision => {
                        self.finish(Outcome::Failed, &format!("the model failed: {kind}: {why}"), FAILED, now)
                    }
                    Purpose::Report(limit) => self.report(&limit, None, now),
                    Purpose::Summary => self.ask_to_go_on(None, now),
                }
            }
            Answer::Turn(turn) => {
                self.budget.usage = self.budget.usage.plus(turn.usage);
                let Limits { max_cost, max_tokens, .. } = &self.run.limits;
                let has_no_cost = max_cost.is_some() && turn.usage.cost.is_none();
                let has_no_tokens = max_tokens.is_some() && turn.usage.input.or(turn.usage.output).is_none();
                if !turn.is_cached && (has_no_cost || has_no_tokens) {
                    let why = if has_no_cost { NO_COST } else { NO_TOKENS };
                    return self.finish(Outcome::Failed, why, FAILED, now);
                }
                let is_long = self.settings.compact_at.zip(turn.usage.input).is_some_and(|(most, input)| input >= most);
                self.conversation.answer(&turn);
                if !turn.reasoning.is_empty() {
                    self.effects.push(Effect::Reasoning(turn.reasoning.clone()));
                    self.say("thought", &turn.reasoning);
                }
                match asked {
                    Purpose::Decision => self.take_turn(&turn, now),
                    // A turn that calls all the same gets its results.
                    Purpose::Report(limit) => {
                        self.refuse_others(&ids(&turn.calls));
                        self.report(&limit, Some(&turn), now);
                    }
                    Purpose::Summary => {
                        self.refuse_others(&ids(&turn.calls));
                        self.ask_to_go_on(Some(turn.text), now);
                    }
                }
                self.is_compacted = false;
                if is_long {
                    self.wants_compaction = true;
                }
            }
        }
    }

    /// The end at a limit.
    fn report(&mut self, limit: &str, turn: Option<&Turn>, now: Duration) {
        let text = turn.map(|turn| turn.text.trim()).filter(|text| !text.is_empty());
        let why = format!("stopped: {limit}");
        let content = text.map_or_else(|| self.summary(&why), |text| format!("{why}\n{text}"));
        self.finish(Outcome::Limit, &content, FAILED, now);
    }

    /// The person is asked whether to go on.
    fn ask_to_go_on(&mut self, text: Option<String>, now: Duration) {
        let text = text.filter(|text| !text.trim().is_empty());
        let text = text.unwrap_or_else(|| self.summary("The limit of actions for one message is reached. Go on?"));
        self.ask_person("summary", &text, None, Pending::Question, now);
    }

    /// Asks the person, and waits for the next message.
    pub(super) fn ask_person(
        &mut self,
        kind: &str,
        text: &str,
        question: Option<String>,
        pending: Pending,
        now: Duration,
    ) {
        let record = Object::default().text("type", "assistant_message").text("token", text).put("is_final", true);
        let record = record.text("kind", kind).put_some("question", question).end();
        self.effects.push(Effect::Session(self.with_ids(&record)));
        self.question = Some(record);
        self.budget.hold(now);
        self.doing = Doing::Waiting(pending);
        self.report_status("waiting_user", pending, None);
    }

    /// Begins a new conversation, with what is needed of the old one.
    pub(super) fn compact(&mut self) {
        self.is_compacted = true;
        self.wants_compaction = false;
        let new = self.new_conversation();
        // What was not sent yet is still to be said.
        let unsent = std::mem::replace(&mut self.conversation, new).unsent();
        let goal = self.goal.clone().unwrap_or_default();
        let mut text = format!("Goal: {goal}\nThis conversation goes on from an earlier one. The person has said:\n");
        text.push_str(&self.history.messages());
        text.push_str("What was done:\n");
        text.push_str(&self.history.text());
        if self.plan.ids().is_some() {
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
