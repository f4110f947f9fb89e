//! The dialogue between a person and the gate about a rule that would allow more calls than the held one.

use super::dialogue::{Dialogue, DialogueStep};
use pipewright_io::printable::printable;
use pipewright_policy::rules::{SessionRules, reach};
use pipewright_record::Action;

const PROMPT: &str = "allow what this rule matches until the end of the run [y], edit it [e], back to the call [b]\n> ";
const PROMPT_WITH_FILE: &str = "allow what this rule matches until the end of the run [y], and write it to the rules \
    file [w], edit it [e], back to the call [b]\n> ";
const NO_RULE: &str = "such calls cannot be allowed for the session: a payment needs a question each time, and so does \
                       text that is run if it is too long for a rule\n";

const NO_NARROWER_RULE: &str = "this call has no narrower rule than that of a: it has no target and no arguments, or \
    they are too long or contain * or ?\n";

impl Dialogue {
    /// Takes `a`, `A`, and commands about a rule that is shown; `None` if the line is about the call.
    pub(super) fn receive_about_rule(&mut self, line: &str) -> Option<DialogueStep> {
        let offers = &self.question.rule_offers;
        let (word, number) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let number = Some(number.trim()).filter(|number| !number.is_empty());
        let shows = word == "A";
        match (&self.rule, line) {
            (None, _) if !(shows || matches!(word, "a" | "/always")) => None,
            (None, _) if offers.is_empty() => Some(self.again(NO_RULE)),
            (None, _) if self.edited.is_some() => {
                Some(self.again("edited arguments count for this call alone: approve it without a rule\n"))
            }
            (None, _) if self.is_cut => Some(self.say_not_all_shown()),
            (None, "A") if offers.len() < 2 && self.offered().is_empty() => Some(self.again(NO_NARROWER_RULE)),
            (None, _) => {
                let usual = if shows { offers.len() } else { 1 };
                let chosen = number.map_or(Some(usual), |number| number.parse().ok());
                let Some(rule) = chosen.and_then(|number| offers.get(number.checked_sub(1)?)).cloned() else {
                    return Some(self.again(&format!("the rules have the numbers 1 to {}\n", offers.len())));
                };
                if !shows {
                    return Some(self.allow(&rule, false));
                }
                self.rule = Some(rule);
                Some(self.show_rule(""))
            }
            (Some(rule), "y" | "yes") => Some(self.allow(&rule.clone(), false)),
            (Some(rule), "w" | "write") if self.question.rules_file.is_some() => Some(self.allow(&rule.clone(), true)),
            (Some(_), "e" | "edit") => Some(DialogueStep::Edit),
            (Some(_), "b" | "back" | "n" | "no") => {
                self.rule = None;
                Some(self.begin())
            }
            (Some(_), _) => Some(self.again("")),
        }
    }

    /// What the rules allow, in lines: those of `a`, if that is not every call of the tool, or all of them with their
    /// numbers, if some are between that and calls such as this one.
    pub(super) fn offered(&self) -> String {
        let offers: Vec<String> = self.question.rule_offers.iter().map(|rule| reach(rule)).collect();
        match &offers[..] {
            [first] | [first, _] if first == "this tool" => String::new(),
            [] => String::new(),
            [first] | [first, _] => format!("for this session: {}\n", printable(first)),
            all => {
                let lines = (1..).zip(all).map(|(number, reach)| format!("  a {number}  {}\n", printable(reach)));
                lines.fold("for this session\n".to_owned(), |text, line| text + &line)
            }
        }
    }

    pub(super) fn rule_prompt(&self) -> Option<&'static str> {
        let prompt = if self.question.rules_file.is_some() { PROMPT_WITH_FILE } else { PROMPT };
        self.rule.as_ref().map(|_| prompt)
    }

    fn show_rule(&self, before: &str) -> DialogueStep {
        let lines = self.rule.as_deref().unwrap_or_default().lines();
        let shown: String = lines.map(|line| format!("  | {}\n", printable(line))).collect();
        let file = self.question.rules_file.as_deref().map(|file| format!("the rules file: {}\n", printable(file)));
        DialogueStep::AskAnew(format!("{before}the rule:\n{shown}{}", file.unwrap_or_default()))
    }

    fn allow(&self, rule: &str, remember: bool) -> DialogueStep {
        self.answer_with(Action::Approve, None, "", Some((rule, remember)))
    }

    /// Takes the edited text of the rule that is shown.
    pub(super) fn take_rule(&mut self, text: &str) -> DialogueStep {
        self.rule = Some(text.trim().to_owned());
        // The gate checks whether it matches the call; here only its syntax is checked.
        let wrong = SessionRules::default().add(text).err();
        self.show_rule(&wrong.map_or_else(String::new, |why| self.screen.warning(&why)))
    }
}
