//! Child processes: started in their own process group, and ended in order together with all processes they started.

use super::report::{Failure, Status};
use pipewright_sys::descriptor::Descriptor;
use pipewright_sys::process::{self, EndWithUs, Group, end_with_us};
use pipewright_sys::terminal;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the output of a program is read after its end.
const OUTPUT_GRACE: Duration = Duration::from_millis(250);

/// A running child. The thread that owns it waits for it.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    group: Group,
}

/// The use of a child's standard streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildStreams {
    /// Communication over stdin and stdout; its stderr is ours, or a pipe to us.
    Talk {
        /// Whether its stderr is a pipe to us.
        receives_errors: bool,
    },
    /// Communication over another channel: its stdin is empty, and output on stdout or stderr is received as its
    /// stderr. On Linux, it is killed when we die without ending it, because there is no pipe whose end it would
    /// notice.
    Print,
}

/// The environment of a child.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Whether it gets only the variables that are set here, and PATH, HOME and the like.
    pub clean: bool,
    /// Variables that are set for it.
    pub set: Vec<(OsString, OsString)>,
    /// Variables of ours that it does not get, because they contain secrets.
    pub secrets: Vec<String>,
    /// Whether it gets SIGTERM when we die without ending it (Linux only). Without that, it may still carry out what it
    /// has received.
    pub ends_with_us: bool,
    /// Its working folder; ours by default.
    pub folder: Option<PathBuf>,
}

/// Variables that programs need to find executables and files; they do not contain secrets.
const BASIC_VARIABLES: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "XDG_RUNTIME_DIR"];

impl Environment {
    fn apply(&self, command: &mut Command) {
        if self.clean {
            command.env_clear();
            for name in BASIC_VARIABLES {
                if let Some(value) = std::env::var_os(name) {
                    command.env(name, value);
                }
            }
        }
        for name in &self.secrets {
            command.env_remove(name);
        }
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
    }
}

/// The ends of the child's pipes.
#[derive(Debug, Default)]
pub struct ChildPipes {
    /// Its stdin, to write to, and its stdout, to read from, with [`ChildStreams::Talk`].
    pub talk: Option<(Descriptor, Descriptor)>,
    /// Its stderr, to read from, if it is a pipe to us.
    pub stderr: Option<Descriptor>,
}

/// Starts `command` (a program and its arguments, never a shell) with `streams`. It gets a new process group, so that
/// signals to us do not reach it directly; its environment names the groups that it may borrow the terminal from
/// ([`terminal`]). The thread that calls this must live as long as the child.
///
/// # Errors
/// [`Status::NotStarted`] if there is no such program or it cannot be run.
pub fn spawn(
    command: &[OsString],
    streams: ChildStreams,
    environment: &Environment,
) -> Result<(Child, ChildPipes), Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Failure::new(Status::Usage, "no command to start"));
    };
    let failed = |error: io::Error| {
        let advice = if error.kind() == io::ErrorKind::NotFound {
            "; give its full path, or put its folder on PATH"
        } else {
            ""
        };
        let program = program.display();
        Failure::new(Status::NotStarted, format_args!("cannot start {program}: {error}{advice}"))
    };
    let mut command = Command::new(process::program(program));
    environment.apply(&mut command);
    if environment.ends_with_us {
        end_with_us(&mut command, EndWithUs::Asked);
    }
    command.args(arguments).env(terminal::LENDERS, terminal::lenders());
    let mut printed = None;
    match streams {
        ChildStreams::Talk { receives_errors } => {
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            command.stderr(if receives_errors { Stdio::piped() } else { Stdio::inherit() });
        }
        ChildStreams::Print => printed = Some(print_to_one_pipe(&mut command).map_err(failed)?),
    }
    let (mut process, group) = process::start(&mut command).map_err(failed)?;
    let talk = process.stdin.take().zip(process.stdout.take());
    let talk = talk.map(|(stdin, stdout)| (Descriptor::new(stdin), Descriptor::new(stdout)));
    let stderr = process.stderr.take().map(Descriptor::new);
    Ok((Child { process, group }, ChildPipes { talk, stderr: stderr.or(printed) }))
}

/// Returns the read end of the pipe.
fn print_to_one_pipe(command: &mut Command) -> io::Result<Descriptor> {
    let (read, write) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(write.try_clone()?).stderr(write);
    end_with_us(command, EndWithUs::Killed);
    Ok(Descriptor::new(read))
}

/// Runs `command` to its end with [`ChildStreams::Print`], and passes every line that it prints to `take`. Processes
/// left in its group are killed. It does not wait for a daemon outside the group that has the same stdout.
///
/// # Errors
/// As [`spawn`].
pub fn run(command: &[OsString], mut take: impl FnMut(&[u8])) -> Result<ExitStatus, Failure> {
    let (mut child, pipes) = spawn(command, ChildStreams::Print, &Environment::default())?;
    let group = child.group();
    let (sender, lines) = mpsc::sync_channel(64);
    thread::spawn(move || {
        let lines = pipes.stderr.into_iter().flat_map(|printed| BufReader::new(printed).split(b'\n'));
        // Ends with the stream, or when the receiver is dropped.
        lines.map_while(Result::ok).all(|line| sender.send(line).is_ok())
    });
    let mut ended = None;
    while ended.is_none_or(|at: Instant| at.elapsed() < OUTPUT_GRACE) {
        match lines.recv_timeout(OUTPUT_GRACE / 10) {
            Ok(line) => take(&line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if ended.is_none() && child.process.try_wait().map_err(Failure::not_started)?.is_some() {
            ended = Some(Instant::now());
            group.kill();
        }
    }
    let status = child.wait();
    group.kill();
    status.map_err(Failure::not_started)
}

impl Child {
    /// The group to signal; it stays valid while anything in it runs.
    pub fn group(&self) -> Group {
        self.group.clone()
    }

    /// Waits until the child itself has ended.
    ///
    /// # Errors
    /// If the child is unknown to the kernel, because it was already reaped elsewhere.
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        self.process.wait()
    }
}
