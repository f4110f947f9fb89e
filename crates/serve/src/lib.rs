//! HTTP servers, in the one crate that has axum: [`access`] decides who is let in, [`streamable`] is the transport of MCP, [`sessions`]
//! shows sessions of agents to clients and takes what these say.

pub mod access;
mod connections;
pub mod sessions;
pub mod streamable;
