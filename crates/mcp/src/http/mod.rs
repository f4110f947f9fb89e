//! Servers that are reached over Streamable HTTP: each line that is sent becomes a request, each message that comes a line.
//!
//! rmcp has a client for this, but it gives messages as its own types: fields that it doesn't know are dropped, long integers become
//! floats, and what is longer than 16 MiB is refused. Here a message keeps every byte that the server sent, so it is taken from the
//! bodies themselves; what rmcp's transport does beside that (headers, sessions, streams that are taken up again) is
//! followed.

mod answer;
mod headers;
mod session;
mod trouble;

pub use pipewright_http::Address;

use pipewright_http::{Client, Limits};
use session::{Session, Step};
use std::io::{BufRead, BufReader, Read, Write};
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::LocalSet;

/// What people should know about a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Why it ends.
    Ended(String),
    /// What is wrong though it goes on.
    Warning(String),
}

/// A connection that is served on threads of its own.
#[derive(Debug)]
pub struct Connection(Receiver<()>);

impl Connection {
    /// Waits until it has ended its session with the server, but no longer than `most`.
    pub fn wait(&self, most: Duration) {
        // What is waited for is that the sender is dropped.
        let _ = self.0.recv_timeout(most);
    }
}

/// Headers that the protocol sets itself.
const RESERVED: [&str; 5] = ["accept", "content-type", "last-event-id", "mcp-protocol-version", "mcp-session-id"];

/// A server's address: an http or https URL, and the headers of every request by name.
///
/// # Errors
/// What is wrong, without any value.
pub fn address(url: &str, headers: &[(String, String)]) -> Result<Address, String> {
    let is_reserved = |name: &str| RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name.trim()));
    match headers.iter().find(|(name, _)| is_reserved(name)) {
        Some((name, _)) => Err(format!("the header {name} is set by the protocol itself")),
        None => Address::read(url, headers),
    }
}

/// Serves a connection until `input` ends, or until it fails, which is [`Notice::Ended`]: each line of `input` (a JSON-RPC message) is
/// POSTed, and each message that comes is written to `output` as one line. A message that is longer than `longest` is cut after that, and
/// begins with the id of what it answers.
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

type Steps = (UnboundedSender<Step>, UnboundedReceiver<Step>);

/// Closes `output` at the end, after the notice that says why.
fn serve(address: Address, longest: usize, output: Box<dyn Write>, (steps, next): Steps, notify: Box<dyn Fn(Notice)>) {
    let runtime = match Builder::new_current_thread().enable_io().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => return notify(Notice::Ended(error.to_string())),
    };
    // A call may take as long as it likes: who makes it sets the limit, and cancels.
    let client = match Client::new(&address, Limits::default()) {
        Ok(client) => client,
        Err(error) => return notify(Notice::Ended(error.to_string())),
    };
    let session = Rc::new(Session::new(client, address, longest, output, steps, notify));
    LocalSet::new().block_on(&runtime, session.run(next));
    // A name that is being looked up would be waited for.
    runtime.shutdown_background();
}

/// A thread of its own, because a pipe is read only by waiting for it.
fn read(input: impl Read, steps: &UnboundedSender<Step>) {
    for line in BufReader::with_capacity(1 << 16, input).split(b'\n') {
        let Ok(line) = line else { break };
        if steps.send(Step::Message(line)).is_err() {
            return;
        }
    }
    // Where nobody listens any more, it has ended already.
    let _ = steps.send(Step::End);
}
