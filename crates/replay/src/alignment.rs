//! Compares live lines with recorded ones, turn by turn, without ids.
//!
//! The basis is lockstep: a turn that was answered with two lines waits for two. A line that differs is not paired with
//! a recorded one at once. The next lines decide:
//!
//! - the expected line follows soon: the one before it was **extra**;
//! - a later line of the same turn comes: those before it are **missing**;
//! - nothing comes soon: the line stands in for the expected one, which **differs**;
//! - a line that the previous turn expected comes now: it is late, and the line that stood in for it was extra;
//! - the other side is a world, and a long line comes that only one later turn expects: the world continued by itself,
//!   and the turns between are skipped.

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use super::turns::{RecordedLine, Turn, body};
use std::collections::VecDeque;

/// A live line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveLine {
    /// Its bytes, with its end.
    pub bytes: Vec<u8>,
    /// Its number, from 1.
    pub number: u64,
}

impl LiveLine {
    /// The line without its end.
    pub fn body(&self) -> &[u8] {
        body(&self.bytes)
    }
}

/// The result of comparing a recorded line, a live one, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The live line equals the recorded one.
    Same(RecordedLine, LiveLine),
    /// Another line came in its place.
    Differs(RecordedLine, LiveLine),
    /// No line came in its place.
    Missing(RecordedLine),
    /// The line does not take the place of a recorded one.
    Extra(LiveLine),
    /// Our own line was not sent, because the other side was already past it.
    Unsaid(RecordedLine),
}

/// What the turn needs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// All recorded lines are accounted for: the next turn may begin.
    Next,
    /// Another line, without a time limit.
    Line,
    /// A line that explains one that differs, or [`Alignment::settle`] after a short time.
    Explanation,
}

/// How many expected lines are compared with a live line. Each comparison takes time.
const WINDOW: usize = 64;

/// How many lines and bytes may wait for an explanation. More is a flood, not an answer.
const MAX_STRAYS: usize = 256;
const MAX_STRAY_BYTES: usize = 16 << 20;

/// Turns are skipped only for a line of at least this length that one turn ahead expects.
const MIN_LENGTH: usize = 64;

type Equality<'c> = dyn Fn(&[u8], &[u8]) -> bool + 'c;

/// The state of the comparison.
#[derive(Debug, Default)]
pub struct Alignment {
    turn: u64,
    /// The lines that this turn still waits for.
    expected: VecDeque<RecordedLine>,
    /// Lines that match nothing yet.
    strays: Vec<LiveLine>,
    /// The last recorded line that another stood in for, with its turn and that other line. The real one may still
    /// come.
    replaced: Option<(u64, RecordedLine, LiveLine)>,
    /// The turns after this one, as far as they are known.
    ahead: VecDeque<Turn>,
    /// A late line has come: the other side is behind, and its outstanding lines should follow soon.
    is_behind: bool,
    findings: Vec<(u64, Finding)>,
    /// Whether lines of a turn may come in another order. Then the turn waits briefly for lines that later ones
    /// overtook.
    waits_for_passed: bool,
    /// Lines of this turn that are missing because later ones came first. They may still come.
    passed: Vec<RecordedLine>,
}

impl Alignment {
    /// With `waits_for_passed`, a turn whose lines came out of order does not end before [`Alignment::settle`], unless
    /// the overtaken lines come, or a line that belongs to none of them.
    pub fn new(waits_for_passed: bool) -> Alignment {
        Alignment { waits_for_passed, ..Alignment::default() }
    }

    /// Begins a turn, after the previous one has come to [`Need::Next`]. Lines that came before may already be its
    /// answer: not every program waits.
    pub fn begin(&mut self, turn: &Turn, is_same: &Equality<'_>) -> Need {
        self.turn = turn.number;
        self.expected = turn.theirs.iter().cloned().collect();
        self.is_behind = false;
        self.passed.clear();
        for early in std::mem::take(&mut self.strays) {
            self.receive(early, is_same);
        }
        self.need()
    }

    /// Adds a turn after this one, so that it may be skipped to.
    pub fn look_ahead(&mut self, turn: Turn) {
        self.ahead.push_back(turn);
    }

    /// How many added turns have not begun.
    pub fn ahead(&self) -> usize {
        self.ahead.len()
    }

    /// The next of the added turns.
    pub fn next_ahead(&mut self) -> Option<Turn> {
        self.ahead.pop_front()
    }

    /// The findings since the last call, with the numbers of their turns.
    pub fn findings(&mut self) -> Vec<(u64, Finding)> {
        std::mem::take(&mut self.findings)
    }

    /// A recorded line, and the line that stands in for it for now.
    pub fn substitute(&self) -> Option<(&RecordedLine, &LiveLine)> {
        self.replaced.as_ref().map(|(_, recorded, live)| (recorded, live))
    }

    /// Whether a late line has come in this turn. Then waiting long for the turn's own lines is of no use.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Whether lines of this turn are still outstanding.
    pub fn is_outstanding(&self) -> bool {
        !self.expected.is_empty()
    }

    /// Whether the turn waits only for overtaken lines.
    pub fn waits_for_passed_only(&self) -> bool {
        !self.passed.is_empty() && self.strays.is_empty() && self.expected.is_empty()
    }

