//! Our stdout, for a command that reads files and writes when it likes: buffered, flushed when it is asked to, and when a
//! signal ends us.

use super::descriptor::{Descriptor, stdout};
use super::lock;
use super::report::{Failure, Report, Status};
use super::signal::{self, Signals};
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a signal waits for what was decided to be written. Longer, and the reader of our stdout is stuck.
const DRAIN: Duration = Duration::from_secs(1);

/// Written to the descriptor once it holds so much.
const FULL: usize = 64 << 10;

/// What is still to be done when a signal ends us.
type LastAct = Box<dyn FnOnce() + Send>;

/// A buffer in front of our stdout.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Buffer>>);

struct Buffer {
    to: Descriptor,
    bytes: Vec<u8>,
    last_acts: Vec<LastAct>,
}

/// Why nothing more can be written.
#[derive(Debug)]
pub enum Closed {
    /// The reader of our stdout has gone.
    Gone,
    /// It can't be written.
    Failed(io::Error),
}

impl Closed {
    /// How a run ends on it: quietly where the reader has gone.
    ///
    /// # Errors
    /// [`Status::Fault`] where stdout can't be written.
    pub fn end(self, report: &Report) -> Result<Status, Failure> {
        match self {
            Closed::Gone => Ok(report.finish()),
            Closed::Failed(error) => {
                report.finish();
                Err(Failure::new(Status::Fault, format_args!("stdout: {error}")))
            }
        }
    }
}

impl Output {
    /// Opens it, and from now on ends the process in order on INT, TERM and HUP.
    ///
    /// # Errors
    /// [`Status::NotStarted`] where the process has no descriptor left.
    pub fn open(signals: &Signals) -> Result<Output, Failure> {
        let system = |error: io::Error| Failure::new(Status::NotStarted, error);
        let signals = signals.receive();
        let buffer = Buffer { to: stdout().map_err(system)?, bytes: Vec::new(), last_acts: Vec::new() };
        let output = Output(Arc::new(Mutex::new(buffer)));
        let ours = output.clone();
        std::thread::spawn(move || {
            let Ok(signal) = signals.recv() else { return };
            let asked = Instant::now();
            // A second signal ends it at once, as there is no receiver any more.
            drop(signals);
            let mut buffer = ours.0.try_lock();
            while buffer.is_err() && asked.elapsed() < DRAIN {
                std::thread::sleep(Duration::from_millis(2));
                buffer = ours.0.try_lock();
            }
            if let Ok(mut buffer) = buffer {
                buffer.last_acts.drain(..).for_each(|act| act());
                // Its reader may take nothing any more.
                std::thread::spawn(move || {
                    std::thread::sleep(DRAIN);
                    signal::die_of(signal)
                });
                let _ = buffer.flush();
            }
            signal::die_of(signal)
        });
        Ok(output)
    }

    /// Has something done when a signal ends us, before anything else.
    pub fn on_signal(&self, act: impl FnOnce() + Send + 'static) {
        lock(&self.0).last_acts.push(Box::new(act));
    }

    /// Has `fill` append to the buffer, and writes that out where it is full.
    ///
    /// # Errors
    /// [`Closed`], as [`Output::flush`].
    pub fn write(&self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), Closed> {
        let mut buffer = lock(&self.0);
        fill(&mut buffer.bytes);
        if buffer.bytes.len() >= FULL { buffer.flush() } else { Ok(()) }
    }

    /// Writes out what is in the buffer: before every wait, and before every read.
    ///
    /// # Errors
    /// [`Closed`], where the reader has gone or stdout can't be written.
    pub fn flush(&self) -> Result<(), Closed> {
        lock(&self.0).flush()
    }
}

impl Buffer {
    fn flush(&mut self) -> Result<(), Closed> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let written = self.to.write_all(&self.bytes);
        self.bytes.clear();
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Closed::Gone,
            _ => Closed::Failed(error),
        })
    }
}
