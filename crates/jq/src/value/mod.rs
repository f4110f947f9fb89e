//! The values that filters work on.
//!
//! Each array and object stores its depth and its size; shared parts count as often as they occur. So the cost of
//! printing, comparing or copying a value is known in advance and charged at once, and no value becomes too deep for
//! recursion.

mod arithmetic;
mod collection;
pub mod document;

pub mod number;
mod order;
mod path;
mod standard;
pub mod text;

pub use collection::{Array, Fields, Object};
use document::Node;
use number::Number;
pub use order::{array, object, order};
use std::rc::Rc;
use text::Text;

/// jq's own errors.
pub type Error = jaq_core::Error<Value>;
/// A value, or an error that a filter may catch.
pub type ValueResult = Result<Value, Error>;

/// A JSON value.
#[derive(Clone, Default)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    Text(Text),
    Array(Rc<Array>),
    Object(Rc<Object>),
    /// An array or object of the input, still as text.
    Node(Node),
}

/// The size of a value.
#[derive(Clone, Copy)]
pub struct Measure {
    /// The cost of processing all of it.
    pub weight: u64,
    /// How deep arrays and objects are nested.
    pub depth: u32,
}

impl Measure {
    /// The measure of a number or another scalar.
    pub const SCALAR: Measure = Measure { weight: 1, depth: 0 };
}

impl Value {
    pub fn measure(&self) -> Measure {
        match self {
            Value::Null | Value::Bool(_) | Value::Number(_) => Measure::SCALAR,
            Value::Text(text) => Measure { weight: crate::fuel::of_bytes(text.as_str().len()), depth: 0 },
            Value::Array(array) => array.measure(),
            Value::Object(object) => object.measure(),
            Value::Node(node) => node.measure(),
        }
    }

    /// The cost of processing all of it.
    pub fn weight(&self) -> u64 {
        self.measure().weight
    }

    /// The name of its type.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::Text(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            Value::Node(node) if node.is_object() => "object",
            Value::Node(_) => "array",
        }
    }

    /// Whether it is neither null nor false.
    pub fn is_true(&self) -> bool {
        !matches!(self, Value::Null | Value::Bool(false))
    }

    pub fn is_array(&self) -> bool {
        self.kind() == "array"
    }

    /// Its text, if it is a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Its text.
    ///
    /// # Errors
    /// The value is not a string.
    pub fn text(&self) -> Result<&str, Error> {
        self.as_text().ok_or_else(|| self.type_error("a string"))
    }

    /// Its number.
    ///
    /// # Errors
    /// The value is not a number.
    pub fn number(&self) -> Result<&Number, Error> {
        match self {
            Value::Number(number) => Ok(number),
            _ => Err(self.type_error("a number")),
        }
    }

    /// Its elements.
    ///
    /// # Errors
    /// The value is not an array.
    pub fn into_items(self) -> Result<Vec<Value>, Error> {
        match self {
            Value::Array(array) => Ok(Array::into_items(array)),
            Value::Node(node) if !node.is_object() => {
                crate::fuel::charge(node.count() as u64);
                Ok(node.values().collect())
            }
            other => Err(other.type_error("an array")),
        }
    }

    /// Its fields, without repetitions.
    ///
    /// # Errors
    /// The value is not an object.
    pub fn into_fields(self) -> Result<Fields, Error> {
        match self {
            Value::Object(object) => Ok(Object::into_fields(object)),
            Value::Node(node) if node.is_object() => Ok(collection::fields_of(&node)),
            other => Err(other.type_error("an object")),
        }
    }

    /// The error that this value is not `wanted`.
    pub fn type_error(&self, wanted: &str) -> Error {
        fail(format_args!("{} ({}) is not {wanted}", self.kind(), crate::json::excerpt(self)))
    }
}

/// An error with this message.
pub fn fail(message: impl std::fmt::Display) -> Error {
    Error::new(Value::from(message.to_string()))
}

/// The error of a stopped run. It may be caught, but the run does not continue.
pub fn spent() -> Error {
    Error::new(Value::Null)
}

impl std::fmt::Display for Value {
    /// Shortened, for messages.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&crate::json::excerpt(self))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(int: i64) -> Value {
        Value::Number(Number::Int(int))
    }
}

impl From<isize> for Value {
    fn from(int: isize) -> Value {
        Value::from(int as i64)
    }
}

impl From<usize> for Value {
    fn from(int: usize) -> Value {
        Value::from(i64::try_from(int).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    fn from(float: f64) -> Value {
        Value::Number(Number::from(float))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(Text::from(text))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(Text::from(text))
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Value {
        Array::value(values.into_iter().collect())
    }
}
