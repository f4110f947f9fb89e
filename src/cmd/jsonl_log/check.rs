//! Counts the problems of a log over all its files.

use super::LogTask;
use crate::cmd::log_file::{Entry, LogFile};
use pipewright_io::report::Report;
use pipewright_log::read::{Content, Found, Problem};
use pipewright_log::{FORMAT, time};
use pipewright_record::{Record, schema};
use schemars::JsonSchema;
use serde::Serialize;

/// The contents of a log, and its faults.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "log_check")]
pub struct Check {
    /// The names of the files, in the order in which they were read.
    files: Vec<String>,
    /// pipewright-log if all files have that format, otherwise ndjson.
    #[schemars(extend("enum" = [FORMAT, "ndjson"]))]
    format: &'static str,
    /// The number of bytes read.
    bytes: u64,
    messages: u64,
    sessions: u64,
    /// The number of sessions that ended normally.
    ended: u64,
    /// Missing numbers: lines that were removed or never written.
    missing: u64,
    /// Messages that the recorder reported as not written.
    lost: u64,
    /// Messages whose content was withheld from the log.
    withheld: u64,
    /// Incomplete lines.
    torn: u64,
    unreadable: u64,
    /// Lines that have several records.
    fused: u64,
    /// Numbers that are lower than the one before.
    out_of_order: u64,
    /// Times that are earlier than the one before.
    backwards: u64,
    /// The time of the earliest message.
    #[schemars(with = "Option<schema::Time>")]
    first: Option<String>,
    /// The time of the latest message.
    #[schemars(with = "Option<schema::Time>")]
    last: Option<String>,
    #[serde(skip)]
    times: Option<(i64, i64)>,
    /// When the last session began. A rotated log has a header of the same session in each file.
    #[serde(skip)]
    session: Option<i64>,
}

impl Record for Check {}

impl LogTask for Check {
    fn is_one_log(&self) -> bool {
        true
    }

    fn take(&mut self, _log: &str, entry: &Entry<'_>, _report: &Report, _out: &mut Vec<u8>) {
        match &entry.found {
            Found::Header(header) => {
                let goes_on = header.start.is_some() && header.start == self.session;
                self.session = header.start;
                self.sessions += u64::from(!goes_on);
            }
            Found::End(_) => self.ended += 1,
            Found::Lost(count) => self.lost = self.lost.saturating_add(*count),
            Found::Message(message) => {
                self.messages += 1;
                self.withheld += u64::from(matches!(message.content, Content::Withheld(_)));
                if let Some(time) = message.date() {
                    let (first, last) = self.times.unwrap_or((time, time));
                    self.times = Some((first.min(time), last.max(time)));
                }
            }
            Found::Problem(problem) => self.count(problem),
        }
    }

    fn end_file(&mut self, log: &LogFile, _out: &mut Vec<u8>) {
        let is_ours = log.is_ours() && (self.files.is_empty() || self.format == FORMAT);
        self.format = if is_ours { FORMAT } else { "ndjson" };
        self.files.push(log.name.clone());
        self.bytes += log.bytes_read;
    }

    fn end(&mut self, _report: &Report, out: &mut Vec<u8>) {
        self.first = self.times.map(|(first, _)| time::write(first));
        self.last = self.times.map(|(_, last)| time::write(last));
        out.extend_from_slice(self.line().as_bytes());
    }
}

impl Check {
    fn count(&mut self, problem: &Problem) {
        match problem {
            Problem::Missing(count) => self.missing = self.missing.saturating_add(*count),
            Problem::Torn | Problem::TornByNext | Problem::TornBehind => self.torn += 1,
            Problem::Fused => self.fused += 1,
            Problem::OutOfOrder { .. } => self.out_of_order += 1,
            Problem::Backwards(_) => self.backwards += 1,
            Problem::NotJson(_) | Problem::NotARecord | Problem::OverLimit(_) => self.unreadable += 1,
            Problem::Empty
            | Problem::NotUtf8
            | Problem::NewerVersion(_)
            | Problem::NoHeader
            | Problem::NoStart
            | Problem::LateHeader => {}
        }
    }
}
