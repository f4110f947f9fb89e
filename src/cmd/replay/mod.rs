//! `replay`: plays a recording to stdout with its timing, or plays one side of it against live code.

mod conversation;
mod ending;
mod errors;
mod feed;
mod findings;
mod lines;
mod play;
pub mod report;
mod role;
mod select;
mod serve;
mod step;

use super::filter::Filter;
use super::log_file::{LogFile, LogOptions, path};
use super::options::{direction, duration, part};
use super::{Command, usage};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use feed::{Feeds, MessageSelection};
use pipewright_io::output::Output;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::Path;
use pipewright_log::{Direction, Part};
use pipewright_replay::schedule::{Schedule, Speed};
use pipewright_sys::signal::Signals;
use pipewright_sys::terminal::{self, Keys, Terminal};
use play::Player;
use select::Bound;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use step::Stepper;

/// Play a recording: to stdout with its timing, or one side of it against live code
///
/// Reads logs of jsonl-record, and plain NDJSON with a time in each record (records of sts-proxy, logs of other tools). Several
/// files are merged by time.
///
/// `--as world LOG -- AGENT ARGS` starts AGENT, sends it the recorded world's lines, and compares its answers with the recorded ones.
/// `--as agent LOG -- WORLD ARGS` starts WORLD, sends it the recorded agent's lines, and compares its output. Without `--`, the other
/// side is on stdin and stdout: replay can then be the command of a game's mod, or the program that a client starts.
/// Turns are aligned without ids, and aligned again after a difference. An agent's calls may have other ids than the
/// recorded ones (in the forms of pipewright(7), but not in JSON-RPC), or be `tool_call` records: they are answered with their own ids, in
/// their own form. `list_tools` is answered from the recording at any time.
///
/// A recorded model is played the same way. A `model_request` is answered with the recorded `model_turn`, after the recorded
/// `assistant_message` tokens; their `request_id` is that of the live request. Only those messages of a request are compared
/// that earlier requests of the same conversation did not contain. Ids in them are ignored, and so are paths of images with a
/// `sha256`. A difference in system, tools, tool_choice, schema or max_output_tokens is reported once. A request without a recorded
/// turn gets a `model_turn` with the kind `not_found`.
///
/// `--as world --any-order LOG` answers calls in any order. A recorded call is found by its tool and arguments, whichever form of
/// pipewright(7) it was recorded in; the answer has the form and the id of the new call. A request to a recorded MCP
/// server (or another JSON-RPC server with one message per line) is found by method and parameters. If a call or request was recorded several
/// times, the recorded answers are given in order, and then the last one again. A `model_request` is found by all of its messages. A call or request that was not recorded gets an error that names the nearest recorded one.
/// At the end, recorded calls and requests that were not made are listed; they do not change the exit status. An MCP client can start
/// `replay --as world --any-order LOG` as its server if LOG is of an MCP server, and
/// `mcp-serve -- replay --as world --any-order LOG` if LOG is of calls.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// Logs; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,
    /// Play N times as fast as recorded, or `max` for no pauses [default: 1; with --as, max]
    #[arg(long, value_name = "N|max", value_parser = speed)]
    speed: Option<Speed>,
    /// The longest pause; longer pauses are shortened to it
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    idle_limit: Option<Duration>,
    /// The command of the other side
    #[arg(last = true, value_name = "CMD ARGS", requires = "part")]
    command: Vec<OsString>,
    #[command(flatten)]
    log: LogOptions,
    #[command(flatten)]
    choose: ChooseOptions,
    #[command(flatten)]
    role: RoleOptions,
}

/// The options that select what is played to stdout.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Playing to stdout")]
struct ChooseOptions {
    /// Play only messages of these directions, separated by commas
    #[arg(long, value_name = "DIR", value_delimiter = ',', default_values = ["in", "out"], value_parser = direction())]
    dir: Vec<Direction>,
    /// Begin here: a seq (120; a line number in plain NDJSON), a time since the first message (90s, 1.5m), or a date and time in ISO 8601
    #[arg(long, value_name = "PLACE")]
    from: Option<Bound>,
    /// End after this place, given as for --from
    #[arg(long, value_name = "PLACE")]
    to: Option<Bound>,
    /// Play only messages for which this jq filter is true; its input is the message, with $dir, $t and $seq
    #[arg(long = "where", value_name = "JQ")]
    filter: Option<String>,
    /// Stop before messages for which this jq filter is true, and ask at the terminal
    #[arg(long = "break", value_name = "JQ")]
    breaks: Option<String>,
    /// Ask at the terminal before every message: n for the next, r to continue without asking, q to quit
    #[arg(long)]
    step: bool,
    /// The terminal for --step and --break
    #[arg(long, value_name = "PATH", default_value = terminal::OWN)]
    tty: PathBuf,
    /// At the end of the files, wait for more messages
    #[arg(long, short = 'f')]
    follow: bool,
}

