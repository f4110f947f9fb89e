//! Control functions of a filter, and those that spend its fuel.

use super::function;
use crate::compile::Data;
use crate::fuel::{self, StopReason};
use crate::value::{Value, fail};
use jaq_core::box_iter::box_once;
use jaq_core::native::{Fun, v};
use jaq_core::{Exn, Native, ValX};

/// The longest path followed by `path(…)`. jq's paths are lists that are dropped by recursion.
const MAX_PATH: usize = 1_000;

/// A step of a program: returns its input, or ends the run in a way that nothing catches. In a path or an update it has
/// no effect.
macro_rules! step {
    ($name:literal, $cost:literal) => {
        (
            $name,
            v(0),
            Native::new(|call| box_once(if fuel::step($cost) { Ok(call.1) } else { Err(Exn::halt(1)) }))
                .with_paths(|call| {
                    let length = call.1.1.iter().take(MAX_PATH).count();
                    if length == MAX_PATH {
                        fuel::stop(StopReason::Depth);
                    }
                    let paid = fuel::step($cost + length as u64 / 8);
                    box_once(if paid { Ok(call.1) } else { Err(Exn::halt(1)) })
                })
                .with_update(
                    |call, change| {
                        if fuel::step($cost) { change(call.1) } else { box_once(Err(Exn::halt(1))) }
                    },
                ),
        )
    };
}

pub fn functions() -> Vec<Fun<Data>> {
    let empty = Native::new(|_| Box::new(std::iter::empty()))
        .with_paths(|_| Box::new(std::iter::empty()))
        .with_update(|call, _| box_once(Ok(call.1)));
    vec![
        step!("!step", 1),
        // A step of a recursion, for which jaq keeps some memory.
        step!("!recursion", 8),
        ("empty", v(0), empty),
        function!("true", 0, |_| Ok(Value::Bool(true))),
        function!("false", 0, |_| Ok(Value::Bool(false))),
        function!("null", 0, |_| Ok(Value::Null)),
        function!("not", 0, |value: Value| Ok(Value::Bool(!value.is_true()))),
        function!("type", 0, |value: Value| Ok(Value::from(value.kind()))),
        function!("nan", 0, |_| Ok(Value::from(f64::NAN))),
        function!("infinite", 0, |_| Ok(Value::from(f64::INFINITY))),
        jaq_core::native::run(("range", v(3), |mut call| {
            let by = call.0.pop_var();
            let to = call.0.pop_var();
            let from = call.0.pop_var();
            match range(&from, &to, &by) {
                Ok(numbers) => Box::new(numbers),
                Err(error) => box_once(Err(Exn::from(error))),
            }
        })),
    ]
}

/// The numbers from `from` up to, but not including, `to`.
fn range<'a>(
    from: &Value,
    to: &Value,
    by: &Value,
) -> Result<impl Iterator<Item = ValX<'a, Value>> + use<'a>, crate::value::Error> {
    let number = |value: &Value| value.number().cloned().map_err(|_| fail("the bounds of a range must be numbers"));
    let (mut next, to, by) = (number(from)?, number(to)?.as_f64(), number(by)?);
    let step = by.as_f64();
    // A step of zero gives no numbers.
    let mut ended = step == 0.0 || step.is_nan();
    Ok(std::iter::from_fn(move || {
        let at = next.as_f64();
        if ended || !(if step > 0.0 { at < to } else { at > to }) {
            return None;
        }
        if !fuel::charge(1) {
            ended = true;
            return Some(Err(Exn::halt(1)));
        }
        let after = Value::Number(next.clone()) + Value::Number(by.clone());
        let now = match after {
            Ok(Value::Number(after)) => std::mem::replace(&mut next, after),
            _ => next.clone(),
        };
        Some(Ok(Value::Number(now)))
    }))
}
