//! jq's paths on values: `.[]`, `.[key]`, `.[from:to]`, and updates through them.

use super::number::Number;
use super::text::Text;
use super::{Array, Error, Fields, Object, Value, ValueResult, array, fail, object, spent};
use crate::fuel;
use jaq_core::path::Opt;
use jaq_core::val::Range;
use jaq_core::{Exn, ValT, ValX};

/// An iterator over the contents of an array or object. Each step is charged; it ends when the run is stopped.
fn charge_each<T: 'static>(items: impl Iterator<Item = T> + 'static) -> Box<dyn Iterator<Item = Result<T, Error>>> {
    if !fuel::step(1) {
        return Box::new(std::iter::once(Err(spent())));
    }
    Box::new(items.map_while(|item| fuel::charge(1).then_some(Ok(item))))
}

fn nothing_to_iterate(value: &Value) -> Error {
    fail(format_args!("cannot iterate over {} ({value})", value.kind()))
}

fn cannot_index(value: &Value, index: &Value) -> Error {
    match index {
        Value::Text(name) => fail(format_args!("cannot index {} with \"{}\"", value.kind(), name.as_str())),
        _ => fail(format_args!("cannot index {} with {} ({index})", value.kind(), index.kind())),
    }
}

/// The position of an index; a negative one counts from the end.
fn position(index: i64, length: usize) -> Option<usize> {
    let from_end = usize::try_from(index.unsigned_abs()).ok()?;
    if index < 0 { length.checked_sub(from_end) } else { Some(from_end) }
}

/// The bounds of a slice: the first rounded down, the second rounded up.
fn bounds(range: &Range<&Value>, length: usize) -> Result<(usize, usize), Error> {
    let bound = |at: Option<&Value>, round: fn(f64) -> f64, default: usize| match at {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Number(Number::Int(int))) => Ok(position(*int, length).unwrap_or(0).min(length)),
        // The cast saturates.
        Some(Value::Number(number)) => Ok(position(round(number.as_f64()) as i64, length).unwrap_or(0).min(length)),
        Some(_) => Err(fail("the bounds of a slice must be numbers")),
    };
    let start = bound(range.start, f64::floor, 0)?;
    Ok((start, bound(range.end, f64::ceil, length)?.max(start)))
}

/// The byte range of a slice of characters.
fn text_bounds(text: &str, range: &Range<&Value>) -> Result<(usize, usize), Error> {
    fuel::charge(fuel::of_bytes(text.len()));
    let (start, end) = bounds(range, text.chars().count())?;
    let byte = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
    Ok((byte(start), byte(end)))
}

/// The slice denoted by an object `{"start":…,"end":…}` as an index.
fn slice_of(index: &Value) -> Option<(Option<Value>, Option<Value>)> {
    match index {
        Value::Object(slice) => Some((slice.fields().get("start").cloned(), slice.fields().get("end").cloned())),
        Value::Node(node) if node.is_object() => Some((node.field("start"), node.field("end"))),
        _ => None,
    }
}

impl ValT for Value {
    fn from_num(text: &str) -> ValueResult {
        Ok(Value::Number(Number::literal(text)))
    }

    fn from_map<I: IntoIterator<Item = (Value, Value)>>(pairs: I) -> ValueResult {
        let mut fields = Fields::default();
        for (key, value) in pairs {
            match key {
                Value::Text(key) => fields.insert(key, value),
                other => return Err(fail(format_args!("an object's key cannot be {} ({other})", other.kind()))),
            };
        }
        Ok(Object::value(fields))
    }

    fn key_values(self) -> Box<dyn Iterator<Item = Result<(Value, Value), Error>>> {
        match self.kind() {
            "array" => {
                let items = self.into_items().unwrap_or_default().into_iter();
                charge_each(items.enumerate().map(|(index, item)| (Value::from(index), item)))
            }
            "object" => {
                let fields = self.into_fields().unwrap_or_default().into_iter();
                charge_each(fields.map(|(key, value)| (Value::Text(key), value)))
            }
            _ => Box::new(std::iter::once(Err(nothing_to_iterate(&self)))),
        }
    }

    fn values(self) -> Box<dyn Iterator<Item = ValueResult>> {
        match self.kind() {
            "array" => charge_each(self.into_items().unwrap_or_default().into_iter()),
            "object" => charge_each(self.into_fields().unwrap_or_default().into_values()),
            _ => Box::new(std::iter::once(Err(nothing_to_iterate(&self)))),
        }
    }

    fn index(self, index: &Value) -> ValueResult {
        if !fuel::step(1) {
            return Err(spent());
        }
        if let Some((start, end)) = slice_of(index)
            && self.kind() != "object"
        {
            return self.range(start.as_ref()..end.as_ref());
        }
        let found = match (&self, index) {
            (Value::Null, Value::Null | Value::Text(_) | Value::Number(_)) => None,
            (Value::Node(node), Value::Text(name)) if node.is_object() => node.field(name.as_str()),
            (Value::Object(object), Value::Text(name)) => object.fields().get(name).cloned(),
            (Value::Array(array), Value::Number(number)) => {
                let at = number.as_index().and_then(|index| position(index, array.items().len()));
                at.and_then(|at| array.items().get(at)).cloned()
            }
            (Value::Node(node), Value::Number(number)) if !node.is_object() => match number.as_index() {
                Some(index @ ..0) => position(index, node.count()).and_then(|at| node.item(at)),
                Some(index) => usize::try_from(index).ok().and_then(|at| node.item(at)),
                None => None,
            },
            (_, part) if self.is_array() && part.is_array() => return crate::natives::indices(&self, part),
            _ => return Err(cannot_index(&self, index)),
        };
        Ok(found.unwrap_or_default())
    }

