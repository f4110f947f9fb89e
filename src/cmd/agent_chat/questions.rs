//! Questions to the person: about the call that a gate holds, and from tools.

use super::chat::Chat;
use super::display::Display;
use super::style::{Style, unstyled};
use super::terminal::KeyboardUse;
use super::view::cut;
use crate::cmd::approver::dialogue::{Dialogue, DialogueStep};
use crate::cmd::approver::editor::EditResult;
use crate::cmd::approver::texts::COMMANDS;
use crate::cmd::call_arguments::pairs;
use pipewright_clients::approvals::QueueChange;
use pipewright_io::stage::Out;
use pipewright_record::json::{self, Object, quoted};
use pipewright_record::{Fields, InputAction, InputResponse, Record};
use pipewright_sys::terminal::width;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The only session: there is one agent.
pub const SESSION: usize = 0;

/// A gate that does not accept an answer within this time is reported.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(5);

const TOO_EARLY: &str = "ignored: typed before the question was shown";

/// The open questions.
#[derive(Default)]
pub struct OpenQuestions {
    /// The held call that is shown.
    pub held: Option<HeldCall>,
    /// Answered questions that their gates have not accepted yet.
    pub answered: Vec<AnsweredCall>,
    /// Questions from tools; the first is shown.
    pub tools: VecDeque<ToolQuestion>,
    /// The number of questions shown so far.
    pub number: u64,
    /// The number of the question that was shown when the current line was begun.
    pub typed_for: u64,
}

/// The held call that the person is asked about.
pub struct HeldCall {
    nonce: String,
    gate: usize,
    dialogue: Dialogue,
}

/// An answered question that its gate has not settled.
pub struct AnsweredCall {
    held: HeldCall,
    since: Instant,
}

/// A question from a tool.
pub struct ToolQuestion {
    request_id: String,
    /// The call that waits for the answer, if it is known.
    call_id: Option<String>,
    /// The question's text for the person.
    text: String,
    /// The JSON Schemas of the answer's fields, by name; empty if any fields are accepted.
    properties: Vec<(String, Value)>,
}

/// The person's input about the held call, for [`Dialogue`].
pub enum HeldCallInput<'a> {
    Line(&'a str),
    /// The edited text, or why there is none, for the question of this number.
    Draft(Result<String, String>, u64),
}

impl Chat {
    /// Takes a change in the queue of the gates' questions.
    pub fn take_change(&mut self, change: QueueChange, out: &mut Out) {
        match change {
            QueueChange::Asked => self.ask_next(out),
            QueueChange::Settled { nonce, settlement } => {
                self.asking.answered.retain(|answered| answered.held.nonce != nonce);
                let was_shown = self.asking.held.take_if(|held| held.nonce == nonce).is_some();
                if was_shown {
                    self.note(&settlement.note, out);
                }
                self.ask_next(out);
                if was_shown && self.asking.held.is_none() {
                    self.show_tool_question(out);
                }
            }
            QueueChange::Refused { nonce, why } => {
                let Some(at) = self.asking.answered.iter().position(|answered| answered.held.nonce == nonce) else {
                    return;
                };
                let mut held = self.asking.answered.remove(at).held;
                if self.asking.held.is_none() {
                    let next = held.dialogue.refused(&why);
                    self.asking.held = Some(held);
                    self.follow(Some(next), out);
                }
            }
            QueueChange::SecondQuestion | QueueChange::Rules | QueueChange::Nothing => {}
        }
    }

    /// Shows the first open question that is not answered, unless one is shown.
    fn ask_next(&mut self, out: &mut Out) {
        if self.asking.held.is_some() {
            return;
        }
        let queue = self.gates.queue(SESSION);
        let open = (0..queue.len()).filter_map(|place| queue.get(place));
        let is_answered = |nonce: &str| self.asking.answered.iter().any(|answered| answered.held.nonce == nonce);
        let mut open = open.filter(|pending| !is_answered(&pending.question.nonce));
        let Some(pending) = open.next() else { return };
        let (more, gate, question) = (open.count(), pending.gate, pending.question.clone());
        let asker = self.gates.describe(gate);
        let nonce = question.nonce.clone();
        let columns = if self.display.is_terminal() { width(std::io::stdout()) } else { 120 };
        let mut dialogue = Dialogue::new(&COMMANDS, question, self.view.styles.color, columns, self.limits);
        let next = dialogue.begin();
        self.asking.held = Some(HeldCall { nonce, gate, dialogue });
        let more = if more > 0 { format!("; {more} more held") } else { String::new() };
        if self.has_new_plan && self.display.is_terminal() {
            self.print_plan(out);
        }
        if let Some(terminal) = self.display.terminal() {
            // A call that begins to wait can be heard.
            terminal.print_question("\u{7}");
        }
        self.note(&format!("asked by {asker}{more}"), out);
        self.follow(Some(next), out);
        if self.script.has_ended && self.script.lines.is_empty() {
            self.reject_unanswered(out);
        }
    }

