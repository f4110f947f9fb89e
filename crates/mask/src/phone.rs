//! Phone numbers. Their digits have no check digit. So a number counts if it has a form that only phone numbers have;
//! any other counts only if the words next to it mention phones.

use super::finding::{Finding, Kind};
use super::numbers::{Group, begins_number, ends_number};
use super::pattern::Pattern;
use std::ops::{Range, RangeInclusive};

/// The digits of a phone number: at most 15 (ITU-T E.164), at least 6 for a local one.
const DIGITS: RangeInclusive<usize> = 6..=15;

/// Words that mention phones.
static WORDS: Pattern = Pattern::new(concat!(
    r"(?i)(?-u:\b)(?:mobile|cell|contact|desk|office|call(?:s|ed|ing)?|reach|dial|sms|messages?|answering",
    r"|(?:tele|mobile|cell)?phones?|tel|fax|whatsapp|telefon\p{L}*|t[eé]l[eé]phone|tel[eé]fono|handy|m[oó]vil|celular|tlf)(?-u:\b)",
    r"|телефон|电话|手机|電話|携帯|전화",
));

/// Those that are mostly about something else.
const NOUNS: &[&str] = &["mobile", "cell", "contact", "desk", "office"];
/// Those, too; they are never before a colon and a number of a phone.
const VERBS: &[&str] =
    &["call", "calls", "called", "calling", "reach", "dial", "sms", "message", "messages", "answering"];

/// Text between such a word and a number of a phone: "call me on 445 6271".
static LINK: Pattern = Pattern::new(concat!(
    r#"(?i)^[\s:.,;'"(=–—-]*(?:(?:a|and|at|back|by|for|her|here|him|his|is|it|line|me|my|new|no|now|number|on|or|our|phone|please"#,
    r#"|registered|the|their|them|this|to|us|via|was|you|your)(?:[\s:.,;'"(=–—-]+|$))*$"#,
));
/// Text between a number of a phone and such a word: "445 6271 is my office".
static LINK_BACK: Pattern = Pattern::new(r"(?i)^[\s(,–—-]*(?:(?:her|his|is|my|our|the|their)\s+)*$");
/// What is counted or measured.
static UNIT: Pattern = Pattern::new(
    r"(?i)^ ?(?:[mnµu]?s|bytes?|[kmg]i?b|calls?|errors?|failed|items?|messages?|of|requests?|returned|rows?|steps?|times|tokens?|took|users?)(?-u:\b)",
);

/// A word that mentions phones.
struct Word {
    range: Range<usize>,
    /// Whether it is mostly about something else.
    is_weak: bool,
    /// Whether a number after it and a colon is one of a phone.
    is_label: bool,
}

/// An extension: `x123`, ` ext. 12`.
static EXTENSION: Pattern = Pattern::new(r"(?i)^ ?(?:x|ext\.?|extension|#) ?[0-9]{1,6}(?-u:\b)");

/// Finds phone numbers. `is_phone`: the field of this text is for phone numbers.
pub(super) fn find(text: &str, groups: &[Group], is_phone: bool, found: &mut Vec<Finding>) {
    let words: Vec<Word> = WORDS
        .find_iter(text)
        .map(|word| {
            let is_in = |words: &[&str]| words.iter().any(|known| word.as_str().eq_ignore_ascii_case(known));
            let (is_noun, is_verb) = (is_in(NOUNS), is_in(VERBS));
            Word { range: word.range(), is_weak: is_noun || is_verb, is_label: !is_verb }
        })
        .collect();
    let mut at = 0;
    while at < groups.len() {
        match longest_from(text, groups, at, is_phone, &words) {
            Some((range, count)) => {
                found.push(Finding::new(text, range, Kind::PHONE));
                at += count;
            }
            None => at += 1,
        }
    }
}

/// The longest number that begins with the group at `first`, and its number of groups.
fn longest_from(
    text: &str,
    groups: &[Group],
    first: usize,
    is_phone: bool,
    words: &[Word],
) -> Option<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let start = beginning(bytes, groups[first].start)?;
    let mut longest = None;
    let (mut digits, mut single) = (0, 0);
    for last in first..groups.len() {
        let joins = last == first || gap(bytes, groups, last).is_some();
        digits += groups[last].length();
        single += usize::from(groups[last].length() == 1);
        if !joins || digits > *DIGITS.end() || single > 2 {
            break;
        }
        let number = Number { text, groups: &groups[first..=last], start, digits };
        let is_phone = is_phone || number.is_labelled(words);
        let is_number =
            || number.is_plain() || number.may_be(is_phone) && (is_phone || number.is_near_phone_word(words));
        if digits >= *DIGITS.start() && number.ends() && is_number() {
            let extension = extension_length(&text[groups[last].end..]);
            longest = Some((start..groups[last].end + extension, last - first + 1));
        }
    }
    longest
}

