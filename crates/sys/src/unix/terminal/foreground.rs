//! A program that runs temporarily in the terminal's foreground, such as an editor.

use super::Terminal;
use crate::process::{self, Group, grace};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus};

/// A program in the terminal's foreground. Dropping it ends it and takes the terminal back.
#[derive(Debug)]
pub struct ForegroundProgram<'t> {
    terminal: &'t Terminal,
    group: Group,
    process: std::process::Child,
    ended: Option<ExitStatus>,
}

impl<'t> ForegroundProgram<'t> {
    /// Starts `command` at the terminal of a person, in the foreground if we have it.
    ///
    /// # Errors
    /// If there is no such program or it cannot be run.
    pub(super) fn start(command: &[OsString], terminal: &'t Terminal) -> io::Result<ForegroundProgram<'t>> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::Error::other("no command to start"));
        };
        let start = || {
            let mut command = Command::new(program);
            command.args(arguments).stdin(terminal.file()?).stdout(terminal.file()?).stderr(terminal.file()?);
            process::start(&mut command)
        };
        let (process, group) =
            start().map_err(|error| io::Error::other(format!("cannot start {}: {error}", program.display())))?;
        terminal.lend(group.0);
        // It may have been stopped for accessing the terminal before it got the foreground.
        group.signal(Some(Signal::SIGCONT));
        Ok(ForegroundProgram { terminal, group, process, ended: None })
    }

    /// Its exit status, after it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let id = self.group.0;
        if self.ended.is_none() && take_stop(id) {
            // No other process would bring it back to the foreground.
            self.terminal.lend(id);
            self.group.signal(Some(Signal::SIGCONT));
        }
        if self.ended.is_none() {
            // An error means that there is no such process: it has ended.
            self.ended = self.process.try_wait().unwrap_or_else(|_| Some(ExitStatus::default()));
        }
        self.ended
    }
}

/// Whether it was stopped since the last call: consumes that notice (waitid(2), WSTOPPED), but not its exit status.
#[cfg(target_os = "linux")]
fn take_stop(id: Pid) -> bool {
    use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
    matches!(waitid(Id::Pid(id), WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG), Ok(WaitStatus::Stopped(..)))
}

/// Other systems cannot query stops without exits.
#[cfg(not(target_os = "linux"))]
fn take_stop(_: Pid) -> bool {
    false
}

impl Drop for ForegroundProgram<'_> {
    /// Ends it if it still runs, and takes the terminal back.
    fn drop(&mut self) {
        if self.ended().is_none() {
            let process = std::cell::RefCell::new(&mut self.process);
            let gone = || !matches!(process.borrow_mut().try_wait(), Ok(None));
            self.group.end(gone, || grace(true) / 2);
            let _ = self.process.wait();
        }
        self.terminal.take_back(self.group.0);
    }
}
