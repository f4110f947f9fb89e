//! Measures lateness for `scripts/bench`: starts a program that plays a log, and measures how late each of its lines is.
//!
//!     lateness LOG [PROGRAM ARGUMENTS..]
//!
//! LOG is written by jsonl-record; the lines should have the distances of their `t`. No line is early: by definition, the earliest line
//! relative to its `t` is on time. Prints one JSON object: `{"lines","first_us","p50_us","p99_us","most_us"}`. Without a program, measures
//! how late a bare sleep is.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [log, command @ ..] = arguments.as_slice() else {
        return Err("usage: lateness LOG [PROGRAM ARGUMENTS..]".into());
    };
    let schedule = schedule(&std::fs::read_to_string(log)?)?;
    let arrivals = match command {
        [] => sleeps(&schedule),
        [program, arguments @ ..] => played(Command::new(program).args(arguments), schedule.len())?,
    };
    if arrivals.is_empty() || arrivals.len() != schedule.len() {
        return Err(format!("{} of {} lines came", arrivals.len(), schedule.len()).into());
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

fn sleeps(schedule: &[f64]) -> Vec<Instant> {
    let began = Instant::now();
    let wake = |due: &f64| {
        let due = Duration::from_secs_f64(due / 1e6);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
        Instant::now()
    };
    schedule.iter().map(wake).collect()
}

fn played(command: &mut Command, count: usize) -> Result<Vec<Instant>, Box<dyn Error>> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let arrivals = arrivals(child.stdout.take().ok_or("no stdout")?, count)?;
    let status = child.wait()?;
    if status.success() { Ok(arrivals) } else { Err(format!("the program ended with {status}").into()) }
}

/// Lines of the same read have the same arrival time.
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
    let came = arrivals.iter().map(|&arrival| micros(arrival - arrivals[0]));
    let mut late: Vec<f64> = came.zip(schedule).map(|(came, due)| came - due).collect();
    let first = late[0];
    late.sort_unstable_by(f64::total_cmp);
    let earliest = late[0];
    let at = |percent: usize| late[(late.len() * percent / 100).min(late.len() - 1)] - earliest;
    let (lines, first, p50, p99, most) = (late.len(), first - earliest, at(50), at(99), at(100));
    format!(
        "{{\"lines\":{lines},\"first_us\":{first:.1},\"p50_us\":{p50:.1},\"p99_us\":{p99:.1},\"most_us\":{most:.1}}}\n"
    )
}
