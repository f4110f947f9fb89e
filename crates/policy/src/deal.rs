//! What an order or a payment is about: amounts of money in the text beside its button, the line with the sum, and
//! whether two such texts are the same deal.

use super::detector::{ActionKind, Element, classify, is_same_but_for_running_time};
use crate::lists::amounts::{AFTER, BEFORE, CODES, TOTALS, UNSPACED, UNSPACED_TOTALS, WORDS};
use regex::Regex;
use std::sync::LazyLock;
use std::time::Duration;

/// How certainly activating an element costs money, judged by its role and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentSign {
    /// It is no payment.
    None,
    /// It confirms or submits something, which is a payment if there is an amount beside it.
    Unsure,
    /// It orders or pays.
    Pays,
}

/// Whether activating an element orders or pays.
///
/// ```
/// use pipewright_policy::deal::{PaymentSign, payment_sign};
/// assert_eq!(payment_sign("button", "Place order"), PaymentSign::Pays);
/// assert_eq!(payment_sign("link", "Order history"), PaymentSign::None);
/// ```
pub fn payment_sign(role: &str, name: &str) -> PaymentSign {
    match classify(&Element { role: Some(role), name, ..Element::default() }).map(|found| found.kind) {
        Some(kind) if kind.is_payment() => PaymentSign::Pays,
        Some(ActionKind::Confirm | ActionKind::Submit) => PaymentSign::Unsure,
        _ => PaymentSign::None,
    }
}

/// Digits of any script, in groups: `1,200`, `1.234,50`, `1 234,50`, `12.–`, `9.99`.
const NUMBER: &str = r"\p{Nd}+(?:[.,'’٬\u{a0}\u{202f}\u{2009} ]\p{Nd}{2,3})*(?:[.,٫]\p{Nd}{1,4})?(?:[.,]?[-–—]{1,2})?";

/// A number with a currency, before or after it.
static WITH_CURRENCY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let any = |words: &[&str]| words.iter().map(|word| regex::escape(word)).collect::<Vec<_>>().join("|");
    let (codes, before, after, words, unspaced) = (any(CODES), any(BEFORE), any(AFTER), any(WORDS), any(UNSPACED));
    let blank = r"[\s\u{200e}\u{200f}\u{61c}]{0,2}";
    let pattern = format!(
        r"(?:\p{{Currency_Symbol}}|\b(?:{codes})\b|\b(?:{before})\b?\.?){blank}[-−+]?{blank}{NUMBER}|{NUMBER}{blank}(?:\p{{Currency_Symbol}}|(?:{codes})\b|(?:{after})\b|(?i:{words})\b|(?:{unspaced}))"
    );
    // The pattern is constant but for the lists, and a test reads it.
    Regex::new(&pattern).ok()
});

/// A number with two digits behind its point, which is not a part of a longer one, a date or a time.
static BARE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:^|[^\p{Nd}.,:/v-])\p{Nd}{1,3}(?:[.,'’\u{a0}\u{202f} ]?\p{Nd}{3})*[.,]\p{Nd}{2}(?:$|[^\p{Nd}.,:/%-])",
    )
    .ok()
});

static TOTAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let any = |words: &[&str]| words.iter().map(|word| regex::escape(word)).collect::<Vec<_>>().join("|");
    Regex::new(&format!(r"(?i)\b(?:{})\b|{}", any(TOTALS), any(UNSPACED_TOTALS))).ok()
});

/// Whether a text has an amount of money: a number with a currency.
///
/// ```
/// use pipewright_policy::deal::has_amount;
/// assert!(has_amount("1.234,50 €") && has_amount("Rs. 5,000") && has_amount("10 руб."));
/// assert!(!has_amount("Room 12"));
/// ```
pub fn has_amount(text: &str) -> bool {
    WITH_CURRENCY.as_ref().is_some_and(|amount| amount.is_match(text))
}

/// Whether a text has a number that looks like an amount of which the currency is written elsewhere: `54.80`.
pub fn has_bare_amount(text: &str) -> bool {
    BARE.as_ref().is_some_and(|amount| amount.is_match(text))
}

/// Whether a text has a word for the sum of a deal.
pub fn names_total(text: &str) -> bool {
    TOTAL.as_ref().is_some_and(|total| total.is_match(text))
}

/// Whether two texts are about the same deal, of which the second was read so much later: only clocks and countdowns
/// may differ, by no more than the time that has passed.
pub fn is_same_deal(one: &str, other: &str, passed: Duration) -> bool {
    is_same_but_for_running_time(one, other, passed)
}

#[cfg(test)]
mod tests;
