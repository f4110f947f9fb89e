//! A client of one address, and its requests.

use crate::address::Address;
use crate::error::Error;
use crate::response::Response;
use crate::roots;
use reqwest::{Method, RequestBuilder, redirect};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The time limits of an exchange; `None` sets no limit.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// To make a connection, including name lookup, proxy and TLS handshake.
    pub connect: Duration,
    /// From sending a request until the head of its answer, including the connection and redirects.
    pub first_byte: Option<Duration>,
    /// Between two pieces of a body. A comment in a stream of events counts as a piece.
    pub idle: Option<Duration>,
    /// From sending a request until the end of its answer.
    pub total: Option<Duration>,
    /// How many redirects in a row are followed, within the origin; the next redirect is returned as the answer.
    pub redirects: usize,
}

impl Default for Limits {
    /// Ten seconds to connect, five redirects, and no other limit.
    fn default() -> Limits {
        Limits { connect: Duration::from_secs(10), first_byte: None, idle: None, total: None, redirects: 5 }
    }
}

/// How long an unused connection is kept. Servers close unused connections after a while; the shortest usual time is
/// five seconds (uvicorn, Node). A request that is sent at that moment is lost, and cannot be distinguished from one
/// that the server has accepted.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// Sends requests to an address. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Client {
    inner: reqwest::Client,
    address: Address,
    limits: Limits,
}

impl Client {
    /// A client that sends the headers of `address` with every request.
    ///
    /// # Errors
    /// [`Error::Client`] if the client cannot be created.
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
            .pool_idle_timeout(IDLE_TIMEOUT)
            .redirect(within_origin)
            .user_agent(concat!("pipewright/", env!("CARGO_PKG_VERSION")))
            .default_headers(address.headers().clone());
        // The names of this machine would mean the proxy's own machine to a proxy.
        let builder = if address.is_loopback() { builder.no_proxy() } else { builder };
        let inner = builder.build().map_err(|error| Error::Client(crate::error::innermost(&error)))?;
        Ok(Client { inner, address: address.clone(), limits })
    }

    /// A client of another address of the same server: it sends the same headers.
    #[must_use]
    pub fn at(&self, address: &Address) -> Client {
        Client { address: address.clone(), ..self.clone() }
    }

    /// A request to the client's address.
    pub fn request(&self, method: Method) -> Request {
        let inner = self.inner.request(method, self.address.url().clone()).header("accept-encoding", "identity");
        Request { inner, limits: self.limits }
    }
}

/// A request that has not been sent.
#[derive(Debug)]
#[must_use]
pub struct Request {
    inner: RequestBuilder,
    limits: Limits,
}

impl Request {
    /// Adds a header. An invalid one makes [`Request::send`] fail.
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
    /// [`Error::Connect`], [`Error::Broken`], [`Error::Encoded`], [`Error::FirstByte`] or [`Error::Total`];
    /// [`Error::Client`] if a header is invalid.
    pub async fn send(self) -> Result<Response, Error> {
        let Limits { connect, first_byte, idle, total, .. } = self.limits;
        let sent = Instant::now();
        let end = total.and_then(|total| Some((sent.checked_add(total)?, Error::Total(total))));
        let head = first_byte.and_then(|limit| Some((sent.checked_add(limit)?, Error::FirstByte(limit))));
        // A connection that the server has closed meanwhile is noticed when the runtime polls its sockets, which it
        // does at a yield; the second yield is for the task that owns the connection.
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        let inner = by([head, end.clone()], self.inner.send()).await?.map_err(|error| match error {
            _ if error.is_connect() && error.is_timeout() => {
                Error::Connect(format!("no connection within {connect:?}"))
            }
            _ => error.into(),
        })?;
        let response = Response::new(inner, idle, end);
        match response.header("content-encoding").map(str::trim).filter(|name| !["", "identity"].contains(name)) {
            Some(name) => Err(Error::Encoded(name.to_owned())),
            None => Ok(response),
        }
    }
}

/// A time, and the error if it passes.
pub(crate) type Deadline = Option<(Instant, Error)>;

/// Waits for `future`, at most until the earliest of `deadlines`.
pub(crate) async fn by<F: Future>(deadlines: [Deadline; 2], future: F) -> Result<F::Output, Error> {
    match deadlines.into_iter().flatten().min_by_key(|(at, _)| *at) {
        Some((at, error)) => timeout_at(at, future).await.map_err(|_| error),
        None => Ok(future.await),
    }
}
