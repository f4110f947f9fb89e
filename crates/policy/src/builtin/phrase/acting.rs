//! Names that begin like one of a tool that reads, and act.

use super::{Word, is_noun};
use crate::lists::senses::PRODUCTS;

/// Whether a verb that reads is the name of a product, too: `zoom`, `recall`.
pub(super) fn is_product(verb: &Word<'_>) -> bool {
    verb.is(PRODUCTS)
}

/// The verb with an effect, before its object, that follows the name of a product: `zoom_schedule_meeting`, but not
/// `poll_order_status`.
pub(super) fn behind_product<'a, 'b>(product: &Word<'_>, after: &'b [Word<'a>]) -> Option<&'b Word<'a>> {
    let (verb, object) = after.split_first().filter(|(_, object)| !object.is_empty())?;
    let (kind, noun) = verb.effect()?;
    (is_product(product) && !is_noun(noun, kind, object)).then_some(verb)
}

#[cfg(test)]
mod tests;
