//! What is said between a person and the gate about one call.

use super::editor::{self, Edited};
use super::screen::Screen;
use crate::approvals::Question;
use crate::cmd::options::{TOO_DEEP, TOO_LONG};
use crate::io::asking::Asking;
use crate::io::lines::{Limits, deeper_than};
use crate::json::Object;
use crate::policy::arguments::{self as policy, differences, with_value};
use jiff::Timestamp;

/// What is to happen next.
pub enum Next {
    /// To show this, and to hear.
    Say(String),
    /// To show this, forget what was typed before it stood there, and to hear: whoever answers has seen it.
    AskAnew(String),
    /// To let the person edit in their editor.
    Edit,
    /// To give this record, a line, to the stage.
    Answer(String),
}

pub struct Dialogue {
    pub(super) question: Question,
    pub(super) screen: Screen,
    pub(super) limits: Limits,
    /// The call's arguments as they came, and what they have been edited to.
    original: String,
    pub(super) edited: Option<String>,
    /// What stood in the editor last, where it can't be taken.
    draft: Option<String>,
    /// The rule that is shown in place of the call.
    pub(super) rule: Option<String>,
    /// Something of what would be approved has not been shown.
    pub(super) is_cut: bool,
}

const PROMPT: &str = "approve [y], edit [e], reject [n], everything [v], help [?]\n> ";
const PROMPT_WITH_RULES: &str = "approve [y], for this session [a], edit [e], reject [n], everything [v], help [?]\n> ";
const EDITED_PROMPT: &str = "approve this [y], edit again [e], reject [n], everything [v], help [?]\n> ";
pub(super) const NOT_ALL_SHOWN: &str = "not everything has been shown: press v first\n";
const HELP: &str = "\
  y, yes, /yes [TEXT]   let it pass; TEXT goes into the record
  n, no, /no [TEXT]     reject it; TEXT is told to whoever made the call
  e                     edit the arguments in your editor ($VISUAL, $EDITOR)
  e NAME=VALUE          set one argument (a path such as items[0].id too); VALUE is JSON, or else a text
  a                     let it pass, and every call of this tool until the end of the run
  A                     the same for calls with this target or these arguments; shows the rule, which can be edited
  v                     show everything, at full length; needed before y where something was cut off
  Ctrl-D                reject it
";

impl Dialogue {
    pub fn new(question: Question, color: bool, width: usize, limits: Limits) -> Dialogue {
        let original = question.call.call().arguments_text().to_owned();
        Dialogue {
            question,
            screen: Screen::new(color, width),
            limits,
            original,
            edited: None,
            draft: None,
            rule: None,
            is_cut: true,
        }
    }

