//! The agent's process: when it counts as lost, and whether it is restarted.

use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::Out;
use pipewright_sys::process::describe;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An agent that closes its stdout usually ends at once. Its exit status is then the better message.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

pub(super) struct Process {
    restarts: u32,
    restarted: u32,
    closed_since: Option<Instant>,
    report: Arc<Report>,
}

impl Process {
    pub(super) fn new(restarts: u32, report: Arc<Report>) -> Process {
        Process { restarts, restarted: 0, closed_since: None, report }
    }

    /// Restarts the agent if that is still allowed.
    ///
    /// # Errors
    /// [`Status::Lost`] if it is not.
    pub(super) fn lost(&mut self, how: &str, out: &mut Out) -> Result<(), Failure> {
        self.closed_since = None;
        if !self.can_restart() {
            let advice = match self.restarts {
                0 => "--restart N starts it again".to_owned(),
                times => format!("it was started again as often as --restart {times} allows"),
            };
            return Err(Failure::new(Status::Lost, format_args!("the agent {how}; {advice}")));
        }
        self.restarted += 1;
        self.report.fault("agent", format_args!("{how}; restarting it"));
        out.respawn(0);
        Ok(())
    }

    pub(super) fn exited(&mut self, status: ExitStatus, out: &mut Out) -> Result<(), Failure> {
        self.lost(&format!("ended with {}", describe(status)), out)
    }

    /// The agent's stdin or stdout is closed.
    pub(super) fn closed(&mut self) {
        self.closed_since.get_or_insert_with(Instant::now);
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.closed_since.map(|since| since + EXIT_TIMEOUT)
    }

    /// Returns whether the agent is lost because it has closed its stdin or stdout but still runs.
    pub(super) fn due(&mut self, out: &mut Out) -> Result<bool, Failure> {
        if self.deadline().is_none_or(|deadline| deadline > Instant::now()) {
            return Ok(false);
        }
        self.lost("closed its stdin or stdout", out)?;
        Ok(true)
    }

    /// Whether the agent has been restarted.
    pub(super) fn was_restarted(&self) -> bool {
        self.restarted > 0
    }

    pub(super) fn can_restart(&self) -> bool {
        self.restarted < self.restarts
    }
}
