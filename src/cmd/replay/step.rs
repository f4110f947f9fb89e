//! Stepping through a recording and stopping at breaks, with keys from the terminal.

use super::feed::FeedItem;
use pipewright_io::report::Report;
use pipewright_sys::terminal::Keys;
use std::sync::Arc;

/// Asks at the terminal how to continue.
pub struct Stepper {
    pub keys: Keys,
    pub report: Arc<Report>,
    /// Whether it asks before every message, and not only at matches of `--break`.
    pub every: bool,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepAnswer {
    /// Play this message.
    Next,
    /// Play everything to the end, or to the next break.
    Run,
    /// Stop.
    Quit,
}

impl Stepper {
    /// Whether to ask before this message.
    pub fn stops_at(&self, item: &FeedItem) -> bool {
        self.every || item.is_break
    }

    /// Shows the message that comes next, and waits for a key.
    pub fn ask(&mut self, place: &str, item: &FeedItem, bytes: &[u8]) -> StepAnswer {
        let direction = item.direction.map_or("", |direction| direction.name());
        let text = String::from_utf8_lossy(bytes);
        let room = self.keys.width().saturating_sub(place.len() + 20).max(20);
        let shown: String = text.trim_end().chars().take(room).collect();
        self.report.say(format_args!("{place}: {direction} {shown}"));
        self.report.say("n next, r run on, q quit");
        let answer = loop {
            match self.keys.wait() {
                Some(b'n' | b' ' | b'\n') => break StepAnswer::Next,
                Some(b'r') => break StepAnswer::Run,
                Some(b'q') | None => break StepAnswer::Quit,
                Some(_) => {}
            }
        };
        self.every = answer == StepAnswer::Next;
        answer
    }
}
