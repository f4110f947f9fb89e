//! Plays messages to stdout, each at its time.

use super::feed::{FeedItem, FeedStop, Feeds};
use super::step::{StepAnswer, Stepper};
use pipewright_io::output::{Output, OutputClosed};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_log::Direction;
use pipewright_replay::schedule::Schedule;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How often a followed log is checked for more.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(50);

/// Plays messages at their times.
pub struct Player<'r> {
    pub output: Output,
    pub schedule: Schedule,
    pub stepper: Option<Stepper>,
    pub report: &'r Report,
}

/// The source of a message: a log, and a direction in it.
type Source = (usize, Option<Direction>);

/// The over-long line that is being played, and the messages that wait for its end.
#[derive(Default)]
struct OpenLine {
    /// The source of the unfinished line.
    source: Option<Source>,
    /// Messages from other sources that came meanwhile.
    deferred: VecDeque<Fragment>,
    bytes: usize,
}

/// A line or a part of a line.
struct Fragment {
    source: Source,
    bytes: Vec<u8>,
    /// The fragment begins a line, even after an unfinished one.
    begins: bool,
    /// The line continues in the next fragment.
    more: bool,
}

/// The most bytes that wait for an unfinished line; after that the line is cut off.
const MAX_DEFERRED: usize = 16 << 20;

impl Player<'_> {
    /// Plays everything.
    ///
    /// # Errors
    /// [`Status::Fault`] if a log cannot be read or stdout cannot be written.
    pub fn play(mut self, feeds: &mut Feeds) -> Result<Status, Failure> {
        let ended = self.run(feeds);
        feeds.sum_up();
        match ended.map_or_else(|stop| stop, |()| FeedStop::Drained) {
            FeedStop::Drained | FeedStop::Waiting => {
                self.output.flush().map_or_else(|closed| closed.end(self.report), |()| Ok(self.report.finish()))
            }
            FeedStop::Closed(closed) => closed.end(self.report),
            FeedStop::Failed(failure) => {
                let _ = self.output.flush();
                self.report.finish();
                Err(failure)
            }
        }
    }

    fn run(&mut self, feeds: &mut Feeds) -> Result<(), FeedStop> {
        let mut open = OpenLine::default();
        // The time begins with the first message: reading up to it may take long.
        let mut began = None;
        loop {
            let output = self.output.clone();
            let (at, item) = match feeds.next(&mut || output.flush()) {
                Ok(next) => next,
                Err(FeedStop::Waiting) => {
                    self.output.flush().map_err(FeedStop::Closed)?;
                    std::thread::sleep(FOLLOW_INTERVAL);
                    continue;
                }
                Err(stop) => {
                    self.output.write(|buffer| open.finish(buffer)).map_err(FeedStop::Closed)?;
                    return Err(stop);
                }
            };
            let due = self.schedule.due(item.time);
            let began = began.get_or_insert_with(Instant::now);
            if let Some(stepper) = &mut self.stepper
                && stepper.stops_at(&item)
            {
                self.output.flush().map_err(FeedStop::Closed)?;
                let place = format!("{}:{}", feeds.name(at), item.line);
                if stepper.ask(&place, &item, feeds.bytes(at, &item)) == StepAnswer::Quit {
                    return Ok(());
                }
                // Later messages are timed from the answer.
                *began = Instant::now().checked_sub(due).unwrap_or(*began);
            }
            self.wait_for(*began + due)?;
            self.write((at, item.direction), feeds.bytes(at, &item), &item, &mut open).map_err(FeedStop::Closed)?;
        }
    }

    fn wait_for(&self, due: Instant) -> Result<(), FeedStop> {
        while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.output.flush().map_err(FeedStop::Closed)?;
            std::thread::sleep(left);
        }
        Ok(())
    }

    /// Keeps the parts of an over-long line together, without lines of other sources in between.
    fn write(&self, source: Source, bytes: &[u8], item: &FeedItem, open: &mut OpenLine) -> Result<(), OutputClosed> {
        if open.source.is_none() && !item.more {
            return self.output.write(|buffer| buffer.extend_from_slice(bytes));
        }
        let fragment = Fragment { source, bytes: bytes.to_vec(), begins: item.begins, more: item.more };
        self.output.write(|buffer| {
            open.push(fragment, buffer);
            if open.bytes > MAX_DEFERRED {
                open.end(buffer);
            }
        })
    }
}

impl OpenLine {
    fn push(&mut self, fragment: Fragment, buffer: &mut Vec<u8>) {
        if fragment.begins && self.source.is_some_and(|(log, _)| log == fragment.source.0) {
            self.end(buffer);
        }
        if self.source.is_some_and(|source| source != fragment.source) {
            self.bytes += fragment.bytes.len();
            return self.deferred.push_back(fragment);
        }
        buffer.extend_from_slice(&fragment.bytes);
        self.source = fragment.more.then_some(fragment.source);
        if !fragment.more {
            self.give_deferred(buffer);
        }
    }

    /// Ends the unfinished line, whose rest is missing, and plays the messages that waited for it.
    fn end(&mut self, buffer: &mut Vec<u8>) {
        self.source = None;
        buffer.push(b'\n');
        self.give_deferred(buffer);
    }

    fn give_deferred(&mut self, buffer: &mut Vec<u8>) {
        self.bytes = 0;
        for fragment in std::mem::take(&mut self.deferred) {
            self.push(fragment, buffer);
        }
    }

    /// No more messages will come.
    fn finish(&mut self, buffer: &mut Vec<u8>) {
        while self.source.is_some() && !self.deferred.is_empty() {
            self.end(buffer);
        }
    }
}
