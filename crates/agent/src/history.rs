//! A line for each step: for a new conversation, and for a report that the model does not give.

use std::collections::VecDeque;

/// The most steps that are kept.
const MAX_STEPS: usize = 60;

/// The most messages of the person that are kept.
const MESSAGES: usize = 40;

#[derive(Debug, Clone, Default)]
pub(super) struct History {
    lines: VecDeque<String>,
    /// The number of dropped lines.
    dropped: usize,
    /// The number of lines before the current message.
    earlier: usize,
    /// The person's messages.
    messages: VecDeque<String>,
}

impl History {
    pub(super) fn add(&mut self, line: String) {
        self.lines.push_back(line);
        if self.lines.len() > MAX_STEPS {
            self.lines.pop_front();
            self.dropped += 1;
        }
    }

    pub(super) fn add_message(&mut self, message: &str) {
        self.messages.push_back(message.to_owned());
        if self.messages.len() > MESSAGES {
            self.messages.pop_front();
        }
    }

    /// The person's messages in order, as a list.
    pub(super) fn messages(&self) -> String {
        self.messages.iter().map(|message| format!("- {message}\n")).collect()
    }

    /// The next message begins.
    pub(super) fn begin_message(&mut self) {
        self.earlier = self.dropped + self.lines.len();
    }

    /// All steps, as a list.
    pub(super) fn text(&self) -> String {
        self.since(0)
    }

    /// The steps of the current message.
    pub(super) fn of_message(&self) -> String {
        self.since(self.earlier)
    }

    fn since(&self, first: usize) -> String {
        let skipped = self.dropped.saturating_sub(first);
        let mut text = if skipped > 0 { format!("- ({skipped} steps before)\n") } else { String::new() };
        for line in self.lines.iter().skip(first.saturating_sub(self.dropped)) {
            text.push_str(&format!("- {line}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{History, MAX_STEPS};

    #[test]
    fn the_last_steps_are_kept_and_the_others_counted() {
        let mut history = History::default();
        (0..MAX_STEPS + 5).for_each(|step| history.add(step.to_string()));
        assert!(history.text().starts_with("- (5 steps before)\n- 5\n"), "{}", history.text());
        history.begin_message();
        assert_eq!(history.of_message(), "");
        history.add("a".to_owned());
        assert_eq!(history.of_message(), "- a\n");
        (0..MAX_STEPS + 1).for_each(|step| history.add(step.to_string()));
        assert!(history.of_message().starts_with("- (2 steps before)\n- 1\n"), "{}", history.of_message());
    }
}
