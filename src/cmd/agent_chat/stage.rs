//! The stage: the person on the near side, the agent on the far side, and gates as clients.

use super::chat::{Chat, TICK};
use crate::io::child::{describe, exit_code};
use crate::io::lines::{Piece, text};
use crate::io::report::{Failure, Status};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::io::terminal::width;
use crate::record::ListTools;
use std::time::{Duration, Instant};

/// A gate that holds a call asks here within this time, if it does at all.
const ASKED_HERE: Duration = Duration::from_secs(2);

/// An agent that does not list its tools within this time never does.
const LISTED: Duration = Duration::from_secs(10);

/// So many lines of stdin may wait.
const WAITING: usize = 64;

impl Chat {
    fn take(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started => {
                self.starting_until = Some(Instant::now() + LISTED);
                self.send(&ListTools { request_id: None }.record(), out);
            }
            Event::Piece(Side::Far, Piece::Line(line)) if !line.is_blank() => {
                self.take_record(&text(line.body()), line.number(), out);
            }
            Event::Piece(Side::Far, Piece::Part { number, last: true, .. }) => {
                self.note(&format!("agent:{number}: a record longer than --max-line is left out"), out);
            }
            Event::Piece(Side::FarError, Piece::Line(line)) => match self.display.is_terminal() {
                true => self.note(&text(line.body()), out),
                false => out.add_line(Side::FarError, &text(line.body())),
            },
            Event::Piece(Side::Near, Piece::Line(line)) if out.near() == 0 => {
                self.lines.push_back((line.number(), text(line.body()).into_owned()));
            }
            Event::Piece(Side::Near, Piece::Part { last: true, number, .. }) if out.near() == 0 => {
                self.report.fault(format_args!("stdin:{number}"), "longer than --max-line");
            }
            Event::Closed(Side::Near) if out.near() == 0 => self.has_input_ended = true,
            Event::Piece(Side::Answers, Piece::Line(line)) => {
                let input = self.display.terminal().and_then(|terminal| terminal.take(&text(line.body())));
                if let Some(input) = input {
                    self.take_input(input, out)?;
                }
            }
            Event::Exited(status) => {
                if !self.is_closing {
                    self.note(&format!("the agent has ended: {}", describe(status)), out);
                }
                out.stop(if status.success() { self.report.finish() } else { Status::Child(exit_code(status)) });
            }
            Event::Due => {
                self.starting_until = self.starting_until.filter(|until| *until > Instant::now());
                if self.held.is_none() && self.held_elsewhere.is_some_and(|since| since.elapsed() >= ASKED_HERE) {
                    self.held_elsewhere = None;
                    self.note("a gate holds a call, and asks somewhere else", out);
                }
            }
            event => {
                if let Some((_, change)) = self.gates.take(&event, out) {
                    self.take_change(change, out);
                }
            }
        }
        Ok(())
    }
}

impl Stage for Chat {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        self.take(event, out)?;
        self.take_waiting_lines(out);
        if self.display.is_terminal() {
            let now = Instant::now();
            let due = self.next_tick.filter(|tick| *tick > now).unwrap_or(now + TICK);
            self.next_tick = self.is_working().then_some(due);
            let lines = self.live(width(std::io::stdout()));
            if let Some(terminal) = self.display.terminal() {
                terminal.show_live(lines);
            }
            if !out.stopped() {
                self.prompt();
            }
        } else {
            out.choose_near(0);
            out.hold_near(self.lines.len() > WAITING);
        }
        Ok(())
    }

    fn end(&mut self, _out: &Out) {
        if let Some(terminal) = self.display.terminal() {
            terminal.close();
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let turns = self.next_tick;
        let elsewhere = self.held_elsewhere.filter(|_| self.held.is_none()).map(|since| since + ASKED_HERE);
        turns.into_iter().chain(elsewhere).chain(self.starting_until).min()
    }
}
