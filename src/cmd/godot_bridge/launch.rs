//! How a game is reached: started with the engine, started as a program, or joined where it runs.

use super::import::import_where_needed;
use super::project;
use super::start::StartOptions;
use crate::godot::{TICKS_PER_SECOND, ticks_per_second};
use crate::io::between::{Program, Way};
use crate::io::child::Surroundings;
use crate::io::link::{self, Address};
use crate::io::private;
use crate::io::report::{Failure, Report, Status};
use crate::io::session::{Session, is_running, token};
use clap::ValueEnum;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Which game, and how it is reached.
#[derive(Debug, clap::Args)]
pub struct GameOptions {
    /// Start this project (a folder with a project.godot)
    #[arg(long, value_name = "PROJECT", conflicts_with = "attach")]
    pub launch: Option<PathBuf>,
    /// Join a game that runs, by its session's folder, and leave it running at the end
    #[arg(long, value_name = "DIR")]
    pub attach: Option<PathBuf>,
    #[command(flatten)]
    pub engine: EngineOptions,
}

/// How a game is started and spoken with.
#[derive(Debug, clap::Args)]
pub struct EngineOptions {
    /// The engine [default: godot or godot4 on PATH]
    #[arg(long, value_name = "BIN", env = "PIPEWRIGHT_GODOT")]
    pub godot: Option<OsString>,
    #[command(flatten)]
    pub start: StartOptions,
    /// How the game is spoken with: over files, or a socket that it dials
    #[arg(long, value_name = "HOW", default_value = "file")]
    pub transport: Transport,
    /// How long the game may take to greet; 0 is for ever
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = crate::cmd::options::duration)]
    pub start_timeout: Duration,
    /// How long a command may take that has no `timeout` among its arguments; a game that doesn't answer even two seconds after that is given up; 0 is for ever
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = crate::cmd::options::duration)]
    pub timeout: Duration,
    /// How long the game may take to end once it was asked to; then it is killed; 0 is for ever
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = crate::cmd::options::duration)]
    pub quit_timeout: Duration,
    /// Show what the engine prints
    #[arg(short, long)]
    pub verbose: bool,
}

/// How long is waited for what; for ever where there is nothing.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For the game's greeting.
    pub start: Option<Duration>,
    /// For a command that says nothing about it.
    pub command: Option<Duration>,
    /// For an engine to end that was asked to, or has closed its connection.
    pub quit: Option<Duration>,
}

impl EngineOptions {
    pub fn patience(&self) -> Patience {
        let unless_for_ever = |time: Duration| Some(time).filter(|time| !time.is_zero());
        Patience {
            start: unless_for_ever(self.start_timeout),
            command: unless_for_ever(self.timeout),
            quit: unless_for_ever(self.quit_timeout),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// cmd.jsonl and resp.jsonl in a private folder
    File,
    /// A port of this machine that only who knows the session's token may use
    Tcp,
    /// A Unix socket in a private folder
    Unix,
}

/// A game that can be spoken with.
pub struct Reached {
    /// How; with the program to start, where it isn't running.
    pub way: Way,
    /// The first number for our commands.
    pub first: u64,
    /// What has to stay until the end.
    pub kept: Kept,
}

/// A session's folder, or the lock on somebody else's.
pub enum Kept {
    #[allow(dead_code)] // held for its drop
    Session(Session),
    #[allow(dead_code)] // held for its lock
    Lock(File),
}

fn failed(what: impl std::fmt::Display) -> impl FnOnce(std::io::Error) -> Failure {
    move |error| Failure::new(Status::NotStarted, format_args!("{what}: {error}"))
}

/// Makes the game reachable; `program` is what stood behind `--`.
///
/// # Errors
/// [`Status::Usage`] where none or two games are named, an option is for another way, or the project has no bridge;
/// [`Status::NotStarted`] where there is no engine or no session can be made.
pub fn reach(options: &GameOptions, program: Vec<OsString>, report: &Report) -> Result<Reached, Failure> {
    let usage = |message: &str| Err(Failure::new(Status::Usage, message));
    match (&options.launch, &options.attach, program.is_empty()) {
        (Some(_), _, false) | (_, Some(_), false) => usage("name one game: --launch, --attach, or a program after --"),
        (None, None, true) => usage("which game? --launch PROJECT, --attach DIR, or -- GAME ARGS (see --help)"),
        (_, Some(_), _) if options.engine.transport != Transport::File => usage(
            "--transport is for a game that is started; one that is attached to is spoken with over its session's files",
        ),
        (_, Some(folder), _) => match options.engine.start.first_given() {
            Some(name) => usage(&format!("{name} is for a game that is started, not for --attach")),
            None => attach(folder),
        },
        (Some(folder), _, _) => launch(folder, &options.engine, report),
        (None, None, false) => start_program(program, &options.engine),
    }
}

/// Starts a project with the engine.
fn launch(project: &Path, options: &EngineOptions, report: &Report) -> Result<Reached, Failure> {
    let (folder, text) = project::open_to_play(project)?;
    let start = &options.start;
    if start.movie.is_some() && !start.window {
        return Err(Failure::new(Status::Usage, "--movie needs --window: a game without one draws nothing"));
    }
    let godot = engine(options.godot.as_deref())?;
    if !project::has_current_addon(&folder) {
        let name = folder.display();
        if !project::has_addon_with_variables(&folder) {
            let why = format!(
                "its AgentBridge is older than this bridge, and would not answer: run godot-bridge install {name}"
            );
            return Err(Failure::new(Status::Usage, format_args!("{name}: {why}")));
        }
        report.note(format_args!("{name}: its AgentBridge is not of this version: run godot-bridge install {name}"));
    }
    import_where_needed(&godot, &folder, report)?;
    let mut command = vec![godot];
    command.extend((!start.window).then(|| "--headless".into()));
    command.extend(["--path".into(), folder.into_os_string()]);
    command.extend(start.engine_arguments(ticks_per_second(&text))?);
    connect(command, options)
}

/// The engine: the one named, else the first on PATH.
fn engine(named: Option<&OsStr>) -> Result<OsString, Failure> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return Ok(named.to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_program =
        |file: &PathBuf| fs::metadata(file).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    let mut found = ["godot", "godot4"]
        .into_iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)));
    found.find(is_program).map(PathBuf::into_os_string).ok_or_else(|| {
        let advice = "install Godot 4.5 or newer, or name it with --godot or PIPEWRIGHT_GODOT";
        Failure::new(Status::NotStarted, format_args!("neither godot nor godot4 is on PATH: {advice}"))
    })
}

