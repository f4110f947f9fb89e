//! The functions that aren't written in jq. Each pays for what it does before it does it.

mod arrays;
mod control;
mod dates;
mod formats;
mod patterns;
mod strings;

pub use arrays::indices;

use crate::compile::Data;
use jaq_core::native::Fun;

/// What we take of jaq-core: functions of filters, without a loop of their own.
const CORE: [&str; 9] =
    ["error_empty", "path", "path_value", "first", "last", "limit", "skip", "keys_unsorted", "key_values"];

/// What we take of jaq-std: mathematics that takes a moment. (`jn` and `yn` count up to their argument.)
const MATHEMATICS: [&str; 48] = [
    "floor",
    "round",
    "ceil",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "frexp",
    "ilogb",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "modf",
    "nearbyint",
    "rint",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "atan2",
    "copysign",
    "fdim",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ldexp",
    "nextafter",
    "pow",
    "remainder",
    "scalbln",
    "fma",
    "erf",
];

/// Everything that a filter can call and that isn't written in jq. What isn't named isn't there.
pub fn all() -> Vec<Fun<Data>> {
    let mut all = control::functions();
    all.extend(arrays::functions());
    all.extend(strings::functions());
    all.extend(formats::functions());
    all.extend(patterns::functions());
    all.extend(dates::functions());
    all.extend(jaq_core::funs::<Data>().filter(|(name, ..)| CORE.contains(name)));
    all.extend(jaq_std::funs::<Data>().filter(|(name, ..)| MATHEMATICS.contains(name)));
    all
}

/// A function of its input, or of its input and one or two arguments.
macro_rules! function {
    ($name:literal, 0, $function:expr) => {
        jaq_core::native::run(($name, jaq_core::native::v(0), |call| {
            jaq_core::native::bome($crate::natives::once(|| $function(call.1)))
        }))
    };
    ($name:literal, 1, $function:expr) => {
        jaq_core::native::run(($name, jaq_core::native::v(1), |mut call| {
            let argument = call.0.pop_var();
            jaq_core::native::bome($crate::natives::once(|| $function(call.1, argument)))
        }))
    };
    ($name:literal, 2, $function:expr) => {
        jaq_core::native::run(($name, jaq_core::native::v(2), |mut call| {
            let second = call.0.pop_var();
            let first = call.0.pop_var();
            jaq_core::native::bome($crate::natives::once(|| $function(call.1, first, second)))
        }))
    };
}
use function;

/// Does it, where a step can be paid for.
fn once(function: impl FnOnce() -> crate::value::ValueResult) -> crate::value::ValueResult {
    if crate::fuel::step(1) { function() } else { Err(crate::value::spent()) }
}

/// Pays, or ends the function.
fn pay(cost: u64) -> Result<(), crate::value::Error> {
    if crate::fuel::charge(cost) { Ok(()) } else { Err(crate::value::spent()) }
}
