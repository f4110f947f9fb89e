//! Other processes: each child is in a job of its own, which ends together.
#![allow(unsafe_code)]

pub use crate::grace::grace;

use super::job::Job;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use windows_sys::Win32::Foundation::{STATUS_CONTROL_C_EXIT, WAIT_TIMEOUT};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_SUSPENDED, OpenProcess, PROCESS_SYNCHRONIZE, WaitForSingleObject,
};

/// What a program's name may leave out, in the order in which it is looked for.
const KINDS: [&str; 4] = ["exe", "com", "cmd", "bat"];

/// The program that a person means by a name: as on a command line, `npx` may be `npx.cmd`. The standard library finds programs
/// (`.exe`) alone, but runs a script (`.cmd`, `.bat`) whose name is complete, and quotes its arguments for it.
pub fn program(name: &OsStr) -> OsString {
    let path = Path::new(name);
    let kind = path.extension().unwrap_or_default();
    if KINDS.iter().any(|known| kind.eq_ignore_ascii_case(known)) {
        return name.to_owned();
    }
    let folders: Vec<PathBuf> = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => vec![PathBuf::new()],
        _ => std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect(),
    };
    let mut found = folders.iter().flat_map(|folder| {
        KINDS.map(|kind| {
            let mut file = folder.join(path).into_os_string();
            file.push(".");
            file.push(kind);
            file
        })
    });
    found.find(|file| Path::new(file).is_file()).unwrap_or_else(|| name.to_owned())
}

/// The first program on PATH that has one of these names; otherwise one whose name begins with the first of them: a program that is
/// not installed is often named after its version (`Godot_v4.5-stable_win64_console.exe`). Of several in a folder, that is the last
/// one by name.
pub fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let exact = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name).with_extension("exe")));
    let begins = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.ends_with(".exe") && names.first().is_some_and(|first| name.starts_with(first))
    };
    let versioned = folders.iter().filter_map(|folder| {
        let entries = std::fs::read_dir(folder).ok()?;
        entries.flatten().map(|entry| entry.path()).filter(begins).max()
    });
    exact.into_iter().find(|path| path.is_file()).or_else(|| versioned.into_iter().next())
}

/// Starts a command in a new job and a new process group, so that Ctrl-C in our console does not reach it.
///
/// # Errors
/// Any error of the system.
pub fn start(command: &mut Command) -> io::Result<(Child, Group)> {
    let job = Job::new()?;
    // Suspended, so that all that it starts is in the job, too.
    let mut child = command.creation_flags(CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP).spawn()?;
    if let Err(error) = job.take_in(&child) {
        // It has run nothing yet.
        let _ = child.kill();
        let _ = child.wait();
        return Err(error);
    }
    let group = Group { job: Arc::new(job), id: child.id() };
    Ok((child, group))
}

/// How a child ends when we die without ending it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndWithUs {
    /// It is asked to end where the system can do that.
    Asked,
    /// It is killed.
    Killed,
}

/// Nothing to do: the system ends a job when the process that holds it ends.
pub fn end_with_us(_: &mut Command, _: EndWithUs) {}

/// A child and all that it starts.
#[derive(Debug, Clone)]
pub struct Group {
    job: Arc<Job>,
    /// The id of the first process, which is that of its process group.
    id: u32,
}

impl Group {
    /// Kills the complete group at once.
    pub fn kill(&self) {
        self.job.kill();
    }

    /// Asks the group to end, as Ctrl-Break does. Without a console in common, this does nothing.
    fn ask(&self) {
        // SAFETY: the call takes two numbers.
        let _ = unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, self.id) };
    }

    /// Ends the complete group: asks it, then kills processes that remain after the `grace`, which may shrink meanwhile.
    /// `gone` returns whether the child itself has been waited for.
    pub fn end(&self, gone: impl Fn() -> bool, grace: impl Fn() -> Duration) {
        if gone() && !self.job.is_running() {
            return;
        }
        self.ask();
        if !self.ends_within(gone, grace) {
            self.kill();
        }
    }

    /// Ends the complete group at once. It asks twice, so that a wrapper in the group does the same with its own child.
    pub fn end_at_once(&self) {
        self.ask();
        self.ask();
        self.ends_within(|| true, || grace(true) / 3);
        self.kill();
    }

    fn ends_within(&self, gone: impl Fn() -> bool, grace: impl Fn() -> Duration) -> bool {
        let asked = Instant::now();
        while !gone() || self.job.is_running() {
            if asked.elapsed() > grace() {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }
}

/// Whether there is a process with this id that has not ended.
pub fn is_running(pid: i32) -> bool {
    let Ok(pid) = u32::try_from(pid) else { return false };
    // SAFETY: the call only gives a new handle.
    let process = unsafe { OpenProcess(PROCESS_SYNCHRONIZE, 0, pid) };
    if process.is_null() {
        return false;
    }
    // SAFETY: the call has just given us this handle, and nobody else has it.
    let process = unsafe { OwnedHandle::from_raw_handle(process) };
    // SAFETY: the handle is open.
    unsafe { WaitForSingleObject(process.as_raw_handle(), 0) == WAIT_TIMEOUT }
}

/// The exit status as a shell on Unix reports it: the exit code; 130 for Ctrl-C, and 255 for others that do not fit.
pub fn exit_code(status: ExitStatus) -> u8 {
    match status.code() {
        Some(STATUS_CONTROL_C_EXIT) => 130,
        Some(code) => u8::try_from(code).unwrap_or(u8::MAX),
        None => u8::MAX,
    }
}

/// The exit status in words: `exit status 1`; those of the system in hexadecimal, as it documents them.
pub fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(STATUS_CONTROL_C_EXIT) => "Ctrl-C".to_owned(),
        Some(code @ 0..) => format!("exit status {code}"),
        Some(code) => format!("exit status {code:#010X}"),
        None => status.to_string(),
    }
}
