//! The chat's state, and how it handles the agent's records.

use super::command::InputMode;
use super::display::Display;
use super::questions::OpenQuestions;
use super::style::Style;
use super::transcript::Transcript;
use super::view::{View, call_line, cut};
use crate::cmd::agent_logs::Logs;
use crate::cmd::approver::gates::Gates;
use pipewright_clients::session::{Session, State};
use pipewright_io::report::Report;
use pipewright_io::stage::{Out, Side};
use pipewright_lines::Limits;
use pipewright_record::{
    AssistantMessage, CallResult, Cancel, Fields, Final, OwnedTool, Record, SessionRecord, ToolList, Usage, id_text,
};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most columns of a record that is shown on one line.
const LINE: usize = 200;

pub struct Chat {
    pub mode: InputMode,
    pub display: Display,
    pub view: View,
    pub session: Session,
    pub gates: Gates,
    pub asking: OpenQuestions,
    /// The tools that can be called; `None` until the agent has listed them.
    pub tools: Option<Vec<OwnedTool>>,
    /// The calls without a result, by id.
    pub open: BTreeMap<String, OpenCall>,
    /// The number of calls that the person has made.
    pub own_calls: u64,
    pub turn: Turn,
    /// The agent's time limit for listing its tools; `None` once it has listed them or the time is over.
    pub starting_until: Option<Instant>,
    /// When the agent closed its stdout or its stdin.
    pub closed_at: Option<Instant>,
    /// The text that is printed last.
    pub farewell: String,
    pub drawing: Drawing,
    /// When Ctrl-C was last pressed while there was nothing to stop.
    pub interrupted: Option<Instant>,
    /// The agent's latest complete message.
    pub last_text: String,
    /// The plan has changed since it was printed.
    pub has_new_plan: bool,
    /// The usage of the last `final`, as text for people.
    pub usage: Option<String>,
    pub transcript: Transcript,
    pub logs: Logs,
    pub limits: Limits,
    pub report: Arc<Report>,
    pub script: Script,
    /// When the agent reported that a gate holds a call, while no gate asks here.
    pub held_elsewhere: Option<Instant>,
}

/// The agent's work until it waits for the person again.
#[derive(Default)]
pub struct Turn {
    /// When it started to work, and how many calls there were then.
    begun: Option<(Instant, usize)>,
    /// The agent was asked to stop.
    pub is_stopping: bool,
    /// The end of the text that the model has written so far.
    streamed: String,
}

/// When the changing lines are drawn.
#[derive(Default)]
pub struct Drawing {
    /// When they were last drawn.
    pub at: Option<Instant>,
    /// Text was printed since then, which has removed them.
    pub is_due: bool,
    /// When the spinner turns next.
    pub next: Option<Instant>,
}

/// The lines of stdin if it is not a terminal.
#[derive(Default)]
pub struct Script {
    /// Lines with their numbers, held until the agent waits for the person.
    pub lines: VecDeque<(u64, String)>,
    /// The number of the line that is being carried out.
    pub number: u64,
    pub has_ended: bool,
    /// The agent's stdin is closed, so it ends by itself.
    pub is_closing: bool,
}

/// A call without a result so far.
pub struct OpenCall {
    pub line: String,
    pub since: Instant,
    pub is_own: bool,
}

impl Chat {
    /// Sends a record to the agent.
    pub fn send(&mut self, record: &str, out: &mut Out) {
        self.session.sent(record);
        out.add_line(Side::FAR, record);
    }

    /// Prints text that ends with a line feed.
    pub fn print(&mut self, text: &str, out: &mut Out) {
        self.drawing.is_due = true;
        self.display.print(text, out);
    }

    /// Prints text that ends with a line feed, and keeps it for `/save`.
    pub fn say(&mut self, text: String, out: &mut Out) {
        self.print(&text, out);
        self.transcript.add(super::style::unstyled(&text));
    }

