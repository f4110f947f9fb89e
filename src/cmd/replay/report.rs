//! The report for programs: NDJSON, a line for each turn, each difference, and the sum of all.

use crate::cmd::spread::Percentiles;
use crate::replay::compare::Difference;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// How many lines fared how.
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
        turn: u64,
        kind: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        log: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        recorded: Option<Box<RawValue>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        now: Option<Box<RawValue>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        differences: Vec<Place>,
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
}

#[derive(Serialize)]
pub(super) struct Place {
    path: String,
    recorded: Option<Box<RawValue>>,
    now: Option<Box<RawValue>>,
}

pub(super) fn place(difference: &Difference) -> Place {
    let value = |text: &Option<String>| text.as_ref().map(|text| json(text.as_bytes()));
    Place { path: difference.path.clone(), recorded: value(&difference.recorded), now: value(&difference.now) }
}

/// A line as JSON: itself where it is that, else a string.
pub(super) fn json(body: &[u8]) -> Box<RawValue> {
    let text = String::from_utf8_lossy(body);
    // A line break within it would make two lines of ours.
    let has_break = text.trim().contains(['\n', '\r']);
    let value = if has_break { to_raw_value(&text) } else { RawValue::from_string(text.trim().to_owned()) };
    value
        .or_else(|_| to_raw_value(&text))
        // A string always becomes JSON.
        .unwrap_or_else(|_| RawValue::NULL.to_owned())
}
