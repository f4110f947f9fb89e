//! `--audit`: the file to which a gate writes each action before it takes effect.

use crate::cmd::usage;
use jiff::Timestamp;
use pipewright_io::append::{Appender, OpenError, find_last};
use pipewright_io::report::{Failure, Report};
use pipewright_policy::audit::{Chain, Event, Link};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How often to look whether the other process has ended.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// An open audit. No other process writes to it.
#[derive(Debug)]
pub struct Audit {
    file: Appender,
    chain: Chain,
}

impl Audit {
    /// The audit in the file of `--audit`, if one is named.
    pub fn open_some(
        path: Option<&Path>,
        command: &str,
        report: &Report,
    ) -> Result<Option<Box<dyn AuditWriter>>, Failure> {
        let open = |path| Audit::open(path, command, report).map(|audit| Box::new(audit) as Box<dyn AuditWriter>);
        path.map(open).transpose()
    }

    /// As [`Audit::open_some`], for a short run: if another process writes to the file, waits up to `patience`.
    pub fn open_shared(
        path: Option<&Path>,
        command: &str,
        patience: Duration,
        report: &Report,
    ) -> Result<Option<Box<dyn AuditWriter>>, Failure> {
        let until = Instant::now() + patience;
        let open = |path| Audit::open_until(path, command, until, report);
        Ok(path.map(open).transpose()?.map(|audit| Box::new(audit) as Box<dyn AuditWriter>))
    }

    /// Opens the file, or continues its chain, and writes that `command` starts. A torn last line is moved to another
    /// file, and reported.
    ///
    /// # Errors
    /// [`usage`] if the file can't be written, is being written by another process, is not an audit, or was changed at
    /// its end.
    pub fn open(path: &Path, command: &str, report: &Report) -> Result<Audit, Failure> {
        Audit::open_until(path, command, Instant::now(), report)
    }

    fn open_until(path: &Path, command: &str, until: Instant, report: &Report) -> Result<Audit, Failure> {
        let failed = |why: &dyn Display| usage(format_args!("--audit: {}: {why}", path.display()));
        let mut chain = Chain::begin();
        let opened = loop {
            match Appender::open(path, || end_of_chain(path).map(|found| chain = found)) {
                Err(OpenError::Busy) if Instant::now() < until => thread::sleep(RETRY_INTERVAL),
                opened => break opened,
            }
        };
        let (file, torn) = opened.map_err(|error| match error {
            OpenError::Busy => failed(&"another process writes to it; give each gate its own file"),
            OpenError::Refused(why) => failed(&why),
            OpenError::Io(error) => failed(&error),
        })?;
        if file.same_file(io::stdin()) || file.same_file(io::stdout()) {
            return Err(failed(&"it is our own stdin or stdout; give another file"));
        }
        if let Some(torn) = torn {
            let aside = torn.moved_to.display();
            let message = format!("{} bytes of a torn last line were set aside in {aside}", torn.bytes);
            report.fault(path.display(), message);
        }
        let mut audit = Audit { file, chain };
        let start = Event::start(command, env!("CARGO_PKG_VERSION"));
        audit.write(&start).map_err(|error| failed(&error))?;
        Ok(audit)
    }
}

/// Where a gate writes its events.
pub trait AuditWriter: Send {
    /// Writes what is about to happen. When this returns, the kernel has it: the death of this process loses nothing.
    ///
    /// # Errors
    /// The error of the write: there is no such entry, so the action must not happen. The next write may succeed.
    fn write(&mut self, event: &Event<'_>) -> io::Result<()>;

    /// Waits until all entries are on the disk.
    ///
    /// # Errors
    /// The system's error: a power loss may take the last entries.
    fn sync(&self) -> io::Result<()>;

    /// Writes that the gate ended in order, and waits as [`AuditWriter::sync`] does.
    fn end(&mut self) -> io::Result<()> {
        self.write(&Event::End)?;
        self.sync()
    }
}

impl AuditWriter for Audit {
    fn write(&mut self, event: &Event<'_>) -> io::Result<()> {
        let mut behind = self.chain.clone();
        let line = behind.link(&event.fields(&format!("{:.6}", Timestamp::now())));
        self.file.append((line + "\n").as_bytes())?;
        self.chain = behind;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
}

/// Reads where the chain of a file continues.
fn end_of_chain(path: &Path) -> Result<Chain, String> {
    let begins = Chain::begin().beginning();
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(begins.len() as u64).read_to_end(&mut beginning));
    read.map_err(|error| error.to_string())?;
    // Its first line may be torn, too.
    if !begins.as_bytes().starts_with(&beginning) {
        return Err("not an audit of a gate; give another file".to_owned());
    }
    let last = find_last(path, u64::MAX, |line| Some(line.to_owned())).map_err(|error| error.to_string())?;
    let Some(last) = last else { return Ok(Chain::begin()) };
    let next = str::from_utf8(&last).ok().map(|last| Link::read(last).and_then(|link| link.next()));
    match next {
        Some(Ok(chain)) => Ok(chain),
        Some(Err(fault)) => Err(changed(path, &fault)),
        None => Err(changed(path, &"it is not UTF-8")),
    }
}

fn changed(path: &Path, why: &dyn Display) -> String {
    let path = path.display();
    format!("its last line: {why}. Run `policy-check verify {path}`, and give a new file")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
