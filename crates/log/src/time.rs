//! Times of other programs' records, as microseconds since 1970.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Reads the JSON value of a time field: an ISO 8601 string (UTC if it has no zone), or a number since 1970 in seconds,
/// milliseconds, microseconds or nanoseconds. The unit is the one that gives a time between 1973 and 5138.
///
/// ```
/// use pipewright_log::time::read;
/// assert_eq!(read(r#""1970-01-01T00:00:01.5Z""#), Some(1_500_000));
/// assert_eq!(read("1700000000.25"), Some(1_700_000_000_250_000));
/// assert_eq!(read("1700000000250"), read("1700000000.25"));
/// assert_eq!(read("null"), None);
/// ```
pub fn read(json: &str) -> Option<i64> {
    if json.starts_with('"') {
        let text: String = serde_json::from_str(json).ok()?;
        let zoned = text.parse::<Timestamp>().ok();
        let plain = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
        return zoned.or_else(plain).map(Timestamp::as_microsecond);
    }
    if let Ok(whole) = json.parse::<i64>() {
        return Some(match whole.unsigned_abs() {
            0..100_000_000_000 => whole * 1_000_000,
            100_000_000_000..100_000_000_000_000 => whole * 1_000,
            100_000_000_000_000..100_000_000_000_000_000 => whole,
            _ => whole / 1_000,
        });
    }
    let number = json.parse::<f64>().ok().filter(|number| number.is_finite())?;
    let microseconds = match number.abs() {
        size if size < 1e11 => number * 1e6,
        size if size < 1e14 => number * 1e3,
        size if size < 1e17 => number,
        _ => number / 1e3,
    };
    Some(microseconds.round() as i64)
}

/// The time as text, for people and spreadsheets.
pub fn write(microseconds: i64) -> String {
    match Timestamp::from_microsecond(microseconds) {
        Ok(time) => format!("{time:.6}"),
        Err(_) => microseconds.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(
            read(r#""2026-02-02T20:06:23.218194""#),
            read(r#""2026-02-02T20:06:23.218194Z""#),
            "as Python's isoformat writes UTC"
        );
        assert_eq!(read(r#""2026-02-02T21:06:23+01:00""#), read(r#""2026-02-02T20:06:23Z""#));
        for seconds in ["1770062783", "1770062783000", "1770062783000000", "1770062783000000000", "1770062783.0"] {
            assert_eq!(read(seconds), Some(1_770_062_783_000_000), "{seconds}");
        }
        for none in ["null", "true", "{}", r#""soon""#, r#""""#, "[1]", "1e999"] {
            assert_eq!(read(none), None, "{none}");
        }
        assert_eq!(write(1_500_000), "1970-01-01T00:00:01.500000Z");
    }
}
