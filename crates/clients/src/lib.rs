//! What a person's client shows: a session, its approvals, and both in the protocols of editors and of web clients.
//! Pure.
//!
//! - [`session`]: the state of a session, record by record.
//! - [`approvals`]: gates' questions to people about calls, and how clients keep track of them.
//! - [`acp`]: the Agent Client Protocol, for editors.
//! - [`agui`]: the events of AG-UI, for web clients.

pub mod acp;
pub mod agui;
pub mod approvals;
pub mod session;
