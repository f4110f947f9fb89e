//! Counts the problems of a log over all its files.

use super::Work;
use crate::cmd::log_file::{Entry, LogFile};
use crate::io::report::Report;
use crate::journal::read::{Content, Found, Problem};
use crate::journal::{FORMAT, time};
use serde::Serialize;

/// The counts of one log.
#[derive(Debug, Default, Serialize)]
pub(super) struct Check {
    /// In the order in which they were read.
    files: Vec<String>,
    /// `pipewright-log` if all files have that format, otherwise `ndjson`.
    format: &'static str,
    bytes: u64,
    messages: u64,
    sessions: u64,
    /// Sessions with an end record.
    ended: u64,
    /// Missing sequence numbers: lines that were removed, or never written.
    missing: u64,
    /// Messages that the recorder could not write, as it recorded itself.
    lost: u64,
    /// Messages whose content was withheld from the log.
    withheld: u64,
    torn: u64,
    unreadable: u64,
    fused: u64,
    /// Sequence numbers that are lower than the one before; `backwards` counts the same for times.
    out_of_order: u64,
    backwards: u64,
    first: Option<String>,
    last: Option<String>,
    #[serde(skip)]
    times: Option<(i64, i64)>,
    /// When the last session began. A rotated log has a header of the same session in each file.
    #[serde(skip)]
    session: Option<i64>,
}

impl Work for Check {
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
        // Serialization fails only if the writer or a map key fails, and neither can fail here.
        let _ = serde_json::to_writer(&mut *out, self);
        out.push(b'\n');
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
