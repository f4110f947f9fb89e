//! What a small model gets in place of the conversation: what the world shows now, the goal, what was done, and the actions that fit.
//! It plans once, from the goal alone, and does not say how far it is: a step of its plan is done when an action has changed something (or a
//! field has the text already), and what the step quotes and names has been used: dates, people, each field, options.

mod step;
mod wording;

use super::conversation::{cut, data};
use super::profile::Profile;
use pipewright_record::{ActionChoice, Choices, ShownChoices};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};
use wording::{is_question, words};

/// How much of what was done is kept, and how much of each error.
const MOST_LINES: usize = 20;
const MOST_OF_ERROR: usize = 200;
/// How much the model gets of what it asked for.
const MOST_OF_RESULT: usize = 2000;
/// How many elements with words of the step are named again.
const MOST_NAMED: usize = 6;
/// How many actions for a step may fail or change nothing.
const MOST_MISSED: u32 = 2;
/// An action on an element, which is not offered again as long as it would change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tried {
    verb: String,
    element: String,
    has_text: bool,
    /// The option that was chosen where several can be.
    option: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ChoicePrompt {
    /// The latest observations: the tool, and the text.
    observed: Vec<(String, String)>,
    shown: ShownChoices,
    goal: String,
    /// What the last call has read.
    read: String,
    past: Vec<String>,
    tried: Vec<Tried>,
    step: StepState,
    /// What was done for that step, in lower case.
    of_step: Vec<String>,
    /// Whether the model was asked for a plan.
    has_planned: bool,
    /// A step in front of the running one, about what that names; after the plan, there is one for a goal.
    reminder: Option<String>,
    was_reminded_of_goal: bool,
    /// What was done, in lower case.
    used: Vec<String>,
    /// The last action, and what the world showed when it was made.
    last: Option<Tried>,
    before: WorldView,
}

/// The latest observations, and the elements.
type WorldView = (Vec<(String, String)>, Vec<String>);

/// What has become of the step of the plan that is next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum StepState {
    #[default]
    Open,
    /// So many actions have failed or changed nothing.
    Missed(u32),
    Done,
    /// The plan is about an earlier goal.
    Void,
}

/// What becomes of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanChange {
    /// Its running step is over.
    StepOver,
    /// It is to be made anew.
    Void,
}

impl ChoicePrompt {
    /// Takes an observation.
    pub(super) fn observe(&mut self, tool: &str, text: &str) {
        let text = data(tool, &plain(text));
        match self.observed.iter_mut().find(|(own, _)| own == tool) {
            Some((_, old)) => *old = text,
            None => self.observed.push((tool.to_owned(), text)),
        }
    }

    /// Begins another goal.
    pub(super) fn begin(&mut self, goal: &str) {
        goal.clone_into(&mut self.goal);
        self.read.clear();
        self.past.clear();
        self.of_step.clear();
        self.used.clear();
        self.tried.clear();
        self.void();
        // What is shown may answer a question at once: a plan for it would only look around.
        self.has_planned = is_question(goal);
    }

    fn void(&mut self) {
        self.step = StepState::Void;
        self.has_planned = false;
        self.reminder = None;
        self.was_reminded_of_goal = false;
    }

    /// Takes a message of the person's, which may change the plan.
    pub(super) fn take_message(&mut self, text: &str) {
        self.note(text);
        self.void();
    }

    /// Takes a turn of the model's. Returns whether it was asked for a plan.
    pub(super) fn take_turn(&mut self) -> bool {
        !self.shown.actions.is_empty() && !std::mem::replace(&mut self.has_planned, true)
    }

    /// What has become of the plan since the last call, with its running step. Without choices, the model says it itself.
    pub(super) fn plan_change(&mut self, step: Option<&str>) -> Option<PlanChange> {
        if self.shown.actions.is_empty() {
            return None;
        }
        let keeps = self.keep_step(step);
        let change = match self.step {
            StepState::Open => return None,
            StepState::Missed(times) if times < MOST_MISSED => return None,
            StepState::Done if keeps => None,
            StepState::Missed(_) | StepState::Done => Some(PlanChange::StepOver),
            StepState::Void => Some(PlanChange::Void),
        };
        if change.is_some() {
            self.of_step.clear();
            self.reminder = None;
        }
        self.step = StepState::Open;
        change
    }

