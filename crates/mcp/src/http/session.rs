//! A session with a server: sends each message as a separate request, in the order that the protocol requires.

use super::connection_error::ConnectionError;
use super::headers::{HeaderArguments, Message};
use super::{Notice, headers};
use pipewright_http::{Address, Client, Method, Request};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::{Instant, timeout};

/// The session's id, which the server assigns and the client repeats.
pub(super) const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// How long a server may take to accept `notifications/initialized`; then the next request is sent anyway.
const INITIALIZED_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for the answers to other requests after the server has dropped the session.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long the server may take to end the session.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// The events that the session handles.
#[derive(Debug)]
pub(super) enum SessionEvent {
    /// A message to the server.
    Message(Vec<u8>),
    /// The end of the messages.
    End,
    /// A request failed, and the session with it.
    Failed(ConnectionError),
}

/// The parts of a request that its answer needs.
#[derive(Debug)]
pub(super) struct PendingRequest {
    /// Its id as JSON text; `None` if it gets no answer.
    pub(super) id: Option<String>,
    pub(super) purpose: AnswerUse,
    /// Whether it was sent in a session, which the server may have dropped.
    pub(super) in_session: bool,
}

/// Why the session itself reads an answer, besides passing it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerUse {
    Initialize,
    ListTools,
    Other,
}

/// After the server has dropped the session: waits for its answers to the other requests, and gives the ids of those
/// that it has not carried out. Requests that come meanwhile are not sent.
async fn wait_for_refusals(
    first: Option<String>,
    steps: &mut UnboundedReceiver<SessionEvent>,
    in_flight: &mut HashMap<String, AbortHandle>,
) -> Vec<String> {
    let mut refused: Vec<String> = first.into_iter().collect();
    let until = Instant::now() + REFUSAL_TIMEOUT;
    loop {
        match timeout(POLL_INTERVAL, steps.recv()).await {
            Ok(Some(SessionEvent::Failed(ConnectionError::SessionLost(id)))) => refused.extend(id),
            Ok(Some(SessionEvent::Message(line))) => {
                let message = std::str::from_utf8(&line).ok().and_then(Message::read);
                let request = message.filter(Message::is_request);
                refused.extend(request.and_then(|request| Some(request.id?.get().to_owned())));
            }
            Ok(Some(SessionEvent::Failed(_))) => {}
            Ok(Some(SessionEvent::End) | None) => return refused,
            Err(_) => {
                in_flight.retain(|_, task| !task.is_finished());
                if in_flight.is_empty() || until <= Instant::now() {
                    return refused;
                }
            }
        }
    }
}

/// Used by one thread only.
pub(super) struct Session {
    pub(super) longest: usize,
    pub(super) tools: RefCell<HeaderArguments>,
    pub(super) notify: Box<dyn Fn(Notice)>,
    /// The protocol version; empty until it is known.
    pub(super) version: RefCell<String>,
    pub(super) id: RefCell<Option<String>>,
    output: RefCell<Box<dyn Write>>,
    client: Client,
    address: Address,
    steps: UnboundedSender<SessionEvent>,
}

impl Session {
    pub(super) fn new(
        client: Client,
        address: Address,
        longest: usize,
        output: Box<dyn Write>,
        steps: UnboundedSender<SessionEvent>,
        notify: Box<dyn Fn(Notice)>,
    ) -> Session {
        Session {
            longest,
            tools: RefCell::default(),
            notify,
            version: RefCell::default(),
            id: RefCell::default(),
            output: RefCell::new(output),
            client,
            address,
            steps,
        }
    }

