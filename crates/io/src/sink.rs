//! A queue in front of a descriptor: filled under the stage's lock, written outside it.

use pipewright_sys::descriptor::Descriptor;
use pipewright_sys::lock;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// The size of a write that does not block on a pipe with any room.
const PIPE_BUF: usize = 4096;

/// How long to wait for a write to fail after its reader has closed the pipe.
const WRITE_GRACE: Duration = Duration::from_millis(100);

/// Several threads append and drain. The bytes are written in the order in which they were appended, because the
/// writing thread holds the descriptor's lock while it takes the queue.
#[derive(Debug)]
pub(super) struct Sink {
    queue: Mutex<Vec<u8>>,
    writer: Mutex<Writer>,
    closing: AtomicBool,
    appended: AtomicU64,
    written: AtomicU64,
    failure: OnceLock<String>,
}

/// The progress of a sink, in bytes.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Progress {
    /// All bytes that were appended, also after it was closed.
    pub(super) appended: u64,
    /// All bytes that were written: they are in the kernel.
    pub(super) written: u64,
    /// Bytes in the queue, which no thread has begun to write.
    pub(super) waiting: usize,
}

impl Progress {
    /// Whether some appended bytes are not written yet.
    pub(super) fn is_behind(&self) -> bool {
        self.written < self.appended
    }
}

#[derive(Debug)]
struct Writer {
    /// `None` after it was closed or broke: bytes appended later are dropped.
    to: Option<Descriptor>,
    writing: Vec<u8>,
}

impl Sink {
    pub(super) fn new(to: Descriptor) -> Sink {
        Sink {
            queue: Mutex::default(),
            writer: Mutex::new(Writer { to: Some(to), writing: Vec::new() }),
            closing: AtomicBool::new(false),
            appended: AtomicU64::new(0),
            written: AtomicU64::new(0),
            failure: OnceLock::new(),
        }
    }

    /// Takes all of `bytes`; returns whether there were any. If so, the caller has to drain: a thread that
    /// drained the output of another would wait for the wrong reader, and two floods would deadlock.
    pub(super) fn append(&self, bytes: &mut Vec<u8>) -> bool {
        if bytes.is_empty() {
            return false;
        }
        let mut queue = lock(&self.queue);
        self.appended.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if queue.is_empty() {
            std::mem::swap(&mut *queue, bytes);
        } else {
            queue.append(bytes);
        }
        true
    }

    /// Its progress.
    pub(super) fn progress(&self) -> Progress {
        let [appended, written] = [&self.appended, &self.written].map(|bytes| bytes.load(Ordering::Acquire));
        Progress { appended, written, waiting: lock(&self.queue).len() }
    }

    /// Waits until a write to a closed reader has failed, so that [`Sink::progress`] is final. Does not wait
    /// long: another process may hold the other end open.
    pub(super) fn settle(&self) {
        let begun = Instant::now();
        while begun.elapsed() < WRITE_GRACE && matches!(self.writer.try_lock(), Err(TryLockError::WouldBlock)) {
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// The error if a write failed for another reason than a closed reader.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Closes the descriptor once the queue is written.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    /// Writes until the queue is empty. Blocks until the reader has taken it.
    ///
    /// # Errors
    /// The error of the write, once: the sink is then closed.
    pub(super) fn drain(&self) -> io::Result<()> {
        loop {
            let closed = self.write_queue()?;
            // Another thread may have left bytes, or the closing, to us while we held the lock.
            let closes = self.closing.load(Ordering::Acquire) && !closed;
            if lock(&self.queue).is_empty() && !closes {
                return Ok(());
            }
        }
    }

    /// As [`Sink::drain`], but leaves the queue to a thread that is already writing.
    ///
    /// # Errors
    /// As [`Sink::drain`].
    pub(super) fn drain_unless_busy(&self) -> io::Result<()> {
        let busy = matches!(self.writer.try_lock(), Err(TryLockError::WouldBlock));
        if busy { Ok(()) } else { self.drain() }
    }

    /// Drains without ever waiting for the reader; returns whether that was possible. If not, [`Sink::drain`] is to be
    /// called.
    ///
    /// # Errors
    /// As [`Sink::drain`].
    pub(super) fn drain_at_once(&self) -> io::Result<bool> {
        let mut writer = match self.writer.try_lock() {
            Ok(writer) => writer,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // The writing thread checks the queue again when it is done.
            Err(TryLockError::WouldBlock) => return Ok(true),
        };
        let Writer { to, writing } = &mut *writer;
        {
            let mut queue = lock(&self.queue);
            if queue.len() > PIPE_BUF || !to.as_ref().is_none_or(Descriptor::takes_a_little) {
                return Ok(false);
            }
            std::mem::swap(&mut *queue, writing);
        }
        let written = self.write_all(to, writing);
        writing.clear();
        drop(writer);
        written.map(|()| lock(&self.queue).is_empty() && !self.closing.load(Ordering::Acquire))
    }

    /// Writes all of `bytes`, and counts the written bytes; closes the descriptor if that fails.
    fn write_all(&self, to: &mut Option<Descriptor>, mut bytes: &[u8]) -> io::Result<()> {
        while let Some(descriptor) = to
            && !bytes.is_empty()
        {
            let written = match descriptor.write(bytes) {
                Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                written => written,
            };
            match written {
                Ok(written) => {
                    self.written.fetch_add(written as u64, Ordering::Release);
                    bytes = &bytes[written..];
                }
                Err(error) => {
                    *to = None;
                    if error.kind() != io::ErrorKind::BrokenPipe {
                        self.failure.get_or_init(|| error.to_string());
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Returns whether the descriptor is closed.
    fn write_queue(&self) -> io::Result<bool> {
        let mut writer = lock(&self.writer);
        let Writer { to, writing } = &mut *writer;
        loop {
            std::mem::swap(&mut *lock(&self.queue), writing);
            if writing.is_empty() {
                break;
            }
            let written = self.write_all(to, writing);
            writing.clear();
            written?;
        }
        if self.closing.load(Ordering::Acquire)
            && let Some(to) = to.take()
        {
            to.close();
        }
        Ok(to.is_none())
    }
}
