//! A session as the thread of an AG-UI client: converts its records to events of the open run.

use super::events::{context, custom, event, text_of};
use super::input::RunInput;
use super::text::TextMessages;
use crate::approvals::Question;
use crate::session::{Session, State};
use pipewright_record::json::{Object, one_line, quoted};
use pipewright_record::{Fields, Final, SessionRecord};
use std::collections::VecDeque;
use std::mem;

/// The most bytes of events that are kept between two runs, for the next one.
const MAX_QUEUED_EVENTS: usize = 1 << 20;

/// The size of a kept event besides its text.
const EVENT: usize = 32;

/// The JSON Schema of the client's answer to an approval.
const RESPONSE: &str = r#"{"type":"object","properties":{"action":{"enum":["approve","edit","reject"]},"edited_arguments":{"type":"object"},"replace":{"type":"boolean"},"feedback":{"type":"string"}},"required":["action"]}"#;

/// The effects of a record.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RecordEvents {
    /// Events of the open run as JSON text, in order.
    pub events: Vec<String>,
    /// Whether the run has ended.
    pub is_over: bool,
}

/// The open run.
#[derive(Debug)]
pub(super) struct OpenRun {
    pub id: String,
    /// Whether the agent has worked since the run began.
    has_run: bool,
    /// Whether the run brought no message: it ends as soon as the agent is idle or waiting.
    only_watches: bool,
}

/// A thread.
#[derive(Debug)]
pub struct Thread {
    id: String,
    pub(super) session: Session,
    pub(super) run: Option<OpenRun>,
    /// Events that came while no run was open, grouped by record.
    kept: VecDeque<Vec<String>>,
    kept_bytes: usize,
    /// The number of records that were dropped for lack of room.
    left_out: u64,
    /// The ids of the messages that the client sent last.
    messages: Vec<String>,
    /// The number of our messages so far.
    pub(super) count: u64,
    pub(super) texts: TextMessages,
    pub(super) thoughts: TextMessages,
    /// A turn of which parts came between runs; the rest is skipped.
    pub(super) skipped: Option<String>,
    /// The open thought.
    pub(super) reasoning: Option<String>,
    /// The open step.
    pub(super) step: Option<String>,
    /// The working agents of a chain.
    pub(super) agents: Vec<String>,
    /// Calls without a result: their ids as JSON text.
    pub(super) calls: Vec<String>,
    /// Open questions of gates: the nonce and the interrupt.
    held: Vec<(String, String)>,
}

impl Thread {
    /// For a session in its current state.
    pub fn new(id: &str, session: Session) -> Thread {
        Thread {
            id: id.to_owned(),
            session,
            run: None,
            kept: VecDeque::new(),
            kept_bytes: 0,
            left_out: 0,
            messages: Vec::new(),
            count: 0,
            texts: TextMessages::new("TEXT_MESSAGE", "assistant"),
            thoughts: TextMessages::new("REASONING_MESSAGE", "reasoning"),
            skipped: None,
            reasoning: None,
            step: None,
            agents: Vec::new(),
            calls: Vec::new(),
            held: Vec::new(),
        }
    }

    /// Begins a run. Gives its first events, and the ids of its new messages.
    pub fn begin(&mut self, input: &RunInput) -> (RecordEvents, Vec<String>) {
        let started = event("RUN_STARTED").text("threadId", &self.id).text("runId", &input.run);
        let mut events = vec![started.text("protocolVersion", "1.0").end()];
        let left_out = mem::take(&mut self.left_out);
        events.extend((left_out > 0).then(|| custom("gap", &Object::default().put("records", left_out).end())));
        events.extend(self.kept.drain(..).flatten());
        self.kept_bytes = 0;
        // A client sends all messages with every run.
        let is_new = |id: &String| id.is_empty() || !self.messages.contains(id);
        let new: Vec<String> =
            input.messages.iter().filter(|(id, _)| is_new(id)).map(|(_, text)| text.clone()).collect();
        if !input.messages.is_empty() {
            self.messages = input.messages.iter().map(|(id, _)| id.clone()).collect();
        }
        self.run = Some(OpenRun { id: input.run.clone(), has_run: self.is_at_work(), only_watches: new.is_empty() });
        (RecordEvents { events, is_over: false }, new)
    }

