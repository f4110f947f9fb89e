//! The smallest wrapper: `wrap -- CMD ARGS` starts CMD and relays both directions, byte for byte. A
//! recorder or a gate differs only in its stage.

use pipewright_io::between::{FarEndpoint, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_sys::process::exit_code;
use pipewright_sys::signal;
use pipewright_sys::signal::Signals;
use std::process::ExitCode;
use std::sync::Arc;

struct Relay;

impl Stage for Relay {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(side, piece) => out.opposite(side).extend_from_slice(piece.raw()),
            // Half-close: the child's remaining output is still relayed.
            Event::Closed(Side::NEAR) => out.close_far(0),
            Event::Exited(_, status) => out.stop(Status::Child(exit_code(status))),
            _ => {}
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    let report = Arc::new(Report::new("wrap", false));
    let command = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let ends = Sides { far: FarEndpoint::child(command), ..Sides::default() };
    let held = Signals::hold().map_err(|error| Failure::new(Status::NotStarted, error));
    match held.and_then(|signals| between(Box::new(Relay), ends, &signals, &report)) {
        Ok(Status::Signal(signal)) => signal::die_of(signal),
        Ok(status) => status.into(),
        Err(failure) => {
            report.say(&failure);
            failure.status.into()
        }
    }
}
