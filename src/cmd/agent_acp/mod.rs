//! `agent-acp`: serves agents to editors over the Agent Client Protocol.

mod permissions;
mod requests;
mod session;
mod stage;

use super::agents::{Agents, MAX_RECORD};
use super::options::LimitOptions;
use super::{Command, needs_input, usage};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use pipewright_io::between::{EndMode, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::Limits;
use pipewright_sys::private;
use pipewright_sys::signal::Signals;
use stage::Editor;
use std::ffi::OsString;
use std::sync::Arc;

/// Use an agent in an editor that supports the Agent Client Protocol (Zed, JetBrains IDEs, Neovim, and others)
///
/// The editor starts agent-acp and exchanges ACP version 1 with it on stdin and stdout. Each session is one agent: a process that reads and writes the session records of agent-loop (see
/// pipewright(7)). The editor shows its messages, plan and tool calls, and asks the person about a call that a gate (hitl-gate) holds. Gates send their questions over a private socket, which
/// PIPEWRIGHT_APPROVALS names, not through the agent's output.
///
/// {session} in the agent's arguments is replaced by the session's id. If the agent keeps its session in a file with that name, the session can be continued after the agent has ended, and loaded
/// again. MCP servers and directories that the editor offers are ignored: the agent uses only the world (such as browser-bridge) in its arguments.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// The agent, with its arguments
    #[arg(last = true, required = true, value_name = "AGENT ARGS")]
    agent: Vec<OsString>,
    #[command(flatten)]
    limits: LimitOptions,
}

const NAME: &str = "agent-acp";
const AFTER_HELP: &str = "\
Examples:
  An agent in Zed, in its settings.json; JetBrains IDEs have the same in ~/.jetbrains/acp.json:
    {\"agent_servers\":{\"Browser\":{\"type\":\"custom\",\"command\":\"agent-acp\",\"args\":[\"--\",\"agent-loop\",\"-m\",\"gemini/gemini-3-flash\",\"--profile\",\"browser\",\
\"--\",\"policy-check\",\"--\",\"hitl-gate\",\"--\",\"browser-bridge\"]}}}
  An agent whose sessions can be loaded again:
    agent-acp -- agent-loop -m gemini/gemini-3-flash --session /home/me/.agent/{session}.session -- policy-check -- \
    hitl-gate -- godot-bridge --launch /home/me/game

Exit status:
  0 success; 1 a line from the editor or an agent could not be read; 2 wrong usage; 3 the private folder for the \
  gates' sockets could not be created. How an agent ends is reported to the editor. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    needs_input("ACP")?;
    // Processes below the agent must not read the person's answers from our memory.
    private::protect_process().map_err(Failure::not_started)?;
    let report = Arc::new(Report::new(NAME, false));
    let (agents, gates, listener) = Agents::new(arguments.agent, &[], &report).map_err(Failure::not_started)?;
    let limits = Limits::from(arguments.limits);
    let sides = Sides {
        clients: Some(listener),
        adds_far_sides: true,
        limits,
        far_limits: Some(Limits { max_line: MAX_RECORD, ..limits }),
        end_mode: EndMode::Session,
        ..Sides::default()
    };
    let editor = Editor::new(agents, gates, limits.max_depth, Arc::clone(&report));
    between(Box::new(editor), sides, signals, &report)
}
