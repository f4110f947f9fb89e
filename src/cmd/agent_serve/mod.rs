//! `agent-serve`: serves agents to browsers and other clients over HTTP.

mod approvals;
mod exchange;
mod http;
mod messages;
mod recording;
mod runs;
mod session;
mod sessions;
mod stage;

use super::agents::{Agents, MAX_RECORD};
use super::options::{Limit, LimitOptions, size};
use super::{Command, http_token};
use crate::cmd::usage;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, ValueEnum};
use http::Http;
use pipewright_io::between::{NearKind, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::Limits;
use pipewright_sys::private;
use pipewright_sys::signal::Signals;
use stage::{AgentServeSettings, AgentServer};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use url::Url;

/// Use agents in a browser, and serve their sessions over server-sent events, WebSocket and AG-UI
///
/// Each session is one agent: a process that reads and writes the session records of agent-loop (see pipewright(7)). The web page shows its messages, plan, calls and pictures, and asks
/// about calls that a gate (hitl-gate) holds. All windows and clients of a session get the same records. Gates send their questions over a private socket, which PIPEWRIGHT_APPROVALS names, not through the agent's output.
///
/// {session} in the agent's arguments is replaced by the session's id. If the agent keeps its session in a file with that name, the session can be continued after the agent has ended.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// The agent, with its arguments
    #[arg(last = true, required_unless_present = "replay", conflicts_with = "replay", value_name = "AGENT ARGS")]
    agent: Vec<OsString>,
    /// Show a recorded session without an agent: a log of jsonl-record, or a file of records
    #[arg(long, value_name = "LOG")]
    replay: Option<OsString>,
    /// Listen at this address; the Host header of requests must name it
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7717")]
    listen: SocketAddr,
    /// The origin that browsers use if a reverse proxy forwards requests, such as https://agents.example.org
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    public: Option<String>,
    /// Read the token, which clients must send, from this file; by default, from the variable AGENT_SERVE_TOKEN. If neither is given, a new token is printed on stderr
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The highest number of open sessions
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u16).range(1..))]
    max_sessions: u16,
    /// The highest number of open connections
    #[arg(long, value_name = "N", default_value = "512", value_parser = clap::value_parser!(u32).range(1..=65536))]
    max_connections: u32,
    /// Close a session after this time if no client shows it and its agent does nothing; 0 disables this
    #[arg(long, value_name = "DURATION", default_value = "30m")]
    idle_timeout: Limit,
    /// Keep this many bytes of records per session, for clients that connect later or reconnect
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = size)]
    buffer: usize,
    /// What to do if a client is so slow that records it has not read are discarded (see --buffer)
    #[arg(long, value_enum, default_value_t = SlowClientPolicy::Drop)]
    slow: SlowClientPolicy,
    #[command(flatten)]
    limits: LimitOptions,
}

/// How slow clients are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SlowClientPolicy {
    /// Send a gap record in place of the missed records
    Drop,
    /// Send a gap record, then disconnect the client
    Disconnect,
}

const NAME: &str = "agent-serve";
/// The environment variable that holds the token.
const TOKEN: &str = "AGENT_SERVE_TOKEN";
const AFTER_HELP: &str = "\
Examples:
  A browser agent in your browser; open the address that is printed:
    agent-serve -- agent-loop -m gemini/gemini-3-flash --profile browser -- policy-check -- hitl-gate -- \
    browser-bridge --headless
  Sessions that can be continued after a restart:
    agent-serve -- agent-loop -m gemini/gemini-3-flash --session /home/me/.agent/{session}.session -- policy-check -- \
    hitl-gate -- mcp-pipe -- SERVER
  The same page for a recorded session:
    agent-serve --replay run.jsonl
  A session as server-sent events:
    curl -N -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7717/sessions/ID/events

Exit status:
  0 success; 1 a line from an agent could not be read; 2 wrong usage; 3 the address could not be listened at, or the \
  private folder for the gates' sockets could not be created. How an agent ends is reported to clients. See \
  pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

/// Room for the fields that are added around a message, and the most bytes of a character in a JSON string.
const ENVELOPE: usize = 1 << 10;
const ESCAPED: usize = 6;

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    let (listen, public) = (arguments.listen, arguments.public);
    if listen.ip().is_unspecified() && public.is_none() {
        let why = format!(
            "--listen: {listen} means every address of this machine: name the one that clients connect to, or give \
             --public"
        );
        return Err(usage(why));
    }
    // Processes below an agent must not read the token or the person's answers from our memory.
    private::protect_process().map_err(Failure::not_started)?;
    let report = Arc::new(Report::new(NAME, false));
    let limits = Limits::from(arguments.limits);
    let recorded = match &arguments.replay {
        Some(log) => recording::read(log, limits.max_depth, &report)?,
        None => Vec::new(),
    };
    let kept = recorded.iter().map(String::len).sum::<usize>().saturating_mul(2).max(arguments.buffer);
    let (token, is_new) = http_token::read_or_make(arguments.token_file.as_deref(), TOKEN)?;
    let http = Http {
        listen,
        public,
        token: token.clone(),
        cookie: http_token::make()?,
        longest: limits.max_line,
        most_connections: arguments.max_connections,
        kept,
        disconnects: arguments.slow == SlowClientPolicy::Disconnect,
    };
    let (endpoint, unwritten, page) = http.listen(&report)?;
    let (agents, gates, listener) = Agents::new(arguments.agent, &[TOKEN], &report).map_err(Failure::not_started)?;
    let secret = if is_new { token.as_str() } else { "TOKEN" };
    // A new token is printed only here.
    report.say(format_args!("open {page}/?token={secret}"));
    let settings = AgentServeSettings {
        most_sessions: usize::from(arguments.max_sessions),
        idle_timeout: arguments.idle_timeout.0,
        max_depth: limits.max_depth,
    };
    let message = limits.max_line.saturating_mul(ESCAPED).saturating_add(ENVELOPE);
    let sides = Sides {
        near: NearKind::Clients,
        clients: Some(listener),
        far: vec![endpoint],
        adds_far_sides: true,
        limits,
        far_limits: Some(Limits { max_line: MAX_RECORD.max(message), ..limits }),
        ..Sides::default()
    };
    let serving = AgentServer::new(agents, gates, settings, recorded, Arc::clone(&report));
    let ended = between(Box::new(serving), sides, signals, &report);
    unwritten.wait();
    ended
}

/// An origin as browsers write it: without the scheme's default port.
fn origin(text: &str) -> Result<String, String> {
    let url = Url::parse(text).ok().filter(|url| {
        let is_bare =
            url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        ["http", "https"].contains(&url.scheme()) && is_bare && url.password().is_none()
    });
    let origin = url.map(|url| url.origin().ascii_serialization());
    origin.ok_or_else(|| {
        "an origin is http:// or https://, a host, and a port unless it is the default one, without a path".to_owned()
    })
}
