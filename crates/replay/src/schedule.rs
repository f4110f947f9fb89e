//! When each message is due, on a clock that does not drift: every time is counted from the beginning, so a late
//! message does not delay others.

use std::time::Duration;

/// The speed of playing a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// A multiple of the recorded speed.
    Times(f64),
    /// Without waiting.
    Max,
}

/// Counts recorded time.
#[derive(Debug)]
pub struct Schedule {
    speed: Speed,
    idle_limit: Option<Duration>,
    /// The previous recorded time, in microseconds, and when it was due.
    last: Option<(i64, Duration)>,
}

impl Schedule {
    /// A pause longer than `idle_limit` (as recorded) is shortened to it.
    pub fn new(speed: Speed, idle_limit: Option<Duration>) -> Schedule {
        Schedule { speed, idle_limit, last: None }
    }

    /// When a message with this recorded time (in microseconds, from any origin) is due, counted from the first
    /// message. It is due at once if the clock went backwards, or if it has no time.
    ///
    /// ```
    /// use pipewright_replay::schedule::{Schedule, Speed};
    /// use std::time::Duration;
    /// let mut schedule = Schedule::new(Speed::Times(2.0), Some(Duration::from_secs(10)));
    /// assert_eq!(schedule.due(Some(5_000_000)), Duration::ZERO);
    /// assert_eq!(schedule.due(Some(6_000_000)), Duration::from_millis(500));
    /// assert_eq!(schedule.due(Some(99_000_000)), Duration::from_millis(5500));
    /// ```
    pub fn due(&mut self, time: Option<i64>) -> Duration {
        let Speed::Times(times) = self.speed else { return Duration::ZERO };
        let Some(time) = time else {
            return self.last.map_or(Duration::ZERO, |(_, due)| due);
        };
        let Some((before, due)) = self.last else {
            self.last = Some((time, Duration::ZERO));
            return Duration::ZERO;
        };
        if time <= before {
            return due;
        }
        let gap = Duration::from_micros(time.abs_diff(before));
        let gap = self.idle_limit.map_or(gap, |limit| gap.min(limit));
        let due = due.saturating_add(scaled(gap, times));
        self.last = Some((time, due));
        due
    }
}

/// A recorded time at another speed; at most a year.
pub fn scaled(time: Duration, times: f64) -> Duration {
    const YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);
    Duration::try_from_secs_f64(time.as_secs_f64() / times).map_or(YEAR, |time| time.min(YEAR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_from_the_beginning() {
        let mut schedule = Schedule::new(Speed::Times(1.0), None);
        let due: Vec<u64> = [7_000_000, 7_000_100, 6_000_000, 7_000_300, 8_000_000]
            .map(|time| schedule.due(Some(time)).as_micros() as u64)
            .to_vec();
        assert_eq!(due, [0, 100, 100, 300, 1_000_000], "a step back delays nothing");
        assert_eq!(schedule.due(None), Duration::from_secs(1));
        assert_eq!(Schedule::new(Speed::Max, None).due(Some(1)), Duration::ZERO);
        assert!(scaled(Duration::from_secs(1), 1e-300) > Duration::from_secs(1000));
    }
}
