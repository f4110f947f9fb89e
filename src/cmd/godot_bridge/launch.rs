//! How a game is reached: started with the engine, started as a program, or attached to while it runs.

use super::import::import_where_needed;
use super::project;
use super::start::StartOptions;
use crate::cmd::options::Limit;
use crate::cmd::usage;
use clap::ValueEnum;
use pipewright_games::godot::{TICKS_PER_SECOND, ticks_per_second};
use pipewright_io::between::{FarEndpoint, Program};
use pipewright_io::child::Environment;
use pipewright_io::link::{self, ListenAddress};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_sys::process::{self, is_running};
use pipewright_sys::random::token;
use pipewright_sys::run_folder::RunFolder;
use pipewright_sys::{file, private};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Which game, and how it is reached.
#[derive(Debug, clap::Args)]
pub struct GameOptions {
    /// Start this project (a folder that contains a project.godot)
    #[arg(long, value_name = "PROJECT", conflicts_with = "attach")]
    pub launch: Option<PathBuf>,
    /// Attach to a running game by its session folder, and leave it running at the end
    #[arg(long, value_name = "DIR")]
    pub attach: Option<PathBuf>,
    #[command(flatten)]
    pub engine: EngineOptions,
}

/// How a game is started and how the bridge communicates with it.
#[derive(Debug, clap::Args)]
pub struct EngineOptions {
    /// The Godot engine to run [default: godot or godot4 on PATH]
    #[arg(long, value_name = "BIN", env = "PIPEWRIGHT_GODOT")]
    pub godot: Option<OsString>,
    #[command(flatten)]
    pub start: StartOptions,
    /// How the bridge and the game communicate: over files, or over a socket that the game connects to
    #[arg(long, value_name = "HOW", default_value = "file")]
    pub transport: Transport,
    /// How long the game may take to start and complete the handshake; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub start_timeout: Limit,
    /// Time limit of a command without a `timeout` argument, with --lockstep in the game's time; a game that has not answered two seconds after that is lost; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub timeout: Limit,
    /// How long the game may take to end after a quit request; then it is killed; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "2s")]
    pub quit_timeout: Limit,
    /// Copy the engine's output to stderr
    #[arg(short, long)]
    pub verbose: bool,
}

/// The time limits. `None` means no limit.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimits {
    /// For the game's answer to `hello`.
    pub start: Option<Duration>,
    /// For a command without its own timeout.
    pub command: Option<Duration>,
    /// For an engine to end after a quit request, or after it closed its connection.
    pub quit: Option<Duration>,
}

impl EngineOptions {
    pub fn patience(&self) -> TimeLimits {
        TimeLimits { start: self.start_timeout.0, command: self.timeout.0, quit: self.quit_timeout.0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// cmd.jsonl and resp.jsonl in a private folder
    File,
    /// A TCP port on this machine that accepts only the session's token
    Tcp,
    /// A Unix socket in a private folder
    Unix,
}

/// A game that can take commands.
pub struct ReachedGame {
    /// The connection, and the program to start if the game is not running.
    pub endpoint: FarEndpoint,
    /// The first number for our commands.
    pub first: u64,
    /// What has to be kept until the end.
    pub kept: HeldFolder,
}

/// The folder of our own session, or the lock on another session's folder.
pub enum HeldFolder {
    #[allow(dead_code)] // held for its drop
    Session(RunFolder),
    #[allow(dead_code)] // held for its lock
    Lock(File),
}

fn failed(what: impl std::fmt::Display) -> impl FnOnce(std::io::Error) -> Failure {
    move |error| Failure::new(Status::NotStarted, format_args!("{what}: {error}"))
}

/// Starts the game or attaches to it; `program` is the command line after `--`.
///
/// # Errors
/// [`usage`] if no game or two games are named, an option does not fit, or the project has no addon;
/// [`Status::NotStarted`] if there is no engine or no session can be made.
pub fn reach(options: &GameOptions, program: Vec<OsString>, report: &Report) -> Result<ReachedGame, Failure> {
    let wrong = |message: &str| Err(usage(message));
    match (&options.launch, &options.attach, program.is_empty()) {
        (Some(_), _, false) | (_, Some(_), false) => wrong("name one game: --launch, --attach, or a program after --"),
        (None, None, true) => {
            wrong("no game is named: give --launch PROJECT, --attach DIR, or -- GAME ARGS (see --help)")
        }
        (_, Some(_), _) if options.engine.transport != Transport::File => {
            wrong("--transport applies only to a game that is started; --attach always uses the session's files")
        }
        (_, Some(folder), _) => match options.engine.start.first_given() {
            Some(name) => wrong(&format!("{name} applies only to a game that is started, not to --attach")),
            None => attach(folder),
        },
        (Some(folder), _, _) => launch(folder, &options.engine, report),
        (None, None, false) => start_program(program, &options.engine),
    }
}

/// Starts a project with the engine.
fn launch(project: &Path, options: &EngineOptions, report: &Report) -> Result<ReachedGame, Failure> {
    let (folder, text) = project::open_to_play(project)?;
    let start = &options.start;
    if start.movie.is_some() && !start.window {
        return Err(usage("--movie needs --window: a game without one draws nothing"));
    }
    let godot = engine(options.godot.as_deref())?;
    if !project::has_current_addon(&folder) {
        let name = folder.display();
        if !project::has_addon_with_variables(&folder) {
            let why = format!(
                "its AgentBridge is older than this godot-bridge and would not answer: run godot-bridge install {name}"
            );
            return Err(usage(format_args!("{name}: {why}")));
        }
        report.note(format_args!("{name}: its AgentBridge is of another version: run godot-bridge install {name}"));
    }
    import_where_needed(&godot, &folder, report)?;
    let mut command = vec![godot];
    command.extend((!start.window).then(|| "--headless".into()));
    command.extend(["--path".into(), folder.into_os_string()]);
    command.extend(start.engine_arguments(ticks_per_second(&text))?);
    connect(command, options)
}

/// The engine: the named one, otherwise the first on PATH.
fn engine(named: Option<&OsStr>) -> Result<OsString, Failure> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return Ok(named.to_owned());
    }
    process::find(&["godot", "godot4"]).map(PathBuf::into_os_string).ok_or_else(|| {
        let advice = "install Godot 4.5 or newer, or name it with --godot or PIPEWRIGHT_GODOT";
        Failure::new(Status::NotStarted, format_args!("neither godot nor godot4 is on PATH: {advice}"))
    })
}

