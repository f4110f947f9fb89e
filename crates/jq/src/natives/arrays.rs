//! Arrays and objects.

use super::{charge, function};
use crate::compile::Data;
use crate::fuel;
use crate::json::{ReadError, read, to_text};
use crate::value::document::whole;
use crate::value::number::Number;
use crate::value::text::Text;
use crate::value::{Array, Error, Value, ValueResult, array, fail, object, order};
use jaq_core::native::Fun;
use std::cmp::Ordering;

pub fn functions() -> Vec<Fun<Data>> {
    vec![
        function!("length", 0, length),
        function!("has", 1, has),
        function!("contains", 1, |value: Value, part: Value| Ok(Value::Bool(contains(&value, &part)))),
        function!("sort", 0, |value: Value| Ok(Array::value(sorted(value.into_items()?, order)?))),
        // These two take pairs of a sort key and an element.
        function!("__sort_pairs", 0, |value: Value| {
            Ok(sorted(value.into_items()?, by_key)?.into_iter().map(element).collect())
        }),
        function!("__group_pairs", 0, group),
        function!("flatten", 1, flatten),
        function!("indices", 1, |value: Value, part: Value| {
            if matches!(value, Value::Null) { Ok(Value::Null) } else { indices(&value, &part) }
        }),
        function!("bsearch", 1, search),
        function!("delpaths", 1, delete_paths),
        function!("tojson", 0, |value: Value| Ok(to_text(&value))),
        function!("fromjson", 0, from_json),
    ]
}

fn length(value: Value) -> ValueResult {
    match &value {
        Value::Null => Ok(Value::from(0_i64)),
        Value::Bool(_) => Err(fail(format_args!("boolean ({value}) has no length"))),
        Value::Number(Number::Int(int)) if *int >= 0 => Ok(value),
        Value::Number(number) => Ok(Value::from(number.as_f64().abs())),
        Value::Text(text) => {
            charge(value.weight())?;
            Ok(Value::from(text.as_str().chars().count()))
        }
        Value::Array(array) => Ok(Value::from(array.items().len())),
        Value::Object(object) => Ok(Value::from(object.fields().len())),
        Value::Node(node) if node.is_object() => Ok(Value::from(object(&value).fields().len())),
        Value::Node(node) => Ok(Value::from(node.count())),
    }
}

fn has(value: Value, key: Value) -> ValueResult {
    let found = match (value.kind(), &key) {
        ("object", Value::Text(name)) => object(&value).fields().contains_key(name),
        ("array", Value::Number(number)) => {
            number.as_index().is_some_and(|index| (0..array(&value).items().len() as i64).contains(&index))
        }
        (kind, _) => return Err(fail(format_args!("cannot check whether {kind} has {} ({key})", key.kind()))),
    };
    Ok(Value::Bool(found))
}

fn contains(value: &Value, part: &Value) -> bool {
    if !fuel::step(1) {
        return false;
    }
    match (value, part) {
        (Value::Text(text), Value::Text(part)) => {
            fuel::charge(fuel::of_bytes(text.as_str().len())) && text.as_str().contains(part.as_str())
        }
        _ if value.is_array() && part.is_array() => {
            let items = array(value);
            array(part).items().iter().all(|part| items.items().iter().any(|item| contains(item, part)))
        }
        _ if value.kind() == "object" && part.kind() == "object" => {
            let fields = object(value);
            let mut parts = object(part).fields().clone().into_iter();
            parts.all(|(key, part)| fields.fields().get(&key).is_some_and(|field| contains(field, &part)))
        }
        _ => value == part,
    }
}

/// Sorts, after charging for each element's part in it.
fn sorted(mut items: Vec<Value>, by: fn(&Value, &Value) -> Ordering) -> Result<Vec<Value>, Error> {
    let rounds = u64::from(items.len().max(2).ilog2()) + 1;
    let weight = items.iter().fold(0, |sum: u64, item| sum.saturating_add(item.weight()));
    charge(weight.saturating_mul(rounds) / 8)?;
    items.sort_by(by);
    Ok(items)
}

/// The sort key and the element of a pair.
fn halves(pair: &Value) -> (Value, Value) {
    let pair = array(pair);
    let half = |index: usize| pair.items().get(index).cloned().unwrap_or_default();
    (half(0), half(1))
}

fn by_key(one: &Value, other: &Value) -> Ordering {
    order(&halves(one).0, &halves(other).0)
}

fn element(pair: Value) -> Value {
    halves(&pair).1
}

fn group(value: Value) -> ValueResult {
    let pairs = sorted(value.into_items()?, by_key)?;
    let groups = pairs.chunk_by(|one, other| by_key(one, other).is_eq());
    Ok(groups.map(|group| group.iter().cloned().map(element).collect()).collect())
}