    pub fn prompt(&self) -> &'static str {
        let about_call = match (&self.edited, self.question.rule_offers.is_empty()) {
            (Some(_), _) => EDITED_PROMPT,
            (None, true) => PROMPT,
            (None, false) => PROMPT_WITH_RULES,
        };
        self.rule_prompt().unwrap_or(about_call)
    }

    pub fn begin(&mut self) -> Next {
        let screen = self.screen.question(&self.question);
        self.is_cut = screen.is_cut;
        let mut shown = screen.text;
        if let Some(expires_at) = self.question.expires_at {
            let left = expires_at.duration_since(Timestamp::now()).as_secs_f64().max(0.0);
            shown += &format!("without an answer it is rejected in {left:.0} s\n");
        }
        Next::AskAnew(shown)
    }

    pub(super) fn again(&self, text: &str) -> Next {
        Next::Say(format!("{text}{}", self.prompt()))
    }

    pub fn receive(&mut self, line: &str) -> Next {
        let line = line.trim();
        if let Some(next) = self.receive_about_rule(line) {
            return next;
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word.to_lowercase().as_str() {
            "y" | "yes" | "/yes" if self.is_cut => self.again(NOT_ALL_SHOWN),
            "y" | "yes" | "/yes" => self.approve(rest),
            "n" | "no" | "/no" => self.reject(rest),
            "e" | "edit" | "/edit" if rest.is_empty() => Next::Edit,
            "e" | "edit" | "/edit" => match rest.split_once('=') {
                Some((path, value)) => {
                    let from = self.edited.as_deref().unwrap_or(&self.original);
                    let set = with_value(from, path.trim(), value.trim()).and_then(|json| self.read(&json));
                    self.take_edit(set)
                }
                None => self.again("e NAME=VALUE sets an argument, e alone opens your editor\n"),
            },
            "v" if rest.is_empty() => {
                self.is_cut = false;
                Next::AskAnew(self.screen.everything(&self.question, self.edited.as_deref()))
            }
            "?" | "h" | "help" => self.again(HELP),
            "" => self.again(""),
            _ => self.again("that is not understood; y lets the call pass, n rejects it\n"),
        }
    }

    /// Ctrl-D.
    pub fn ended(&self) -> Next {
        self.reject("")
    }

    /// What was edited doesn't pass.
    pub fn refused(&mut self, why: &str) -> Next {
        Next::AskAnew(self.screen.warning(&format!("that doesn't pass: {why}")))
    }

    /// Has the person edit, until `stop` says that the question is settled already.
    pub fn edit(&mut self, terminal: &mut Asking, stop: impl Fn() -> bool) -> Next {
        if let Some(rule) = self.rule.clone() {
            return self.edit_rule(&rule, terminal, stop);
        }
        let before = self.edited.as_deref().unwrap_or(&self.original);
        let text = self.draft.take().unwrap_or_else(|| policy::pretty(before) + "\n");
        match editor::edit(&text, self.limits.max_line, terminal, stop) {
            Ok(Edited::Text(after)) => {
                let read = self.read(&after);
                self.draft = read.is_err().then_some(after);
                self.take_edit(read)
            }
            // The order that stopped it is read next.
            Ok(Edited::Stopped) => Next::Say(String::new()),
            Err(why) => Next::AskAnew(self.screen.warning(&why)),
        }
    }

    fn read(&self, text: &str) -> Result<String, String> {
        if deeper_than(text.as_bytes(), self.limits.max_depth) {
            return Err(TOO_DEEP.to_owned());
        }
        policy::read(text, self.limits.max_depth)
    }

    /// Shows what has changed: that is to be approved.
    fn take_edit(&mut self, edited: Result<String, String>) -> Next {
        let edited = match edited {
            Ok(edited) => edited,
            Err(why) => {
                return Next::AskAnew(self.screen.warning(&format!("{why}; nothing was changed, e edits again")));
            }
        };
        let changes = differences(&self.original, &edited);
        if changes.is_empty() {
            self.edited = None;
            return Next::AskAnew("nothing is changed\n".to_owned());
        }
        self.edited = Some(edited);
        let screen = self.screen.changes(&changes);
        self.is_cut |= screen.is_cut;
        Next::AskAnew(screen.text)
    }

    fn approve(&self, feedback: &str) -> Next {
        match &self.edited {
            None => self.answer("approve", None, feedback),
            Some(edited) => self.answer("edit", Some(edited), feedback),
        }
    }

    fn reject(&self, feedback: &str) -> Next {
        self.answer("reject", None, feedback)
    }

    fn answer(&self, action: &str, edited: Option<&str>, feedback: &str) -> Next {
        self.answer_with(action, edited, feedback, None)
    }

    /// With a rule, it is good for the session; with true, it is written to the rules file, too.
    pub(super) fn answer_with(
        &self,
        action: &str,
        edited: Option<&str>,
        feedback: &str,
        rule: Option<(&str, bool)>,
    ) -> Next {
        let line = Object::default()
            .text("type", "hitl_response")
            .put_some("call_id", self.question.call.call().id)
            .text("nonce", &self.question.nonce)
            .text("action", action)
            .text("arguments_sha256", &self.question.sha256)
            .put_some("edited_arguments", edited)
            .put_some("replace", edited.map(|_| "true"))
            .text_some("feedback", Some(feedback).filter(|feedback| !feedback.is_empty()))
            .text_some("scope", rule.map(|_| "session"))
            .text_some("rule", rule.map(|(text, _)| text))
            .put_some("remember", rule.filter(|(_, remember)| *remember).map(|_| "true"))
            .line();
        if line.len() > self.limits.max_line {
            return self.again(&format!("that is {TOO_LONG}\n"));
        }
        Next::Answer(line)
    }
}
