//! WebSocket: sends a session's records to the client, and receives its messages.

use super::backlog::{Backlog, BacklogState, numbered};
use super::{Client, ClientMessage, Inbound, KEEP_ALIVE, Server, SlowClients};
use crate::connections::ConnectionPermit;
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use pipewright_record::{Gap, Record};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, interval_at, timeout};

/// A client that accepts no data for this long is disconnected.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// A client that sends nothing for this long, not even the answer to a ping, is disconnected.
const SILENCE: Duration = Duration::from_secs(60);

/// Serves a connection; it is open while this runs.
pub(super) async fn converse(
    server: Server,
    socket: WebSocket,
    session: String,
    after: Option<u64>,
    place: Option<ConnectionPermit>,
) {
    let client = server.join();
    let backlog = server.backlog(&session);
    server.queue_event(Inbound::Joined { client: client.number, session: session.clone() }).await;
    let seen = AtomicU64::new(0);
    let (to, from) = socket.split();
    let (number, own_server) = (client.number, server.clone());
    tokio::select! {
        () = send(client, to, &backlog, after, &seen) => {}
        () = receive(&own_server, number, from, &seen) => {}
    }
    server.release(&session, backlog);
    drop(place);
}

async fn receive(server: &Server, client: u64, mut from: SplitStream<WebSocket>, seen: &AtomicU64) {
    while let Ok(Some(Ok(message))) = timeout(SILENCE, from.next()).await {
        let text = match &message {
            Message::Text(text) => text.as_str(),
            Message::Binary(bytes) => std::str::from_utf8(bytes).unwrap_or_default(),
            Message::Ping(_) | Message::Pong(_) => continue,
            Message::Close(_) => return,
        };
        let text = text.replace(['\n', '\r'], " ");
        server.queue_event(Inbound::Message { client, seen: seen.load(Ordering::Relaxed), text }).await;
    }
}

/// The next action.
enum SocketAction {
    Read,
    Own(Option<ClientMessage>),
    Ping,
}

async fn send(
    mut client: Client,
    mut to: SplitSink<WebSocket, Message>,
    backlog: &Backlog,
    mut after: Option<u64>,
    seen: &AtomicU64,
) {
    let slow = client.server.0.settings.slow;
    let mut changes = backlog.changes();
    let mut pings = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    let mut is_begun = false;
    let close = |code, reason: &'static str| Message::Close(Some(CloseFrame { code, reason: reason.into() }));
    loop {
        changes.mark_unchanged();
        let (state, next) = (backlog.state(), backlog.after(after));
        if let Some((first, last)) = next.missed {
            let is_sent = write(&mut to, [text(numbered(&Gap { first, last }.json(), last))].into_iter()).await;
            after = Some(last);
            if is_begun && slow == SlowClients::Disconnect {
                let _ = write(&mut to, [close(close_code::POLICY, "too slow")].into_iter()).await;
                return;
            }
            if !is_sent {
                return;
            }
        }
        if let Some((last, _)) = next.records.last() {
            let messages = next.records.iter().map(|(_, record)| text(record.clone()));
            if !write(&mut to, messages).await {
                return;
            }
            (after, is_begun) = (Some(*last), true);
            seen.store(*last, Ordering::Relaxed);
            continue;
        }
        if state == BacklogState::Over {
            let _ = write(&mut to, [close(close_code::NORMAL, "the session is closed")].into_iter()).await;
            return;
        }
        let turn = tokio::select! {
            changed = changes.changed() => if changed.is_ok() { SocketAction::Read } else { SocketAction::Own(None) },
            own = client.next() => SocketAction::Own(own),
            _ = pings.tick() => SocketAction::Ping,
        };
        let message = match turn {
            SocketAction::Read => continue,
            SocketAction::Own(Some(ClientMessage::Line(line))) => Message::Text(line.into()),
            SocketAction::Own(Some(ClientMessage::Reply(..))) => continue,
            SocketAction::Own(None) => {
                let _ = write(&mut to, [close(close_code::AWAY, "the server is stopping")].into_iter()).await;
                return;
            }
            SocketAction::Ping => Message::Ping(Vec::new().into()),
        };
        if !write(&mut to, [message].into_iter()).await {
            return;
        }
    }
}

/// Whether the client accepted the messages in time.
async fn write(to: &mut SplitSink<WebSocket, Message>, messages: impl Iterator<Item = Message>) -> bool {
    let written = async {
        for message in messages {
            to.feed(message).await?;
        }
        to.flush().await
    };
    matches!(timeout(WRITE_TIME, written).await, Ok(Ok(())))
}

/// Text that is UTF-8.
fn text(bytes: Bytes) -> Message {
    Message::Text(Utf8Bytes::try_from(bytes).unwrap_or_default())
}