    /// Prints a message of the chat's own.
    pub fn note(&mut self, text: &str, out: &mut Out) {
        let text = self.view.lines(Style::Dim, text);
        self.print(&text, out);
    }

    /// Prints why something was not done; without a terminal, on stderr.
    pub fn complain(&mut self, why: &str, out: &mut Out) {
        match self.display.is_terminal() {
            true => {
                let text = self.view.lines(Style::Bad, why);
                self.print(&text, out);
            }
            false => self.report.fault(format_args!("stdin:{}", self.script.number), why),
        }
    }

    /// Takes a record from the agent.
    pub fn take_record(&mut self, line: &str, number: u64, out: &mut Out) {
        let fields = match Fields::read(line) {
            Ok(fields) => fields,
            Err(why) => return self.note_disorder(number, &why, out),
        };
        let record = SessionRecord::of(&fields);
        if let Err(why) = self.session.received(&record) {
            self.note_disorder(number, &why, out);
        }
        match &record {
            SessionRecord::AssistantMessage(message) => self.take_message(message, out),
            SessionRecord::ToolCall(call) => {
                let arguments = call.call.arguments.map_or("{}", RawValue::get);
                self.begin_call(id_text(call.about.call_id), call_line(&call.call.tool_name, arguments), false);
            }
            SessionRecord::ToolResult(result) => self.take_result(result, out),
            SessionRecord::Status(status) if status.about.call_id.is_none() => self.take_state(out),
            SessionRecord::PlanUpdate(_) => {
                self.has_new_plan = true;
                if !self.display.is_terminal() {
                    self.print_plan(out);
                }
            }
            SessionRecord::PlanProgress(progress) => {
                self.has_new_plan = true;
                if let Some(result) = progress.result.as_ref().filter(|result| !result.is_empty()) {
                    self.say(self.view.lines(Style::Dim, &cut(result, LINE)), out);
                }
            }
            SessionRecord::ChainUpdate(_) => {
                let agents = self.session.agents().iter().map(|(agent, status)| format!("{agent}: {status}"));
                let agents = agents.collect::<Vec<_>>().join(", ");
                self.say(self.view.lines(Style::Dim, &cut(&format!("agents: {agents}"), LINE)), out);
            }
            SessionRecord::Error(error) => {
                self.say(self.view.lines(Style::Bad, &format!("error: {}", error.content)), out);
            }
            SessionRecord::Final(end) => self.take_final(end, out),
            SessionRecord::Other(kind) => self.take_other(kind, line, &fields, out),
            SessionRecord::Status(_) | SessionRecord::UserMessage(_) => {}
        }
    }

    /// Takes a record that is none of a session.
    fn take_other(&mut self, kind: &str, line: &str, fields: &Fields<'_>, out: &mut Out) {
        match kind {
            "observation" if self.mode == InputMode::Cmd => {
                self.say(self.view.lines(Style::Dim, &cut(line, LINE)), out);
            }
            "input_request" => self.take_tool_question(fields, out),
            "tool_list" => {
                if let Ok(Some(list)) = ToolList::read(line) {
                    if let Some(terminal) = self.display.terminal() {
                        terminal.set_known(|known| known.tools.clone_from(&list.tools));
                    }
                    self.tools = Some(list.tools);
                    self.starting_until = None;
                }
            }
            _ => {}
        }
    }

    /// Reports a record that cannot be read or is out of order.
    fn note_disorder(&mut self, number: u64, why: &dyn std::fmt::Display, out: &mut Out) {
        let why = format!("agent:{number}: {why}");
        match self.display.is_terminal() {
            true => self.note(&why, out),
            false => self.report.note_limited(why),
        }
    }

