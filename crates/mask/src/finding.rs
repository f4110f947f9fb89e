//! A finding in a text: its position, kind and value.

use std::cmp::Reverse;
use std::ops::Range;

/// The kind of a value. Its name is used in placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Kind(pub(super) u16);

impl Kind {
    pub(super) const CARD: Kind = Kind(0);
    pub(super) const IBAN: Kind = Kind(1);
    pub(super) const EMAIL: Kind = Kind(2);
    pub(super) const PHONE: Kind = Kind(3);
    pub(super) const KEY: Kind = Kind(4);
    pub(super) const TOKEN: Kind = Kind(5);
    pub(super) const JWT: Kind = Kind(6);
    pub(super) const CREDENTIALS: Kind = Kind(7);
    pub(super) const PRIVATE_KEY: Kind = Kind(8);
    pub(super) const PASSWORD: Kind = Kind(9);
    pub(super) const CODE: Kind = Kind(10);
    pub(super) const COOKIE: Kind = Kind(11);
    pub(super) const SECRET: Kind = Kind(12);
    /// The `<` of a text that looks like a placeholder but is not one.
    pub(super) const LOOKALIKE: Kind = Kind(u16::MAX);

    /// The names of the kinds above, by number. The kinds of rules follow.
    pub(super) const NAMES: [&str; 13] = [
        "CARD",
        "IBAN",
        "EMAIL",
        "PHONE",
        "KEY",
        "TOKEN",
        "JWT",
        "CREDENTIALS",
        "PRIVATE_KEY",
        "PASSWORD",
        "CODE",
        "COOKIE",
        "SECRET",
    ];
}

/// A value to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// Its byte range, in the text in which it was found.
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
    /// The value without escapes.
    pub(super) value: String,
}

impl Finding {
    /// A finding at `range` in `text`.
    pub(super) fn new(text: &str, range: Range<usize>, kind: Kind) -> Finding {
        let value = text.get(range.clone()).unwrap_or_default().to_owned();
        Finding { range, kind, value }
    }
}

/// Sorts the findings in `text`. Overlapping findings become one that covers all of them, so that no part of any is
/// left unmasked. Its kind is that of the finding that begins first, then of the longest, then of the one found first.
pub(super) fn settle(text: &str, mut found: Vec<Finding>) -> Vec<Finding> {
    if found.len() < 2 {
        return found;
    }
    found.sort_by_key(|finding| (finding.range.start, Reverse(finding.range.end)));
    let mut settled: Vec<Finding> = Vec::with_capacity(found.len());
    for finding in found {
        match settled.last_mut() {
            Some(last) if finding.range.start < last.range.end => {
                if finding.range.end > last.range.end {
                    *last = Finding::new(text, last.range.start..finding.range.end, last.kind);
                }
            }
            _ => settled.push(finding),
        }
    }
    settled
}

/// Whether any of the findings, which are sorted and do not overlap, overlaps this range.
pub(super) fn has_any(found: &[Finding], range: &Range<usize>) -> bool {
    let next = found.partition_point(|finding| finding.range.end <= range.start);
    found.get(next).is_some_and(|finding| finding.range.start < range.end)
}