    /// Shows a question. Text that was typed earlier does not answer it.
    fn say_question(&mut self, text: String, out: &mut Out) {
        self.transcript.add(unstyled(&text));
        match &mut self.display {
            Display::Terminal(terminal) => {
                self.drawing.is_due = true;
                terminal.print_question(&text);
            }
            Display::Lines => self.print(&text, out),
        }
        self.number_question();
    }

    fn number_question(&mut self) {
        self.asking.number += 1;
        if let Some(terminal) = self.display.terminal() {
            terminal.ask(self.asking.number);
        }
    }

    /// Ignores and reports a terminal line that was begun before the question was shown, or too soon afterwards for the
    /// person to have read it. Returns true if it did.
    pub fn refuse_early(&mut self, out: &mut Out) -> bool {
        let is_asked = self.asking.held.is_some() || !self.asking.tools.is_empty();
        let is_of_another = self.asking.typed_for != self.asking.number;
        let is_early = is_asked && self.display.is_terminal() && is_of_another;
        if is_early {
            self.complain(TOO_EARLY, out);
        }
        is_early
    }

    /// Gives up on gates that have not accepted an answer in time.
    pub fn forget_untaken(&mut self, out: &mut Out) {
        let before = self.asking.answered.len();
        self.asking.answered.retain(|answered| answered.since.elapsed() < ACCEPT_TIMEOUT);
        if self.asking.answered.len() < before {
            self.note("a gate did not accept the answer in time", out);
        }
    }

    /// When the next of those times is over.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.asking.answered.iter().map(|answered| answered.since + ACCEPT_TIMEOUT).min()
    }

    /// Rejects the open questions: nobody can answer any more.
    pub fn reject_unanswered(&mut self, out: &mut Out) {
        if self.asking.held.is_some() {
            self.reply_about_call(HeldCallInput::Line("/no nobody can answer: the input of agent-chat has ended"), out);
        }
    }

    /// Takes the person's input about the held call; false if no call is held.
    pub fn reply_about_call(&mut self, reply: HeldCallInput<'_>, out: &mut Out) -> bool {
        let Some(held) = &mut self.asking.held else { return false };
        let next = match reply {
            HeldCallInput::Line(line) => held.dialogue.receive(line),
            HeldCallInput::Draft(_, question) if question != self.asking.number => {
                self.note("nothing was changed: the edited call is no longer held", out);
                return true;
            }
            HeldCallInput::Draft(edited, _) => held.dialogue.take_draft(edited.map(EditResult::Text)),
        };
        self.follow(Some(next), out);
        true
    }

    /// Does the dialogue's next step.
    fn follow(&mut self, next: Option<DialogueStep>, out: &mut Out) {
        let (Some(next), Some(held)) = (next, self.asking.held.as_mut()) else { return };
        match next {
            DialogueStep::Say(text) => self.say(text, out),
            DialogueStep::AskAnew(text) => {
                let text = text + held.dialogue.prompt();
                self.say_question(text, out);
            }
            DialogueStep::Edit => match &mut self.display {
                Display::Lines => {
                    self.complain("/edit: an editor needs a terminal; /edit NAME=VALUE sets an argument", out)
                }
                Display::Terminal(terminal) => {
                    terminal.want(KeyboardUse::Editor { text: held.dialogue.draft(), question: self.asking.number });
                }
            },
            DialogueStep::Answer(record) => {
                self.gates.send(held.gate, record.trim_end(), out);
                let held = self.asking.held.take().map(|held| AnsweredCall { held, since: Instant::now() });
                self.asking.answered.extend(held);
                self.ask_next(out);
            }
        }
    }

    /// Takes a question from a tool.
    pub fn take_tool_question(&mut self, fields: &Fields<'_>, out: &mut Out) {
        let Some(request_id) = fields.text("request_id") else { return };
        let params = fields.object("params");
        let text = |key: &str| params.as_ref().and_then(|params| params.text(key)).unwrap_or_default();
        let tool = fields.text("tool").or_else(|| fields.text("source")).unwrap_or_default();
        let schema = params.as_ref().and_then(|params| params.get("requestedSchema"));
        let schema: Value = schema.and_then(|schema| serde_json::from_str(schema.get()).ok()).unwrap_or_default();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let properties: Vec<_> = properties.map(|(name, property)| (name.clone(), property.clone())).collect();
        let mut shown = format!("{tool} asks: {}\n", text("message"));
        if !text("url").is_empty() {
            shown += &format!("open {}\n", text("url"));
        }
        for (name, property) in &properties {
            shown += &format!("  {}\n", described(name, property));
        }
        let how = match properties.as_slice() {
            [] => "/answer agrees, /no declines\n".to_owned(),
            [(name, _)] => format!("/answer {name}=VALUE, or /no\n"),
            [..] => "/answer NAME=VALUE ..., or /no\n".to_owned(),
        };
        let call_id = fields.text("call_id");
        self.asking.tools.push_back(ToolQuestion { request_id, call_id, text: shown + &how, properties });
        if self.asking.tools.len() == 1 {
            self.show_tool_question(out);
        }
    }

    fn show_tool_question(&mut self, out: &mut Out) {
        let Some(asked) = self.asking.tools.front() else { return };
        let shown = self.view.lines(Style::Bold, &asked.text);
        self.say_question(shown, out);
    }

    /// Removes the questions of a call that has its result.
    pub fn withdraw_questions(&mut self, call_id: &str, out: &mut Out) {
        let is_about = |asked: &ToolQuestion| asked.call_id.as_deref() == Some(call_id);
        let was_shown = self.asking.tools.front().is_some_and(is_about);
        self.asking.tools.retain(|asked| !is_about(asked));
        if was_shown {
            self.note("the tool's question is withdrawn", out);
            self.show_tool_question(out);
        }
    }

    /// Answers a tool's question.
    pub fn answer_tool(&mut self, answer: &str, out: &mut Out) {
        let Some(asked) = self.asking.tools.front() else {
            return self.complain("/answer: no tool has asked a question", out);
        };
        match content(answer, &asked.properties) {
            Ok(content) => {
                let record = response(&asked.request_id, InputAction::Accept, Some(json::raw(&content)));
                self.asking.tools.pop_front();
                self.send(&record, out);
                self.show_tool_question(out);
            }
            Err(why) => self.complain(&format!("/answer: {why}"), out),
        }
    }

    /// Declines a tool's question; false if there is none.
    pub fn decline_tool(&mut self, out: &mut Out) -> bool {
        let Some(asked) = self.asking.tools.pop_front() else { return false };
        self.send(&response(&asked.request_id, InputAction::Decline, None), out);
        self.show_tool_question(out);
        true
    }
}

