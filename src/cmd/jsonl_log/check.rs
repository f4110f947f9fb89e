//! What is wrong with a log, counted.

use super::Work;
use crate::cmd::log_file::{Entry, LogFile};
use crate::io::report::Report;
use crate::journal::read::{Content, Found, Problem};
use crate::journal::time;
use serde::Serialize;

/// The counts of one file.
#[derive(Debug, Default, Serialize)]
pub(super) struct Check {
    file: String,
    /// `pipewright-log`, or `ndjson`.
    format: &'static str,
    bytes: u64,
    messages: u64,
    sessions: u64,
    /// Sessions that were ended in order.
    ended: u64,
    /// Numbers that are left out: lines that were taken out, or never written.
    missing: u64,
    /// Messages that the recorder could not write, as it says itself.
    lost: u64,
    /// Messages whose content was kept out of the log.
    withheld: u64,
    torn: u64,
    unreadable: u64,
    fused: u64,
    /// Numbers, and clocks, that go back.
    out_of_order: u64,
    backwards: u64,
    first: Option<String>,
    last: Option<String>,
    #[serde(skip)]
    times: Option<(i64, i64)>,
}

impl Work for Check {
    fn take(&mut self, _log: &str, entry: &Entry<'_>, _report: &Report, _out: &mut Vec<u8>) {
        match &entry.found {
            Found::Header(_) => self.sessions += 1,
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

    fn end_file(&mut self, log: &LogFile, out: &mut Vec<u8>) {
        self.file.clone_from(&log.name);
        self.format = if log.is_ours() == Some(true) { crate::journal::FORMAT } else { "ndjson" };
        self.bytes = log.bytes_read;
        self.first = self.times.map(|(first, _)| time::write(first));
        self.last = self.times.map(|(_, last)| time::write(last));
        // It fails only where the writer or a map's key does: here neither can.
        let _ = serde_json::to_writer(&mut *out, self);
        out.push(b'\n');
        *self = Check::default();
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
            Problem::NotJson(_) | Problem::NotARecord | Problem::TooLong | Problem::TooDeep => self.unreadable += 1,
            Problem::Empty
            | Problem::NotUtf8
            | Problem::NewerVersion(_)
            | Problem::NoHeader
            | Problem::NoStart
            | Problem::LateHeader => {}
        }
    }
}
