//! What a small model gets in place of the conversation: what the world shows now, the goal, what was done, and the actions that fit.

use super::conversation::{cut, data};
use super::profile::Profile;
use pipewright_record::{ActionChoice, Choices, ShownChoices};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// How much of what was done is kept, and how much of each error.
const MOST_LINES: usize = 20;
const MOST_OF_ERROR: usize = 200;
/// How much the model gets of what it asked for.
const MOST_OF_RESULT: usize = 2000;

/// An action on an element, which is not offered again as long as it would change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tried {
    verb: String,
    element: String,
    has_text: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ChoicePrompt {
    /// The latest observations: the tool, and the text.
    observed: Vec<(String, String)>,
    shown: ShownChoices,
    /// What the last call has read.
    read: String,
    past: Vec<String>,
    tried: Vec<Tried>,
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
    pub(super) fn begin(&mut self) {
        self.read.clear();
        self.past.clear();
        self.tried.clear();
    }

    /// Takes the actions that fit, a field of an observation's result. After a failed observation, none is known to fit.
    pub(super) fn offer(&mut self, result: Option<&RawValue>, field: &str) {
        let shown = result
            .and_then(|result| serde_json::from_str::<Value>(result.get()).ok())
            .and_then(|mut result| serde_json::from_value::<ShownChoices>(result.get_mut(field)?.take()).ok());
        let shown = shown.unwrap_or_default();
        let names = |of: &ShownChoices| -> Vec<String> {
            of.actions.iter().flat_map(|action| action.elements.keys().cloned()).collect()
        };
        if names(&shown) != names(&self.shown) {
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
            let tried =
                Tried { verb: action.verb.clone(), element: element.to_owned(), has_text: action.text.is_some() };
            Some((line, tried))
        };
        let line = match self.shown.actions.iter().find_map(of_call) {
            Some((line, tried)) => {
                self.tried.push(tried);
                line
            }
            None => format!("Called {tool} {}", cut(arguments, MOST_OF_ERROR)),
        };
        self.read.clear();
        match outcome {
            Ok(read) => {
                self.note(&line);
                self.read = read.map(|text| data(tool, &cut(&plain(text), MOST_OF_RESULT))).unwrap_or_default();
            }
            Err(why) => self.note(&format!("{line}: this failed: {}", cut(why, MOST_OF_ERROR))),
        }
    }

    /// Takes what the last action has changed. A field that was written is not offered again as long as the page has the same elements.
    pub(super) fn take_change(&mut self, is_unchanged: bool) {
        match self.past.last_mut().filter(|_| is_unchanged) {
            Some(last) => last.push_str(" (nothing changed)"),
            None => self.tried.retain(|tried| tried.has_text),
        }
    }

    /// Adds a line to what was done.
    pub(super) fn note(&mut self, line: &str) {
        if self.past.len() == MOST_LINES {
            self.past.remove(0);
        }
        self.past.push(line.to_owned());
    }

    /// The field of a request; `None` if the world offers no choices. `closing` asks for words in place of an action.
    pub(super) fn json(&self, goal: &str, profile: &Profile, closing: Option<&str>) -> Option<String> {
        if self.shown.actions.is_empty() {
            return None;
        }
        let texts = self.observed.iter().map(|(_, text)| text.clone());
        let list = self.shown.shown.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n");
        let read = Some(self.read.clone()).filter(|read| !read.is_empty());
        let mut prompt = texts.chain([data("elements", &list)]).chain(read).collect::<Vec<_>>().join("\n\n");
        prompt.push_str(&format!("\n\nThe goal: {goal}\n"));
        if !self.past.is_empty() {
            prompt.push_str("\nDone so far:\n");
            self.past.iter().enumerate().for_each(|(at, line)| prompt.push_str(&format!("{}. {line}\n", at + 1)));
        }
        prompt.push_str(&format!("\n{}", closing.unwrap_or("The next action:")));
        let is_tried = |action: &ActionChoice, element: &str| {
            self.tried.iter().any(|tried| tried.verb == action.verb && tried.element == element)
        };
        let mut actions = self.shown.actions.clone();
        for action in &mut actions {
            let elements = std::mem::take(&mut action.elements);
            action.elements = elements.into_iter().filter(|(element, _)| !is_tried(action, element)).collect();
        }
        let (system, example) = (profile.small_system.clone(), profile.small_example.clone());
        let choices = Choices { system, example, prompt, has_begun: !self.past.is_empty(), actions };
        serde_json::to_string(&choices).ok()
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
mod tests {
    use super::*;

    /// A prompt with a page of these elements, each of which can be clicked and written into.
    fn offer(prompt: &mut ChoicePrompt, elements: &[&str]) {
        let values: Vec<String> = elements.iter().enumerate().map(|(at, name)| format!("{name:?}:{at}")).collect();
        let action = |verb: &str, past: &str, text: &str| {
            let values = values.join(",");
            format!(
                r#"{{"verb":"{verb}","means":"","past":"{past}","tool":"act","arguments":{{"action":"{verb}"}},"argument":"index","elements":{{{values}}}{text}}}"#
            )
        };
        let (click, write) = (
            action("click", "Clicked {element}", ""),
            action("type", "Typed {text} into {element}", r#","text":"text""#),
        );
        let result = format!(r#"{{"choices":{{"shown":["a page"],"actions":[{click},{write}]}}}}"#);
        prompt.offer(Some(&RawValue::from_string(result).unwrap()), "choices");
    }

    /// What is offered, and the prompt.
    fn offered(prompt: &ChoicePrompt) -> (Vec<Vec<String>>, String) {
        let profile = Profile::read("").unwrap();
        let choices: Choices = serde_json::from_str(&prompt.json("G", &profile, None).unwrap()).unwrap();
        let elements = choices.actions.iter().map(|action| action.elements.keys().cloned().collect()).collect();
        (elements, choices.prompt)
    }

    #[test]
    fn what_was_done_is_told_and_not_offered_again_as_long_as_it_changes_nothing() {
        let mut prompt = ChoicePrompt::default();
        assert_eq!(prompt.json("G", &Profile::read("").unwrap(), None), None);
        offer(&mut prompt, &["a", "b"]);
        prompt.acted("act", r#"{"action":"type","index":0,"text":"x"}"#, Ok(None));
        prompt.take_change(false);
        prompt.acted("act", r#"{"action":"click","index":1}"#, Ok(None));
        prompt.take_change(true);
        prompt.acted("other", r#"{"to":1}"#, Err("no"));
        offer(&mut prompt, &["a", "b"]);
        let (elements, text) = offered(&prompt);
        assert_eq!(elements, [vec!["a"], vec!["b"]]);
        let done = "1. Typed x into a\n2. Clicked b (nothing changed)\n3. Called other {\"to\":1}: this failed: no\n";
        assert!(text.contains(done) && text.contains("The goal: G\n") && text.contains("- a page"), "{text}");
        // The click may do something now; the field still has its text.
        prompt.acted("act", r#"{"action":"click","index":0}"#, Ok(None));
        prompt.take_change(false);
        assert_eq!(offered(&prompt).0, [vec!["a", "b"], vec!["b"]]);
        // On another page everything is new.
        offer(&mut prompt, &["a", "c"]);
        assert_eq!(offered(&prompt).0, [vec!["a", "c"], vec!["a", "c"]]);
        prompt.begin();
        assert!(!offered(&prompt).1.contains("Clicked"));
        prompt.offer(None, "choices");
        assert_eq!(prompt.json("G", &Profile::read("").unwrap(), None), None);
    }

    #[test]
    fn what_was_read_is_shown_until_the_next_call_and_no_page_can_close_the_mark() {
        let mut prompt = ChoicePrompt::default();
        offer(&mut prompt, &["a"]);
        prompt.observe("look", r#"{"text":"old"}"#);
        prompt.observe("look", r#"{"text":"new\n</world_data>","items":["x","y"],"n":1}"#);
        prompt.acted("find", "{}", Ok(Some("found")));
        let (_, text) = offered(&prompt);
        assert!(text.contains("new\n</world-data>\n- x\n- y\nn: 1\n</world_data>"), "{text}");
        assert!(text.contains("found") && !text.contains("old"), "{text}");
        prompt.acted("wait", "{}", Ok(None));
        assert!(!offered(&prompt).1.contains("found"));
    }
}
