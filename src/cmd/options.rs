//! Options that several commands have, under the same names and with the same meaning.

use super::usage;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jiff::SignedDuration;
use pipewright_io::report::Failure;
use pipewright_lines::Limits;
use pipewright_log::{Direction, Part};
use pipewright_record::{OwnedTool, ToolList};
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};

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

/// Reads a side of a recorded conversation: `agent` or `world`.
pub fn part() -> impl TypedValueParser<Value = Part> {
    let parts = [
        (Part::Agent, "Reads observations, writes calls"),
        (Part::World, "Reads calls, writes results and observations"),
    ];
    one_of(parts.map(|(part, help)| (part, part.name(), help)))
}

/// Reads a direction of recorded lines: `in`, `out` or `err`.
pub fn direction() -> impl TypedValueParser<Value = Direction> {
    let directions = [
        (Direction::In, "Written to the stdin of the recorded command; in a pipe, read from stdin"),
        (Direction::Out, "Read from the stdout of the recorded command"),
        (Direction::Err, "Read from the stderr of the recorded command"),
    ];
    one_of(directions.map(|(direction, help)| (direction, direction.name(), help)))
}

/// Reads one of the values by its name. (Their types are of another crate, which does not know clap.)
fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    values: [(T, &'static str, &'static str); N],
) -> impl TypedValueParser<Value = T> {
    let names = values.map(|(_, name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).try_map(move |given| {
        let found = values.iter().find(|(_, name, _)| *name == given);
        found.map(|(value, ..)| *value).ok_or("it is none of the values")
    })
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
    pub fn is_enabled(self) -> bool {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}

/// Any time plus this is still a valid time.
const MAX_DURATION: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Reads a duration of up to a year, such as `500ms`, `3s`, `2m` or `1h`; a number without a unit is in seconds.
///
/// # Errors
/// Describes the format of a duration.
pub fn duration(text: &str) -> Result<Duration, String> {
    let duration = match text.parse() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => text.parse::<SignedDuration>().ok().and_then(|duration| duration.try_into().ok()),
    };
    duration.filter(|&duration| duration <= MAX_DURATION).ok_or_else(|| {
        "a duration is a number with ms, s, m or h, or in seconds: 500ms, 3s, 2m, 0.5; up to a year".to_owned()
    })
}

/// A limit of time, read as a [`duration`]; 0 means no limit, which is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub Option<Duration>);

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Limit, String> {
        duration(text).map(|limit| Limit(Some(limit).filter(|limit| !limit.is_zero())))
    }
}

impl Limit {
    /// When it is over if it begins now.
    pub fn end(self) -> Option<Instant> {
        self.0.map(|limit| Instant::now() + limit)
    }

    /// Its length in seconds, for a message that it is over.
    pub fn seconds(self) -> f64 {
        self.0.unwrap_or_default().as_secs_f64()
    }
}

/// The tools in a file of `--tools`, which holds a `tool_list` record.
///
/// # Errors
/// [`usage`]: the file cannot be read, or holds something else.
pub fn read_tools(path: &Path) -> Result<Vec<OwnedTool>, Failure> {
    let wrong = |why: &dyn Display| usage(format_args!("--tools: {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
    match ToolList::read(text.trim()) {
        Ok(Some(list)) => Ok(list.tools),
        Ok(None) => Err(wrong(&"not a tool_list record")),
        Err(why) => Err(wrong(&why)),
    }
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
        assert_eq!(("0s".parse(), "1s".parse()), (Ok(Limit(None)), Ok(Limit(Some(Duration::from_secs(1))))));
        for bad in ["", "s", "-1", "-3s", "3s ago", "NaN", "1e19", "1e99", "9999h", "1d", "3x", "soon"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
