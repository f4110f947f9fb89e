//! `godot-bridge`: reads calls on stdin and writes their results to stdout, over one session with a Godot game.

mod bridge;
mod game;
mod import;
mod launch;
mod project;
mod start;
mod tree;

use super::options::LimitOptions;
use super::world::{Runtime, RuntimeSettings};
use super::{Command, needs_input, usage};
use crate::cmd::events::Events;
use bridge::Bridge;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use game::Game;
use launch::{EngineOptions, GameOptions, ReachedGame, reach};
use pipewright_io::between::{FarEndpoint, NearKind, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::Limits;
use pipewright_sys::descriptor::stdout;
use pipewright_sys::signal::Signals;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use tree::Tree;

/// Play a Godot game: commands in, answers out
///
/// Starts the game headless (or attaches to a running game) and carries out each line on stdin: {"cmd":"get_tree","id":1}, with
/// arguments under "args". Each command is answered on stdout, in order:
/// {"ok":true,"id":1,"data":...,"events":[...],"frame":N}, or {"ok":false,"id":1,"error":"...","code":"..."}. Commands need not wait for answers. An id of any JSON
/// type is returned unchanged. tool_call records are also accepted, and answered with tool_result. Calls that are still marked
/// "requires_approval":true are refused. Other records are passed on.
///
/// The game needs the AgentBridge addon, which `godot-bridge install PROJECT` installs. The addon walks the scene tree itself, so
/// new buttons appear in get_tree automatically and can be pressed. Its README.md lists the commands.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Start this program as the game: an exported game, or the engine with your own arguments
    #[arg(last = true, value_name = "GAME ARGS")]
    program: Vec<OsString>,
    #[command(flatten)]
    game: GameOptions,
    /// Also write the game's events as observations when they occur: to a file (appended to), `stderr`, or `-` for stdout, between the answers
    #[arg(long, value_name = "FILE|stderr|-")]
    events: Option<String>,
    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Install the addon in a project and its autoload in project.godot; print what changed
    Install {
        /// The project's folder
        project: PathBuf,
        /// Remove the addon instead
        #[arg(long)]
        remove: bool,
    },
    /// Print the game's scene tree in a form for people
    Tree {
        /// Start this program as the game
        #[arg(last = true, value_name = "GAME ARGS")]
        program: Vec<OsString>,
        #[command(flatten)]
        game: Box<GameOptions>,
        /// The node to begin at: a path or a selector
        #[arg(long, value_name = "SELECTOR", default_value = "/root")]
        root: String,
        /// The number of levels to print [default: all]
        #[arg(long, value_name = "LEVELS")]
        depth: Option<u32>,
        #[command(flatten)]
        limits: LimitOptions,
    },
}

const NAME: &str = "godot-bridge";
const AFTER_HELP: &str = "\
Subcommands:
  install PROJECT [--remove] installs the addon in a project, or removes it, and prints what changed.
  tree prints the game's scene tree in a form for people; it takes the same options, and --root and --depth.

Examples:
  Show what is on a game's screen, and press a button:
    godot-bridge install ~/my-game
    godot-bridge tree --launch ~/my-game
    echo '{\"cmd\":\"press_button\",\"args\":{\"path\":\"#StartButton\"}}' | godot-bridge --launch ~/my-game
  Record an agent's complete session:
    my-agent | godot-bridge --launch ~/my-game | jsonl-record session.jsonl
  Attach to a game that was started with `godot --path ~/my-game -- --agent-mode` (it prints its session folder):
    godot-bridge --attach DIR

Exit status:
  0 success; 1 a command failed, or a line was refused; 2 wrong usage; 3 the game could not be started, or did not \
  complete the handshake; 4 the game was lost: it crashed (also while it was shut down after the last command), ended \
  or hung. After a `quit` command on stdin, the game's own status. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    match arguments.action {
        None => bridge(arguments, signals),
        Some(Action::Install { project, remove }) => install(&project::change(&project, remove)?),
        Some(Action::Tree { game, root, depth, limits, program }) => {
            let report = Arc::new(Report::new(NAME, false));
            let reached = reach(&game, program, &report)?;
            tree(reached, &game.engine, limits.into(), (root, depth), signals, &report)
        }
    }
}

fn bridge(arguments: Arguments, signals: &Signals) -> Result<Status, Failure> {
    let report = Arc::new(Report::new(NAME, false));
    let options = &arguments.game;
    let limits = Limits::from(arguments.limits);
    if options.launch.is_some() || options.attach.is_some() || !arguments.program.is_empty() {
        needs_input("commands")?;
    }
    let events = arguments.events.as_deref().map(|to| Events::open(to, &report)).transpose()?;
    let reached = reach(options, arguments.program, &report)?;
    let game = Game::new(
        options.engine.patience(),
        reached.first,
        events.is_some(),
        options.engine.verbose,
        Arc::clone(&report),
    );
    let launched = matches!(reached.endpoint, FarEndpoint::Link(_, Some(_)));
    let settings = RuntimeSettings {
        // The game enforces the timeouts of its commands.
        timeout: None,
        deadline: None,
        in_flight: usize::MAX,
        unordered: false,
        max_depth: limits.max_depth,
        without_near: false,
    };
    let bridge = Bridge::new(game, events, launched, Arc::clone(&report));
    let bridge = Runtime::new(bridge, [None], settings, Arc::clone(&report));
    let sides = Sides { far: vec![reached.endpoint], holds_near: true, limits, ..Sides::default() };
    let ended = between(Box::new(bridge), sides, signals, &report);
    drop(reached.kept);
    ended
}

/// Prints the tree below `root`, `depth` levels deep, instead of reading commands from stdin.
fn tree(
    reached: ReachedGame,
    options: &EngineOptions,
    limits: Limits,
    (root, depth): (String, Option<u32>),
    signals: &Signals,
    report: &Arc<Report>,
) -> Result<Status, Failure> {
    let game = Game::new(options.patience(), reached.first, false, options.verbose, Arc::clone(report));
    let launched = matches!(reached.endpoint, FarEndpoint::Link(_, Some(_)));
    let tree = Tree { game, root, depth, launched, report: Arc::clone(report) };
    let sides = Sides { far: vec![reached.endpoint], near: NearKind::Stdout, limits, ..Sides::default() };
    let ended = between(Box::new(tree), sides, signals, report);
    drop(reached.kept);
    ended
}

fn install(changed: &[String]) -> Result<Status, Failure> {
    let text = match changed {
        [] => "nothing to change\n".to_owned(),
        lines => lines.iter().map(|line| format!("{line}\n")).collect(),
    };
    let written = stdout().and_then(|mut stdout| stdout.write_all(text.as_bytes()));
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Status::Fault, format_args!("stdout: {error}")))
        }
        _ => Ok(Status::Success),
    }
}
