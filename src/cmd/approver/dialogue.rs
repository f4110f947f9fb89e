//! The dialogue between a person and the gate about one call.

use super::editor::EditResult;
use super::screen::Screen;
use super::texts::DialogueTexts;
use crate::cmd::options::{TOO_DEEP, TOO_LONG};
use jiff::Timestamp;
use pipewright_clients::approvals::{Answer, Question};
use pipewright_lines::{Limits, deeper_than};
use pipewright_policy::arguments::{self as policy, differences, with_value};
use pipewright_record::Action;

/// The next step.
pub enum DialogueStep {
    /// Show this, and read a line.
    Say(String),
    /// Show this, discard the input from before it was shown, and read a line: the answer is then to this text.
    AskAnew(String),
    /// Let the person edit in their editor.
    Edit,
    /// Give this record, a line, to the stage.
    Answer(String),
}

pub struct Dialogue {
    words: &'static DialogueTexts,
    pub(super) question: Question,
    pub(super) screen: Screen,
    pub(super) limits: Limits,
    /// The call's arguments as they came, and what they have been edited to.
    original: String,
    pub(super) edited: Option<String>,
    /// The last text of the editor, if it was not valid.
    draft: Option<String>,
    /// The rule that is shown in place of the call.
    pub(super) rule: Option<String>,
    /// A part of what would be approved has not been shown.
    pub(super) is_cut: bool,
}

impl Dialogue {
    pub fn new(
        words: &'static DialogueTexts,
        question: Question,
        color: bool,
        width: usize,
        limits: Limits,
    ) -> Dialogue {
        let original = question.call.call().arguments_text().to_owned();
        Dialogue {
            words,
            question,
            screen: Screen::new(words, color, width),
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
            (Some(_), _) => self.words.edited_prompt,
            (None, true) => self.words.prompt,
            (None, false) => self.words.prompt_with_rules,
        };
        self.rule_prompt().unwrap_or(about_call)
    }

    pub fn begin(&mut self) -> DialogueStep {
        let screen = self.screen.question(&self.question);
        self.is_cut = screen.is_cut;
        let mut shown = screen.text;
        if let Some(expires_at) = self.question.expires_at {
            let left = expires_at.duration_since(Timestamp::now()).as_secs_f64().max(0.0);
            shown += &format!("rejected in {left:.0} s if nobody answers\n");
        }
        shown += &self.offered();
        DialogueStep::AskAnew(shown)
    }

    pub(super) fn say_not_all_shown(&self) -> DialogueStep {
        self.again(self.words.not_all_shown)
    }

    pub(super) fn again(&self, text: &str) -> DialogueStep {
        DialogueStep::Say(format!("{text}{}", self.prompt()))
    }

    pub fn receive(&mut self, line: &str) -> DialogueStep {
        let line = line.trim();
        if let Some(next) = self.receive_about_rule(line) {
            return next;
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word.to_lowercase().as_str() {
            "y" | "yes" | "/yes" if self.is_cut => self.say_not_all_shown(),
            "y" | "yes" | "/yes" => self.approve(rest),
            "n" | "no" | "/no" => self.reject(rest),
            "e" | "edit" | "/edit" if rest.is_empty() => DialogueStep::Edit,
            "e" | "edit" | "/edit" => match rest.split_once('=') {
                Some((path, value)) => {
                    let from = self.edited.as_deref().unwrap_or(&self.original);
                    let set = with_value(from, path.trim(), value.trim()).and_then(|json| Ok(self.read(&json)?));
                    self.take_edit(set.map_err(String::from))
                }
                None => self.again(self.words.how_to_edit),
            },
            "v" | "/show" if rest.is_empty() => {
                self.is_cut = false;
                DialogueStep::AskAnew(self.screen.everything(&self.question, self.edited.as_deref()))
            }
            "?" | "h" | "help" => self.again(self.words.help),
            "" => self.again(""),
            _ => self.again(self.words.not_understood),
        }
    }

    /// Ctrl-D.
    pub fn ended(&self) -> DialogueStep {
        self.reject("")
    }

    /// The edited call does not pass.
    pub fn refused(&mut self, why: &str) -> DialogueStep {
        DialogueStep::AskAnew(self.screen.warning(&format!("that does not pass: {why}")))
    }

    /// The text to edit: the arguments, or the rule that is shown.
    pub fn draft(&mut self) -> String {
        if let Some(rule) = &self.rule {
            return format!("{rule}\n");
        }
        let before = self.edited.as_deref().unwrap_or(&self.original);
        self.draft.take().unwrap_or_else(|| policy::pretty(before) + "\n")
    }

    /// Takes the edited text, or why there is none.
    pub fn take_draft(&mut self, edited: Result<EditResult, String>) -> DialogueStep {
        match edited {
            Ok(EditResult::Text(text)) if self.rule.is_some() => self.take_rule(&text),
            Ok(EditResult::Text(after)) => {
                let read = self.read(&after);
                self.draft = read.is_err().then_some(after);
                self.take_edit(read)
            }
            // The order that stopped it is read next.
            Ok(EditResult::Stopped) => DialogueStep::Say(String::new()),
            Err(why) => DialogueStep::AskAnew(self.screen.warning(&why)),
        }
    }

    fn read(&self, text: &str) -> Result<String, String> {
        if deeper_than(text.as_bytes(), self.limits.max_depth) {
            return Err(TOO_DEEP.to_owned());
        }
        Ok(policy::read(text, self.limits.max_depth)?)
    }

    /// Shows the changes, which are to be approved.
    fn take_edit(&mut self, edited: Result<String, String>) -> DialogueStep {
        let edited = match edited {
            Ok(edited) => edited,
            Err(why) => {
                return DialogueStep::AskAnew(self.screen.warning(&format!("{why}; nothing was changed")));
            }
        };
        let changes = differences(&self.original, &edited);
        if changes.is_empty() {
            self.edited = None;
            return DialogueStep::AskAnew("nothing is changed\n".to_owned());
        }
        self.edited = Some(edited);
        let screen = self.screen.changes(&changes);
        self.is_cut |= screen.is_cut;
        DialogueStep::AskAnew(screen.text)
    }

    fn approve(&self, feedback: &str) -> DialogueStep {
        match &self.edited {
            None => self.answer(Action::Approve, None, feedback),
            Some(edited) => self.answer(Action::Edit, Some(edited), feedback),
        }
    }

    fn reject(&self, feedback: &str) -> DialogueStep {
        self.answer(Action::Reject, None, feedback)
    }

    fn answer(&self, action: Action, edited: Option<&str>, feedback: &str) -> DialogueStep {
        self.answer_with(action, edited, feedback, None)
    }

    pub(super) fn answer_with(
        &self,
        action: Action,
        edited: Option<&str>,
        feedback: &str,
        rule: Option<(&str, bool)>,
    ) -> DialogueStep {
        let mut line = Answer { action, edited, feedback, rule }.record(&self.question);
        line.push('\n');
        if line.len() > self.limits.max_line {
            return self.again(&format!("that is {TOO_LONG}\n"));
        }
        DialogueStep::Answer(line)
    }
}