/// The start of a number whose first digit is at `at`, including a plus or a parenthesis before it. `None` if no number
/// can begin there.
fn beginning(bytes: &[u8], at: usize) -> Option<usize> {
    let mut start = at;
    while start > 0 && b"+(".contains(&bytes[start - 1]) && at - start < 2 {
        start -= 1;
    }
    let before = |offset: usize| start.checked_sub(offset).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let is_part = match before(1) {
        b'-' => before(2).is_ascii_alphanumeric(),
        b'.' | b':' => before(2).is_ascii_digit(),
        // "http://01770000001/"
        b'/' => before(2).is_ascii_digit() || before(2) == b'/',
        _ => false,
    };
    (begins_number(bytes, start) && !is_part).then_some(start)
}

/// The text between a group and the previous one, if it may occur in a phone number.
fn gap<'a>(bytes: &'a [u8], groups: &[Group], at: usize) -> Option<&'a [u8]> {
    let gap = &bytes[groups[at - 1].end..groups[at].start];
    matches!(gap, b" " | b"-" | b"." | b"/" | b") " | b")" | b" (" | b"(" | b")-" | b"-(" | b") (" | b" - " | b"  ")
        .then_some(gap)
}

/// A candidate phone number.
struct Number<'a> {
    text: &'a str,
    groups: &'a [Group],
    /// Its start, including a plus or a parenthesis.
    start: usize,
    digits: usize,
}

