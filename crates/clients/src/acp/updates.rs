//! Converts the records of a session to updates, and decides when a prompt is answered.

use super::markdown::{content, fenced, id_text, list, text_block, visible};
use super::permission::call_id;
use super::result::put_result;
use super::stop_reason::StopReason;
use super::tool::ToolCallView;
use crate::approvals::Question;
use crate::session::{OutOfOrder, Session, State};
use pipewright_record::json::{Object, one_line};
use pipewright_record::{
    AgentQuestion, AssistantMessage, CallFields, CallResult, Fields, Final, GoalLimit, MessageKind, SessionRecord,
    Status, ToolCall,
};
use std::collections::BTreeMap;
use std::mem;
use std::path::{Path, PathBuf};

/// The effects of a record.
#[derive(Debug, Default)]
pub struct RecordUpdates {
    /// Each is a `SessionUpdate`, as JSON text.
    pub updates: Vec<String>,
    /// Set if the turn of the prompt has ended.
    pub stop: Option<StopReason>,
    /// Set if the record is out of order.
    pub disorder: Option<OutOfOrder>,
}

/// Text of a turn that the model is still writing.
#[derive(Debug)]
struct StreamedText {
    /// The `request_id`, as JSON text.
    request: String,
    message: u64,
    text: String,
}

impl StreamedText {
    /// Whether it has the same text as this message.
    fn is_of(&self, message: &str) -> bool {
        let (own, message) = (self.text.trim(), message.trim());
        own == message || self.text.len() >= MAX_UNFINISHED_TEXT && message.starts_with(own)
    }
}

/// The turn of a prompt.
#[derive(Debug, Default)]
struct Turn {
    /// The agent still works on the previous turn, whose end must not end this one.
    follows_another: bool,
    has_run: bool,
    stop: Option<StopReason>,
}

/// A session as an editor shows it.
#[derive(Debug)]
pub struct Updates {
    session: Session,
    /// An absolute path; relative paths in arguments are relative to it.
    folder: PathBuf,
    /// The number of messages begun, from which their ids are made.
    messages: u64,
    /// The unfinished text and the unfinished reasoning.
    streamed: [Option<StreamedText>; 2],
    /// The text of the latest message.
    last_text: String,
    /// The tool and diffs of each call without a result, by its ACP id as JSON text.
    calls: BTreeMap<String, (String, Vec<String>)>,
    /// Calls of the last turn without a result: one may still arrive.
    given_up: Vec<String>,
    /// The call that a gate holds.
    held: Option<String>,
    turn: Option<Turn>,
    /// The last turn was answered without the agent.
    is_abandoned: bool,
    /// The chunk type of the last message. The next message of this type starts a new paragraph, because editors join
    /// them.
    last_chunk: &'static str,
    /// Nothing else was shown since then.
    is_joined: bool,
}

/// The most bytes of unfinished text that are kept, to recognise the complete message that follows.
const MAX_UNFINISHED_TEXT: usize = 1 << 20;

/// The key of a record in `_meta`.
const RECORD: &str = "pipewright/record";

impl Updates {
    /// For a session in this folder, an absolute path.
    pub fn new(folder: PathBuf) -> Updates {
        Updates {
            session: Session::default(),
            folder,
            messages: 0,
            streamed: [None, None],
            last_text: String::new(),
            calls: BTreeMap::new(),
            given_up: Vec::new(),
            held: None,
            turn: None,
            is_abandoned: false,
            last_chunk: "",
            is_joined: false,
        }
    }

    /// A message of our own to the person, as an update.
    pub fn say(&mut self, text: &str) -> String {
        self.messages += 1;
        let text = self.paragraph("agent_message_chunk", text);
        chunk_of("agent_message_chunk", self.messages, &text)
    }

    /// The agent's state.
    pub fn state(&self) -> State {
        self.session.state()
    }

