//! The clock of `scripts/bench`: starts a program that plays a log, and measures how late each of its lines is.
//!
//!     lateness LOG PROGRAM ARGUMENTS..
//!
//! LOG is one of jsonl-record's. The first line is on time by definition; each after it should come as long behind it as
//! their `t` are apart. Prints one JSON object: `{"lines","p50_us","p99_us","most_us"}`.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [log, program, arguments @ ..] = arguments.as_slice() else {
        return Err("usage: lateness LOG PROGRAM ARGUMENTS..".into());
    };
    let schedule = schedule(&std::fs::read_to_string(log)?)?;
    let mut child = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let arrivals = arrivals(child.stdout.take().ok_or("no stdout")?, schedule.len())?;
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("{program} ended with {status}").into());
    }
    if arrivals.len() != schedule.len() {
        return Err(format!("{} lines came of {}", arrivals.len(), schedule.len()).into());
    }
    std::io::stdout().write_all(report(&schedule, &arrivals).as_bytes())?;
    Ok(())
}

/// When the messages are due, in microseconds.
fn schedule(log: &str) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut due = Vec::new();
    for line in log.lines() {
        let record: serde_json::Value = serde_json::from_str(line)?;
        if record.get("dir").is_some() {
            due.push(record["t"].as_f64().ok_or("a message without t")?);
        }
    }
    Ok(due)
}

/// Lines that come with one read came together.
fn arrivals(from: ChildStdout, count: usize) -> std::io::Result<Vec<Instant>> {
    let mut from = BufReader::with_capacity(64 << 10, from);
    let mut arrivals = Vec::with_capacity(count);
    loop {
        let bytes = from.fill_buf()?;
        let now = Instant::now();
        if bytes.is_empty() {
            return Ok(arrivals);
        }
        arrivals.extend(bytes.iter().filter(|&&byte| byte == b'\n').map(|_| now));
        let read = bytes.len();
        from.consume(read);
    }
}

fn report(schedule: &[f64], arrivals: &[Instant]) -> String {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let behind_first = schedule.iter().map(|due| due - schedule[0]);
    let came = arrivals.iter().map(|&arrival| micros(arrival - arrivals[0]));
    let mut late: Vec<f64> = came.zip(behind_first).map(|(came, due)| came - due).collect();
    late.sort_unstable_by(f64::total_cmp);
    let at = |percent: usize| late.get((late.len() * percent / 100).min(late.len() - 1)).copied().unwrap_or_default();
    let (lines, p50, p99, most) = (late.len(), at(50), at(99), at(100));
    format!("{{\"lines\":{lines},\"p50_us\":{p50:.1},\"p99_us\":{p99:.1},\"most_us\":{most:.1}}}\n")
}
