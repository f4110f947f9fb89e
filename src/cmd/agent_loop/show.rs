//! The output of the subcommands.

use super::screen::Screen;
use super::session_file::Happened;
use super::{session_file, usage};
use pipewright_agent::profile::BUILT_IN;
use pipewright_io::printable::printable;
use pipewright_io::report::{Failure, Status};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// A built-in profile.
pub fn profile(name: &str) -> Result<Status, Failure> {
    let Some((_, text)) = BUILT_IN.iter().find(|(own, _)| *own == name) else {
        let names = BUILT_IN.map(|(name, _)| name).join(", ");
        return Err(usage(format_args!("unknown profile {name:?}; the built-in profiles are {names}")));
    };
    print(text)
}

/// The events of a session, as text for a person.
pub fn session(path: &Path) -> Result<Status, Failure> {
    let screen = Screen::new(true, false, false);
    let mut text = String::new();
    let read = session_file::history(path, |happened| match happened {
        Happened::Resumed => text.push_str("(a new process continues the session)\n"),
        Happened::Message(content) => text.push_str(&message(&content)),
        Happened::Record(record, _) => text.push_str(&screen.show(&record)),
    });
    if !read.map_err(|why| usage(format_args!("{}: {why}", path.display())))? {
        return Err(usage(format_args!("{}: the session has no events yet", path.display())));
    }
    print(&text)
}

/// A message of the person.
fn message(text: &str) -> String {
    text.lines().map(|line| format!("> {}\n", printable(line))).collect()
}

fn print(text: &str) -> Result<Status, Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(Status::Fault, format_args!("stdout: {error}")))
        }
        _ => Ok(Status::Success),
    }
}