fn response(request_id: &str, action: InputAction, content: Option<&RawValue>) -> String {
    InputResponse { request_id: request_id.into(), action, content }.json()
}

/// A field of an answer, as text for people.
fn described(name: &str, property: &Value) -> String {
    let text = |key: &str| property[key].as_str().map(|text| cut(text, 80));
    let kind = text("type").unwrap_or_default();
    let choices = property["enum"].as_array().into_iter().flatten().map(|choice| match choice.as_str() {
        Some(text) => text.to_owned(),
        None => choice.to_string(),
    });
    let choices = choices.collect::<Vec<_>>().join(" | ");
    let kind = if choices.is_empty() { kind } else { choices };
    let about = text("description").or_else(|| text("title")).map_or(String::new(), |about| format!(": {about}"));
    format!("{name} ({kind}){about}")
}

/// The answer as a JSON object.
fn content(answer: &str, properties: &[(String, Value)]) -> Result<String, String> {
    let words = match properties {
        // A single field needs no name; text that looks like another field is not its value.
        [(name, _)] if !answer.is_empty() && !begins_with_name(answer) => {
            vec![format!("{name}={answer}")]
        }
        _ => shlex::split(answer).ok_or("a closing quotation mark is missing")?,
    };
    let given = pairs(&words, "").map_err(|failure| failure.to_string())?;
    let mut object = Object::default();
    for word in &words {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let property = properties.iter().find(|(known, _)| known == name).map(|(_, property)| property);
        if property.is_none() && !properties.is_empty() {
            return Err(format!("unknown field {name:?}"));
        }
        // A string field stays text, even if it looks like a number.
        let is_text = property.is_some_and(|property| property["type"] == "string") && !value.starts_with(['"', '@']);
        object = object.put_any(name, if is_text { quoted(value) } else { raw(&given, name) });
    }
    Ok(object.end())
}

/// Whether an answer begins with `NAME=`.
fn begins_with_name(answer: &str) -> bool {
    let name = answer.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || "_-.".contains(character))
}

/// The raw JSON of a field.
fn raw(object: &str, name: &str) -> String {
    Fields::read(object).ok().and_then(|fields| fields.get(name).map(RawValue::get)).unwrap_or("null").to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_read_by_its_schema() {
        let one = [("count".to_owned(), json!({"type": "integer"}))];
        assert_eq!(content("5", &one).unwrap(), r#"{"count":5}"#);
        assert_eq!(content("count=5", &one).unwrap(), r#"{"count":5}"#);
        let two = [("zip".to_owned(), json!({"type": "string"})), ("gift".to_owned(), json!({"type": "boolean"}))];
        assert_eq!(content("zip=1234 gift=true", &two).unwrap(), r#"{"zip":"1234","gift":true}"#);
        assert_eq!(content("gift=false 'zip=a b'", &two).unwrap(), r#"{"gift":false,"zip":"a b"}"#);
        assert!(content("colour=red", &two).unwrap_err().contains("colour"));
        assert_eq!(content("", &[]).unwrap(), "{}");
    }
}
