//! What leaves on one side: nothing of ours begins in the middle of somebody else's line.

/// Whether what was passed last is a whole line.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Last {
    #[default]
    Whole,
    /// Its stream ended without a line feed, which is owed where anything follows.
    WithoutLineFeed,
    /// More of it is to come.
    Part,
}

#[derive(Default)]
pub struct Voice {
    last: Last,
    /// Waits for a line that comes in parts.
    waiting: Vec<u8>,
}

impl Voice {
    /// Passes bytes as they came; `last` where a line ends with them.
    pub fn pass(&mut self, bytes: &[u8], last: bool, to: &mut Vec<u8>) {
        self.owe(to);
        to.extend_from_slice(bytes);
        self.last = match (last, bytes.ends_with(b"\n")) {
            (false, _) => Last::Part,
            (true, true) => Last::Whole,
            (true, false) => Last::WithoutLineFeed,
        };
        if last && !self.waiting.is_empty() {
            self.owe(to);
            to.append(&mut self.waiting);
        }
    }

    /// Says a line of our own, as soon as there is none of anybody else's to be finished first.
    pub fn say(&mut self, line: &str, to: &mut Vec<u8>) {
        let to = if self.last == Last::Part { &mut self.waiting } else { to };
        if self.last == Last::WithoutLineFeed {
            to.push(b'\n');
            self.last = Last::Whole;
        }
        to.extend_from_slice(line.as_bytes());
        to.push(b'\n');
    }

    /// What comes in parts will not be finished any more.
    pub fn give_up_waiting(&mut self, to: &mut Vec<u8>) {
        if self.last == Last::Part && !self.waiting.is_empty() {
            self.last = Last::WithoutLineFeed;
            self.owe(to);
            to.append(&mut self.waiting);
        }
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn owe(&mut self, to: &mut Vec<u8>) {
        if self.last == Last::WithoutLineFeed {
            to.push(b'\n');
            self.last = Last::Whole;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_ours_stand_between_lines() {
        let (mut voice, mut out) = (Voice::default(), Vec::new());
        voice.pass(b"one\n", true, &mut out);
        voice.say("A", &mut out);
        voice.pass(b"tw", false, &mut out);
        voice.say("B", &mut out);
        voice.pass(b"o", false, &mut out);
        voice.pass(b"\n", true, &mut out);
        voice.pass(b"three", true, &mut out);
        voice.say("C", &mut out);
        voice.pass(b"fo", false, &mut out);
        voice.say("D", &mut out);
        voice.give_up_waiting(&mut out);
        assert_eq!(String::from_utf8_lossy(&out), "one\nA\ntwo\nB\nthree\nC\nfo\nD\n");
    }
}
