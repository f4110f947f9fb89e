//! Card and bank account numbers, and the groups of digits in which they and phone numbers are written.

use super::finding::{Finding, Kind};
use std::ops::Range;

/// Adjacent digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Group {
    pub(super) fn length(&self) -> usize {
        self.end - self.start
    }
}

/// The groups of digits in a text.
pub(super) fn groups(text: &str) -> Vec<Group> {
    let bytes = text.as_bytes();
    let mut groups = Vec::new();
    let mut at = 0;
    while let Some(skipped) = bytes[at..].iter().position(u8::is_ascii_digit) {
        let start = at + skipped;
        let length = bytes[start..].iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len() - start);
        at = start + length;
        groups.push(Group { start, end: at });
    }
    groups
}

/// Finds payment card numbers: with a length and prefix that an issuer uses, and a correct check digit (ISO/IEC
/// 7812-1). They are written without gaps, or in groups of three or more digits.
pub(super) fn find_cards(text: &str, groups: &[Group], found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < groups.len() {
        let goes_on = |index: usize| {
            at + index > 0
                && groups.get(at + index).is_some_and(|group| {
                    let before = groups[at + index - 1];
                    before.length() >= 3 && group.length() >= 3 && is_gap_of_card(&bytes[before.end..group.start])
                })
        };
        match card_from(bytes, &groups[at..]) {
            // Short numbers in groups within longer rows of such groups: "1234 5678 9012 3456".
            Some(count) if count > 1 && digits(&groups[at..at + count]) < 14 && (goes_on(0) || goes_on(count)) => {
                at += 1
            }
            Some(count) => {
                found.push(Finding::new(text, groups[at].start..groups[at + count - 1].end, Kind::CARD));
                at += count;
            }
            None => at += 1,
        }
    }
}

fn digits(groups: &[Group]) -> usize {
    groups.iter().map(Group::length).sum()
}

/// How many groups a card number has that begins with the first one.
fn card_from(bytes: &[u8], groups: &[Group]) -> Option<usize> {
    let mut digits: Vec<u8> = Vec::new();
    let mut count = None;
    if !begins_number(bytes, groups.first()?.start) {
        return None;
    }
    for (index, group) in groups.iter().enumerate() {
        let joins = index == 0 || is_gap_of_card(&bytes[groups[index - 1].end..group.start]);
        let is_last_short = group.length() < 3 && digits.len() >= 12;
        if !joins || digits.len() + group.length() > 19 || group.length() < 3 && !is_last_short {
            break;
        }
        digits.extend(bytes[group.start..group.end].iter().map(|byte| byte - b'0'));
        if ends_number(bytes, group.end) && is_card(&digits) {
            count = Some(index + 1);
        }
    }
    count
}

fn is_gap_of_card(gap: &[u8]) -> bool {
    (1..=2).contains(&gap.len()) && gap.iter().all(|byte| b" -".contains(byte)) || matches!(gap, b"." | b"+" | b" - ")
}

/// Whether a number may begin here: not within a word, a decimal fraction or a UUID.
pub(super) fn begins_number(bytes: &[u8], at: usize) -> bool {
    let before = |offset: usize| at.checked_sub(offset).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let is_word = before(1).is_ascii_alphanumeric() || before(1) == b'_';
    let is_fraction = before(1) == b'.' && before(2).is_ascii_digit();
    !is_word && !is_fraction && !is_in_uuid(bytes, at)
}

pub(super) fn ends_number(bytes: &[u8], at: usize) -> bool {
    let behind = |offset: usize| bytes.get(at + offset).copied().unwrap_or(b' ');
    let is_word = behind(0).is_ascii_alphanumeric() || behind(0) == b'_';
    let is_fraction = behind(0) == b'.' && behind(1).is_ascii_digit();
    !is_word && !is_fraction
}

