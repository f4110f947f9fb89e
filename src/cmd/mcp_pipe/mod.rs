//! `mcp-pipe`: tool calls in, results out, over one MCP session that survives its server.

mod config;
mod connection;
mod health;
mod media;
mod overlong;
mod questions;
mod replies;
mod results;
mod schemas;
mod server;
mod url;
mod world;

use super::events::Events;
use super::filter::Filter;
use super::options::{Limit, LimitOptions, duration, size};
use super::world::{self as runtime, Restarts, Runtime};
use super::{Command, environment, needs_input, usage};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use connection::Connection;
use health::Health;
use media::Media;
use pipewright_io::between::{FarEndpoint, NearKind, Program, Sides, between};
use pipewright_io::child::Environment;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::Limits;
use pipewright_mcp::{ClientOptions, Era, NameFilter};
use pipewright_record::{OwnedCall, recognise};
use pipewright_sys::signal::Signals;
use server::Server;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::LatestConnection;
use world::{CallSettings, PrintedList, Servers, era};

/// Call MCP tools: calls in, results out, over one session
///
/// Starts an MCP server and makes a call for each line on stdin: {"tool":"echo","args":{"message":"hi"},"id":1}, or a tool_call record. Each is
/// answered on stdout, in the form and order of the calls: {"id":1,"tool":"echo","status":"ok","data":...}, or with "status":"error","error":"...","kind":"...".
/// A result carries all fields of the server's answer. Calls that are still marked "requires_approval":true are refused; other records are passed on.
///
/// Tries the 2025 handshake first; if the server rejects it, restarts it and uses the 2026 one. A server that dies is restarted;
/// calls that may already have run are flagged ("maybe_executed"). For a server over HTTP (--url), mcp-pipe
/// reconnects instead.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// The server, with its arguments
    #[arg(last = true, value_name = "SERVER ARGS", conflicts_with_all = ["config", "url"])]
    server: Vec<OsString>,
    /// Connect to a server over HTTP (MCP's Streamable HTTP) instead of starting one
    #[arg(long, conflicts_with = "config")]
    url: Option<String>,
    /// Use the server NAME from this mcpServers file (the configuration of an MCP client). Without a name, use all of its servers in one session; their tools are then named
    /// SERVER__TOOL. ${VAR} is replaced from the environment
    #[arg(long, value_name = "FILE[:NAME]")]
    config: Option<String>,
    /// Print the server's tools with their schemas, one per line, and exit
    #[arg(long)]
    list: bool,
    /// Print the server's resources and resource templates, one per line, and exit; {"tool":"resources/read","args":{"uri":...}} reads one
    #[arg(long, conflicts_with = "list")]
    list_resources: bool,

    /// How many calls to a server may be in progress at the same time
    #[arg(short = 'j', long = "jobs", value_name = "N", default_value = "1", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..), help_heading = "Calls")]
    jobs: usize,
    /// Print each result when it arrives, not in the order of the calls
    #[arg(long, help_heading = "Calls")]
    unordered: bool,
    /// Use only tools whose names match; `*` and `?` are wildcards; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Calls")]
    allow: Vec<String>,
    /// Do not use tools whose names match; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Calls")]
    deny: Vec<String>,
    /// Send calls unchecked. By default, calls of unlisted tools and arguments that do not match the tool's schema are refused
    #[arg(long, help_heading = "Calls")]
    no_check: bool,
    /// For a server whose tools report errors in their content: a jq filter that is applied to each result and outputs "error",
    /// {"status":"error","error","data"} or {"status":"ok","data"}; any other output leaves the result unchanged
    #[arg(long, value_name = "JQ", help_heading = "Calls")]
    status_from: Option<String>,
    /// Let the server ask questions during a call: each is printed as {"type":"input_request","request_id",...}, and answered on stdin
    /// by {"type":"input_response","request_id","action":"accept|decline|cancel","content"?}
    #[arg(long, help_heading = "Calls")]
    interactive: bool,
    /// Make the calls in this file first, whenever the server is started
    #[arg(long, value_name = "FILE", help_heading = "Calls")]
    setup: Option<PathBuf>,

    /// Time limit of a call, which is then cancelled; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "60s", help_heading = "Time")]
    timeout: Limit,
    /// How long the server may take for the handshake and for listing its tools; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "60s", help_heading = "Time")]
    start_timeout: Limit,
    /// Overall time limit; unanswered calls fail with `timeout` (exit status 124)
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Time")]
    deadline: Option<Duration>,
    /// How long an answer to a question (--interactive) may take; the question is then cancelled; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "10m", requires = "interactive", help_heading = "Time")]
    answer_timeout: Limit,
    /// Ping a server that has been idle for this time. If it answers neither the ping nor a request for its tools,
    /// each within this time, it is restarted
    #[arg(long, value_name = "DURATION", help_heading = "Time")]
    probe: Option<Limit>,
    /// After a call that timed out, ping the server before the next call. Restart it when this many requests in a row (the call
    /// and the pings) got no answer; 0 disables this
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Time")]
    restart_after_timeouts: u32,
    /// How many times a lost server is restarted; a minute without a loss resets the count
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Time")]
    restart: u32,

    /// Use only this version of the protocol: 2025-11-25 or 2026-07-28
    #[arg(long, value_name = "VERSION", value_parser = era, help_heading = "Server")]
    protocol: Option<Era>,
    /// Set an environment variable for the server; without =VALUE, copy it from mcp-pipe's environment; may be repeated
    #[arg(long, value_name = "NAME[=VALUE]", conflicts_with = "url", help_heading = "Server")]
    env: Vec<String>,
    /// Send this header ('Name: value') with every request to --url; ${VAR} is replaced from the environment; may be repeated
    #[arg(long, value_name = "HEADER", requires = "url", conflicts_with = "server", help_heading = "Server")]
    header: Vec<String>,
    /// Start the server with a minimal environment: PATH, HOME and the like, and the variables of --env
    #[arg(long, conflicts_with = "url", help_heading = "Server")]
    clean_env: bool,
    /// Also write the server's other messages (progress, logs, stderr, noise, restarts) as observations: to a file (appended to),
    /// `stderr`, or `-` for stdout, between the results
    #[arg(long, value_name = "FILE|stderr|-", help_heading = "Server")]
    events: Option<String>,
    /// Copy the server's stderr to stderr
    #[arg(short, long, help_heading = "Server")]
    verbose: bool,
    /// Save images, sounds and blobs (other binary content) of results in this folder; the results have the paths instead
    #[arg(long, value_name = "DIR", help_heading = "Calls")]
    save_media: Option<PathBuf>,
    /// Longest line that is read from the server, in bytes (K, M, G for powers of 1024)
    #[arg(long, value_name = "SIZE", default_value = "128M", value_parser = size, help_heading = "Limits")]
    max_result: usize,
    #[command(flatten)]
    limits: LimitOptions,
}

