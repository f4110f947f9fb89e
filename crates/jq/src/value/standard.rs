//! The interface that jaq's standard library needs from values. Reading and making a string is charged here, so the
//! library's functions need no charge of their own: each passes over its input once, and its output is at most a few
//! times as long.

use super::Value;
use super::number::Number;
use crate::fuel;

impl jaq_std::ValT for Value {
    fn into_seq<S: FromIterator<Value>>(self) -> Result<S, Value> {
        if !self.is_array() {
            return Err(self);
        }
        Ok(self.into_items().unwrap_or_default().into_iter().collect())
    }

    fn is_int(&self) -> bool {
        self.as_isize().is_some()
    }

    fn as_isize(&self) -> Option<isize> {
        self.number().ok().and_then(Number::as_int).and_then(|int| isize::try_from(int).ok())
    }

    fn as_f64(&self) -> Option<f64> {
        self.number().ok().map(Number::as_f64)
    }

    fn is_utf8_str(&self) -> bool {
        self.as_text().is_some()
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        let text = self.as_text()?;
        fuel::charge(fuel::of_bytes(text.len()));
        Some(text.as_bytes())
    }

    fn as_sub_str(&self, sub: &[u8]) -> Value {
        let Value::Text(text) = self else { return Value::Null };
        let start = (sub.as_ptr() as usize).saturating_sub(text.as_str().as_ptr() as usize);
        Value::Text(text.slice(start, start + sub.len()))
    }

    fn from_utf8_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Value {
        let bytes = bytes.as_ref();
        fuel::charge(fuel::of_bytes(bytes.len()));
        Value::from(String::from_utf8_lossy(bytes).into_owned())
    }
}