    /// Runs until the end of the messages, or until a request fails, which is a notice.
    pub(super) async fn run(self: &Rc<Session>, mut steps: UnboundedReceiver<SessionEvent>) {
        let mut in_flight = HashMap::new();
        while let Some(step) = steps.recv().await {
            match step {
                SessionEvent::Message(line) => self.send(&line, &mut in_flight).await,
                SessionEvent::End => break,
                SessionEvent::Failed(trouble) => {
                    let refused = match &trouble {
                        ConnectionError::SessionLost(id) => {
                            wait_for_refusals(id.clone(), &mut steps, &mut in_flight).await
                        }
                        _ => Vec::new(),
                    };
                    if let Some(why) = trouble.text(&self.address) {
                        (self.notify)(Notice::Ended(why, refused));
                    }
                    return;
                }
            }
        }
        in_flight.values().for_each(AbortHandle::abort);
        let id = self.id.borrow_mut().take();
        if let Some(id) = id {
            let goodbye = self.request(Method::DELETE).header(SESSION, &id);
            // A server may drop the session by itself if ending it fails.
            let _ = timeout(END_TIMEOUT, goodbye.send()).await;
        }
    }

    async fn send(self: &Rc<Session>, line: &[u8], in_flight: &mut HashMap<String, AbortHandle>) {
        let Some(message) = std::str::from_utf8(line).ok().and_then(Message::read) else { return };
        if message.is("initialize") {
            // A new handshake: earlier agreements are void.
            *self.id.borrow_mut() = None;
            self.version.borrow_mut().clear();
        }
        if let Some(version) = message.version() {
            *self.version.borrow_mut() = version;
        }
        if let Some(task) = message.cancels().and_then(|request| in_flight.remove(request.get())) {
            task.abort();
            if self.is_stateless() {
                // In this era, closing the connection cancels the request.
                return;
            }
        }
        let (request, pending) = self.request_for(&message, line);
        if message.is("notifications/initialized") {
            // A server may refuse earlier requests. If it refuses this notification, it will refuse them too.
            let _ = timeout(INITIALIZED_TIMEOUT, self.exchange(request, &pending)).await;
            let session = Rc::clone(self);
            spawn_local(async move { session.report(session.listen().await) });
            return;
        }
        let (session, id) = (Rc::clone(self), pending.id.clone());
        let task = spawn_local(async move { session.report(session.exchange(request, &pending).await) });
        if let Some(id) = id {
            in_flight.retain(|_, task| !task.is_finished());
            in_flight.insert(id, task.abort_handle());
        }
    }

    pub(super) fn is_stateless(&self) -> bool {
        headers::is_stateless(&self.version.borrow())
    }

    fn report(&self, ended: Result<(), ConnectionError>) {
        if let Err(trouble) = ended {
            // Fails only if the session has already ended.
            let _ = self.steps.send(SessionEvent::Failed(trouble));
        }
    }

    fn request_for(&self, message: &Message<'_>, line: &[u8]) -> (Request, PendingRequest) {
        let mut request = self.in_session(Method::POST).header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream").body(line.to_vec());
        for (name, value) in message.headers(&self.version.borrow(), &self.tools.borrow()) {
            request = request.header(&name, &value);
        }
        let purpose = match message.method.as_deref() {
            Some("initialize") => AnswerUse::Initialize,
            Some("tools/list") => AnswerUse::ListTools,
            _ => AnswerUse::Other,
        };
        let id = message.id.filter(|_| message.is_request()).map(|id| id.get().to_owned());
        (request, PendingRequest { id, purpose, in_session: self.id.borrow().is_some() })
    }

    fn request(&self, method: Method) -> Request {
        let request = self.client.request(method);
        let version = self.version.borrow();
        if version.is_empty() { request } else { request.header(VERSION, &version) }
    }

    pub(super) fn in_session(&self, method: Method) -> Request {
        let request = self.request(method);
        match &*self.id.borrow() {
            Some(id) => request.header(SESSION, id),
            None => request,
        }
    }

    /// Writes a message as one line: between the tokens of JSON, a line feed is only white space.
    /// (It blocks while the reader does not read, and the server is then blocked as well.)
    pub(super) fn write(&self, message: &[u8]) -> Result<(), ConnectionError> {
        let mut line = message.to_vec();
        for byte in line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
        line.push(b'\n');
        let mut output = self.output.borrow_mut();
        output.write_all(&line).and_then(|()| output.flush()).map_err(|_| ConnectionError::NoReader)
    }
}
