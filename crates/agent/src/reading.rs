//! Handles the lines of the world and of the person.

use super::conversation::{Part, cut, data};
use super::records::with_ids;
use super::{Activity, Agent, Effect, FAILED, Outcome};
use pipewright_record::{ErrorContext, ErrorRecord, Fields, Record, ToolList, is_same_id, recognise};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::time::Duration;

/// The most unrequested observations that are kept for the model, and the most bytes of each.
const REPORTS: usize = 32;
const REPORT: usize = 4000;

/// Unrequested observations of the world.
#[derive(Debug, Default)]
pub(super) struct WorldEvents {
    latest: VecDeque<String>,
    /// The number of earlier ones.
    dropped: usize,
}

/// Whether an id (JSON text) has the form of [`Agent`]'s own call ids.
fn is_own_id(id: &RawValue) -> bool {
    let id = serde_json::from_str::<String>(id.get()).unwrap_or_default();
    let digits = id.strip_prefix('a').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
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
                None => self.complain("a user_message needs \"content\", a string"),
            },
            // Cancels a call by the person.
            Some("cancel") if fields.get("call_id").is_some_and(|id| !is_own_id(id)) => {
                self.effects.push(Effect::World(line.to_owned()));
            }
            Some("cancel") => {
                let call_id = fields.text("call_id");
                let is_over = call_id.is_some() && call_id.as_deref() != self.call_under_way();
                if self.is_working() && !is_over {
                    self.inbox.clear();
                    self.abandon("the person cancelled it", now);
                    self.finish(Outcome::Cancelled, "the person cancelled it", FAILED, now);
                }
            }
            Some("list_tools") => self.list_tools(fields.get("request_id").map(|id| id.get().to_owned())),
            // The answer to a tool's question.
            Some("input_response") => self.effects.push(Effect::World(line.to_owned())),
            _ => match recognise(line) {
                Ok(Some(call)) if call.id.is_some_and(is_own_id) => {
                    self.complain("ids such as \"a1\" are reserved for the agent's own calls: use another id");
                }
                Ok(Some(call)) => {
                    let text = format!("The person has called {} with {}.", call.tool, call.arguments_text());
                    self.conversation.say(&Part::Text(text));
                    self.is_stale = true;
                    self.effort.seen.clear();
                    self.foreign.extend(call.id.map(|id| id.get().to_owned()));
                    self.effects.push(Effect::World(line.to_owned()));
                }
                Ok(None) => self.complain("expected a user_message, a cancel, a tool call, list_tools or history"),
                Err(why) => self.complain(&why.to_string()),
            },
        }
    }

    /// Passes a record from the world or the model command to the person.
    pub(super) fn pass_on(&mut self, line: &str, fields: &Fields<'_>) {
        let record = with_ids(&self.settings.ids, line, fields, &self.plan);
        self.effects.push(Effect::Session(record));
    }

    /// Keeps an unrequested observation of the world until the model is asked. The progress of calls is dropped.
    fn keep_report(&mut self, line: &str, fields: &Fields<'_>) {
        let event = fields.object("data").and_then(|data| data.text("event"));
        if event.as_deref() == Some("progress") {
            return;
        }
        self.reports.latest.push_back(data("observation", &cut(line, REPORT)));
        if self.reports.latest.len() > REPORTS {
            self.reports.latest.pop_front();
            self.reports.dropped += 1;
        }
    }

    /// Gives the model the kept observations.
    pub(super) fn tell_reports(&mut self) {
        let WorldEvents { latest, dropped } = std::mem::take(&mut self.reports);
        if dropped > 0 {
            self.conversation.say(&Part::Text(format!("({dropped} earlier observations are left out)")));
        }
        for report in latest {
            self.conversation.say(&Part::Text(report));
        }
    }

    pub(super) fn complain(&mut self, why: &str) {
        let context = ErrorContext { step: self.plan.step(), ..ErrorContext::default() };
        let record = ErrorRecord { context, content: why.into(), agent: self.settings.ids.borrowed() };
        self.effects.push(Effect::Session(record.json()));
        self.effects.push(Effect::Refused(why.to_owned()));
    }

    pub(super) fn take_world(&mut self, line: &str, now: Duration) {
        if line.trim().is_empty() {
            return;
        }
        let fields = match Fields::read(line) {
            Ok(fields) => fields,
            Err(why) => return self.effects.push(Effect::Note(format!("skipped a line from the world: {why}"))),
        };
        let is_ours = |id: Option<&RawValue>| match (&self.doing, id) {
            (Activity::World(call), Some(id)) => serde_json::from_str::<String>(id.get()).is_ok_and(|id| id == call.id),
            _ => false,
        };
        match fields.text("type").as_deref() {
            Some("tool_list") if self.is_starting() => match ToolList::read(line) {
                Ok(Some(list)) => self.take_tools(list, now),
                Ok(None) => {}
                Err(why) => self.refuse_world(&why.to_string(), now),
            },
            Some("list_tools") if self.is_starting() => {
                self.refuse_world("it passes list_tools on instead of answering it", now);
            }
            Some("tool_list" | "list_tools") => {}
            Some("tool_result") if is_ours(fields.get("call_id")) => self.take_result(&fields, line, now),
            Some("status") if is_ours(fields.get("call_id")) => match fields.text("status").as_deref() {
                Some("waiting_human") => self.hold_call(now),
                Some("approved" | "edited_by_human") => {
                    self.pass_on(line, &fields);
                    self.release_call(fields.get("edited_arguments").map(RawValue::get), now);
                }
                _ => {}
            },
            Some("observation") => {
                self.keep_report(line, &fields);
                self.pass_on(line, &fields);
            }
            // The result of a call by the person, possibly in the short form.
            Some("tool_result") | None => {
                let id = fields.get("call_id").or(fields.get("id"));
                match (id, self.foreign.iter().position(|own| is_same_id(Some(own), id.map(RawValue::get)))) {
                    (Some(_), None) => {
                        let why = "skipped a line from the world: a result of an unknown call";
                        self.effects.push(Effect::Note(why.to_owned()));
                        return;
                    }
                    (_, Some(place)) => drop(self.foreign.swap_remove(place)),
                    (None, None) => {}
                }
                self.pass_on(line, &fields);
            }
            Some("status") if fields.get("call_id").is_some() && fields.get("pending_kind").is_none() => {
                self.pass_on(line, &fields);
            }
            // A record of a gate, or a question from a tool to the person.
            Some("policy_request" | "policy_result" | "input_request" | "error") => {
                self.pass_on(line, &fields);
            }
            // The loop itself makes all other records.
            Some(what) => {
                self.effects.push(Effect::Note(format!(
                    "skipped a line from the world: a world does not send records of type {what:?}"
                )));
            }
        }
    }
}
