//! Which part of a recording is played.

use crate::cmd::options::duration;
use std::str::FromStr;

/// A place in a recording, as `--from` and `--to` take it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// A message's number: its `seq`, or its line in plain NDJSON.
    Number(u64),
    /// So many microseconds after the first message.
    After(i64),
    /// A time, in microseconds since 1970.
    At(i64),
}

impl Place {
    /// Whether it is behind another place of the same kind.
    pub fn is_behind(self, other: Place) -> bool {
        match (self, other) {
            (Place::Number(number), Place::Number(other)) => number > other,
            (Place::After(time), Place::After(other)) | (Place::At(time), Place::At(other)) => time > other,
            _ => false,
        }
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        if let Ok(number) = text.parse() {
            return Ok(Place::Number(number));
        }
        // Without a unit it is a time since 1970.
        if text.parse::<f64>().is_err()
            && let Ok(after) = duration(text)
        {
            return Ok(Place::After(after.as_micros() as i64));
        }
        // A text always becomes JSON.
        let json = serde_json::to_string(text).unwrap_or_default();
        crate::journal::time::read(&json).map(Place::At).ok_or_else(|| {
            "a seq (120), a time since the beginning (90s, 1.5m, 200ms, 1h), or a time (2026-11-22T01:30:00Z)"
                .to_owned()
        })
    }
}

/// Where a message stands.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    /// Its `seq`, or its line.
    pub number: u64,
    /// Its time, and that of the first message.
    pub time: Option<i64>,
    /// The time of the first message.
    pub first: Option<i64>,
}

impl Position {
    fn since_first(&self) -> Option<i64> {
        self.time.zip(self.first).map(|(time, first)| time.saturating_sub(first))
    }

    /// Whether it stands before the place; a message without a time stands before no time.
    pub fn is_before(&self, place: Place) -> bool {
        match place {
            Place::Number(number) => self.number < number,
            Place::After(after) => self.since_first().is_some_and(|since| since < after),
            Place::At(at) => self.time.is_some_and(|time| time < at),
        }
    }

    /// Whether it stands behind the place.
    pub fn is_behind(&self, place: Place) -> bool {
        match place {
            Place::Number(number) => self.number > number,
            Place::After(after) => self.since_first().is_some_and(|since| since > after),
            Place::At(at) => self.time.is_some_and(|time| time > at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_numbers_spans_and_times() {
        assert_eq!("120".parse(), Ok(Place::Number(120)));
        assert_eq!("1.5m".parse(), Ok(Place::After(90_000_000)));
        assert_eq!("200ms".parse(), Ok(Place::After(200_000)));
        assert_eq!("1970-01-01T00:00:01Z".parse(), Ok(Place::At(1_000_000)));
        for bad in ["", "soon", "-1", "s", "1d"] {
            assert!(bad.parse::<Place>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_stands_between_two_places_is_neither_before_nor_behind() {
        let position = Position { number: 5, time: Some(2_000), first: Some(1_000) };
        assert!(position.is_before(Place::Number(6)) && !position.is_before(Place::Number(5)));
        assert!(position.is_behind(Place::After(999)) && !position.is_behind(Place::After(1_000)));
        assert!(position.is_before(Place::At(2_001)) && position.is_behind(Place::At(1_999)));
    }
}
