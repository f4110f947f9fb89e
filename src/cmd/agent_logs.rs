//! The logs of steps and of the model's reasoning: masked, and limited in size.

use crate::cmd::usage;
use jiff::Timestamp;
use pipewright_io::append::{Appender, OpenError};
use pipewright_io::report::{Failure, Report};
use pipewright_io::rotation::Rotation;
use pipewright_mask::{Masker, Rules};
use pipewright_record::json::Object;
use std::path::Path;
use std::sync::Arc;

/// The size at which a log of steps is rotated, and the number of older logs that are kept.
const ROTATION: Rotation = Rotation { size: 10 << 20, keep: 4 };

/// The deepest nesting of JSON in an event that is masked.
const MAX_DEPTH: usize = 512;

/// The destination of a log.
#[derive(Debug)]
enum Target {
    /// Nothing is written.
    Off,
    Stderr,
    File(Appender),
}

/// The log of steps, and the log of the model's reasoning.
#[derive(Debug)]
pub struct Logs {
    steps: Target,
    reasoning: Target,
    masker: Masker,
    report: Arc<Report>,
}

impl Logs {
    /// Opens the logs; `-` is stderr.
    ///
    /// # Errors
    /// [`usage`]: a file cannot be opened.
    pub fn open(steps: Option<&Path>, reasoning: Option<&Path>, report: &Arc<Report>) -> Result<Logs, Failure> {
        let steps = open("--steps", steps, report)?;
        let reasoning = open("--log", reasoning, report)?;
        Ok(Logs { steps, reasoning, masker: Masker::new(Rules::default(), MAX_DEPTH), report: Arc::clone(report) })
    }

    /// Writes the event of a step: a JSON object.
    pub fn step(&mut self, event: &str) {
        if matches!(self.steps, Target::Off) {
            return;
        }
        let masked = self.masker.line(event.as_bytes());
        // The time is added before the first field.
        let line = format!("{{\"time\":\"{:.6}\",{}\n", Timestamp::now(), String::from_utf8_lossy(&masked[1..]));
        append(&mut self.steps, "--steps", &line, &self.report);
    }

    /// Writes a text of reasoning that the model gives.
    pub fn reasoning(&mut self, text: &str) {
        if matches!(self.reasoning, Target::Off) {
            return;
        }
        let text = self.masker.text(text);
        let line = Object::default().text("time", &format!("{:.6}", Timestamp::now())).text("reasoning", &text).line();
        append(&mut self.reasoning, "--log", &line, &self.report);
    }
}

fn open(option: &str, path: Option<&Path>, report: &Report) -> Result<Target, Failure> {
    let Some(path) = path else { return Ok(Target::Off) };
    if path.as_os_str() == "-" {
        return Ok(Target::Stderr);
    }
    let failed = |why: String| usage(format_args!("{option}: {}: {why}", path.display()));
    let (file, torn) = Appender::open(path, || Ok(())).map_err(|error| match error {
        OpenError::Busy => failed("another process, or --steps, already writes to it".to_owned()),
        OpenError::Refused(why) => failed(why),
        OpenError::Io(error) => failed(error.to_string()),
    })?;
    if let Some(torn) = torn {
        report.note(format_args!(
            "{}: {} bytes of a torn line are in {}",
            path.display(),
            torn.bytes,
            torn.moved_to.display()
        ));
    }
    Ok(Target::File(file))
}

/// Appends a line. A log that cannot be written is reported once, and the run continues without it.
fn append(target: &mut Target, option: &str, line: &str, report: &Report) {
    let written = match target {
        Target::Off => return,
        Target::Stderr => return report.say(line.trim_end()),
        Target::File(file) => write(file, line),
    };
    if let Err(error) = written {
        let place = match target {
            Target::File(file) => format!("{option}: {}", file.path().display()),
            _ => option.to_owned(),
        };
        report.fault(place, format_args!("{error}: nothing more is written"));
        *target = Target::Off;
    }
}

fn write(file: &mut Appender, line: &str) -> std::io::Result<()> {
    if file.is_regular() && !file.is_empty() && ROTATION.is_due(file.len(), line.len()) {
        *file = ROTATION.rotate(file.path())?;
    }
    file.append(line.as_bytes())
}
