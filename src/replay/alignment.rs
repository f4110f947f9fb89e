//! Holds what comes live against what was recorded, turn by turn, without ids.
//!
//! Lockstep is the ground: a turn that was answered with two lines waits for two. Where a line differs, more is to be
//! known before it is paired with what was recorded, and the next lines tell:
//!
//! - the expected line follows soon: the one before it was **extra**;
//! - a later line of the same turn comes: those before it are **missing**;
//! - nothing comes soon: it stands in for the expected one, which **differs**;
//! - what the turn before waited for comes now: the line that stood in for it was extra, and this one is late;
//! - where the other side is a world, a long line comes that a later turn expects, and only that: the world went on by
//!   itself, and the turns between are skipped.

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use super::turns::{RecordedLine, Turn, body};
use std::collections::VecDeque;

/// A line that came live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveLine {
    /// As it came, with its end.
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

/// What was found out about a recorded line, a live one, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// It came as it was recorded.
    Same(RecordedLine, LiveLine),
    /// Another line came in its place.
    Differs(RecordedLine, LiveLine),
    /// Nothing came in its place.
    Missing(RecordedLine),
    /// It came in no recorded line's place.
    Extra(LiveLine),
    /// Our own line was not said, because the other side was past it.
    Unsaid(RecordedLine),
}

/// What the turn needs now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Everything that was recorded has been answered for: the next turn may begin.
    Next,
    /// Another line, however long it takes.
    Line,
    /// A line that explains one that differs, or [`Alignment::settle`] soon.
    Explanation,
}

/// A line that came is looked for among so many that are waited for: each costs a look.
const WINDOW: usize = 64;

/// So many lines, and bytes, wait for an explanation; what is more than that is a flood, and no answer.
const STRAYS: usize = 256;
const STRAY_BYTES: usize = 16 << 20;

/// Only a line that is at least so long, and expected once among the turns ahead, lets turns be skipped.
const TELLING: usize = 64;

type IsSame<'c> = dyn Fn(&[u8], &[u8]) -> bool + 'c;

/// The state of the comparison.
#[derive(Debug, Default)]
pub struct Alignment {
    turn: u64,
    /// What this turn still waits for.
    expected: VecDeque<RecordedLine>,
    /// Lines that fit nothing yet.
    strays: Vec<LiveLine>,
    /// The last line that another stood in for, and that other: the true one may still come. With it, its turn.
    replaced: Option<(u64, RecordedLine, LiveLine)>,
    /// The turns after this one, as far as they are looked at.
    ahead: VecDeque<Turn>,
    /// A late line has come: whoever answers is behind, and what it owes should follow soon.
    is_behind: bool,
    findings: Vec<(u64, Finding)>,
    /// Whether lines of a turn may come in another order, and the turn waits a moment for those that others came before.
    waits_for_passed: bool,
    /// Lines of this turn that are missing because later ones came; they may come yet.
    passed: Vec<RecordedLine>,
}

impl Alignment {
    /// With `waits_for_passed`, a turn in which a later line came first does not end before [`Alignment::settle`], unless
    /// the lines before it come, or a line that is none of these.
    pub fn new(waits_for_passed: bool) -> Alignment {
        Alignment { waits_for_passed, ..Alignment::default() }
    }

    /// Begins a turn; the one before has come to [`Need::Next`].
    /// What came before it began may be its answer already: not everybody waits.
    pub fn begin(&mut self, turn: &Turn, is_same: &IsSame<'_>) -> Need {
        self.turn = turn.number;
        self.expected = turn.theirs.iter().cloned().collect();
        self.is_behind = false;
        self.passed.clear();
        for early in std::mem::take(&mut self.strays) {
            self.receive(early, is_same);
        }
        self.need()
    }

    /// Shows a turn after this one, so that it may be skipped to.
    pub fn look_ahead(&mut self, turn: Turn) {
        self.ahead.push_back(turn);
    }

    /// How many turns are shown and not begun.
    pub fn ahead(&self) -> usize {
        self.ahead.len()
    }

    /// The next of the turns that were shown.
    pub fn next_ahead(&mut self) -> Option<Turn> {
        self.ahead.pop_front()
    }

    /// What was found out since this was last asked, with the numbers of the turns.
    pub fn findings(&mut self) -> Vec<(u64, Finding)> {
        std::mem::take(&mut self.findings)
    }

    /// A recorded line, and the other that stands in for it as far as is known.
    pub fn stand_in(&self) -> Option<(&RecordedLine, &LiveLine)> {
        self.replaced.as_ref().map(|(_, said, heard)| (said, heard))
    }

    /// Whether a late line has come in this turn, so that waiting for the turn's own is no use for long.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Whether lines of this turn are still to come.
    pub fn is_owed(&self) -> bool {
        !self.expected.is_empty()
    }

