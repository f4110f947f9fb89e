//! The output for events besides the answers: `--events`.

use crate::cmd::usage;
use pipewright_io::report::{Failure, Report};
use pipewright_io::stage::{Out, Side};
use pipewright_record::json::Object;
use pipewright_sys::{descriptor, private};
use serde_json::value::RawValue;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

/// Writes events as observations, one per line.
pub struct Events {
    to: Target,
    report: Arc<Report>,
}

enum Target {
    Stdout,
    Stderr,
    File(File, String),
    /// The file can't be written, which was reported.
    Broken,
}

impl Events {
    /// `to` is `-`, `stderr`, or a file that is appended to.
    ///
    /// # Errors
    /// [`usage`] if the file can't be opened.
    pub fn open(to: &str, report: &Arc<Report>) -> Result<Events, Failure> {
        let to = match to {
            "-" => Target::Stdout,
            "stderr" => Target::Stderr,
            path => {
                let file = private::file().append(true).create(true).open(path);
                let failed = |error| usage(format_args!("--events: {path}: {error}"));
                Target::File(file.map_err(failed)?, path.to_owned())
            }
        };
        Ok(Events { to, report: Arc::clone(report) })
    }

    /// The same for a command that does not read the child's stderr: its own stderr is then written to like a file.
    #[cfg_attr(not(feature = "jq"), allow(dead_code))]
    pub fn open_beside(to: &str, report: &Arc<Report>) -> Result<Events, Failure> {
        if to != "stderr" {
            return Events::open(to, report);
        }
        let stderr = descriptor::stderr();
        let stderr = stderr.map_err(|error| usage(format_args!("--events: stderr: {error}")))?;
        Ok(Events { to: Target::File(stderr.into_file(), to.to_owned()), report: Arc::clone(report) })
    }

    /// Whether they are written to stdout.
    #[cfg_attr(not(feature = "jq"), allow(dead_code))]
    pub fn is_stdout(&self) -> bool {
        matches!(self.to, Target::Stdout)
    }

    /// Writes a JSON array of events.
    pub fn take_all(&mut self, source: &str, events: &str, out: &mut Out) {
        match serde_json::from_str::<Vec<&RawValue>>(events) {
            Ok(events) => events.into_iter().for_each(|event| self.take(source, None, event.get(), out)),
            Err(_) => self.report.fault(source, "its events are not a list"),
        }
    }

    /// Writes one event, which is JSON text, as an observation of `source`; `call_id` is that of the call that it is about.
    pub fn take(&mut self, source: &str, call_id: Option<&RawValue>, event: &str, out: &mut Out) {
        let record = Object::default().text("type", "observation").text("source", source);
        self.take_record(&record.put_some("call_id", call_id).put("data", event).end(), out);
    }

    /// Writes a record as it is: JSON text.
    pub fn take_record(&mut self, record: &str, out: &mut Out) {
        match &self.to {
            Target::Stdout => out.add_line(Side::NEAR, record),
            Target::Stderr => out.add_line(Side::FAR_ERROR, record),
            Target::File(..) | Target::Broken => self.write_record(record),
        }
    }

    /// Writes a record to the file, if that is where events go.
    pub fn write_record(&mut self, record: &str) {
        if let Target::File(file, path) = &mut self.to
            && let Err(error) = file.write_all(format!("{record}\n").as_bytes())
        {
            self.report.fault(path, format_args!("{error}; events are no longer written there"));
            self.to = Target::Broken;
        }
    }
}
