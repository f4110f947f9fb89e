//! A program that runs temporarily in the terminal's foreground, such as an editor.
#![allow(unsafe_code)]

use super::child::{Child, Group, grace};
use super::report::{Failure, Status};
use super::signal;
use super::terminal::Terminal;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
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
    /// [`Status::NotStarted`] if there is no such program or it cannot be run.
    pub fn start(command: &[OsString], terminal: &'t Terminal) -> Result<ForegroundProgram<'t>, Failure> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Failure::new(Status::Usage, "no command to start"));
        };
        let start = || -> io::Result<std::process::Child> {
            let mut command = Command::new(program);
            // SAFETY: the function that runs between fork and exec is async-signal-safe, see there.
            unsafe { command.pre_exec(signal::restore_mask) };
            command.args(arguments).process_group(0);
            command.stdin(terminal.file()?).stdout(terminal.file()?).stderr(terminal.file()?);
            command.spawn()
        };
        let process = start().map_err(|error| {
            Failure::new(Status::NotStarted, format_args!("cannot start {}: {error}", program.display()))
        })?;
        let group = Child::group_of(&process);
        terminal.lend(group.id());
        // It may have been stopped for accessing the terminal before it got the foreground.
        group.signal(Some(Signal::SIGCONT));
        Ok(ForegroundProgram { terminal, group, process, ended: None })
    }

    /// Its exit status, after it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let id = self.group.id();
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
        self.terminal.take_back(self.group.id());
    }
}
