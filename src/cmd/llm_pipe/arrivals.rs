//! What comes of requests, on its way from the thread that sends them to the stage: the pieces go over a channel, and a byte over a
//! pipe that the stage is read from.

use crate::io::descriptor::Descriptor;
use pipewright_http::Client;
use pipewright_http::exchanges::{Arrival, Exchanges, Longest};
use std::io::{self, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// So many pieces wait for the stage; then the network is read no further.
const WAITING: usize = 256;

/// The stage's end.
pub struct Arrivals {
    pieces: Receiver<(u64, Arrival)>,
    is_announced: Arc<AtomicBool>,
}

/// The end of the thread that sends requests.
struct Delivery {
    pieces: SyncSender<(u64, Arrival)>,
    is_announced: Arc<AtomicBool>,
    wake: PipeWriter,
}

/// Of one event's data. Gemini sends an image in one.
const LONGEST_EVENT: usize = 64 << 20;
/// Of an error's body, of which only the message is read.
const LONGEST_BODY: usize = 1 << 20;

/// A thread that sends requests, what comes of them, and the descriptor that has a line to read when something has come, and once at the
/// start.
///
/// # Errors
/// The process has no descriptor or thread left.
pub fn start(client: Client) -> io::Result<(Exchanges, Arrivals, Descriptor)> {
    let (reader, wake) = io::pipe()?;
    let (sender, receiver) = sync_channel(WAITING);
    let is_announced = Arc::new(AtomicBool::new(false));
    let delivery = Delivery { pieces: sender, is_announced: Arc::clone(&is_announced), wake };
    // A request of the command line is no event that the stage would run for.
    delivery.wake();
    let longest = Longest { event: LONGEST_EVENT, body: LONGEST_BODY };
    let exchanges = Exchanges::start(client, longest, move |number, piece| delivery.deliver(number, piece))?;
    Ok((exchanges, Arrivals { pieces: receiver, is_announced }, OwnedFd::from(reader).into()))
}

impl Delivery {
    /// Hands a piece over; waits while the stage is behind.
    fn deliver(&self, number: u64, piece: Arrival) {
        if self.pieces.send((number, piece)).is_ok() {
            self.wake();
        }
    }

    /// Has the stage run, with the pieces that have come.
    fn wake(&self) {
        if !self.is_announced.swap(true, Ordering::SeqCst) {
            // It fails where the stage has gone.
            let _ = (&self.wake).write_all(b"\n");
        }
    }
}

impl Arrivals {
    /// The pieces that have come, in order.
    pub fn take(&self) -> impl Iterator<Item = (u64, Arrival)> {
        // First, so that a piece that comes meanwhile is announced again.
        self.is_announced.store(false, Ordering::SeqCst);
        self.pieces.try_iter()
    }
}
