//! Compares two values. The caller charges in advance; the smaller of the two values bounds the cost.

use super::{Array, Object, Value};
use crate::fuel;
use std::cmp::Ordering;
use std::rc::Rc;

/// The order for sorting, not charged: null, booleans, numbers, strings, arrays, objects.
pub fn order(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Number(one), Value::Number(other)) => one.order(other),
        (Value::Text(one), Value::Text(other)) => one.as_str().cmp(other.as_str()),
        _ => match (rank(one), rank(other)) {
            (Rank::Array, Rank::Array) => order_arrays(&array(one), &array(other)),
            (Rank::Object, Rank::Object) => order_objects(&object(one), &object(other)),
            (one, other) => one.cmp(&other),
        },
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Null,
    Bool,
    Number,
    Text,
    Array,
    Object,
}

fn rank(value: &Value) -> Rank {
    match value {
        Value::Null => Rank::Null,
        Value::Bool(_) => Rank::Bool,
        Value::Number(_) => Rank::Number,
        Value::Text(_) => Rank::Text,
        Value::Array(_) => Rank::Array,
        Value::Object(_) => Rank::Object,
        Value::Node(node) if node.is_object() => Rank::Object,
        Value::Node(_) => Rank::Array,
    }
}

/// The value as an array, converted from the input's text if necessary.
pub fn array(value: &Value) -> Rc<Array> {
    let made = match value {
        Value::Array(array) => return Rc::clone(array),
        other => Array::value(other.clone().into_items().unwrap_or_default()),
    };
    match made {
        Value::Array(array) => array,
        // The value is too deep, so the run was stopped and its output does not count.
        _ => array(&Array::value(Vec::new())),
    }
}

/// The value as an object, converted from the input's text if necessary.
pub fn object(value: &Value) -> Rc<Object> {
    let made = match value {
        Value::Object(object) => return Rc::clone(object),
        other => Object::value(other.clone().into_fields().unwrap_or_default()),
    };
    match made {
        Value::Object(object) => object,
        _ => object(&Object::value(Default::default())),
    }
}

fn order_arrays(one: &Array, other: &Array) -> Ordering {
    let pairs = one.items().iter().zip(other.items());
    first_difference(pairs).then_with(|| one.items().len().cmp(&other.items().len()))
}

fn first_difference<'a>(mut pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Ordering {
    pairs.find_map(|(one, other)| Some(order(one, other)).filter(|order| order.is_ne())).unwrap_or(Ordering::Equal)
}

/// Compares the sorted keys, then the values in that order.
fn order_objects(one: &Object, other: &Object) -> Ordering {
    let sorted = |object: &Object| {
        let mut keys: Vec<String> = object.fields().keys().map(|key| key.as_str().to_owned()).collect();
        keys.sort();
        keys
    };
    let keys = sorted(one);
    keys.cmp(&sorted(other)).then_with(|| {
        let pairs =
            keys.iter().filter_map(|key| Some((one.fields().get(key.as_str())?, other.fields().get(key.as_str())?)));
        first_difference(pairs)
    })
}

/// Whether there is enough fuel to compare the two.
fn can_compare(one: &Value, other: &Value) -> bool {
    fuel::charge(one.weight().min(other.weight()).saturating_mul(2))
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        can_compare(self, other) && !is_nan(self) && order(self, other).is_eq()
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        if !can_compare(self, other) {
            return Ordering::Equal;
        }
        // As in jq, NaN is less than any number, including itself.
        if is_nan(self) && is_nan(other) { Ordering::Less } else { order(self, other) }
    }
}

fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Number(number) if number.as_f64().is_nan())
}
