//! Child processes: started in their own process group, and ended in order together with all processes they started.
#![allow(unsafe_code)]

use super::descriptor::Descriptor;
use super::report::{Failure, Status};
use super::{signal, terminal};
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a child may take to end by itself after its stdin is closed, and again after SIGTERM. Both together stay well
/// under the two seconds after which the Spire mod kills us. If a signal hurries us, each inner wrapper takes a
/// third of the time of the next outer one, so that it has ended its own child, in both steps, before it is killed itself.
pub fn grace(hurried: bool) -> Duration {
    let outer = if hurried { terminal::lenders().matches(',').count().min(3) as u32 } else { 0 };
    Duration::from_millis(600) / 3u32.pow(outer)
}

/// How long the output of a program is read after its end.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// A running child. The thread that owns it waits for it.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
}

/// The use of a child's standard streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// Communication over stdin and stdout; its stderr is ours, or a pipe to us.
    Talk {
        /// Whether its stderr is a pipe to us.
        receives_errors: bool,
    },
    /// Communication over another channel: its stdin is empty, and output on stdout or stderr is received as its stderr.
    /// On Linux, it is killed when we die without ending it, because there is no pipe whose end it would notice.
    Print,
}

/// The environment of a child.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Whether it gets only the variables that are set here, and PATH, HOME and the like.
    pub clean: bool,
    /// Variables that are set for it.
    pub set: Vec<(OsString, OsString)>,
    /// Variables of ours that it does not get, because they contain secrets.
    pub secrets: Vec<String>,
    /// Whether it gets SIGTERM when we die without ending it (Linux only). Without that, it may still carry out what it has received.
    pub ends_with_us: bool,
    /// Its working folder; ours by default.
    pub folder: Option<PathBuf>,
}

/// Variables that programs need to find executables and files; they do not contain secrets.
const HARMLESS: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "XDG_RUNTIME_DIR"];

