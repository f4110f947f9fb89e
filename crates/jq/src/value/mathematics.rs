//! What jaq's mathematics asks of values.

use super::Value;
use super::number::Number;

impl jaq_std::ValT for Value {
    fn into_seq<S: FromIterator<Value>>(self) -> Result<S, Value> {
        match self.clone().into_items() {
            Ok(items) => Ok(items.into_iter().collect()),
            Err(_) => Err(self),
        }
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
        self.as_text().map(str::as_bytes)
    }

    fn as_sub_str(&self, sub: &[u8]) -> Value {
        Value::from(String::from_utf8_lossy(sub).into_owned())
    }

    fn from_utf8_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Value {
        Value::from(String::from_utf8_lossy(bytes.as_ref()).into_owned())
    }
}