    fn miss(&mut self) {
        self.step = match self.step {
            StepState::Open => StepState::Missed(1),
            StepState::Missed(times) => StepState::Missed(times + 1),
            other => other,
        };
    }

    /// Takes the actions that fit, a field of an observation's result. After a failed observation, none is known to fit.
    pub(super) fn offer(&mut self, result: Option<&RawValue>, field: &str) {
        let shown = result
            .and_then(|result| serde_json::from_str::<Value>(result.get()).ok())
            .and_then(|mut result| serde_json::from_value::<ShownChoices>(result.get_mut(field)?.take()).ok());
        let shown = shown.unwrap_or_default();
        let names = |of: &ShownChoices| -> HashSet<String> {
            of.actions.iter().flat_map(|action| action.elements.keys().cloned()).collect()
        };
        let (before, now) = (names(&self.shown), names(&shown));
        if before != now {
            self.tried.clear();
        }
        self.shown = shown;
    }

    /// Takes a call of the model's, and its error or what it has read.
    pub(super) fn acted(&mut self, tool: &str, arguments: &str, outcome: Result<Option<&str>, &str>) {
        let given: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
        let of_call = |action: &ActionChoice| {
            let (element, text) = action.element_of(tool, &given)?;
            let line = action.past.replace("{element}", element).replace("{text}", text.unwrap_or_default());
            let option = text.filter(|_| action.several).map(str::to_owned);
            let (verb, element) = (action.verb.clone(), element.to_owned());
            Some((line, Tried { verb, element, has_text: action.text.is_some(), option }))
        };
        let found = self.shown.actions.iter().find_map(of_call);
        self.last = found.as_ref().map(|(_, tried)| tried.clone());
        self.before = self.view();
        let line = match found {
            Some((line, tried)) => {
                // The error says how a text is written, so it may be tried again, once.
                if outcome.is_ok() || !tried.has_text || self.step != StepState::Open {
                    self.tried.push(tried);
                }
                line
            }
            None => format!("Called {tool} {}", cut(arguments, MOST_OF_ERROR)),
        };
        self.read.clear();
        match outcome {
            Ok(read) => {
                if !self.shown.actions.is_empty() {
                    self.of_step.push(line.to_lowercase());
                    self.used.push(line.to_lowercase());
                    let first = self.used.len().saturating_sub(MOST_LINES);
                    self.used.drain(..first);
                }
                self.note(&line);
                self.read = read.map(|text| data(tool, &cut(&plain(text), MOST_OF_RESULT))).unwrap_or_default();
            }
            Err(why) => {
                self.note(&format!("{line}: this failed: {}", cut(why, MOST_OF_ERROR)));
                self.miss();
            }
        }
    }

    /// Takes what the last action has changed. A field that was written is not offered again as long as the page has the same elements, and
    /// neither is an action that has changed nothing of what is shown, whatever the world says.
    pub(super) fn take_change(&mut self, is_unchanged: bool) {
        let looks_same = self.before == self.view();
        if is_unchanged {
            // A field that has the text already is as it should be.
            if self.last.as_ref().is_some_and(|last| last.has_text) && self.step != StepState::Void {
                self.step = StepState::Done;
            } else {
                self.miss();
            }
            if let Some(last) = self.past.last_mut() {
                last.push_str(" (nothing changed)");
            }
        } else {
            if !looks_same {
                self.tried.retain(|tried| tried.has_text);
            }
            if self.step != StepState::Void {
                self.step = StepState::Done;
            }
        }
    }

    fn view(&self) -> WorldView {
        (self.observed.clone(), self.shown.shown.clone())
    }

    /// Adds a line to what was done.
    pub(super) fn note(&mut self, line: &str) {
        if self.past.len() == MOST_LINES {
            self.past.remove(0);
        }
        self.past.push(line.to_owned());
    }

