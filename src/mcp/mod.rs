//! MCP in both eras of the protocol (2025-11-25 with its `initialize`, and 2026-07-28, stateless). [`Client`] is the client's side: what is
//! sent to a server and what its lines mean. [`Server`] is the server's side, in front of a world that speaks our records. Pure: no
//! stream, process or clock.
//!
//! The protocol is a handful of JSON-RPC messages, and everything that a server says is to come through with every digit and every
//! unknown field; so the lines are read here as open views of their raw text.

mod answer;
mod client;
mod server;
mod tools;

pub use answer::{Given, InputRequiredResult, given, reported};
pub use client::{Client, Era, READ_RESOURCE, Round, ServerMessage, Wants};
pub use server::{Header, Origin, Outbox, Server, WorldLine};
pub use tools::{Names, Tool};

/// MCP's code for a version of the protocol that the server does not speak (2026-07-28).
const UNSUPPORTED_VERSION: i64 = -32022;
