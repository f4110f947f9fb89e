//! `agent-serve`: agents in a browser, and for other clients, over HTTP.

mod approvals;
mod exchange;
mod http;
mod messages;
mod recording;
mod runs;
mod session;
mod sessions;
mod stage;

use super::Command;
use super::agents::{Agents, LONGEST_RECORD};
use super::http_token;
use super::options::{LimitOptions, duration, size};
use crate::io::between::{Ends, Near, between};
use crate::io::lines::Limits;
use crate::io::private;
use crate::io::report::{Failure, Report, Status};
use crate::io::signal::Signals;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, ValueEnum};
use http::Http;
use stage::{Serving, Settings};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Use agents in a browser, and serve their sessions over server-sent events, WebSocket and AG-UI
///
/// Each session is one agent, a process that speaks the session records of agent-loop (see docs/protocol.md). The page shows its messages, plan, calls and pictures, and asks about calls that a gate holds; all windows
/// and clients of a session see the same records. What gates ask comes over a private socket, which PIPEWRIGHT_APPROVALS names, never over the agent's own lines.
///
/// In the agent's arguments, {session} is replaced by the session's id. An agent that keeps its sessions in files named so goes on after its end.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// The agent, with its arguments
    #[arg(last = true, required_unless_present = "replay", conflicts_with = "replay", value_name = "AGENT ARGS")]
    agent: Vec<OsString>,
    /// Show the session that this log of jsonl-record's, or file of records, has, without an agent
    #[arg(long, value_name = "LOG")]
    replay: Option<OsString>,
    /// Listen at this address; clients have to name it
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7717")]
    listen: SocketAddr,
    /// The origin at which a reverse proxy serves it, such as https://agents.example.org
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    public: Option<String>,
    /// The token: the content of this file, else of the variable AGENT_SERVE_TOKEN, else a new one, which is printed on stderr
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// So many sessions are open at once
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u16).range(1..))]
    max_sessions: u16,
    /// So many connections are open at once
    #[arg(long, value_name = "N", default_value = "512", value_parser = clap::value_parser!(u32).range(1..=65536))]
    max_connections: u32,
    /// Close a session that no client shows and whose agent does nothing after this time; 0 never does
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = duration)]
    idle_timeout: Duration,
    /// So many bytes of records are kept of each session, for clients that connect later or again
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = size)]
    buffer: usize,
    /// What becomes of a client that reads too slowly, once what it has not read is not kept any more
    #[arg(long, value_enum, default_value_t = Slow::Drop)]
    slow: Slow,
    #[command(flatten)]
    limits: LimitOptions,
}

/// What becomes of slow clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Slow {
    /// A gap record stands for what it misses
    Drop,
    /// The same, and it is disconnected
    Disconnect,
}

const NAME: &str = "agent-serve";
/// The variable that holds the token.
const TOKEN: &str = "AGENT_SERVE_TOKEN";
const AFTER_HELP: &str = "\
Examples:
  A browser agent in your browser; open the address that is printed:
    agent-serve -- agent-loop -m gemini/gemini-3-flash --profile browser -- policy-check -- hitl-gate -- browser-bridge --headless
  Sessions that go on after a restart:
    agent-serve -- agent-loop -m gemini/gemini-3-flash --session /home/me/.agent/{session}.session -- policy-check -- hitl-gate -- mcp-pipe -- SERVER
  The same page for a session that was recorded:
    agent-serve --replay run.jsonl
  A session as server-sent events:
    curl -N -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7717/sessions/ID/events

Exit status:
  0 all well; 1 a line of an agent's could not be read; 2 usage; 3 the address cannot be listened at, or there can be no private folder for the gates' sockets. \
  How an agent ends is reported to clients. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

/// A message has its place and its kind in a line of ours.
const ENVELOPE: usize = 1 << 10;

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let usage = |why: &dyn std::fmt::Display| Failure::new(Status::Usage, why);
    let not_started = |error| Failure::new(Status::NotStarted, error);
    let arguments = Arguments::from_arg_matches(matches).map_err(|error| usage(&error))?;
    let (listen, public) = (arguments.listen, arguments.public);
    if listen.ip().is_unspecified() && public.is_none() {
        let why = format!(
            "--listen: {listen} is not the address of a machine: give the one that clients connect to, or --public"
        );
        return Err(usage(&why));
    }
    // What runs below an agent cannot read the token or the person's answers out of our memory.
    private::protect_process().map_err(not_started)?;
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
        disconnects: arguments.slow == Slow::Disconnect,
    };
    let (way, unwritten, page) = http.listen(&report)?;
    let (agents, gates, listener) = Agents::new(arguments.agent, &report).map_err(not_started)?;
    let secret = if is_new { token.as_str() } else { "TOKEN" };
    // The only place where a new token can be read.
    report.say(format_args!("open {page}/?token={secret}"));
    let settings = Settings {
        most_sessions: usize::from(arguments.max_sessions),
        idle_timeout: arguments.idle_timeout,
        max_depth: limits.max_depth,
    };
    let ends = Ends {
        near: Near::Clients,
        clients: Some(listener),
        far: vec![way],
        adds_far_sides: true,
        limits,
        far_limits: Some(Limits { max_line: LONGEST_RECORD.max(limits.max_line.saturating_add(ENVELOPE)), ..limits }),
        ..Ends::default()
    };
    let serving = Serving::new(agents, gates, settings, recorded, Arc::clone(&report));
    let ended = between(Box::new(serving), ends, signals, &report);
    unwritten.wait();
    ended
}

/// An origin as browsers write it: without the port that is the scheme's own.
fn origin(text: &str) -> Result<String, String> {
    let url = Url::parse(text).ok().filter(|url| {
        let is_bare =
            url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        ["http", "https"].contains(&url.scheme()) && is_bare && url.password().is_none()
    });
    let origin = url.map(|url| url.origin().ascii_serialization());
    origin.ok_or_else(|| {
        "an origin is http:// or https://, a host, and a port if it is not the usual one, without a path".to_owned()
    })
}