impl Number<'_> {
    fn lengths(&self) -> Vec<usize> {
        self.groups.iter().map(Group::length).collect()
    }

    fn end(&self) -> usize {
        self.groups.last().map_or(self.start, |group| group.end)
    }

    fn gaps(&self) -> Vec<&[u8]> {
        (1..self.groups.len()).filter_map(|at| gap(self.text.as_bytes(), self.groups, at)).collect()
    }

    /// Whether the number may end here, and is not part of something longer.
    fn ends(&self) -> bool {
        let rest = &self.text[self.end()..];
        if extension_length(rest) > 0 {
            return true;
        }
        let mut behind = rest.chars();
        let goes_on = match behind.next() {
            Some('-' | '.' | '/' | ':') => {
                behind.take_while(|character| character.is_alphanumeric()).any(|character| character.is_ascii_digit())
            }
            mark => mark == Some('%'),
        };
        ends_number(self.text.as_bytes(), self.end()) && !goes_on
    }

    /// Whether only phone numbers have this form.
    fn is_plain(&self) -> bool {
        let bytes = self.text.as_bytes();
        let lengths = self.lengths();
        let gaps = self.gaps();
        let begin = &bytes[self.start..];
        let digits = &bytes[self.groups[0].start..];
        if begin.starts_with(b"+") || begin.starts_with(b"(+") {
            return self.digits >= 8 && digits[0] != b'0';
        }
        if begin.starts_with(b"(") {
            let closes = gaps.first().is_some_and(|gap| gap.starts_with(b")"));
            return closes && (2..=5).contains(&lengths[0]) && (8..=12).contains(&self.digits);
        }
        if digits.starts_with(b"00") {
            return digits[2..].first().is_some_and(|digit| (b'1'..=b'9').contains(digit)) && self.digits >= 11;
        }
        // Not the ten digits themselves.
        if digits[0] == b'0' && !digits.starts_with(b"0123456789") {
            let is_even = gaps.iter().all(|gap| *gap == gaps[0]) || gaps.iter().all(|gap| b" -/".contains(&gap[0]));
            let are_long = lengths.iter().all(|length| *length >= 2) && (lengths.len() > 1 || self.digits >= 10);
            return is_even && are_long && digits[1] != b'0' && (9..=12).contains(&self.digits) && !self.is_date();
        }
        let is_even = gaps.iter().all(|gap| *gap == gaps[0]);
        match &lengths[..] {
            // Columns of numbers are separated by blanks too. Area codes and exchanges begin with 2 to 9.
            [3, 3, 4] if is_even && gaps[0] == b" " => {
                self.groups[..2].iter().all(|group| (b'2'..=b'9').contains(&bytes[group.start]))
            }
            [3, 3, 4] => is_even,
            [1, 3, 3, 4] => is_even && digits[0] == b'1',
            [3, 7] => gaps[0] == b"-",
            _ => false,
        }
    }

    /// Whether it can be a phone number if the words next to it say so: not a date, an IP address or a decimal number.
    fn may_be(&self, is_phone: bool) -> bool {
        let lengths = self.lengths();
        let gaps = self.gaps();
        let dotted = gaps.iter().all(|gap| *gap == b".");
        let is_address = lengths.len() == 4 && dotted && lengths.iter().all(|length| *length <= 3);
        // Versions: "Chrome/131.0.6778.85 Mobile".
        let is_version = lengths.len() > 1 && dotted && lengths.contains(&1);
        let is_rounded =
            lengths.len() > 1 && self.groups[1..].iter().all(|group| self.text[group.start..group.end] == *"000");
        let is_decimal = lengths.len() == 2 && dotted;
        // "128123 tokens in 100000 calls"
        let is_short = lengths.len() == 1 && self.digits < 9 && !is_phone;
        self.digits <= 13
            && !is_short
            && !self.is_date()
            && (is_phone || !self.is_time())
            && !is_address
            && !is_decimal
            && !is_version
            && !is_rounded
            && lengths.iter().filter(|length| **length == 1).count() <= 1
    }

    /// Whether it is a time in seconds or milliseconds since 1970, in the years 2020 to 2033.
    fn is_time(&self) -> bool {
        let digits = &self.text.as_bytes()[self.groups[0].start..];
        self.groups.len() == 1 && matches!(self.digits, 10 | 13) && matches!(digits, [b'1', b'6'..=b'9', ..])
    }

    /// Whether it is a date such as `2026-11-22` or `22.11.2026`.
    fn is_date(&self) -> bool {
        let is_year = |group: &Group| {
            let year: u32 = self.text[group.start..group.end].parse().unwrap_or(0);
            group.length() == 4 && (1900..2100).contains(&year)
        };
        match self.groups {
            [year, month, day, ..] if is_year(year) => month.length() <= 2 && day.length() <= 2,
            [day, month, year, ..] if is_year(year) => month.length() <= 2 && day.length() <= 2,
            _ => false,
        }
    }

    /// Whether it follows a label: "Tel.: 12345678".
    fn is_labelled(&self, words: &[Word]) -> bool {
        let next = words.partition_point(|word| word.range.end <= self.start);
        let Some(word) = next.checked_sub(1).and_then(|last| words.get(last)).filter(|word| word.is_label) else {
            return false;
        };
        let between = self.text.get(word.range.end..self.start).unwrap_or_default();
        between.contains(':') && between.chars().all(|character| " .:\"'".contains(character))
    }

    /// Whether one of the words before it, or right after it, mentions phones.
    fn is_near_phone_word(&self, words: &[Word]) -> bool {
        const CONTEXT_BEFORE: usize = 60;
        const CONTEXT_AFTER: usize = 12;
        let next = words.partition_point(|word| word.range.end <= self.start);
        let rest = &self.text[self.end()..];
        let is_counted = self.text[..self.start].ends_with('#') || UNIT.is_match(rest);
        let links = |word: &Word| {
            let between = self.text.get(word.range.end..self.start).unwrap_or_default();
            !word.is_weak || !is_counted && LINK.is_match(between)
        };
        let before = words[..next].iter().rev().take_while(|word| word.range.end + CONTEXT_BEFORE >= self.start);
        let behind = words.get(next).filter(|word| word.range.start <= self.end() + CONTEXT_AFTER);
        let links_back = |word: &Word| {
            let between = self.text.get(self.end()..word.range.start).unwrap_or_default();
            !word.is_weak || word.is_label && LINK_BACK.is_match(between)
        };
        before.take(3).any(links) || behind.is_some_and(links_back)
    }
}

/// The length of the extension at the beginning of `rest`: `x123`, ` ext. 12`.
fn extension_length(rest: &str) -> usize {
    EXTENSION.find(rest).map_or(0, |found| found.end())
}
