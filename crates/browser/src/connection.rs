//! A connection to a browser, over two pipes or a WebSocket.

use crate::socket::Socket;
use crate::wire::{self, Message, Splitter};
use serde::Serialize;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Instant;

/// The longest message accepted, in bytes: a screenshot of a long page, in base64.
pub(crate) const MAX_MESSAGE: usize = 256 << 20;

/// How many messages may wait to be read. Beyond that, the pipe is not read.
const MAX_QUEUED: usize = 256;

/// Sends commands to a browser, and receives its messages. Dropping it closes the pipes, and the browser ends; or it
/// closes the WebSocket, and the browser stays open.
#[derive(Debug)]
pub struct Connection {
    commands: Sender<Vec<u8>>,
    messages: Receiver<Incoming>,
    waker: Waker,
    has_ended: bool,
    last: u64,
}

/// A message to the thread that waits for a browser.
#[derive(Debug)]
enum Incoming {
    Message(Message),
    /// The browser has closed its pipe.
    Ended,
    /// Another thread called [`Waker::wake`].
    Woken,
}

/// Interrupts the thread that waits for a browser.
#[derive(Debug, Clone)]
pub struct Waker {
    arrived: SyncSender<Incoming>,
    is_cancelled: Arc<AtomicBool>,
}

impl Waker {
    /// Makes a wait return early once, as if a message had come.
    pub fn wake(&self) {
        // If the queue is full, the thread is not waiting.
        let _ = self.arrived.try_send(Incoming::Woken);
    }

    /// Makes every wait fail until [`Waker::reset`].
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
        self.wake();
    }

    /// Allows waits again.
    pub fn reset(&self) {
        self.is_cancelled.store(false, Ordering::Release);
    }
}

/// Why there is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveError {
    /// None came in time.
    Late,
    /// The browser has closed its pipe or socket: it has ended.
    Ended,
    /// [`Waker::cancel`] was called.
    Cancelled,
}

impl Connection {
    /// Takes the ends of the pipes: the browser reads from `to` and writes to `from`.
    ///
    /// # Errors
    /// The system cannot create a thread.
    pub fn new(to: PipeWriter, from: PipeReader) -> io::Result<Connection> {
        Connection::start(move |sent| write(to, sent), move |arrived| forward(from, arrived))
    }

    /// Takes a WebSocket.
    ///
    /// # Errors
    /// The system cannot create a thread.
    pub(crate) fn from_socket(socket: Socket) -> io::Result<Connection> {
        let writer = socket.writer();
        let write = move |sent: &Receiver<Vec<u8>>| {
            while let Ok(mut command) = sent.recv() {
                // The WebSocket frame marks the end of the message.
                command.pop();
                if writer.send_text(command).is_err() {
                    break;
                }
            }
            writer.end();
        };
        Connection::start(write, |arrived| socket.read(|message| pass(message, arrived)))
    }

    fn start(
        write: impl FnOnce(&Receiver<Vec<u8>>) + Send + 'static,
        read: impl FnOnce(&SyncSender<Incoming>) + Send + 'static,
    ) -> io::Result<Connection> {
        let (commands, sent) = channel();
        let (arrived, messages) = sync_channel(MAX_QUEUED);
        let waker = Waker { arrived: arrived.clone(), is_cancelled: Arc::default() };
        thread::Builder::new().name("to browser".to_owned()).spawn(move || write(&sent))?;
        thread::Builder::new().name("from browser".to_owned()).spawn(move || {
            read(&arrived);
            // The channel stays open after that, because wakers have a sender too.
            let _ = arrived.send(Incoming::Ended);
        })?;
        Ok(Connection { commands, messages, waker, has_ended: false, last: 0 })
    }

    /// Sends a command, and returns its number, which the answer repeats. There is no answer if the browser has ended.
    ///
    /// # Errors
    /// The parameters cannot be written as JSON.
    pub fn send(&mut self, session: Option<&str>, method: &str, params: &impl Serialize) -> serde_json::Result<u64> {
        self.last += 1;
        let command = wire::command(self.last, session, method, params)?;
        // If the browser has ended, so has the writing thread; the next read reports it.
        let _ = self.commands.send(command);
        Ok(self.last)
    }

    /// Interrupts [`Connection::next`].
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// The next message; `None` if [`Waker::wake`] was called.
    ///
    /// # Errors
    /// None came in time.
    pub fn next(&mut self, until: Instant) -> Result<Option<Message>, ReceiveError> {
        if self.has_ended {
            return Err(ReceiveError::Ended);
        }
        if self.waker.is_cancelled.load(Ordering::Acquire) {
            return Err(ReceiveError::Cancelled);
        }
        let wait = until.saturating_duration_since(Instant::now());
        match self.messages.recv_timeout(wait) {
            Ok(Incoming::Message(message)) => Ok(Some(message)),
            Ok(Incoming::Woken) if self.waker.is_cancelled.load(Ordering::Acquire) => Err(ReceiveError::Cancelled),
            Ok(Incoming::Woken) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(ReceiveError::Late),
            Ok(Incoming::Ended) | Err(RecvTimeoutError::Disconnected) => {
                self.has_ended = true;
                Err(ReceiveError::Ended)
            }
        }
    }
}

/// Writes on its own thread, so a browser that does not read does not block the sender.
fn write(mut to: PipeWriter, commands: &Receiver<Vec<u8>>) {
    while let Ok(command) = commands.recv() {
        if to.write_all(&command).is_err() {
            return;
        }
    }
}

fn forward(mut from: PipeReader, arrived: &SyncSender<Incoming>) {
    let (mut splitter, mut bytes, mut is_wanted) = (Splitter::new(MAX_MESSAGE), vec![0; 1 << 16], true);
    while is_wanted {
        let length = match from.read(&mut bytes) {
            Ok(0) => return,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        splitter.take(&bytes[..length], &mut |message| {
            is_wanted &= pass(message, arrived);
        });
    }
}

/// Passes a message on. Returns false if there is no receiver. Messages that do not follow the protocol are dropped.
fn pass(message: &[u8], arrived: &SyncSender<Incoming>) -> bool {
    Message::read(message).map_or(true, |message| arrived.send(Incoming::Message(message)).is_ok())
}
