//! Arrays and objects that were created or changed.

use super::document::Node;
use super::text::Text;
use super::{Measure, Value};
use crate::fuel;
use indexmap::IndexMap;
use std::rc::Rc;

/// The fields of an object, in the order of their creation.
pub type Fields = IndexMap<Text, Value>;

/// An array.
#[derive(Clone)]
pub struct Array {
    items: Vec<Value>,
    measure: Measure,
}

/// An object.
#[derive(Clone)]
pub struct Object {
    fields: Fields,
    measure: Measure,
}

impl Measure {
    /// The measure of an empty array or object.
    const EMPTY: Measure = Measure { weight: 1, depth: 1 };

    /// Adds the measure of a new element.
    fn add(&mut self, inner: Measure) {
        self.weight = self.weight.saturating_add(inner.weight);
        self.depth = self.depth.max(inner.depth + 1);
    }

    /// Replaces the measure of one element with that of another. The depth does not decrease.
    fn replace(&mut self, old: Measure, new: Measure) {
        self.weight = self.weight.saturating_sub(old.weight);
        self.add(new);
    }
}

fn key_measure(key: &Text) -> Measure {
    Measure { weight: fuel::of_bytes(key.as_str().len()), depth: 0 }
}

impl Array {
    /// The array of these values. If it is too deep, the run is stopped.
    pub fn value(items: Vec<Value>) -> Value {
        let mut measure = Measure::EMPTY;
        items.iter().for_each(|item| measure.add(item.measure()));
        fuel::charge(items.len() as u64 / 4);
        if !fuel::check_depth(measure.depth) {
            return Value::Null;
        }
        Value::Array(Rc::new(Array { items, measure }))
    }

    pub fn measure(&self) -> Measure {
        self.measure
    }

    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// The elements, which are copied only if they are shared.
    pub fn into_items(array: Rc<Array>) -> Vec<Value> {
        Rc::try_unwrap(array).unwrap_or_else(|shared| shared.copy()).items
    }

    fn copy(&self) -> Array {
        fuel::charge(self.items.len() as u64);
        self.clone()
    }

    /// The array, for changes. A shared one is copied first, and the copy is charged for.
    pub fn make_mut(array: &mut Rc<Array>) -> &mut Array {
        if Rc::get_mut(array).is_none() {
            *array = Rc::new(array.copy());
        }
        Rc::make_mut(array)
    }

    /// Takes an element out. Null takes its place until [`Array::put`] fills it.
    pub fn take(&mut self, index: usize) -> Value {
        let taken = self.items.get_mut(index).map(std::mem::take).unwrap_or_default();
        self.measure.replace(taken.measure(), Measure::SCALAR);
        taken
    }

    /// Puts an element in an existing place; `None` removes the place.
    pub fn put(&mut self, index: usize, new: Option<Value>) {
        match (self.items.get_mut(index), new) {
            (Some(place), Some(new)) => {
                self.measure.replace(place.measure(), new.measure());
                fuel::check_depth(self.measure.depth);
                *place = new;
            }
            (Some(_), None) => {
                fuel::charge((self.items.len() - index) as u64 / 16);
                let removed = self.items.remove(index);
                self.measure.weight = self.measure.weight.saturating_sub(removed.weight());
            }
            (None, _) => {}
        }
    }

    /// Appends values.
    pub fn extend(&mut self, more: Vec<Value>) {
        fuel::charge(more.len() as u64);
        more.iter().for_each(|item| self.measure.add(item.measure()));
        fuel::check_depth(self.measure.depth);
        self.items.extend(more);
    }
}

impl Object {
    /// The object of these fields. If it is too deep, the run is stopped.
    pub fn value(fields: Fields) -> Value {
        let mut measure = Measure::EMPTY;
        for (key, value) in &fields {
            measure.add(key_measure(key));
            measure.add(value.measure());
        }
        fuel::charge(fields.len() as u64 / 2);
        if !fuel::check_depth(measure.depth) {
            return Value::Null;
        }
        Value::Object(Rc::new(Object { fields, measure }))
    }

    pub fn measure(&self) -> Measure {
        self.measure
    }

    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// The fields, which are copied only if they are shared.
    pub fn into_fields(object: Rc<Object>) -> Fields {
        Rc::try_unwrap(object).unwrap_or_else(|shared| shared.copy()).fields
    }

    fn copy(&self) -> Object {
        fuel::charge(2 * self.fields.len() as u64);
        self.clone()
    }

    /// The object, for changes. A shared one is copied first, and the copy is charged for.
    pub fn make_mut(object: &mut Rc<Object>) -> &mut Object {
        if Rc::get_mut(object).is_none() {
            *object = Rc::new(object.copy());
        }
        Rc::make_mut(object)
    }

    /// Takes a field's value out. The field is null until [`Object::put`] sets it.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        let taken = self.fields.get_mut(key).map(std::mem::take)?;
        self.measure.replace(taken.measure(), Measure::SCALAR);
        Some(taken)
    }

    /// Sets a field; `None` removes it. The others keep their order.
    pub fn put(&mut self, key: Text, new: Option<Value>) {
        let Some(new) = new else {
            fuel::charge(self.fields.len() as u64 / 4);
            if let Some(removed) = self.fields.shift_remove(key.as_str()) {
                let weight = removed.weight().saturating_add(key_measure(&key).weight);
                self.measure.weight = self.measure.weight.saturating_sub(weight);
            }
            return;
        };
        fuel::charge(1);
        let (inner, key_inner) = (new.measure(), key_measure(&key));
        match self.fields.insert(key, new) {
            Some(old) => self.measure.replace(old.measure(), inner),
            None => {
                self.measure.add(key_inner);
                self.measure.add(inner);
            }
        }
        fuel::check_depth(self.measure.depth);
    }
}

/// The fields of an object in the input. A repeated field has its first position and its last value.
pub fn fields_of(node: &Node) -> Fields {
    let count = node.count() / 2;
    fuel::charge(2 * count as u64);
    let mut fields = Fields::with_capacity_and_hasher(count, Default::default());
    let mut values = node.values();
    while let (Some(Value::Text(key)), Some(value)) = (values.next(), values.next()) {
        fields.insert(key, value);
    }
    fields
}
