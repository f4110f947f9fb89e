//! The latest records of a session, for any number of readers that read at their own pace.

use axum::body::Bytes;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The most records that are kept, however short they are.
const MAX_RECORDS: usize = 65_536;
/// The most bytes that a reader gets at once; it always gets at least one record.
const MAX_READ: usize = 256 << 10;

/// The kept records of a session, numbered consecutively. The oldest are dropped when the records exceed the byte
/// limit; readers that have not read them miss them.
pub struct Backlog {
    kept: Mutex<KeptRecords>,
    /// Changes when there is more to read, or when the last record has come.
    changes: watch::Sender<u64>,
    /// The most bytes that are kept; the last record is always kept.
    most_bytes: usize,
}

struct KeptRecords {
    /// The number of the first kept record, or of the next record if none is kept.
    first: u64,
    records: VecDeque<Bytes>,
    bytes: usize,
    state: BacklogState,
}

/// What a reader can expect of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BacklogState {
    /// The session does not exist yet.
    Expected,
    /// More records may come.
    Open,
    /// No records will come any more.
    Over,
}

/// A reader's next records.
#[derive(Debug, PartialEq, Eq)]
pub struct NextRecords {
    /// The numbers of the first and the last record that this reader has missed.
    pub missed: Option<(u64, u64)>,
    /// Records with their numbers; each is UTF-8 without line ends.
    pub records: Vec<(u64, Bytes)>,
}

impl Backlog {
    /// An empty backlog, for a session that does not exist yet.
    pub fn new(most_bytes: usize) -> Backlog {
        let kept = KeptRecords { first: 1, records: VecDeque::new(), bytes: 0, state: BacklogState::Expected };
        Backlog { kept: Mutex::new(kept), changes: watch::Sender::new(0), most_bytes }
    }

    fn kept(&self) -> MutexGuard<'_, KeptRecords> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a record, a JSON object; its number is added as its last field, `seq`.
    pub fn push(&self, record: &str) {
        let mut kept = self.kept();
        let number = kept.first + kept.records.len() as u64;
        let record = numbered(record, number);
        kept.bytes += record.len();
        kept.records.push_back(record);
        while kept.records.len() > 1 && (kept.bytes > self.most_bytes || kept.records.len() > MAX_RECORDS) {
            let oldest = kept.records.pop_front().map_or(0, |oldest| oldest.len());
            kept.bytes -= oldest;
            kept.first += 1;
        }
        drop(kept);
        self.changes.send_replace(number);
    }

    /// Marks the session as existing; its first record will have this number.
    pub fn open(&self, first: u64) {
        self.kept().first = first;
        self.set(BacklogState::Open);
    }

    /// Marks the session as ended: no more records will come.
    pub fn end(&self) {
        self.set(BacklogState::Over);
    }

    fn set(&self, state: BacklogState) {
        self.kept().state = state;
        self.changes.send_modify(|_| ());
    }

    /// The session's state.
    pub fn state(&self) -> BacklogState {
        self.kept().state
    }

    /// Notifies when there is more to read.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The records after the one with this number (all kept records for `None`), up to the limit of one read.
    pub fn after(&self, number: Option<u64>) -> NextRecords {
        let kept = self.kept();
        let end = kept.first + kept.records.len() as u64;
        // A number above all records comes from an earlier run.
        let wanted = number.filter(|number| *number < end).map_or(kept.first, |number| number + 1);
        let missed = (wanted < kept.first).then(|| (wanted, kept.first - 1));
        let from = wanted.max(kept.first);
        let mut bytes = 0;
        let skipped = usize::try_from(from - kept.first).unwrap_or(usize::MAX);
        let records = kept.records.iter().skip(skipped).zip(from..).take_while(|(record, _)| {
            let is_room = bytes < MAX_READ;
            bytes += record.len();
            is_room
        });
        NextRecords { missed, records: records.map(|(record, number)| (number, record.clone())).collect() }
    }
}

/// A record with its number, on one line.
pub(super) fn numbered(record: &str, number: u64) -> Bytes {
    let record = record.trim().replace(['\r', '\n'], " ");
    match record.strip_suffix('}') {
        Some(fields) => {
            let comma = if fields.trim_end().ends_with('{') { "" } else { "," };
            format!("{fields}{comma}\"seq\":{number}}}").into()
        }
        None => record.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(next: &NextRecords) -> Vec<(u64, String)> {
        next.records.iter().map(|(number, record)| (*number, String::from_utf8_lossy(record).into_owned())).collect()
    }

    #[test]
    fn readers_miss_dropped_records_that_they_have_not_read() {
        let backlog = Backlog::new(40);
        assert_eq!(backlog.state(), BacklogState::Expected);
        backlog.open(7);
        for record in [r#"{"a":1}"#, "{}", " {\"b\":\r\n2} "] {
            backlog.push(record);
        }
        let (second, third) = ((8, r#"{"seq":8}"#.to_owned()), (9, r#"{"b":  2,"seq":9}"#.to_owned()));
        assert_eq!(texts(&backlog.after(Some(7))), [second.clone(), third.clone()]);
        assert_eq!(backlog.after(Some(7)).missed, None);
        assert_eq!(backlog.after(Some(0)).missed, Some((1, 7)));
        assert_eq!(texts(&backlog.after(Some(9))), []);
        // From another run.
        assert_eq!(texts(&backlog.after(Some(u64::MAX))), [second, third]);
        // A record above the limit is kept alone.
        backlog.push(&format!("{{\"long\":\"{}\"}}", "x".repeat(99)));
        assert_eq!((backlog.after(None).missed, backlog.after(Some(8)).missed), (None, Some((9, 9))));
        assert_eq!(texts(&backlog.after(Some(8))).len(), 1);
        backlog.end();
        assert_eq!(backlog.state(), BacklogState::Over);
    }

    proptest! {
        #[test]
        fn every_record_is_read_or_missed_once_and_in_order(
            lengths in prop::collection::vec(0..40_usize, 0..60),
            reads in prop::collection::vec(any::<bool>(), 60),
            most in 0..200_usize,
        ) {
            let backlog = Backlog::new(most);
            backlog.open(1);
            let mut expected = 1;
            let mut cursor = 0;
            for (length, reads) in lengths.iter().zip(&reads).map(|(length, reads)| (*length, *reads)).chain([(1, true)]) {
                backlog.push(&format!("{{\"x\":\"{}\"}}", "x".repeat(length)));
                if !reads {
                    continue;
                }
                let next = backlog.after(Some(cursor));
                if let Some((first, last)) = next.missed {
                    prop_assert_eq!(first, expected);
                    expected = last + 1;
                }
                for (number, _) in next.records {
                    prop_assert_eq!(number, expected);
                    expected += 1;
                    cursor = number;
                }
            }
            prop_assert_eq!(expected, lengths.len() as u64 + 2);
        }
    }
}
