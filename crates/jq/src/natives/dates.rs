//! Dates, in UTC. There is no clock and there are no time zones, since they would be read from the machine.

use super::{charge, function};
use crate::compile::Data;
use crate::value::{Error, Value, fail};
use jaq_core::native::Fun;
use jiff::civil::DateTime;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

pub fn functions() -> Vec<Fun<Data>> {
    vec![
        function!("fromdateiso8601", 0, |value: Value| {
            let read: Result<Timestamp, _> = value.text()?.parse();
            read.map(seconds).map_err(|_| fail(format_args!("{value} is not a date like 2015-03-05T23:51:47Z")))
        }),
        function!("todateiso8601", 0, |value: Value| {
            let time = time(&value)?;
            Ok(Value::from(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()))
        }),
        function!("gmtime", 0, |value: Value| Ok(broken_down(time(&value)?.datetime(), fraction(&value)))),
        function!("mktime", 0, |value: Value| {
            value.clone().into_items()?;
            Ok(seconds(time(&value)?.timestamp()))
        }),
        function!("strftime", 1, |value: Value, format: Value| {
            let format = format.text()?;
            charge(8 * format.len() as u64)?;
            let text = strtime::format(format, &time(&value)?);
            text.map(Value::from).map_err(|error| fail(format_args!("cannot write a date like {format}: {error}")))
        }),
        function!("strptime", 1, |value: Value, format: Value| {
            let (text, format) = (value.text()?, format.text()?);
            charge(text.len() as u64 + format.len() as u64)?;
            let wrong = |error: jiff::Error| fail(format_args!("{value} is not a date like {format}: {error}"));
            let read = BrokenDownTime::parse(format, text).map_err(wrong)?;
            let local = read.to_datetime().map_err(wrong)?;
            let offset = read.offset().unwrap_or(Offset::UTC);
            let time = offset.to_timestamp(local).map_err(wrong)?;
            Ok(broken_down(Offset::UTC.to_datetime(time), 0.0))
        }),
    ]
}

fn seconds(time: Timestamp) -> Value {
    Value::from(time.as_second())
}

fn fraction(value: &Value) -> f64 {
    value.number().map_or(0.0, |number| number.as_f64().rem_euclid(1.0))
}

/// The time of a number of seconds, or of an array as returned by `gmtime`.
fn time(value: &Value) -> Result<Zoned, Error> {
    if value.is_array() {
        return from_parts(value).map(|time| time.to_zoned(TimeZone::UTC));
    }
    let seconds = value.number()?.as_f64().floor();
    // The cast saturates, and times beyond the supported years are refused.
    let time = Timestamp::from_second(seconds as i64);
    time.map(|time| time.to_zoned(TimeZone::UTC))
        .map_err(|_| fail(format_args!("{value} is outside of the range of dates")))
}

fn from_parts(value: &Value) -> Result<Timestamp, Error> {
    let wrong = || fail(format_args!("{value} is not a date's year, month, day, hour, minute and second"));
    let items = value.clone().into_items()?;
    let part = |index: usize| -> Option<i64> { items.get(index)?.number().ok()?.as_index() };
    let small = |index: usize| part(index).and_then(|part| i8::try_from(part).ok());
    let read = || {
        let month = small(1)?.checked_add(1)?;
        let year = i16::try_from(part(0)?).ok()?;
        let hour_and_less = [3, 4, 5].map(|index| if items.len() > index { small(index) } else { Some(0) });
        let date = DateTime::new(year, month, small(2)?, hour_and_less[0]?, hour_and_less[1]?, hour_and_less[2]?, 0);
        Offset::UTC.to_timestamp(date.ok()?).ok()
    };
    read().ok_or_else(wrong)
}

/// Year, month from 0, day, hour, minute, second, day of the week from Sunday, day of the year from 0.
fn broken_down(date: DateTime, fraction: f64) -> Value {
    let whole = |part: i64| Value::from(part);
    [
        whole(i64::from(date.year())),
        whole(i64::from(date.month()) - 1),
        whole(i64::from(date.day())),
        whole(i64::from(date.hour())),
        whole(i64::from(date.minute())),
        Value::from(f64::from(date.second()) + fraction),
        whole(i64::from(date.weekday().to_sunday_zero_offset())),
        whole(i64::from(date.day_of_year()) - 1),
    ]
    .into_iter()
    .collect()
}
