//! Options that several commands have, under the same names and with the same meaning.

use crate::io::lines::Limits;
use crate::journal::{Direction, Part};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use jiff::SignedDuration;
use std::time::Duration;

/// Bounds on the lines of the input.
#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitOptions {
    /// Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = size)]
    pub max_line: usize,
    /// Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::default().max_depth)]
    pub max_depth: usize,
}

/// How messages describe a line over `--max-line`.
pub const TOO_LONG: &str = "longer than --max-line";
/// How messages describe a line over `--max-depth`.
pub const TOO_DEEP: &str = "nested deeper than --max-depth";

impl From<LimitOptions> for Limits {
    fn from(options: LimitOptions) -> Limits {
        Limits { max_line: options.max_line, max_depth: options.max_depth }
    }
}

/// Reads a number of bytes, such as `65536`, `64K` or `1M`.
pub fn size(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "a size is a whole number of bytes above 0, such as 65536, 64K or 1M".to_owned())
}

impl ValueEnum for Part {
    fn value_variants<'a>() -> &'a [Part] {
        &[Part::Agent, Part::World]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Part::Agent => "Reads observations, writes calls",
            Part::World => "Reads calls, writes results and observations",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

impl ValueEnum for Direction {
    fn value_variants<'a>() -> &'a [Direction] {
        &[Direction::In, Direction::Out, Direction::Err]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Direction::In => "Written to the stdin of the recorded command; in a pipe, read from stdin",
            Direction::Out => "Read from the stdout of the recorded command",
            Direction::Err => "Read from the stderr of the recorded command",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal that supports it, unless NO_COLOR is set or TERM is `dumb`.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Whether to write colour to a terminal.
    pub fn wanted(self) -> bool {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}

/// Any time plus this is still a valid time.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Reads a duration of up to a year, such as `500ms`, `3s`, `2m` or `1h`; a number without a unit is in seconds.
///
/// # Errors
/// Describes the format of a duration.
pub fn duration(text: &str) -> Result<Duration, String> {
    let duration = match text.parse() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => text.parse::<SignedDuration>().ok().and_then(|duration| duration.try_into().ok()),
    };
    duration.filter(|&duration| duration <= LONGEST).ok_or_else(|| {
        "a duration is a number with ms, s, m or h, or in seconds: 500ms, 3s, 2m, 0.5; up to a year".to_owned()
    })
}

/// As [`duration`], but 0 means no limit: a year.
///
/// # Errors
/// Describes the format of a duration.
pub fn time_limit(text: &str) -> Result<Duration, String> {
    duration(text).map(|limit| if limit.is_zero() { LONGEST } else { limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations() {
        assert_eq!(size("64K"), Ok(65536));
        assert_eq!(size("1"), Ok(1));
        for bad in ["", "K", "0", "-1", "1.5M", "99999999999999G"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        for (text, milliseconds) in [
            ("0", 0),
            ("0.5", 500),
            ("2", 2_000),
            ("500ms", 500),
            ("3s", 3_000),
            ("1.5s", 1_500),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("1h30m", 5_400_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        assert_eq!((time_limit("0s"), time_limit("1s")), (Ok(LONGEST), Ok(Duration::from_secs(1))));
        for bad in ["", "s", "-1", "-3s", "3s ago", "NaN", "1e19", "1e99", "9999h", "1d", "3x", "soon"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
