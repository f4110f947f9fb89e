//! Our stdout, for commands that read files: buffered, and flushed on request and when a signal ends us.

use super::report::{Failure, Report, Status};
use pipewright_sys::descriptor::{Descriptor, stdout};
use pipewright_sys::signal::Signals;
use pipewright_sys::{lock, signal};
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a signal waits for the buffer to be written. After that, the reader of our stdout counts as stuck.
const DRAIN: Duration = Duration::from_secs(1);

/// The size at which the buffer is written.
const FLUSH_SIZE: usize = 64 << 10;

/// An action for when a signal ends us.
type AtExit = Box<dyn FnOnce() + Send>;

/// A buffer in front of our stdout.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Buffer>>);

struct Buffer {
    to: Descriptor,
    bytes: Vec<u8>,
    last_acts: Vec<AtExit>,
}

/// Why stdout cannot be written any more.
#[derive(Debug)]
pub enum OutputClosed {
    /// The reader of our stdout has closed it.
    Gone,
    /// Writing failed.
    Failed(io::Error),
}

impl OutputClosed {
    /// The end of the run: quietly if the reader has closed stdout.
    ///
    /// # Errors
    /// [`Status::Fault`] if stdout cannot be written.
    pub fn end(self, report: &Report) -> Result<Status, Failure> {
        match self {
            OutputClosed::Gone => Ok(report.finish()),
            OutputClosed::Failed(error) => {
                report.finish();
                Err(Failure::new(Status::Fault, format_args!("stdout: {error}")))
            }
        }
    }
}

impl Output {
    /// Opens it. From now on, INT, TERM and HUP end the process in order.
    ///
    /// # Errors
    /// [`Status::NotStarted`] if the process has no descriptor left.
    pub fn open(signals: &Signals) -> Result<Output, Failure> {
        let signals = signals.receive();
        let buffer = Buffer { to: stdout().map_err(Failure::not_started)?, bytes: Vec::new(), last_acts: Vec::new() };
        let output = Output(Arc::new(Mutex::new(buffer)));
        let ours = output.clone();
        std::thread::spawn(move || {
            let Ok(signal) = signals.recv() else { return };
            let asked = Instant::now();
            // Without a receiver, a second signal ends the process at once.
            drop(signals);
            let mut buffer = ours.0.try_lock();
            while buffer.is_err() && asked.elapsed() < DRAIN {
                std::thread::sleep(Duration::from_millis(2));
                buffer = ours.0.try_lock();
            }
            if let Ok(mut buffer) = buffer {
                buffer.last_acts.drain(..).for_each(|act| act());
                // The reader of stdout may not read any more.
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

    /// Adds an action that runs first when a signal ends us.
    pub fn on_signal(&self, act: impl FnOnce() + Send + 'static) {
        lock(&self.0).last_acts.push(Box::new(act));
    }

    /// Has `fill` append to the buffer, and writes it if it is full.
    ///
    /// # Errors
    /// [`OutputClosed`], as [`Output::flush`].
    pub fn write(&self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), OutputClosed> {
        let mut buffer = lock(&self.0);
        fill(&mut buffer.bytes);
        if buffer.bytes.len() >= FLUSH_SIZE { buffer.flush() } else { Ok(()) }
    }

    /// Writes the buffer. To be called before every wait and every read.
    ///
    /// # Errors
    /// [`OutputClosed`] if the reader has closed stdout or it cannot be written.
    pub fn flush(&self) -> Result<(), OutputClosed> {
        lock(&self.0).flush()
    }
}

impl Buffer {
    fn flush(&mut self) -> Result<(), OutputClosed> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let written = self.to.write_all(&self.bytes);
        self.bytes.clear();
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => OutputClosed::Gone,
            _ => OutputClosed::Failed(error),
        })
    }
}
