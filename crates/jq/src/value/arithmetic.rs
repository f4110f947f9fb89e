//! jq's operators. Anything that makes a value large is charged in advance.

use super::number::Number;
use super::text::Text;
use super::{Array, Error, Object, Value, ValueResult, array, fail, object, order, spent};
use crate::fuel;
use std::collections::BTreeSet;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

fn cannot(one: &Value, does: &str, other: &Value) -> Error {
    fail(format_args!("{} ({one}) and {} ({other}) cannot be {does}", one.kind(), other.kind()))
}

fn calculate(one: &Number, other: &Number, exact: fn(i64, i64) -> Option<i64>, float: fn(f64, f64) -> f64) -> Value {
    if let (Number::Int(one), Number::Int(other)) = (one, other)
        && let Some(result) = exact(*one, *other)
    {
        return Value::from(result);
    }
    Value::from(float(one.as_f64(), other.as_f64()))
}

impl Add for Value {
    type Output = ValueResult;

    fn add(self, other: Value) -> ValueResult {
        match (self, other) {
            (Value::Null, value) | (value, Value::Null) => Ok(value),
            (Value::Number(one), Value::Number(other)) => {
                Ok(calculate(&one, &other, i64::checked_add, |one, other| one + other))
            }
            (Value::Text(one), Value::Text(other)) => concatenate(one, &other),
            (one, other) => match (one.kind(), other.kind()) {
                ("array", "array") => {
                    let mut joined = array(&one);
                    drop(one);
                    Array::make_mut(&mut joined).extend(other.into_items()?);
                    Ok(Value::Array(joined))
                }
                ("object", "object") => {
                    let mut joined = object(&one);
                    drop(one);
                    let all = Object::make_mut(&mut joined);
                    other.into_fields()?.into_iter().for_each(|(key, value)| all.put(key, Some(value)));
                    Ok(Value::Object(joined))
                }
                _ => Err(cannot(&one, "added", &other)),
            },
        }
    }
}

fn concatenate(mut one: Text, other: &Text) -> ValueResult {
    // Everything that is copied is charged first.
    let most = fuel::of_bytes(one.as_str().len().saturating_add(other.as_str().len()));
    if !fuel::can_charge(most) {
        fuel::stop(fuel::StopReason::Fuel);
        return Err(spent());
    }
    let copied = one.push(other.as_str());
    fuel::charge(fuel::of_bytes(copied));
    Ok(Value::Text(one))
}

impl Sub for Value {
    type Output = ValueResult;

    fn sub(self, other: Value) -> ValueResult {
        if let (Value::Number(one), Value::Number(other)) = (&self, &other) {
            return Ok(calculate(one, other, i64::checked_sub, |one, other| one - other));
        }
        if !self.is_array() || !other.is_array() {
            return Err(cannot(&self, "subtracted", &other));
        }
        // Each lookup of an element compares it with a few others.
        let levels = u64::from(other.weight().max(2).ilog2());
        if !fuel::charge(self.weight().saturating_add(other.weight()).saturating_mul(levels)) {
            return Err(spent());
        }
        let unwanted: BTreeSet<Sorted> = other.into_items()?.into_iter().map(Sorted).collect();
        Ok(self
            .into_items()?
            .into_iter()
            .map(Sorted)
            .filter(|item| !unwanted.contains(item))
            .map(|item| item.0)
            .collect())
    }
}

/// A value in a set, whose comparisons are not charged again.
struct Sorted(Value);

impl PartialEq for Sorted {
    fn eq(&self, other: &Sorted) -> bool {
        order(&self.0, &other.0).is_eq()
    }
}

impl Eq for Sorted {}

impl PartialOrd for Sorted {
    fn partial_cmp(&self, other: &Sorted) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sorted {
    fn cmp(&self, other: &Sorted) -> std::cmp::Ordering {
        order(&self.0, &other.0)
    }
}

impl Mul for Value {
    type Output = ValueResult;

