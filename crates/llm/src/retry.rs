//! Whether a failed request may be sent again, and after which pause: by the answer's headers, or by its message.

use super::{Headers, Retry};
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// Applies the headers to a decision: `x-should-retry` overrules it, and a requested pause replaces our own.
pub(super) fn apply_headers(decision: Retry, headers: &Headers<'_>) -> Retry {
    let pause = || pause(headers).map_or(Retry::Backoff, Retry::After);
    match (headers("x-should-retry").as_deref(), decision) {
        (Some("false"), _) => Retry::Never,
        (Some("true"), _) => pause(),
        (_, Retry::Never | Retry::After(_)) => decision,
        (_, Retry::Backoff) => pause(),
    }
}

/// Reads `retry-after-ms`, or `retry-after` in seconds or as a date, which is relative to the date of the answer. This
/// needs no clock, and works if the server's clock is wrong.
fn pause(headers: &Headers<'_>) -> Option<Duration> {
    let seconds = |text: &str| Duration::try_from_secs_f64(text.trim().parse().ok()?).ok();
    if let Some(pause) = headers("retry-after-ms").and_then(|text| seconds(&text)) {
        return Some(pause / 1000);
    }
    let after = headers("retry-after")?;
    let date = |text: &str| DateTimeParser::new().parse_timestamp(text.trim()).ok();
    seconds(&after).or_else(|| {
        let pause = date(&after)?.duration_since(date(&headers("date")?)?);
        // A date in the past means no pause.
        Some(pause.try_into().unwrap_or_default())
    })
}

/// The pause in a message: "try again in 3.2s", "Please retry in 1m2.5s", "retry after 20 seconds".
pub(super) fn pause_in(message: &str) -> Option<Duration> {
    let lower = message.to_lowercase();
    let leads = ["try again in ", "retry in ", "retry after ", "try again after ", "wait "];
    let (_, rest) = leads.iter().find_map(|lead| lower.split_once(lead))?;
    let mut words = rest.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ';', ')']));
    let first = words.next()?;
    if let Ok(span) = first.parse::<SignedDuration>() {
        return Duration::try_from(span).ok();
    }
    let number: f64 = first.parse().ok()?;
    let unit = match words.next().unwrap_or("seconds") {
        unit if unit.starts_with("ms") || unit.starts_with("milli") => 0.001,
        unit if unit.starts_with('s') => 1.0,
        unit if unit.starts_with('m') => 60.0,
        unit if unit.starts_with('h') => 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * unit).ok()
}

/// The pause until a time in milliseconds since 1970, relative to the date of the answer.
pub(super) fn pause_until(reset: &str, headers: &Headers<'_>) -> Option<Duration> {
    let reset = Timestamp::from_millisecond(reset.trim().parse().ok()?).ok()?;
    let now = DateTimeParser::new().parse_timestamp(headers("date")?.trim()).ok()?;
    Some(reset.duration_since(now).try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry(decision: Retry, headers: &[(&str, &str)]) -> Retry {
        let find = |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        apply_headers(decision, &find)
    }

    #[test]
    fn the_pause_in_the_headers_is_read_in_every_form() {
        let date = ("date", "Sun, 22 Nov 2026 19:00:57 GMT");
        let after = |seconds| Retry::After(Duration::from_secs_f64(seconds));
        for (headers, expected) in [
            (vec![], Retry::Backoff),
            (vec![("retry-after", "7")], after(7.0)),
            (vec![("retry-after", "7"), ("retry-after-ms", "1500")], after(1.5)),
            (vec![("retry-after", "0.5")], after(0.5)),
            (vec![("retry-after", "Sun, 22 Nov 2026 19:01:57 GMT"), date], after(60.0)),
            (vec![("retry-after", "Sun, 22 Nov 2026 18:01:57 GMT"), date], after(0.0)),
            (vec![("retry-after", "Sun, 22 Nov 2026 19:01:57 GMT")], Retry::Backoff),
            (vec![("retry-after", "-1")], Retry::Backoff),
            (vec![("retry-after", "NaN")], Retry::Backoff),
            (vec![("retry-after", "1e300")], Retry::Backoff),
            (vec![("retry-after", "soon"), date], Retry::Backoff),
            (vec![("retry-after", "7"), ("x-should-retry", "false")], Retry::Never),
        ] {
            assert_eq!(retry(Retry::Backoff, &headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn a_final_failure_is_only_retried_if_the_server_asks_for_it() {
        assert_eq!(retry(Retry::Never, &[("retry-after", "7")]), Retry::Never);
        let retried = retry(Retry::Never, &[("retry-after", "7"), ("x-should-retry", "true")]);
        assert_eq!(retried, Retry::After(Duration::from_secs(7)));
        let own = Retry::After(Duration::from_secs(34));
        assert_eq!(retry(own, &[("retry-after", "7")]), own);
    }

    #[test]
    fn the_pause_in_a_message_is_read() {
        for (message, seconds) in [
            ("Limit 30000, Used 29000. Please try again in 3.2s.", Some(3.2)),
            ("Please retry in 1m2.5s. limit: 05", Some(62.5)),
            ("Please try again in 250ms.", Some(0.25)),
            ("Retry after 20 seconds", Some(20.0)),
            ("try again in 2 minutes.", Some(120.0)),
            ("Please retry in a while", None),
            ("Please retry in -3s", None),
            ("slow down", None),
        ] {
            assert_eq!(pause_in(message), seconds.map(Duration::from_secs_f64), "{message}");
        }
        let date = |name: &str| (name == "date").then(|| "Sun, 22 Nov 2026 19:00:57 GMT".to_owned());
        let reset = Timestamp::from_second(1_795_374_060).unwrap_or_default();
        assert_eq!(pause_until(&reset.as_millisecond().to_string(), &date), Some(Duration::from_secs(3)));
        assert_eq!((pause_until("soon", &date), pause_until("1", &|_| None)), (None, None));
    }
}