fn flatten(value: Value, depth: Value) -> ValueResult {
    let depth = depth.number()?.as_f64();
    if depth < 0.0 {
        return Err(fail("flatten's depth must not be negative"));
    }
    let mut flat = Vec::new();
    let items =
        if value.kind() == "object" { value.into_fields()?.into_values().collect() } else { value.into_items()? };
    flatten_into(items, depth, &mut flat)?;
    Ok(Array::value(flat))
}

fn flatten_into(items: Vec<Value>, depth: f64, flat: &mut Vec<Value>) -> Result<(), Error> {
    for item in items {
        super::charged(|| Ok(Value::Null))?;
        if item.is_array() && depth > 0.0 {
            flatten_into(item.into_items()?, depth - 1.0, flat)?;
        } else {
            flat.push(item);
        }
    }
    Ok(())
}

/// The positions of `part`: in a string, counted in characters; in an array, as a subsequence or an element.
pub fn indices(value: &Value, part: &Value) -> ValueResult {
    if let (Value::Text(text), Value::Text(part)) = (value, part) {
        return indices_in_text(text.as_str(), part.as_str());
    }
    if !value.is_array() {
        return Err(fail(format_args!("cannot look for {part} in {} ({value})", value.kind())));
    }
    let all = array(value);
    let wanted = if part.is_array() { array(part) } else { array(&Array::value(vec![part.clone()])) };
    let wanted = wanted.items();
    if wanted.is_empty() {
        return Ok(Value::Null);
    }
    charge(value.weight().saturating_add(part.weight().saturating_mul(all.items().len() as u64)))?;
    let is_there = |window: &[Value]| window.iter().zip(wanted).all(|(one, other)| order(one, other).is_eq());
    let found = all.items().windows(wanted.len()).enumerate().filter(|(_, window)| is_there(window));
    Ok(found.map(|(index, _)| Value::from(index)).collect())
}

fn indices_in_text(text: &str, part: &str) -> ValueResult {
    let Some(first) = part.chars().next() else {
        return Ok(Value::Null);
    };
    charge(fuel::of_bytes(text.len()))?;
    let (mut found, mut at, mut characters) = (Vec::new(), 0, 0);
    while let Some(offset) = text.get(at..).and_then(|rest| rest.find(part)) {
        charge(1 + part.len() as u64 / 16)?;
        characters += text.get(at..at + offset).unwrap_or_default().chars().count();
        found.push(Value::from(characters));
        at += offset + first.len_utf8();
        characters += 1;
    }
    Ok(Array::value(found))
}

fn search(value: Value, wanted: Value) -> ValueResult {
    let items = array(&value);
    if !value.is_array() {
        return Err(value.type_error("an array"));
    }
    charge(wanted.weight().saturating_mul(u64::from(items.items().len().max(2).ilog2()) + 1))?;
    let found = items.items().binary_search_by(|item| order(item, &wanted));
    Ok(Value::from(found.map_or_else(|place| -1 - place as i64, |place| place as i64)))
}

/// Deletes from the last path to the first, so no deletion moves the target of another path.
fn delete_paths(value: Value, paths: Value) -> ValueResult {
    let mut paths = sorted(paths.into_items()?, order)?;
    paths.dedup_by(|one, other| order(one, other).is_eq());
    paths.into_iter().rev().try_fold(value, |value, path| delete_path(value, &path.into_items()?))
}

fn delete_path(value: Value, path: &[Value]) -> ValueResult {
    super::charged(|| Ok(Value::Null))?;
    let Some((first, rest)) = path.split_first() else {
        return Ok(Value::Null);
    };
    if matches!(value, Value::Null) {
        return Ok(value);
    }
    let change = |inner: Value| {
        let changed = if rest.is_empty() { None } else { Some(delete_path(inner, rest).map_err(jaq_core::Exn::from)) };
        changed.into_iter()
    };
    if !is_there(&value, first) {
        return Ok(value);
    }
    let changed = jaq_core::ValT::map_index(value, first, jaq_core::path::Opt::Essential, change);
    changed.map_err(|exception| exception.get_err().unwrap_or_else(|_| crate::value::spent()))
}

/// False if a path leads to a missing place: deleting that changes nothing.
fn is_there(value: &Value, key: &Value) -> bool {
    match key {
        Value::Number(number) if value.is_array() => {
            let length = array(value).items().len() as i64;
            number.as_index().is_some_and(|index| (-length..length).contains(&index))
        }
        Value::Text(name) if value.kind() == "object" => object(value).fields().contains_key::<Text>(name),
        _ => true,
    }
}

fn from_json(value: Value) -> ValueResult {
    let text = value.text()?;
    charge(text.len() as u64 / 4)?;
    match read(text.as_bytes(), fuel::max_depth()) {
        Ok(document) => Ok(whole(document)),
        Err(ReadError::NotJson(why)) => Err(fail(format_args!("{value} is not JSON: {why}"))),
        Err(_) => Err(fail("the JSON is too large or nested too deeply")),
    }
}
