//! Other processes: in groups of their own, which are signalled, ended and waited for.
#![allow(unsafe_code)]

pub mod background;

pub use crate::grace::grace;

use crate::signal;
use crate::unix::table;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, geteuid, getsid};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// The program that a person means by a name: the system finds it.
pub fn program(name: &OsStr) -> OsString {
    name.to_owned()
}

/// The first program on PATH that has one of these names; the first name goes before the second.
pub fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let is_program =
        |path: &PathBuf| path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    names.iter().flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name))).find(is_program)
}

/// Starts a command in a new process group, so that signals to us do not reach it, and with the signal mask that this process was
/// started with.
///
/// # Errors
/// Any error of the system.
pub fn start(command: &mut Command) -> io::Result<(Child, Group)> {
    // SAFETY: the function that runs between fork and exec is async-signal-safe, see there.
    unsafe { command.pre_exec(signal::restore_mask) };
    let child = command.process_group(0).spawn()?;
    let group = Group(pid(&child));
    Ok((child, group))
}

/// How a child ends when we die without ending it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndWithUs {
    /// It gets SIGTERM.
    Asked,
    /// It is killed.
    Killed,
}

/// Makes the kernel end a child when the thread that starts it dies (Linux only).
#[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
pub fn end_with_us(command: &mut Command, how: EndWithUs) {
    #[cfg(target_os = "linux")]
    // SAFETY: prctl(2) and getppid(2) are async-signal-safe, and that option changes nothing but the calling process.
    unsafe {
        let parent = nix::unistd::getpid();
        let signal = match how {
            EndWithUs::Asked => Signal::SIGTERM,
            EndWithUs::Killed => Signal::SIGKILL,
        };
        command.pre_exec(move || {
            nix::sys::prctl::set_pdeathsig(signal)?;
            // If we have already died, no signal will come.
            if nix::unistd::getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
        });
    }
}

/// A process group, for sending signals to all its processes.
/// It stays valid while anything in it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group(pub(crate) Pid);

impl Group {
    /// Signals the complete group; returns whether it has any process.
    pub(crate) fn signal(&self, signal: Option<Signal>) -> bool {
        killpg(self.0, signal) != Err(Errno::ESRCH)
    }

    /// Kills the complete group at once.
    pub fn kill(&self) {
        self.signal(Some(Signal::SIGKILL));
    }

    /// Ends the complete group: SIGTERM, then SIGKILL for processes that remain after the `grace`, which may shrink meanwhile.
    /// `gone` returns whether the child itself has been reaped.
    pub fn end(&self, gone: impl Fn() -> bool, grace: impl Fn() -> Duration) {
        self.signal(Some(Signal::SIGTERM));
        // A stopped process handles SIGTERM only after it is continued.
        self.signal(Some(Signal::SIGCONT));
        if !self.ends_within(gone, grace) {
            self.kill();
        }
    }

    /// Ends the complete group at once. It sends two signals, so that a wrapper in the group sees a first and a second signal, and
    /// does the same with its own child. (SIGINT may be ignored there, as after a shell's `&`.)
    pub fn end_at_once(&self) {
        self.signal(Some(Signal::SIGTERM));
        self.signal(Some(Signal::SIGINT));
        self.signal(Some(Signal::SIGCONT));
        if !self.ends_within(|| true, || grace(true) / 6) {
            self.signal(Some(Signal::SIGTERM));
            self.ends_within(|| true, || grace(true) / 6);
        }
        self.kill();
    }

    fn ends_within(&self, gone: impl Fn() -> bool, grace: impl Fn() -> Duration) -> bool {
        let asked = Instant::now();
        while !gone() || self.signal(None) {
            if asked.elapsed() > grace() {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }
}

fn pid(child: &Child) -> Pid {
    // A process id fits: the kernel's own type is an i32.
    Pid::from_raw(child.id() as i32)
}

/// Whether there is a process with this id that has not ended.
pub fn is_running(pid: i32) -> bool {
    pid > 0 && kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH) && !table::has_ended(pid)
}

/// Asks a process to end (SIGTERM). It may have ended already.
pub fn ask_to_end(pid: i32) {
    let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
}

/// The process id of the leader of our session, usually the shell of a terminal.
pub fn session_leader() -> Option<i32> {
    getsid(None).ok().map(Pid::as_raw)
}

/// Whether this process runs as root.
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// The exit status as a shell reports it: the exit code, or 128+N for signal N.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// The same in words: `exit status 1`, or `signal 9 (SIGKILL)`.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(number)) => match Signal::try_from(number) {
            Ok(signal) => format!("signal {number} ({signal})"),
            Err(_) => format!("signal {number}"),
        },
        (None, None) => status.to_string(),
    }
}

/// Whether a shell reports this exit code for a program that was killed from outside: by SIGHUP, SIGINT, SIGKILL or SIGTERM.
pub fn is_of_killed(code: u8) -> bool {
    let signals = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGKILL, Signal::SIGTERM];
    signals.iter().any(|signal| i32::from(code) == 128 + *signal as i32)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_zombie_counts_as_ended() {
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(is_running(pid) && !is_running(0) && !is_running(999_999_999));
        drop(child.stdin.take());
        while is_running(pid) {
            std::thread::yield_now();
        }
        assert!(child.wait().unwrap().success());
    }
}