    fn is_at_work(&self) -> bool {
        matches!(self.session.state(), State::Running | State::Confirm)
    }

    /// A message of the person is sent to the agent.
    pub fn sent(&mut self, record: &str) {
        self.session.sent(record);
    }

    /// Ends the run if nothing can follow: no message was sent, and the agent is idle or waiting.
    pub fn end_if_idle(&mut self) -> RecordEvents {
        if !self.held.is_empty() {
            return self.interrupt();
        }
        let is_idle = !self.is_at_work() && !self.session.has_unread();
        if is_idle { self.finish(r#"{"type":"success"}"#, None) } else { RecordEvents::default() }
    }

    /// The client has closed the run.
    pub fn abandon(&mut self) {
        self.ends();
        self.run = None;
    }

    /// Takes a record from the agent, or about its state.
    pub fn take(&mut self, line: &str) -> RecordEvents {
        let Ok(fields) = Fields::read(line) else { return RecordEvents::default() };
        let record = SessionRecord::of(&fields);
        // Records out of order are reported elsewhere.
        let _ = self.session.received(&record);
        if let Some(run) = &mut self.run {
            run.has_run |= self.session.state() == State::Running;
        }
        let events = match &record {
            SessionRecord::AssistantMessage(message) => self.message(message),
            SessionRecord::PlanUpdate(update) => self.plan_update(update),
            SessionRecord::PlanProgress(progress) => self.plan_progress(progress, line),
            SessionRecord::ToolCall(call) => self.call(call, &fields),
            SessionRecord::ToolResult(result) => self.result(result, &fields),
            SessionRecord::ChainUpdate(update) => self.chain(update, line),
            SessionRecord::UserMessage(_) => Vec::new(),
            SessionRecord::Status(_) => vec![custom("status", line)],
            SessionRecord::Error(_) => vec![custom("error", line)],
            SessionRecord::Final(_) => vec![custom("final", line)],
            SessionRecord::Other(kind) => vec![custom(kind, line)],
        };
        let mut taken = self.deliver(events);
        let ended = match &record {
            SessionRecord::Final(end) => self.end_with(end, line),
            SessionRecord::Error(error) if self.is_refused() => self.fail(&error.content, "refused"),
            SessionRecord::Status(_) | SessionRecord::AssistantMessage(_) if self.is_at_rest() => {
                self.finish(r#"{"type":"success"}"#, None)
            }
            _ => RecordEvents::default(),
        };
        taken.events.extend(ended.events);
        taken.is_over = ended.is_over;
        taken
    }

    /// Whether the agent waits for the person, after it has worked in this run or was given nothing to do.
    fn is_at_rest(&self) -> bool {
        let may_end = self.run.as_ref().is_some_and(|run| run.has_run || run.only_watches);
        may_end && !self.is_at_work() && !self.session.has_unread()
    }

    /// Whether the agent refused the message of this run.
    fn is_refused(&self) -> bool {
        self.run.as_ref().is_some_and(|run| !run.has_run) && !self.is_at_work()
    }

    /// The agent has ended: why.
    pub fn ended(&mut self, why: &str) -> RecordEvents {
        self.session = Session::default();
        self.calls.clear();
        self.held.clear();
        if self.run.is_some() { self.fail(why, "agent_ended") } else { RecordEvents::default() }
    }

    /// A gate holds a call: the run ends with an interrupt.
    pub fn hold(&mut self, question: &Question) -> RecordEvents {
        let call = question.call.call();
        let id = call.id.map_or_else(|| quoted(&question.nonce), |id| id.get().to_owned());
        let target = call.target.and_then(|target| Fields::read(target.get()).ok()?.text("name"));
        let what = target.map_or_else(|| call.tool.to_string(), |name| format!("{} on {name:?}", call.tool));
        let interrupt = Object::default()
            .text("id", &question.nonce)
            .text("reason", "tool_call")
            .text("message", &format!("May this call pass? {what}"))
            .text("toolCallId", &text_of(&id))
            .put("responseSchema", RESPONSE)
            .text_some("expiresAt", question.expires_at.map(|time| format!("{time:.3}")).as_deref());
        let record = question.held_call();
        self.held.push((question.nonce.clone(), interrupt.put("metadata", one_line(&record)).end()));
        // The agent's own record of the call comes over another pipe, before or after this.
        let events = match Fields::read(&record) {
            Ok(fields) if !self.calls.contains(&id) => {
                self.start_call(&id, &call.tool, call.arguments_text(), &context(&fields))
            }
            _ => Vec::new(),
        };
        let mut taken = self.deliver(events);
        let interrupted = if self.run.is_some() { self.interrupt() } else { RecordEvents::default() };
        taken.events.extend(interrupted.events);
        taken.is_over = interrupted.is_over;
        taken
    }

    /// A question is settled.
    pub fn release(&mut self, nonce: &str) {
        self.held.retain(|(own, _)| own != nonce);
    }

    fn interrupt(&mut self) -> RecordEvents {
        let interrupts: Vec<&str> = self.held.iter().map(|(_, interrupt)| interrupt.as_str()).collect();
        let outcome = format!(r#"{{"type":"interrupt","interrupts":[{}]}}"#, interrupts.join(","));
        self.finish(&outcome, None)
    }

    /// Ends the run as refused or failed.
    pub fn fail(&mut self, why: &str, code: &str) -> RecordEvents {
        let mut events = self.ends();
        events.push(event("RUN_ERROR").text("message", why).text("code", code).end());
        self.run = None;
        RecordEvents { events, is_over: true }
    }

    fn finish(&mut self, outcome: &str, result: Option<&str>) -> RecordEvents {
        let mut events = self.ends();
        let Some(run) = self.run.take() else { return self.deliver(events) };
        let finished = event("RUN_FINISHED").text("threadId", &self.id).text("runId", &run.id);
        events.push(finished.put_some("result", result).put("outcome", outcome).end());
        RecordEvents { events, is_over: true }
    }

    fn end_with(&mut self, end: &Final<'_>, line: &str) -> RecordEvents {
        if self.run.is_none() {
            return RecordEvents::default();
        }
        match &*end.outcome {
            "failed" => self.fail(&end.content, "failed"),
            "cancelled" => self.finish(r#"{"type":"cancelled"}"#, Some(&one_line(line))),
            _ => {
                let message = if self.texts.is_last(&end.content) { Vec::new() } else { self.whole_text(&end.content) };
                let mut taken = self.finish(r#"{"type":"success"}"#, Some(&one_line(line)));
                taken.events.splice(..0, message);
                taken
            }
        }
    }

    /// Passes events to the run, or keeps them for the next one.
    fn deliver(&mut self, events: Vec<String>) -> RecordEvents {
        if self.run.is_some() {
            return RecordEvents { events, is_over: false };
        }
        let bytes = |events: &Vec<String>| events.iter().map(|event| event.len() + EVENT).sum::<usize>();
        self.kept_bytes += bytes(&events);
        self.kept.push_back(events);
        while self.kept_bytes > MAX_QUEUED_EVENTS {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.kept_bytes -= bytes(&oldest);
            self.left_out += 1;
        }
        RecordEvents::default()
    }

    /// The events that end everything that is open.
    fn ends(&mut self) -> Vec<String> {
        let mut events = self.texts.end();
        events.extend(self.end_thought());
        events.extend(self.end_step());
        let agents = mem::take(&mut self.agents);
        events.extend(agents.iter().map(|agent| event("SUBAGENT_FINISHED").text("subagentRunId", agent).end()));
        events
    }
}