/// Starts a program as the game. The engine takes its own arguments first.
fn start_program(mut program: Vec<OsString>, options: &EngineOptions) -> Result<ReachedGame, Failure> {
    program.splice(1..1, options.start.engine_arguments(TICKS_PER_SECOND)?);
    connect(program, options)
}

/// The game that `command` starts, with its own session.
fn connect(command: Vec<OsString>, options: &EngineOptions) -> Result<ReachedGame, Failure> {
    let session = RunFolder::create("godot").map_err(failed("cannot make a folder for the session"))?;
    let folder = session.path();
    let mut connect_to = String::new();
    let link = match options.transport {
        // The end of the child is reported by the child process itself.
        Transport::File => link::files(folder, COMMANDS, RESPONSES, || true).map_err(failed(folder.display()))?,
        Transport::Tcp | Transport::Unix => {
            let token = token().and_then(|token| write_private(&folder.join("token"), &token).map(|()| token));
            let token = token.map_err(failed("cannot make a token"))?;
            let path = folder.join("socket");
            let address =
                if options.transport == Transport::Unix { ListenAddress::Path(&path) } else { ListenAddress::Port };
            let (link, dialled) = link::listen(address, &token).map_err(failed("cannot listen for the game"))?;
            connect_to = dialled.to_string();
            link
        }
    };
    let set = options.start.variables(folder, &connect_to)?;
    let program = Program { command, environment: Environment { set, ..Environment::default() } };
    Ok(ReachedGame { endpoint: FarEndpoint::Link(link, Some(program)), first: 1, kept: HeldFolder::Session(session) })
}

const COMMANDS: &str = "cmd.jsonl";
const RESPONSES: &str = "resp.jsonl";

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    private::file().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

fn attach(folder: &Path) -> Result<ReachedGame, Failure> {
    #[derive(serde::Deserialize)]
    struct RunningGame {
        pid: i32,
    }
    let name = folder.display();
    let lost = |message: String| Failure::new(Status::NotStarted, message);
    let file = folder.join("game.json");
    let text = fs::read(&file).map_err(failed(file.display()))?;
    let RunningGame { pid } =
        serde_json::from_slice(&text).map_err(|error| lost(format!("{}: {error}", file.display())))?;
    if !is_running(pid) {
        return Err(lost(format!("{name}: the game (process {pid}) is not running any more")));
    }
    let path = folder.join("lock");
    let lock = private::file().append(true).create(true).open(&path).map_err(failed(path.display()))?;
    file::lock_for_writing(&lock)
        .map_err(|_| lost(format!("{name}: another godot-bridge is already attached to this game")))?;
    let link = link::files(folder, COMMANDS, RESPONSES, move || is_running(pid)).map_err(failed(name))?;
    // Greater than any number an earlier bridge used, and exact as a float.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let first = u64::try_from(since.as_micros()).unwrap_or(1);
    Ok(ReachedGame { endpoint: FarEndpoint::Link(link, None), first, kept: HeldFolder::Lock(lock) })
}
