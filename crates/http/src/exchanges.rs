//! Requests for blocking callers: they run concurrently on one thread, and their results are delivered piece by piece.

use crate::{Address, Client, Error, Method, events::Event};
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{AbortHandle, LocalSet, spawn_local};

/// The limits of an answer's size.
#[derive(Debug, Clone, Copy)]
pub struct SizeLimits {
    /// Bytes of the data of one event.
    pub event: usize,
    /// Bytes of a body that is not a stream of events; the beginning of a longer one is delivered.
    pub body: usize,
}

/// A piece of a request's result. A request gives an [`Arrival::Head`], then either events and the end, or a body. A
/// failure may come at any time, and is the last piece.
#[derive(Debug)]
pub enum Arrival {
    /// The status, and the headers with lower-case names; values that are not visible ASCII are dropped.
    Head(u16, Vec<(String, String)>),
    /// The next event of a successful answer.
    Event(Event),
    /// The stream of events has ended.
    End,
    /// The complete answer, if it is not a successful stream of events.
    Body(Vec<u8>),
    /// The request failed: the last piece.
    Failed(Error),
}

/// A thread that sends requests. Dropping this cancels the open ones.
#[derive(Debug)]
pub struct Exchanges {
    orders: UnboundedSender<ThreadCommand>,
}

#[derive(Debug)]
enum ThreadCommand {
    Send { number: u64, method: Method, body: Vec<u8> },
    Move(Box<Address>),
    Cancel(u64),
}

impl Exchanges {
    /// `deliver` gets the pieces of each request, with the request's number. It is called on the thread of the
    /// requests; nothing else is read while it blocks.
    ///
    /// # Errors
    /// If the system provides no thread, or not the resources that tokio needs.
    pub fn start(
        client: Client,
        longest: SizeLimits,
        deliver: impl Fn(u64, Arrival) + Send + 'static,
    ) -> io::Result<Exchanges> {
        let (orders, next) = unbounded_channel();
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        thread::Builder::new().name("requests".to_owned()).spawn(move || {
            LocalSet::new().block_on(&runtime, serve(next, client, longest, Rc::new(deliver)));
            // Does not wait for an open name lookup.
            runtime.shutdown_background();
        })?;
        Ok(Exchanges { orders })
    }

    /// Sends a POST to the client's address. Every request needs its own number.
    pub fn post(&self, number: u64, body: Vec<u8>) {
        // The thread takes orders as long as this exists.
        let _ = self.orders.send(ThreadCommand::Send { number, method: Method::POST, body });
    }

    /// Sends a GET to the client's address.
    pub fn get(&self, number: u64) {
        let _ = self.orders.send(ThreadCommand::Send { number, method: Method::GET, body: Vec::new() });
    }

    /// Sends later requests to another address of the same server.
    pub fn move_to(&self, address: Address) {
        let _ = self.orders.send(ThreadCommand::Move(Box::new(address)));
    }

    /// Cancels a request. Pieces that were delivered before may still be in the caller's queue.
    pub fn cancel(&self, number: u64) {
        let _ = self.orders.send(ThreadCommand::Cancel(number));
    }
}

async fn serve(
    mut orders: UnboundedReceiver<ThreadCommand>,
    mut client: Client,
    longest: SizeLimits,
    deliver: Rc<dyn Fn(u64, Arrival)>,
) {
    let mut running: HashMap<u64, AbortHandle> = HashMap::new();
    while let Some(order) = orders.recv().await {
        match order {
            ThreadCommand::Move(address) => client = client.at(&address),
            ThreadCommand::Send { number, method, body } => {
                running.retain(|_, task| !task.is_finished());
                let (client, deliver) = (client.clone(), Rc::clone(&deliver));
                let task = spawn_local(async move {
                    if let Err(error) = exchange(&client, method, body, longest, &|what| deliver(number, what)).await {
                        deliver(number, Arrival::Failed(error));
                    }
                });
                running.insert(number, task.abort_handle());
            }
            ThreadCommand::Cancel(number) => {
                running.remove(&number).inspect(AbortHandle::abort);
            }
        }
    }
}

async fn exchange(
    client: &Client,
    method: Method,
    body: Vec<u8>,
    longest: SizeLimits,
    deliver: &dyn Fn(Arrival),
) -> Result<(), Error> {
    let request = client.request(method).header("content-type", "application/json").body(body);
    let response = request.send().await?;
    deliver(Arrival::Head(response.status().as_u16(), response.headers()));
    if response.status().is_success() && response.media_type() == "text/event-stream" {
        let mut events = response.events(longest.event);
        while let Some(event) = events.next().await? {
            deliver(Arrival::Event(event));
        }
        deliver(Arrival::End);
        return Ok(());
    }
    let body = match response.body(longest.body).await {
        Err(Error::TooLong { beginning, .. }) => beginning,
        body => body?,
    };
    deliver(Arrival::Body(body));
    Ok(())
}
