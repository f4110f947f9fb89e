//! Calls to the world: the model's calls, and those that the profile makes around them.

use super::conversation::{Part, cut, data};
use super::profile::{ProfileCall, SettleMode};
use super::repetition::Visibility;
use super::results::{describe, has_one_of, image_path, presented, texts};
use super::{Activity, Agent, Effect, MAX_NOTE_LEN};
use pipewright_record::json::{Object, quoted, raw};
use pipewright_record::{Fields, Pending, Record, State, ToolCall, ToolError, ToolResult};
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// A call to be made.
#[derive(Debug, Clone)]
pub(super) struct PlannedCall {
    pub(super) tool: String,
    /// A JSON object as text.
    pub(super) arguments: String,
    pub(super) purpose: CallPurpose,
}

/// The purpose of a call.
#[derive(Debug, Clone)]
pub(super) enum CallPurpose {
    /// The model decided on it: its own id of the call, and the answers to calls that stand behind it in the turn.
    Action { call_id: Option<String>, then: Vec<CallAnswer> },
    /// Its result is for the model.
    Observation(Box<ProfileCall>),
    /// The loop waits until an action has settled.
    Settling,
    /// The profile's call after actions with this number.
    After(usize),
}

/// The answer to a call of the model's.
#[derive(Debug, Clone)]
pub(super) struct CallAnswer {
    /// The model's own id of the call; `None` if the call was found in the turn's text.
    pub(super) call_id: Option<String>,
    pub(super) tool: String,
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// A call that the world is carrying out.
#[derive(Debug, Clone)]
pub(super) struct OpenCall {
    /// The loop's own id of the call.
    pub(super) id: String,
    pub(super) planned: PlannedCall,
    made: Duration,
    /// Whether a gate holds it for a person.
    pub(super) is_held: bool,
}

impl OpenCall {
    /// The path of the image in the result of this call.
    pub(super) fn image_in(&self, line: &str) -> Option<String> {
        let CallPurpose::Observation(step) = &self.planned.purpose else { return None };
        let field = step.image.as_ref()?;
        let fields = Fields::read(line).ok()?;
        let is_own = fields.text("type").as_deref() == Some("tool_result")
            && fields.text("call_id").as_deref() == Some(&*self.id);
        image_path(fields.get("result").filter(|_| is_own)?.get(), field)
    }
}

/// The names of the arguments that differ between two objects (JSON texts); `None` if one is not an object.
fn changed(before: &str, after: &str) -> Option<String> {
    let [before, after] = [before, after].map(serde_json::from_str::<serde_json::Map<String, Value>>);
    let (before, after) = (before.ok()?, after.ok()?);
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let names: Vec<String> =
        names.filter(|name| before.get(*name) != after.get(*name)).map(|name| cut(name, MAX_NOTE_LEN)).collect();
    Some(names.join(", "))
}

/// Whether the kind of a failure is a single word, like the kinds of pipewright(7).
fn is_plain(kind: &str) -> bool {
    kind.len() <= 40 && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

impl PlannedCall {
    pub(super) fn observation(step: &ProfileCall) -> PlannedCall {
        let purpose = CallPurpose::Observation(Box::new(step.clone()));
        PlannedCall { tool: step.tool.clone(), arguments: arguments(step, None), purpose }
    }
}

/// The arguments of a step as JSON text, with `limit` under its name.
fn arguments(step: &ProfileCall, limit: Option<(&str, u64)>) -> String {
    let mut arguments = step.arguments.clone();
    if let Some((name, milliseconds)) = limit {
        arguments.insert(name.to_owned(), milliseconds.into());
    }
    Value::Object(arguments).to_string()
}

impl Agent {
    /// Makes the next planned call; false if there is none.
    pub(super) fn make_call(&mut self, now: Duration) -> bool {
        let Some(planned) = self.queue.pop_front() else { return false };
        if matches!(planned.purpose, CallPurpose::Action { .. }) {
            self.begin_call(now);
        }
        self.calls += 1;
        let id = format!("a{}", self.calls);
        let call_id = quoted(&id);
        let record = ToolCall {
            step: self.plan.step(),
            agent: self.settings.ids.borrowed(),
            ..ToolCall::new(raw(&call_id), &planned.tool, Some(raw(&planned.arguments)))
        };
        let record = record.json();
        if matches!(planned.purpose, CallPurpose::Action { .. }) {
            self.effects.push(Effect::Session(record.clone()));
        }
        self.effects.push(Effect::World(record));
        self.doing = Activity::World(OpenCall { id, planned, made: now, is_held: false });
        true
    }

    /// Plans the observation of the world.
    pub(super) fn observe(&mut self) {
        self.is_stale = false;
        self.queue.extend(self.settings.profile.observe.iter().map(PlannedCall::observation));
    }

    /// A gate holds the call until a person decides: clocks stop.
    pub(super) fn hold_call(&mut self, now: Duration) {
        let Activity::World(OpenCall { id, planned, is_held, .. }) = &mut self.doing else { return };
        *is_held = true;
        self.budget.hold(now);
        let action = Object::default().text("call_id", id).text("tool_name", &planned.tool);
        let action = action.put("arguments", &planned.arguments).end();
        self.report_status(State::WaitingUser, Pending::Confirm, Some(&action));
    }

    /// A person has approved the call; the world carries it out, with these arguments if they were changed.
    pub(super) fn release_call(&mut self, edited: Option<&str>, now: Duration) {
        let Activity::World(call) = &mut self.doing else { return };
        if !std::mem::take(&mut call.is_held) {
            return;
        }
        if let Some(names) = edited.and_then(|edited| changed(&call.planned.arguments, edited)) {
            // The values are not shown: the person may have entered something that the model must not see.
            let text = format!(
                "The person has changed arguments of this call: {names}. The result is that of the changed call."
            );
            self.conversation.say(&Part::Text(text));
        }
        self.budget.restart(now);
        self.report_status(State::Running, Pending::None, None);
    }

    /// Takes the result of the open call.
    pub(super) fn take_result(&mut self, fields: &Fields<'_>, line: &str, now: Duration) {
        let Activity::World(call) = std::mem::replace(&mut self.doing, Activity::Working) else { return };
        self.budget.restart(now);
        if call.is_held {
            self.report_status(State::Running, Pending::None, None);
        }
        let result = match ToolResult::read(fields) {
            Ok(result) => result.outcome,
            Err(why) => {
                let message = why.to_string();
                Err(ToolError { message, kind: "protocol".to_owned(), code: None, data: None, maybe_executed: true })
            }
        };
        if result.as_ref().is_err_and(|error| matches!(&*error.kind, "denied" | "rejected" | "needs_approval")) {
            self.denied += 1;
        }
        self.note(&call.planned, &result);
        match &call.planned.purpose {
            CallPurpose::Action { .. } => {
                self.pass_on(line, fields);
                let events = fields.get("events").map(RawValue::get).filter(|events| *events != "[]");
                self.take_action(&call, result, events, now);
            }
            CallPurpose::Observation(_) => self.take_observation(&call.planned, result),
            CallPurpose::Settling => {}
            CallPurpose::After(number) => self.take_after(*number, result, now.saturating_sub(call.made)),
        }
    }

    /// Adds a result to the event of the step.
    fn note(&mut self, planned: &PlannedCall, result: &Result<&RawValue, ToolError<'_>>) {
        let PlannedCall { tool, arguments, purpose } = planned;
        let error = result.as_ref().err();
        let given: Value = serde_json::from_str(arguments).unwrap_or_default();
        if let CallPurpose::Action { .. } = purpose {
            self.step.call(tool, arguments, error.map(|error| (&*error.kind, &*error.message)));
        }
        if let Some(error) = error {
            self.step.transfer_error(tool, &error.kind);
        }
        if matches!(purpose, CallPurpose::Settling) || tool.ends_with("_wait") {
            self.step.wait(&given, error.is_none(), error.is_some_and(|error| error.kind == "timeout"));
        }
        if let Some(result) = result.as_ref().ok().and_then(|result| serde_json::from_str(result.get()).ok()) {
            self.step.result(tool, &given, &result);
        }
    }

    fn take_action(
        &mut self,
        call: &OpenCall,
        result: Result<&RawValue, ToolError<'_>>,
        events: Option<&str>,
        now: Duration,
    ) {
        let tool = &call.planned.tool;
        let profile = &self.settings.profile;
        let is_look = profile.is_look(tool);
        let (mut text, outcome) = match &result {
            Ok(result) => (presented(result.get(), &[]), "ok"),
            Err(error) => (describe(error), if is_plain(&error.kind) { &*error.kind } else { "failed" }),
        };
        if let Some(events) = events {
            text.push_str(&format!("\nevents: {events}"));
        }
        let history = format!("{tool} {}: {outcome}", cut(&call.planned.arguments, MAX_NOTE_LEN));
        let framed = data(tool, &cut(&text, profile.max_result));
        // Changes can only be detected in observations.
        let watched = match &result {
            _ if is_look || profile.observe.is_empty() => Visibility::No,
            Ok(result) if has_one_of(result.get(), &profile.changes) => Visibility::Changed,
            _ => Visibility::Yes,
        };
        if !is_look {
            self.observed.clear();
            self.effort.seen.clear();
        }
        self.add_evidence(&text);
        let read = match &result {
            Ok(_) => Ok(Some(&*text).filter(|_| is_look)),
            Err(_) => Err(&*text),
        };
        self.choices.acted(tool, &call.planned.arguments, read);
        self.observed.push(framed.clone());
        self.result.clone_from(&framed);
        self.answer_call(call, &framed, result.is_err());
        self.history.add(history);
        let action = format!("{tool} {}", call.planned.arguments);
        let repeated = self.effort.repetition.record(action, framed, watched, self.run.limits.repetition);
        self.report_repetition(repeated.as_deref());
        self.effort.has_acted = result.is_ok() && !is_look;
        match result {
            Err(_) => {
                let steps: Vec<PlannedCall> =
                    self.settings.profile.on_error.iter().map(PlannedCall::observation).collect();
                self.queue.extend(steps);
                if !self.settings.profile.advice.is_empty() {
                    self.conversation.say(&Part::Text(self.settings.profile.advice.clone()));
                }
                self.is_stale = true;
            }
            Ok(_) if is_look => {}
            Ok(result) => {
                self.settle(result.get(), now);
                self.plan_after();
                self.is_stale = true;
            }
        }
    }

    /// Tells the model what it is repeating.
    pub(super) fn report_repetition(&mut self, repeated: Option<&str>) {
        if let Some(why) = repeated {
            let nudge = format!("You are going in circles: {why}. Do something else, or call assistant_ask.");
            self.choices.note(&nudge);
            self.conversation.say(&Part::Text(nudge));
        }
    }

    /// Gives the model the result of its call, and the answers that follow.
    pub(super) fn answer_call(&mut self, call: &OpenCall, text: &str, is_error: bool) {
        self.answer_planned(call.planned.clone(), text, is_error);
    }

    fn answer_planned(&mut self, planned: PlannedCall, text: &str, is_error: bool) {
        if let CallPurpose::Action { call_id, then } = planned.purpose {
            let first = CallAnswer { call_id, tool: planned.tool, text: text.to_owned(), is_error };
            [first].into_iter().chain(then).for_each(|answer| self.give(answer));
        }
    }

    /// The planned calls are not made.
    pub(super) fn drop_calls(&mut self) {
        for planned in std::mem::take(&mut self.queue) {
            self.answer_planned(planned, "not executed: the turn was interrupted", true);
        }
    }

    /// Answers a call of the model's, behind those calls of its turn that the world still has to carry out.
    pub(super) fn answer(&mut self, answer: CallAnswer) {
        match self.queue.back_mut().map(|planned| &mut planned.purpose) {
            Some(CallPurpose::Action { then, .. }) => then.push(answer),
            _ => self.give(answer),
        }
    }

    /// A call that was found in the turn's text is answered in text.
    fn give(&mut self, answer: CallAnswer) {
        let CallAnswer { call_id, tool, text, is_error } = answer;
        if is_error && tool.starts_with("assistant_") {
            self.choices.note(&format!("{tool}: this failed: {text}"));
        }
        match call_id {
            Some(call_id) => self.conversation.result(&call_id, &text, is_error),
            None => {
                let error = if is_error { " error" } else { "" };
                self.conversation.say(&Part::Text(format!("function_result: name={tool}{error}\n{text}")));
            }
        }
    }

    fn settle(&mut self, result: &str, now: Duration) {
        let Some(settle) = &self.settings.profile.settle else { return };
        if settle.mode == SettleMode::Fixed {
            self.doing = Activity::Pausing(now + settle.pause());
            return;
        }
        let is_due = settle.when.is_empty() || has_one_of(result, &settle.when);
        let Some(wait) = settle.wait.as_ref().filter(|_| is_due) else { return };
        let limit = settle.limit_argument.as_deref().map(|name| (name, settle.pause_ms));
        let (tool, arguments) = (wait.tool.clone(), arguments(wait, limit));
        self.queue.push_back(PlannedCall { tool, arguments, purpose: CallPurpose::Settling });
    }

    fn plan_after(&mut self) {
        for (number, after) in self.settings.profile.after.iter().enumerate() {
            let spent = self.effort.spent.get(&number).copied().unwrap_or_default();
            let left = after.total_ms.saturating_sub(spent).min(after.budget_ms);
            if left > 0 {
                let limit = after.budget_argument.as_deref().map(|name| (name, left));
                let (tool, arguments) = (after.call.tool.clone(), arguments(&after.call, limit));
                self.queue.push_back(PlannedCall { tool, arguments, purpose: CallPurpose::After(number) });
            }
        }
    }

    fn take_after(&mut self, number: usize, result: Result<&RawValue, ToolError<'_>>, took: Duration) {
        let after = &self.settings.profile.after[number];
        let value = result.ok().and_then(|result| serde_json::from_str::<Value>(result.get()).ok());
        let reported = after.spent.as_ref().and_then(|field| value.as_ref()?.get(field)?.as_u64());
        let measured = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let spent = reported.unwrap_or(measured);
        self.step.banners(value.as_ref().and_then(|value| value.get("closed")), spent);
        let all = self.effort.spent.entry(number).or_default();
        *all = all.saturating_add(spent);
    }

    fn take_observation(&mut self, planned: &PlannedCall, result: Result<&RawValue, ToolError<'_>>) {
        let CallPurpose::Observation(step) = &planned.purpose else { return };
        let ProfileCall { image, is_silent, is_restless, fields, choices, .. } = &**step;
        let text = match &result {
            Ok(result) if *is_silent || image.is_some() => {
                if let Some(image) = image {
                    self.show_image(result, image);
                }
                return;
            }
            Ok(result) => presented(result.get(), fields),
            Err(error) => describe(error),
        };
        self.add_evidence(&text);
        let text = cut(&text, self.settings.profile.max_result);
        match choices {
            Some(field) => self.choices.offer(result.as_ref().ok().copied(), field),
            None => self.choices.observe(&planned.tool, &text),
        }
        let text = data(&planned.tool, &text);
        if *is_restless {
            self.conversation.say_if_new(&text);
        } else {
            self.conversation.say(&Part::Text(text.clone()));
            self.shown.push_str(&text);
        }
        self.observed.push(text);
    }

    fn show_image(&mut self, result: &RawValue, field: &str) {
        let path = image_path(result.get(), field);
        let part = match path.as_ref().and_then(|path| self.images.remove(path)) {
            Some(Ok(stored)) => Part::Image(stored),
            // The path belongs to the world and is not shown to the model.
            Some(Err(_)) | None => Part::Text("There is no picture: it cannot be read.".to_owned()),
        };
        self.conversation.say(&part);
    }

    /// Keeps what the model is shown, for evidence: the raw text, and the texts in it.
    fn add_evidence(&mut self, text: &str) {
        self.effort.seen.push_str(&format!("{text}\n{}", texts(text)));
    }
}
