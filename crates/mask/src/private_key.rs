//! Private keys in PEM (RFC 7468), in the format of SSH2 (RFC 4716) and in PuTTY's, in one text or over several lines
//! or records.

use super::finding::{Finding, Kind};
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::LazyLock;

/// The marks before the names of a key's first and last line, and what the first ones have in common.
const BEGIN_MARKS: &[&str] = &["-----BEGIN ", "---- BEGIN "];
const BEGIN_PREFIX: &str = "BEGIN ";
static BEGIN_FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(BEGIN_PREFIX));
static PUTTY_FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(PUTTY));
const END_MARKS: &[&str] = &["-----END ", "---- END "];
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
        name.len() < 60 && name.contains("PRIVATE KEY") && begins_key(&text[end_of_line(text, *end)..])
    };
    let begins = BEGIN_FINDER.find_iter(text.as_bytes()).map(|at| at + BEGIN_PREFIX.len()).filter(is_private);
    let begins = begins
        .filter_map(|end| BEGIN_MARKS.iter().find(|mark| text[..end].ends_with(*mark)).map(|mark| end - mark.len()));
    let mut starts: Vec<usize> = begins.chain(PUTTY_FINDER.find_iter(text.as_bytes())).collect();
    starts.sort_unstable();
    starts
}

/// Whether a key may follow, and not a sentence about it: the line ends but for marks, or goes on in base64.
fn begins_key(rest: &str) -> bool {
    // As in `\n`, in a text that is escaped once more.
    const LETTERS: usize = 2;
    const MAX_LEN: usize = 200;
    let end = rest.char_indices().take(MAX_LEN).find(|(_, one)| matches!(one, '\r' | '\n')).map(|(at, _)| at);
    let line = &rest[..end.or_else(|| rest.char_indices().nth(MAX_LEN).map(|(at, _)| at)).unwrap_or(rest.len())];
    let letters = line.chars().filter(|one| one.is_alphanumeric()).count();
    letters <= LETTERS || ends(line).is_some() || longest_run(line).is_some_and(|run| is_of_key(&line[run]))
}

/// Where the last line of a private key begins in a line, and its mark.
fn ends(line: &str) -> Option<(usize, &'static str)> {
    let end = END_MARKS.iter().find_map(|mark| line.find(mark).map(|at| (at, *mark)));
    end.filter(|(at, _)| line[*at..].contains("PRIVATE KEY"))
}

/// Whether a text in base64 is random: not a word, a path or a hexadecimal number.
fn is_of_key(run: &str) -> bool {
    const MIN_LEN: usize = 16;
    let has = |belongs: fn(u8) -> bool| run.bytes().any(belongs);
    run.len() >= MIN_LEN
        && has(|byte| byte.is_ascii_uppercase())
        && has(|byte| matches!(byte, b'g'..=b'z'))
        && has(|byte| byte.is_ascii_digit() || byte == b'+')
}

/// The position after the last line of the key that begins at `start`; `None` if that is missing.
fn end_in(text: &str, start: usize) -> Option<usize> {
    let inner = &text[start..];
    if let Some(count) = inner.strip_prefix(PUTTY) {
        let lines = number(count);
        return inner.match_indices('\n').nth(lines).map(|(at, _)| start + at);
    }
    END_MARKS.iter().find_map(|mark| inner.find(mark).map(|at| end_of_line(text, start + at + mark.len())))
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
    /// Whether a line of it has come.
    is_certain: bool,
    /// How many more lines are searched for it.
    left: usize,
}

impl OpenKey {
    /// The longest keys in use have about 200 lines; lines of other programs may come between.
    const LINES: usize = 1000;
    /// All lines but the last have 64 or 76 characters. After a shorter one, the key ends.
    const FULL_LINE: usize = 40;
    const LINES_AFTER_SHORT: usize = 3;
    /// How many keys of different fields and programs are open at once.
    const MAX_OPEN: usize = 16;

