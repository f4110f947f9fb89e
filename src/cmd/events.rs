//! Where events go besides the answers: `--events`.

use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Out, Side};
use serde_json::value::RawValue;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

/// Takes events as observations, one a line.
pub struct Events {
    to: Target,
    report: Arc<Report>,
}

enum Target {
    Stdout,
    Stderr,
    File(File, String),
    /// The file can't be written: told once.
    Broken,
}

impl Events {
    /// `to` is `-`, `stderr`, or a file that is appended to.
    ///
    /// # Errors
    /// [`Status::Usage`] where the file can't be opened.
    pub fn open(to: &str, report: &Arc<Report>) -> Result<Events, Failure> {
        let to = match to {
            "-" => Target::Stdout,
            "stderr" => Target::Stderr,
            path => {
                let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
                let failed = |error| Failure::new(Status::Usage, format_args!("--events: {path}: {error}"));
                Target::File(file.map_err(failed)?, path.to_owned())
            }
        };
        Ok(Events { to, report: Arc::clone(report) })
    }

    /// Gives on a JSON array of events.
    pub fn take_all(&mut self, source: &str, events: &str, out: &mut Out) {
        match serde_json::from_str::<Vec<&RawValue>>(events) {
            Ok(events) => events.into_iter().for_each(|event| self.take(source, event.get(), out)),
            Err(_) => self.report.fault(source, "its events are no list"),
        }
    }

    /// Gives on a record of its own type, a whole line.
    #[cfg_attr(not(feature = "jq"), allow(dead_code))]
    pub fn record(&mut self, line: &str, out: &mut Out) {
        self.give(line.as_bytes().to_vec(), out);
    }

    /// Gives on one event, which is JSON text, as an observation of `source`, a plain name.
    pub fn take(&mut self, source: &str, event: &str, out: &mut Out) {
        let line = format!("{{\"type\":\"observation\",\"source\":\"{source}\",\"data\":{event}}}\n");
        self.give(line.into_bytes(), out);
    }

    fn give(&mut self, mut lines: Vec<u8>, out: &mut Out) {
        match &mut self.to {
            Target::Stdout => out.to(Side::Near).append(&mut lines),
            Target::Stderr => out.to(Side::FarError).append(&mut lines),
            Target::File(file, path) => {
                if let Err(error) = file.write_all(&lines) {
                    self.report.fault(path, format_args!("{error}; events are no longer written there"));
                    self.to = Target::Broken;
                }
            }
            Target::Broken => {}
        }
    }
}
