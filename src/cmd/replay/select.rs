//! Selects the part of a recording to play.

use crate::cmd::options::duration;
use pipewright_record::json::quoted;
use std::str::FromStr;

/// An end of the part that is played, as `--from` and `--to` take it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// A message's number: its `seq`, or its line in plain NDJSON.
    Number(u64),
    /// Microseconds after the first message.
    After(i64),
    /// A time, in microseconds since 1970.
    At(i64),
}

impl Bound {
    /// Whether it is after another bound of the same kind.
    pub fn is_behind(self, other: Bound) -> bool {
        match (self, other) {
            (Bound::Number(number), Bound::Number(other)) => number > other,
            (Bound::After(time), Bound::After(other)) | (Bound::At(time), Bound::At(other)) => time > other,
            _ => false,
        }
    }
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Bound, String> {
        if let Ok(number) = text.parse() {
            return Ok(Bound::Number(number));
        }
        // A bare number is not a duration but a time since 1970.
        if text.parse::<f64>().is_err()
            && let Ok(after) = duration(text)
        {
            return Ok(Bound::After(after.as_micros() as i64));
        }
        pipewright_log::time::read(&quoted(text)).map(Bound::At).ok_or_else(|| {
            "give a seq (120), a time since the first message (90s, 1.5m, 200ms, 1h), or a date and time \
             (2026-11-22T01:30:00Z)"
                .to_owned()
        })
    }
}

/// The position of a message.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    /// Its `seq`, or its line.
    pub number: u64,
    /// Its time.
    pub time: Option<i64>,
    /// The time of the first message.
    pub first: Option<i64>,
}

impl Position {
    fn since_first(&self) -> Option<i64> {
        self.time.zip(self.first).map(|(time, first)| time.saturating_sub(first))
    }

    /// Whether it is before the bound; a message without a time is never before a time.
    pub fn is_before(&self, place: Bound) -> bool {
        match place {
            Bound::Number(number) => self.number < number,
            Bound::After(after) => self.since_first().is_some_and(|since| since < after),
            Bound::At(at) => self.time.is_some_and(|time| time < at),
        }
    }

    /// Whether it is after the bound.
    pub fn is_behind(&self, place: Bound) -> bool {
        match place {
            Bound::Number(number) => self.number > number,
            Bound::After(after) => self.since_first().is_some_and(|since| since > after),
            Bound::At(at) => self.time.is_some_and(|time| time > at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_numbers_durations_and_times() {
        assert_eq!("120".parse(), Ok(Bound::Number(120)));
        assert_eq!("1.5m".parse(), Ok(Bound::After(90_000_000)));
        assert_eq!("200ms".parse(), Ok(Bound::After(200_000)));
        assert_eq!("1970-01-01T00:00:01Z".parse(), Ok(Bound::At(1_000_000)));
        for bad in ["", "soon", "-1", "s", "1d"] {
            assert!(bad.parse::<Bound>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_message_between_two_bounds_is_neither_before_nor_after_them() {
        let position = Position { number: 5, time: Some(2_000), first: Some(1_000) };
        assert!(position.is_before(Bound::Number(6)) && !position.is_before(Bound::Number(5)));
        assert!(position.is_behind(Bound::After(999)) && !position.is_behind(Bound::After(1_000)));
        assert!(position.is_before(Bound::At(2_001)) && position.is_behind(Bound::At(1_999)));
    }
}
