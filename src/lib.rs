//! Small commands that let an agent (a program, a model, or a person) play games and drive browsers
//! through shell pipes, with every step gated, recorded and replayable.
//!
//! The layers; each uses only those below it:
//!
//! - [`cmd`]: the commands, one module each: arguments, wiring, and the stage that carries out decisions.
//! - [`godot`]: the messages between a Godot game and its bridge; pure.
//! - [`mcp`]: the client's side of MCP; pure.
//! - [`spire`]: the rules and messages of Slay the Spire; pure, without streams, files or clocks.
//! - [`policy`]: which calls need a person's approval; pure.
//! - [`acp`]: the agent's side of the Agent Client Protocol; pure.
//! - [`approvals`]: gates' questions to people about calls, and how clients keep track of them; pure.
//! - [`journal`]: the log format: writing it, and reading it even if it is damaged.
//! - [`replay`]: when a recorded message is due, and whether live messages equal the recorded ones; pure.
//! - [`agent`]: the loop of an agent as a state machine; pure.
//! - [`llm`]: the requests to each model provider, and how its answer becomes a turn; pure.
//! - [`mask`]: personal data and secrets in a line, replaced by placeholders; pure.
//! - [`record`]: the vocabulary of records, and the only recogniser of calls.
//! - [`rpc`]: JSON-RPC lines of either side.
//! - `json`, [`glob`], `identifier`: JSON text written piece by piece; names matched by a pattern; the words of a name.
//! - [`io`]: lines, passing data between two sides, child processes, durable files, the terminal, signals, reports.

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
