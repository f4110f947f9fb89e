//! The thread that owns the browser, and the one that reads requests for it.

use super::wire::{Call, Reply, Request, line};
use pipewright_browser::tools::{Problem, ProblemKind, ToolSession};
use pipewright_browser::{ActionError, Waker};
use pipewright_sys::lock;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Starts a browser that is ready for calls, or returns why it cannot.
pub type StartBrowser = Arc<dyn Fn() -> Result<ToolSession, String> + Send + Sync>;

/// Time limit of a call that has none.
const UNLIMITED: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// How long a browser may take to end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(8);

/// The threads of the started browsers.
#[derive(Debug, Clone, Default)]
pub struct WorkerThreads(Arc<Mutex<Vec<JoinHandle<()>>>>);

/// Calls that wait for the thread of the browser.
#[derive(Debug, Default)]
struct Mailbox {
    waiting: VecDeque<Call>,
    /// The number of the running call.
    current: Option<u64>,
    /// No more calls will come.
    has_ended: bool,
}

impl WorkerThreads {
    /// Starts a browser on its own thread, which takes requests and gives replies.
    ///
    /// # Errors
    /// The system cannot create the thread.
    pub fn start(&self, start: &StartBrowser, requests: PipeReader, replies: PipeWriter) -> io::Result<()> {
        let start = Arc::clone(start);
        let thread = thread::Builder::new().name("browser".to_owned());
        lock(&self.0).push(thread.spawn(move || work(&start, requests, replies))?);
        Ok(())
    }

    /// Waits for a moment until all browsers have ended and their profiles are removed.
    pub fn wait(&self) {
        let last_moment = Instant::now() + EXIT_TIMEOUT;
        let threads = std::mem::take(&mut *lock(&self.0));
        while threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < last_moment {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn work(start: &StartBrowser, requests: PipeReader, mut replies: PipeWriter) {
    let mut session = match start() {
        Ok(session) => session,
        Err(why) => return send(&mut replies, &Reply::NotStarted(why)),
    };
    let mailbox = Arc::<Mutex<Mailbox>>::default();
    let (waker, taken) = (session.waker(), Arc::clone(&mailbox));
    let reader = thread::Builder::new().name("requests to browser".to_owned());
    if let Err(error) = reader.spawn(move || read(requests, &taken, &waker)) {
        return send(&mut replies, &Reply::NotStarted(error.to_string()));
    }
    send(&mut replies, &Reply::Ready);
    match serve(&mut session, &mailbox, &mut replies) {
        None => {
            if let Err(why) = session.close() {
                send(&mut replies, &Reply::Note(why.to_string()));
            }
        }
        Some(why) => {
            // Frees a named profile for the next browser.
            drop(session);
            send(&mut replies, &Reply::Lost(why));
        }
    }
}

/// Writes a line. Errors do not matter: then the stage has ended.
fn send(replies: &mut PipeWriter, reply: &Reply) {
    let _ = replies.write_all(line(reply).as_bytes());
}

/// Carries out calls until no more come. Returns why the browser has ended, if it has.
fn serve(session: &mut ToolSession, mailbox: &Mutex<Mailbox>, replies: &mut PipeWriter) -> Option<String> {
    let waker = session.waker();
    loop {
        let next = {
            let mut mailbox = lock(mailbox);
            if mailbox.has_ended {
                waker.reset();
                return None;
            }
            let next = mailbox.waiting.pop_front();
            mailbox.current = next.as_ref().map(|call| call.id);
            waker.reset();
            next
        };
        let Some(call) = next else {
            match session.idle() {
                Err(ActionError::Lost(printed)) => return Some(ActionError::Lost(printed).to_string()),
                _ => continue,
            }
        };
        let until = Instant::now() + call.limit.map_or(UNLIMITED, Duration::from_millis);
        match session.call(&call.tool, call.arguments.get(), until) {
            Ok(result) => send(replies, &Reply::Result { id: call.id, result: raw(&result) }),
            // The stage refuses the call: it may have been executed.
            Err(Problem { kind: ProblemKind::Lost, message, .. }) => return Some(message),
            Err(Problem { kind, code, message, data }) => {
                let (kind, code) = (kind.name().to_owned(), code.map(str::to_owned));
                send(replies, &Reply::Failed { id: call.id, kind, code, message, data: data.as_ref().map(raw) });
            }
        }
    }
}

/// A value as JSON text; it can always be serialised.
fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn read(requests: PipeReader, mailbox: &Mutex<Mailbox>, waker: &Waker) {
    for line in BufReader::new(requests).lines() {
        let Ok(line) = line else { break };
        let mut mailbox = lock(mailbox);
        match serde_json::from_str(&line) {
            Ok(Request::Call(call)) => {
                mailbox.waiting.push_back(call);
                waker.wake();
            }
            Ok(Request::Cancel(id)) if mailbox.current == Some(id) => waker.cancel(),
            Ok(Request::Cancel(id)) => mailbox.waiting.retain(|call| call.id != id),
            // The stage writes nothing else.
            Err(_) => {}
        }
    }
    lock(mailbox).has_ended = true;
    waker.cancel();
}
