//! Stepping through a recording and stopping at breaks, with keys from the terminal.

use super::feed::Item;
use crate::io::keys::Keys;
use crate::io::report::Report;
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
pub enum Answer {
    /// Play this message.
    Next,
    /// Play everything to the end, or to the next break.
    Run,
    /// Stop.
    Quit,
}

impl Stepper {
    /// Whether to ask before this message.
    pub fn stops_at(&self, item: &Item) -> bool {
        self.every || item.is_break
    }

    /// Shows the message that comes next, and waits for a key.
    pub fn ask(&mut self, place: &str, item: &Item, bytes: &[u8]) -> Answer {
        let direction = item.direction.map_or("", |direction| direction.name());
        let text = String::from_utf8_lossy(bytes);
        let room = self.keys.width().saturating_sub(place.len() + 20).max(20);
        let shown: String = text.trim_end().chars().take(room).collect();
        self.report.say(format_args!("{place}: {direction} {shown}"));
        self.report.say("n next, r run on, q quit");
        let answer = loop {
            match self.keys.wait() {
                Some(b'n' | b' ' | b'\n') => break Answer::Next,
                Some(b'r') => break Answer::Run,
                Some(b'q') | None => break Answer::Quit,
                Some(_) => {}
            }
        };
        self.every = answer == Answer::Next;
        answer
    }
}
