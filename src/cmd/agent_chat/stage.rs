//! The stage: the person on the near side, the agent on the far side, gates as clients.

use super::chat::{Chat, TICK};
use super::display::Display;
use super::style::Style;
use pipewright_io::printable::printable;
use pipewright_io::report::{Failure, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Piece, text};
use pipewright_record::{ListTools, Record};
use pipewright_sys::process::{describe, exit_code};
use pipewright_sys::terminal::{height, width};
use std::io::stdout;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// A gate that asks here does so within this time of holding a call.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the agent may take to list its tools.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes of stdin that are queued until the agent waits for the person.
const MAX_QUEUED_INPUT: usize = 1 << 20;

/// How long an agent may run after it has closed its stdout; then it is ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The shortest time between two drawings of the changing lines.
const DRAW_INTERVAL: Duration = Duration::from_millis(50);

impl Chat {
    fn take(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started(_) => {
                self.starting_until = Some(Instant::now() + LIST_TIMEOUT);
                self.send(&ListTools { request_id: None }.json(), out);
            }
            Event::Piece(Side::FAR, Piece::Line(line)) if !line.is_blank() => {
                self.take_record(&text(line.body()), line.number(), out);
            }
            Event::Piece(Side::FAR, Piece::Part { number, last: true, .. }) => {
                self.note(&format!("agent:{number}: skipped a record longer than --max-line"), out);
            }
            Event::Piece(Side::FAR_ERROR, Piece::Line(line)) => match self.display.is_terminal() {
                true => self.note(&text(line.body()), out),
                false => out.add_line(Side::FAR_ERROR, &printable(&text(line.body()))),
            },
            Event::Piece(Side::NEAR, Piece::Line(line)) => {
                self.script.lines.push_back((line.number(), text(line.body()).into_owned()));
            }
            Event::Piece(Side::NEAR, Piece::Part { last: true, number, .. }) => {
                self.report.fault(format_args!("stdin:{number}"), "longer than --max-line");
            }
            Event::Closed(Side::NEAR) => self.script.has_ended = true,
            Event::Piece(Side::Answers, Piece::Line(line)) => {
                let input = self.display.terminal().and_then(|terminal| terminal.take(&text(line.body())));
                if let Some(input) = input {
                    self.take_input(input, out)?;
                }
            }
            Event::Closed(Side::FAR) | Event::Broken(Side::FAR, _) => {
                self.closed_at = self.closed_at.or(Some(Instant::now()));
                out.close_far(0);
            }
            Event::Exited(_, status) => {
                self.take_exit(status, out);
            }
            Event::Due => {
                let now = Instant::now();
                self.starting_until = self.starting_until.filter(|until| *until > now);
                self.forget_untaken(out);
                let is_asked_here = self.asking.held.is_some() || !self.asking.answered.is_empty();
                if !is_asked_here && self.held_elsewhere.is_some_and(|since| since + QUESTION_TIMEOUT <= now) {
                    self.held_elsewhere = None;
                    self.note("a gate holds a call and asks somewhere else", out);
                }
                if self.closed_at.is_some_and(|at| at + EXIT_TIMEOUT <= now) {
                    self.report_unread();
                    self.farewell =
                        self.view.lines(Style::Bad, "the agent closed its stdin or stdout but does not end");
                    out.stop(Status::Lost);
                }
            }
            event => {
                if let Some((_, change)) = self.gates.take(event, out) {
                    self.take_change(change, out);
                }
            }
        }
        Ok(())
    }
}

impl Chat {
    fn take_exit(&mut self, status: ExitStatus, out: &mut Out) {
        if !self.script.is_closing {
            self.farewell = self.view.lines(Style::Dim, &format!("the agent ended: {}", describe(status)));
        }
        self.report_unread();
        out.stop(if status.success() { self.report.finish() } else { Status::Child(exit_code(status)) });
    }

    /// Reports queued lines of stdin, which are not carried out any more.
    fn report_unread(&mut self) {
        let unread = std::mem::take(&mut self.script.lines);
        for (number, _) in unread.into_iter().filter(|(_, line)| !line.trim().is_empty()) {
            self.report.fault(format_args!("stdin:{number}"), "not carried out: the agent has ended");
        }
    }

    /// Draws the changing lines, at most as often as a person can follow.
    fn draw(&mut self, out: &Out) {
        let now = Instant::now();
        let is_working = self.is_working();
        if !is_working || self.drawing.at.is_none_or(|at| at + DRAW_INTERVAL <= now) || self.drawing.is_due {
            let lines = self.live(width(stdout()), height(stdout()));
            if let Some(terminal) = self.display.terminal() {
                terminal.show_live(lines);
            }
            self.drawing.at = Some(now);
            self.drawing.is_due = false;
        }
        let due = self.drawing.next.filter(|tick| *tick > now).unwrap_or(now + TICK);
        self.drawing.next = is_working.then_some(due);
        if !out.stopped() {
            self.prompt();
        }
    }
}

impl Stage for Chat {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        self.take(event, out)?;
        self.take_waiting_lines(out);
        if !self.is_busy() {
            self.turn.is_stopping = false;
        }
        if self.display.is_terminal() {
            self.draw(out);
        } else {
            let waiting: usize = self.script.lines.iter().map(|(_, line)| line.len() + 1).sum();
            out.hold_near(0, waiting > MAX_QUEUED_INPUT);
        }
        Ok(())
    }

    fn end(&mut self, _out: &Out) {
        let farewell = std::mem::take(&mut self.farewell);
        match &mut self.display {
            Display::Terminal(terminal) => terminal.close(&farewell),
            Display::Lines if farewell.is_empty() => {}
            Display::Lines => self.report.note(farewell.trim_end()),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let turns = self.drawing.next;
        let elsewhere =
            self.held_elsewhere.filter(|_| self.asking.held.is_none()).map(|since| since + QUESTION_TIMEOUT);
        let closed = self.closed_at.map(|at| at + EXIT_TIMEOUT);
        let others = [elsewhere, self.starting_until, self.next_timeout(), closed];
        turns.into_iter().chain(others.into_iter().flatten()).min()
    }
}
