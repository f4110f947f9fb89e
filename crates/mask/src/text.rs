//! All searches of a text without escapes.

use super::finding::{Finding, Kind, settle};
use super::rules::Rules;
use super::{address, assigned, numbers, page, phone, secrets};
use memchr::memchr_iter;

/// Which marks and how many digits a text has. Each kind of value needs some of them, and most texts have none.
struct Marks {
    digits: usize,
    has: u8,
}

const AT: u8 = 1;
const ASSIGNMENT: u8 = 4;
const LESS_THAN: u8 = 8;

impl Marks {
    fn of(text: &str) -> Marks {
        let mut marks = Marks { digits: 0, has: 0 };
        for byte in text.bytes() {
            marks.digits += usize::from(byte.is_ascii_digit());
            marks.has |= match byte {
                b'@' => AT,
                b':' | b'=' => ASSIGNMENT,
                b'<' => LESS_THAN,
                _ => 0,
            };
        }
        marks
    }

    fn has(&self, marks: u8) -> bool {
        self.has & marks != 0
    }
}

/// The findings in `text`, sorted. `is_phone`: it is the value of a field for phone numbers.
pub(super) fn find(rules: &Rules, text: &str, is_phone: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    let marks = Marks::of(text);
    rules.find(text, &mut found);
    secrets::find(text, &mut found);
    if marks.has(AT) && marks.has(ASSIGNMENT) {
        address::find_credentials(text, &mut found);
    }
    if marks.has(AT) {
        address::find_emails(text, &mut found);
    }
    if marks.has(ASSIGNMENT) {
        assigned::find(rules, text, &mut found);
    }
    if marks.digits > 0 {
        assigned::find_options(rules, text, &mut found);
        assigned::find_in_sentences(text, &mut found);
    }
    page::find(text, &mut found);
    if marks.digits >= 6 {
        let groups = numbers::groups(text);
        if marks.digits >= 12 {
            numbers::find_ibans(text, &groups, &mut found);
            numbers::find_cards(text, &groups, &mut found);
        }
        phone::find(text, &groups, is_phone, &mut found);
    }
    if marks.has(LESS_THAN) {
        assigned::find_in_elements(text, &mut found);
        find_lookalikes(rules, text, &mut found);
    }
    settle(text, found)
}

/// Finds texts that look like a placeholder.
fn find_lookalikes(rules: &Rules, text: &str, found: &mut Vec<Finding>) {
    for at in memchr_iter(b'<', text.as_bytes()) {
        if lookalike_length(rules, &text[at..]).is_some() {
            found.push(Finding::new(text, at..at + 1, Kind::LOOKALIKE));
        }
    }
}

/// The length of the placeholder lookalike at the beginning of `text`.
fn lookalike_length(rules: &Rules, text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let length = inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, number) = inner[..length].rsplit_once('_')?;
    let is_numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_numbered && inner[length..].starts_with('>') && rules.kind_named(name).is_some()).then_some(length + 2)
}

/// Whether `text` is only a placeholder lookalike, escaped or not.
pub(super) fn is_lookalike(rules: &Rules, text: &str) -> bool {
    let whole = |text: &str| lookalike_length(rules, text) == Some(text.len());
    whole(text) || text.strip_prefix("<_").is_some_and(|rest| whole(&format!("<{rest}")))
}
