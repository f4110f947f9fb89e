//! `browser-bridge`: tool calls in, results out, over one Chromium that it starts or attaches to.

mod bridge;
mod options;
mod wire;
mod worker;

use super::media_folder::MediaFolder;
use super::options::{LimitOptions, duration};
use super::world::{self as runtime, Restarts, Runtime};
use super::{Command, needs_input};
use crate::io::between::{Dial, Ends, Way, between};
use crate::io::lines::Limits;
use crate::io::link::served;
use crate::io::report::{Failure, Report, Status};
use crate::io::signal::Signals;
use bridge::Bridge;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use options::BrowserOptions;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use worker::Workers;

/// Drive a browser: tool calls in, results out
///
/// Starts Chromium, or attaches to one that runs, and carries out each line on stdin: {"tool":"browser_navigate","args":{"url":"https://example.org"},"id":1},
/// or a tool_call record. Each is answered on stdout, in the form and order of the calls. {"type":"list_tools"} lists the tools
/// and their arguments; docs/browser.md describes them.
///
/// Elements are acted on by the numbers that browser_list_interactives gives them, which browser_overlay_show draws over the page.
/// Calls that still require approval are refused; other records pass. A browser that crashes is started again.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    browser: BrowserOptions,

    /// Wait so after an action: none, dom (the page stops changing), network (it also stops loading) or fixed (--pause)
    #[arg(long, value_name = "MODE", default_value = "dom", help_heading = "Time")]
    settle: options::Settling,
    /// How long settle=fixed waits
    #[arg(long, value_name = "DURATION", default_value = "4s", value_parser = duration, help_heading = "Time")]
    pause: Duration,
    /// How long a call may take; 0 is for ever
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration, help_heading = "Time")]
    timeout: Duration,
    /// Overall time limit; unanswered calls fail with kind timeout, and the exit status is 124
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Time")]
    deadline: Option<Duration>,
    /// How often a browser that has crashed is started again; a minute without a crash restores the count
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Time")]
    restart: u32,
    #[command(flatten)]
    limits: LimitOptions,
}

const NAME: &str = "browser-bridge";
const AFTER_HELP: &str = "\
Examples:
  What is on a page, and an agent that acts on it:
    echo '{\"tool\":\"browser_list_interactives\"}' | browser-bridge https://example.org
    my-agent | browser-bridge https://example.org
  A person approves what pays, sends or deletes:
    my-agent | policy-check -- hitl-gate -- browser-bridge
  A browser that is open already, as the person who is logged in there:
    chromium --remote-debugging-port=0 --user-data-dir=\"$HOME/.cache/agent-browser\" &
    my-agent | browser-bridge --attach ~/.cache/agent-browser
  Any MCP client uses it, with a gate:
    mcp-serve -- policy-check -- hitl-gate -- browser-bridge

Exit status:
  0 all well; 1 a call failed or was refused; 2 usage; 3 the browser cannot be started or attached to; 4 it has crashed more often \
  than --restart; 124 --deadline. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let usage = |error: clap::Error| Failure::new(Status::Usage, error);
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    needs_input("calls")?;
    let report = Arc::new(Report::new(NAME, false));
    let limits = Limits::from(arguments.limits);
    let pace = runtime::Settings {
        timeout: Some(arguments.timeout).filter(|timeout| !timeout.is_zero()),
        deadline: arguments.deadline.map(|deadline| Instant::now() + deadline),
        // A page is acted on by one hand.
        in_flight: 1,
        unordered: false,
        max_depth: limits.max_depth,
        without_near: false,
    };
    let evaluates = arguments.browser.allow_evaluate;
    let start = arguments.browser.start(arguments.settle, arguments.pause)?;
    let workers = Workers::default();
    let started = workers.clone();
    let dial = move || {
        let mut failed = None;
        let link = served(|requests, replies| failed = started.start(&start, requests, replies).err())?;
        failed.map_or(Ok(link), Err)
    };
    let bridge = Bridge::new(evaluates, Arc::clone(&report));
    let stage = Runtime::new(bridge, [Some(Restarts::new(arguments.restart))], pace, Arc::clone(&report));
    let far = vec![Way::Dial(Dial(Box::new(dial)))];
    let ends = Ends { far, holds_near: true, limits, ..Ends::default() };
    let ended = between(Box::new(stage), ends, signals, &report);
    workers.wait();
    ended
}

/// Where pictures and documents go: the folder that was named, or a new one, made when the first of them is there.
fn store(named: Option<PathBuf>) -> impl FnMut(&[u8], &str) -> io::Result<PathBuf> + Send {
    let mut folder: Option<MediaFolder> = None;
    move |bytes, ending| {
        let folder = match &mut folder {
            Some(folder) => folder,
            none => none.insert(match &named {
                Some(named) => MediaFolder::open(named)?,
                None => {
                    MediaFolder::open(&nix::unistd::mkdtemp(&std::env::temp_dir().join("pipewright-media-XXXXXX"))?)?
                }
            }),
        };
        folder.write(bytes, ending)
    }
}
