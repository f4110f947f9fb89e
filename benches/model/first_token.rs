//! Measures how long a token takes through a program.

use super::server::{self, EVENTS};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The pause before the token, so that no process is still busy with the request.
const PAUSE: Duration = Duration::from_millis(2);

/// The program takes prompts on stdin, and writes each token as a line.
pub fn measure(
    warm_ups: usize,
    rounds: usize,
    program: &str,
    arguments: &[&str],
) -> Result<Vec<Duration>, Box<dyn Error>> {
    let ((written, times), (seen, proceed)) = (channel(), channel());
    let proceed = Arc::new(Mutex::new(proceed));
    // The first event has only the role.
    let (role, rest) = EVENTS.split_at(EVENTS.find("\n\n").ok_or("no event")? + 2);
    let (token, rest) = rest.split_at(rest.find("\n\n").ok_or("no token")? + 2);
    let url = server::start(move |to| {
        server::head(to)?;
        server::piece(to, role)?;
        sleep(PAUSE);
        // The receiver exists as long as the program runs.
        let _ = written.send(Instant::now());
        server::piece(to, token)?;
        let _ = proceed.lock().map(|proceed| proceed.recv());
        server::piece(to, rest)
    })?;
    let arguments = arguments.iter().map(|argument| argument.replace("{url}", &url));
    let mut child = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut to = child.stdin.take().ok_or("no stdin")?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no stdout")?).lines();
    let mut took = Vec::new();
    for _ in 0..warm_ups + rounds {
        to.write_all(b"{\"prompt\":\"hi\"}\n")?;
        let first = lines.next().ok_or("the program ended too early")??;
        let read = Instant::now();
        took.push(read - times.recv()?);
        if !first.contains("Hi there!") {
            return Err(format!("got {first} instead of a token").into());
        }
        seen.send(())?;
        lines.next().ok_or("the program ended too early")??;
    }
    drop(to);
    child.wait()?;
    Ok(took.split_off(warm_ups))
}
