//! MCP, the client's side: what is sent to a server and what its lines mean, in both eras of the protocol (2025-11-25 with its
//! `initialize`, and 2026-07-28, stateless). Pure: no stream, process or clock. Seed 001 sections 2 and 9, seed 002.
//!
//! The protocol is a handful of JSON-RPC messages, and everything that a server says is to come through with every digit and every
//! unknown field; so the lines are read here as open views of their raw text.

mod answer;
mod client;
mod tools;

pub use answer::{Asked, Given, given, reported};
pub use client::{Client, Era, Heard, READ_RESOURCE, Round, Wants};
pub use tools::{Names, Tool};
