//! How a gate and a world read a line that may be a call.

use super::options::duration;
use crate::io::lines::{Line, TOO_DEEP, deeper_than};
use crate::record::{Call, Unreadable, recognise};
use serde_json::value::RawValue;
use std::time::Duration;

/// The text of a line and the call in it; `None` where the line is another record.
///
/// # Errors
/// A line that is nested deeper than `max_depth`, is not UTF-8, or that [`recognise`] refuses.
pub fn read<'a>(line: &Line<'a>, max_depth: usize) -> Result<(&'a str, Option<Call<'a>>), Unreadable> {
    let bytes = line.body();
    let unreadable = |why| Unreadable::new(why).in_form_of(bytes);
    if deeper_than(bytes, max_depth) {
        return Err(unreadable(TOO_DEEP));
    }
    let body = std::str::from_utf8(bytes).map_err(|_| unreadable("it is no UTF-8"))?;
    Ok((body, recognise(body)?))
}

/// The call's own `timeout`: a number of seconds, or a text as the commands' options take it.
///
/// # Errors
/// Why it is neither.
pub fn timeout(call: &Call<'_>) -> Result<Option<Duration>, String> {
    let Some(value) = call.timeout.map(RawValue::get).filter(|value| *value != "null") else { return Ok(None) };
    let text = serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned());
    duration(&text).map(Some).map_err(|why| format!("\"timeout\": {why}"))
}
