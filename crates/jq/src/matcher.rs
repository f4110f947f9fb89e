//! Regular expressions: Unicode, compiled once per thread, with all work charged.

use crate::fuel;
use regex::{Regex, RegexBuilder};
use regex_automata::dfa::onepass;
use regex_automata::nfa::thompson::NFA;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use std::cell::RefCell;
use std::rc::Rc;

/// A pattern with its flags, ready for searching.
pub struct Matcher {
    pub regex: Regex,
    /// Find all matches, not only the first.
    pub global: bool,
    /// Skip empty matches.
    pub skip_empty: bool,
    /// The number of places in the pattern that a search can be at, at once: the maximum cost of a letter.
    places: u64,
    /// The cost of compiling it.
    size: u64,
    /// How far beyond the end of a match a search may look for a better one; `None` if unknown.
    beyond: Option<usize>,
}

/// The most places of a pattern, with repetitions written out.
const MAX_PLACES: u64 = 5_000;
/// The most memory of a compiled pattern, and of the tables that a search builds.
const MAX_MEMORY: usize = 1 << 20;
/// The longest pattern.
const MAX_PATTERN: usize = 8 << 10;
/// How many patterns a thread keeps.
const MAX_CACHED: usize = 64;
/// The charge for a run's first use of a pattern, even if another run has used it recently. So whether a line passes
/// does not depend on earlier lines.
const FIRST_USE: u64 = 2_000;

struct CachedMatcher {
    pattern: String,
    flags: String,
    matcher: Rc<Matcher>,
    /// The run that used it last.
    run: u64,
}

thread_local! {
    /// Ordered by last use, the most recent last.
    static CACHE: RefCell<Vec<CachedMatcher>> = const { RefCell::new(Vec::new()) };
}

/// The matcher of a pattern.
///
/// # Errors
/// The pattern or a flag is invalid, or too large.
pub fn matcher(pattern: &str, flags: &str) -> Result<Rc<Matcher>, String> {
    let run = fuel::run();
    let found = CACHE.with_borrow_mut(|cache| {
        let at = cache.iter().rposition(|kept| kept.pattern == pattern && kept.flags == flags)?;
        let mut kept = cache.remove(at);
        let is_first = std::mem::replace(&mut kept.run, run) != run;
        let matcher = Rc::clone(&kept.matcher);
        cache.push(kept);
        Some((matcher, is_first))
    });
    if let Some((matcher, is_first)) = found {
        if is_first {
            fuel::charge(FIRST_USE + matcher.size);
        }
        return Ok(matcher);
    }
    if !fuel::charge(FIRST_USE) {
        return Err("out of fuel".to_owned());
    }
    let matcher = Rc::new(Matcher::new(pattern, flags).inspect_err(|_| fuel::note_bad_pattern())?);
    fuel::charge(matcher.size);
    CACHE.with_borrow_mut(|cache| {
        if cache.len() >= MAX_CACHED {
            cache.remove(0);
        }
        let (pattern, flags) = (pattern.to_owned(), flags.to_owned());
        cache.push(CachedMatcher { pattern, flags, matcher: Rc::clone(&matcher), run });
    });
    Ok(matcher)
}

/// Whether a pattern with its flags can be used.
///
/// # Errors
/// As [`matcher`].
pub fn check(pattern: &str, flags: &str) -> Result<(), String> {
    // Compiling it is paid for when it is used.
    fuel::begin(u64::MAX, u32::MAX);
    Matcher::new(pattern, flags).map(drop)
}

#[derive(Default)]
struct Flags {
    global: bool,
    skip_empty: bool,
    any_case: bool,
    extended: bool,
    dot_all: bool,
}

impl Flags {
    /// Flags as documented by jq. `s` (`^` and `$` match at the ends of the complete text) is the default anyway; `p`
    /// lets a dot match a line feed. The engine does not support `l`: it takes the first alternative, not the longest.
    fn read(text: &str) -> Result<Flags, String> {
        let mut flags = Flags::default();
        for flag in text.chars() {
            match flag {
                'g' => flags.global = true,
                'i' => flags.any_case = true,
                'n' => flags.skip_empty = true,
                'p' => flags.dot_all = true,
                's' => {}
                'x' => flags.extended = true,
                'l' => return Err("the flag l is not supported; put the longer alternative first".to_owned()),
                other => {
                    return Err(format!("\"{other}\" is not a flag of a pattern; the flags are g, i, n, p, s and x"));
                }
            }
        }
        Ok(flags)
    }
}

