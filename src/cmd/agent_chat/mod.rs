//! `agent-chat`: a terminal (or script) for a person who works with an agent.

mod chat;
mod command;
mod display;
mod input;
mod markdown;
mod questions;
mod stage;
mod style;
mod terminal;
mod transcript;
mod view;

use super::agent_logs::Logs;
use super::agents::{Agents, new_session_id};
use super::options::{Color, LimitOptions};
use super::{Command, usage};
use chat::{Chat, Drawing, Script, Turn};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use command::InputMode;
use display::Display;
use pipewright_clients::session::Session;
use pipewright_io::between::{FarEndpoint, NearKind, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::Limits;
use pipewright_sys::descriptor::Descriptor;
use pipewright_sys::signal::Signals;
use pipewright_sys::{folders, private};
use questions::{OpenQuestions, SESSION};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{IsTerminal, stdin, stdout};
use std::path::PathBuf;
use std::sync::Arc;
use style::Styles;
use terminal::Terminal;
use transcript::Transcript;
use view::View;

/// Talk with an agent at a terminal
///
/// Starts an agent (agent-loop, or any command that reads and writes session records, see pipewright(7)) and shows its messages and calls. In cmd mode, the initial mode, a line is
/// a call: TOOL NAME=VALUE ..., or JSON. In chat mode (/chat) it is a message to the agent. When a gate (hitl-gate) holds a call of the agent, answer with /yes, /no, /edit or /always. /help lists the
/// commands. Ctrl-C stops what the agent is doing; a second Ctrl-C ends it.
///
/// If stdin or stdout is not a terminal, there is no prompt. Each line of stdin is read when the agent waits for a person, and the end of stdin ends the agent.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// The agent, with its arguments; {session} in them is replaced by a new session id
    #[arg(last = true, required = true, value_name = "AGENT ARGS")]
    agent: Vec<OsString>,
    /// Start in chat mode
    #[arg(long)]
    chat: bool,
    /// Append the reasoning that the model reports to this file, masked (see jsonl-mask(1)); `-` is stderr
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Colour on the terminal
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,
    #[command(flatten)]
    lines: LimitOptions,
}

const NAME: &str = "agent-chat";
const AFTER_HELP: &str = "\
Examples:
  Open a page by hand, then let the agent continue; a person is asked before it pays, sends or deletes:
    agent-chat -- agent-loop -m gemini/gemini-3-flash --profile browser -- policy-check -- hitl-gate -- browser-bridge
  The same with a session file, starting in chat mode:
    agent-chat --chat -- agent-loop -m gemini/gemini-3-flash --profile browser --session shop.session -- policy-check \
    -- hitl-gate -- browser-bridge
  Without a terminal, from a script:
    printf '/chat\\nPay the open invoice.\\n/yes\\n' | agent-chat -- agent-loop -m gemini/gemini-3-flash -- \
    policy-check -- hitl-gate -- mcp-pipe -- SERVER

Exit status:
  0 success; 1 a line of stdin was not carried out, or a log could not be written; 2 wrong usage; 3 the agent could \
  not be started; 4 the agent was lost: it closed its stdin or stdout without ending; otherwise, the agent's own \
  status. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

/// The history of typed lines, which the next session loads.
const HISTORY: &str = "pipewright/agent-chat.history";

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    private::protect_process().map_err(Failure::not_started)?;
    let report = Arc::new(Report::new(NAME, false));
    let limits = Limits::from(arguments.lines);
    let logs = Logs::open(None, arguments.log.as_deref(), &report)?;
    let (mut agents, gates, listener) = Agents::new(arguments.agent, &[], &report).map_err(Failure::not_started)?;
    let session_id = new_session_id().map_err(Failure::not_started)?;
    let program = agents.program(SESSION, &session_id, None).map_err(Failure::not_started)?;
    let is_terminal = stdin().is_terminal() && stdout().is_terminal() && !is_dumb();
    let (display, answers) = match is_terminal {
        true => {
            let history = folders::data().map(|folder| folder.join(HISTORY));
            let (terminal, inputs) = Terminal::open(history, limits)?;
            report.divert(terminal.printer());
            (Display::Terminal(Box::new(terminal)), vec![Descriptor::new(inputs)])
        }
        false => (Display::Lines, Vec::new()),
    };
    let styles = Styles { color: is_terminal && arguments.color.is_enabled() };
    let mode = if arguments.chat { InputMode::Chat } else { InputMode::Cmd };
    let mut chat = Chat {
        mode,
        display,
        view: View { styles, is_rendered: is_terminal },
        session: Session::default(),
        gates,
        asking: OpenQuestions::default(),
        tools: None,
        open: BTreeMap::new(),
        own_calls: 0,
        turn: Turn::default(),
        starting_until: None,
        closed_at: None,
        farewell: String::new(),
        drawing: Drawing::default(),
        interrupted: None,
        last_text: String::new(),
        has_new_plan: false,
        usage: None,
        transcript: Transcript::default(),
        logs,
        limits,
        report: Arc::clone(&report),
        script: Script::default(),
        held_elsewhere: None,
    };
    chat.begin(mode);
    let sides = Sides {
        near: if is_terminal { NearKind::Clients } else { NearKind::Stdio },
        clients: Some(listener),
        far: vec![FarEndpoint::Child(program)],
        receives_errors: true,
        answers,
        limits,
        ..Sides::default()
    };
    between(Box::new(chat), sides, signals, &report)
}

/// Whether the terminal has no cursor control.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}
