//! `hitl-gate` with a person at a real pseudo-terminal, with a program that answers on a FIFO, and without either.

mod answers;
mod approvers;
mod attackers;
mod audit;
mod changed_tools;
mod editor;
mod elicitation;
mod ends;
mod flood;
mod hook;
mod hostile;
mod nobody;
mod one_terminal;
mod person;
mod pipe;
mod scopes;
mod session;
mod waiting;
mod wrapped;

use crate::process::{Talk, binary, text, with_a_person};
use crate::schemas::hold;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use rexpect::session::PtySession;
use serde_json::Value;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::Command;
use tempfile::TempDir;

const PROMPT: &str = "help [?]\r\n> ";
const MARKED: &str = r#"{"id":1,"tool":"rm","args":{"path":"a.txt","n":1.10},"requires_approval":true}"#;
/// The same after a person has approved it.
const SETTLED: &str = r#"{"id":1,"tool":"rm","args":{"path":"a.txt","n":1.10}}"#;

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// A call that is held for a person.
fn marked(id: u32) -> String {
    MARKED.replacen('1', &id.to_string(), 1)
}

/// `hitl-gate OPTIONS` in a session of its own, without a terminal.
fn gate(options: &[&str]) -> Command {
    let mut gate = Command::new("setsid");
    gate.arg(binary("hitl-gate")).args(options).env_remove("PIPEWRIGHT_FOREGROUND").env_remove("NO_COLOR");
    gate
}

/// A person at the terminal from which the gate was started, and the caller.
struct Desk {
    person: PtySession,
    calls: Option<File>,
    called: HashSet<String>,
    said: BufReader<File>,
    folder: TempDir,
}

impl Desk {
    /// `before` precedes the gate in the command line, `options` follow it, and the shell then runs `after`.
    fn lay(before: &str, options: &str, after: &str) -> Desk {
        Desk::lay_in(tempfile::tempdir().unwrap(), before, options, after)
    }

    fn lay_in(folder: TempDir, before: &str, options: &str, after: &str) -> Desk {
        let at = |name: &str| folder.path().join(name);
        for name in ["calls", "said"] {
            mkfifo(&at(name), Mode::S_IRWXU).unwrap();
        }
        let script = format!(
            "{before} {} {options} <{} >{} 2>{}; {after}",
            binary("hitl-gate").display(),
            at("calls").display(),
            at("said").display(),
            at("stderr").display(),
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env("TERM", "xterm").env("COLUMNS", "80");
        shell.env("FOLDER", folder.path()).env("XDG_RUNTIME_DIR", folder.path());
        for variable in ["NO_COLOR", "PIPEWRIGHT_FOREGROUND", "VISUAL", "EDITOR"] {
            shell.env_remove(variable);
        }
        let person = with_a_person(shell);
        // In the order in which the shell opens them: each waits for the other end.
        let calls = OpenOptions::new().write(true).open(at("calls")).unwrap();
        let said = BufReader::new(File::open(at("said")).unwrap());
        Desk { person, calls: Some(calls), called: HashSet::new(), said, folder }
    }

    fn call(&mut self, line: &str) {
        self.calls.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
        self.called.insert(line.to_owned());
    }

    /// The next line of the gate's stdout; empty if it has ended.
    fn receive(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        let line = line.trim_end_matches('\n');
        if !self.called.contains(line) {
            hold(line);
        }
        line.to_owned()
    }

    fn receive_json(&mut self) -> Value {
        json(&self.receive())
    }

    /// The records about a decision: the status, and who made it.
    fn receive_decision(&mut self) -> (String, String) {
        let (status, result) = (self.receive_json(), self.receive_json());
        assert_eq!(
            (&status["type"], &result["type"]),
            (&"status".into(), &"policy_result".into()),
            "{status} {result}"
        );
        (word(&status["status"]), word(&result["by"]))
    }

    /// The text on the terminal up to the next prompt.
    fn question(&mut self) -> String {
        self.person.exp_string(PROMPT).unwrap()
    }

    fn types(&mut self, line: &str) {
        self.person.send_line(line).unwrap();
    }

    /// Makes a call that is held, and waits until the person is asked.
    fn hold(&mut self, line: &str) -> String {
        self.call(line);
        assert_eq!(self.receive_json()["status"], "waiting_human");
        self.question()
    }

    fn stderr(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).unwrap()
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A gate that is answered on a FIFO, without a terminal.
struct Desktop {
    talk: Talk,
    answers: File,
    folder: TempDir,
}

impl Desktop {
    fn start(options: &[&str]) -> Desktop {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("answers");
        mkfifo(&fifo, Mode::S_IRWXU).unwrap();
        let mut command = gate(&["--answers", fifo.to_str().unwrap()]);
        command.current_dir(folder.path());
        let talk = Talk::start(command.args(options));
        // Opened for reading and writing, so that opening does not wait.
        let answers = OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
        Desktop { talk, answers, folder }
    }

    /// Makes a call that is held, and gives the question.
    fn hold(&mut self, line: &str) -> Value {
        let asked = json(&self.talk.ask(line));
        assert_eq!(asked["status"], "waiting_human", "{asked}");
        asked
    }

    fn answer(&mut self, line: &str) {
        self.answers.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Answers a question; `rest` are the fields besides those that every answer has.
    fn answer_to(&mut self, asked: &Value, rest: &str) {
        let answer =
            format!(r#"{{"type":"hitl_response","call_id":{},"nonce":{},{rest}}}"#, asked["call_id"], asked["nonce"]);
        self.answer(&answer);
    }

    fn receive(&mut self) -> Value {
        json(&self.talk.receive())
    }
}

/// Runs the command over a whole input; gives its status, stdout and stderr.
fn ran(command: &mut Command, input: &str) -> (Option<i32>, Vec<String>, String) {
    let output = crate::process::pipe(command, input.as_bytes());
    let lines = text(&output.stdout).lines().map(str::to_owned).collect();
    (output.status.code(), lines, text(&output.stderr))
}
