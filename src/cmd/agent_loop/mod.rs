//! `agent-loop`: observe, ask a model, act, over any world.

mod entry;
mod images;
mod model;
mod screen;
mod session_file;
mod show;
mod stage;

use super::agent_logs::Logs;
use super::options::{Limit, LimitOptions, duration, size};
use super::{Command, usage};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use images::Images;
use pipewright_agent::profile::{BUILT_IN, Profile};
use pipewright_agent::{AgentSettings, Limits, RepetitionLimits, Run};
use pipewright_io::between::{FarEndpoint, Program, Sides, between};
use pipewright_io::child::Environment;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines as lines;
use pipewright_record::AgentIds;
use pipewright_sys::signal::Signals;
use pipewright_sys::{private, regular};
use screen::Screen;
use session_file::SessionFile;
use stage::{Files, Loop};
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Work towards a goal: a model decides, a world acts
///
/// Starts a world (browser-bridge, godot-bridge, mcp-pipe, any of them behind gates) and a model command (llm-pipe, or any command that answers model_request records). It then works
/// towards the goal: observe, ask the model for one call, make the call, read its result. Messages of the person are read from stdin as user_message records, and events are written to stdout as
/// records (see pipewright(7)). If stdout is a terminal, both are plain text.
///
/// With --goal the run ends when that goal is done or fails. Without it, the agent works on each message until stdin ends; the first message is the goal.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// The world, with its arguments
    #[arg(last = true, value_name = "WORLD ARGS")]
    world: Vec<OsString>,
    /// The goal: what the agent is to do
    #[arg(long, value_name = "TEXT")]
    goal: Option<String>,
    /// Use this model: short for --llm 'llm-pipe --model PROVIDER/NAME'
    #[arg(short = 'm', long, value_name = "PROVIDER/NAME", conflicts_with = "llm", help_heading = "Model")]
    model: Option<String>,
    /// The address of the model's server, as for llm-pipe
    #[arg(long, value_name = "URL", conflicts_with = "llm", help_heading = "Model")]
    base_url: Option<String>,
    /// A setting of every request, as for llm-pipe: temperature=0.2; may be repeated
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "llm", help_heading = "Model")]
    set: Vec<String>,
    /// How long to wait for a server that is overloaded, limits the rate or loads its model, as for llm-pipe
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration, conflicts_with = "llm", help_heading = "Model")]
    busy_timeout: Duration,
    /// The command that answers model_request records; the text is split into words as by a shell, but no shell runs it
    #[arg(long, value_name = "CMD", help_heading = "Model")]
    llm: Option<String>,
    /// After a request of more than N tokens, start a new conversation with a summary of the old one. This also happens when the model refuses a
    /// request as too long
    #[arg(long, value_name = "N", default_value_t = 100_000, help_heading = "Model")]
    compact_at: u64,

    /// How the world is observed and used: browser, playwright, godot or mcp, or a file of your own (`agent-loop profile NAME` prints a built-in one)
    #[arg(long, value_name = "NAME|FILE", default_value = "mcp", help_heading = "World")]
    profile: String,
    /// Offer the model only tools whose names match; `*` and `?` are wildcards; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "World")]
    allow: Vec<String>,
    /// Do not offer the model tools whose names match; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "World")]
    deny: Vec<String>,
    /// How long the world may take to list its tools; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "60s", help_heading = "World")]
    start_timeout: Limit,

    /// The highest number of model turns for the goal; without --goal, for each message
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Limits")]
    max_steps: u32,
    /// The highest number of calls that the model may choose for each message; it then sums up, and the person is asked whether to continue [default without --goal: 10]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    turn_steps: Option<u32>,
    /// Time limit of the goal; without --goal, of each message (exit status 124). Time spent waiting for a person does not count
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Limits")]
    deadline: Option<Duration>,
    /// The highest number of input and output tokens in total
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_tokens: Option<u64>,
    /// The highest cost in US dollars in total; llm-pipe takes prices from models.toml (see llm-pipe(1))
    #[arg(long, value_name = "DOLLARS", value_parser = dollars, help_heading = "Limits")]
    max_cost: Option<f64>,
    /// After N equal calls with equal outcomes in a row (or two that alternate), tell the model; the second time, end the run. 0 means never
    #[arg(long, value_name = "N", default_value = "3", value_parser = repeats, help_heading = "Limits")]
    max_repeats: u32,
    /// The same after N actions in a row that change nothing visible; a result that differs from the last one counts as a change. 0 means never
    #[arg(long, value_name = "N", default_value_t = 6, help_heading = "Limits")]
    max_unchanged: u32,
    /// Longest line that is read from the world or the model command, in bytes (K, M, G for powers of 1024); pictures are in files and do not count
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size, help_heading = "Limits")]
    max_result: usize,
    #[command(flatten)]
    lines: LimitOptions,

    /// Keep the session in this file, so that it can be continued, even after a crash; pictures are kept in the folder FILE.images
    #[arg(long, value_name = "FILE", help_heading = "Session")]
    session: Option<PathBuf>,
    /// Append an event for each step to this file (`-` is stderr): the call, its outcome, and the world's location (such as the URL); masked, without the
    /// content of pages. At 10 MiB the file is renamed; four older ones are kept
    #[arg(long, value_name = "FILE", help_heading = "Session")]
    steps: Option<PathBuf>,
    /// Append the reasoning that the model reports to this file, masked (see jsonl-mask(1)); `-` is stderr
    #[arg(long, value_name = "FILE", help_heading = "Session")]
    log: Option<PathBuf>,
    /// The session's id. Every record has it, and the values of --agent-id, --role and --chain-id
    #[arg(long, value_name = "ID", help_heading = "Session")]
    session_id: Option<String>,
    /// The agent's name in a chain of agents
    #[arg(long, value_name = "ID", help_heading = "Session")]
    agent_id: Option<String>,
    /// The agent's role in the chain
    #[arg(long, value_name = "TEXT", help_heading = "Session")]
    role: Option<String>,
    /// The chain's id
    #[arg(long, value_name = "ID", help_heading = "Session")]
    chain_id: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print a built-in profile, as a starting point for your own
    Profile {
        /// The name of the profile: browser, playwright, godot or mcp
        name: String,
    },
    /// Print the events of a session, step by step
    Show {
        /// The session's file
        file: PathBuf,
    },
}

