//! A child process that does not answer: the usual reason is that it does not flush its output.

use pipewright_io::report::Report;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A missing answer is reported, once, after this time.
const REPORT_AFTER: Duration = Duration::from_secs(10);

/// Watches whether a wrapped program answers.
#[derive(Debug)]
pub(super) struct SilenceWatch {
    asked: Option<Instant>,
    reported: bool,
    report: Arc<Report>,
}

impl SilenceWatch {
    pub(super) fn new(report: Arc<Report>) -> SilenceWatch {
        SilenceWatch { asked: None, reported: false, report }
    }

    /// A request was sent to the program, or sent again.
    pub(super) fn asked(&mut self) {
        self.asked.get_or_insert_with(Instant::now);
    }

    /// The program has answered, or no answer is awaited any more.
    pub(super) fn answered(&mut self) {
        self.asked = None;
    }

    /// When [`SilenceWatch::due`] is to be called.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.asked.filter(|_| !self.reported).map(|asked| asked + REPORT_AFTER)
    }

    /// Reports that no answer came, and how to flush, once the deadline has passed.
    pub(super) fn due(&mut self) {
        if self.deadline().is_some_and(|deadline| deadline <= Instant::now()) {
            self.reported = true;
            self.report.say(format_args!(
                "no answer for {} s; a program that writes to a pipe must flush every line: use print(..., \
                 flush=True), `python3 -u` or `stdbuf -oL`",
                REPORT_AFTER.as_secs()
            ));
        }
    }
}
