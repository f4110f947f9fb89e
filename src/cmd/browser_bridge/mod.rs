//! `browser-bridge`: takes tool calls, returns results, and drives one Chromium that it starts or attaches to.

mod bridge;
mod har;
mod options;
mod wire;
mod worker;

use super::media_folder::MediaFolder;
use super::options::{Limit, LimitOptions, duration};
use super::world::{self as runtime, Restarts, Runtime};
use super::{Command, needs_input, usage};
use bridge::Bridge;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use options::BrowserOptions;
use pipewright_io::between::{Dialer, FarEndpoint, Sides, between};
use pipewright_io::link::served;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::Limits;
use pipewright_sys::signal::Signals;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use worker::WorkerThreads;

/// Drive a browser: tool calls in, results out
///
/// Starts Chromium, or attaches to a running one, and carries out each line on stdin:
/// {"tool":"browser_navigate","args":{"url":"https://example.org"},"id":1}, or a tool_call record. Writes a result for each call
/// to stdout, in the form and order of the calls. {"type":"list_tools"} lists the tools and their arguments; docs/browser.md
/// describes them.
///
/// Calls name elements by number: browser_list_interactives gives each element one, and browser_overlay_show draws them over the
/// page. Calls that are still marked
/// "requires_approval":true are refused; other records are passed on. A browser that crashes is restarted.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    browser: BrowserOptions,

    /// After an action, wait for: none, dom (the page stops changing), network (it also stops loading) or fixed (--pause)
    #[arg(long, value_name = "MODE", default_value = "dom", help_heading = "Time")]
    settle: options::SettleOption,
    /// How long --settle fixed waits
    #[arg(long, value_name = "DURATION", default_value = "4s", value_parser = duration, help_heading = "Time")]
    pause: Duration,
    /// Time limit of a call; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "60s", help_heading = "Time")]
    timeout: Limit,
    /// Overall time limit; unanswered calls fail with `timeout` (exit status 124)
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Time")]
    deadline: Option<Duration>,
    /// How many times a crashed browser is restarted; a minute without a crash resets the count
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Time")]
    restart: u32,
    #[command(flatten)]
    limits: LimitOptions,
}

const NAME: &str = "browser-bridge";
const AFTER_HELP: &str = "\
Examples:
  List the elements of a page; let an agent act on it:
    echo '{\"tool\":\"browser_list_interactives\"}' | browser-bridge https://example.org
    my-agent | browser-bridge https://example.org
  Let a person approve calls that pay, send or delete:
    my-agent | policy-check -- hitl-gate -- browser-bridge
  Use a browser that is already open, with the logins it has:
    chromium --remote-debugging-port=0 --user-data-dir=\"$HOME/.cache/agent-browser\" &
    my-agent | browser-bridge --attach ~/.cache/agent-browser
  Offer it to any MCP client, behind gates:
    mcp-serve -- policy-check -- hitl-gate -- browser-bridge

Exit status:
  0 success; 1 a call failed or was refused; 2 wrong usage; 3 the browser could not be started or attached to; 4 the \
  browser was lost: it crashed more often than --restart allows; 124 --deadline passed. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    needs_input("calls")?;
    let report = Arc::new(Report::new(NAME, false));
    let limits = Limits::from(arguments.limits);
    let pace = runtime::RuntimeSettings {
        timeout: arguments.timeout.0,
        deadline: arguments.deadline.map(|deadline| Instant::now() + deadline),
        // The calls of a page run one at a time.
        in_flight: 1,
        unordered: false,
        max_depth: limits.max_depth,
        without_near: false,
    };
    let evaluates = arguments.browser.allow_evaluate;
    let start = arguments.browser.starter(arguments.settle, arguments.pause)?;
    let workers = WorkerThreads::default();
    let started = workers.clone();
    let dial = move || {
        let mut failed = None;
        let link = served(|requests, replies| failed = started.start(&start, requests, replies).err())?;
        failed.map_or(Ok(link), Err)
    };
    let bridge = Bridge::new(evaluates, Arc::clone(&report));
    let stage = Runtime::new(bridge, [Some(Restarts::new(arguments.restart))], pace, Arc::clone(&report));
    let far = vec![FarEndpoint::Dial(Dialer(Box::new(dial)))];
    let sides = Sides { far, holds_near: true, limits, ..Sides::default() };
    let ended = between(Box::new(stage), sides, signals, &report);
    workers.wait();
    ended
}

/// Where pictures and documents are saved: the named folder, or a new one that is created for the first of them.
fn store(named: Option<PathBuf>) -> impl FnMut(&[u8], &str) -> io::Result<PathBuf> + Send {
    let mut folder: Option<MediaFolder> = None;
    move |bytes, ending| {
        let folder = match &mut folder {
            Some(folder) => folder,
            none => none.insert(match &named {
                Some(named) => MediaFolder::open(named)?,
                None => MediaFolder::open(&pipewright_sys::private::temporary_folder("pipewright-media-")?)?,
            }),
        };
        folder.write(bytes, ending)
    }
}
