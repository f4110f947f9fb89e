//! A server of one shell command, for the tests of several near sides: `clients SOCKET SCRIPT`.
//!
//! A line TEXT of client N is sent to the command as `N TEXT`; its line `N TEXT` is sent to client N as TEXT. A client that
//! has closed its output is disconnected after it has received as many lines as it has sent. Some lines are for the server: `ping`
//! (answered with `pong`), `watch` (this client is sent `N joined`, `N closed` and `N broken WHY` from then on), `bye` (this client
//! is disconnected) and `stop` (the run ends).

use pipewright_io::between::{FarEndpoint, Listener, NearKind, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Piece, text};
use pipewright_sys::signal;
use pipewright_sys::signal::Signals;
use std::collections::BTreeMap;
use std::os::unix::net::UnixListener;
use std::process::ExitCode;
use std::sync::Arc;

struct Server {
    report: Arc<Report>,
    clients: BTreeMap<usize, Client>,
    watcher: usize,
}

#[derive(Default)]
struct Client {
    /// The number of lines that are still to come for it.
    owed: u64,
    closed: bool,
}

impl Server {
    fn take(&mut self, client: usize, line: &str, out: &mut Out) {
        match line {
            "ping" => out.add_line(Side::Near(client), "pong"),
            "watch" => self.watcher = client,
            "bye" => out.close_near(client),
            "stop" => out.stop(self.report.finish()),
            _ => {
                self.clients.entry(client).or_default().owed += 1;
                out.add_line(Side::FAR, &format!("{client} {line}"));
            }
        }
    }

    fn give(&mut self, line: &str, out: &mut Out) {
        let Some((number, message)) = line.split_once(' ') else { return };
        let Ok(number) = number.parse() else { return };
        out.add_line(Side::Near(number), message);
        if let Some(client) = self.clients.get_mut(&number) {
            client.owed = client.owed.saturating_sub(1);
        }
        self.see_off(number, out);
    }

    fn see_off(&self, number: usize, out: &mut Out) {
        if self.clients.get(&number).is_some_and(|client| client.closed && client.owed == 0) {
            out.close_near(number);
        }
    }

    fn say_to_watcher(&self, message: &str, out: &mut Out) {
        out.add_line(Side::Near(self.watcher), message);
    }
}

impl Stage for Server {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Joined(number) => {
                self.clients.insert(number, Client::default());
                self.say_to_watcher(&format!("{number} joined"), out);
            }
            Event::Piece(Side::Near(number), Piece::Line(line)) => self.take(number, &text(line.body()), out),
            Event::Piece(Side::FAR, Piece::Line(line)) => self.give(&text(line.body()), out),
            Event::Closed(Side::Near(number)) => {
                self.clients.entry(number).or_default().closed = true;
                self.say_to_watcher(&format!("{number} closed"), out);
                self.see_off(number, out);
            }
            Event::Broken(Side::Near(number), error) => self.say_to_watcher(&format!("{number} broken {error}"), out),
            _ => {}
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    let report = Arc::new(Report::new("clients", false));
    let mut arguments = std::env::args_os().skip(1);
    let (path, script) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let run = || {
        let not_started = |error| Failure::new(Status::NotStarted, error);
        let signals = Signals::hold().map_err(not_started)?;
        let listener = UnixListener::bind(path).map_err(not_started)?;
        let clients = Some(Listener(Box::new(move || Ok(listener.accept()?.0))));
        let far = FarEndpoint::child(vec!["sh".into(), "-c".into(), script]);
        let stage = Server { report: Arc::clone(&report), clients: BTreeMap::new(), watcher: 0 };
        between(Box::new(stage), Sides { near: NearKind::Clients, clients, far, ..Sides::default() }, &signals, &report)
    };
    match run() {
        Ok(Status::Signal(signal)) => signal::die_of(signal),
        Ok(status) => status.into(),
        Err(failure) => {
            report.say(&failure);
            failure.status.into()
        }
    }
}
