//! The lines of the world and of the person.

use super::conversation::{Part, cut, data};
use super::records::Pending;
use super::{Agent, Doing, Effect, FAILED, NOT_STARTED, Outcome, Settings, local, profile};
use crate::json::Object;
use crate::record::{Fields, OwnedTool, ToolList, recognise};
use serde_json::value::RawValue;
use std::time::Duration;

/// So many observations that nobody has asked for are kept for the model.
const REPORTS: usize = 32;

/// Whether an id, JSON text, is one that [`Agent`] gives its calls.
fn is_own_id(id: &RawValue) -> bool {
    let digits = id.get().strip_prefix("\"a").and_then(|id| id.strip_suffix('"'));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Agent {
    pub(super) fn take_person(&mut self, line: &str, now: Duration) {
        let fields = match Fields::read(line) {
            Ok(fields) => fields,
            Err(why) => return self.complain(&why.to_string()),
        };
        match fields.text("type").as_deref() {
            Some("user_message") => match fields.text("content").filter(|content| !content.trim().is_empty()) {
                Some(content) => self.inbox.push_back(content),
                None => self.complain("a user_message needs \"content\", a text"),
            },
            Some("cancel") => {
                if !matches!(self.doing, Doing::Starting | Doing::Idle | Doing::Ended) {
                    self.abandon("the person has cancelled it");
                    self.finish(Outcome::Cancelled, "the person has cancelled it", FAILED, now);
                }
            }
            _ => match recognise(line) {
                Ok(Some(call)) if call.id.is_some_and(is_own_id) => {
                    self.complain("ids such as \"a1\" are those of the loop's own calls: take another one");
                }
                Ok(Some(call)) => {
                    let text = format!("The person has called {} with {}.", call.tool, call.arguments_text());
                    self.conversation.say(&Part::Text(text));
                    self.is_stale = true;
                    self.effects.push(Effect::World(line.to_owned()));
                }
                Ok(None) => self.complain("expected a user_message, a cancel or a tool call"),
                Err(why) => self.complain(&why.to_string()),
            },
        }
    }

    /// Keeps what the world reports unasked, until the model is asked.
    fn keep_report(&mut self, line: &str) {
        self.reported.push_back(data("observation", &cut(line, self.settings.profile.max_result)));
        if self.reported.len() > REPORTS {
            self.reported.pop_front();
            self.unreported += 1;
        }
    }

    /// Gives the model what the world has reported.
    pub(super) fn tell_reports(&mut self) {
        let skipped = std::mem::take(&mut self.unreported);
        if skipped > 0 {
            self.conversation.say(&Part::Text(format!("({skipped} earlier observations are left out)")));
        }
        for report in std::mem::take(&mut self.reported) {
            self.conversation.say(&Part::Text(report));
        }
    }

    pub(super) fn complain(&mut self, why: &str) {
        let record = Object::default().text("type", "error").put("context", "{}").text("content", why);
        let record = self.settings.ids.put(record, &self.plan).end();
        self.effects.push(Effect::Session(record));
        self.effects.push(Effect::Refused(why.to_owned()));
        self.has_bad_input = true;
    }

    pub(super) fn take_world(&mut self, line: &str, now: Duration) {
        if line.trim().is_empty() {
            return;
        }
        let fields = match Fields::read(line) {
            Ok(fields) => fields,
            Err(why) => return self.effects.push(Effect::Note(format!("a line of the world is skipped: {why}"))),
        };
        let is_ours = |id: Option<&RawValue>| match (&self.doing, id) {
            (Doing::World(call), Some(id)) => serde_json::from_str::<String>(id.get()).is_ok_and(|id| id == call.id),
            _ => false,
        };
        match fields.text("type").as_deref() {
            Some("tool_list") if self.is_starting() => match ToolList::read(line) {
                Ok(Some(list)) => self.take_tools(list.tools),
                Ok(None) => {}
                Err(why) => self.refuse_world(&why.to_string()),
            },
            Some("list_tools") if self.is_starting() => {
                self.refuse_world("it passes list_tools on instead of answering it");
            }
            Some("tool_list" | "list_tools") => {}
            Some("tool_result") if is_ours(fields.get("call_id")) => self.take_result(&fields, line, now),
            Some("status") if is_ours(fields.get("call_id")) => {
                if fields.text("status").as_deref() == Some("waiting_human") {
                    self.budget.hold(now);
                    self.report_pending_call();
                } else {
                    self.effects.push(Effect::Session(self.settings.ids.add(line, &fields)));
                }
            }
            Some("observation") => {
                self.keep_report(line);
                self.effects.push(Effect::Session(self.settings.ids.add(line, &fields)));
            }
            // The result of a call of the person's, or a record of a gate.
            _ => self.effects.push(Effect::Session(self.settings.ids.add(line, &fields))),
        }
    }

    pub(super) fn take_tools(&mut self, tools: Vec<OwnedTool>) {
        let Settings { allow, deny, profile, .. } = &self.settings;
        let means = |globs: &[String], name: &str| globs.iter().any(|glob| crate::glob::matches(glob, name));
        for tool in profile.tools().filter(|name| !tools.iter().any(|tool| tool.name == *name)) {
            self.effects
                .push(Effect::Note(format!("the profile calls {tool}, which the world does not have: it is left out")));
        }
        let has = |step: &profile::Step| tools.iter().any(|tool| tool.name == step.tool);
        let mut profile = profile.clone();
        profile.observe.retain(has);
        profile.on_error.retain(has);
        profile.after.retain(|after| has(&after.call));
        profile.settle = profile.settle.filter(|settle| settle.wait.as_ref().is_none_or(has));
        let is_offered = |name: &str| (allow.is_empty() || means(allow, name)) && !means(deny, name);
        self.tools = tools.into_iter().filter(|tool| is_offered(&tool.name)).collect();
        let own: Vec<OwnedTool> = local::tools().collect();
        // A world whose tool has such a name would be called by it.
        self.tools.retain(|tool| !own.iter().any(|own| own.name == tool.name));
        self.tools.extend(own);
        self.settings.profile = profile;
        self.spent = vec![0; self.settings.profile.after.len()];
        self.conversation = self.new_conversation();
        self.doing = Doing::Idle;
        self.report_status("idle", Pending::None, None);
    }

    pub(super) fn refuse_world(&mut self, why: &str) {
        if self.is_starting() {
            self.effects.push(Effect::Note(format!("the world does not list its tools: {why}")));
            self.end(NOT_STARTED);
        }
    }
}
