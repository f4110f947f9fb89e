//! `--notify`: a program that is run when a call begins to wait, to alert the person.

use crate::cmd::usage;
use pipewright_io::child::run;
use pipewright_io::report::{Failure, Report};
use pipewright_sys::process::describe;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub struct Notifier {
    command: Vec<OsString>,
    is_running: Arc<AtomicBool>,
    report: Arc<Report>,
}

impl Notifier {
    /// `command` is split into words like a shell does; no shell runs it.
    ///
    /// # Errors
    /// [`usage`] if it is not a command.
    pub fn new(command: &str, report: &Arc<Report>) -> Result<Notifier, Failure> {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let command = words.ok_or_else(|| usage(format_args!("--notify: not a command: {command}")))?;
        let command = command.into_iter().map(OsString::from).collect();
        Ok(Notifier { command, is_running: Arc::default(), report: Arc::clone(report) })
    }

    /// Runs the program, unless it is still running.
    pub fn notify(&self) {
        if self.is_running.swap(true, Ordering::Relaxed) {
            return;
        }
        let (command, is_running) = (self.command.clone(), Arc::clone(&self.is_running));
        let report = Arc::clone(&self.report);
        std::thread::spawn(move || {
            match run(&command, |_| {}) {
                Ok(status) if status.success() => {}
                Ok(status) => report.note_limited(format_args!("--notify ended with {}", describe(status))),
                Err(failure) => report.note_limited(format_args!("--notify: {failure}")),
            }
            is_running.store(false, Ordering::Relaxed);
        });
    }
}
