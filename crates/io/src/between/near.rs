//! The near sides: our own stdout, and the clients of a listener.

use super::Listener;
use super::hub::{Hub, Peer};
use super::writing::DirtySinks;
use crate::report::{Failure, Status};
use crate::sink::Sink;
use crate::stage::{Event, Out, Side, Stage, ToNear};
use pipewright_sys::descriptor::Descriptor;
use pipewright_sys::lock;
use pipewright_sys::socket::Stream;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// A client with more unread bytes than this is disconnected when there is more to send.
const MAX_UNREAD: u64 = 16 << 20;

/// The pause after a client could not be accepted (the process may have no descriptor left).
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// A near side.
pub(super) struct NearSide {
    pub(super) sink: Arc<Sink>,
    /// `None` for our own stdin and stdout.
    client: Option<ClientStream>,
}

struct ClientStream {
    /// For disconnecting it while other threads read and write.
    stream: Stream,
    /// Whether the stage has closed it.
    is_closing: bool,
    /// Whether it was disconnected because it did not read.
    is_overrun: bool,
    /// Whether writing to it has failed and the stage has been notified.
    is_broken: bool,
}

impl NearSide {
    pub(super) fn stdout(to: Descriptor) -> NearSide {
        NearSide { sink: Arc::new(Sink::new(to)), client: None }
    }

    fn client(to: Descriptor, stream: Stream) -> NearSide {
        let client = ClientStream { stream, is_closing: false, is_overrun: false, is_broken: false };
        NearSide { sink: Arc::new(Sink::new(to)), client: Some(client) }
    }

    /// Moves output to the sink; returns whether there is something to write.
    pub(super) fn take(&mut self, wanted: &mut ToNear) -> bool {
        let bytes = &mut wanted.outgoing.bytes;
        let Some(client) = &mut self.client else { return self.sink.append(bytes) };
        if client.is_closing || client.is_broken {
            bytes.clear();
        }
        let closes = wanted.close && !client.is_closing;
        if closes {
            client.is_closing = true;
            // Shutting down fails if the client has already disconnected.
            let _ = client.stream.shutdown(Shutdown::Read);
            self.sink.close();
        }
        if !bytes.is_empty() && !client.is_overrun {
            let progress = self.sink.progress();
            client.is_overrun = progress.appended - progress.written > MAX_UNREAD;
            if client.is_overrun {
                // The thread that is writing to it then finds it broken.
                client.disconnect();
            }
        }
        if client.is_overrun {
            bytes.clear();
        }
        self.sink.append(bytes) || closes
    }

    /// Whether it is a client that the stage has closed, and all its output is written.
    fn has_all(&self) -> bool {
        let progress = self.sink.progress();
        self.client.as_ref().is_some_and(|client| client.is_closing && !client.is_overrun)
            && progress.appended == progress.written
    }

    /// Whether it is a client that cannot be written to any more.
    pub(super) fn is_broken(&self) -> bool {
        self.client.as_ref().is_some_and(|client| client.is_broken)
    }
}

impl ClientStream {
    fn disconnect(&self) {
        // Shutting down fails if the client has already disconnected.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Hub {
    /// Accepts clients until the end of the run.
    pub(super) fn accept(self: &Arc<Hub>, Listener(mut next): Listener) {
        self.spawn(move |hub| {
            let mut number = 0;
            while lock(&hub.core).end.is_none() {
                number += 1;
                if let Err(error) = next().and_then(|stream| hub.join_client(number, stream)) {
                    hub.report.fault("cannot accept a client", error);
                    thread::sleep(ACCEPT_RETRY);
                }
            }
        });
    }

    fn join_client(self: &Arc<Hub>, number: usize, stream: Stream) -> io::Result<()> {
        let from = Descriptor::new(stream.try_clone()?);
        let to = Descriptor::new(stream.try_clone()?);
        let dirty = {
            // Under one lock: the stage is notified before anything can be sent to the client.
            let mut core = lock(&self.core);
            core.nears.insert(number, NearSide::client(to, stream));
            let joined = |stage: &mut dyn Stage, out: &mut Out| stage.on(Event::Joined(number), out);
            self.decide_in(&mut core, Box::new(joined))
        };
        self.write_aside(dirty);
        self.read(Peer::of(Side::Near(number)), from);
        Ok(())
    }

    /// Waits until a client that has closed its output also stops reading, and removes it.
    pub(super) fn wait_and_remove(self: &Arc<Hub>, number: usize, from: &Descriptor) {
        from.wait_for_hang_up(false);
        // If the stage has closed it and all is written, it was we who hung up.
        let has_all = lock(&self.core).nears.get(&number).is_none_or(NearSide::has_all);
        if !has_all {
            self.write_aside(self.client_broken(number, ErrorKind::BrokenPipe.into()));
        }
        lock(&self.core).nears.remove(&number);
    }

    /// A client cannot be written to any more. The stage is notified once.
    pub(super) fn client_broken(&self, number: usize, error: io::Error) -> DirtySinks {
        let mut core = lock(&self.core);
        let Some(client) = core.nears.get_mut(&number).and_then(|near| near.client.as_mut()) else {
            return DirtySinks::default();
        };
        if std::mem::replace(&mut client.is_broken, true) {
            return DirtySinks::default();
        }
        client.disconnect();
        let error = match client.is_overrun {
            true => io::Error::other(format!("it read nothing while {} MiB waited for it", MAX_UNREAD >> 20)),
            false => error,
        };
        // The thread that reads it may be paused.
        self.changed.notify_all();
        let act = move |stage: &mut dyn Stage, out: &mut Out| stage.on(Event::Broken(Side::Near(number), error), out);
        self.decide_in(&mut core, Box::new(act))
    }

    /// Our stdout cannot be written any more: a quiet end if its reader has closed it, a fault otherwise.
    pub(super) fn stdout_broken(&self, error: io::Error) -> DirtySinks {
        let end = match error.kind() {
            ErrorKind::BrokenPipe => None,
            _ => Some(Failure::new(Status::Fault, format_args!("stdout: {error}"))),
        };
        let act = move |stage: &mut dyn Stage, out: &mut Out| stage.on(Event::Broken(Side::NEAR, error), out);
        let dirty = self.decide(None, Box::new(act));
        self.end(end.map_or_else(|| Ok(self.report.finish()), Err));
        dirty
    }
}
