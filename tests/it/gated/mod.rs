//! Both gates in front of real worlds, as `docs/gates.md` shows them: a page in Chromium, a shell, a Godot game. Harmless calls pass
//! without a question. Others are held, shown, edited, approved and rejected by a person at a terminal of their own.

#[cfg(feature = "browser")]
mod bridge;
mod browser;
#[cfg(feature = "browser")]
mod browser_bridge;
#[cfg(feature = "browser")]
mod deals;
mod game;
mod sdks;
mod shell;

use crate::process::{Talk, binary, with_a_person};
use rexpect::session::PtySession;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The page's name for the terminal, which is replaced by the person's.
const TERMINAL: &str = "/dev/pts/3";
const PROMPT: &str = "help [?]\r\n> ";

/// The caller, and the person who is asked.
struct Guarded {
    calls: Talk,
    person: PtySession,
}

impl Guarded {
    /// Starts a command in this folder, with this PATH.
    fn start(line: &str, folder: &Path, path: &str) -> Guarded {
        let mut terminal = Command::new("sh");
        terminal.args(["-c", "tty; sleep 1d"]);
        let mut person = with_a_person(terminal);
        let line = line.replace(TERMINAL, person.read_line().unwrap().trim());
        // In a session of its own it has no other terminal, like one that a desktop program has started.
        let mut shell = Command::new("setsid");
        shell.args(["bash", "-c", &line]).env("PATH", path).current_dir(folder);
        shell.env_remove("PIPEWRIGHT_FOREGROUND").env("NO_COLOR", "1");
        Guarded { calls: Talk::start(&mut shell), person }
    }

    /// The next answer; other records of a server are skipped.
    fn receive(&mut self) -> Value {
        loop {
            let said = read(&self.calls.receive());
            if said.get("method").is_none() && said["type"] != "status" {
                return said;
            }
        }
    }

    /// Makes a call that is answered without a person: no question was asked, since a question waits much longer.
    fn unasked(&mut self, call: &Value) -> Value {
        self.calls.say(&call.to_string());
        self.receive()
    }

    /// Makes a call that is held; gives the question on the terminal. The caller gets a notice in our own forms.
    fn held(&mut self, call: &Value) -> String {
        self.calls.say(&call.to_string());
        let shown = self.shown();
        if call.get("jsonrpc").is_none() {
            assert_eq!(read(&self.calls.receive())["status"], "waiting_human");
        }
        self.calls.receive_nothing_for(200);
        shown
    }

    /// The text on the person's terminal up to the next prompt.
    fn shown(&mut self) -> String {
        let shown = self.person.exp_string(PROMPT).unwrap();
        // The terminal's bytes come as a character each.
        let bytes: Option<Vec<u8>> = shown.chars().map(|byte| u8::try_from(byte).ok()).collect();
        bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or(shown)
    }

    /// The person changes an argument; gives the text that is shown before they approve it.
    fn edit(&mut self, setting: &str) -> String {
        self.person.send_line(&format!("e {setting}")).unwrap();
        let shown = self.shown();
        self.calls.receive_nothing_for(200);
        shown
    }

    /// The person's decision; gives the answer to the call.
    fn decide(&mut self, typed: &str) -> Value {
        self.person.send_line(typed).unwrap();
        self.receive()
    }
}

fn read(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn assert_shows(shown: &str, parts: &[&str]) {
    for part in parts {
        assert!(shown.contains(part), "{part} is missing from\n{shown}");
    }
}

/// The page's command line with this beginning.
fn shown_line(begins: &str) -> &'static str {
    let line = include_str!("../../../docs/gates.md").lines().find(|line| line.starts_with(begins));
    line.expect("the page shows it")
}

/// A PATH with our programs.
fn path() -> String {
    format!("{}:{}", binary("policy-check").parent().unwrap().display(), std::env::var("PATH").unwrap())
}
