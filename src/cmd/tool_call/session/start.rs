//! Starts a session: creates its folder and socket, and passes them to a background process.

use super::{Session, SessionInfo, lock, not_started};
use crate::cmd::options::Limit;
use crate::cmd::tool_call::one_shot::LIST_TIMEOUT;
use crate::cmd::tool_call::request::Request;
use crate::cmd::usage;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_record::ToolList;
use pipewright_sys::process::{ask_to_end, background, exit_code, is_running, session_leader};
use pipewright_sys::run_folder::home;
use pipewright_sys::{private, socket};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read};
use std::process::Child;
use std::time::Duration;

/// How long to wait for the end of a world that lists no tools. A world whose far side is lost refuses calls for at
/// most five seconds before it ends.
const WORLD_END_TIMEOUT: Duration = Duration::from_secs(6);

/// Starts a session and waits until its world lists its tools; gives that list. With `with_owner`, the session ends
/// with the terminal session (setsid(2)) of the caller.
///
/// # Errors
/// [`usage`] if it runs already. If the world does not start, its status; the end of its log has been reported.
pub fn start(
    session: &Session,
    world: Vec<OsString>,
    idle_timeout: Limit,
    with_owner: bool,
    report: &Report,
) -> Result<String, Failure> {
    let command = world.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut arguments = vec!["--serve".into(), session.name.clone().into()];
    arguments.extend(["--idle-timeout".into(), idle_timeout.seconds().to_string().into()]);
    // If the leader has ended already (nohup), there is no process to follow.
    if let Some(owner) = session_leader().filter(|&leader| with_owner && is_running(leader)) {
        arguments.extend(["--owner".into(), owner.to_string().into()]);
    }
    arguments.push("--".into());
    arguments.extend(world);
    let (stream, mut process) = {
        let _lock = home().and_then(|home| lock(&home)).map_err(not_started)?;
        let listener = listen(session)?;
        let failed = |error: io::Error| {
            session.remove();
            not_started(format_args!("{}: {error}", session.folder.display()))
        };
        let log = private::file().append(true).create(true).open(session.log()).map_err(failed)?;
        let process = background::spawn(arguments, listener, log).map_err(failed)?;
        session.note(&SessionInfo { pid: pid(&process), command }).map_err(failed)?;
        // The background process has the listening end: if it is dead, the connection fails.
        (session.connect().map_err(failed)?, process)
    };
    list_tools(session, stream).map_err(|failure| give_up(session, &mut process, failure, report))
}

fn pid(process: &Child) -> i32 {
    // A process id fits: the kernel's own type is an i32.
    process.id() as i32
}

/// Creates the folder and the socket, and removes the remains of a killed session of this name.
fn listen(session: &Session) -> Result<socket::Listener, Failure> {
    let Session { name, folder } = session;
    let socket = session.socket();
    if session.connect().is_ok() {
        let message = format_args!("session '{name}' is already running; end it with: tool-call --stop {name}");
        return Err(usage(message));
    }
    session.remove();
    private::folder().create(folder).and_then(|()| socket::listen(&socket)).map_err(|error| {
        session.remove();
        let path = socket.display();
        if error.kind() == ErrorKind::InvalidFilename {
            let message =
                format_args!("{path}: {error}: choose a shorter name, or a shorter XDG_RUNTIME_DIR or TMPDIR");
            return usage(message);
        }
        not_started(format_args!("{path}: {error}"))
    })
}

/// Gets the world's answer to `list_tools`. [`Status::Lost`] means that the world has ended.
fn list_tools(session: &Session, stream: socket::Stream) -> Result<String, Failure> {
    stream.set_read_timeout(Some(LIST_TIMEOUT)).map_err(not_started)?;
    let mut connection = stream.try_clone().map_err(not_started)?;
    let listed = session.ask_over(stream, &Request::Tools)?;
    if ToolList::read(&listed).is_ok_and(|list| list.is_some_and(|list| !list.tools.is_empty())) {
        return Ok(listed);
    }
    // A world whose far side cannot be started also answers with no tools, and then ends.
    connection.set_read_timeout(Some(WORLD_END_TIMEOUT)).map_err(not_started)?;
    let has_ended = matches!(connection.read(&mut [0]), Ok(0));
    let status = if has_ended { Status::Lost } else { Status::NotStarted };
    Err(Failure::new(status, "the world lists no tools"))
}

/// Ends a session that did not start, and prints the end of its log. Gives the failure of `--start`.
fn give_up(session: &Session, process: &mut Child, failure: Failure, report: &Report) -> Failure {
    let has_ended = failure.status == Status::Lost;
    if !has_ended {
        // The child has not been reaped, so the pid is still its own.
        ask_to_end(pid(process));
    }
    let code = process.wait().ok().map(exit_code);
    for line in session.log_tail() {
        report.say(format_args!("{}: {line}", session.name));
    }
    session.remove();
    if !has_ended {
        return failure;
    }
    let status = if code == Some(Status::NotStarted.code()) { Status::NotStarted } else { Status::Lost };
    Failure::new(status, format_args!("session '{}' did not start", session.name))
}
