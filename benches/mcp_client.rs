//! A lower bound for `scripts/bench mcp`: a minimal client of an MCP server. Starts the server, initialises it, and calls its tool `echo`,
//! with IN_FLIGHT calls open at a time.
//!
//!     mcp-client WARM_UPS CALLS IN_FLIGHT PROGRAM ARGUMENTS..
//!
//! Only the id of an answer is read. Prints one JSON object, `{"p50_us","p99_us","seconds"}`: the time of a call, and of all calls from the
//! first answer to the last, without the warm-ups.

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use percentile::percentile;

mod percentile;

const GREETING: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#
);
const GREETED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [warm_ups, calls, in_flight, server @ ..] = arguments.as_slice() else {
        return Err("usage: mcp-client WARM_UPS CALLS IN_FLIGHT PROGRAM ARGUMENTS..".into());
    };
    let (warm_ups, calls, in_flight): (usize, usize, usize) = (warm_ups.parse()?, calls.parse()?, in_flight.parse()?);
    let mut session = Session::start(server)?;
    session.call(warm_ups, in_flight)?;
    let mut taken = session.call(calls, in_flight)?;
    session.end()?;
    taken.calls.sort_unstable();
    let (p50, p99) = (percentile(&taken.calls, 50), percentile(&taken.calls, 99));
    let seconds = taken.all.as_secs_f64();
    let report = format!("{{\"p50_us\":{p50:.1},\"p99_us\":{p99:.1},\"seconds\":{seconds:.6}}}\n");
    std::io::stdout().write_all(report.as_bytes())?;
    Ok(())
}

#[derive(serde::Deserialize)]
struct Message {
    id: Option<usize>,
    // The server's own requests have both.
    method: Option<serde::de::IgnoredAny>,
}

/// The time of each call, and of all calls.
#[derive(Default)]
struct Taken {
    calls: Vec<Duration>,
    all: Duration,
}

struct Session {
    child: Child,
    to: BufWriter<ChildStdin>,
    from: BufReader<ChildStdout>,
    line: Vec<u8>,
    next_id: usize,
}

impl Session {
    fn start(server: &[String]) -> Result<Session, Box<dyn Error>> {
        let [program, arguments @ ..] = server else {
            return Err("the server is missing".into());
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let to = BufWriter::new(child.stdin.take().ok_or("no stdin")?);
        let from = BufReader::with_capacity(64 << 10, child.stdout.take().ok_or("no stdout")?);
        let mut session = Session { child, to, from, line: Vec::new(), next_id: 1 };
        writeln!(session.to, "{GREETING}")?;
        session.to.flush()?;
        session.receive_id()?;
        writeln!(session.to, "{GREETED}")?;
        Ok(session)
    }

    fn call(&mut self, count: usize, in_flight: usize) -> Result<Taken, Box<dyn Error>> {
        let end = self.next_id + count;
        let mut sent = HashMap::new();
        let mut taken = Taken::default();
        let mut first = None;
        while taken.calls.len() < count {
            while sent.len() < in_flight && self.next_id < end {
                let id = self.send()?;
                sent.insert(id, Instant::now());
            }
            // While further answers are already buffered, the next calls are collected for one write.
            if self.from.buffer().is_empty() {
                self.to.flush()?;
            }
            let id = self.receive_id()?;
            let now = Instant::now();
            let since = sent.remove(&id).ok_or_else(|| format!("an answer to {id}, which was not requested"))?;
            taken.calls.push(now - since);
            taken.all = now - *first.get_or_insert(now);
        }
        Ok(taken)
    }

    fn send(&mut self) -> std::io::Result<usize> {
        let id = self.next_id;
        self.next_id += 1;
        let params = r#"{"name":"echo","arguments":{"message":"hi"}}"#;
        writeln!(self.to, r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)?;
        Ok(id)
    }

    /// Returns the id of the next answer.
    fn receive_id(&mut self) -> Result<usize, Box<dyn Error>> {
        loop {
            self.line.clear();
            if self.from.read_until(b'\n', &mut self.line)? == 0 {
                return Err("the server ended too early".into());
            }
            if let Message { id: Some(id), method: None } = serde_json::from_slice(&self.line)? {
                return Ok(id);
            }
        }
    }

    fn end(mut self) -> Result<(), Box<dyn Error>> {
        drop(self.to);
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}").into()) }
    }
}
