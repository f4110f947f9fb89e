//! A program that was asked and says nothing: the usual reason is that it doesn't flush its output.

use crate::io::report::Report;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// After so long it is said, once.
const LONG: Duration = Duration::from_secs(10);

/// Watches whether a wrapped program answers.
#[derive(Debug)]
pub(super) struct Silence {
    asked: Option<Instant>,
    said: bool,
    report: Arc<Report>,
}

impl Silence {
    pub(super) fn new(report: Arc<Report>) -> Silence {
        Silence { asked: None, said: false, report }
    }

    /// The program was asked, or asked again.
    pub(super) fn asked(&mut self) {
        self.asked.get_or_insert_with(Instant::now);
    }

    /// The program has answered, or isn't waited for any more.
    pub(super) fn answered(&mut self) {
        self.asked = None;
    }

    /// When [`Silence::due`] has something to say.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.asked.filter(|_| !self.said).map(|asked| asked + LONG)
    }

    /// Says that no answer came and how to flush, once the deadline has passed.
    pub(super) fn due(&mut self) {
        if self.deadline().is_some_and(|deadline| deadline <= Instant::now()) {
            self.said = true;
            self.report.say(format_args!(
                "no answer for {} s; a program that writes to a pipe must flush every line, as print(..., flush=True), `python3 -u` and `stdbuf -oL` do",
                LONG.as_secs()
            ));
        }
    }
}
