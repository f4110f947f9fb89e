//! Converts records to events.

use super::thread::Thread;
use crate::json::{Object, one_line};
use crate::record::Fields;

/// The most calls without a result that are kept.
const CALLS: usize = 1024;

impl Thread {
    pub(super) fn message(&mut self, fields: &Fields<'_>) -> Vec<String> {
        let text = fields.text("token").unwrap_or_default();
        let is_thought = fields.text("kind").as_deref() == Some("thought");
        let is_final = fields.get("is_final").is_some_and(|value| value.get() == "true");
        let request = fields.get("request_id").map(|id| id.get().to_owned());
        let restarted = fields.get("restarted").is_some();
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
                events.extend(self.thoughts.part(&request, restarted, &text, || id));
                events
            }
            Some(request) => {
                let mut events = self.end_thought();
                events.extend(self.texts.part(&request, restarted, &text, || id));
                events
            }
            None if is_thought => {
                let mut events = Vec::new();
                let whole = self.thoughts.whole(&text, || id.clone());
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
                let options = fields.object("question").and_then(|question| question.list("options").ok());
                events.extend(self.whole_text(&text));
                if let Some(options) = options.filter(|options| !options.is_empty()) {
                    let options: Vec<&str> = options.iter().map(|option| option.get()).collect();
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

    pub(super) fn plan(&mut self, kind: &str, fields: &Fields<'_>, line: &str) -> Vec<String> {
        let step = match (kind, fields.text("status").as_deref()) {
            ("plan_update", _) => fields.text("current_step"),
            (_, Some("running")) => fields.text("step_id"),
            _ => self.step.clone().filter(|step| fields.text("step_id").as_ref() != Some(step)),
        };
        let mut events = Vec::new();
        let step = step.filter(|_| self.run.is_some());
        if self.step != step {
            events.extend(self.end_step());
            events.extend(step.iter().map(|step| event("STEP_STARTED").text("stepName", step).end()));
            self.step = step;
        }
        let steps = self.session.plan().iter().map(|step| {
            Object::default().text("id", &step.id).text("desc", &step.desc).text("status", &step.status).end()
        });
        let steps = format!("[{}]", steps.collect::<Vec<_>>().join(","));
        let plan_id = fields.text("plan_id").unwrap_or_else(|| "plan".to_owned());
        let content = Object::default()
            .text("plan_id", &plan_id)
            .put("steps", steps)
            .text_some("current_step", self.step.as_deref());
        let snapshot = event("ACTIVITY_SNAPSHOT").text("messageId", &plan_id).text("activityType", "PLAN");
        events.push(snapshot.put("content", content.end()).put("replace", "true").end());
        events.extend((kind == "plan_progress").then(|| custom(kind, line)));
        events
    }

    pub(super) fn end_step(&mut self) -> Vec<String> {
        self.step.take().map(|step| event("STEP_FINISHED").text("stepName", &step).end()).into_iter().collect()
    }

    pub(super) fn call(&mut self, fields: &Fields<'_>) -> Vec<String> {
        let (Some(tool), Some(id)) = (fields.text("tool_name"), fields.get("call_id")) else { return Vec::new() };
        let id = id.get().to_owned();
        // A gate's question about the call came before the agent's own record.
        if self.calls.contains(&id) {
            return Vec::new();
        }
        let arguments =
            fields.present("arguments").or(fields.present("args")).map_or("{}", |arguments| arguments.get());
        let mut events = self.texts.end();
        events.extend(self.end_thought());
        events.extend(self.start_call(&id, &tool, arguments, &context(fields)));
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

    pub(super) fn result(&mut self, fields: &Fields<'_>) -> Vec<String> {
        let Some(id) = fields.get("call_id").map(|id| id.get().to_owned()) else { return Vec::new() };
        self.calls.retain(|own| *own != id);
        let text = match fields.text("status").as_deref() {
            Some("ok") => fields.get("result").map(|result| result.get().to_owned()),
            _ => fields.text("error"),
        };
        self.count += 1;
        let result = event("TOOL_CALL_RESULT").text("messageId", &self.new_id()).text("toolCallId", &text_of(&id));
        let result = result.text("content", &text.unwrap_or_default()).text("role", "tool");
        vec![result.put("metadata", context(fields)).end()]
    }

    pub(super) fn chain(&mut self, fields: &Fields<'_>, line: &str) -> Vec<String> {
        let mut events = Vec::new();
        for agent in fields.list("agents").unwrap_or_default() {
            let Ok(agent) = Fields::read(agent.get()) else { continue };
            let (Some(id), Some(status)) = (agent.text("agent_id"), agent.text("status")) else { continue };
            let open = self.agents.iter().position(|open| open.rsplit_once('/').is_some_and(|(own, _)| own == id));
            match (status.as_str(), open) {
                ("running", None) if self.run.is_none() => {}
                ("running", None) => {
                    self.count += 1;
                    let handle = format!("{id}/{}", self.count);
                    let started = event("SUBAGENT_STARTED").text("subagentRunId", &handle).text("name", &id);
                    events.push(started.text_some("description", agent.text("role").as_deref()).end());
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
