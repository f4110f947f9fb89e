//! Other programs: started in a process group of their own, ended in order with all that they started.

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

/// How long a child may take to end by itself once its stdin is closed, and again after SIGTERM. Both together stay well
/// under the two seconds after which the Spire mod kills us. Where a signal hurries us, a wrapper inside another takes a
/// third of the outer one's: it has ended its own child, with both its times, before its turn to be killed comes.
pub fn grace(hurried: bool) -> Duration {
    let outer = if hurried { terminal::lenders().matches(',').count().min(3) as u32 } else { 0 };
    Duration::from_millis(600) / 3u32.pow(outer)
}

/// What a program has printed is read for so long after its end.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// A child that has been started. It is waited for on the thread that owns it.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
}

/// What a child's standard streams are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// It is spoken with over stdin and stdout; its stderr is ours, or heard.
    Talk {
        /// Whether its stderr is a pipe to us.
        hears_errors: bool,
    },
    /// It is spoken with in another way: its stdin is empty, and whatever it prints on stdout or stderr is heard as its stderr.
    /// Where the system can (Linux), it is killed when we die without ending it: there is no pipe whose end it would notice.
    Print,
}

/// What a child finds around it.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Whether it has none of our environment but what is set here, and PATH, HOME and their like.
    pub clean: bool,
    /// Variables that are set for it.
    pub set: Vec<(OsString, OsString)>,
    /// Variables of ours that it does not get: they hold secrets.
    pub secrets: Vec<String>,
    /// Whether it gets SIGTERM when we die without ending it, where the system can (Linux). Else it might still carry out what it has received.
    pub ends_with_us: bool,
    /// The folder that it is started in; ours, where there is none.
    pub folder: Option<PathBuf>,
}

/// What programs need to find themselves and their files; nobody's secrets are kept in them.
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
    /// Its stdin, to write to, and its stdout, to read from, where it is spoken with over them.
    pub talk: Option<(Descriptor, Descriptor)>,
    /// Its stderr, to read from, where it is heard.
    pub stderr: Option<Descriptor>,
}

/// The process group of a child, to signal all that is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group(Pid);

/// Starts `command` (a program and its arguments, never a shell) with `streams`. Its process group is new, so that a
/// signal to us is ours to hand on; the environment tells it which groups it may borrow the terminal from ([`terminal`]).
/// The thread that calls this must live as long as the child.
///
/// # Errors
/// [`Status::NotStarted`] where there is no such program or it can't be run.
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
    // SAFETY: what runs between fork and exec is async-signal-safe, see there.
    unsafe { command.pre_exec(signal::restore_mask) };
    around.apply(&mut command);
    if around.ends_with_us {
        send_when_we_die(Signal::SIGTERM, &mut command);
    }
    command.args(arguments).env(terminal::LENDERS, terminal::lenders()).process_group(0);
    let mut printed = None;
    match streams {
        Streams::Talk { hears_errors } => {
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            command.stderr(if hears_errors { Stdio::piped() } else { Stdio::inherit() });
        }
        Streams::Print => printed = Some(print_to_one_pipe(&mut command).map_err(failed)?),
    }
    let mut process = command.spawn().map_err(failed)?;
    let talk = process.stdin.take().zip(process.stdout.take());
    let talk = talk.map(|(stdin, stdout)| (OwnedFd::from(stdin).into(), OwnedFd::from(stdout).into()));
    let stderr = process.stderr.take().map(|stderr| OwnedFd::from(stderr).into());
    Ok((Child { process }, Pipes { talk, stderr: stderr.or(printed) }))
}

/// Gives the end to read from.
fn print_to_one_pipe(command: &mut Command) -> io::Result<Descriptor> {
    let (read, write) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(write.try_clone()?).stderr(write);
    send_when_we_die(Signal::SIGKILL, command);
    Ok(OwnedFd::from(read).into())
}

/// Has the child get a signal when the thread that starts it dies, where the system can.
#[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
fn send_when_we_die(signal: Signal, command: &mut Command) {
    #[cfg(target_os = "linux")]
    // SAFETY: prctl(2) and getppid(2) are async-signal-safe, and that option changes nothing but the calling process.
    unsafe {
        let parent = nix::unistd::getpid();
        command.pre_exec(move || {
            nix::sys::prctl::set_pdeathsig(signal)?;
            // We may have died before that: no signal would come any more.
            if nix::unistd::getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
        });
    }
}

/// Runs `command` to its end with [`Streams::Print`], and gives every line that it prints to `take`. What it leaves behind
/// in its group is killed; a daemon of its own that has the same stdout isn't waited for.
///
/// # Errors
/// As [`spawn`].
pub fn run(command: &[OsString], mut take: impl FnMut(&[u8])) -> Result<ExitStatus, Failure> {
    let (mut child, pipes) = spawn(command, Streams::Print, &Surroundings::default())?;
    let group = child.group();
    let (said, lines) = mpsc::sync_channel(64);
    thread::spawn(move || {
        let lines = pipes.stderr.into_iter().flat_map(|printed| BufReader::new(printed).split(b'\n'));
        // It ends with the stream, or when nobody listens any more.
        lines.map_while(Result::ok).all(|line| said.send(line).is_ok())
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
    /// Where the kernel doesn't know the child: somebody else has waited for it.
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        self.process.wait()
    }
}

impl Group {
    /// Its number.
    pub fn id(self) -> Pid {
        self.0
    }

    /// Signals all of the group; says whether there was anybody.
    pub(super) fn signal(self, signal: Option<Signal>) -> bool {
        killpg(self.0, signal) != Err(Errno::ESRCH)
    }

    /// Kills all of the group at once.
    pub fn kill(self) {
        self.signal(Some(Signal::SIGKILL));
    }

    /// Ends all of the group: SIGTERM, and SIGKILL for who is still there after the `grace`, which may shrink meanwhile.
    /// `gone` says whether the child itself has been waited for.
    pub fn end(self, gone: impl Fn() -> bool, grace: impl Fn() -> Duration) {
        self.signal(Some(Signal::SIGTERM));
        // A stopped process hears SIGTERM only once it goes on.
        self.signal(Some(Signal::SIGCONT));
        if !self.ends_within(gone, grace) {
            self.kill();
        }
    }

    /// Ends all of the group at once. Two signals, so that a wrapper in it takes them for the first and the second, and
    /// does the same with its own child.
    pub fn end_at_once(self) {
        self.signal(Some(Signal::SIGTERM));
        self.signal(Some(Signal::SIGINT));
        self.signal(Some(Signal::SIGCONT));
        self.ends_within(|| true, || grace(true) / 6);
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

/// What a shell would make of it: the exit code, or 128+N for signal N.
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
