//! Cuts a conversation into turns.

/// The place of a line in the logs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The log, counted from 0.
    pub file: usize,
    /// The line's number in it.
    pub line: u64,
}

/// A recorded line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedLine {
    /// The original line, with its end.
    pub bytes: Vec<u8>,
    /// When it passed, in microseconds since the session's start.
    pub t: u64,
    /// Where it was recorded.
    pub place: Place,
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

/// The lines of our side, and the other side's answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// Counted from 1.
    pub number: u64,
    /// How long our side took after the other side's last line, in microseconds.
    pub think: u64,
    /// The lines of our side. Empty in the first turn if the other side began, and if the other side's answer is so
    /// long that it is split.
    pub ours: Vec<RecordedLine>,
    /// The lines of the other side. Empty if the recording ends, or if our side's lines are so long that they are
    /// split.
    pub theirs: Vec<RecordedLine>,
}

/// Makes turns of lines.
#[derive(Debug, Default)]
pub struct Turns {
    turn: Turn,
    number: u64,
    last_t: u64,
    /// How much each side has sent in this turn.
    held: [usize; 2],
}

/// More than this from one side without an answer is split into several turns, to bound memory.
const MAX_TURN: usize = 512 << 10;

/// Memory per line in addition to its bytes.
const LINE_OVERHEAD: usize = 100;

impl Turns {
    /// Takes the next line, and returns the turn that it ends.
    pub fn push(&mut self, is_ours: bool, line: RecordedLine) -> Option<Turn> {
        let begins = self.held[usize::from(is_ours)] > MAX_TURN || is_ours && !self.turn.theirs.is_empty();
        let ended = if begins { self.end() } else { None };
        if is_ours && self.turn.ours.is_empty() {
            self.turn.think = line.t.saturating_sub(self.last_t);
        }
        self.last_t = line.t;
        self.held[usize::from(is_ours)] += line.bytes.len() + LINE_OVERHEAD;
        if is_ours {
            self.turn.ours.push(line)
        } else {
            self.turn.theirs.push(line)
        }
        ended
    }

    /// The last turn, when there are no more lines.
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
    fn a_turn_is_our_lines_and_their_answers() {
        let line = |t: u64| RecordedLine { bytes: t.to_string().into_bytes(), t, place: Place { file: 0, line: t } };
        let mut turns = Turns::default();
        let mut all = Vec::new();
        for (t, is_ours) in [(1, false), (5, true), (6, true), (7, false), (8, false), (20, true)] {
            all.extend(turns.push(is_ours, line(t)));
        }
        all.extend(turns.end());
        let shape: Vec<_> =
            all.iter().map(|turn| (turn.number, turn.think, turn.ours.len(), turn.theirs.len())).collect();
        assert_eq!(shape, [(1, 0, 0, 1), (2, 4, 2, 2), (3, 12, 1, 0)]);
        assert_eq!(turns.end(), None);
    }
}