const NAME: &str = "agent-loop";
const AFTER_HELP: &str = "\
Examples:
  A goal in a browser; a person is asked before it pays, sends or deletes:
    agent-loop -m gemini/gemini-3-flash --profile browser --goal 'Put the cheapest kettle into the cart' -- \
      policy-check -- hitl-gate -- browser-bridge https://shop.example
  The same, one message after the other, in a session that can be continued:
    agent-loop -m gemini/gemini-3-flash --profile browser --session shop.session -- policy-check -- hitl-gate -- \
    browser-bridge
  Replay a recorded run, offline:
    agent-loop --llm 'replay --as world llm.log' --goal 'Pay the open invoice.' -- replay --as world world.log

Exit status:
  0 success; 1 a goal was not reached, a call was denied or rejected, a line was refused, or a log could not be \
  written; 2 wrong usage; 3 the world or the model command could not be started; 4 the world or the model command was \
  lost; 124 --deadline passed. The `final` record has the same number. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

/// The longest profile that is read, in bytes.
const MAX_PROFILE: u64 = 1 << 20;

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    match &arguments.action {
        Some(Action::Profile { name }) => return show::profile(name),
        Some(Action::Show { file }) => return show::session(file),
        None => {}
    }
    if arguments.world.is_empty() {
        return Err(usage(
            "no world is named: add it after --, such as: agent-loop ... -- browser-bridge (see --help)",
        ));
    }
    if arguments.llm.is_none() && arguments.model.is_none() {
        return Err(usage("no model is named: add --model PROVIDER/NAME, or --llm and a command (see --help)"));
    }
    // Child processes of the world must not read the model's traffic from our memory.
    private::protect_process().map_err(Failure::not_started)?;
    let report = Arc::new(Report::new(NAME, false));
    let settings = settings(&arguments)?;
    let run = limits(&arguments);
    let (session, agent) = SessionFile::open(arguments.session.as_deref(), settings, &run, &report)?;
    let images = Images::open(arguments.session.as_deref()).map_err(|why| Failure::new(Status::NotStarted, why))?;
    let (images, _temporary) = images;
    let model = {
        // Without a goal, a person follows the answer while it is written; with one, only the result counts.
        let streams = run.goal.is_none();
        match &arguments.llm {
            Some(command) => model::command(command)?,
            None => model::llm_pipe(&arguments, streams, images.folder()),
        }
    };
    // If this process died and a gate still held a call, the gate could pass it later, and the continued session would
    // make it again.
    let follows = Environment { ends_with_us: true, ..Environment::default() };
    let environment = Environment { secrets: model::key_variables(&model)?, ..follows.clone() };
    let far = vec![
        FarEndpoint::Child(Program { command: model, environment: follows }),
        FarEndpoint::Child(Program { command: arguments.world, environment }),
    ];
    let limits = lines::Limits::from(arguments.lines);
    let far_limits = Some(lines::Limits { max_line: arguments.max_result, ..limits });
    let logs = Logs::open(arguments.steps.as_deref(), arguments.log.as_deref(), &report)?;
    let screen = Screen::new(stdout().is_terminal(), stdin().is_terminal(), run.goal.is_none());
    let files = Files { session, images, logs };
    let stage = Loop::new(agent, files, screen, limits.max_depth, arguments.start_timeout, Arc::clone(&report));
    let sides = Sides { far, limits, far_limits, ..Sides::default() };
    between(Box::new(stage), sides, signals, &report)
}

