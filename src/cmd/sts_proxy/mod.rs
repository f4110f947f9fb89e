//! `sts-proxy`: plays Slay the Spire through CommunicationMod's pipe, for a person or an agent, and records.

mod agent;
mod decision;
mod decision_state;
mod fallback;
mod game;
mod optional_recorder;
mod person;
mod player;
mod process;
mod proxy;
mod questions;
mod recorder;
mod relay;
mod relay_with_fallback;
mod watchdog;

use super::options::{Limit, LimitOptions};
use super::{Command, usage};
use crate::cmd::options::Color;
use agent::Agent;
use clap::builder::FalseyValueParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, ValueEnum};
use fallback::{Fallback, FallbackPolicy};
use game::Game;
use optional_recorder::OptionalRecorder;
use person::Person;
use pipewright_io::between::{EndMode, FarEndpoint, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_sys::descriptor::stdout;
use pipewright_sys::folders;
use pipewright_sys::signal::Signals;
use pipewright_sys::terminal::{self, Terminal};
use process::Process;
use proxy::{Proxy, ProxySettings};
use recorder::{PlayerKind, Recorder};
use relay::Relay;
use relay_with_fallback::RelayWithFallback;
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Play Slay the Spire through CommunicationMod's pipe
///
/// CommunicationMod, a mod of the game, starts sts-proxy as its command. sts-proxy writes "ready", reads the mod's states on stdin, and
/// writes only commands on stdout. Without AGENT, a person plays at the terminal. An AGENT gets one line per decision, in the format of valid-actions
/// with "decision":N added. It answers with one line: an id, {"action_id":N}, or a legal mod command.
/// {"action_id":N,"decision":N} answers only the named decision. On a screen that no action leaves, such as a tutorial, the list is
/// empty, and the answer is a command of available_commands. Every accepted decision is recorded with the state it was made
/// in, one file per run.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// The program that plays, with its arguments; without one, a person plays
    #[arg(last = true, value_name = "AGENT")]
    agent: Vec<OsString>,

    /// The person's terminal
    #[arg(long, value_name = "PATH", default_value = terminal::OWN)]
    tty: PathBuf,
    /// Colour on the person's terminal
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,

    /// What the agent reads and writes
    #[arg(long, value_name = "WHAT", default_value = "lines", help_heading = "Agent")]
    protocol: Protocol,
    /// With --protocol mod, send commands that are not legal too; their records have "legal":false
    #[arg(long, help_heading = "Agent")]
    pass_illegal: bool,
    /// How to play on after the agent is lost for good; these decisions have "by":"fallback" in their records
    #[arg(long, value_name = "WHAT", help_heading = "Agent")]
    fallback: Option<FallbackPolicy>,
    /// How long an agent may take to answer before it is asked again; a later answer is not sent unless it names the decision; 0 means
    /// no limit
    #[arg(long, value_name = "DURATION", default_value = "0", help_heading = "Agent")]
    agent_timeout: Limit,
    /// How many times an agent is asked for one decision before it is given up; 1 gives it up after the first illegal, late or missing answer
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Agent")]
    attempts: u32,
    /// How many times an agent that has ended or was given up is restarted; after that, the run ends
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Agent")]
    restart: u32,

    /// Start runs from the menu: class, ascension (0-20) and seed (A-Z, 0-9)
    #[arg(long, num_args = 1..=3, value_names = ["CLASS", "ASC", "SEED"], help_heading = "Game")]
    start: Vec<String>,
    /// End when this many games are over and the menu is back
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Game")]
    games: Option<u64>,
    /// What to send while there is nothing to decide
    #[arg(long, value_name = "WHAT", default_value = "silent", help_heading = "Game")]
    idle: IdleAction,
    /// Request the state when the game has sent nothing for this long; 0 disables this
    #[arg(long, value_name = "DURATION", default_value = "5s", help_heading = "Game")]
    watchdog: Limit,

    /// The folder for records [default: pipewright/spire in the XDG data folder]
    #[arg(long, value_name = "DIR", env = "AI_STS_PROXY_DATA_DIR", value_parser = clap::value_parser!(OsString), help_heading = "Records")]
    data_dir: Option<OsString>,
    /// Record nothing
    #[arg(long, env = "AI_STS_PROXY_NO_RECORD", value_parser = FalseyValueParser::new(), help_heading = "Records")]
    no_record: bool,
    /// Record the complete state, not only hand, player, monsters and turn, or the choices
    #[arg(long, help_heading = "Records")]
    full_state: bool,
    /// When to sync records to disk, against power loss
    #[arg(long, value_name = "WHEN", default_value = "each", help_heading = "Records")]
    sync: SyncOption,

    /// Report only errors on stderr
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    limits: LimitOptions,
}

