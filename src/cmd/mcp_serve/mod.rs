//! `mcp-serve`: serves a world as an MCP server.

mod exchange;
mod http;
mod stage;

use super::options::{Limit, LimitOptions, read_tools, size};
use super::{Command, needs_input, usage};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use pipewright_io::between::{FarEndpoint, NearKind, Program, Sides, between};
use pipewright_io::child::Environment;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::Limits;
use pipewright_sys::signal::Signals;
use stage::{ClientTransport, McpServeSettings, McpServer};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// Serve a world's tools to MCP clients
///
/// Starts a world (godot-bridge, mcp-pipe, replay --as world, any of them behind gates, or your own program with the same line protocol) and
/// serves its tools over MCP on stdin and stdout, or over HTTP. {"type":"list_tools"} requests the tools from the world, each tools/call becomes a tool_call record, and the tool_result becomes
/// the response. A failed call is a result with isError, so that a model can read why it failed.
///
/// Serves all versions of the protocol up to 2025-11-25, and 2026-07-28. Only the tool's name and arguments of a request are sent to the world, so a client
/// cannot approve a call that a gate asks about.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// The world, with its arguments
    #[arg(last = true, required = true, value_name = "WORLD ARGS")]
    world: Vec<OsString>,
    /// Take the tools from this file, a tool_list record, for a world that does not list them itself
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Serve any number of clients over HTTP at this address (MCP's Streamable HTTP, at the path /mcp) instead of one on stdin and
    /// stdout; each request must carry the token
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "HTTP")]
    http: Option<SocketAddr>,
    /// Read the token, which clients must send, from this file; by default, from the variable MCP_SERVE_TOKEN. If neither is given, a new token is printed on stderr
    #[arg(long, value_name = "FILE", requires = "http", help_heading = "HTTP")]
    token_file: Option<PathBuf>,
    /// How long the world may take to list its tools; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    start_timeout: Limit,
    /// Longest line that is read from the world, in bytes (K, M, G for powers of 1024)
    #[arg(long, value_name = "SIZE", default_value = "128M", value_parser = size, help_heading = "Limits")]
    max_result: usize,
    #[command(flatten)]
    limits: LimitOptions,
}

const NAME: &str = "mcp-serve";
const AFTER_HELP: &str = "\
Examples:
  A Godot game for any MCP client, in its configuration:
    {\"mcpServers\":{\"game\":{\"command\":\"mcp-serve\",\"args\":[\"--\",\"godot-bridge\",\"--launch\",\"/home/me/my-game\"]}}}
  A browser behind gates:
    mcp-serve -- policy-check -- hitl-gate -- browser-bridge
  A recorded world, offline:
    mcp-serve -- replay --as world --any-order run.jsonl
  One game for several clients on this machine, which send 'Authorization: Bearer TOKEN':
    mcp-serve --http 127.0.0.1:8000 -- godot-bridge --launch ~/my-game

Exit status:
  0 success; 1 a line from the client could not be read; 2 wrong usage; 3 the world could not be started or did not \
  list its tools, or the address could not be listened at; otherwise, the world's own status. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    let report = Arc::new(Report::new(NAME, false));
    let limits = Limits::from(arguments.limits);
    let tools = arguments.tools.as_deref().map(read_tools).transpose()?;
    let environment = Environment { secrets: vec![http::TOKEN.to_owned()], ..Environment::default() };
    let mut far = vec![FarEndpoint::Child(Program { command: arguments.world, environment })];
    let mut max_line = arguments.max_result;
    let mut unwritten = None;
    let front = match arguments.http {
        None => {
            needs_input("MCP")?;
            ClientTransport::Stdio
        }
        Some(address) => {
            let (way, writes) = http::listen(address, arguments.token_file.as_deref(), limits.max_line, &report)?;
            far.push(way);
            unwritten = Some(writes);
            // All far sides share one limit; a message from the HTTP side includes its headers.
            max_line = max_line.max(limits.max_line.saturating_add(HEADERS));
            ClientTransport::Http
        }
    };
    let settings =
        McpServeSettings { tools, start_timeout: arguments.start_timeout, max_depth: limits.max_depth, front };
    let sides = Sides {
        far,
        near: if front == ClientTransport::Http { NearKind::Stdout } else { NearKind::Stdio },
        limits,
        far_limits: Some(Limits { max_line, ..limits }),
        ..Sides::default()
    };
    let ended = between(Box::new(McpServer::new(settings, Arc::clone(&report))), sides, signals, &report);
    if let Some(unwritten) = unwritten {
        unwritten.wait();
    }
    ended
}

/// The most bytes of an HTTP request's headers.
const HEADERS: usize = 1 << 20;