    fn range(self, range: Range<&Value>) -> ValueResult {
        match &self {
            Value::Null => Ok(Value::Null),
            Value::Text(text) => {
                let (start, end) = text_bounds(text.as_str(), &range)?;
                Ok(Value::Text(text.slice(start, end)))
            }
            _ if self.is_array() => {
                let items = array(&self);
                let (start, end) = bounds(&range, items.items().len())?;
                if !fuel::charge((end - start) as u64) {
                    return Err(spent());
                }
                Ok(Array::value(items.items().get(start..end).unwrap_or_default().to_vec()))
            }
            _ => Err(fail(format_args!("cannot slice {} ({self})", self.kind()))),
        }
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Value>>>(
        self,
        optional: Opt,
        change: impl Fn(Value) -> I,
    ) -> ValX<'a, Value> {
        if !fuel::step(1) {
            return Err(Exn::halt(1));
        }
        let pay = |new: ValX<'a, Value>| if fuel::charge(1) { new } else { Err(Exn::halt(1)) };
        match self.kind() {
            "array" => {
                let items = self.into_items().unwrap_or_default();
                Ok(Array::value(items.into_iter().flat_map(change).map(pay).collect::<Result<_, _>>()?))
            }
            "object" => {
                let fields = self.into_fields().unwrap_or_default().into_iter();
                let changed = fields.filter_map(|(key, value)| Some(pay(change(value).next()?).map(|new| (key, new))));
                Ok(Object::value(changed.collect::<Result<_, _>>()?))
            }
            _ => optional.fail(self, |value| Exn::from(nothing_to_iterate(&value))),
        }
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Value>>>(
        self,
        index: &Value,
        optional: Opt,
        change: impl Fn(Value) -> I,
    ) -> ValX<'a, Value> {
        if !fuel::step(1) {
            return Err(Exn::halt(1));
        }
        if let Some((start, end)) = slice_of(index)
            && self.kind() != "object"
        {
            return self.map_range(start.as_ref()..end.as_ref(), optional, change);
        }
        match (self.kind(), index) {
            ("object" | "null", Value::Text(name)) => change_field(self, name, change),
            ("array" | "null", Value::Number(number)) => {
                change_item(self, number.as_index().unwrap_or(0), optional, change)
            }
            _ => optional.fail(self, |value| Exn::from(cannot_index(&value, index))),
        }
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Value>>>(
        self,
        range: Range<&Value>,
        optional: Opt,
        change: impl Fn(Value) -> I,
    ) -> ValX<'a, Value> {
        let length = match self.kind() {
            "array" => array(&self).items().len(),
            "null" => 0,
            _ => return optional.fail(self, |value| Exn::from(fail(format_args!("cannot change a slice of {value}")))),
        };
        let (start, end) = match bounds(&range, length) {
            Ok(bounds) => bounds,
            Err(error) => return optional.fail(self, |_| Exn::from(error)),
        };
        let mut items = if length == 0 { Vec::new() } else { self.into_items()? };
        let slice = Array::value(items.get(start..end).unwrap_or_default().to_vec());
        let new = change(slice).next().transpose()?.map_or_else(|| Ok(Vec::new()), Value::into_items)?;
        if !fuel::charge((items.len() + new.len()) as u64) {
            return Err(Exn::halt(1));
        }
        items.splice(start..end, new);
        Ok(Array::value(items))
    }

    fn as_bool(&self) -> bool {
        self.is_true()
    }

    fn into_string(self) -> Value {
        match self {
            Value::Text(_) => self,
            other => crate::json::to_text(&other),
        }
    }
}

fn change_field<'a, I: Iterator<Item = ValX<'a, Value>>>(
    value: Value,
    name: &Text,
    change: impl Fn(Value) -> I,
) -> ValX<'a, Value> {
    let mut shared = match value {
        Value::Null => object(&Object::value(Fields::default())),
        value => object(&value),
    };
    let fields = Object::make_mut(&mut shared);
    match fields.take(name.as_str()) {
        Some(old) => fields.put(name.clone(), change(old).next().transpose()?),
        None => {
            if let Some(new) = change(Value::Null).next().transpose()? {
                fields.put(name.clone(), Some(new));
            }
        }
    }
    Ok(Value::Object(shared))
}

fn change_item<'a, I: Iterator<Item = ValX<'a, Value>>>(
    value: Value,
    index: i64,
    optional: Opt,
    change: impl Fn(Value) -> I,
) -> ValX<'a, Value> {
    let mut shared = match &value {
        Value::Null => array(&Array::value(Vec::new())),
        value => array(value),
    };
    let length = shared.items().len();
    let Some(at) = position(index, length) else {
        return optional
            .fail(value, |_| Exn::from(fail(format_args!("index {index} is before the array's beginning"))));
    };
    drop(value);
    let items = Array::make_mut(&mut shared);
    if at >= length {
        let Some(new) = change(Value::Null).next().transpose()? else {
            return Ok(Value::Array(shared));
        };
        // The missing elements in between become null, and are charged first.
        if !fuel::charge((at - length) as u64) {
            return Err(Exn::halt(1));
        }
        items.extend(vec![Value::Null; at - length]);
        items.extend(vec![new]);
        return Ok(Value::Array(shared));
    }
    let old = items.take(at);
    items.put(at, change(old).next().transpose()?);
    Ok(Value::Array(shared))
}

impl From<Range<Value>> for Value {
    /// A slice as a component of a path.
    fn from(range: Range<Value>) -> Value {
        let bound = |name: &str, at: Option<Value>| (Text::from(name), at.unwrap_or_default());
        Object::value([bound("start", range.start), bound("end", range.end)].into_iter().collect())
    }
}
