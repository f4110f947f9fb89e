//! Converts records to events.

use super::thread::Thread;
use pipewright_record::json::{self, Object, one_line, quoted};
use pipewright_record::{
    AssistantMessage, CallFields, CallResult, ChainAgent, ChainUpdate, Fields, MessageKind, PlanProgress, PlanUpdate,
    ToolCall,
};
use serde_json::value::RawValue;

/// The most calls without a result that are kept.
const CALLS: usize = 1024;

impl Thread {
    pub(super) fn message(&mut self, message: &AssistantMessage<'_>) -> Vec<String> {
        let AssistantMessage { token: text, restarted, is_final, .. } = message;
        let (restarted, is_final) = (*restarted, *is_final);
        let is_thought = message.kind == MessageKind::Thought.name();
        let request = message.request_id.map(|id| id.get().to_owned());
        self.count += 1;
        let id = self.new_id();
        match request.or_else(|| (!is_final).then(String::new)) {
            // The complete message follows.
            Some(request) if self.run.is_none() || self.skipped.as_ref() == Some(&request) => {
                self.skipped = Some(request).filter(|request| !request.is_empty());
                Vec::new()
            }
            Some(request) if is_thought => {
                let mut events = if restarted { self.end_thought() } else { Vec::new() };
                if self.reasoning.is_none() && !text.is_empty() {
                    events.push(event("REASONING_START").text("messageId", &id).end());
                    self.reasoning = Some(id.clone());
                }
                events.extend(self.thoughts.part(&request, restarted, text, || id));
                events
            }
            Some(request) => {
                let mut events = self.end_thought();
                events.extend(self.texts.part(&request, restarted, text, || id));
                events
            }
            None if is_thought => {
                let mut events = Vec::new();
                let whole = self.thoughts.whole(text, || id.clone());
                let is_new = whole.len() > 1;
                if is_new && self.reasoning.is_none() {
                    events.push(event("REASONING_START").text("messageId", &id).end());
                    self.reasoning = Some(id);
                }
                events.extend(whole);
                events.extend(self.end_thought());
                events
            }
            None => {
                let mut events = self.end_thought();
                events.extend(self.whole_text(text));
                let options = message.question.iter().flat_map(|question| &question.options);
                let options: Vec<String> = options.map(|option| quoted(option)).collect();
                if !options.is_empty() {
                    let value = format!(r#"{{"options":[{}]}}"#, options.join(","));
                    events.push(event("CUSTOM").text("name", "question").put("value", value).end());
                }
                events
            }
        }
    }

    pub(super) fn whole_text(&mut self, text: &str) -> Vec<String> {
        self.count += 1;
        let id = self.new_id();
        self.texts.whole(text, || id)
    }

    /// Unique among all messages of the thread, including those of earlier runs of the server.
    pub(super) fn new_id(&self) -> String {
        let run = self.run.as_ref().map_or("between-runs", |run| &run.id);
        format!("{run}-{}", self.count)
    }

    pub(super) fn end_thought(&mut self) -> Vec<String> {
        let mut events = self.thoughts.end();
        let ended = self.reasoning.take().map(|id| event("REASONING_END").text("messageId", &id).end());
        events.extend(ended);
        events
    }

    pub(super) fn plan_update(&mut self, update: &PlanUpdate<'_>) -> Vec<String> {
        self.plan(&update.plan_id, update.current_step.as_deref().map(ToOwned::to_owned))
    }

    pub(super) fn plan_progress(&mut self, progress: &PlanProgress<'_>, line: &str) -> Vec<String> {
        let step = match &*progress.status {
            "running" => Some(progress.step_id.clone().into_owned()),
            _ => self.step.clone().filter(|step| progress.step_id != **step),
        };
        let mut events = self.plan(&progress.plan_id, step);
        events.push(custom("plan_progress", line));
        events
    }

    /// The plan with this running step.
    fn plan(&mut self, plan_id: &str, step: Option<String>) -> Vec<String> {
        let mut events = Vec::new();
        let step = step.filter(|_| self.run.is_some());
        if self.step != step {
            events.extend(self.end_step());
            events.extend(step.iter().map(|step| event("STEP_STARTED").text("stepName", step).end()));
            self.step = step;
        }
        let plan_id = if plan_id.is_empty() { "plan" } else { plan_id };
        let content = Object::default()
            .text("plan_id", plan_id)
            .put("steps", json::text(self.session.plan()))
            .text_some("current_step", self.step.as_deref());
        let snapshot = event("ACTIVITY_SNAPSHOT").text("messageId", plan_id).text("activityType", "PLAN");
        events.push(snapshot.put("content", content.end()).put("replace", "true").end());
        events
    }

    pub(super) fn end_step(&mut self) -> Vec<String> {
        self.step.take().map(|step| event("STEP_FINISHED").text("stepName", &step).end()).into_iter().collect()
    }

    pub(super) fn call(&mut self, call: &ToolCall<'_>, fields: &Fields<'_>) -> Vec<String> {
        let CallFields { tool_name: tool, arguments, .. } = &call.call;
        let Some(id) = call.about.call_id.filter(|_| !tool.is_empty()) else { return Vec::new() };
        let id = id.get().to_owned();
        // A gate's question about the call came before the agent's own record.
        if self.calls.contains(&id) {
            return Vec::new();
        }
        let arguments = arguments.map_or("{}", |arguments| arguments.get());
        let mut events = self.texts.end();
        events.extend(self.end_thought());
        events.extend(self.start_call(&id, tool, arguments, &context(fields)));
        events
    }

    pub(super) fn start_call(&mut self, id: &str, tool: &str, arguments: &str, context: &str) -> Vec<String> {
        if self.calls.len() >= CALLS {
            self.calls.remove(0);
        }
        self.calls.push(id.to_owned());
        let of_call = |kind: &str| event(kind).text("toolCallId", &text_of(id));
        vec![
            of_call("TOOL_CALL_START").text("toolCallName", tool).put("metadata", context).end(),
            of_call("TOOL_CALL_ARGS").text("delta", &one_line(arguments)).end(),
            of_call("TOOL_CALL_END").end(),
        ]
    }

    pub(super) fn result(&mut self, result: &CallResult<'_>, fields: &Fields<'_>) -> Vec<String> {
        let Some(id) = result.call_id.map(RawValue::get) else { return Vec::new() };
        self.calls.retain(|own| own != id);
        let text = match result.is_ok {
            true => result.result.map(RawValue::get),
            false => result.error.as_deref(),
        };
        self.count += 1;
        let result = event("TOOL_CALL_RESULT").text("messageId", &self.new_id()).text("toolCallId", &text_of(id));
        let result = result.text("content", text.unwrap_or_default()).text("role", "tool");
        vec![result.put("metadata", context(fields)).end()]
    }

    pub(super) fn chain(&mut self, update: &ChainUpdate<'_>, line: &str) -> Vec<String> {
        let mut events = Vec::new();
        for ChainAgent { agent_id: id, role, status } in &update.agents {
            let open = self.agents.iter().position(|open| open.rsplit_once('/').is_some_and(|(own, _)| own == id));
            match (&**status, open) {
                ("running", None) if self.run.is_none() => {}
                ("running", None) => {
                    self.count += 1;
                    let handle = format!("{id}/{}", self.count);
                    let started = event("SUBAGENT_STARTED").text("subagentRunId", &handle).text("name", id);
                    events.push(started.text_some("description", role.as_deref()).end());
                    self.agents.push(handle);
                }
                ("error", Some(place)) => {
                    let handle = self.agents.remove(place);
                    let failed = event("SUBAGENT_ERROR").text("subagentRunId", &handle);
                    events.push(failed.text("message", &format!("{id} has failed")).end());
                }
                ("running", Some(_)) | (_, None) => {}
                (_, Some(place)) => {
                    let handle = self.agents.remove(place);
                    events.push(event("SUBAGENT_FINISHED").text("subagentRunId", &handle).end());
                }
            }
        }
        events.push(custom("agent_chain_update", line));
        events
    }
}

pub(super) fn event(kind: &str) -> Object {
    Object::default().text("type", kind)
}

/// A record that has no counterpart in AG-UI.
pub(super) fn custom(name: &str, record: &str) -> String {
    event("CUSTOM").text("name", name).put("value", one_line(record.trim())).end()
}

/// The id of a call as a string.
pub(super) fn text_of(id: &str) -> String {
    serde_json::from_str(id).unwrap_or_else(|_| id.to_owned())
}

/// The context of a record: its ids, and the outcome of a call.
pub(super) fn context(fields: &Fields<'_>) -> String {
    const KEYS: [&str; 8] =
        ["session_id", "plan_id", "step_id", "agent_id", "chain_id", "status", "kind", "duration_ms"];
    let kept = KEYS.into_iter().filter_map(|key| Some((key, fields.get(key)?.get())));
    Object::default().put_all(kept).end()
}
