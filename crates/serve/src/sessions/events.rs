//! Server-sent events: a session's records, or the events of a run.

use super::backlog::{Backlog, BacklogState};
use super::{Client, ClientMessage, Inbound, KEEP_ALIVE, Server, SlowClients};
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use pipewright_record::{Gap, Record};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::timeout;

/// Nginx would buffer the events.
const UNBUFFERED: (&str, &str) = ("x-accel-buffering", "no");
const COMMENT: Bytes = Bytes::from_static(b":\n\n");

fn respond(events: impl stream::Stream<Item = Bytes> + Send + 'static) -> Response {
    let body = Body::from_stream(events.map(Ok::<Bytes, Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], [UNBUFFERED], body).into_response()
}

/// A carriage return would end a line of the event; between the tokens of JSON, a space has the same meaning.
fn data(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

/// A client that reads a session.
struct Reader {
    client: Client,
    session: String,
    backlog: Arc<Backlog>,
    changes: watch::Receiver<u64>,
    after: Option<u64>,
    /// Chunks to send before more is read.
    chunks: VecDeque<Bytes>,
    is_begun: bool,
    is_over: bool,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.client.server.release(&self.session, Arc::clone(&self.backlog));
    }
}

/// The records of a session after the one with this number; the `id` of each event is the number of its record.
pub(super) async fn of_session(server: &Server, session: &str, backlog: Arc<Backlog>, after: Option<u64>) -> Response {
    let client = server.join();
    server.queue_event(Inbound::Joined { client: client.number, session: session.to_owned() }).await;
    let (changes, session) = (backlog.changes(), session.to_owned());
    let chunks = VecDeque::new();
    let reader = Reader { client, session, backlog, changes, after, chunks, is_begun: false, is_over: false };
    respond(stream::unfold(reader, |mut reader| async move { Some((reader.next().await?, reader)) }))
}

/// Records up to this length are copied into one chunk; longer ones are shared by all clients.
const SHORT_RECORD: usize = 16 << 10;

impl Reader {
    /// The next chunk to send; `None` ends the stream.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(chunk) = self.chunks.pop_front() {
                return Some(chunk);
            }
            if self.is_over {
                return None;
            }
            self.changes.mark_unchanged();
            let state = self.backlog.state();
            self.read();
            if !self.chunks.is_empty() {
                self.is_begun = true;
                continue;
            }
            if state == BacklogState::Over {
                return None;
            }
            // A client gets the head of the answer at once, and so knows that it is connected.
            if !std::mem::replace(&mut self.is_begun, true) {
                return Some(COMMENT);
            }
            tokio::select! {
                changed = self.changes.changed() => changed.ok()?,
                () = tokio::time::sleep(KEEP_ALIVE) => return Some(COMMENT),
            }
        }
    }

    /// Takes the available records.
    fn read(&mut self) {
        let next = self.backlog.after(self.after);
        let mut events = String::new();
        if let Some((first, last)) = next.missed {
            let _ = write!(events, "id: {last}\ndata: {}\n\n", Gap { first, last }.json());
            self.after = Some(last);
            self.is_over = self.is_begun && self.client.server.0.settings.slow == SlowClients::Disconnect;
        }
        for (number, record) in next.records.into_iter().filter(|_| !self.is_over) {
            let _ = write!(events, "id: {number}\ndata: ");
            if record.len() > SHORT_RECORD {
                self.chunks.extend([std::mem::take(&mut events).into(), record]);
            } else {
                events.push_str(&String::from_utf8_lossy(&record));
            }
            events.push_str("\n\n");
            self.after = Some(number);
        }
        self.chunks.extend((!events.is_empty()).then(|| events.into()));
    }
}

/// The events of a run; they end with the client's lines.
pub(super) fn of_run(client: Client) -> Response {
    respond(stream::unfold(client, |mut client| async move {
        let event = match timeout(KEEP_ALIVE, client.next()).await {
            Ok(Some(ClientMessage::Line(line))) => format!("data: {}\n\n", data(&line)).into(),
            Ok(_) => return None,
            Err(_) => COMMENT,
        };
        Some((event, client))
    }))
}