/// What the agent reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Protocol {
    /// A line per decision, with valid_actions, and one answer for each
    Lines,
    /// The mod's own messages and commands, for a bot that was written for the mod
    Mod,
}

/// What to send while there is nothing to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IdleAction {
    /// Nothing: the mod sends each stable state by itself
    Silent,
    /// `wait 30` in a run, so that the mod answers after 30 frames
    Wait,
    /// `state` at once, about 80 times a second
    State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SyncOption {
    /// After each record, before the next command is sent
    Each,
    /// Never: a power loss may lose the last records
    Never,
}

const NAME: &str = "sts-proxy";
const AFTER_HELP: &str = "\
Examples:
  The mod's config.properties; it splits on spaces and has no quoting.
  A person plays at the terminal that the game was started from:
    command=/usr/local/bin/sts-proxy
  An agent plays ten games as the Silent and ends:
    command=/usr/local/bin/sts-proxy --start SILENT 0 --games 10 -- /home/me/my-bot
  A bot that was written for the mod plays, unchanged:
    command=/usr/local/bin/sts-proxy --protocol mod -- /home/me/my-bot

Exit status:
  0 success; 1 an answer or a line was refused, an answer came late, the agent was restarted, a monster had no id, or \
  a record was lost; 2 wrong usage; \
  3 the agent could not be started, or there is no terminal; 4 the agent was lost, or gave no legal answer. See \
  pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    check_protocol(matches, &arguments).map_err(usage)?;
    let start = start_command(&arguments.start).map_err(usage)?;
    if !say_ready()? {
        return Ok(Status::Success);
    }
    let report = Arc::new(Report::new(NAME, arguments.quiet));
    let recorder = recorder(&arguments, &report)?;
    let ledger = OptionalRecorder::new(recorder, arguments.full_state, Arc::clone(&report));
    let mut sides = Sides { limits: arguments.limits.into(), end_mode: EndMode::Session, ..Sides::default() };
    let settings = ProxySettings { start, idle: arguments.idle, watchdog: arguments.watchdog.0 };
    let fallback = arguments.fallback.map(Fallback::new);
    let game = Game::new(ledger, arguments.games, sides.limits, Arc::clone(&report));
    if arguments.agent.is_empty() {
        let terminal = Terminal::open(&arguments.tty).map_err(Failure::not_started)?;
        let person = Person::new(&terminal, arguments.color)?;
        sides.person = Some(terminal);
        let proxy = Proxy::new(settings, Box::new(person), None, game);
        return between(Box::new(proxy), sides, signals, &report);
    }
    sides.far = FarEndpoint::child(arguments.agent);
    if arguments.protocol == Protocol::Mod {
        let process = Process::new(arguments.restart, Arc::clone(&report));
        let relay = Relay::new(game, process, arguments.pass_illegal);
        return between(Box::new(RelayWithFallback::new(relay, settings, fallback)), sides, signals, &report);
    }
    let agent = Agent::new(arguments.agent_timeout.0, arguments.attempts, arguments.restart, Arc::clone(&report));
    let proxy = Proxy::new(settings, Box::new(agent), fallback, game);
    between(Box::new(proxy), sides, signals, &report)
}

