//! The distribution of numbers, in memory that does not grow with their count.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;

/// Counts numbers, each to within a thousandth of its size, or, if [`Distribution::rough`], a hundredth.
#[derive(Debug, Clone, Default)]
pub struct Distribution {
    /// Created with the first number.
    histogram: Option<Histogram<u64>>,
    sum: u64,
    max: u64,
    is_rough: bool,
}

/// A summary of the distribution; all 0 if it is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "percentiles")]
pub struct Percentiles {
    /// The count of numbers.
    pub count: u64,
    /// Half of them are at most this.
    pub p50: u64,
    /// Nine in ten are at most this.
    pub p90: u64,
    /// All but one in a hundred are at most this.
    pub p99: u64,
    /// The greatest.
    pub max: u64,
}

impl Distribution {
    /// For use in large numbers: it takes some kilobytes instead of some hundred.
    pub fn rough() -> Distribution {
        Distribution { is_rough: true, ..Distribution::default() }
    }

    /// Adds a number.
    pub fn add(&mut self, number: u64) {
        self.sum = self.sum.saturating_add(number);
        self.max = self.max.max(number);
        if self.histogram.is_none() {
            // 2 and 3 digits are within the library's bounds.
            self.histogram = Histogram::new(if self.is_rough { 2 } else { 3 }).ok();
        }
        if let Some(histogram) = &mut self.histogram {
            // The histogram grows with the greatest number, by some kilobytes per doubling; it fails only beyond 64
            // bits.
            let _ = histogram.record(number);
        }
    }

    /// The sum of all.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Their count, percentiles and maximum.
    pub fn percentiles(&self) -> Percentiles {
        let Some(histogram) = &self.histogram else { return Percentiles::default() };
        let at = |quantile| histogram.value_at_quantile(quantile).min(self.max);
        Percentiles { count: histogram.len(), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: self.max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_the_stated_precision() {
        for (mut distribution, within) in [(Distribution::default(), 1000), (Distribution::rough(), 100)] {
            assert_eq!(distribution.percentiles(), Percentiles::default());
            (1..=1000).for_each(|number| distribution.add(number * 1000));
            let Percentiles { count, p50, p90, max, .. } = distribution.percentiles();
            assert_eq!(count, 1000);
            assert!(p50.abs_diff(500_000) < 500_000 / within && p90.abs_diff(900_000) < 900_000 / within);
            assert_eq!(max, 1_000_000, "the maximum is exact");
            assert_eq!(distribution.sum(), 500_500_000);
        }
    }
}
