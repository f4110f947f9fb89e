//! A stage in a plain pipe: stdin in, stdout out.
//!
//! The whole rule of flushing is here: everything decided so far is written before the next read(2), and at
//! no other time. While input is waiting, reads are full and so are writes; when it isn't, nothing waits.

use super::descriptor::{stdin, stdout};
use super::lines::{Limits, Splitter};
use super::lock;
use super::report::{Failure, Report, Status};
use super::signal::{self, Signals};
use super::stage::{Event, Out, Side, Stage};
use std::io::{self, ErrorKind, Read, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a signal waits for what has been read to be decided and written. Longer, and the reader of our
/// stdout is stuck.
const DRAIN: Duration = Duration::from_secs(1);

/// Runs the stage over our stdin until it ends. The status is [`Report::finish`]'s, or what the stage stopped with.
///
/// # Errors
/// What the stage fails with; an unreadable stdin or unwritable stdout ([`Status::Fault`]). A reader of stdout
/// that has gone is a quiet end. INT, TERM and HUP end the process, once what was read is written.
pub fn filter(stage: &mut dyn Stage, limits: Limits, report: &Report) -> Result<Status, Failure> {
    let (input, output) = match (stdin(), stdout()) {
        (Ok(input), Ok(output)) => (input, output),
        (Err(error), _) | (_, Err(error)) => {
            return Err(Failure::new(Status::NotStarted, error));
        }
    };
    let busy = Arc::new(Mutex::new(()));
    die_when_asked(&busy)?;
    let ended = run(stage, limits, report, input, output, &busy);
    // Told once, however the run ended.
    report.finish();
    ended
}

/// On a signal, waits until the filter is between two reads, then dies of it.
fn die_when_asked(busy: &Arc<Mutex<()>>) -> Result<(), Failure> {
    let signals = Signals::hold().map_err(|error| Failure::new(Status::NotStarted, error))?;
    let busy = Arc::clone(busy);
    std::thread::spawn(move || {
        let signal = signals.wait();
        let asked = Instant::now();
        // A second signal doesn't wait.
        std::thread::spawn(move || signal::die_of(signals.wait()));
        let mut idle = busy.try_lock();
        while idle.is_err() && asked.elapsed() < DRAIN {
            std::thread::sleep(Duration::from_millis(2));
            idle = busy.try_lock();
        }
        signal::die_of(signal)
    });
    Ok(())
}

fn run(
    stage: &mut dyn Stage,
    limits: Limits,
    report: &Report,
    mut input: impl Read,
    mut output: impl Write,
    busy: &Mutex<()>,
) -> Result<Status, Failure> {
    let mut splitter = Splitter::new(limits);
    let mut out = Out::joined();
    loop {
        let read = splitter.fill(&mut input);
        let _deciding = lock(busy);
        let ended = !matches!(read, Ok(1..));
        if ended {
            splitter.end();
        }
        let mut decided = decide(stage, &mut splitter, &mut out);
        if ended && decided.is_ok() {
            decided = stage.on(Event::Closed(Side::Near), &mut out);
        }
        // What can't be made durable isn't sent; what was said before a failure is.
        stage.commit()?;
        match write(&mut out, &mut output) {
            Ok(()) => decided?,
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(report.finish()),
            Err(error) => return Err(Failure::new(Status::Fault, format_args!("stdout: {error}"))),
        }
        match (out.stop, read) {
            (Some(status), _) => return Ok(status),
            (None, Ok(0)) => return Ok(report.finish()),
            (None, Ok(_)) => {}
            (None, Err(error)) => return Err(Failure::new(Status::Fault, format_args!("stdin: {error}"))),
        }
    }
}

fn decide(stage: &mut dyn Stage, splitter: &mut Splitter, out: &mut Out) -> Result<(), Failure> {
    while !out.stopped()
        && let Some(piece) = splitter.next()
    {
        stage.on(Event::Piece(Side::Near, piece), out)?;
    }
    Ok(())
}

fn write(out: &mut Out, output: &mut impl Write) -> io::Result<()> {
    let bytes = out.to(Side::Near);
    output.write_all(bytes)?;
    bytes.clear();
    Ok(())
}
