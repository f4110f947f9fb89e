//! The functions that are not written in jq. Each charges for its work in advance.

mod arrays;
mod control;
mod dates;
mod patterns;
mod strings;

pub use arrays::indices;

use crate::compile::Data;
use jaq_core::native::Fun;

/// The functions taken from jaq-core: functions of filters without loops of their own.
const CORE: &str = "error_empty path path_value first last limit skip keys_unsorted key_values";

/// The functions taken from jaq-std: text and mathematics, in one pass over an input that our [`jaq_std::ValT`] charges
/// for. Left out are `jn` and `yn` (they count up to their argument), `sort` and `group_by` (they need an order in
/// which NaN equals itself), dates (some overflow, some read time zones from files), and everything with effects
/// outside.
const STANDARD: &str = "\
    ascii_downcase ascii_upcase endswith ltrim ltrimstr reverse rtrim rtrimstr startswith trim utf8bytelength \
    decode_base64 encode_base64 encode_uri escape_sh max_by_or_empty min_by_or_empty \
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf exp exp10 exp2 expm1 fabs fdim floor fma fmax \
    fmin fmod frexp hypot ilogb ldexp lgamma log log10 log1p log2 modf nearbyint nextafter pow remainder rint round \
    scalbln sin sinh sqrt tan tanh tgamma trunc";

/// All functions that a filter can call and that are not written in jq. A function not named here does not exist.
pub fn all() -> Vec<Fun<Data>> {
    let mut all = control::functions();
    all.extend(arrays::functions());
    all.extend(strings::functions());
    all.extend(patterns::functions());
    all.extend(dates::functions());
    let wanted: Vec<&str> = CORE.split(' ').chain(STANDARD.split(' ')).collect();
    let theirs = jaq_core::funs::<Data>().chain(jaq_std::funs::<Data>());
    all.extend(theirs.filter(|(name, ..)| wanted.contains(name)));
    all
}

/// A function of its input, or of its input and one or two arguments.
macro_rules! function {
    ($name:literal, 0, $function:expr) => {
        jaq_core::native::run(($name, jaq_core::native::v(0), |call| {
            jaq_core::native::bome($crate::natives::charged(|| $function(call.1)))
        }))
    };
    ($name:literal, 1, $function:expr) => {
        jaq_core::native::run(($name, jaq_core::native::v(1), |mut call| {
            let argument = call.0.pop_var();
            jaq_core::native::bome($crate::natives::charged(|| $function(call.1, argument)))
        }))
    };
    ($name:literal, 2, $function:expr) => {
        jaq_core::native::run(($name, jaq_core::native::v(2), |mut call| {
            let second = call.0.pop_var();
            let first = call.0.pop_var();
            jaq_core::native::bome($crate::natives::charged(|| $function(call.1, first, second)))
        }))
    };
}
use function;

/// Runs the function if a step can be charged.
fn charged(function: impl FnOnce() -> crate::value::ValueResult) -> crate::value::ValueResult {
    if crate::fuel::step(1) { function() } else { Err(crate::value::spent()) }
}

/// Charges, or ends the function.
fn charge(cost: u64) -> Result<(), crate::value::Error> {
    if crate::fuel::charge(cost) { Ok(()) } else { Err(crate::value::spent()) }
}
