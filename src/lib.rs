//! Small commands that let an agent (a program, a model, or a person) play games and drive browsers
//! through shell pipes, with every step gated, recorded and replayable.
//!
//! The floors, each standing only on those below it:
//!
//! - [`cmd`]: the commands, one module each: arguments, wiring, and the stage that carries out decisions.
//! - [`godot`]: what passes between a Godot game and its bridge; pure.
//! - [`mcp`]: the client's side of MCP; pure.
//! - [`spire`]: what is known of Slay the Spire; pure, without streams, files or clocks.
//! - [`policy`]: what a person must be asked about first; pure.
//! - [`acp`]: the agent's side of the Agent Client Protocol; pure.
//! - [`approvals`]: what gates ask people about calls, and what the clients of those people keep of it; pure.
//! - [`journal`]: the log format: written, and read whatever has happened to it.
//! - [`replay`]: when a recorded message is due, and whether what comes live is what was recorded; pure.
//! - [`agent`]: the loop of an agent as a state machine; pure.
//! - [`llm`]: what is sent to each model provider, and how its answer becomes a turn; pure.
//! - [`mask`]: personal data and secrets in a line, replaced by placeholders; pure.
//! - [`record`]: the vocabulary of records, and the one recogniser of calls.
//! - [`rpc`]: JSON-RPC lines of either side.
//! - `json`, [`glob`], `identifier`: JSON text written piece by piece; names matched by a pattern; the words of a name.
//! - [`io`]: lines, standing between two sides, children, durable files, the terminal, signals, reports.

pub mod acp;
pub mod agent;
pub mod agui;
pub mod approvals;
pub mod cmd;
pub mod glob;
pub mod godot;
mod identifier;
pub mod io;
pub mod journal;
mod json;
pub mod llm;
pub mod mask;
pub mod mcp;
pub mod policy;
pub mod record;
pub mod replay;
pub mod rpc;
pub mod session;
pub mod spire;
mod toml_error;
