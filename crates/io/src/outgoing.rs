//! The output for one side. A line of our own never begins inside a line that is passed on.

use pipewright_lines::Piece;

/// The end of the bytes that were passed on last.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum LastBytes {
    #[default]
    Line,
    /// The last line of a stream, without a line feed: the next line needs one first.
    WithoutLineFeed,
    /// An unfinished line.
    Part,
}

/// The output for one side, in order.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The bytes that can be sent now.
    pub(super) bytes: Vec<u8>,
    last: LastBytes,
    /// Lines of our own that wait for the end of a line that is passed on in parts.
    waiting: Vec<u8>,
}

impl Outgoing {
    /// Passes on a line, or a part of one, unchanged.
    pub(super) fn pass(&mut self, piece: &Piece<'_>) {
        self.end_line();
        let bytes = piece.raw();
        self.bytes.extend_from_slice(bytes);
        self.last = match piece {
            Piece::Part { last: false, .. } => LastBytes::Part,
            _ if bytes.ends_with(b"\n") => LastBytes::Line,
            _ => LastBytes::WithoutLineFeed,
        };
        if self.last != LastBytes::Part && !self.waiting.is_empty() {
            self.end_line();
            self.bytes.append(&mut self.waiting);
        }
    }

    /// Adds a line of our own, which has no line feed yet.
    pub(super) fn add_line(&mut self, line: &str) {
        self.end_line();
        let to = if self.last == LastBytes::Part { &mut self.waiting } else { &mut self.bytes };
        to.extend_from_slice(line.as_bytes());
        to.push(b'\n');
    }

    /// The line that was passed on in parts will not be continued.
    pub(super) fn give_up_part(&mut self) {
        if self.last == LastBytes::Part {
            self.last = LastBytes::WithoutLineFeed;
            if !self.waiting.is_empty() {
                self.end_line();
                self.bytes.append(&mut self.waiting);
            }
        }
    }

    /// The number of bytes that wait for the end of a line.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn end_line(&mut self) {
        if self.last == LastBytes::WithoutLineFeed {
            self.bytes.push(b'\n');
            self.last = LastBytes::Line;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipewright_lines::Line;

    #[test]
    fn own_lines_are_added_only_between_lines() {
        let mut to = Outgoing::default();
        let line = |to: &mut Outgoing, raw: &str| to.pass(&Piece::Line(Line::new(raw.as_bytes(), 2)));
        let part =
            |to: &mut Outgoing, raw: &str, last| to.pass(&Piece::Part { bytes: raw.as_bytes(), number: 2, last });
        line(&mut to, "one\n");
        to.add_line("A");
        part(&mut to, "tw", false);
        to.add_line("B");
        part(&mut to, "o", false);
        part(&mut to, "\n", true);
        line(&mut to, "three");
        to.add_line("C");
        part(&mut to, "fou", false);
        part(&mut to, "r", true);
        line(&mut to, "five\n");
        part(&mut to, "si", false);
        to.add_line("D");
        to.give_up_part();
        line(&mut to, "seven");
        to.give_up_part();
        assert_eq!(String::from_utf8_lossy(&to.bytes), "one\nA\ntwo\nB\nthree\nC\nfour\nfive\nsi\nD\nseven");
    }
}
