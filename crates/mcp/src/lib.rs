//! MCP in both eras of the protocol (2025-11-25 with its `initialize`, and 2026-07-28, stateless). [`Client`] is the
//! client's side: the lines to a server, and the meaning of its lines. [`Server`] is the server's side, in front of a
//! world that uses our records. Neither does I/O or reads a clock. The features `schema` and `http` bring what is
//! heavy: JSON Schema, and servers over Streamable HTTP.
//!
//! The protocol consists of a few JSON-RPC messages, and everything that a server sends must be passed on with every
//! digit and every unknown field. The lines are therefore read as views of their raw text.

mod answer;
mod client;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "schema")]
mod schema;
mod server;
mod tools;

pub use answer::{CallOutcome, InputRequiredResult, given, reported};
pub use client::{Client, ClientOptions, Era, InputAnswers, READ_RESOURCE, ServerMessage};
#[cfg(feature = "schema")]
pub use schema::Schema;
pub use server::{Header, Origin, Outbox, Server, WorldLine};
pub use tools::{NameFilter, Tool};

/// MCP's code for an unsupported version of the protocol (2026-07-28).
const UNSUPPORTED_VERSION: i64 = -32022;
