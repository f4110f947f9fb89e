//! An approver without a person, for the tests of `hitl-gate`: `approver SOCKET` listens there and approves every call.
//! `approver SOCKET [--after FILE] -- CMD ARGS` starts a command whose calls it approves, and listens as soon as FILE exists.
//! `approver SOCKET --hand-over` starts listening in a process that ends at once, as an attacker might. It closes its streams, and ends by
//! itself, whatever happens to the processes that started it.

use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Longer than a test takes.
const LIFE: Duration = Duration::from_secs(30);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = PathBuf::from(std::env::args_os().nth(1).unwrap_or_default());
    if path.as_os_str() == "--listen" {
        pipewright_sys::socket::inherited()?;
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        pipewright_sys::private::folder().recursive(true).create(folder)?;
    }
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--") {
        let after = (arguments[0] == "--after").then(|| PathBuf::from(&arguments[1]));
        thread::spawn(move || {
            while after.as_ref().is_some_and(|after| !after.exists()) {
                thread::sleep(Duration::from_millis(10));
            }
            UnixListener::bind(&path).map(|listener| approve(&listener))
        });
        let status = Command::new(&arguments[at + 1]).args(&arguments[at + 2..]).status()?;
        std::process::exit(status.code().unwrap_or(1));
    }
    let listener = UnixListener::bind(&path)?;
    if arguments.iter().any(|argument| argument == "--hand-over") {
        let stdin = OwnedFd::from(listener.try_clone()?);
        Command::new(std::env::current_exe()?).arg("--listen").stdin(stdin).status()?;
        File::create("ready")?;
    }
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    thread::spawn(|| {
        thread::sleep(LIFE);
        std::process::exit(0);
    });
    approve(&listener);
    Ok(())
}

/// Approves every call that a gate asks about.
fn approve(listener: &UnixListener) {
    for gate in listener.incoming().map_while(Result::ok) {
        let Ok(from) = gate.try_clone() else { continue };
        let (mut to, from) = (gate, BufReader::new(from));
        thread::spawn(move || {
            for line in from.lines().map_while(Result::ok) {
                let Ok(question) = serde_json::from_str::<Value>(&line) else { continue };
                if question["status"] == "waiting_human" {
                    let (id, nonce) = (&question["call_id"], &question["nonce"]);
                    let answer = json!({"type": "hitl_response", "call_id": id, "nonce": nonce, "action": "approve"});
                    // A gate that has disconnected needs no answer.
                    let _ = to.write_all(format!("{answer}\n").as_bytes());
                }
            }
        });
    }
}
