//! Plain playing: to stdout, each message at its time.

use super::feed::{Feeds, Item, Stop};
use super::step::{Answer, Stepper};
use crate::io::output::{Closed, Output};
use crate::io::report::{Failure, Report, Status};
use crate::journal::Direction;
use crate::replay::schedule::Schedule;
use std::time::{Duration, Instant};

/// How often a log that is followed is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Plays messages at their times.
pub struct Player<'r> {
    pub output: Output,
    pub schedule: Schedule,
    pub stepper: Option<Stepper>,
    pub follow: bool,
    pub report: &'r Report,
}

/// Lines that are in the middle of being played.
#[derive(Default)]
struct Open {
    /// Whose over-long line goes on.
    direction: Option<Direction>,
    is_open: bool,
    /// What the others said meanwhile.
    deferred: Vec<u8>,
}

impl Player<'_> {
    /// Plays everything.
    ///
    /// # Errors
    /// A log that can't be read, an stdout that can't be written ([`Status::Fault`]).
    pub fn play(mut self, feeds: &mut Feeds) -> Result<Status, Failure> {
        let ended = self.run(feeds);
        match ended.map_or_else(|stop| stop, |()| Stop::Drained) {
            Stop::Drained => {
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
        let mut clock = Clock { began: Instant::now() };
        loop {
            let output = self.output.clone();
            let (at, item) = match feeds.next(&mut || output.flush()) {
                Ok(next) => next,
                Err(Stop::Drained) if self.follow => {
                    self.output.flush().map_err(Stop::Closed)?;
                    std::thread::sleep(LOOK);
                    continue;
                }
                Err(stop) => return Err(stop),
            };
            let due = self.schedule.due(item.time);
            if let Some(stepper) = &mut self.stepper
                && stepper.stops_at(&item)
            {
                self.output.flush().map_err(Stop::Closed)?;
                let place = format!("{}:{}", feeds.name(at), item.line);
                if stepper.ask(&place, &item, feeds.bytes(at, &item)) == Answer::Quit {
                    return Ok(());
                }
                // What comes next is counted from here.
                clock.began = Instant::now().checked_sub(due).unwrap_or(clock.began);
            }
            self.wait_for(clock.began + due)?;
            self.write(feeds.bytes(at, &item), &item, &mut open).map_err(Stop::Closed)?;
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
    fn write(&self, bytes: &[u8], item: &Item, open: &mut Open) -> Result<(), Closed> {
        if open.is_open && open.direction != item.direction {
            open.deferred.extend_from_slice(bytes);
            return Ok(());
        }
        (open.is_open, open.direction) = (item.more, item.direction);
        self.output.write(|buffer| {
            buffer.extend_from_slice(bytes);
            if !item.more {
                buffer.append(&mut open.deferred);
            }
        })
    }
}

struct Clock {
    began: Instant,
}
