//! Calls of the world: the model's, and those that the profile makes around them.

use super::conversation::{Part, cut, data};
use super::profile::{Mode, Step};
use super::records::Pending;
use super::{Agent, Doing, Effect, SHORT};
use crate::json::Object;
use crate::record::{Fields, ToolError, ToolResult};
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// A call that is to be made.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub(super) tool: String,
    /// JSON text: an object.
    pub(super) arguments: String,
    pub(super) purpose: For,
}

/// What a call is for.
#[derive(Debug, Clone)]
pub(super) enum For {
    /// The model has decided it: its own id of the call, and those of its further calls.
    Action { call_id: Option<String>, others: Vec<String> },
    /// The model is given the result.
    Observation { image: Option<String>, is_silent: bool, fields: Vec<String> },
    /// An action comes to rest.
    Settling,
    /// The profile's call after actions with this number.
    After(usize),
}

/// A call that the world carries out.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The loop's own id of it.
    pub(super) id: String,
    pub(super) planned: Planned,
}

impl Call {
    /// The path of the image in the result of this call.
    pub(super) fn image_in(&self, line: &str) -> Option<String> {
        let For::Observation { image: Some(field), .. } = &self.planned.purpose else { return None };
        let fields = Fields::read(line).ok()?;
        let is_own = fields.text("type").as_deref() == Some("tool_result")
            && fields.text("call_id").as_deref() == Some(&*self.id);
        image_path(fields.get("result").filter(|_| is_own)?.get(), field)
    }
}

impl Planned {
    pub(super) fn observation(step: &Step) -> Planned {
        let Step { tool, image, is_silent, fields, .. } = step;
        let purpose = For::Observation { image: image.clone(), is_silent: *is_silent, fields: fields.clone() };
        Planned { tool: tool.clone(), arguments: arguments(step, None), purpose }
    }
}

/// The arguments of a step, JSON text; `limit` is put in under its name.
fn arguments(step: &Step, limit: Option<(&str, u64)>) -> String {
    let mut arguments = step.arguments.clone();
    if let Some((name, milliseconds)) = limit {
        arguments.insert(name.to_owned(), milliseconds.into());
    }
    Value::Object(arguments).to_string()
}

impl Agent {
    /// Makes the next call that is planned; false where there is none.
    pub(super) fn make_call(&mut self, now: Duration) -> bool {
        let Some(planned) = self.queue.pop_front() else { return false };
        self.calls += 1;
        self.called = now;
        let id = format!("a{}", self.calls);
        let record = Object::default().text("type", "tool_call").text("call_id", &id).text("tool_name", &planned.tool);
        let record = self.settings.ids.put(record.put("arguments", &planned.arguments), &self.plan).end();
        if matches!(planned.purpose, For::Action { .. }) {
            self.effects.push(Effect::Session(record.clone()));
        }
        self.effects.push(Effect::World(record));
        self.doing = Doing::World(Call { id, planned });
        true
    }

    /// Plans the observation of the world.
    pub(super) fn observe(&mut self) {
        self.is_stale = false;
        self.queue.extend(self.settings.profile.observe.iter().map(Planned::observation));
    }

    /// A gate holds the call until somebody has approved it.
    pub(super) fn report_pending_call(&mut self) {
        let Doing::World(Call { id, planned }) = &self.doing else { return };
        let action = Object::default().text("call_id", id).text("tool_name", &planned.tool);
        let action = action.put("arguments", &planned.arguments).end();
        self.report_status("waiting_user", Pending::Confirm, Some(&action));
    }

    /// Takes the result of the call that is under way.
    pub(super) fn take_result(&mut self, fields: &Fields<'_>, line: &str, now: Duration) {
        let Doing::World(call) = std::mem::replace(&mut self.doing, Doing::Working) else { return };
        self.budget.go_on(now);
        let result = match ToolResult::read(fields) {
            Ok(result) => result.outcome,
            Err(why) => {
                let message = why.to_string();
                Err(ToolError { message, kind: "protocol".to_owned(), code: None, data: None, maybe_executed: true })
            }
        };
        self.note(&call.planned, &result);
        match &call.planned.purpose {
            For::Action { .. } => {
                let record = self.settings.ids.add(line, fields);
                self.effects.push(Effect::Session(record));
                self.take_action(&call, result, now);
            }
            For::Observation { image, is_silent, fields } => {
                self.take_observation(&call.planned.tool, result, image.as_deref(), *is_silent, fields);
            }
            For::Settling => {}
            For::After(number) => self.take_after(*number, result, now),
        }
    }

