//! A wrapper of two shell commands, for the tests of several far sides: `two-children SCRIPT SCRIPT`.
//!
//! A line `N TEXT` on stdin is sent to child N (0 or 1). A child's line that begins with `>` is sent to the other child, any other
//! to stdout as `N TEXT`. `N start`, `N end STATUS` and `N broken` report the state of a child; `N again` on stdin restarts it,
//! `N stop` ends it, and `+ SCRIPT` adds one. The run ends when stdin and all children have ended.

use pipewright_io::between::{FarEndpoint, Program, Sides, between};
use pipewright_io::child::Environment;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Piece, text};
use pipewright_sys::process::exit_code;
use pipewright_sys::signal;
use pipewright_sys::signal::Signals;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

struct Switch {
    report: Arc<Report>,
    near_ended: bool,
    ended: Vec<bool>,
}

impl Switch {
    fn take(&mut self, line: &str, out: &mut Out) {
        let Some((child, message)) = line.split_once(' ') else { return };
        let Ok(child) = child.parse() else {
            let program = Program { command: shell(message.into()), environment: Environment::default() };
            assert_eq!(out.add_far(program), self.ended.len());
            return self.ended.push(false);
        };
        match message {
            "again" => out.respawn(child),
            "stop" => {
                self.ended[child] = true;
                out.end_far(child);
            }
            _ => out.add_line(Side::Far(child), message),
        }
    }
}

impl Stage for Switch {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(Side::NEAR, Piece::Line(line)) => self.take(&text(line.body()), out),
            Event::Piece(Side::Far(child), Piece::Line(line)) => {
                let message = text(line.body());
                if message.starts_with('>') {
                    out.add_line(Side::Far(1 - child), &message);
                } else {
                    out.add_line(Side::NEAR, &format!("{child} {message}"));
                }
            }
            Event::Started(child) => {
                self.ended[child] = false;
                out.add_line(Side::NEAR, &format!("{child} start"));
            }
            Event::Broken(Side::Far(child), _) => out.add_line(Side::NEAR, &format!("{child} broken")),
            Event::Exited(child, status) => {
                self.ended[child] = true;
                out.add_line(Side::NEAR, &format!("{child} end {}", exit_code(status)));
            }
            Event::Closed(Side::NEAR) => self.near_ended = true,
            _ => {}
        }
        if self.near_ended {
            for child in 0..self.ended.len() {
                out.close_far(child);
            }
        }
        if self.near_ended && self.ended.iter().all(|ended| *ended) {
            out.stop(self.report.finish());
        }
        Ok(())
    }
}

fn shell(script: OsString) -> Vec<OsString> {
    vec!["sh".into(), "-c".into(), script]
}

fn main() -> ExitCode {
    let report = Arc::new(Report::new("two-children", false));
    let far = std::env::args_os().skip(1).flat_map(|script| FarEndpoint::child(shell(script))).collect();
    let stage = Switch { report: Arc::clone(&report), near_ended: false, ended: vec![false; 2] };
    let ends = Sides { far, adds_far_sides: true, ..Sides::default() };
    let held = Signals::hold().map_err(|error| Failure::new(Status::NotStarted, error));
    match held.and_then(|signals| between(Box::new(stage), ends, &signals, &report)) {
        Ok(Status::Signal(signal)) => signal::die_of(signal),
        Ok(status) => status.into(),
        Err(failure) => {
            report.say(&failure);
            failure.status.into()
        }
    }
}
