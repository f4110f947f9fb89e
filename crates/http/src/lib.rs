//! The HTTP client of `mcp-pipe --url` and of the model client: requests with limits on the size and time of answers,
//! server-sent events, and messages without secrets.
//!
//! A [`Client`] sends requests to one [`Address`] and reuses its connections. Redirects are followed within the origin
//! only, so that headers reach no other server. Proxies are taken from the environment (`HTTP_PROXY`, `HTTPS_PROXY`,
//! `ALL_PROXY`, `NO_PROXY`, in either case), but never for this machine. Certificates are checked against the
//! platform's roots, which are read at the first TLS handshake.
//!
//! The client is async and needs a tokio runtime with time and I/O; [`exchanges`] are for callers that block. A request
//! is cancelled by dropping its future or its
//! [`Response`]: the connection is closed, unless the answer was read to its end.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod address;
mod client;
mod error;
pub mod events;
pub mod exchanges;
mod response;
mod roots;

pub use address::Address;
pub use client::{Client, Limits, Request};
pub use error::Error;
pub use reqwest::{Method, StatusCode};
pub use response::{Events, Response};
pub use roots::tls;
