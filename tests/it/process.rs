//! Running the commands: once over an input, or line by line.

use crate::schemas::{hold, hold_all};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rexpect::session::{PtySession, spawn_command};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Far more than any step takes on a busy machine: only what hangs reaches it.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub fn binary(name: &str) -> PathBuf {
    // Cargo puts all programs of a package into one folder.
    match std::env::var_os("PIPEWRIGHT_BINARIES") {
        Some(folder) => Path::new(&folder).join(name),
        None => Path::new(env!("CARGO_BIN_EXE_sts-proxy")).with_file_name(name),
    }
}

/// The folder of the programs for Windows, if these are the ones that are tested (scripts/test-windows).
fn for_windows() -> Option<PathBuf> {
    std::env::var_os("PIPEWRIGHT_WINDOWS").map(PathBuf::from)
}

/// Whether the commands are tested as programs for Windows, which wine runs.
pub fn is_windows() -> bool {
    for_windows().is_some()
}

/// A program of `examples/`, for the system of the commands.
pub fn example(name: &str) -> PathBuf {
    match for_windows() {
        Some(folder) => folder.join("examples").join(name).with_extension("exe"),
        None => Path::new(env!("CARGO_BIN_EXE_sts-proxy")).parent().unwrap().join("examples").join(name),
    }
}

/// A command of ours, without variables of our environment that would change its behaviour.
pub fn command(name: &str) -> Command {
    let mut command = Command::new(binary(name));
    for variable in
        ["AI_STS_PROXY_DATA_DIR", "AI_STS_PROXY_NO_RECORD", "PIPEWRIGHT_FOREGROUND", "PIPEWRIGHT_APPROVALS", "NO_COLOR"]
    {
        command.env_remove(variable);
    }
    // What a model client learns of a server must not reach other tests, whose servers may get its address.
    let state = format!("{}/state-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    command.env_remove("OPENAI_BASE_URL").env_remove("OLLAMA_HOST").env("XDG_STATE_HOME", state);
    command
}

/// Runs a command over a whole input. A program that ends early may leave some of it unread.
#[track_caller]
pub fn pipe(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let given = input.to_vec();
    let writer = thread::spawn(move || {
        let _ = stdin.write_all(&given);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    hold_all(&output.stdout, input);
    output
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command at a terminal of its own, at which a person sits.
#[track_caller]
pub fn with_a_person(command: Command) -> PtySession {
    spawn_command(command, Some(PATIENCE.as_millis() as u64)).unwrap()
}

/// A running command with which a test exchanges lines.
pub struct Talk {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// The lines that it was sent: when it prints one of these, it only passes it on.
    sent: HashSet<String>,
    said: Arc<Mutex<Vec<u8>>>,
    stderr: Option<JoinHandle<()>>,
}

impl Talk {
    pub fn start(command: &mut Command) -> Talk {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (line, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for read in stdout.split(b'\n') {
                let Ok(read) = read else { return };
                if line.send(String::from_utf8_lossy(&read).into_owned()).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&said);
        let stderr = thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(size @ 1..) = stderr.read(&mut piece) {
                all.lock().unwrap().extend_from_slice(&piece[..size]);
            }
        });
        Talk { stdin: child.stdin.take(), child, lines, sent: HashSet::new(), said, stderr: Some(stderr) }
    }

    pub fn say(&mut self, line: &str) {
        // A process that has ended reads no more; `end` gives its status.
        let _ = self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes());
        self.sent.extend(line.split('\n').map(str::to_owned));
    }

    /// The next line of its stdout.
    #[track_caller]
    pub fn receive(&mut self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => self.held(line),
            Err(RecvTimeoutError::Timeout) => panic!("it said nothing for {PATIENCE:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("it ended: {}", self.all_of_stderr()),
        }
    }

    /// Checks the records that it writes itself against our schemas.
    #[track_caller]
    fn held(&self, line: String) -> String {
        if !self.sent.contains(&line) {
            hold(&line);
        }
        line
    }

    /// Sends a line, and gives the next one.
    pub fn ask(&mut self, line: &str) -> String {
        self.say(line);
        self.receive()
    }

    /// Waits until it has written this text to stderr so many times.
    #[track_caller]
    pub fn complains(&self, text: &str, times: usize) {
        eventually(text, || self::text(&self.said.lock().unwrap()).matches(text).count() >= times);
    }

    fn all_of_stderr(&mut self) -> String {
        self.stderr.take().unwrap().join().unwrap();
        text(&self.said.lock().unwrap())
    }

    /// Waits until it has handled everything that has reached it.
    #[track_caller]
    pub fn settles(&self) {
        eventually("all of its threads sleep", || is_idle(self.pid().as_raw()));
    }

    /// A slow machine can only let this pass. What must have happened before is waited for first (`settles`).
    #[track_caller]
    pub fn receive_nothing_for(&mut self, milliseconds: u64) {
        if let Ok(line) = self.lines.recv_timeout(Duration::from_millis(milliseconds)) {
            panic!("it said {line}");
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Its stdin, for a thread that writes more than it reads.
    pub fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().unwrap()
    }

    /// Closes its stdin.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    pub fn end_after_close(mut self) -> Ended {
        self.close();
        self.end()
    }

    /// Waits for its end; gives its last output, its stderr and its status.
    pub fn end(mut self) -> Ended {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(started.elapsed() < PATIENCE, "it does not end");
            thread::sleep(Duration::from_millis(2));
        };
        let took = started.elapsed();
        let lines = self.lines.iter().map(|line| self.held(line)).collect();
        Ended { status, lines, stderr: self.all_of_stderr(), took }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Ended {
    pub status: std::process::ExitStatus,
    pub lines: Vec<String>,
    pub stderr: String,
    /// From the call of [`Talk::end`].
    pub took: Duration,
}

/// Waits until a condition holds.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "never came true: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The state of a process or thread, such as `R` (it has work) or `S` (it sleeps).
pub fn state(task: impl AsRef<Path>) -> Option<char> {
    let stat = std::fs::read_to_string(task.as_ref().join("stat")).ok()?;
    stat.rsplit(')').next()?.trim_start().chars().next()
}

/// Whether a process exists and is not a zombie.
pub fn is_running(pid: i32) -> bool {
    state(format!("/proc/{pid}")).is_some_and(|state| state != 'Z')
}

/// Asserts that processes end of which some may just have been killed: the kernel takes a moment for one that is not our child.
#[track_caller]
pub fn assert_all_end(processes: &[i32], case: &str) {
    eventually(&format!("{case}: all of its processes end"), || !processes.iter().any(|pid| is_running(*pid)));
}

/// Whether a process has handled everything that has reached it: all of its threads sleep. A writer wakes the reader before its
/// write returns, so this also holds for what another process has just written.
pub fn is_idle(pid: i32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let states = Vec::from_iter(threads.map(|thread| state(thread.path())));
    !states.is_empty() && states.iter().all(|state| *state == Some('S'))
}

/// A result without the duration of the call, which differs each time.
pub fn without_duration(line: &str) -> String {
    let Some((before, after)) = line.rsplit_once(r#""duration_ms":"#) else { return line.to_owned() };
    let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{before}{}", after.strip_prefix(',').unwrap_or(after))
}
