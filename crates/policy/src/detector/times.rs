//! Texts that count time: "Bid now, 59 s left" and "Bid now, 58 s left" are one name.

use super::{Element, classify};
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::Duration;

/// A number with a unit of time, or a clock. A number with any other unit, or none, is not one: "Pay 10 €", "Room 12".
static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let units = "s|sec|secs|seconds?|m|min|mins|minutes?|h|hrs?|hours?|d|days?|ms|\
                 sek|sekunden?|minuten?|std|stunden?|tage?n?|секунд[аы]?|сек|минут[аы]?|мин|час(?:а|ов)?|\
                 segundos?|minutos?|horas?|secondes?|heures?|secondi|minuti|秒|分|分钟|小时|時間|초|분";
    // The pattern is constant, and a test reads it.
    Regex::new(&format!(r"(?i)\b\d+(?::\d\d){{1,2}}\b|\b\d+\s?(?:{units})(?:\b|$)")).ok()
});

/// Whether an element's name has changed from one to the other only in times, and neither needs approval: in "Pay in 3
/// days", the number is what is approved.
pub fn differ_only_in_time(role: &str, one: &str, other: &str) -> bool {
    let is_harmless = |name| classify(&Element { role: Some(role), name, ..Element::default() }).is_none();
    without_times(one) == without_times(other) && is_harmless(one) && is_harmless(other)
}

/// Whether two texts, of which the second was read so much later, are the same but for clocks and countdowns that have run
/// no further than that. Other times must be equal: "2 hours of parking" is what is paid for.
pub fn is_same_but_for_running_time(one: &str, other: &str, passed: Duration) -> bool {
    let Some(time) = TIME.as_ref() else { return one == other };
    let times = |text| time.find_iter(text).map(|found| found.as_str()).collect::<Vec<_>>();
    let (before, after) = (times(one), times(other));
    let is_running = |(one, other): (&&str, &&str)| {
        one == other
            || match (running(one), running(other)) {
                (Some((one, step)), Some((other, same))) if step == same => {
                    one.abs_diff(other) <= passed.as_secs().saturating_add(step)
                }
                _ => false,
            }
    };
    without_times(one) == without_times(other) && before.iter().zip(&after).all(is_running)
}

/// The seconds of a clock, of seconds or of minutes, and those of the step in which it runs.
fn running(time: &str) -> Option<(u64, u64)> {
    if time.contains(':') {
        let parts = time.split(':').map(|part| part.parse::<u64>().ok());
        let seconds = parts.reduce(|all, part| all?.checked_mul(60)?.checked_add(part?))??;
        return Some((seconds, 1));
    }
    let unit = time.trim_start_matches(|one: char| one.is_numeric()).trim_start().to_lowercase();
    let count: u64 = time.split(|one: char| !one.is_ascii_digit()).next()?.parse().ok()?;
    let is = |units: &[&str]| units.iter().any(|begin| unit.starts_with(begin));
    match () {
        // A bare m may be a metre.
        () if unit == "s" || is(&["sec", "sek", "сек", "seg", "秒", "초"]) => Some((count, 1)),
        () if is(&["min", "мин", "分", "분"]) => Some((count.checked_mul(60)?, 60)),
        () => None,
    }
}

/// A name with the same text in the place of each time.
fn without_times(name: &str) -> Cow<'_, str> {
    TIME.as_ref().map_or(Cow::Borrowed(name), |time| time.replace_all(name, "0:00"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_needs_approval_may_not_change() {
        assert!(differ_only_in_time("button", "Skip (30 s)", "Skip (29 s)"));
        assert!(!differ_only_in_time("button", "Pay in 3 days", "Pay in 30 days"));
        assert!(!differ_only_in_time("button", "Delete (undo 5 s)", "Delete (undo 4 s)"));
    }

    #[test]
    fn a_countdown_may_run_as_far_as_time_has_passed() {
        for (one, other, passed, is_same) in [
            ("Cart held for 9:58", "Cart held for 7:58", 120, true),
            ("Cart held for 9:58", "Cart held for 7:58", 60, false),
            ("59 s left", "58 s left", 0, true),
            ("59 s left", "9 s left", 5, false),
            ("2 minutes left", "1 minute left", 0, true),
            ("3 minutes left", "1 minute left", 0, false),
            ("Ends in 1:00:02", "Ends in 0:59:59", 3, true),
            ("Parking, 2 hours", "Parking, 1 hours", 7200, false),
            ("Trial: 7 days", "Trial: 1 days", 700_000, false),
            ("Cable 5 m", "Cable 4 m", 60, false),
            ("Total 5 €", "Total 4 €", 60, false),
        ] {
            assert_eq!(is_same_but_for_running_time(one, other, Duration::from_secs(passed)), is_same, "{one} {other}");
        }
    }

    #[test]
    fn only_times_may_differ() {
        for (one, other) in [
            ("Bid now, 59 s left", "Bid now, 9 s left"),
            ("Ends in 1:00:02", "Ends in 0:59:59"),
            ("Resend code (30s)", "Resend code (29s)"),
            ("Noch 2 Minuten", "Noch 1 Minute"),
            ("还剩 12 秒", "还剩 11 秒"),
        ] {
            assert_eq!(without_times(one), without_times(other), "{one}");
        }
        for (one, other) in [
            ("Pay 10 €", "Pay 100 €"),
            ("Buy 3", "Buy 4"),
            ("Room 12", "Room 13"),
            ("12 m² flat", "13 sofas"),
            ("Bid now, 59 s left", "Buy now, 59 s left"),
            ("Version 1.5", "Version 1.6"),
            ("Pay 5 dollars", "Pay 6 dollars"),
        ] {
            assert_ne!(without_times(one), without_times(other), "{one}");
        }
    }
}
