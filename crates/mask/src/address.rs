//! E-mail addresses, and credentials in URLs.

use super::finding::{Finding, Kind};
use memchr::memchr_iter;
use memchr::memmem;
use std::ops::Range;

/// Endings of file names and systemd units that are not top-level domains.
const FILE_ENDINGS: &[&str] = &[
    "service", "socket", "timer", "mount", "slice", "png", "jpg", "jpeg", "gif", "svg", "webp", "js", "css", "json",
    "html", "tgz", "gz",
];

/// Finds addresses such as `ann@example.com`, The domain has a dot and ends in letters. A file name
/// such as `icon@2x.png` does not count.
pub(super) fn find_emails(text: &str, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    for at in memchr_iter(b'@', bytes) {
        if let (Some(local), Some(domain)) = (local_part(&text[..at]), domain_length(&text[at + 1..])) {
            found.push(Finding::new(text, at - local..at + 1 + domain, Kind::EMAIL));
        }
    }
}

/// The length of the name at the end of `before`. It may contain punctuation but not begin with it.
fn local_part(before: &str) -> Option<usize> {
    let belongs = |character: &char| character.is_alphanumeric() || ".!$%*+-^_~'".contains(*character);
    // At most 64 characters (RFC 5321, section 4.5.3.1.1); some software accepts more.
    let taken: Vec<char> = before.chars().rev().take(128).take_while(belongs).collect();
    let marks = taken.iter().rev().take_while(|character| !character.is_alphanumeric() && **character != '_').count();
    let length = taken[..taken.len() - marks].iter().map(|character| character.len_utf8()).sum();
    // The user name of every repository server.
    let is_git = before[before.len() - length..] == *"git";
    (length > 0 && !is_git).then_some(length)
}

/// The length of the domain at the beginning of `text`.
fn domain_length(text: &str) -> Option<usize> {
    let belongs = |character: char| character.is_alphanumeric() || character == '-' || character == '.';
    let mut domain = &text[..text.find(|character| !belongs(character)).unwrap_or(text.len())];
    loop {
        domain = domain.trim_end_matches(['.', '-']);
        let (_, last) = domain.rsplit_once('.')?;
        let is_top = last.starts_with("xn--") || last.chars().count() >= 2 && last.chars().all(char::is_alphabetic);
        if is_top {
            break;
        }
        // The text after a full stop may be the next sentence.
        domain = &domain[..domain.len() - last.len()];
    }
    let labels_are_good = domain.split('.').all(|label| !label.is_empty() && !label.starts_with('-'));
    let is_number = |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit());
    let is_scale = domain.split('.').any(|label| label.strip_suffix('x').is_some_and(is_number));
    let is_version = domain.split('.').filter(|label| is_number(label)).count() > 1;
    let is_file = domain.rsplit('.').next().is_some_and(|last| FILE_ENDINGS.contains(&last));
    (labels_are_good && !is_scale && !is_version && !is_file).then_some(domain.len())
}

/// Finds the user and password in `scheme://user:password@host` (RFC 3986, section 3.2.1).
pub(super) fn find_credentials(text: &str, found: &mut Vec<Finding>) {
    for scheme in memmem::find_iter(text.as_bytes(), b"://") {
        let start = scheme + 3;
        let ends = |character: char| character.is_whitespace() || "/?#\"'<>\\`".contains(character);
        let rest = &text[start..];
        let authority = &rest[..rest.find(ends).unwrap_or(rest.len())];
        if let Some(user) = userinfo(authority) {
            found.push(Finding::new(text, start..start + user.end, Kind::CREDENTIALS));
        }
    }
}

fn userinfo(authority: &str) -> Option<Range<usize>> {
    let at = authority.rfind('@')?;
    let (_, password) = authority[..at].split_once(':')?;
    (!password.is_empty()).then_some(0..at)
}
