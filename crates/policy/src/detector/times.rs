//! Names that count time: "Bid now, 59 s left" and "Bid now, 58 s left" are one name.

use super::{Element, classify};
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

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
