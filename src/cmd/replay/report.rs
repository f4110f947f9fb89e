//! The report for programs: NDJSON with a line for each turn, each difference, and a summary.

use crate::cmd::distribution::Percentiles;
use crate::io::private;
use crate::io::report::{Failure, Report, Status};
use crate::replay::compare::Difference;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file of `--report`, if given.
pub(super) struct ReportFile {
    file: Option<(BufWriter<File>, PathBuf)>,
    report: Arc<Report>,
}

impl ReportFile {
    /// # Errors
    /// [`Status::Usage`] if it cannot be created.
    pub(super) fn create(path: Option<&Path>, report: &Arc<Report>) -> Result<ReportFile, Failure> {
        let open = |path: &Path| match private::file().write(true).create(true).truncate(true).open(path) {
            Ok(file) => Ok((BufWriter::new(file), path.to_owned())),
            Err(error) => Err(Failure::new(Status::Usage, format_args!("{}: {error}", path.display()))),
        };
        Ok(ReportFile { file: path.map(open).transpose()?, report: Arc::clone(report) })
    }

    pub(super) fn write(&mut self, line: &Line<'_>) {
        if let Some((file, path)) = &mut self.file {
            let written = serde_json::to_writer(&mut *file, line).map_err(std::io::Error::from);
            if let Err(error) = written.and_then(|()| file.write_all(b"\n")) {
                self.report.fault(path.display(), format_args!("{error}; the report ends here"));
                self.file = None;
            }
        }
    }

    /// Flushes and closes the file.
    pub(super) fn finish(&mut self) {
        if let Some((mut file, path)) = self.file.take()
            && let Err(error) = file.flush()
        {
            self.report.fault(path.display(), error);
        }
    }
}

/// The number of lines by result.
#[derive(Debug, Default, Serialize)]
pub(super) struct Counts {
    pub(super) same: u64,
    pub(super) differs: u64,
    pub(super) missing: u64,
    pub(super) extra: u64,
    pub(super) unsaid: u64,
}

/// A line of the report for programs.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line<'a> {
    Difference {
        #[serde(skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
        kind: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        log: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        recorded: Option<Box<RawValue>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        now: Option<Box<RawValue>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        differences: Vec<ReportedDifference>,
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<&'a str>,
    },
    Turn {
        turn: u64,
        same: bool,
        recorded_us: Option<u64>,
        now_us: Option<u64>,
    },
    Ended {
        turn: u64,
        how: &'a str,
        missing: u64,
    },
    Summary {
        turns: u64,
        different_turns: u64,
        first: Option<u64>,
        lines: &'a Counts,
        recorded_us: Percentiles,
        now_us: Percentiles,
    },
    /// The summary of a server that answers in any order; it has no turns.
    #[serde(rename = "summary")]
    Served {
        lines: &'a Counts,
    },
}

#[derive(Serialize)]
pub(super) struct ReportedDifference {
    path: String,
    recorded: Option<Box<RawValue>>,
    now: Option<Box<RawValue>>,
}

pub(super) fn reported(difference: &Difference) -> ReportedDifference {
    let value = |text: &Option<String>| text.as_ref().map(|text| json(text.as_bytes()));
    ReportedDifference {
        path: difference.path.clone(),
        recorded: value(&difference.recorded),
        now: value(&difference.now),
    }
}

/// A line as JSON: unchanged if it is JSON, otherwise as a string.
pub(super) fn json(body: &[u8]) -> Box<RawValue> {
    let text = String::from_utf8_lossy(body);
    // A line break within the value would break the line of the report.
    let has_break = text.trim().contains(['\n', '\r']);
    let value = if has_break { to_raw_value(&text) } else { RawValue::from_string(text.trim().to_owned()) };
    value
        .or_else(|_| to_raw_value(&text))
        // Converting a string to JSON cannot fail.
        .unwrap_or_else(|_| RawValue::NULL.to_owned())
}
