//! Whether a step of the plan is over: what it quotes and names has been used.

use super::wording::{dates, means_several, mentions, names, quoted};
use super::{ChoicePrompt, StepState, Tried};
use pipewright_record::ActionChoice;

/// How many actions a step may take until what it quotes, or its date, has been used.
const MOST_OF_STEP: usize = 4;

impl ChoicePrompt {
    /// Decides whether more is to be done for a step that has changed something, or, after the plan, for the goal. Puts a reminder in front of
    /// it if it names what was not used.
    pub(super) fn keep_step(&mut self, step: Option<&str>) -> bool {
        let is_planned = step.is_some();
        let step = step.unwrap_or(&self.goal).to_owned();
        let step = &*step;
        if self.step != StepState::Done || self.of_step.len() >= MOST_OF_STEP {
            return false;
        }
        let was_reminded = self.reminder.take().is_some();
        self.reminder = self.left_out(step).filter(|_| is_planned || !self.was_reminded_of_goal);
        self.was_reminded_of_goal |= !is_planned && self.reminder.is_some();
        let is_used = |text: &String| self.of_step.iter().any(|line| line.contains(text));
        let is_dated = |date: &String| self.of_step.iter().any(|line| !dates(line).is_empty()) || self.has_value(date);
        let has_used = quoted(step).iter().all(is_used) && dates(step).iter().all(is_dated);
        let last = self.last.as_ref().filter(|last| last.has_text);
        // "Enter it into both fields" was one action so far.
        let has_typed = last.is_some_and(|last| last.option.is_none());
        let has_more = has_typed && means_several(step) && self.has_empty_field();
        let has_option = last.is_some_and(|last| last.option.is_some()) && self.has_option_of(step);
        // What the step is for comes after its names were used.
        !has_used || has_more || has_option || was_reminded || self.reminder.is_some()
    }

    /// Whether an action was tried on an element, or with this option of it.
    pub(super) fn has_tried(&self, action: &ActionChoice, element: &str, option: Option<&str>) -> bool {
        let is_it = |tried: &&Tried| tried.verb == action.verb && tried.element == element;
        self.tried.iter().filter(is_it).any(|tried| tried.option.as_deref() == option)
    }

    /// Whether there is a field that is empty and was not written into. A secret one does not show what is in it.
    fn has_empty_field(&self) -> bool {
        let written = self.shown.actions.iter().filter(|action| action.text.is_some() && action.texts.is_empty());
        let fields = || written.clone().flat_map(|action| action.elements.keys().map(move |element| (action, element)));
        // A name may be the beginning of another one.
        let is_of = |line: &str, element: &str| {
            line.starts_with(element)
                && !fields().any(|(_, other)| other.len() > element.len() && line.starts_with(&**other))
        };
        let is_empty = |element: &str| {
            let line = self.shown.shown.iter().find(|line| is_of(line, element));
            line.is_some_and(|line| !line[element.len()..].contains(" = "))
        };
        fields().any(|(action, element)| !self.has_tried(action, element, None) && is_empty(element))
    }

    /// Whether a field has this date. It is chosen in a calendar, or written in another order.
    fn has_value(&self, date: &str) -> bool {
        let values = self.shown.shown.iter().filter_map(|line| line.split_once(" = "));
        values.into_iter().any(|(_, value)| mentions(value, date))
    }

    /// Whether a list of several options has one that a step names and no action for it has chosen.
    fn has_option_of(&self, step: &str) -> bool {
        let lists = self.shown.actions.iter().filter(|action| action.several);
        let mut options = lists.flat_map(|list| &list.texts).map(|option| option.to_lowercase());
        options.any(|option| mentions(step, &option) && !self.of_step.iter().any(|line| mentions(line, &option)))
    }

    /// What a step names and no action has used, if there is a field for it: to whom a message goes, for example.
    fn left_out(&self, step: &str) -> Option<String> {
        if !self.has_empty_field() {
            return None;
        }
        // A page may repeat the goal. What else it shows is rather what the step is about than what is to be written.
        let seen = format!("{}{}", self.world().replace(&*self.goal, ""), self.used.join("\n")).to_lowercase();
        let (quotes, mut left) = (quoted(step), names(step));
        left.retain(|name| !seen.contains(&name.to_lowercase()) && !quotes.contains(&name.to_lowercase()));
        (!left.is_empty()).then(|| format!("Use '{}'", left.join("' and '")))
    }
}
