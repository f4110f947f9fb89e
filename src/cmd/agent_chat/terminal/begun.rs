//! Which question was on the terminal when a line was begun: a line that was begun before a question was shown does not answer it.

use std::sync::atomic::{AtomicU64, Ordering};

/// No character of the line is there yet.
const EMPTY: u64 = u64::MAX;

/// The number of the question, for the stage that asks, and for the line that is edited.
#[derive(Debug, Default)]
pub struct Begun {
    current: AtomicU64,
    /// When the line was begun.
    at_first: AtomicU64,
    /// When its editing was.
    at_start: AtomicU64,
}

impl Begun {
    /// A question is shown.
    pub fn ask(&self, question: u64) {
        self.current.store(question, Ordering::Relaxed);
    }

    /// The question that was shown last.
    pub fn current(&self) -> u64 {
        self.current.load(Ordering::Relaxed)
    }

    /// A line is edited from now on, which begins with this.
    pub fn begin(&self, line: &str) {
        self.at_start.store(self.current(), Ordering::Relaxed);
        self.at_first.store(EMPTY, Ordering::Relaxed);
        self.change(line);
    }

    /// The line has become this.
    pub fn change(&self, line: &str) {
        if line.is_empty() {
            self.at_first.store(EMPTY, Ordering::Relaxed);
        } else if self.at_first.load(Ordering::Relaxed) == EMPTY {
            self.at_first.store(self.current(), Ordering::Relaxed);
        }
    }

    /// The question that was shown when the line was begun.
    pub fn question(&self) -> u64 {
        match self.at_first.load(Ordering::Relaxed) {
            EMPTY => self.at_start.load(Ordering::Relaxed),
            question => question,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_the_question_at_its_first_character() {
        let begun = Begun::default();
        begun.begin("");
        begun.ask(1);
        begun.change("/");
        begun.ask(2);
        begun.change("/yes");
        assert_eq!(begun.question(), 1);
        begun.change("");
        begun.change("/yes");
        assert_eq!(begun.question(), 2);
        begun.begin("/y");
        begun.ask(3);
        assert_eq!(begun.question(), 2);
    }
}
