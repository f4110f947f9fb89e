//! Passes the pieces of answers from the thread that sends requests to the stage. The pieces go through a channel; a
//! byte in a pipe, which the stage reads, announces them.

use pipewright_http::Client;
use pipewright_http::exchanges::{Arrival, Exchanges, SizeLimits};
use pipewright_sys::descriptor::Descriptor;
use std::io::{self, PipeWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The most pieces that are queued for the stage; the network is read no further then.
const MAX_QUEUED: usize = 256;

/// The receiving end, in the stage.
pub struct ArrivalReceiver {
    pieces: Receiver<(u64, Arrival)>,
    is_announced: Arc<AtomicBool>,
}

/// The sending end, in the thread that sends requests.
struct ArrivalSender {
    pieces: SyncSender<(u64, Arrival)>,
    is_announced: Arc<AtomicBool>,
    wake: PipeWriter,
}

/// The most bytes of one event's data. Gemini sends a complete image in one event.
const MAX_EVENT: usize = 64 << 20;
/// The most bytes of an answer that is not a stream: a turn, or an error.
const MAX_BODY: usize = MAX_EVENT;

/// Both.
pub const SIZES: SizeLimits = SizeLimits { event: MAX_EVENT, body: MAX_BODY };

/// Starts a thread that sends requests. Gives the requests' end, the receiving end, and a descriptor that gets a line
/// when pieces have arrived, and one at the start.
///
/// # Errors
/// The process is out of descriptors or threads.
pub fn start(client: Client) -> io::Result<(Exchanges, ArrivalReceiver, Descriptor)> {
    let (reader, wake) = io::pipe()?;
    let (sender, receiver) = sync_channel(MAX_QUEUED);
    let is_announced = Arc::new(AtomicBool::new(false));
    let delivery = ArrivalSender { pieces: sender, is_announced: Arc::clone(&is_announced), wake };
    // A request from the command line causes no event that would run the stage.
    delivery.wake();
    let exchanges = Exchanges::start(client, SIZES, move |number, piece| delivery.deliver(number, piece))?;
    Ok((exchanges, ArrivalReceiver { pieces: receiver, is_announced }, Descriptor::new(reader)))
}

impl ArrivalSender {
    /// Passes on a piece; blocks while the queue is full.
    fn deliver(&self, number: u64, piece: Arrival) {
        if self.pieces.send((number, piece)).is_ok() {
            self.wake();
        }
    }

    /// Makes the stage run with the pieces that have arrived.
    fn wake(&self) {
        if !self.is_announced.swap(true, Ordering::SeqCst) {
            // Fails only if the stage is gone.
            let _ = (&self.wake).write_all(b"\n");
        }
    }
}

impl ArrivalReceiver {
    /// The pieces that have arrived, in order.
    pub fn take(&self) -> impl Iterator<Item = (u64, Arrival)> {
        // Reset first, so that a piece that arrives meanwhile is announced again.
        self.is_announced.store(false, Ordering::SeqCst);
        self.pieces.try_iter()
    }
}