    /// The session's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Begins the turn of a prompt, which is sent to the agent as this `user_message`.
    pub fn prompt(&mut self, record: &str) {
        self.session.sent(record);
        self.last_text.clear();
        // The end of a turn that was answered without the agent is still to come.
        let is_late = self.is_abandoned && matches!(self.state(), State::Running | State::Confirm);
        self.is_abandoned = false;
        self.turn = Some(Turn { follows_another: is_late, ..Turn::default() });
    }

    /// Ends a turn that was answered without the agent.
    pub fn end_turn(&mut self) {
        self.is_abandoned |= self.turn.take().is_some();
    }

    /// The agent has ended: its open calls have failed, and the next process of the session starts fresh. If the goal
    /// of the turn had ended before, the turn ends accordingly.
    pub fn ended(&mut self) -> RecordUpdates {
        self.session = Session::default();
        self.streamed = [None, None];
        self.is_abandoned = false;
        let stop = self.turn.take().and_then(|turn| turn.stop);
        RecordUpdates { updates: self.close_calls("the agent ended"), stop, disorder: None }
    }

    /// Whether the editor shows the question's call as held by a gate.
    pub fn is_held(&self, question: &Question) -> bool {
        self.held.is_some() && self.held.as_deref() == Some(&*call_id(question))
    }

    /// The shown history of a session has ended: its open calls get no result any more.
    pub fn end_history(&mut self) -> Vec<String> {
        self.session = Session::default();
        self.last_text.clear();
        self.close_calls("the run was interrupted: the call may have been carried out, or not")
    }

    /// Takes a line from the agent; `user_message` records belong to the shown history of a session.
    pub fn take(&mut self, line: &str) -> RecordUpdates {
        let record = match SessionRecord::read(line) {
            Ok(record) => record,
            Err(why) => return RecordUpdates { disorder: Some(why.into()), ..RecordUpdates::default() },
        };
        let mut taken = RecordUpdates { disorder: self.session.received(&record).err(), ..RecordUpdates::default() };
        let updates = &mut taken.updates;
        match &record {
            SessionRecord::UserMessage(message) => {
                self.session.sent(line);
                updates.push(self.whole_message("user_message_chunk", &message.content));
            }
            SessionRecord::AssistantMessage(message) => updates.extend(self.message(message)),
            SessionRecord::PlanUpdate(_) | SessionRecord::PlanProgress(_) => updates.push(self.plan(line)),
            SessionRecord::ToolCall(call) => {
                self.is_joined = false;
                updates.extend(self.call(call));
            }
            SessionRecord::ToolResult(result) => updates.push(self.result(result).unwrap_or_else(|| in_meta(line))),
            SessionRecord::Status(status) => {
                updates.extend(self.status(status));
                updates.push(in_meta(line));
            }
            SessionRecord::Error(error) => {
                let text = format!("Error: {}", error.content);
                updates.extend([self.whole_message("agent_message_chunk", &text), in_meta(line)]);
                // The agent refused the message: nothing else follows from it.
                let is_at_rest = !matches!(self.state(), State::Running | State::Confirm);
                if self.turn.as_ref().is_some_and(|turn| !turn.has_run) && is_at_rest {
                    taken.stop = self.turn.take().map(|_| StopReason::EndTurn);
                }
            }
            SessionRecord::Final(end) => {
                updates.extend(self.end(end));
                updates.push(in_meta(line));
            }
            SessionRecord::ChainUpdate(_) | SessionRecord::Other(_) => updates.push(in_meta(line)),
        }
        taken.stop = taken.stop.or_else(|| self.stop());
        taken
    }

    /// The turn ends when the agent has worked and is idle or waiting again.
    fn stop(&mut self) -> Option<StopReason> {
        let state = self.state();
        let turn = self.turn.as_mut()?;
        if turn.follows_another {
            turn.follows_another = matches!(state, State::Running | State::Confirm);
            return None;
        }
        turn.has_run |= state == State::Running;
        let is_at_rest = turn.has_run && !matches!(state, State::Running | State::Confirm);
        if is_at_rest { self.turn.take().map(|turn| turn.stop.unwrap_or(StopReason::EndTurn)) } else { None }
    }

