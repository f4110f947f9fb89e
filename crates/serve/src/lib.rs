//! HTTP servers, in the one crate that depends on axum: [`access`] decides which requests are accepted, [`streamable`]
//! is the transport of MCP, [`sessions`] serves sessions of agents to clients.

pub mod access;
mod connections;
pub mod sessions;
pub mod streamable;