impl Surroundings {
    fn apply(&self, command: &mut Command) {
        if self.clean {
            command.env_clear();
            for name in HARMLESS {
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
pub struct Pipes {
    /// Its stdin, to write to, and its stdout, to read from, with [`Streams::Talk`].
    pub talk: Option<(Descriptor, Descriptor)>,
    /// Its stderr, to read from, if it is a pipe to us.
    pub stderr: Option<Descriptor>,
}

/// The process group of a child, for sending signals to all its processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group(Pid);

/// Starts `command` (a program and its arguments, never a shell) with `streams`. It gets a new process group, so that
/// signals to us do not reach it directly; its environment names the groups that it may borrow the terminal from ([`terminal`]).
/// The thread that calls this must live as long as the child.
///
/// # Errors
/// [`Status::NotStarted`] if there is no such program or it cannot be run.
pub fn spawn(command: &[OsString], streams: Streams, around: &Surroundings) -> Result<(Child, Pipes), Failure> {
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
    let mut command = Command::new(program);
    // SAFETY: the function that runs between fork and exec is async-signal-safe, see there.
    unsafe { command.pre_exec(signal::restore_mask) };
    around.apply(&mut command);
    if around.ends_with_us {
        send_when_we_die(Signal::SIGTERM, &mut command);
    }
    command.args(arguments).env(terminal::LENDERS, terminal::lenders()).process_group(0);
    let mut printed = None;
    match streams {
        Streams::Talk { receives_errors } => {
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            command.stderr(if receives_errors { Stdio::piped() } else { Stdio::inherit() });
        }
        Streams::Print => printed = Some(print_to_one_pipe(&mut command).map_err(failed)?),
    }
    let mut process = command.spawn().map_err(failed)?;
    let talk = process.stdin.take().zip(process.stdout.take());
    let talk = talk.map(|(stdin, stdout)| (OwnedFd::from(stdin).into(), OwnedFd::from(stdout).into()));
    let stderr = process.stderr.take().map(|stderr| OwnedFd::from(stderr).into());
    Ok((Child { process }, Pipes { talk, stderr: stderr.or(printed) }))
}

/// Returns the read end of the pipe.
fn print_to_one_pipe(command: &mut Command) -> io::Result<Descriptor> {
    let (read, write) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(write.try_clone()?).stderr(write);
    send_when_we_die(Signal::SIGKILL, command);
    Ok(OwnedFd::from(read).into())
}

/// Makes the kernel send the child a signal when the thread that starts it dies (Linux only).
#[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
fn send_when_we_die(signal: Signal, command: &mut Command) {
    #[cfg(target_os = "linux")]
    // SAFETY: prctl(2) and getppid(2) are async-signal-safe, and that option changes nothing but the calling process.
    unsafe {
        let parent = nix::unistd::getpid();
        command.pre_exec(move || {
            nix::sys::prctl::set_pdeathsig(signal)?;
            // If we have already died, no signal will come.
            if nix::unistd::getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
        });
    }
}

/// Runs `command` to its end with [`Streams::Print`], and passes every line that it prints to `take`. Processes left in
/// its group are killed. It does not wait for a daemon outside the group that has the same stdout.
///
/// # Errors
/// As [`spawn`].
pub fn run(command: &[OsString], mut take: impl FnMut(&[u8])) -> Result<ExitStatus, Failure> {
    let (mut child, pipes) = spawn(command, Streams::Print, &Surroundings::default())?;
    let group = child.group();
    let (sender, lines) = mpsc::sync_channel(64);
    thread::spawn(move || {
        let lines = pipes.stderr.into_iter().flat_map(|printed| BufReader::new(printed).split(b'\n'));
        // Ends with the stream, or when the receiver is dropped.
        lines.map_while(Result::ok).all(|line| sender.send(line).is_ok())
    });
    let failed = |error| Failure::new(Status::NotStarted, error);
    let mut ended = None;
    while ended.is_none_or(|at: Instant| at.elapsed() < LAST_WORDS) {
        match lines.recv_timeout(LAST_WORDS / 10) {
            Ok(line) => take(&line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if ended.is_none() && child.process.try_wait().map_err(failed)?.is_some() {
            ended = Some(Instant::now());
            group.kill();
        }
    }
    let status = child.wait();
    group.kill();
    status.map_err(failed)
}

impl Child {
    /// The group to signal; it stays valid while anything in it runs.
    pub fn group(&self) -> Group {
        Child::group_of(&self.process)
    }

    pub(super) fn group_of(process: &std::process::Child) -> Group {
        // A process id fits: the kernel's own type is an i32.
        Group(Pid::from_raw(process.id() as i32))
    }

    /// Waits until the child itself has ended.
    ///
    /// # Errors
    /// If the child is unknown to the kernel, because it was already reaped elsewhere.
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        self.process.wait()
    }
}

impl Group {
    /// Its number.
    pub fn id(self) -> Pid {
        self.0
    }

    /// Signals the complete group; returns whether it has any process.
    pub(super) fn signal(self, signal: Option<Signal>) -> bool {
        killpg(self.0, signal) != Err(Errno::ESRCH)
    }

    /// Kills the complete group at once.
    pub fn kill(self) {
        self.signal(Some(Signal::SIGKILL));
    }

    /// Ends the complete group: SIGTERM, then SIGKILL for processes that remain after the `grace`, which may shrink meanwhile.
    /// `gone` returns whether the child itself has been reaped.
    pub fn end(self, gone: impl Fn() -> bool, grace: impl Fn() -> Duration) {
        self.signal(Some(Signal::SIGTERM));
        // A stopped process handles SIGTERM only after it is continued.
        self.signal(Some(Signal::SIGCONT));
        if !self.ends_within(gone, grace) {
            self.kill();
        }
    }

    /// Ends the complete group at once. It sends two signals, so that a wrapper in the group sees a first and a second signal, and
    /// does the same with its own child. (SIGINT may be ignored there, as after a shell's `&`.)
    pub fn end_at_once(self) {
        self.signal(Some(Signal::SIGTERM));
        self.signal(Some(Signal::SIGINT));
        self.signal(Some(Signal::SIGCONT));
        if !self.ends_within(|| true, || grace(true) / 6) {
            self.signal(Some(Signal::SIGTERM));
            self.ends_within(|| true, || grace(true) / 6);
        }
        self.kill();
    }

    fn ends_within(self, gone: impl Fn() -> bool, grace: impl Fn() -> Duration) -> bool {
        let asked = Instant::now();
        while !gone() || self.signal(None) {
            if asked.elapsed() > grace() {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }
}

/// The exit status as a shell reports it: the exit code, or 128+N for signal N.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// The same in words: `exit status 1`, or `signal 9 (SIGKILL)`.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(number)) => match Signal::try_from(number) {
            Ok(signal) => format!("signal {number} ({signal})"),
            Err(_) => format!("signal {number}"),
        },
        (None, None) => status.to_string(),
    }
}