    /// Whether the turn waits for nothing but lines that later ones came before.
    pub fn waits_for_passed_only(&self) -> bool {
        !self.passed.is_empty() && self.strays.is_empty() && self.expected.is_empty()
    }

    /// The turn that something may still be found out about, where that is an earlier one.
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

    fn find(&mut self, finding: Finding) {
        self.findings.push((self.turn, finding));
    }

    /// Takes a line that came.
    pub fn receive(&mut self, heard: LiveLine, is_same: &IsSame<'_>) -> Need {
        let same = |said: &RecordedLine| is_same(said.body(), heard.body());
        if let Some(at) = self.expected.iter().take(WINDOW).position(same) {
            self.confirm();
            if self.waits_for_passed {
                self.passed.extend(self.expected.iter().take(at).skip(self.strays.len()).cloned());
            }
            self.pair_strays_with_first(at, false);
            if let Some(said) = self.expected.pop_front() {
                self.find(Finding::Same(said, heard));
            }
        } else if self.strays.is_empty()
            && let Some((turn, said, stood_in)) = self.replaced.take_if(|(_, said, _)| same(said))
        {
            self.findings.push((turn, Finding::Extra(stood_in)));
            self.findings.push((turn, Finding::Same(said, heard)));
            self.is_behind = true;
        } else if let Some(at) = self.passed.iter().position(same) {
            self.passed.remove(at);
            self.find(Finding::Extra(heard));
        } else if !self.passed.is_empty() && self.expected.is_empty() {
            // The other side has gone on; this is compared with the next turn.
            self.passed.clear();
            self.strays.push(heard);
            return Need::Next;
        } else if let Some(at) = self.place_ahead(&same) {
            self.skip_to(at, heard, is_same);
        } else {
            self.strays.push(heard);
            let bytes = || self.strays.iter().map(|stray| stray.bytes.len()).sum::<usize>();
            if self.strays.len() > STRAYS || bytes() > STRAY_BYTES {
                self.settle();
            }
        }
        self.need()
    }

    /// Nothing more came soon: what differs stands in for what was expected, in order.
    pub fn settle(&mut self) -> Need {
        self.passed.clear();
        let pairs = self.strays.len().min(self.expected.len());
        self.pair_strays_with_first(pairs, true);
        self.need()
    }

    /// We were stopped: what came is accounted for, and what didn't yet is nobody's fault.
    pub fn stop(&mut self) {
        self.settle();
        self.confirm();
    }

    /// Nothing came at all, or nothing will: the rest of the turn is missing.
    pub fn give_up(&mut self) -> Need {
        self.stop();
        while let Some(said) = self.expected.pop_front() {
            self.find(Finding::Missing(said));
        }
        self.need()
    }

    /// The strays against the first `count` expected lines; what is left over is missing, or extra.
    fn pair_strays_with_first(&mut self, count: usize, may_be_late: bool) {
        let mut strays = std::mem::take(&mut self.strays).into_iter();
        for said in self.expected.drain(..count).collect::<Vec<_>>() {
            self.confirm();
            match strays.next() {
                Some(heard) if may_be_late => self.replaced = Some((self.turn, said, heard)),
                Some(heard) => self.find(Finding::Differs(said, heard)),
                None => self.find(Finding::Missing(said)),
            }
        }
        for heard in strays {
            self.find(Finding::Extra(heard));
        }
    }

    /// The line that another stood in for will not come any more.
    fn confirm(&mut self) {
        if let Some((turn, said, heard)) = self.replaced.take() {
            self.findings.push((turn, Finding::Differs(said, heard)));
        }
    }

    /// The one turn ahead that expects this line, where it is telling.
    fn place_ahead(&self, same: &dyn Fn(&RecordedLine) -> bool) -> Option<usize> {
        let is_there =
            |turn: &Turn| turn.theirs.iter().take(WINDOW).any(|said| said.bytes.len() >= TELLING && same(said));
        let mut places = self.ahead.iter().enumerate().filter(|(_, turn)| is_there(turn)).map(|(at, _)| at);
        let place = places.next();
        if places.next().is_some() { None } else { place }
    }

    fn skip_to(&mut self, at: usize, heard: LiveLine, is_same: &IsSame<'_>) {
        self.give_up();
        for turn in self.ahead.drain(..=at).collect::<Vec<_>>() {
            self.turn = turn.number;
            for said in turn.ours {
                self.find(Finding::Unsaid(said));
            }
            self.expected = turn.theirs.into();
            if let Some(found) = self.expected.iter().position(|said| is_same(said.body(), heard.body())) {
                self.pair_strays_with_first(found, false);
                if let Some(said) = self.expected.pop_front() {
                    self.find(Finding::Same(said, heard));
                }
                return;
            }
            self.give_up();
        }
    }
}