    /// Searches the next text of a field. Returns the ranges that belong to keys which began in earlier texts.
    pub(super) fn search(open: &mut Vec<OpenKey>, field: &str, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut start = 0;
        // Where the last key of this text ends.
        let mut ended = 0;
        for line in text.split_inclusive('\n') {
            let content = line.trim_end_matches(['\r', '\n']);
            if let Some(at) = OpenKey::of_line(open, field, content) {
                let (range, is_last) = open[at].part(content);
                found.extend(range.map(|range| start + range.start..start + range.end));
                open[at].left = open[at].left.saturating_sub(1);
                if is_last || open[at].left == 0 {
                    open.remove(at);
                    ended = start + line.len();
                }
            }
            start += line.len();
        }
        if let Some(start) = starts(&text[ended..]).last().map(|start| ended + start)
            && end_in(text, start).is_none()
        {
            if open.len() >= Self::MAX_OPEN {
                open.remove(0);
            }
            open.push(OpenKey::from_text(field, text, start));
        }
        found
    }

    /// The key that a line of this field may belong to: the latest one with the same text before it, else with none,
    /// else any.
    fn of_line(open: &[OpenKey], field: &str, line: &str) -> Option<usize> {
        let of_field = |key: &OpenKey| key.field == field;
        let like =
            open.iter().rposition(|key| of_field(key) && !key.before.trim().is_empty() && key.begin_of(line).is_some());
        let plain = || open.iter().rposition(|key| of_field(key) && key.before.trim().is_empty());
        like.or_else(plain).or_else(|| open.iter().rposition(of_field))
    }

    fn from_text(field: &str, text: &str, start: usize) -> OpenKey {
        let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let rest = text[start..].split(['\r', '\n']).next().unwrap_or_default();
        let putty = rest.strip_prefix(PUTTY).map(number);
        let end = if putty.is_some() { rest.len() } else { end_of_line(rest, BEGIN_MARKS[0].len().min(rest.len())) };
        OpenKey {
            field: field.to_owned(),
            before: text[line..start].to_owned(),
            after: rest[end..].to_owned(),
            is_certain: false,
            left: putty.unwrap_or(Self::LINES),
        }
    }

    /// The part of a line that belongs to the key, and whether it is the last one.
    fn part(&mut self, line: &str) -> (Option<Range<usize>>, bool) {
        if let Some((at, mark)) = ends(line) {
            return (Some(at..end_of_line(line, at + mark.len())), true);
        }
        let inner = self.begin_of(line).and_then(|begin| {
            let rest = line[begin..].strip_suffix(&*self.after)?;
            Some(begin..begin + rest.len())
        });
        if let Some(at) = HEADERS.iter().find_map(|header| line.find(header))
            && (line[..at].trim().is_empty() || inner.as_ref().is_some_and(|inner| inner.start == at))
        {
            return (Some(at..line.len()), false);
        }
        let start = line.len() - line.trim_start().len();
        let whole = start..start + line.trim().len();
        let is_base64 = |range: &Range<usize>| !range.is_empty() && line[range.clone()].bytes().all(belongs);
        let body = [inner, Some(whole)].into_iter().flatten().find(is_base64);
        let of_key = |range: &Range<usize>| is_of_key(&line[range.clone()]);
        let is_certain = self.is_certain;
        let body = body.filter(|range| is_certain || of_key(range));
        let body = body.or_else(|| longest_run(line).filter(|run| run.len() >= Self::FULL_LINE && of_key(run)));
        if let Some(range) = &body {
            self.is_certain = true;
            if range.len() < Self::FULL_LINE {
                self.left = self.left.min(Self::LINES_AFTER_SHORT);
            }
        }
        (body, false)
    }

    /// Where a line goes on after what was before the first one; numbers, as in times, may differ.
    fn begin_of(&self, line: &str) -> Option<usize> {
        let mut rest = line;
        let mut before = &*self.before;
        while let Some(first) = before.chars().next() {
            if first.is_ascii_digit() {
                before = before.trim_start_matches(|one: char| one.is_ascii_digit());
                let number = rest.trim_start_matches(|one: char| one.is_ascii_digit());
                if number.len() == rest.len() {
                    return None;
                }
                rest = number;
            } else {
                rest = rest.strip_prefix(first)?;
                before = &before[first.len_utf8()..];
            }
        }
        Some(line.len() - rest.len())
    }
}

fn belongs(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// The longest text in base64.
fn longest_run(line: &str) -> Option<Range<usize>> {
    let mut start = 0;
    let runs = line.split(|character: char| !character.is_ascii() || !belongs(character as u8)).map(|run| {
        let range = start..start + run.len();
        // Each end of a run has its own length.
        start = range.end + line[range.end..].chars().next().map_or(0, char::len_utf8);
        range
    });
    runs.max_by_key(Range::len)
}