/// Starts a program as the game. The engine takes its own arguments first.
fn start_program(mut program: Vec<OsString>, options: &EngineOptions) -> Result<Reached, Failure> {
    program.splice(1..1, options.start.engine_arguments(TICKS_PER_SECOND)?);
    connect(program, options)
}

/// The game that `command` starts, with a session of its own.
fn connect(command: Vec<OsString>, options: &EngineOptions) -> Result<Reached, Failure> {
    let session = Session::begin("godot").map_err(failed("cannot make a folder for the session"))?;
    let folder = session.folder();
    let mut connect_to = String::new();
    let link = match options.transport {
        // The child's end is learned from itself.
        Transport::File => link::files(folder, COMMANDS, RESPONSES, || true).map_err(failed(folder.display()))?,
        Transport::Tcp | Transport::Unix => {
            let token = token().and_then(|token| write_private(&folder.join("token"), &token).map(|()| token));
            let token = token.map_err(failed("cannot make a token"))?;
            let path = folder.join("socket");
            let address = if options.transport == Transport::Unix { Address::Path(&path) } else { Address::Port };
            let (link, dialled) = link::listen(address, &token).map_err(failed("cannot listen for the game"))?;
            connect_to = dialled.to_string();
            link
        }
    };
    let set = options.start.variables(folder, &connect_to)?;
    let program = Program { command, around: Surroundings { set, ..Surroundings::default() } };
    Ok(Reached { way: Way::Link(link, Some(program)), first: 1, kept: Kept::Session(session) })
}

const COMMANDS: &str = "cmd.jsonl";
const RESPONSES: &str = "resp.jsonl";

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    private::file().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

fn attach(folder: &Path) -> Result<Reached, Failure> {
    #[derive(serde::Deserialize)]
    struct Running {
        pid: i32,
    }
    let name = folder.display();
    let lost = |message: String| Failure::new(Status::NotStarted, message);
    let file = folder.join("game.json");
    let text = fs::read(&file).map_err(failed(file.display()))?;
    let Running { pid } =
        serde_json::from_slice(&text).map_err(|error| lost(format!("{}: {error}", file.display())))?;
    if !is_running(pid) {
        return Err(lost(format!("{name}: the game (process {pid}) has gone")));
    }
    let path = folder.join("lock");
    let lock = private::file().append(true).create(true).open(&path).map_err(failed(path.display()))?;
    lock.try_lock().map_err(|_| lost(format!("{name}: somebody else speaks with this game already")))?;
    let link = link::files(folder, COMMANDS, RESPONSES, move || is_running(pid)).map_err(failed(name))?;
    // Later than any number of somebody before us, and exact as a float.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let first = u64::try_from(since.as_micros()).unwrap_or(1);
    Ok(Reached { way: Way::Link(link, None), first, kept: Kept::Lock(lock) })
}
