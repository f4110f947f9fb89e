//! The latest records of a session, for any number of readers, each of which reads at its own pace.

use axum::body::Bytes;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// So many records are kept at most, however short they are.
const MOST_RECORDS: usize = 65_536;
/// So many bytes are given to a reader at once, and at least one record.
const READ_AT_ONCE: usize = 256 << 10;

/// The records that are kept of a session: numbered one by one, the oldest of them dropped once they are too many bytes. What a reader has
/// not read by then it does not get.
pub struct Backlog {
    kept: Mutex<Kept>,
    /// Changes whenever there is more to read, or nothing more will come.
    changes: watch::Sender<u64>,
    /// So many bytes are kept; the last record in any case.
    most_bytes: usize,
}

struct Kept {
    /// The number of the first record that is kept, or that the next will have.
    first: u64,
    records: VecDeque<Bytes>,
    bytes: usize,
    state: State,
}

/// What there is to expect of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It does not exist yet.
    Expected,
    /// More records may come.
    Open,
    /// No records will come any more.
    Over,
}

/// What a reader gets next.
#[derive(Debug, PartialEq, Eq)]
pub struct Next {
    /// The numbers of the first and the last record that are not kept any more, and that this reader has not read.
    pub missed: Option<(u64, u64)>,
    /// Records with their numbers; each is UTF-8 without line ends.
    pub records: Vec<(u64, Bytes)>,
}

impl Backlog {
    /// Without records, of a session that does not exist yet.
    pub fn new(most_bytes: usize) -> Backlog {
        let kept = Kept { first: 1, records: VecDeque::new(), bytes: 0, state: State::Expected };
        Backlog { kept: Mutex::new(kept), changes: watch::Sender::new(0), most_bytes }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a record, a JSON object; its number becomes its last field, `seq`.
    pub fn push(&self, record: &str) {
        let mut kept = self.kept();
        let number = kept.first + kept.records.len() as u64;
        let record = numbered(record, number);
        kept.bytes += record.len();
        kept.records.push_back(record);
        while kept.records.len() > 1 && (kept.bytes > self.most_bytes || kept.records.len() > MOST_RECORDS) {
            let oldest = kept.records.pop_front().map_or(0, |oldest| oldest.len());
            kept.bytes -= oldest;
            kept.first += 1;
        }
        drop(kept);
        self.changes.send_replace(number);
    }

    /// The session exists; its first record will have this number.
    pub fn open(&self, first: u64) {
        self.kept().first = first;
        self.set(State::Open);
    }

    /// No records will come any more.
    pub fn end(&self) {
        self.set(State::Over);
    }

    fn set(&self, state: State) {
        self.kept().state = state;
        self.changes.send_modify(|_| ());
    }

    /// What there is to expect.
    pub fn state(&self) -> State {
        self.kept().state
    }

    /// Tells when there is more to read.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// What comes after the record with this number, or after `None` all that is kept, as far as a reader takes it at once.
    pub fn after(&self, number: Option<u64>) -> Next {
        let kept = self.kept();
        let end = kept.first + kept.records.len() as u64;
        // A number that no record has had yet is that of another run.
        let wanted = number.filter(|number| *number < end).map_or(kept.first, |number| number + 1);
        let missed = (wanted < kept.first).then(|| (wanted, kept.first - 1));
        let from = wanted.max(kept.first);
        let mut bytes = 0;
        let skipped = usize::try_from(from - kept.first).unwrap_or(usize::MAX);
        let records = kept.records.iter().skip(skipped).zip(from..).take_while(|(record, _)| {
            let is_room = bytes < READ_AT_ONCE;
            bytes += record.len();
            is_room
        });
        Next { missed, records: records.map(|(record, number)| (number, record.clone())).collect() }
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

    fn texts(next: &Next) -> Vec<(u64, String)> {
        next.records.iter().map(|(number, record)| (*number, String::from_utf8_lossy(record).into_owned())).collect()
    }

    #[test]
    fn what_was_dropped_is_missed_by_those_who_have_not_read_it() {
        let backlog = Backlog::new(40);
        assert_eq!(backlog.state(), State::Expected);
        backlog.open(7);
        for record in [r#"{"a":1}"#, "{}", " {\"b\":\r\n2} "] {
            backlog.push(record);
        }
        let (second, third) = ((8, r#"{"seq":8}"#.to_owned()), (9, r#"{"b":  2,"seq":9}"#.to_owned()));
        assert_eq!(texts(&backlog.after(Some(7))), [second.clone(), third.clone()]);
        assert_eq!(backlog.after(Some(7)).missed, None);
        assert_eq!(backlog.after(Some(0)).missed, Some((1, 7)));
        assert_eq!(texts(&backlog.after(Some(9))), []);
        // Of another run.
        assert_eq!(texts(&backlog.after(Some(u64::MAX))), [second, third]);
        // A record that is too long for all is kept alone.
        backlog.push(&format!("{{\"long\":\"{}\"}}", "x".repeat(99)));
        assert_eq!((backlog.after(None).missed, backlog.after(Some(8)).missed), (None, Some((9, 9))));
        assert_eq!(texts(&backlog.after(Some(8))).len(), 1);
        backlog.end();
        assert_eq!(backlog.state(), State::Over);
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