/// Refuses options that would have no effect.
fn check_protocol(matches: &ArgMatches, arguments: &Arguments) -> Result<(), String> {
    let is_given = |option: &str| matches.value_source(option) == Some(ValueSource::CommandLine);
    if arguments.agent.is_empty() {
        let needless = ["protocol", "fallback", "pass_illegal"].into_iter().find(|option| is_given(option));
        return needless.map_or(Ok(()), |option| Err(format!("--{} needs an AGENT", option.replace('_', "-"))));
    }
    if arguments.protocol != Protocol::Mod {
        let pass_illegal = "--pass-illegal needs --protocol mod: other agents are asked again";
        return if arguments.pass_illegal { Err(pass_illegal.to_owned()) } else { Ok(()) };
    }
    let needless =
        ["agent_timeout", "attempts", "start", "idle", "watchdog"].into_iter().find(|option| is_given(option));
    needless.map_or(Ok(()), |option| {
        let option = option.replace('_', "-");
        Err(format!("--{option} does nothing with --protocol mod: the bot starts its runs and asks for states itself"))
    })
}

/// Writes the first line at once: the game is blocked until it comes. Returns `false` if stdout is closed.
fn say_ready() -> Result<bool, Failure> {
    match stdout().and_then(|mut stdout| stdout.write_all(b"ready\n")) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::new(Status::Fault, format_args!("stdout: {error}"))),
    }
}

fn start_command(words: &[String]) -> Result<Option<String>, String> {
    let [class, rest @ ..] = words else {
        return Ok(None);
    };
    let is_name =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name(class) {
        return Err(format!("--start: {class:?} is not a class; the classes are IRONCLAD, SILENT, DEFECT and WATCHER"));
    }
    if let Some(ascension) = rest.first()
        && !ascension.parse().is_ok_and(|level: u8| level <= 20)
    {
        return Err(format!("--start: {ascension:?} is not an ascension (0 to 20)"));
    }
    if let Some(seed) = rest.get(1)
        && (!is_name(seed) || seed.contains('_'))
    {
        return Err(format!("--start: {seed:?} is not a seed (letters A-Z and digits)"));
    }
    Ok(Some(format!("start {}", words.join(" "))))
}

fn recorder(arguments: &Arguments, report: &Arc<Report>) -> Result<Option<Recorder>, Failure> {
    if arguments.no_record {
        return Ok(None);
    }
    // Set but empty counts as unset.
    let named = arguments.data_dir.clone().filter(|folder| !folder.is_empty());
    let folder = named.map(PathBuf::from).or_else(data_folder).ok_or_else(|| {
        usage(
            "no folder for records: the variable of the folder for data is not set (XDG_DATA_HOME or HOME; \
             LOCALAPPDATA on Windows); give one with --data-dir, or --no-record",
        )
    })?;
    let kind = if arguments.agent.is_empty() { PlayerKind::Human } else { PlayerKind::Agent };
    Recorder::new(folder, kind, arguments.sync == SyncOption::Each, Arc::clone(report)).map(Some)
}

/// The XDG data folder's `pipewright/spire`.
fn data_folder() -> Option<PathBuf> {
    Some(folders::data()?.join("pipewright").join("spire"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(words: &[&str]) -> Result<Option<String>, String> {
        start_command(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_start_command_is_checked_before_it_is_sent() {
        assert_eq!(start(&[]), Ok(None));
        assert_eq!(start(&["SILENT", "20", "ABC1"]), Ok(Some("start SILENT 20 ABC1".to_owned())));
        for bad in [&["a b"][..], &["SILENT", "21"], &["SILENT", "x"], &["SILENT", "0", "A-B"], &["x\nend"]] {
            assert!(start(bad).is_err(), "{bad:?}");
        }
    }
}
