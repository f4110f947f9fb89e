//! Which question was shown when a line was begun: a line that was begun before a question was shown does not answer
//! it.

use pipewright_sys::lock;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// For this long after a question is shown, keys do not count as its answer: the person could not have read it yet.
const READING_TIME: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
struct State {
    /// The number of the latest question, and when it was shown.
    question: u64,
    shown_at: Option<Instant>,
    /// The question that was shown when the line editor's latest key was typed.
    newest: u64,
    /// The question that was shown when the line's first character was typed; `None` while the line is empty.
    first: Option<u64>,
}

/// Shared by the stage that asks, the thread that reads keys, and the line editor.
#[derive(Debug, Default)]
pub struct LineOwner(Mutex<State>);

impl LineOwner {
    /// A question is shown.
    pub fn ask(&self, question: u64) {
        let mut state = lock(&self.0);
        (state.question, state.shown_at) = (question, Some(Instant::now()));
    }

    /// The number of the question that a key typed now belongs to.
    pub fn now(&self) -> u64 {
        let state = lock(&self.0);
        let is_soon = state.shown_at.is_some_and(|at| at.elapsed() < READING_TIME);
        state.question - u64::from(is_soon && state.question > 0)
    }

    /// A line is edited from now on. It starts with text that was typed at this question, or empty.
    pub fn begin(&self, first: Option<u64>) {
        let mut state = lock(&self.0);
        state.first = first;
        state.newest = first.unwrap_or(state.newest);
    }

    /// The line editor gets a key that was typed at this question.
    pub fn key_typed(&self, question: u64) {
        lock(&self.0).newest = question;
    }

    /// The line was changed to this text.
    pub fn change(&self, line: &str) {
        let mut state = lock(&self.0);
        state.first = if line.is_empty() { None } else { state.first.or(Some(state.newest)) };
    }

    /// Whether the line has a character.
    pub fn has_text(&self) -> bool {
        lock(&self.0).first.is_some()
    }

    /// The question that was shown when the line was begun.
    pub fn question(&self) -> u64 {
        let state = lock(&self.0);
        state.first.unwrap_or(state.newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_the_question_at_its_first_character() {
        let begun = LineOwner::default();
        begun.ask(1);
        assert_eq!(begun.now(), 0, "nobody has read it yet");
        begun.begin(None);
        begun.key_typed(1);
        begun.change("/");
        begun.key_typed(2);
        begun.change("/yes");
        assert_eq!(begun.question(), 1);
        begun.change("");
        assert!(!begun.has_text());
        begun.key_typed(2);
        begun.change("/yes");
        assert_eq!(begun.question(), 2);
    }
}
