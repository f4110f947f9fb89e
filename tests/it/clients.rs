//! Several near sides: clients of a Unix socket in front of one command (`tests/stand_in/clients.rs`).

use crate::process::{PATIENCE, eventually, example};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// `N TEXT` is returned unchanged.
const ECHO: &str = "exec cat";

struct Server {
    process: Child,
    socket: PathBuf,
    _first: UnixStream,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start(script: &str) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let process = Command::new(example("clients")).arg(&socket).arg(script).spawn().unwrap();
        let mut first = None;
        eventually("the server listens", || {
            first = UnixStream::connect(&socket).ok();
            first.is_some()
        });
        Server { process, socket, _first: first.unwrap(), _folder: folder }
    }

    fn join(&self) -> Client {
        let to = UnixStream::connect(&self.socket).unwrap();
        to.set_read_timeout(Some(PATIENCE)).unwrap();
        to.set_write_timeout(Some(PATIENCE)).unwrap();
        Client { from: BufReader::new(to.try_clone().unwrap()), to }
    }

    /// A client that gets notices about clients that join after it.
    fn watch(&self) -> Client {
        let mut watcher = self.join();
        watcher.say("watch");
        watcher.say("ping");
        watcher.receive_until("pong");
        watcher
    }

    fn signal(&self) {
        kill(Pid::from_raw(self.process.id() as i32), Signal::SIGTERM).unwrap();
    }

    fn end(mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It is not killed, so that it ends its child.
        let _ = kill(Pid::from_raw(self.process.id() as i32), Signal::SIGTERM);
        let _ = self.process.wait();
    }
}

struct Client {
    from: BufReader<UnixStream>,
    to: UnixStream,
}

impl Client {
    fn say(&mut self, line: &str) {
        self.to.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn receive(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "the connection has ended: {line:?}");
        line.trim_end().to_owned()
    }

    fn receive_until(&mut self, ending: &str) -> String {
        loop {
            let line = self.receive();
            if line.ends_with(ending) {
                return line;
            }
        }
    }

    /// Closes its sending side; gives everything that still arrives.
    fn finish(mut self) -> String {
        self.to.shutdown(Shutdown::Write).unwrap();
        let mut rest = String::new();
        self.from.read_to_string(&mut rest).unwrap();
        rest
    }
}

#[test]
fn each_client_has_its_own_answers_in_order() {
    let server = Server::start(ECHO);
    let clients: Vec<_> = (0..8)
        .map(|number| {
            let mut client = server.join();
            std::thread::spawn(move || {
                let lines: String = (0..5000).map(|line| format!("client {number} line {line}\n")).collect();
                let mut to = client.to.try_clone().unwrap();
                let sent = lines.clone();
                let writer = std::thread::spawn(move || {
                    to.write_all(sent.as_bytes()).unwrap();
                    to.shutdown(Shutdown::Write).unwrap();
                });
                let mut received = String::new();
                client.from.read_to_string(&mut received).unwrap();
                writer.join().unwrap();
                assert!(received == lines, "client {number}: {} bytes of {}", received.len(), lines.len());
            })
        })
        .collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
}

