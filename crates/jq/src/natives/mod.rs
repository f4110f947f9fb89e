//! The functions that aren't written in jq. Each pays for what it does before it does it.

mod arrays;
mod control;
mod dates;
mod patterns;
mod strings;

pub use arrays::indices;

use crate::compile::Data;
use jaq_core::native::Fun;

/// What is taken of jaq-core: functions of filters, without a loop of their own.
const CORE: &str = "error_empty path path_value first last limit skip keys_unsorted key_values";

/// What is taken of jaq-std: text and mathematics, in one pass over an input that our [`jaq_std::ValT`] charges for. Left out are
/// `jn` and `yn` (they count up to their argument), `sort` and `group_by` (they need an order in which NaN is equal to itself),
/// dates (some overflow, some read time zones from files), and all that reaches outside.
const STANDARD: &str = "\
    ascii_downcase ascii_upcase endswith ltrim ltrimstr reverse rtrim rtrimstr startswith trim utf8bytelength \
    decode_base64 encode_base64 encode_uri escape_sh max_by_or_empty min_by_or_empty \
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf exp exp10 exp2 expm1 fabs fdim floor fma fmax \
    fmin fmod frexp hypot ilogb ldexp lgamma log log10 log1p log2 modf nearbyint nextafter pow remainder rint round \
    scalbln sin sinh sqrt tan tanh tgamma trunc";

/// Everything that a filter can call and that isn't written in jq. What isn't named isn't there.
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
