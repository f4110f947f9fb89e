//! Numbers: whole ones exactly, others as in jq, and in their original notation until they are used in a calculation.

use super::text::Text;
use std::cmp::Ordering;

/// A number.
#[derive(Clone)]
pub enum Number {
    Int(i64),
    /// Never a whole number that a double holds exactly: that would be an [`Number::Int`].
    Float(f64),
    /// A number whose notation would otherwise change: `1.10`, `1e3`, `-0`, `12345678901234567890`.
    Written(Text),
}

/// Below this, doubles hold whole numbers exactly.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;

impl Number {
    /// A number from JSON text.
    pub fn written(text: Text) -> Number {
        let written = text.as_str();
        // A whole number in its usual notation is written in the same way again.
        let usual = written != "-0" && written.len() <= 20 && !written.contains(['.', 'e', 'E']);
        match written.parse() {
            Ok(int) if usual => Number::Int(int),
            _ => Number::Written(text),
        }
    }

    /// A number in a filter's own text, where `1.0` is the same as 1.
    pub fn literal(text: &str) -> Number {
        match text.parse::<f64>() {
            Ok(float) if text.contains(['.', 'e', 'E']) => Number::from(float),
            _ => Number::written(Text::from(text)),
        }
    }

    pub fn as_f64(&self) -> f64 {
        match self {
            Number::Int(int) => *int as f64,
            Number::Float(float) => *float,
            Number::Written(text) => text.as_str().parse().unwrap_or(f64::NAN),
        }
    }

    /// The whole number, if it is one that fits.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Number::Int(int) => Some(*int),
            Number::Float(_) => None,
            Number::Written(_) => match Number::from(self.as_f64()) {
                Number::Int(int) => Some(int),
                _ => None,
            },
        }
    }

    /// As an index: rounded down, and limited to the range of indices.
    pub fn as_index(&self) -> Option<i64> {
        let float = match self {
            Number::Int(int) => return Some(*int),
            Number::Float(_) | Number::Written(_) => self.as_f64(),
        };
        // The cast saturates.
        (!float.is_nan()).then(|| float.floor() as i64)
    }

    /// The order for sorting: NaN comes first. It is exact, since sorting needs a consistent order.
    pub fn order(&self, other: &Number) -> Ordering {
        if let (Number::Int(one), Number::Int(other)) = (self, other) {
            return one.cmp(other);
        }
        let (one, two) = (self.as_f64(), other.as_f64());
        match one.partial_cmp(&two) {
            // Doubles do not distinguish long whole numbers.
            Some(Ordering::Equal) if one.abs() >= EXACT_INTEGERS => order_digits(&self.digits(), &other.digits()),
            Some(order) => order,
            None => two.is_nan().cmp(&one.is_nan()),
        }
    }

    /// All digits of a number without a fraction; `inf` for infinity.
    fn digits(&self) -> String {
        match self {
            Number::Int(int) => int.to_string(),
            Number::Written(text) if !text.as_str().contains(['.', 'e', 'E']) => text.as_str().to_owned(),
            Number::Float(_) | Number::Written(_) => format!("{:.0}", self.as_f64()),
        }
    }
}

/// Compares two numbers of the same sign by their digits, which have no leading zeros.
fn order_digits(one: &str, other: &str) -> Ordering {
    let size = |digits: &str| if digits.ends_with("inf") { usize::MAX } else { digits.len() };
    let order = size(one).cmp(&size(other)).then_with(|| one.cmp(other));
    if one.starts_with('-') { order.reverse() } else { order }
}

impl From<f64> for Number {
    fn from(float: f64) -> Number {
        if float.trunc() == float && float.abs() < EXACT_INTEGERS {
            Number::Int(float as i64)
        } else {
            Number::Float(float)
        }
    }
}