impl Matcher {
    fn new(pattern: &str, flags: &str) -> Result<Matcher, String> {
        let flags = Flags::read(flags)?;
        if pattern.len() > MAX_PATTERN {
            return Err(format!("a pattern of {} bytes is too long; the limit is {MAX_PATTERN}", pattern.len()));
        }
        let too_large = || "the pattern is too large; write smaller repetitions".to_owned();
        let hir = parse(pattern, &flags)?;
        let (places, size) = (sum(&hir, |_| 1), sum(&hir, ranges));
        if places > MAX_PLACES {
            return Err(too_large());
        }
        if !fuel::can_charge(size) {
            fuel::stop(fuel::StopReason::Fuel);
            return Err(too_large());
        }
        let regex = RegexBuilder::new(pattern)
            .case_insensitive(flags.any_case)
            .ignore_whitespace(flags.extended)
            .dot_matches_new_line(flags.dot_all)
            .nest_limit(NESTING)
            .size_limit(MAX_MEMORY)
            .dfa_size_limit(MAX_MEMORY)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => too_large(),
                other => unreadable(&other),
            })?;
        Ok(Matcher { regex, global: flags.global, skip_empty: flags.skip_empty, places, size, beyond: lookahead(&hir) })
    }

    /// Whether there is enough fuel for a search from `start` to the end of the text.
    pub fn can_search(&self, text: &str, start: usize) -> bool {
        let can = fuel::can_charge(self.cost(text.len().saturating_sub(start)));
        if !can {
            fuel::stop(fuel::StopReason::Fuel);
        }
        can
    }

    /// Charges a search from `start` that ended at `end`. With an unbounded repetition it may have read all of the
    /// text.
    pub fn charge(&self, text: &str, start: usize, end: usize) -> bool {
        let rest = text.len().saturating_sub(start);
        let passed = end.saturating_sub(start);
        let beyond = self.beyond.map_or(rest, |beyond| beyond.min(rest));
        fuel::charge(2 + self.cost(passed) + self.cost(beyond) / 8)
    }

    fn cost(&self, bytes: usize) -> u64 {
        (bytes as u64).saturating_mul(4 + self.places) / 64
    }
}

/// How deep the groups of a pattern may be nested.
const NESTING: u32 = 50;

fn parse(pattern: &str, flags: &Flags) -> Result<Hir, String> {
    ParserBuilder::new()
        .case_insensitive(flags.any_case)
        .ignore_whitespace(flags.extended)
        .dot_matches_new_line(flags.dot_all)
        .nest_limit(NESTING)
        .build()
        .parse(pattern)
        .map_err(|error| unreadable(&error))
}

/// The parser draws the pattern in several lines, and describes the problem in the last.
fn unreadable(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    format!("the pattern is wrong: {}", last.trim_start_matches("error: "))
}

/// How far a search may look beyond a match: at most the length of the longest match, and not at all if each letter
/// leaves only one way to continue. (`x*y|x` looks for a y to the end of the text, after each x.)
fn lookahead(hir: &Hir) -> Option<usize> {
    let one_way = || {
        let nfa = NFA::compiler().configure(NFA::config().nfa_size_limit(Some(MAX_MEMORY))).build_from_hir(hir).ok()?;
        let config = onepass::Config::new().size_limit(Some(MAX_MEMORY / 4));
        onepass::Builder::new().configure(config).build_from_nfa(nfa).is_ok().then_some(0)
    };
    hir.properties().maximum_len().or_else(|| beyond_run(hir)).or_else(one_way)
}

/// For patterns that end in a repeated letter, such as `\w+`: they match for as long as the repetition continues.
fn beyond_run(hir: &Hir) -> Option<usize> {
    match hir.kind() {
        HirKind::Capture(capture) => beyond_run(&capture.sub),
        HirKind::Repetition(run) => (run.greedy && matches!(run.sub.kind(), HirKind::Class(_))).then_some(0),
        HirKind::Concat(parts) => {
            let (last, before) = parts.split_last()?;
            before.iter().try_fold(beyond_run(last)?, |sum, part| Some(sum + part.properties().maximum_len()?))
        }
        _ => None,
    }
}

/// The letters of a pattern with its repetitions written out; each class of letters counts as much as it is `worth`.
fn sum(hir: &Hir, worth: fn(&Class) -> u64) -> u64 {
    match hir.kind() {
        HirKind::Empty => 0,
        HirKind::Look(_) => 1,
        HirKind::Class(class) => worth(class),
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Capture(capture) => 1 + sum(&capture.sub, worth),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(0, |all: u64, part| all.saturating_add(sum(part, worth)))
        }
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            sum(&repetition.sub, worth).max(1).saturating_mul(u64::from(times))
        }
    }
}

/// `\w` consists of hundreds of ranges of letters, and each is compiled.
fn ranges(class: &Class) -> u64 {
    match class {
        Class::Unicode(class) => class.ranges().len() as u64,
        Class::Bytes(class) => class.ranges().len() as u64,
    }
}
