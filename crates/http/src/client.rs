//! A client of one address, and its requests.

use crate::address::Address;
use crate::error::Error;
use crate::response::Response;
use crate::roots;
use reqwest::{Method, RequestBuilder, redirect};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long the parts of an exchange may take; `None` sets no limit.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// To make a connection: name lookup, proxy and TLS handshake included.
    pub connect: Duration,
    /// From sending a request until the head of its answer, connecting and redirects included.
    pub first_byte: Option<Duration>,
    /// Between two pieces of a body. A comment in a stream of events is a piece too.
    pub idle: Option<Duration>,
    /// From sending a request until the end of its answer.
    pub total: Option<Duration>,
    /// How many redirects in a row are followed, within the origin; the next one is the answer.
    pub redirects: usize,
}

impl Default for Limits {
    /// Ten seconds to connect, five redirects, and no other limit.
    fn default() -> Limits {
        Limits { connect: Duration::from_secs(10), first_byte: None, idle: None, total: None, redirects: 5 }
    }
}

/// How long an unused connection is kept. Servers close theirs after a time of their own, the shortest usual one being five seconds
/// (uvicorn, Node): a request that is sent just then is lost, and it cannot be told from one that the server has taken.
const KEPT: Duration = Duration::from_secs(4);

/// Sends requests to an address. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Client {
    inner: reqwest::Client,
    address: Address,
    limits: Limits,
}

impl Client {
    /// A client whose every request carries the headers of `address`.
    ///
    /// # Errors
    /// [`Error::Client`] where the client cannot be made.
    pub fn new(address: &Address, limits: Limits) -> Result<Client, Error> {
        let origin = address.url().origin();
        let within_origin = redirect::Policy::custom(move |attempt| {
            if attempt.url().origin() == origin && attempt.previous().len() <= limits.redirects {
                attempt.follow()
            } else {
                attempt.stop()
            }
        });
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(roots::tls()?)
            .connect_timeout(limits.connect)
            .pool_idle_timeout(KEPT)
            .redirect(within_origin)
            .user_agent(concat!("pipewright/", env!("CARGO_PKG_VERSION")))
            .default_headers(address.headers().clone());
        // For a proxy, the names of this machine mean the proxy's own.
        let builder = if address.is_loopback() { builder.no_proxy() } else { builder };
        let inner = builder.build().map_err(|error| Error::Client(crate::error::innermost(&error)))?;
        Ok(Client { inner, address: address.clone(), limits })
    }

    /// A request to the client's address.
    pub fn request(&self, method: Method) -> Request {
        Request { inner: self.inner.request(method, self.address.url().clone()), limits: self.limits }
    }
}

/// A request that is not sent yet.
#[derive(Debug)]
#[must_use]
pub struct Request {
    inner: RequestBuilder,
    limits: Limits,
}

impl Request {
    /// Adds a header. One that cannot be sent makes [`Request::send`] fail.
    pub fn header(self, name: &str, value: &str) -> Request {
        Request { inner: self.inner.header(name, value), ..self }
    }

    /// Sets the body.
    pub fn body(self, body: Vec<u8>) -> Request {
        Request { inner: self.inner.body(body), ..self }
    }

    /// Sends the request and waits for the head of its answer, whatever its status.
    ///
    /// # Errors
    /// [`Error::Connect`], [`Error::Broken`], [`Error::FirstByte`] or [`Error::Total`]; [`Error::Client`] where a header cannot be sent.
    pub async fn send(self) -> Result<Response, Error> {
        let Limits { connect, first_byte, idle, total, .. } = self.limits;
        let sent = Instant::now();
        let end = total.and_then(|total| Some((sent.checked_add(total)?, Error::Total(total))));
        let head = first_byte.and_then(|limit| Some((sent.checked_add(limit)?, Error::FirstByte(limit))));
        // A connection that the server has closed by now is noticed when the runtime looks at its sockets, which it does at a yield;
        // the second is for the task that owns the connection.
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        let inner = by([head, end.clone()], self.inner.send()).await?.map_err(|error| match error {
            _ if error.is_connect() && error.is_timeout() => {
                Error::Connect(format!("no connection within {connect:?}"))
            }
            _ => error.into(),
        })?;
        Ok(Response::new(inner, idle, end))
    }
}

/// A time, and the error that it ends with.
pub(crate) type Deadline = Option<(Instant, Error)>;

/// Waits for `future`, but not past the earliest of `deadlines`.
pub(crate) async fn by<F: Future>(deadlines: [Deadline; 2], future: F) -> Result<F::Output, Error> {
    match deadlines.into_iter().flatten().min_by_key(|(at, _)| *at) {
        Some((at, error)) => timeout_at(at, future).await.map_err(|_| error),
        None => Ok(future.await),
    }
}