    fn message(&mut self, message: &AssistantMessage<'_>) -> Option<String> {
        let is_thought = message.kind == MessageKind::Thought.name();
        let chunk = if is_thought { "agent_thought_chunk" } else { "agent_message_chunk" };
        let text = &message.token;
        let slot = &mut self.streamed[usize::from(is_thought)];
        let request = message.request_id.map(|id| id.get().to_owned());
        if let Some(request) = request.or_else(|| (!message.is_final).then(String::new)) {
            let is_anew = message.restarted || slot.as_ref().is_none_or(|slot| slot.request != request);
            if is_anew {
                self.messages += 1;
                *slot = Some(StreamedText { request, message: self.messages, text: String::new() });
            }
            let streamed = slot.as_mut().filter(|_| !text.is_empty())?;
            let is_first = streamed.text.is_empty();
            if streamed.text.len() < MAX_UNFINISHED_TEXT {
                streamed.text.push_str(text);
            }
            let number = streamed.message;
            let text = if is_first { self.paragraph(chunk, text) } else { text.to_string() };
            return Some(chunk_of(chunk, number, &text));
        }
        let streamed = slot.take();
        let options = message.question.as_ref().map(options).unwrap_or_default();
        if let Some(streamed) = streamed.filter(|streamed| streamed.is_of(text)) {
            self.last_text = text.to_string();
            return (!options.is_empty()).then(|| chunk_of(chunk, streamed.message, &options));
        }
        let text = format!("{text}{options}");
        (!text.trim().is_empty()).then(|| self.whole_message(chunk, &text))
    }

    fn whole_message(&mut self, chunk: &'static str, text: &str) -> String {
        self.messages += 1;
        if chunk == "agent_message_chunk" {
            text.clone_into(&mut self.last_text);
        }
        let text = self.paragraph(chunk, text);
        chunk_of(chunk, self.messages, &text)
    }

    /// The beginning of a message.
    fn paragraph(&mut self, chunk: &'static str, text: &str) -> String {
        let follows_its_like = mem::replace(&mut self.last_chunk, chunk) == chunk && self.is_joined;
        self.is_joined = true;
        if follows_its_like { format!("\n\n{text}") } else { text.to_owned() }
    }

    fn plan(&self, line: &str) -> String {
        let entries = self.session.plan().iter().map(|step| {
            let status = match &*step.status {
                "running" => "in_progress",
                "done" => "completed",
                _ => "pending",
            };
            let entry = Object::default()
                .text("content", &visible(&step.desc))
                .text("priority", "medium")
                .text("status", status);
            let is_told = ["running", "done", "pending"].contains(&&*step.status);
            let meta = (!is_told).then(|| Object::default().text("pipewright/status", &step.status).end());
            entry.put_some("_meta", meta).end()
        });
        let entries = list(&entries.collect::<Vec<_>>());
        update("plan").put("entries", entries).put("_meta", meta(line)).end()
    }

    fn call(&mut self, call: &ToolCall<'_>) -> Option<String> {
        let CallFields { tool_name: tool, arguments, target, .. } = &call.call;
        let id = call.about.call_id.filter(|_| !tool.is_empty()).map(|id| id_text(id.get()))?;
        let arguments = arguments.map_or("{}", |arguments| arguments.get());
        let shown = ToolCallView::of(tool, arguments, target.map(|target| target.get()), &self.folder);
        let diffs = list(&shown.diffs);
        self.calls.insert(id.clone(), (tool.to_string(), shown.diffs));
        let call = update("tool_call").put("toolCallId", id).text("title", &shown.title).text("name", tool);
        let call = call.text("kind", shown.kind).text("status", "in_progress").put("content", diffs);
        Some(call.put("locations", shown.locations).put("rawInput", one_line(arguments)).end())
    }

    fn result(&mut self, result: &CallResult<'_>) -> Option<String> {
        let id = id_text(result.call_id?.get());
        let given_up = self.given_up.iter().position(|other| *other == id);
        let diffs = match self.calls.remove(&id) {
            Some((_, diffs)) => diffs,
            None => given_up.map(|place| self.given_up.swap_remove(place)).map(|_| Vec::new())?,
        };
        self.held = self.held.take().filter(|held| *held != id);
        Some(put_result(call_update(&id), result, &diffs).end())
    }