    fn take_message(&mut self, message: &AssistantMessage<'_>, out: &mut Out) {
        let text = &*message.token;
        let is_part = message.request_id.is_some() || !message.is_final;
        match (is_part, &*message.kind) {
            (true, "thought") => {}
            (true, _) if message.restarted => self.turn.streamed.clear(),
            (true, _) => {
                let streamed = &mut self.turn.streamed;
                streamed.push_str(text);
                if streamed.len() > 2 * STREAMED {
                    let long = streamed.len();
                    let kept = (long - STREAMED..long).find(|&at| streamed.is_char_boundary(at));
                    streamed.drain(..kept.unwrap_or(long));
                }
            }
            (false, "thought") => self.logs.reasoning(text),
            (false, kind) => {
                self.turn.streamed.clear();
                let shown = self.view.message(message);
                if kind != "progress" {
                    text.clone_into(&mut self.last_text);
                }
                self.say(shown, out);
            }
        }
    }

    /// Adds a call that has started.
    pub fn begin_call(&mut self, call_id: String, line: String, is_own: bool) {
        self.turn.streamed.clear();
        self.open.insert(call_id, OpenCall { line, since: Instant::now(), is_own });
    }

    fn take_result(&mut self, result: &CallResult<'_>, out: &mut Out) {
        let call_id = id_text(result.call_id);
        self.withdraw_questions(&call_id, out);
        let Some(call) = self.open.remove(&call_id) else { return };
        let error = (!result.is_ok).then(|| {
            let kind = result.kind.as_deref().unwrap_or("error");
            format!("{kind}: {}", result.error.as_deref().unwrap_or_default())
        });
        let shown = self.view.call(&call.line, error.as_deref(), Some(call.since.elapsed()));
        let mark = if error.is_some() { " (failed)" } else { "" };
        self.transcript.add_call(&format!("{}{mark}", call.line));
        self.say(shown, out);
        if let (true, None, Some(result)) = (call.is_own, error, result.result) {
            self.say(self.view.result(result.get()), out);
        }
    }

    /// Takes the agent's new state.
    fn take_state(&mut self, out: &mut Out) {
        let state = self.session.state();
        let is_asked_here = self.asking.held.is_some() || !self.asking.answered.is_empty();
        let is_elsewhere = state == State::Confirm && !is_asked_here;
        self.held_elsewhere = is_elsewhere.then(|| self.held_elsewhere.unwrap_or_else(Instant::now));
        match state {
            State::Running => self.begin_turn(),
            State::Confirm => {}
            State::Manual => {
                self.note("write a message when it is done", out);
                self.end_turn(out);
            }
            State::Idle | State::Question => self.end_turn(out),
        }
    }

    /// Marks the agent as working from now on.
    pub fn begin_turn(&mut self) {
        self.turn.begun.get_or_insert((Instant::now(), self.transcript.count));
    }

    fn end_turn(&mut self, out: &mut Out) {
        if self.session.has_unread() {
            return;
        }
        self.turn = Turn::default();
        if self.has_new_plan && self.display.is_terminal() {
            self.print_plan(out);
        }
    }

    /// Prints the plan.
    pub fn print_plan(&mut self, out: &mut Out) {
        self.has_new_plan = false;
        let lines = self.view.plan(self.session.plan(), LINE);
        self.say(lines.iter().map(|line| format!("{line}\n")).collect(), out);
    }

    fn take_final(&mut self, end: &Final<'_>, out: &mut Out) {
        let (outcome, content) = (&*end.outcome, &*end.content);
        let Usage { input, output, cost, .. } = end.usage;
        let counts = [(input, "input"), (output, "output")].map(|(count, name)| Some(format!("{} {name}", count?)));
        let used = counts.into_iter().chain([cost.map(|cost| format!("{cost} US dollars"))]);
        self.usage = Some(used.flatten().collect::<Vec<_>>().join(", "));
        // A call that was given up may never get a result.
        self.open.retain(|_, call| call.is_own);
        let is_shown = content.trim() == self.last_text.trim();
        if !self.asking.tools.is_empty() && self.open.is_empty() {
            self.asking.tools.clear();
            self.note("the tool's question is withdrawn", out);
        }
        match outcome {
            "done" if is_shown => {}
            "done" => self.say(self.view.text(content), out),
            _ => self.say(self.view.lines(Style::Bad, &format!("{outcome}: {content}")), out),
        }
        self.last_text.clear();
    }

