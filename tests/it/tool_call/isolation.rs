//! The isolation of sessions from other users, from the shell that started them, from closed clients, and from the world's output.

use super::Home;
use crate::process::{binary, eventually, example, is_running, pipe, text};
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;
use nix::unistd::getuid;
use std::fs::Permissions;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A user who is not root, for tests that need two users.
const NOBODY: u32 = 65534;

#[test]
fn a_folder_that_others_could_replace_is_refused() {
    let home = Home::new();
    home.start(&[], &["echo"]);
    let expected = "another user could replace our folder";
    std::fs::set_permissions(home.0.path(), Permissions::from_mode(0o777)).unwrap();
    home.call(&["echo"]).assert_refused(3, expected);
    std::fs::set_permissions(home.0.path(), Permissions::from_mode(0o1777)).unwrap();
    assert_eq!(home.call(&["echo"]).status, Some(0), "nobody else can rename what is in a sticky folder");
    if getuid().is_root() {
        chown(home.0.path(), Some(NOBODY), None).unwrap();
        home.call(&["echo"]).assert_refused(3, expected);
        chown(home.0.path(), Some(0), None).unwrap();
    }
    std::fs::set_permissions(home.0.path(), Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_session_of_another_user_is_not_called() {
    if !getuid().is_root() {
        return;
    }
    let (home, theirs) = (Home::new(), Home::new());
    chown(theirs.0.path(), Some(NOBODY), None).unwrap();
    std::fs::create_dir_all(home.folder()).unwrap();
    std::fs::set_permissions(home.0.path().join("pipewright"), Permissions::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(home.folder().join("socket")).unwrap();
    let mut server = theirs.command(&["--serve", "shop", "--", "cat"]);
    let stdin = Stdio::from(OwnedFd::from(listener));
    let mut server = server.uid(NOBODY).stdin(stdin).stderr(Stdio::null()).spawn().unwrap();
    // Until then the socket belongs to this test. A session ends if its last client leaves before the world has answered.
    let mut clients = Vec::new();
    eventually("it listens as another user", || {
        let client = UnixStream::connect(home.folder().join("socket")).unwrap();
        let uid = getsockopt(&client, PeerCredentials).unwrap().uid();
        clients.push(client);
        uid == NOBODY
    });
    home.call(&["echo"]).assert_refused(3, "belongs to another user, 65534");
    home.run(&["--stop", "shop"]).assert_refused(3, "belongs to another user");
    assert!(server.try_wait().unwrap().is_none(), "it still runs");
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn only_the_process_behind_the_socket_is_stopped() {
    let home = Home::new();
    home.start(&[], &["echo"]);
    let (pid, mut other) = (home.pid(), Command::new("sleep").arg("600").spawn().unwrap());
    std::fs::write(home.folder().join("about.json"), format!(r#"{{"pid":{},"command":[]}}"#, other.id())).unwrap();
    assert_eq!(home.run(&["--stop", "shop"]).status, Some(0));
    assert!(!is_running(pid) && other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
}

/// Starts a session from a shell, which runs `before` first; gives the shell's output.
#[track_caller]
fn start_from_shell(home: &Home, before: &str, redirections: &str) -> String {
    let server = example("stand-in-server");
    let script =
        format!("{before} tool-call --start shop --detach -- mcp-pipe -- {} echo {redirections}", server.display());
    let mut shell = Command::new("sh");
    let path = format!("{}:{}", binary("").display(), std::env::var("PATH").unwrap());
    shell.args(["-c", &script]).env("XDG_RUNTIME_DIR", home.0.path()).env("PATH", path);
    let output = pipe(&mut shell, b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    text(&output.stdout)
}

#[test]
fn a_session_inherits_no_descriptor_of_its_shell() {
    let home = Home::new();
    // If the background process inherited it, this pipe would not end.
    assert_eq!(start_from_shell(&home, "", "3>&1 >/dev/null"), "");
    assert_eq!(home.call(&["echo"]).status, Some(0));
}

#[test]
fn a_session_can_be_stopped_even_if_its_shell_ignores_signals() {
    let home = Home::new();
    start_from_shell(&home, "trap '' TERM INT HUP;", "");
    let pid = home.pid();
    let stopped = home.run(&["--stop", "shop"]);
    assert_eq!((stopped.status, stopped.stderr.as_str()), (Some(0), ""));
    assert!(!is_running(pid));
}

#[test]
fn a_call_of_a_closed_client_does_not_keep_an_idle_session() {
    let home = Home::new();
    let script = r#"read -r line; echo '{"type":"tool_list","request_id":1,"tools":[{"name":"x"}]}'
        read -r line; touch called; while read -r line; do :; done"#;
    let start = ["--start", "shop", "--detach", "--idle-timeout", "3s", "--", "sh", "-c", script];
    assert_eq!(home.run(&start).status, Some(0));
    let pid = home.pid();
    let mut client = home.spawn(&["--session", "shop", "x"]);
    eventually("the world has the call", || home.0.path().join("called").exists());
    std::thread::sleep(Duration::from_millis(3500));
    assert!(is_running(pid), "a call is not idle");
    client.kill().unwrap();
    client.wait().unwrap();
    eventually("it ends", || !is_running(pid));
}

#[test]
fn the_last_line_of_a_huge_log_is_read() {
    use std::io::{Seek, SeekFrom, Write};
    let home = Home::new();
    assert_eq!(home.run(&["--sessions"]).status, Some(0));
    std::fs::create_dir(home.folder()).unwrap();
    let mut log = std::fs::File::create(home.folder().join("log")).unwrap();
    // A sparse file: it takes no space on the disk, and is larger than the memory.
    log.seek(SeekFrom::Start(1 << 40)).unwrap();
    log.write_all(b"\nout of memory\n").unwrap();
    home.call(&["echo"]).assert_refused(3, "has ended: out of memory (log: ");
}

#[test]
fn a_command_cannot_forge_rows_in_the_list_of_sessions() {
    let home = Home::new();
    let program = example("stand-in-server");
    let world = ["--", "mcp-pipe", "--", program.to_str().unwrap(), "echo", "x=\nfake\t1\u{1b}[2J"];
    assert_eq!(home.run(&[&["--start", "shop", "--detach"], &world[..]].concat()).status, Some(0));
    let sessions = home.run(&["--sessions"]).stdout;
    assert_eq!((sessions.lines().count(), sessions.matches('\t').count()), (1, 3), "{sessions:?}");
    assert!(sessions.ends_with("x=\\nfake\\t1\\u{1b}[2J\n"), "{sessions:?}");
}
