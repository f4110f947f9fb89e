//! A stage that plays by itself: one command after another, each chosen by what the last one gave.

use super::game::{Answer, Game, Heard, LEFT, NOT_ENDED};
use crate::io::lines::{Piece, text};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Event, Out, Side, Stage};
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

/// What comes next.
pub enum Step {
    /// A command, with its arguments.
    Ask(&'static str, Value),
    /// It is done, and whether well.
    Done(bool),
}

/// Chooses what is asked.
pub trait Script: Send {
    /// Takes the `data` of the last answer (null before the first), and says what is next; what people are to see is
    /// written to `show`.
    ///
    /// # Errors
    /// What is wrong with the answer.
    fn next(&mut self, data: &Value, show: &mut String) -> Result<Step, String>;
}

/// Plays a script with a game.
pub struct Puppet {
    pub game: Game,
    pub script: Box<dyn Script>,
    /// Whether the game is ours to end.
    pub launched: bool,
    pub report: Arc<Report>,
    /// What was asked last.
    pub asked: &'static str,
}

impl Puppet {
    fn step(&mut self, data: &Value, out: &mut Out) -> Result<(), Failure> {
        let mut show = String::new();
        let step = self.script.next(data, &mut show);
        for line in show.lines() {
            out.to(Side::Near).extend_from_slice(crate::io::terminal::printable(line).as_bytes());
            out.to(Side::Near).push(b'\n');
        }
        match step {
            Ok(Step::Ask(command, arguments)) => {
                self.asked = command;
                self.game.ask(out, command, Some(&arguments.to_string()), None);
            }
            Ok(Step::Done(well)) => {
                if !well {
                    self.report.fail();
                }
                match self.launched {
                    true => self.game.quit(out),
                    false => out.stop(self.report.finish()),
                }
            }
            Err(why) => return Err(Failure::new(Status::Fault, format_args!("{}: {why}", self.asked))),
        }
        Ok(())
    }

    fn hear(&mut self, body: &str, number: u64, out: &mut Out) -> Result<(), Failure> {
        match self.game.hear(body, number) {
            Err(gone) => Err(self.game.failure(&gone)),
            Ok(Heard::Ready) => self.step(&Value::Null, out),
            Ok(Heard::Answer(Answer { response, .. })) if self.game.has_answered_quit() => {
                // How it ends is of interest still: it may crash.
                match response.ok {
                    true => self.game.close(NOT_ENDED),
                    false => out.stop(self.report.finish()),
                }
                Ok(())
            }
            Ok(Heard::Answer(Answer { response, .. })) if response.ok => {
                let data = response.get("data").map_or("null", |data| data.get());
                self.step(&serde_json::from_str(data).unwrap_or_default(), out)
            }
            Ok(Heard::Answer(Answer { response, .. })) => {
                let said = ["error", "hint"].into_iter().filter_map(|key| response.text(key)).collect::<Vec<_>>();
                Err(Failure::new(Status::Fault, format_args!("{}: {}", self.asked, said.join("; "))))
            }
            Ok(Heard::Events(_) | Heard::Nothing) => Ok(()),
        }
    }
}

impl Stage for Puppet {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started => self.game.greet(out),
            Event::Piece(Side::Far, Piece::Line(line)) => self.hear(&text(line.body()), line.number(), out)?,
            Event::Piece(Side::Far, Piece::Part { last: true, .. }) => {
                return Err(Failure::new(Status::Fault, format_args!("{}: the answer is too long", self.asked)));
            }
            Event::Piece(Side::FarError, piece) => self.game.print(&piece, out),
            Event::Closed(Side::Far) | Event::Broken(Side::Far, _) if self.launched => self.game.close(LEFT),
            Event::Closed(Side::Far) | Event::Broken(Side::Far, _) => {
                return Err(self.game.failure(&self.game.left()));
            }
            Event::Exited(status) => {
                let gone = self.game.exited(status);
                if !self.game.is_quitting() || gone.has_crashed() {
                    return Err(self.game.failure(&gone));
                }
                out.stop(self.report.finish());
            }
            Event::Due if self.game.has_answered_quit() => out.stop(self.report.finish()),
            Event::Due => {
                if let Some(gone) = self.game.overdue() {
                    return Err(self.game.failure(&gone));
                }
            }
            Event::Signal(_) | Event::Broken(Side::Near, _) if self.launched => self.game.quit(out),
            _ => {}
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        self.game.deadline()
    }
}
