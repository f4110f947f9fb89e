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

use super::turns::{Said, Turn, body};
use std::collections::VecDeque;

/// A line that came live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// As it came, with its end.
    pub bytes: Vec<u8>,
    /// Its number, from 1.
    pub number: u64,
}

impl Heard {
    /// The line without its end.
    pub fn body(&self) -> &[u8] {
        body(&self.bytes)
    }
}

/// What was found out about a recorded line, a live one, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// It came as it was recorded.
    Same(Said),
    /// Another line came in its place.
    Differs(Said, Heard),
    /// Nothing came in its place.
    Missing(Said),
    /// It came in no recorded line's place.
    Extra(Heard),
    /// Our own line was not said, because the other side was past it.
    Unsaid(Said),
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
    expected: VecDeque<Said>,
    /// Lines that fit nothing yet.
    strays: Vec<Heard>,
    /// The last line that another stood in for, and that other: the true one may still come. With it, its turn.
    replaced: Option<(u64, Said, Heard)>,
    /// The turns after this one, as far as they are looked at.
    ahead: VecDeque<Turn>,
    /// A late line has come: whoever answers is behind, and what it owes should follow soon.
    is_behind: bool,
    findings: Vec<(u64, Finding)>,
}

impl Alignment {
    /// Begins a turn; the one before has come to [`Need::Next`].
    /// What came before it began may be its answer already: not everybody waits.
    pub fn begin(&mut self, turn: &Turn, is_same: &IsSame<'_>) -> Need {
        self.turn = turn.number;
        self.expected = turn.theirs.iter().cloned().collect();
        self.is_behind = false;
        for early in std::mem::take(&mut self.strays) {
            self.hear(early, is_same);
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

    /// Whether a late line has come in this turn, so that waiting for the turn's own is no use for long.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Whether lines of this turn are still to come.
    pub fn is_owed(&self) -> bool {
        !self.expected.is_empty()
    }

    /// The turn that something may still be found out about, where that is an earlier one.
    pub fn open_turn(&self) -> Option<u64> {
        self.replaced.as_ref().map(|(turn, ..)| *turn)
    }

    fn need(&self) -> Need {
        match (self.strays.is_empty(), self.expected.is_empty()) {
            (false, _) => Need::Explanation,
            (true, false) => Need::Line,
            (true, true) => Need::Next,
        }
    }

    fn find(&mut self, finding: Finding) {
        self.findings.push((self.turn, finding));
    }

    /// Takes a line that came.
    pub fn hear(&mut self, heard: Heard, is_same: &IsSame<'_>) -> Need {
        let same = |said: &Said| is_same(said.body(), heard.body());
        if let Some(at) = self.expected.iter().take(WINDOW).position(same) {
            self.confirm();
            self.pair_strays_with_first(at, false);
            if let Some(said) = self.expected.pop_front() {
                self.find(Finding::Same(said));
            }
        } else if self.strays.is_empty()
            && let Some((turn, said, stood_in)) = self.replaced.take_if(|(_, said, _)| same(said))
        {
            self.findings.push((turn, Finding::Extra(stood_in)));
            self.findings.push((turn, Finding::Same(said)));
            self.is_behind = true;
        } else if let Some(at) = self.place_ahead(&same) {
            self.skip_to(at, &same);
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
    fn place_ahead(&self, same: &dyn Fn(&Said) -> bool) -> Option<usize> {
        let is_there =
            |turn: &Turn| turn.theirs.iter().take(WINDOW).any(|said| said.bytes.len() >= TELLING && same(said));
        let mut places = self.ahead.iter().enumerate().filter(|(_, turn)| is_there(turn)).map(|(at, _)| at);
        let place = places.next();
        if places.next().is_some() { None } else { place }
    }

    fn skip_to(&mut self, at: usize, same: &dyn Fn(&Said) -> bool) {
        self.give_up();
        for turn in self.ahead.drain(..=at).collect::<Vec<_>>() {
            self.turn = turn.number;
            for said in turn.ours {
                self.find(Finding::Unsaid(said));
            }
            self.expected = turn.theirs.into();
            if let Some(found) = self.expected.iter().position(same) {
                self.pair_strays_with_first(found, false);
                if let Some(said) = self.expected.pop_front() {
                    self.find(Finding::Same(said));
                }
                return;
            }
            self.give_up();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn turn(number: u64, theirs: &[&str]) -> Turn {
        let said = |text: &&str| Said { bytes: format!("{text}\n").into_bytes(), t: 0, place: (0, number) };
        Turn { number, think: 0, ours: vec![said(&"we")], theirs: theirs.iter().map(said).collect() }
    }

    /// Plays turns against a script: lines, `.` for a while without any, `!` for giving up.
    fn play(turns: &[&[&str]], script: &str, world: bool) -> String {
        let mut alignment = Alignment::default();
        let mut rest = turns.iter().enumerate().map(|(index, theirs)| turn(index as u64 + 1, theirs));
        let mut need = Need::Next;
        let mut number = 0;
        let mut words = script.split_whitespace();
        let mut out = Vec::new();
        loop {
            while need == Need::Next {
                let Some(turn) = alignment.next_ahead().or_else(|| rest.next()) else { break };
                while world && let Some(turn) = rest.next() {
                    alignment.look_ahead(turn);
                }
                need = alignment.begin(&turn, &|recorded, now| recorded == now);
            }
            let Some(word) = words.next() else {
                alignment.give_up();
                break;
            };
            need = match word {
                "." => alignment.settle(),
                "!" => alignment.give_up(),
                _ => {
                    number += 1;
                    let heard = Heard { bytes: format!("{word}\r\n").into_bytes(), number };
                    alignment.hear(heard, &|recorded, now| recorded == now)
                }
            };
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(body(bytes)).into_owned();
        for (turn, finding) in alignment.findings() {
            out.push(match finding {
                Finding::Same(_) => continue,
                Finding::Differs(said, heard) => format!("{turn}:{}/{}", text(&said.bytes), text(&heard.bytes)),
                Finding::Missing(said) => format!("{turn}:-{}", text(&said.bytes)),
                Finding::Extra(heard) => format!("{turn}:+{}", text(&heard.bytes)),
                Finding::Unsaid(_) => format!("{turn}:unsaid"),
            });
        }
        out.join(" ")
    }

    #[test]
    fn the_same_conversation_has_no_findings() {
        assert_eq!(play(&[&["a"], &["b", "c"], &[], &["d"]], "a b c d", false), "");
    }

    #[test]
    fn another_answer_differs_and_the_rest_is_aligned() {
        assert_eq!(play(&[&["a"], &["b"], &["c"]], "a x . c", false), "2:b/x");
        assert_eq!(play(&[&["a", "b"], &["c"]], "x . b c", false), "1:a/x");
        assert_eq!(play(&[&["a", "b"], &["c"]], "x y . c", false), "1:a/x 1:b/y");
    }

    #[test]
    fn an_extra_line_shifts_nothing() {
        assert_eq!(play(&[&["a"], &["b"], &["c"]], "x a b c", false), "1:+x");
        assert_eq!(play(&[&["a"], &["b"], &["c"]], "a b x c", false), "3:+x");
        assert_eq!(play(&[&["a"], &["b"]], "x . a b", false), "1:+x", "the true answer came late");
        assert_eq!(play(&[&["a"], &["b"], &["c"]], "x . y . c", false), "1:a/x 2:b/y");
    }

    #[test]
    fn a_line_that_never_comes_is_missing() {
        assert_eq!(play(&[&["a"], &["b"], &["c"]], "a ! c", false), "2:-b");
        assert_eq!(play(&[&["a", "b", "c"], &["d"]], "c d", false), "1:-a 1:-b");
        assert_eq!(play(&[&["a"], &["b"]], "a", false), "2:-b");
        assert_eq!(play(&[&["a", "b"], &["c"]], "x . !", false), "1:a/x 1:-b 2:-c");
    }

    #[test]
    fn a_world_that_went_on_by_itself_is_followed() {
        let long = "x".repeat(TELLING);
        let turns: [&[&str]; 4] = [&["a"], &["b"], &[&long], &["d"]];
        assert_eq!(play(&turns, &format!("a {long} d"), true), "2:-b 3:unsaid");
        assert_eq!(play(&turns, &format!("a {long} . . d"), false), format!("2:b/{long} 3:{long}/d").as_str());
        let twice: [&[&str]; 4] = [&["a"], &["b"], &[&long], &[&long]];
        assert!(
            play(&twice, &format!("a {long} ."), true).starts_with("2:b/"),
            "a line that is expected twice tells nothing"
        );
    }

    /// The recorded lines that were accounted for, the numbers of the live ones that were told, and how many lines came as
    /// they were recorded.
    fn account(turns: &[Turn], live: &[Vec<u8>], skips: bool, gives_up: &[bool]) -> (Vec<Said>, Vec<u64>, usize) {
        let is_same = |recorded: &[u8], now: &[u8]| recorded == now;
        let mut alignment = Alignment::default();
        let (mut rest, mut live) = (turns.iter().cloned(), live.iter().zip(1..));
        let mut choices = gives_up.iter().copied().cycle();
        while let Some(turn) = alignment.next_ahead().or_else(|| rest.next()) {
            while skips
                && alignment.ahead() < 3
                && let Some(turn) = rest.next()
            {
                alignment.look_ahead(turn);
            }
            let mut need = alignment.begin(&turn, &is_same);
            while need != Need::Next {
                let next = if choices.next() == Some(true) { None } else { live.next() };
                need = match next {
                    Some((bytes, number)) => alignment.hear(Heard { bytes: bytes.clone(), number }, &is_same),
                    None if need == Need::Explanation => alignment.settle(),
                    None => alignment.give_up(),
                };
            }
        }
        for (bytes, number) in live {
            alignment.hear(Heard { bytes: bytes.clone(), number }, &is_same);
        }
        alignment.give_up();
        let (mut recorded, mut told, mut same) = (Vec::new(), Vec::new(), 0);
        for (_, finding) in alignment.findings() {
            same += usize::from(matches!(finding, Finding::Same(_)));
            match finding {
                Finding::Same(said) | Finding::Missing(said) => recorded.push(said),
                Finding::Differs(said, heard) => {
                    recorded.push(said);
                    told.push(heard.number);
                }
                Finding::Extra(heard) => told.push(heard.number),
                Finding::Unsaid(_) => {}
            }
        }
        recorded.sort_by_key(|said| said.place);
        told.sort_unstable();
        told.dedup();
        (recorded, told, same)
    }

    proptest::proptest! {
        #[test]
        fn every_line_is_accounted_for_exactly_once(
            shape in proptest::collection::vec(proptest::collection::vec(0u8..6, 0..5), 0..12),
            live in proptest::collection::vec(0u8..6, 0..40),
            skips in proptest::bool::ANY,
            gives_up in proptest::collection::vec(proptest::bool::weighted(0.3), 1..20),
        ) {
            // Some lines are so long that they are telling.
            let text = |letter: u8| vec![b'a' + letter; if letter > 3 { TELLING } else { 1 }];
            let mut place = 0;
            let mut said = |letter: u8| { place += 1; Said { bytes: text(letter), t: 0, place: (0, place) } };
            let turns: Vec<Turn> = shape.iter().zip(1..).map(|(theirs, number)| Turn {
                number, think: 0, ours: Vec::new(), theirs: theirs.iter().map(|&letter| said(letter)).collect(),
            }).collect();
            let expected: Vec<Said> = turns.iter().flat_map(|turn| turn.theirs.clone()).collect();
            let live: Vec<Vec<u8>> = live.into_iter().map(text).collect();
            let (recorded, told, same) = account(&turns, &live, skips, &gives_up);
            proptest::prop_assert_eq!(recorded, expected.clone(), "each recorded line once");
            // Those that came as recorded are told without themselves.
            proptest::prop_assert_eq!(told.len() + same, live.len(), "each live line once");
            // The same conversation has no findings.
            let bytes: Vec<Vec<u8>> = expected.iter().map(|said| said.bytes.clone()).collect();
            let (_, told, same) = account(&turns, &bytes, false, &[false]);
            proptest::prop_assert_eq!((told, same), (Vec::new(), expected.len()));
        }
    }
}