    fn mul(self, other: Value) -> ValueResult {
        match (&self, &other) {
            (Value::Number(one), Value::Number(other)) => {
                Ok(calculate(one, other, i64::checked_mul, |one, other| one * other))
            }
            (Value::Text(text), Value::Number(times)) | (Value::Number(times), Value::Text(text)) => {
                repeat(text.as_str(), times.as_f64())
            }
            _ if self.kind() == "object" && other.kind() == "object" => {
                if !fuel::charge(other.weight()) {
                    return Err(spent());
                }
                merge(self, other)
            }
            _ => Err(cannot(&self, "multiplied", &other)),
        }
    }
}

/// As in jq, less than one repetition gives null, and a fraction counts as a complete one.
fn repeat(text: &str, times: f64) -> ValueResult {
    if times.is_nan() || times <= 0.0 {
        return Ok(Value::Null);
    }
    // The cast saturates.
    let times = times.max(1.0) as usize;
    if !fuel::charge(fuel::of_bytes(text.len().saturating_mul(times))) {
        return Err(spent());
    }
    Ok(Value::from(text.repeat(times)))
}

/// Merges an object into another, recursively.
fn merge(one: Value, other: Value) -> ValueResult {
    let mut merged = object(&one);
    drop(one);
    let all = Object::make_mut(&mut merged);
    for (key, new) in other.into_fields()? {
        if !fuel::step(1) {
            return Err(spent());
        }
        let new = match all.take(key.as_str()) {
            Some(old) if old.kind() == "object" && new.kind() == "object" => merge(old, new)?,
            _ => new,
        };
        all.put(key, Some(new));
    }
    Ok(Value::Object(merged))
}

impl Div for Value {
    type Output = ValueResult;

    fn div(self, other: Value) -> ValueResult {
        match (&self, &other) {
            (Value::Number(_), Value::Number(divisor)) if divisor.as_f64() == 0.0 => {
                Err(fail(format_args!("{self} cannot be divided by zero")))
            }
            (Value::Number(one), Value::Number(other)) => Ok(Value::from(one.as_f64() / other.as_f64())),
            (Value::Text(text), Value::Text(separator)) => Ok(split(text, separator.as_str())),
            _ => Err(cannot(&self, "divided", &other)),
        }
    }
}

fn split(text: &Text, separator: &str) -> Value {
    let whole = text.as_str();
    let part = |start: usize, length: usize| Value::Text(text.slice(start, start + length));
    if whole.is_empty() {
        return Array::value(Vec::new());
    }
    let mut parts = Vec::new();
    let mut start = 0;
    let lengths: Box<dyn Iterator<Item = usize>> = if separator.is_empty() {
        Box::new(whole.chars().map(char::len_utf8))
    } else {
        Box::new(whole.split(separator).map(str::len))
    };
    for length in lengths {
        if !fuel::charge(1 + length as u64 / 16) {
            break;
        }
        parts.push(part(start, length));
        start += length + separator.len();
    }
    Array::value(parts)
}

impl Rem for Value {
    type Output = ValueResult;

    fn rem(self, other: Value) -> ValueResult {
        let (Value::Number(one), Value::Number(divisor)) = (&self, &other) else {
            return Err(cannot(&self, "divided", &other));
        };
        if one.as_f64().is_nan() || divisor.as_f64().is_nan() {
            return Ok(Value::from(f64::NAN));
        }
        // As in jq, the fraction is cut off. The casts saturate.
        let whole = |number: &Number| number.as_int().unwrap_or_else(|| number.as_f64() as i64);
        match whole(divisor) {
            0 => Err(fail(format_args!("{self} cannot be divided by zero"))),
            divisor => Ok(Value::from(whole(one).checked_rem(divisor.saturating_abs()).unwrap_or(0))),
        }
    }
}

impl Neg for Value {
    type Output = ValueResult;

    fn neg(self) -> ValueResult {
        match self {
            Value::Number(Number::Int(int)) => {
                Ok(int.checked_neg().map_or_else(|| Value::from(-(int as f64)), Value::from))
            }
            Value::Number(number) => Ok(Value::from(-number.as_f64())),
            other => Err(fail(format_args!("{} ({other}) cannot be negated", other.kind()))),
        }
    }
}