    /// The field of a request; `None` if the world offers no choices. `step` is the next one of the plan; `closing` asks for words in place
    /// of an action.
    pub(super) fn json(
        &self,
        goal: &str,
        step: Option<&str>,
        profile: &Profile,
        closing: Option<&str>,
    ) -> Option<String> {
        if self.shown.actions.is_empty() {
            return None;
        }
        let wants_plan = step.is_none() && !self.has_planned && closing.is_none();
        let step = self.reminder.as_deref().or(step);
        let mut prompt = if wants_plan { String::new() } else { self.world() };
        prompt.push_str(&format!("The goal: {goal}\n"));
        if !self.past.is_empty() {
            prompt.push_str("\nDone so far:\n");
            self.past.iter().enumerate().for_each(|(at, line)| prompt.push_str(&format!("{}. {line}\n", at + 1)));
        }
        let named = self.named(step.unwrap_or(goal));
        if closing.is_none() && !wants_plan && !named.is_empty() {
            let of = if step.is_some() { "step" } else { "goal" };
            prompt.push_str(&format!("\nElements with words of the {of}:\n"));
            named.iter().for_each(|line| prompt.push_str(&format!("- {line}\n")));
        }
        prompt
            .push_str(&format!("\n{}", closing.unwrap_or(if wants_plan { "The steps:" } else { "The next action:" })));
        let mut actions = self.shown.actions.clone();
        for action in &mut actions {
            let mut elements = std::mem::take(&mut action.elements);
            elements.retain(|element, _| !self.has_tried(action, element, None));
            let mut texts = std::mem::take(&mut action.texts);
            if let Some(element) = elements.keys().next().filter(|_| action.several) {
                let any = texts.is_empty();
                texts.retain(|text| !self.has_tried(action, element, Some(text)));
                if texts.is_empty() && !any {
                    elements.clear();
                }
            }
            (action.elements, action.texts) = (elements, texts);
        }
        let example = match wants_plan {
            true => &profile.small_plan_example,
            false if is_question(goal) => &profile.small_answer_example,
            false => &profile.small_example,
        };
        let (system, example) = (profile.small_system.clone(), example.clone());
        let (has_begun, step) = (!self.past.is_empty() || is_question(goal), step.map(str::to_owned));
        let choices = Choices { system, example, prompt, wants_plan, has_begun, step, actions };
        serde_json::to_string(&choices).ok()
    }

    /// What the world shows, and what the last call has read.
    fn world(&self) -> String {
        let texts = self.observed.iter().map(|(_, text)| text.clone());
        let list = self.shown.shown.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n");
        let read = Some(self.read.clone()).filter(|read| !read.is_empty());
        texts.chain([data("elements", &list)]).chain(read).map(|text| format!("{text}\n\n")).collect()
    }

    /// The lines that have words of this text, those with rare words first; none if all have.
    fn named(&self, text: &str) -> Vec<&str> {
        let wanted = words(text);
        let lines: Vec<(&str, BTreeSet<String>)> = self
            .shown
            .shown
            .iter()
            .map(|line| {
                // The first word is what kind of an element it is.
                (&**line, words(line.split_once(' ').map_or("", |(_, name)| name)))
            })
            .collect();
        let weight = |word: &String| 1.0 / lines.iter().filter(|(_, own)| own.contains(word)).count() as f64;
        let weighed = lines.iter().map(|(line, own)| (*line, wanted.intersection(own).map(weight).sum::<f64>()));
        let mut named: Vec<(&str, f64)> = weighed.filter(|(_, weight)| *weight > 0.0).collect();
        if named.len() == lines.len() {
            return Vec::new();
        }
        named.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        named.into_iter().take(MOST_NAMED).map(|(line, _)| line).collect()
    }
}

/// An object of texts and lists of texts without the signs of JSON; anything else as it is.
fn plain(text: &str) -> String {
    let Ok(Value::Object(object)) = serde_json::from_str(text) else { return text.to_owned() };
    let member = |(name, value): (&String, &Value)| match value {
        Value::String(text) => text.clone(),
        Value::Array(list) if list.iter().all(Value::is_string) => {
            let lines = list.iter().filter_map(Value::as_str).map(|line| format!("- {line}"));
            lines.collect::<Vec<_>>().join("\n")
        }
        _ => format!("{name}: {value}"),
    };
    object.iter().map(member).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