fn dollars(text: &str) -> Result<f64, String> {
    let dollars = text.parse().ok().filter(|dollars: &f64| dollars.is_finite() && *dollars >= 0.0);
    dollars.ok_or_else(|| "expected US dollars, such as 0.50".to_owned())
}

fn repeats(text: &str) -> Result<u32, String> {
    let repeats = text.parse().ok().filter(|repeats: &u32| *repeats != 1);
    repeats.ok_or_else(|| "expected 0, or a number from 2".to_owned())
}

fn settings(arguments: &Arguments) -> Result<AgentSettings, Failure> {
    let text = match BUILT_IN.iter().find(|(name, _)| *name == arguments.profile) {
        Some((_, text)) => (*text).to_owned(),
        None => {
            let names = BUILT_IN.map(|(name, _)| name).join(", ");
            let path = Path::new(&arguments.profile);
            regular::read_text(path, MAX_PROFILE)
                .map_err(|error| usage(format_args!("--profile: {}: {error} (built in are {names})", path.display())))?
        }
    };
    let profile = Profile::read(&text).map_err(|why| usage(format_args!("--profile: {}: {why}", arguments.profile)))?;
    if arguments.goal.as_deref().is_some_and(|goal| goal.trim().is_empty()) {
        return Err(usage("--goal: the text is empty"));
    }
    let Arguments { session_id, agent_id, role, chain_id, .. } = arguments;
    let [session_id, agent_id, role, chain_id] =
        [session_id, agent_id, role, chain_id].map(|id| id.clone().map(Cow::Owned));
    let ids = AgentIds { session_id, agent_id, role, chain_id };
    let (allow, deny) = (arguments.allow.clone(), arguments.deny.clone());
    Ok(AgentSettings { profile, ids, allow, deny, compact_at: Some(arguments.compact_at) })
}

fn limits(arguments: &Arguments) -> Run {
    let limits = Limits {
        max_steps: arguments.max_steps,
        turn_steps: arguments.turn_steps.or(arguments.goal.is_none().then_some(10)),
        deadline: arguments.deadline,
        max_tokens: arguments.max_tokens,
        max_cost: arguments.max_cost,
        repetition: RepetitionLimits { repeats: arguments.max_repeats, unchanged: arguments.max_unchanged },
    };
    Run { limits, goal: arguments.goal.clone() }
}