const NAME: &str = "mcp-pipe";
const AFTER_HELP: &str = "\
Examples:
  List a server's tools, and call one:
    mcp-pipe --list -- npx -y @modelcontextprotocol/server-everything | jq -r .name
    echo '{\"tool\":\"echo\",\"args\":{\"message\":\"hi\"}}' | mcp-pipe -- npx -y \
    @modelcontextprotocol/server-everything
  Only the tools that read, of a configured server:
    calls | mcp-pipe --config ~/.config/mcp.json:files --allow 'read_*' --allow 'list_*'
  All servers of a client's configuration, in one session:
    echo '{\"tool\":\"git__git_status\",\"args\":{\"repo_path\":\".\"}}' | mcp-pipe --config ~/.claude.json
  A server over HTTP:
    calls | mcp-pipe --url https://example.org/mcp --header 'Authorization: Bearer ${TOKEN}'
  Gates in front of it, and a recording of the results:
    calls | policy-check | hitl-gate | mcp-pipe -- SERVER | jsonl-record run.jsonl

Exit status:
  0 success; 1 a call failed or was refused; 2 wrong usage; 3 the server could not be started, or the handshake \
  failed; 4 the server was lost more often than --restart allows; 124 --deadline passed. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    let report = Arc::new(Report::new(NAME, false));
    let servers = servers(&arguments)?;
    let list = match (arguments.list, arguments.list_resources) {
        (true, _) => Some(PrintedList::Tools),
        (_, true) => Some(PrintedList::Resources),
        _ => None,
    };
    if list.is_none() {
        needs_input("calls")?;
    }
    let limits = Limits::from(arguments.limits);
    let pace = runtime::RuntimeSettings {
        timeout: arguments.timeout.0,
        deadline: arguments.deadline.map(|deadline| Instant::now() + deadline),
        in_flight: arguments.jobs,
        unordered: arguments.unordered,
        max_depth: limits.max_depth,
        without_near: list.is_some(),
    };
    let settings = CallSettings {
        timeout: pace.timeout,
        check: !arguments.no_check,
        status_from: Filter::compile_some("--status-from", arguments.status_from.as_ref())?,
        names: NameFilter { allow: arguments.allow, deny: arguments.deny },
        list,
        verbose: arguments.verbose,
        interactive: arguments.interactive,
        answer_timeout: arguments.answer_timeout,
    };
    let media = arguments.save_media.as_deref().map(|folder| {
        Media::open(folder).map_err(|error| usage(format_args!("--save-media: {}: {error}", folder.display())))
    });
    let media = media.transpose()?;
    let events = arguments.events.as_deref().map(|to| Events::open(to, &report)).transpose()?;
    let wants = ClientOptions { questions: arguments.interactive, progress: events.is_some() };
    let (mut connections, mut far, mut goodbyes) = (Vec::new(), Vec::new(), Vec::new());
    for (name, server) in servers {
        let (way, trouble, goodbye) = match server {
            config::Server::Program { command, environment: around } => {
                (FarEndpoint::Child(Program { command, environment: around }), None, None)
            }
            config::Server::Url(to) => {
                let place = name.as_deref().map_or("--url".to_owned(), |name| format!("--config: {name}: url"));
                let url::HttpConnection { dial, trouble, goodbye } =
                    url::http_connection(&to, &place, arguments.max_result, &report)?;
                (FarEndpoint::Dial(dial), Some(trouble), Some(goodbye))
            }
        };
        far.push(way);
        goodbyes.extend(goodbye);
        let name = name.as_deref();
        let server = Server::new(arguments.start_timeout, arguments.protocol, wants, Arc::clone(&report));
        let health = Health::new(arguments.probe.and_then(|limit| limit.0), arguments.restart_after_timeouts);
        connections.push(Connection::new(name, server.with_name(name).with_trouble(trouble), health));
    }
    if let Some(path) = &arguments.setup {
        read_setup(path, &mut connections)?;
    }
    let restarts = connections.iter().map(|_| Some(Restarts::new(arguments.restart))).collect::<Vec<_>>();
    let servers = Servers::new(connections, settings, media, events, Arc::clone(&report));
    let stage = Runtime::new(servers, restarts, pace, Arc::clone(&report));
    let sides = Sides {
        far,
        holds_near: true,
        receives_errors: true,
        near: if list.is_some() { NearKind::Stdout } else { NearKind::Stdio },
        limits,
        far_limits: Some(Limits { max_line: arguments.max_result, ..limits }),
        ..Sides::default()
    };
    let ended = between(Box::new(stage), sides, signals, &report);
    goodbyes.iter().for_each(LatestConnection::wait);
    ended
}

