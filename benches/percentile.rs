//! Percentiles of measured times.

use std::time::Duration;

/// The result is in microseconds.
pub fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    let at = sorted.len() * percent / 100;
    sorted.get(at).map_or(0.0, |took| took.as_secs_f64() * 1e6)
}