/// The options for playing a side.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Playing a side")]
struct RoleOptions {
    /// The side to play
    #[arg(long = "as", value_name = "PART", conflicts_with_all = ["filter", "breaks", "step", "follow", "from", "to", "dir"], value_parser = part())]
    part: Option<Part>,
    /// Answer each call or JSON-RPC request (MCP) by its content, not in the recorded order
    #[arg(long, requires = "part", conflicts_with_all = ["session", "timeout", "settle"])]
    any_order: bool,
    /// The part that the recorded child played, if the log does not record it
    #[arg(long, value_name = "PART", requires = "part", value_parser = part())]
    child: Option<Part>,
    /// The session of the log to play, from 1; the last by default
    #[arg(long, value_name = "N", requires = "part", value_parser = clap::value_parser!(u64).range(1..))]
    session: Option<u64>,
    /// With --as agent, also make the calls that a gate refused, that a person rejected or edited, or that were still waiting for a
    /// person at the end; by default they are left out, together with the records about them
    #[arg(long, requires = "part")]
    include_rejected: bool,
    /// Ignore differences at this path, such as .ts or .items[].id; may be repeated
    #[arg(long, value_name = "PATH", requires = "part", value_parser = path)]
    ignore: Vec<Path>,
    /// Apply this jq filter to the lines of both sides before they are compared; a line without output is compared unchanged
    #[arg(long, value_name = "JQ", requires = "part")]
    normalise: Option<String>,
    /// Write the results as NDJSON: each difference, each turn (not with --any-order), and a summary
    #[arg(long, value_name = "FILE", requires = "part")]
    report: Option<PathBuf>,
    /// How long a turn waits for the recorded lines of the other side before it continues without them
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    timeout: Duration,
    /// How long to wait for a later line that explains a difference (as an extra or missing line)
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = duration)]
    settle: Duration,
    /// Do not show each difference, only their number
    #[arg(long, short, requires = "part")]
    quiet: bool,
}

const NAME: &str = "replay";
const AFTER_HELP: &str = "\
Examples:
  Watch last night's game with its timing, but without long pauses:
    replay --idle-limit 2s --dir in run.jsonl
  Check that today's bot still gives the same answers (exits 1 and names the turn of a difference):
    replay --as world run.jsonl -- sts-proxy -- ./my-bot
  Replay a recorded bot against the game, as the mod's command:
    replay --as agent run.jsonl
  Replace a real MCP server with a recorded one, for any client:
    mcp-pipe -- replay --as world --any-order mcp.jsonl
  Print all recorded orders over 100, without pauses:
    replay --speed max --where '.method == \"order\" and .params.total > 100' shop.jsonl

Exit status:
  0 success; 1 something differed, a request was not in the recording, or part of a log could not be read; 2 wrong \
  usage, or a log could not be opened, does not record which part its child played (see --child), or has no call for \
  --any-order; 3 CMD could not be started; with --any-order and CMD, its own status if that is not 0. See \
  pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn speed(text: &str) -> Result<Speed, String> {
    if text == "max" {
        return Ok(Speed::Max);
    }
    let times = text.parse::<f64>().ok().filter(|times| times.is_finite() && *times > 0.0);
    times.map(Speed::Times).ok_or_else(|| "give a number above 0, such as 1 or 0.5, or max".to_owned())
}

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    let report = Arc::new(Report::new(NAME, arguments.role.quiet));
    if arguments.role.include_rejected && arguments.role.part == Some(Part::World) {
        return Err(usage("--include-rejected applies only to --as agent"));
    }
    match arguments.role.part {
        Some(Part::World) if arguments.role.any_order => serve::run(arguments, signals, report),
        Some(_) if arguments.role.any_order => Err(usage("--any-order needs --as world")),
        Some(part) => role::run(arguments, part, signals, report),
        None => play(&arguments, signals, report),
    }
}

fn play(arguments: &Arguments, signals: &Signals, report: Arc<Report>) -> Result<Status, Failure> {
    let choose = &arguments.choose;
    let choice = MessageSelection {
        directions: choose.dir.clone(),
        filter: Filter::compile_some("--where", choose.filter.as_ref())?,
        breaks: Filter::compile_some("--break", choose.breaks.as_ref())?,
        from: choose.from,
        to: choose.to,
    };
    if let (Some(from), Some(to)) = (choose.from, choose.to)
        && from.is_behind(to)
    {
        return Err(usage("--from is after --to: there is nothing between them"));
    }
    let mut logs = LogFile::open_all(&arguments.files, &arguments.log)?;
    let is_max = arguments.speed == Some(Speed::Max);
    if let ([log], true, None, None) = (&mut logs[..], is_max, choose.from, choose.to) {
        // Times are not needed: nothing is delayed, merged or cut.
        log.leave_out_times();
    }
    let output = Output::open(signals)?;
    let stepper = if choose.step || choose.breaks.is_some() {
        let keys = Terminal::open(&choose.tty).and_then(Keys::read_from).map_err(Failure::not_started)?;
        output.on_signal(keys.restorer().map_err(Failure::not_started)?);
        Some(Stepper { keys, report: Arc::clone(&report), every: choose.step })
    } else {
        None
    };
    let schedule = Schedule::new(arguments.speed.unwrap_or(Speed::Times(1.0)), arguments.idle_limit);
    let mut feeds = Feeds::new(logs, choice, choose.follow, !is_max, Arc::clone(&report));
    Player { output, schedule, stepper, report: &report }.play(&mut feeds)
}
