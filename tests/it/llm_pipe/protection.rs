//! Processes of the same user that try to read the key. Root can read everything, so as root both sides run as another user.
#![cfg(target_os = "linux")]

use super::server::{Reply, Server};
use crate::process::{Talk, binary, eventually, text};
use nix::unistd::{Pid, Uid, chown, getuid};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const KEY: &str = "k3y-of-all";

/// An id that no user of this machine has: its processes have only the usual rights.
const NOBODY: u32 = 65534;

#[test]
fn other_processes_of_the_same_user_cannot_read_the_key() {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("llm-pipe");
    std::fs::copy(binary("llm-pipe"), &program).unwrap();
    let run = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).env("GEMINI_API_KEY", KEY).env("HOME", place.path()).current_dir(place.path());
        command.env_remove("XDG_CONFIG_HOME");
        if getuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    if getuid().is_root() {
        chown(place.path(), Some(Uid::from_raw(NOBODY)), None).unwrap();
    }
    let attack = |pid: Pid| {
        let script = format!("cat /proc/{pid}/environ; dd if=/proc/{pid}/mem bs=1 count=0 && echo opened");
        text(&run(Path::new("sh"), &["-c", &script]).env_remove("GEMINI_API_KEY").output().unwrap().stdout)
    };
    let unprotected = Talk::start(&mut run(Path::new("sh"), &["-c", "read line"]));
    eventually("sh has started", || attack(unprotected.pid()).contains(KEY));
    let server = Server::start(|_, _| Reply::gemini("x"));
    let options = ["--model", "gemini/g", "--base-url", &server.url, "--key-env", "GEMINI_API_KEY"];
    let mut talk = Talk::start(&mut run(&program, &options));
    assert!(talk.ask(r#"{"prompt":"p"}"#).contains(r#""text":"x""#));
    assert_eq!(attack(talk.pid()), "");
}
