//! The thread that owns the browser, and the one that reads requests for it.

use super::wire::{Reply, Request};
use crate::io::lock;
use pipewright_browser::tools::{Problem, ProblemKind, Session};
use pipewright_browser::{Fault, Waker};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Starts a browser that is ready for calls, or returns why it cannot.
pub type Start = Arc<dyn Fn() -> Result<Session, String> + Send + Sync>;

/// Time limit of a call that has none.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// How long a browser may take to end.
const ENDING: Duration = Duration::from_secs(8);

/// The threads of the started browsers.
#[derive(Debug, Clone, Default)]
pub struct Workers(Arc<Mutex<Vec<JoinHandle<()>>>>);

/// Calls that wait for the thread of the browser.
#[derive(Debug, Default)]
struct Mailbox {
    waiting: VecDeque<Waiting>,
    /// The number of the running call.
    current: Option<u64>,
    /// No more calls will come.
    has_ended: bool,
}

#[derive(Debug)]
struct Waiting {
    id: u64,
    tool: String,
    arguments: Box<RawValue>,
    limit: Option<u64>,
}

impl Workers {
    /// Starts a browser on its own thread, which takes requests and gives replies.
    ///
    /// # Errors
    /// The system cannot create the thread.
    pub fn start(&self, start: &Start, requests: PipeReader, replies: PipeWriter) -> io::Result<()> {
        let start = Arc::clone(start);
        let thread = thread::Builder::new().name("browser".to_owned());
        lock(&self.0).push(thread.spawn(move || work(&start, requests, replies))?);
        Ok(())
    }

    /// Waits for a moment until all browsers have ended and their profiles are removed.
    pub fn wait(&self) {
        let last_moment = Instant::now() + ENDING;
        let threads = std::mem::take(&mut *lock(&self.0));
        while threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < last_moment {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn work(start: &Start, requests: PipeReader, mut replies: PipeWriter) {
    let mut session = match start() {
        Ok(session) => session,
        Err(why) => return send(&mut replies, &Reply::not_started(&why)),
    };
    let mailbox = Arc::<Mutex<Mailbox>>::default();
    let (waker, taken) = (session.waker(), Arc::clone(&mailbox));
    let reader = thread::Builder::new().name("requests to browser".to_owned());
    if let Err(error) = reader.spawn(move || read(requests, &taken, &waker)) {
        return send(&mut replies, &Reply::not_started(&error.to_string()));
    }
    send(&mut replies, &Reply::ready());
    match serve(&mut session, &mailbox, &mut replies) {
        None => {
            if let Err(why) = session.close() {
                send(&mut replies, &Reply::note(&why.to_string()));
            }
        }
        Some(why) => {
            // Frees a named profile for the next browser.
            drop(session);
            send(&mut replies, &Reply::lost(&why));
        }
    }
}

/// Writes a line. Errors do not matter: then the stage has ended.
fn send(replies: &mut PipeWriter, line: &str) {
    let _ = replies.write_all(line.as_bytes());
}

/// Carries out calls until no more come. Returns why the browser has ended, if it has.
fn serve(session: &mut Session, mailbox: &Mutex<Mailbox>, replies: &mut PipeWriter) -> Option<String> {
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
                Err(Fault::Lost(printed)) => return Some(Fault::Lost(printed).to_string()),
                _ => continue,
            }
        };
        let until = Instant::now() + call.limit.map_or(LONGEST, Duration::from_millis);
        match session.call(&call.tool, call.arguments.get(), until) {
            Ok(result) => send(replies, &Reply::result(call.id, &result)),
            // The stage refuses the call: it may have been executed.
            Err(Problem { kind: ProblemKind::Lost, message, .. }) => return Some(message),
            Err(problem) => send(replies, &Reply::failed(call.id, &problem)),
        }
    }
}

fn read(requests: PipeReader, mailbox: &Mutex<Mailbox>, waker: &Waker) {
    for line in BufReader::new(requests).lines() {
        let Ok(line) = line else { break };
        let mut mailbox = lock(mailbox);
        match serde_json::from_str(&line) {
            Ok(Request::Call { id, tool, arguments, limit }) => {
                mailbox.waiting.push_back(Waiting { id, tool, arguments, limit });
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