#[test]
fn the_run_continues_without_clients_until_the_stage_stops_it() {
    let server = Server::start(ECHO);
    for line in ["one", "two"] {
        let mut client = server.join();
        client.say(line);
        assert_eq!(client.finish(), format!("{line}\n"));
    }
    server.join().say("stop");
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn a_client_that_floods_and_never_reads_is_disconnected_without_blocking_others() {
    // One line requests 64 MB of answers; answers to later lines follow them.
    let script = "while read -r n what; do case $what in flood) yes \"$n $(printf %01000d 0)\" | head -n 64000;; *) echo \"$n $what\";; esac; done";
    let server = Server::start(script);
    let mut watcher = server.watch();
    let mut flooded = server.join();
    let number = watcher.receive_until("joined").replace(" joined", "");
    let mut other = server.join();
    watcher.receive_until("joined");
    flooded.say("flood");
    other.say("meanwhile");
    other.say("ping");
    // The flood is on its way until it is dropped: only the server's own answer precedes it.
    assert_eq!([other.receive(), other.receive()], ["pong", "meanwhile"]);
    // In any order.
    let mut ends = [watcher.receive(), watcher.receive()];
    ends.sort();
    let broken = format!("{number} broken it read nothing while 16 MiB waited for it");
    assert_eq!(ends, [broken, format!("{number} closed")]);
    let mut rest = Vec::new();
    flooded.from.read_to_end(&mut rest).unwrap();
    assert!(rest.len() < 1 << 20, "what its own buffers held: {}", rest.len());
}

#[test]
fn a_client_that_sends_and_never_reads_is_not_read_further() {
    let server = Server::start("exec sleep 600");
    let mut other = server.join();
    let greedy = server.join();
    greedy.to.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut sent = 0;
    let asked = "ping\n".repeat(10_000);
    while (&greedy.to).write_all(asked.as_bytes()).is_ok() {
        sent += asked.len();
        assert!(sent < 64 << 20, "it is read without end");
    }
    other.say("ping");
    assert_eq!(other.receive(), "pong");
    // Nothing is lost: once it reads, its lines are read.
    let mut received = vec![0; sent];
    (&greedy.to).read_exact(&mut received).unwrap();
    assert!(received.chunks(5).all(|line| line == b"pong\n"));
}

#[test]
fn a_far_side_that_reads_nothing_blocks_no_client() {
    let server = Server::start("exec sleep 600");
    let (mut first, mut second) = (server.join(), server.join());
    let long = "x".repeat(100_000);
    for _ in 0..30 {
        first.say(&long);
    }
    for client in [&mut first, &mut second] {
        client.say("ping");
        assert_eq!(client.receive(), "pong");
    }
}

#[test]
fn the_death_of_a_client_affects_nothing_else() {
    let server = Server::start(ECHO);
    let mut watcher = server.watch();
    let mut other = server.join();
    other.say("before");
    let mut killed = server.join();
    watcher.receive_until("joined");
    let number = watcher.receive_until("joined").replace(" joined", "");
    killed.say("asked");
    killed.receive();
    // In the middle of a line, with unread answers.
    killed.to.write_all(b"ping\nping\nhalf a li").unwrap();
    drop(killed);
    watcher.receive_until(&format!("{number} closed"));
    other.say("after");
    assert_eq!([other.receive(), other.receive()], ["before", "after"]);
}

#[test]
fn a_disconnect_before_the_answer_is_detected() {
    let server = Server::start("exec sleep 600");
    let mut watcher = server.watch();
    let mut gone = server.join();
    let number = watcher.receive_until("joined").replace(" joined", "");
    gone.say("never answered");
    gone.to.shutdown(Shutdown::Write).unwrap();
    watcher.receive_until(&format!("{number} closed"));
    // It still reads: the connection is not broken.
    watcher.say("ping");
    assert_eq!(watcher.receive(), "pong");
    drop(gone);
    assert!(watcher.receive().starts_with(&format!("{number} broken ")));
}

#[test]
fn the_stage_disconnects_a_client_once_all_is_written() {
    let server = Server::start(ECHO);
    let mut watcher = server.watch();
    let mut client = server.join();
    watcher.receive_until("joined");
    client.to.write_all("ping\n".repeat(1000).as_bytes()).unwrap();
    client.say("bye");
    let mut received = String::new();
    client.from.read_to_string(&mut received).unwrap();
    assert_eq!(received, "pong\n".repeat(1000));
    watcher.receive_until(" closed");
    watcher.say("ping");
    assert_eq!(watcher.receive(), "pong", "who was disconnected isn't broken");
}

#[test]
fn a_signal_ends_it_although_a_client_reads_nothing() {
    let server = Server::start("read -r line; exec yes \"${line%% *} xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
    let mut client = server.join();
    client.say("flood");
    client.receive();
    server.signal();
    assert_eq!(server.end().signal(), Some(15));
}
