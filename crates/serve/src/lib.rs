//! HTTP servers, in the one crate that has axum: [`access`] decides who is let in, [`streamable`] is the transport of MCP.

pub mod access;
pub mod streamable;
