//! Plain playing: to stdout, each message at its time.

use super::feed::{Feeds, Item, Stop};
use super::step::{Answer, Stepper};
use crate::io::output::{Closed, Output};
use crate::io::report::{Failure, Report, Status};
use crate::journal::Direction;
use crate::replay::schedule::Schedule;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How often a log that is followed is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Plays messages at their times.
pub struct Player<'r> {
    pub output: Output,
    pub schedule: Schedule,
    pub stepper: Option<Stepper>,
    pub report: &'r Report,
}

/// Who says something: a log, and a direction in it.
type Who = (usize, Option<Direction>);

/// Over-long lines that are in the middle of being played.
#[derive(Default)]
struct Open {
    /// Whose line goes on.
    who: Option<Who>,
    /// What the others said meanwhile.
    deferred: VecDeque<Saying>,
    bytes: usize,
}

struct Saying {
    who: Who,
    bytes: Vec<u8>,
    /// It begins a line, whatever was said before.
    begins: bool,
    /// The line goes on.
    more: bool,
}

/// So much may be said while somebody's line goes on; then it is ended where it is.
const MOST_DEFERRED: usize = 16 << 20;

impl Player<'_> {
    /// Plays everything.
    ///
    /// # Errors
    /// A log that can't be read, an stdout that can't be written ([`Status::Fault`]).
    pub fn play(mut self, feeds: &mut Feeds) -> Result<Status, Failure> {
        let ended = self.run(feeds);
        match ended.map_or_else(|stop| stop, |()| Stop::Drained) {
            Stop::Drained | Stop::Waiting => {
                self.output.flush().map_or_else(|closed| closed.end(self.report), |()| Ok(self.report.finish()))
            }
            Stop::Closed(closed) => closed.end(self.report),
            Stop::Failed(failure) => {
                let _ = self.output.flush();
                self.report.finish();
                Err(failure)
            }
        }
    }

    fn run(&mut self, feeds: &mut Feeds) -> Result<(), Stop> {
        let mut open = Open::default();
        // Reading up to the first message takes its time, which isn't to be caught up with.
        let mut began = None;
        loop {
            let output = self.output.clone();
            let (at, item) = match feeds.next(&mut || output.flush()) {
                Ok(next) => next,
                Err(Stop::Waiting) => {
                    self.output.flush().map_err(Stop::Closed)?;
                    std::thread::sleep(LOOK);
                    continue;
                }
                Err(stop) => {
                    self.output.write(|buffer| open.finish(buffer)).map_err(Stop::Closed)?;
                    return Err(stop);
                }
            };
            let due = self.schedule.due(item.time);
            let began = began.get_or_insert_with(Instant::now);
            if let Some(stepper) = &mut self.stepper
                && stepper.stops_at(&item)
            {
                self.output.flush().map_err(Stop::Closed)?;
                let place = format!("{}:{}", feeds.name(at), item.line);
                if stepper.ask(&place, &item, feeds.bytes(at, &item)) == Answer::Quit {
                    return Ok(());
                }
                // What comes next is counted from here.
                *began = Instant::now().checked_sub(due).unwrap_or(*began);
            }
            self.wait_for(*began + due)?;
            self.write((at, item.direction), feeds.bytes(at, &item), &item, &mut open).map_err(Stop::Closed)?;
        }
    }

    fn wait_for(&self, due: Instant) -> Result<(), Stop> {
        while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.output.flush().map_err(Stop::Closed)?;
            std::thread::sleep(left);
        }
        Ok(())
    }

    /// Nobody else's line comes into the middle of an over-long one.
    fn write(&self, who: Who, bytes: &[u8], item: &Item, open: &mut Open) -> Result<(), Closed> {
        if open.who.is_none() && !item.more {
            return self.output.write(|buffer| buffer.extend_from_slice(bytes));
        }
        let saying = Saying { who, bytes: bytes.to_vec(), begins: item.begins, more: item.more };
        self.output.write(|buffer| {
            open.say(saying, buffer);
            if open.bytes > MOST_DEFERRED {
                open.end(buffer);
            }
        })
    }
}

impl Open {
    fn say(&mut self, saying: Saying, buffer: &mut Vec<u8>) {
        if saying.begins && self.who.is_some_and(|(log, _)| log == saying.who.0) {
            self.end(buffer);
        }
        if self.who.is_some_and(|who| who != saying.who) {
            self.bytes += saying.bytes.len();
            return self.deferred.push_back(saying);
        }
        buffer.extend_from_slice(&saying.bytes);
        self.who = saying.more.then_some(saying.who);
        if !saying.more {
            self.give_deferred(buffer);
        }
    }

    /// The rest of the line that goes on is missing, so the others no longer wait for it.
    fn end(&mut self, buffer: &mut Vec<u8>) {
        self.who = None;
        buffer.push(b'\n');
        self.give_deferred(buffer);
    }

    fn give_deferred(&mut self, buffer: &mut Vec<u8>) {
        self.bytes = 0;
        for saying in std::mem::take(&mut self.deferred) {
            self.say(saying, buffer);
        }
    }

    /// Nothing more will be said.
    fn finish(&mut self, buffer: &mut Vec<u8>) {
        while self.who.is_some() && !self.deferred.is_empty() {
            self.end(buffer);
        }
    }
}