/// Whether the bytes around `at` are a UUID (RFC 9562): hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn is_in_uuid(bytes: &[u8], at: usize) -> bool {
    const LENGTH: usize = 36;
    let belongs = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
    let before = bytes[at.saturating_sub(LENGTH)..at].iter().rev().take_while(|byte| belongs(byte)).count();
    let behind = bytes[at..].iter().take(LENGTH + 1).take_while(|byte| belongs(byte)).count();
    let token = &bytes[at - before..at + behind];
    token.len() == LENGTH
        && token.iter().enumerate().all(|(index, byte)| (*byte == b'-') == matches!(index, 8 | 13 | 18 | 23))
}

fn is_card(digits: &[u8]) -> bool {
    let number = |length: usize| digits.iter().take(length).fold(0u32, |number, digit| number * 10 + u32::from(*digit));
    let [two, three, four] = [number(2), number(3), number(4)];
    let fits = match digits.len() {
        // Maestro.
        12 => matches!(two, 50 | 56..=58 | 63 | 67) || four == 604,
        // Visa.
        13 => two / 10 == 4,
        // Diners Club.
        14 => matches!(three, 300..=305 | 309) || matches!(two, 36 | 38 | 39),
        // American Express, JCB.
        15 => matches!(two, 34 | 37) || matches!(four, 2131 | 1800),
        // Visa; Mastercard; Discover, UnionPay, Maestro, RuPay; JCB; Diners Club; Mir; Troy, Humo, Uzcard.
        16 => {
            two / 10 == 4
                || matches!(two, 50..=58 | 60 | 62..=65 | 67 | 81 | 82 | 35 | 36 | 38 | 39)
                || matches!(four, 2200..=2204 | 2221..=2720 | 9792 | 9860 | 8600)
        }
        17 | 18 => matches!(two, 62 | 67) || three == 506,
        19 => two / 10 == 4 || matches!(two, 62 | 63 | 67),
        _ => false,
    };
    fits && digits.iter().any(|digit| *digit != digits[0]) && luhn(digits)
}

fn luhn(digits: &[u8]) -> bool {
    let doubled = |digit: u8| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let places = digits.iter().rev().enumerate();
    let sum: u32 = places.map(|(place, digit)| u32::from(if place % 2 == 1 { doubled(*digit) } else { *digit })).sum();
    sum.is_multiple_of(10)
}

/// The countries with IBANs, each with the length of its IBANs (SWIFT's registry, release 99).
const COUNTRIES: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 \
                         DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 \
                         IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 \
                         MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 \
                         SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30";

/// Finds IBANs: of the country's length, and with correct check digits (ISO 13616-1). Blanks and hyphens may separate
/// any two characters.
pub(super) fn find_ibans(text: &str, groups: &[Group], found: &mut Vec<Finding>) {
    let mut end = 0;
    for group in groups {
        if group.length() >= 2
            && let Some(start) = group.start.checked_sub(2).filter(|start| *start >= end)
            && let Some(range) = iban_at(text, start)
        {
            end = range.end;
            found.push(Finding::new(text, range, Kind::IBAN));
        }
    }
}

fn iban_at(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if is_word(start.checked_sub(1).and_then(|at| bytes.get(at))) {
        return None;
    }
    let country = text.get(start..start + 2)?.to_ascii_uppercase();
    let length: usize = COUNTRIES.split(' ').find_map(|entry| entry.strip_prefix(&*country))?.parse().ok()?;
    let mut characters = Vec::with_capacity(length);
    let mut at = start;
    while characters.len() < length {
        match bytes.get(at)? {
            byte if byte.is_ascii_alphanumeric() => characters.push(byte.to_ascii_uppercase()),
            b' ' | b'-' | b'.' | b'+' if is_word(bytes.get(at + 1)) => {}
            _ => return None,
        }
        at += 1;
    }
    // The two check digits are moved to the end with the country.
    characters.rotate_left(4);
    let remainder = characters.iter().fold(0u32, |remainder, byte| match byte {
        b'0'..=b'9' => (remainder * 10 + u32::from(byte - b'0')) % 97,
        _ => (remainder * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    (remainder == 1 && !is_word(bytes.get(at))).then_some(start..at)
}
