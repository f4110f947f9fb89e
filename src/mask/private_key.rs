//! Private keys in PEM (RFC 7468), in the format of SSH2 (RFC 4716) and in PuTTY's, in one text or over several lines or records.

use super::finding::{Finding, Kind};
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::LazyLock;

/// The marks before the names of a key's first and last line, and what the first ones have in common.
const BEGINS: &[&str] = &["-----BEGIN ", "---- BEGIN "];
const BEGIN: &str = "BEGIN ";
static BEGIN_FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(BEGIN));
static PUTTY_FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(PUTTY));
const ENDS: &[&str] = &["-----END ", "---- END "];
const DASHES: &str = "----";
/// PuTTY's line before those of the private part.
const PUTTY: &str = "Private-Lines: ";
const HEADERS: &[&str] = &["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Subject:", "x-"];

/// Finds private keys from their first line to their last, or to the end of the text if that is missing.
pub(super) fn find(text: &str, found: &mut Vec<Finding>) {
    let mut end = 0;
    for start in starts(text) {
        if start >= end {
            end = end_in(text, start).unwrap_or(text.len());
            found.push(Finding::new(text, start..end, Kind::PRIVATE_KEY));
        }
    }
}

/// Whether a key may begin in these bytes, also in JSON.
pub(super) fn may_begin_in(line: &[u8]) -> bool {
    BEGIN_FINDER.find(line).is_some() || PUTTY_FINDER.find(line).is_some()
}

/// Where keys begin, in order.
fn starts(text: &str) -> Vec<usize> {
    let is_private = |end: &usize| {
        let name = text[*end..].split(DASHES).next().unwrap_or_default();
        name.len() < 60 && name.contains("PRIVATE KEY")
    };
    let begins = BEGIN_FINDER.find_iter(text.as_bytes()).map(|at| at + BEGIN.len()).filter(is_private);
    let begins =
        begins.filter_map(|end| BEGINS.iter().find(|mark| text[..end].ends_with(*mark)).map(|mark| end - mark.len()));
    let mut starts: Vec<usize> = begins.chain(PUTTY_FINDER.find_iter(text.as_bytes())).collect();
    starts.sort_unstable();
    starts
}

/// The position after the last line of the key that begins at `start`; `None` if that is missing.
fn end_in(text: &str, start: usize) -> Option<usize> {
    let inner = &text[start..];
    if let Some(count) = inner.strip_prefix(PUTTY) {
        let lines = number(count);
        return inner.match_indices('\n').nth(lines).map(|(at, _)| start + at);
    }
    ENDS.iter().find_map(|mark| inner.find(mark).map(|at| end_of_line(text, start + at + mark.len())))
}

/// The position after the dashes that end a line whose name begins at `at`.
fn end_of_line(text: &str, at: usize) -> usize {
    let Some(dashes) = text[at..].find(DASHES) else { return text.len() };
    let rest = &text[at + dashes..];
    at + dashes + rest.len() - rest.trim_start_matches('-').len()
}

fn number(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).take(4).fold(0, |number, digit| number * 10 + usize::from(digit - b'0'))
}

/// A key whose last line has not come yet.
#[derive(Debug)]
pub(super) struct OpenKey {
    /// The field of the texts that it comes in; empty for lines of text.
    field: String,
    /// What is before and after its first line, such as a time and a quote.
    before: String,
    after: String,
    /// How many more lines are searched for it.
    left: usize,
}

impl OpenKey {
    /// The longest keys in use have about 200 lines; lines of other programs may come between.
    const LINES: usize = 1000;
    /// A longer text in base64 belongs to the key, whatever is around it. All lines but the last have 64 or 76 characters.
    const SURE: usize = 40;

    /// Searches the next text of a field. Returns the ranges that belong to a key which began in an earlier text.
    pub(super) fn search(open: &mut Option<OpenKey>, field: &str, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut searched = 0;
        if let Some(key) = open.as_mut().filter(|key| key.field == field) {
            let mut is_open = true;
            for line in text.split_inclusive('\n') {
                let start = searched;
                searched += line.len();
                let (range, ends) = key.part(line.trim_end_matches(['\r', '\n']));
                found.extend(range.map(|range| start + range.start..start + range.end));
                key.left = key.left.saturating_sub(1);
                if ends || key.left == 0 {
                    is_open = false;
                    break;
                }
            }
            if !is_open {
                *open = None;
            }
        }
        if let Some(start) = starts(&text[searched..]).last().map(|start| searched + start)
            && end_in(text, start).is_none()
        {
            *open = Some(OpenKey::begun(field, text, start));
        }
        found
    }

    fn begun(field: &str, text: &str, start: usize) -> OpenKey {
        let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let rest = text[start..].split(['\r', '\n']).next().unwrap_or_default();
        let putty = rest.strip_prefix(PUTTY).map(number);
        let end = if putty.is_some() { rest.len() } else { end_of_line(rest, BEGINS[0].len().min(rest.len())) };
        OpenKey {
            field: field.to_owned(),
            before: text[line..start].to_owned(),
            after: rest[end..].to_owned(),
            left: putty.unwrap_or(Self::LINES),
        }
    }

    /// The part of a line that belongs to the key, and whether it is the last one.
    fn part(&self, line: &str) -> (Option<Range<usize>>, bool) {
        if let Some((at, mark)) = ENDS.iter().find_map(|mark| line.find(mark).map(|at| (at, mark))) {
            return (Some(at..end_of_line(line, at + mark.len())), true);
        }
        if let Some(at) = HEADERS.iter().find_map(|header| line.find(header))
            && (line[..at].trim().is_empty() || self.inner(line).is_some_and(|inner| inner.start == at))
        {
            return (Some(at..line.len()), false);
        }
        let trimmed = line.trim();
        let start = line.len() - line.trim_start().len();
        let whole = Some(start..start + trimmed.len());
        let is_base64 = |range: &Range<usize>| !range.is_empty() && line[range.clone()].bytes().all(belongs);
        (self.inner(line).filter(is_base64).or(whole.filter(is_base64)).or_else(|| longest_run(line)), false)
    }

    /// The text of a line within what is around the first one; digits of times may differ.
    fn inner(&self, line: &str) -> Option<Range<usize>> {
        let inner = line.strip_suffix(&*self.after)?;
        let before = inner.get(..self.before.len())?;
        let is_like = |(one, other): (char, char)| one == other || one.is_ascii_digit() && other.is_ascii_digit();
        before.chars().zip(self.before.chars()).all(is_like).then_some(self.before.len()..inner.len())
    }
}

fn belongs(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// The longest text in base64, if it is long enough.
fn longest_run(line: &str) -> Option<Range<usize>> {
    let mut start = 0;
    let runs = line.split(|character: char| !character.is_ascii() || !belongs(character as u8)).map(|run| {
        let range = start..start + run.len();
        // Each end of a run has its own length.
        start = range.end + line[range.end..].chars().next().map_or(0, char::len_utf8);
        range
    });
    runs.max_by_key(Range::len).filter(|run| run.len() >= OpenKey::SURE)
}