    /// Puts a result into the event of the step.
    fn note(&mut self, planned: &Planned, result: &Result<&RawValue, ToolError<'_>>) {
        let Planned { tool, arguments, purpose } = planned;
        let error = result.as_ref().err();
        let given: Value = serde_json::from_str(arguments).unwrap_or_default();
        if let For::Action { .. } = purpose {
            self.step.call(tool, arguments, error.map(|error| (&*error.kind, &*error.message)));
        }
        if matches!(purpose, For::Settling) || tool.ends_with("_wait") {
            self.step.wait(&given, error.is_none(), error.is_some_and(|error| error.kind == "timeout"));
        }
        if let Some(result) = result.as_ref().ok().and_then(|result| serde_json::from_str(result.get()).ok()) {
            self.step.result(tool, &given, &result);
        }
    }

    fn take_action(&mut self, call: &Call, result: Result<&RawValue, ToolError<'_>>, now: Duration) {
        let tool = &call.planned.tool;
        let profile = &self.settings.profile;
        let is_look = profile.looks.iter().any(|glob| crate::glob::matches(glob, tool));
        let (text, outcome) = match &result {
            Ok(result) => (result.get().to_owned(), "ok".to_owned()),
            Err(error) => (describe(error), error.kind.clone()),
        };
        let text = data(tool, &cut(&text, profile.max_result));
        if !is_look {
            self.observed.clear();
        }
        self.observed.push(text.clone());
        self.answer_call(call, &text, result.is_err());
        self.history.add(format!("{tool} {}: {outcome}", cut(&call.planned.arguments, SHORT)));
        if matches!(outcome.as_str(), "denied" | "rejected") {
            self.denied += 1;
        }
        let repeated = self.repetition.act(format!("{tool} {}", call.planned.arguments), text);
        if let Some(why) = repeated {
            let nudge = format!("You are going in circles: {why}. Do something else, or call assistant_ask.");
            self.conversation.say(&Part::Text(nudge));
        }
        if self.settings.profile.observe.is_empty() {
            // There is nothing else to see whether something changes.
            let shown = self.observed.last().cloned().unwrap_or_default();
            self.repetition.show(&shown);
        }
        match result {
            Err(_) => {
                let steps: Vec<Planned> = self.settings.profile.on_error.iter().map(Planned::observation).collect();
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

    /// Gives the model the result of a call that it has decided.
    pub(super) fn answer_call(&mut self, call: &Call, text: &str, is_error: bool) {
        if let For::Action { call_id, others } = &call.planned.purpose {
            self.answer_own(call_id.as_deref(), &call.planned.tool, text, is_error);
            self.refuse_others(others);
        }
    }

    /// The same, of any of its calls: one that stood in its text is answered in text.
    pub(super) fn answer_own(&mut self, call_id: Option<&str>, tool: &str, text: &str, is_error: bool) {
        match call_id {
            Some(call_id) => self.conversation.result(call_id, text, is_error),
            None => {
                let error = if is_error { " error" } else { "" };
                self.conversation.say(&Part::Text(format!("function_result: name={tool}{error}\n{text}")));
            }
        }
    }

    /// Every call of a turn needs a result, also those that are not carried out.
    pub(super) fn refuse_others(&mut self, others: &[String]) {
        for call_id in others {
            self.conversation.result(
                call_id,
                "not executed: only the first call of a turn is. Call it in a turn of its own",
                true,
            );
        }
    }

    fn settle(&mut self, result: &str, now: Duration) {
        let Some(settle) = &self.settings.profile.settle else { return };
        if settle.mode == Mode::Fixed {
            self.doing = Doing::Pausing(now + settle.pause());
            return;
        }
        let Ok(result) = serde_json::from_str::<Value>(result) else { return };
        let is_so = |when: &String| {
            let (field, value) = when.split_once('=').unwrap_or((when, ""));
            result.get(field).is_some_and(|found| found.as_str() == Some(value) || *found.to_string() == *value)
        };
        let Some(wait) = settle.wait.as_ref().filter(|_| settle.when.iter().any(is_so)) else { return };
        let limit = settle.limit_argument.as_deref().map(|name| (name, settle.pause_ms));
        let (tool, arguments) = (wait.tool.clone(), arguments(wait, limit));
        self.queue.push_back(Planned { tool, arguments, purpose: For::Settling });
    }

    fn plan_after(&mut self) {
        for (number, after) in self.settings.profile.after.iter().enumerate() {
            let left = after.total_ms.saturating_sub(self.spent[number]).min(after.budget_ms);
            if left > 0 {
                let limit = after.budget_argument.as_deref().map(|name| (name, left));
                let (tool, arguments) = (after.call.tool.clone(), arguments(&after.call, limit));
                self.queue.push_back(Planned { tool, arguments, purpose: For::After(number) });
            }
        }
    }

    fn take_after(&mut self, number: usize, result: Result<&RawValue, ToolError<'_>>, now: Duration) {
        let after = &self.settings.profile.after[number];
        let value = result.ok().and_then(|result| serde_json::from_str::<Value>(result.get()).ok());
        let said = after.spent.as_ref().and_then(|field| value.as_ref()?.get(field)?.as_u64());
        let measured = u64::try_from(now.saturating_sub(self.called).as_millis()).unwrap_or(u64::MAX);
        let spent = said.unwrap_or(measured);
        self.step.banners(value.as_ref().and_then(|value| value.get("closed")), spent);
        self.spent[number] = self.spent[number].saturating_add(spent);
    }

    fn take_observation(
        &mut self,
        tool: &str,
        result: Result<&RawValue, ToolError<'_>>,
        image: Option<&str>,
        is_silent: bool,
        fields: &[String],
    ) {
        let text = match result {
            Ok(result) if is_silent || image.is_some() => {
                if let Some(image) = image {
                    self.show_image(result, image);
                }
                return;
            }
            Ok(result) => only(result.get(), fields),
            Err(error) => describe(&error),
        };
        let text = data(tool, &cut(&text, self.settings.profile.max_result));
        self.conversation.say(&Part::Text(text.clone()));
        self.shown.push_str(&text);
        self.observed.push(text);
    }

    fn show_image(&mut self, result: &RawValue, field: &str) {
        let path = image_path(result.get(), field);
        let part = match path.as_ref().and_then(|path| self.images.remove(path)) {
            Some(Ok(stored)) => Part::Image(stored),
            Some(Err(why)) => Part::Text(format!("There is no picture: {why}")),
            None => Part::Text("There is no picture.".to_owned()),
        };
        self.conversation.say(&part);
    }
}

/// The path of the image in a result.
fn image_path(result: &str, field: &str) -> Option<String> {
    serde_json::from_str::<Value>(result).ok()?.get(field)?.as_str().map(str::to_owned)
}

/// These fields of an object, JSON text; the whole of it where none are named.
fn only(result: &str, fields: &[String]) -> String {
    match serde_json::from_str::<Value>(result) {
        Ok(Value::Object(object)) if !fields.is_empty() => {
            let kept = object.iter().filter(|(key, _)| fields.contains(key));
            kept.fold(Object::default(), |object, (key, value)| object.put_any(key, value)).end()
        }
        _ => result.to_owned(),
    }
}

/// A failure, for the model.
fn describe(error: &ToolError<'_>) -> String {
    let code = error.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    let data = error.data.map(|data| format!("\n{}", data.get())).unwrap_or_default();
    let maybe = if error.maybe_executed { "\nThe call may have been executed." } else { "" };
    format!("{}{code}: {}{data}{maybe}", error.kind, error.message)
}
