//! Options that several commands have, under the same names and with the same meaning.

use crate::io::lines::Limits;
use std::time::Duration;

/// What is believed of the input's lines.
#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitOptions {
    /// Longest line that is looked into, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = size)]
    pub max_line: usize,
    /// Deepest nesting of arrays and objects that is looked into; a deeper line is reported and not acted on
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::default().max_depth)]
    pub max_depth: usize,
}

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

/// Added to any time, it is still a time.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Reads a number of seconds, such as `2` or `0.5`; 0 is none.
pub fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|&duration| duration <= LONGEST)
        .ok_or_else(|| "a number of seconds, such as 2 or 0.5, up to a year".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_seconds() {
        assert_eq!(size("64K"), Ok(65536));
        assert_eq!(size("1"), Ok(1));
        for bad in ["", "K", "0", "-1", "1.5M", "99999999999999G"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["", "-1", "NaN", "1e19", "1e99", "soon"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