    /// The change of a call by a status.
    fn status(&mut self, status: &Status<'_>) -> Option<String> {
        if let Some(id) = status.about.call_id {
            let id = Some(id_text(id.get())).filter(|id| self.calls.contains_key(id))?;
            let edited = status.edited_arguments?.get();
            let (tool, diffs) = self.calls.get_mut(&id)?;
            let shown = ToolCallView::of(tool, edited, None, &self.folder);
            let update = call_update(&id).text("title", &shown.title).put("content", list(&shown.diffs));
            diffs.clone_from(&shown.diffs);
            return Some(update.put("locations", shown.locations).put("rawInput", one_line(edited)).end());
        }
        match self.state() {
            State::Confirm => {
                let action = Fields::read(self.session.pending_action()?).ok()?;
                self.held = action.get("call_id").map(|id| id_text(id.get())).filter(|id| self.calls.contains_key(id));
                Some(call_update(self.held.as_ref()?).text("status", "pending").end())
            }
            State::Running => Some(call_update(&self.held.take()?).text("status", "in_progress").end()),
            State::Idle | State::Manual | State::Question => None,
        }
    }

    /// Takes the end of a goal.
    fn end(&mut self, end: &Final<'_>) -> Vec<String> {
        let (outcome, text) = (&*end.outcome, &*end.content);
        // The text may have been shown already as the model's answer.
        let streamed = mem::take(&mut self.streamed)[0].take();
        let is_shown = streamed.is_some_and(|streamed| streamed.is_of(text)) || self.last_text.trim() == text.trim();
        let stop = match outcome {
            "limit" if end.limit.as_deref() == Some(GoalLimit::Tokens.name()) => StopReason::MaxTokens,
            "limit" => StopReason::MaxTurnRequests,
            "cancelled" => StopReason::Cancelled,
            _ => StopReason::EndTurn,
        };
        if let Some(turn) = self.turn.as_mut().filter(|turn| !turn.follows_another) {
            *turn = Turn { has_run: true, stop: Some(stop), ..Turn::default() };
        }
        let mut updates = self.close_calls(&format!("{outcome}: no result"));
        let text = match outcome {
            "cancelled" => None,
            "failed" => Some(format!("Failed: {text}")),
            _ if is_shown => None,
            _ => Some(text.to_owned()),
        };
        let text = text.filter(|text| !text.trim().is_empty());
        updates.extend(text.map(|text| self.whole_message("agent_message_chunk", &text)));
        updates
    }

    /// Marks open calls as failed.
    fn close_calls(&mut self, why: &str) -> Vec<String> {
        self.held = None;
        let why = list(&[content(&text_block(&fenced(why)))]);
        let open = mem::take(&mut self.calls);
        let closed = open.keys().map(|id| call_update(id).text("status", "failed").put("content", &why).end());
        let updates = closed.collect();
        self.given_up = open.into_keys().collect();
        updates
    }
}

fn update(kind: &str) -> Object {
    Object::default().text("sessionUpdate", kind)
}

/// `id` is JSON text.
fn call_update(id: &str) -> Object {
    update("tool_call_update").put("toolCallId", id)
}

fn chunk_of(chunk: &str, message: u64, text: &str) -> String {
    update(chunk).put("content", text_block(text)).text("messageId", &format!("m{message}")).end()
}

fn meta(line: &str) -> String {
    Object::default().put(RECORD, one_line(line.trim())).end()
}

/// A record that has no counterpart in ACP.
fn in_meta(line: &str) -> String {
    update("session_info_update").put("_meta", meta(line)).end()
}

/// The answers that a question offers, as a list.
fn options(question: &AgentQuestion<'_>) -> String {
    question.options.iter().map(|option| format!("\n- {}", option.replace('\n', " "))).collect()
}
