//! A conversation, cut into turns.

/// A recorded line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedLine {
    /// The line as it passed, with its end.
    pub bytes: Vec<u8>,
    /// When it passed, in microseconds since the session's start.
    pub t: u64,
    /// The file that it stands in (counted from 0), and its line there.
    pub place: (usize, u64),
}

impl RecordedLine {
    /// The line without its end.
    pub fn body(&self) -> &[u8] {
        body(&self.bytes)
    }
}

/// A line without its end.
pub fn body(raw: &[u8]) -> &[u8] {
    raw.strip_suffix(b"\r\n").or_else(|| raw.strip_suffix(b"\n")).unwrap_or(raw)
}

/// What our side says, and what the other side answered to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// Counted from 1.
    pub number: u64,
    /// How long our side took to say it after the other side's last line, in microseconds.
    pub think: u64,
    /// What our side says; nothing in the first turn where the other side began, and where what the other side answers is
    /// so much that it is cut.
    pub ours: Vec<RecordedLine>,
    /// What the other side answered; nothing where the recording ends, and where our side says so much that it is cut.
    pub theirs: Vec<RecordedLine>,
}

/// Makes turns of lines.
#[derive(Debug, Default)]
pub struct Turns {
    turn: Turn,
    number: u64,
    last_t: u64,
    /// How much either side says in this turn.
    held: [usize; 2],
}

/// A side that says more than this without an answer is given in several turns: memory is bounded.
const MOST: usize = 512 << 10;

/// What is held beside a line's bytes.
const AROUND: usize = 100;

impl Turns {
    /// Takes the next line, and gives the turn that it ends.
    pub fn push(&mut self, is_ours: bool, said: RecordedLine) -> Option<Turn> {
        let begins = self.held[usize::from(is_ours)] > MOST || is_ours && !self.turn.theirs.is_empty();
        let ended = if begins { self.end() } else { None };
        if is_ours && self.turn.ours.is_empty() {
            self.turn.think = said.t.saturating_sub(self.last_t);
        }
        self.last_t = said.t;
        self.held[usize::from(is_ours)] += said.bytes.len() + AROUND;
        if is_ours {
            self.turn.ours.push(said)
        } else {
            self.turn.theirs.push(said)
        }
        ended
    }

    /// The last turn, once there is no line more.
    pub fn end(&mut self) -> Option<Turn> {
        let turn = std::mem::take(&mut self.turn);
        self.held = [0; 2];
        if turn.ours.is_empty() && turn.theirs.is_empty() {
            return None;
        }
        self.number += 1;
        Some(Turn { number: self.number, ..turn })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_what_we_say_and_what_comes_back() {
        let said = |t: u64| RecordedLine { bytes: t.to_string().into_bytes(), t, place: (0, t) };
        let mut turns = Turns::default();
        let mut all = Vec::new();
        for (t, is_ours) in [(1, false), (5, true), (6, true), (7, false), (8, false), (20, true)] {
            all.extend(turns.push(is_ours, said(t)));
        }
        all.extend(turns.end());
        let shape: Vec<_> =
            all.iter().map(|turn| (turn.number, turn.think, turn.ours.len(), turn.theirs.len())).collect();
        assert_eq!(shape, [(1, 0, 0, 1), (2, 4, 2, 2), (3, 12, 1, 0)]);
        assert_eq!(turns.end(), None);
    }
}