    /// The number of an earlier turn whose findings are not final, if there is one.
    pub fn open_turn(&self) -> Option<u64> {
        self.replaced.as_ref().map(|(turn, ..)| *turn)
    }

    fn need(&self) -> Need {
        match (self.strays.is_empty(), self.expected.is_empty()) {
            (false, _) => Need::Explanation,
            (true, false) => Need::Line,
            (true, true) if !self.passed.is_empty() => Need::Explanation,
            (true, true) => Need::Next,
        }
    }

    fn record_finding(&mut self, finding: Finding) {
        self.findings.push((self.turn, finding));
    }

    /// Takes a live line.
    pub fn receive(&mut self, live: LiveLine, is_same: &Equality<'_>) -> Need {
        let same = |recorded: &RecordedLine| is_same(recorded.body(), live.body());
        if let Some(at) = self.expected.iter().take(WINDOW).position(same) {
            self.confirm();
            if self.waits_for_passed {
                self.passed.extend(self.expected.iter().take(at).skip(self.strays.len()).cloned());
            }
            self.pair_strays_with_first(at, false);
            if let Some(recorded) = self.expected.pop_front() {
                self.record_finding(Finding::Same(recorded, live));
            }
        } else if self.strays.is_empty()
            && let Some((turn, recorded, stand_in)) = self.replaced.take_if(|(_, recorded, _)| same(recorded))
        {
            self.findings.push((turn, Finding::Extra(stand_in)));
            self.findings.push((turn, Finding::Same(recorded, live)));
            self.is_behind = true;
        } else if let Some(at) = self.passed.iter().position(same) {
            self.passed.remove(at);
            self.record_finding(Finding::Extra(live));
        } else if !self.passed.is_empty() && self.expected.is_empty() {
            // The other side has moved on; this line is compared with the next turn.
            self.passed.clear();
            self.strays.push(live);
            return Need::Next;
        } else if let Some(at) = self.place_ahead(&same) {
            self.skip_to(at, live, is_same);
        } else {
            self.strays.push(live);
            let bytes = || self.strays.iter().map(|stray| stray.bytes.len()).sum::<usize>();
            if self.strays.len() > MAX_STRAYS || bytes() > MAX_STRAY_BYTES {
                self.settle();
            }
        }
        self.need()
    }

    /// No more lines came soon: those that differ stand in for the expected ones, in order.
    pub fn settle(&mut self) -> Need {
        self.passed.clear();
        let pairs = self.strays.len().min(self.expected.len());
        self.pair_strays_with_first(pairs, true);
        self.need()
    }

    /// Playing was stopped: what came is accounted for, and lines that have not come yet are not counted as missing.
    pub fn stop(&mut self) {
        self.settle();
        self.confirm();
    }

    /// No lines will come: the rest of the turn is missing.
    pub fn give_up(&mut self) -> Need {
        self.stop();
        while let Some(recorded) = self.expected.pop_front() {
            self.record_finding(Finding::Missing(recorded));
        }
        self.need()
    }

    /// Pairs the strays with the first `count` expected lines. The rest are missing or extra.
    fn pair_strays_with_first(&mut self, count: usize, may_be_late: bool) {
        let mut strays = std::mem::take(&mut self.strays).into_iter();
        for recorded in self.expected.drain(..count).collect::<Vec<_>>() {
            self.confirm();
            match strays.next() {
                Some(live) if may_be_late => self.replaced = Some((self.turn, recorded, live)),
                Some(live) => self.record_finding(Finding::Differs(recorded, live)),
                None => self.record_finding(Finding::Missing(recorded)),
            }
        }
        for live in strays {
            self.record_finding(Finding::Extra(live));
        }
    }

    /// The line that another stood in for will not come any more.
    fn confirm(&mut self) {
        if let Some((turn, recorded, live)) = self.replaced.take() {
            self.findings.push((turn, Finding::Differs(recorded, live)));
        }
    }

    /// The only turn ahead that expects this line, if the line is distinctive.
    fn place_ahead(&self, same: &dyn Fn(&RecordedLine) -> bool) -> Option<usize> {
        let is_there = |turn: &Turn| {
            turn.theirs.iter().take(WINDOW).any(|recorded| recorded.bytes.len() >= MIN_LENGTH && same(recorded))
        };
        let mut places = self.ahead.iter().enumerate().filter(|(_, turn)| is_there(turn)).map(|(at, _)| at);
        let place = places.next();
        if places.next().is_some() { None } else { place }
    }

    fn skip_to(&mut self, at: usize, live: LiveLine, is_same: &Equality<'_>) {
        self.give_up();
        for turn in self.ahead.drain(..=at).collect::<Vec<_>>() {
            self.turn = turn.number;
            for recorded in turn.ours {
                self.record_finding(Finding::Unsaid(recorded));
            }
            self.expected = turn.theirs.into();
            if let Some(found) = self.expected.iter().position(|recorded| is_same(recorded.body(), live.body())) {
                self.pair_strays_with_first(found, false);
                if let Some(recorded) = self.expected.pop_front() {
                    self.record_finding(Finding::Same(recorded, live));
                }
                return;
            }
            self.give_up();
        }
    }
}