    /// Whether the person has to wait for the agent.
    pub fn is_working(&self) -> bool {
        if self.asking.held.is_some() || !self.asking.tools.is_empty() {
            return false;
        }
        self.is_busy()
    }

    /// Whether anything is in progress, including a question to the person.
    pub fn is_busy(&self) -> bool {
        if self.starting_until.is_some() || !self.asking.answered.is_empty() {
            return true;
        }
        let works = matches!(self.session.state(), State::Running | State::Confirm);
        works || self.session.has_unread() || self.open.values().any(|call| call.is_own)
    }

    /// The changing lines: the text that is being written, the plan, and the current activity.
    pub fn live(&self, columns: usize, rows: usize) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.is_working() {
            return lines;
        }
        let columns = columns.saturating_sub(1);
        // One row stays free, and one shows the current activity.
        let rows = rows.saturating_sub(2);
        let unstyled = View { styles: super::style::Styles { color: false }, ..self.view };
        let written = unstyled.text(&self.turn.streamed);
        let plan = self.view.plan(self.session.plan(), columns);
        let planned = plan.len().min(PLANNED).min(rows);
        let newest = written.lines().rev().take(MAX_LIVE_LINES.min(rows - planned)).collect::<Vec<_>>();
        lines.extend(newest.into_iter().rev().map(|line| cut(line, columns.saturating_sub(1))));
        // A long plan is cut to the steps around the running one.
        let running = self.session.plan().iter().position(|step| step.status == "running").unwrap_or(0);
        let first = running.saturating_sub(planned / 2).min(plan.len() - planned);
        lines.extend(plan.into_iter().skip(first).take(planned));
        lines.push(self.view.styles.paint(Style::Dim, &cut(&self.activity(), columns.saturating_sub(1))));
        lines
    }

    /// The current activity, and how long it has lasted.
    fn activity(&self) -> String {
        let (since, before) = self.turn.begun.unwrap_or_else(|| (Instant::now(), self.transcript.count));
        let since = self.open.values().map(|call| call.since).fold(since, Instant::min);
        let elapsed = since.elapsed();
        let mark = SPINNER[usize::try_from(elapsed.as_millis() / TICK.as_millis()).unwrap_or(0) % SPINNER.len()];
        let what = match self.open.values().next() {
            _ if self.starting_until.is_some() => return format!("{mark} starting"),
            _ if self.turn.is_stopping => "stopping".to_owned(),
            _ if self.session.state() == State::Confirm && self.held_elsewhere.is_none() => {
                "waiting for an approval elsewhere".to_owned()
            }
            Some(call) => call.line.clone(),
            None => "thinking".to_owned(),
        };
        let step = self.transcript.count - before + 1;
        format!("{mark} step {step}, {} s: {what}", elapsed.as_secs())
    }

    /// A new id for a call of the person.
    pub fn next_call_id(&mut self) -> String {
        self.own_calls += 1;
        format!("person-{}", self.own_calls)
    }

    /// One record per open call of the person, which cancels it.
    pub fn cancellations(&self) -> Vec<String> {
        let own = self.open.iter().filter(|(_, call)| call.is_own);
        own.map(|(id, _)| Cancel::call(id).json()).collect()
    }
}

/// The most lines of unfinished text that are shown, and the most steps of a plan.
const MAX_LIVE_LINES: usize = 8;
const PLANNED: usize = 20;

/// The most bytes of unfinished text that are kept; its end is shown.
const STREAMED: usize = 4096;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// How often the spinner turns.
pub const TICK: Duration = Duration::from_millis(125);