/// The servers that the options name, with their names.
fn servers(arguments: &Arguments) -> Result<Vec<(Option<String>, config::Server)>, Failure> {
    let alone = |server| vec![(None, server)];
    let mut servers = match (&arguments.config, &arguments.url) {
        (Some(named), _) => config::read(named)?,
        (None, Some(url)) => {
            let headers =
                arguments.header.iter().map(|text| environment::header("--header", text)).collect::<Result<_, _>>()?;
            let url = environment::expand(url).map_err(|why| usage(format_args!("--url: {why}")))?;
            alone(config::Server::Url(url::Url { url, headers }))
        }
        (None, None) if arguments.server.is_empty() => {
            return Err(usage("no server is named: add -- SERVER ARGS, --url URL, or --config FILE[:NAME]"));
        }
        (None, None) => {
            let (command, around) = (arguments.server.clone(), Environment::default());
            alone(config::Server::Program { command, environment: around })
        }
    };
    for (_, server) in &mut servers {
        if let config::Server::Program { environment: around, .. } = server {
            around.clean = arguments.clean_env;
            for variable in &arguments.env {
                around.set.push(variable_of(variable)?);
            }
        }
    }
    Ok(servers)
}

fn variable_of(text: &str) -> Result<(OsString, OsString), Failure> {
    match text.split_once('=') {
        Some(("", _)) => Err(usage("--env: the name of the variable is missing")),
        Some((name, value)) => Ok((name.into(), value.into())),
        None => match std::env::var_os(text) {
            Some(value) => Ok((text.into(), value)),
            None => Err(usage(format_args!("--env: {text} is not set in the environment"))),
        },
    }
}

/// Gives each connection its calls of a set-up file, which has one call per line.
fn read_setup(path: &Path, connections: &mut [Connection]) -> Result<(), Failure> {
    let place = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| usage(format_args!("--setup: {place}: {error}")))?;
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let refused = |why: &dyn std::fmt::Display| usage(format_args!("--setup: {place}:{number}: {why}"));
        let call = recognise(line).map_err(|error| refused(&error))?.ok_or_else(|| refused(&"not a call"))?;
        if call.requires_approval {
            return Err(refused(&"the call requires approval"));
        }
        let (at, _) = connection::route(connections, &call.tool).map_err(|why| refused(&why))?;
        connections[at].setup.push(OwnedCall::from(&call));
    }
    Ok(())
}
