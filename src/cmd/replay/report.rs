//! The report for programs: NDJSON with a line for each turn, each difference, and a summary.

use crate::cmd::distribution::Percentiles;
use crate::cmd::usage;
use pipewright_io::report::{Failure, Report};
use pipewright_record::{Record, named};
use pipewright_replay::compare::Difference;
use pipewright_sys::private;
use schemars::JsonSchema;
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
    /// [`usage`] if it cannot be created.
    pub(super) fn create(path: Option<&Path>, report: &Arc<Report>) -> Result<ReportFile, Failure> {
        let open = |path: &Path| match private::file().write(true).create(true).truncate(true).open(path) {
            Ok(file) => Ok((BufWriter::new(file), path.to_owned())),
            Err(error) => Err(usage(format_args!("{}: {error}", path.display()))),
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

named! {
    /// How the lines of a run differ from the recorded ones.
    pub enum DifferenceKind as "difference_kind" {
        /// The answer differs from the recorded one.
        Differs = "differs",
        /// A recorded answer did not come. With --any-order: a recorded request was not made.
        Missing = "missing",
        /// An answer was not recorded. With --any-order: a line has no recorded answer.
        Extra = "extra",
        /// A recorded line was not sent, because the other side was past it or did not make the call that it answers.
        Unsaid = "unsaid",
    }
}

/// The number of lines by result.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(inline)]
#[allow(missing_docs)] // those of DifferenceKind
pub struct Counts {
    pub same: u64,
    pub differs: u64,
    pub missing: u64,
    pub extra: u64,
    pub unsaid: u64,
}

impl Counts {
    /// Counts a line that differs.
    pub fn add(&mut self, kind: DifferenceKind) {
        *match kind {
            DifferenceKind::Differs => &mut self.differs,
            DifferenceKind::Missing => &mut self.missing,
            DifferenceKind::Extra => &mut self.extra,
            DifferenceKind::Unsaid => &mut self.unsaid,
        } += 1;
    }
}

/// The findings of a comparison.
///
/// A line for each difference, one for each turn, and a summary at the end. With --any-order there are no turns.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "replay_report")]
pub enum Line<'a> {
    /// A line that differs from the recorded one.
    #[schemars(extend("allOf" = [
        {
            "if": { "not": { "required": ["turn"] } },
            "then": { "properties": { "kind": { "enum": ["missing", "extra"] } } }
        },
        {
            "if": { "properties": { "kind": { "enum": ["differs", "missing", "unsaid"] } } },
            "then": { "required": ["log", "recorded"] }
        },
        {
            "if": { "properties": { "kind": { "enum": ["differs", "extra"] } } },
            "then": { "required": ["now"] }
        }
    ]))]
    Difference {
        /// The turn, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        turn: Option<u64>,
        /// How the line differs.
        kind: DifferenceKind,
        /// The place of the recorded line: FILE:LINE.
        #[serde(skip_serializing_if = "Option::is_none")]
        log: Option<String>,
        /// The recorded line; a string if it is not JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        recorded: Option<Box<RawValue>>,
        /// The line that came; a string if it is not JSON, null if it was too long.
        #[serde(skip_serializing_if = "Option::is_none")]
        now: Option<Box<RawValue>>,
        /// The paths at which two JSON lines differ; left out if they differ completely.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schemars(length(min = 1))]
        differences: Vec<ReportedDifference>,
        /// With --any-order, why there is no recorded answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<&'a str>,
    },
    /// A turn has ended.
    Turn {
        /// The turn, from 1.
        #[schemars(range(min = 1))]
        turn: u64,
        /// Whether the turn has no difference.
        same: bool,
        /// The recorded time to the first answer in microseconds; null if there was none.
        recorded_us: Option<u64>,
        /// The time to the first answer in the live run.
        now_us: Option<u64>,
    },
    /// The other side ended before the recording did, or in another way.
    Ended {
        /// The turn, from 1.
        #[schemars(range(min = 1))]
        turn: u64,
        /// In words.
        how: &'a str,
        /// The number of recorded lines that did not come.
        missing: u64,
    },
    /// The summary.
    Summary {
        /// The number of turns.
        turns: u64,
        /// The number of turns that differ.
        different_turns: u64,
        /// The first turn that differs.
        #[schemars(range(min = 1))]
        first: Option<u64>,
        /// The number of lines by result.
        lines: &'a Counts,
        /// The recorded times of answers in microseconds.
        recorded_us: Percentiles,
        /// The times of answers in the live run.
        now_us: Percentiles,
    },
    /// The summary of a server that answers in any order.
    #[serde(rename = "summary")]
    #[schemars(extend("allOf" = [{
        "properties": {
            "turns": false, "different_turns": false, "first": false, "recorded_us": false, "now_us": false
        }
    }]))]
    Served {
        /// The number of lines by result.
        lines: &'a Counts,
    },
}

impl Record for Line<'_> {}

/// A path at which two lines differ.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ReportedDifference {
    path: String,
    /// null if the path is absent.
    recorded: Option<Box<RawValue>>,
    /// null if the path is absent.
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
