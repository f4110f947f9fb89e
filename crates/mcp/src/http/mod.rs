//! Servers over Streamable HTTP: each line to the server becomes a request, each message from it a line.
//!
//! rmcp has a client for this, but it converts messages to its own types: it drops unknown fields, turns long integers
//! into floats, and refuses messages over 16 MiB. Here a message keeps every byte that the server sent, so it is read
//! from the bodies themselves. Headers, sessions and the resumption of streams are handled as in rmcp's
//! transport.

mod answer;
mod connection_error;
mod headers;
mod session;

pub use pipewright_http::Address;

use pipewright_http::{Client, Limits};
use pipewright_record::Reason;
use session::{Session, SessionEvent};
use std::io::{BufRead, BufReader, Read, Write};
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::LocalSet;

/// A notice about a connection, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Why the connection has ended, and the ids (JSON text) of requests that the server certainly has not carried out.
    Ended(String, Vec<String>),
    /// A problem that does not end the connection.
    Warning(String),
}

/// A connection that is served by its own threads.
#[derive(Debug)]
pub struct Connection(Receiver<()>);

impl Connection {
    /// Waits until it has ended its session with the server, for at most `most`.
    pub fn wait(&self, most: Duration) {
        // Returns when the sender is dropped.
        let _ = self.0.recv_timeout(most);
    }
}

/// Headers that the protocol sets itself.
const RESERVED: [&str; 5] = ["accept", "content-type", "last-event-id", "mcp-protocol-version", "mcp-session-id"];

/// A server's address: an http or https URL, and the headers of every request by name.
///
/// # Errors
/// What is wrong, without any value.
pub fn address(url: &str, headers: &[(String, String)]) -> Result<Address, Reason> {
    let is_reserved = |name: &str| RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name.trim()));
    match headers.iter().find(|(name, _)| is_reserved(name)) {
        Some((name, _)) => Err(format!("the header {name} is set by the protocol itself").into()),
        None => Address::read(url, headers).map_err(Reason::new),
    }
}

/// Serves a connection until `input` ends, or until it fails with [`Notice::Ended`]. Each line of `input` (a JSON-RPC
/// message) is POSTed; each message from the server is written to `output` as one line. A message longer than `longest`
/// is cut there, and begins with the id of the request that it answers.
pub fn connect(
    address: &Address,
    longest: usize,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    notify: impl Fn(Notice) + Send + 'static,
) -> Connection {
    let (steps, next) = unbounded_channel();
    let (running, ended) = mpsc::channel::<()>();
    let (address, reader) = (address.clone(), steps.clone());
    thread::spawn(move || read(input, &reader));
    thread::spawn(move || {
        let _running = running;
        serve(address, longest, Box::new(output), (steps, next), Box::new(notify));
    });
    Connection(ended)
}

type EventChannel = (UnboundedSender<SessionEvent>, UnboundedReceiver<SessionEvent>);

/// Closes `output` at the end, after the notice with the reason.
fn serve(
    address: Address,
    longest: usize,
    output: Box<dyn Write>,
    (steps, next): EventChannel,
    notify: Box<dyn Fn(Notice)>,
) {
    let runtime = match Builder::new_current_thread().enable_io().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => return notify(Notice::Ended(error.to_string(), Vec::new())),
    };
    // Calls have no time limit here: the caller sets one, and cancels.
    let client = match Client::new(&address, Limits::default()) {
        Ok(client) => client,
        Err(error) => return notify(Notice::Ended(error.to_string(), Vec::new())),
    };
    let session = Rc::new(Session::new(client, address, longest, output, steps, notify));
    LocalSet::new().block_on(&runtime, session.run(next));
    // Does not wait for an open name lookup.
    runtime.shutdown_background();
}

/// Runs on its own thread, because reading a pipe blocks.
fn read(input: impl Read, steps: &UnboundedSender<SessionEvent>) {
    for line in BufReader::with_capacity(1 << 16, input).split(b'\n') {
        let Ok(line) = line else { break };
        if steps.send(SessionEvent::Message(line)).is_err() {
            return;
        }
    }
    // Fails only if the connection has already ended.
    let _ = steps.send(SessionEvent::End);
}
