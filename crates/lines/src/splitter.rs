//! Splits a stream of reads into lines.

use super::{Limits, Line, Piece};
use memchr::memchr;
use std::io::{self, Read};

/// The size of one read. Larger reads gain nothing on a pipe (64 KiB by default).
const READ_SIZE: usize = 64 << 10;
/// The longest part of an over-long line, so that its consumer needs little memory.
const PART: usize = 256 << 10;
/// A buffer that has grown beyond this is freed once it is empty.
const MAX_KEPT_BUFFER: usize = 1 << 20;

/// Splits a stream into [`Piece`]s: [`fill`](Splitter::fill) reads once, [`next`](Splitter::next) returns complete
/// pieces. The same bytes give the same lines, independent of the sizes of the reads.
///
/// ```
/// use pipewright_lines::{Limits, Splitter};
/// let mut from: &[u8] = b"one\ntwo";
/// let mut splitter = Splitter::new(Limits::default());
/// let mut bodies = Vec::new();
/// loop {
///     let read = splitter.fill(&mut from)?;
///     while let Some(piece) = splitter.next() {
///         bodies.push(String::from_utf8_lossy(piece.raw()).into_owned());
///     }
///     if read == 0 {
///         break;
///     }
/// }
/// assert_eq!(bodies, ["one\n", "two"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Splitter {
    buffer: Vec<u8>,
    /// Bytes before this have been returned.
    start: usize,
    /// Bytes from `start` to here contain no line feed.
    scanned: usize,
    /// Bytes from here on are free.
    end: usize,
    max_line: usize,
    /// The number of the line at `start`.
    number: u64,
    /// Whether part of the line at `start` has already been returned.
    in_parts: bool,
    ended: bool,
    /// Whether to return the held bytes although their line has not ended.
    released: bool,
}

impl Splitter {
    /// An empty splitter; `limits.max_line` limits its memory.
    pub fn new(limits: Limits) -> Splitter {
        Splitter {
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            end: 0,
            max_line: limits.max_line,
            number: 1,
            in_parts: false,
            ended: false,
            released: false,
        }
    }

    /// Reads once. 0 means that the stream has ended; `next` then returns the last line even without a line feed.
    ///
    /// # Errors
    /// The error of the read; nothing is lost, and it may be called again.
    pub fn fill(&mut self, from: &mut impl Read) -> io::Result<usize> {
        self.reserve();
        let room = self.end..self.end + READ_SIZE;
        let read = from.read(&mut self.buffer[room])?;
        self.end += read;
        self.ended = read == 0;
        Ok(read)
    }

    /// The stream cannot be read any more: `next` returns the remaining bytes.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Whether an unfinished line is held that has not been returned.
    pub fn holds(&self) -> bool {
        self.end > self.start
    }

    /// Makes `next` return the held bytes of an unfinished line as a part.
    pub fn release(&mut self) {
        self.released = self.holds();
    }

    fn reserve(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.scanned -= self.start;
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == 0 && self.buffer.len() > MAX_KEPT_BUFFER {
            self.buffer = Vec::new();
        }
        if self.buffer.len() < self.end + READ_SIZE {
            // Double the buffer, so that a long line costs linear time, but never hold a line over the limit.
            let longest = self.max_line.saturating_add(READ_SIZE);
            self.buffer.resize((self.end + READ_SIZE).max((self.end * 2).min(longest)), 0);
        }
    }

    /// The next complete piece, or `None` until more has been read.
    #[allow(clippy::should_implement_trait)] // an iterator could not lend from itself
    pub fn next(&mut self) -> Option<Piece<'_>> {
        match memchr(b'\n', &self.buffer[self.scanned..self.end]) {
            Some(at) => {
                let line_feed = self.scanned + at;
                // The line feed is found again at once if the line is returned in parts.
                self.scanned = line_feed;
                Some(self.piece_to(line_feed + 1, true))
            }
            None => {
                self.scanned = self.end;
                let held = self.end - self.start;
                if self.ended && (held > 0 || self.in_parts) {
                    Some(self.piece_to(self.end, true))
                } else if held > 0 && (self.in_parts || held > self.max_line || self.released) {
                    self.released = false;
                    Some(self.piece_to(self.end, false))
                } else {
                    None
                }
            }
        }
    }

    /// Returns everything up to `to`.
    fn piece_to(&mut self, mut to: usize, mut last: bool) -> Piece<'_> {
        let number = self.number;
        let bytes = &self.buffer[self.start..to];
        let content = bytes.strip_suffix(b"\n").unwrap_or(bytes).len();
        let part = self.in_parts || !last || content > self.max_line;
        if part && bytes.len() > PART {
            (to, last) = (self.start + PART, false);
        }
        let bytes = &self.buffer[self.start..to];
        self.start = to;
        self.scanned = self.scanned.max(to);
        self.in_parts = !last;
        self.number += u64::from(last);
        if part { Piece::Part { bytes, number, last } } else { Piece::Line(Line::new(bytes, number)) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the bytes in reads of the given sizes, then the rest.
    struct Reads<'a>(&'a [u8], std::slice::Iter<'a, usize>);
    impl Read for Reads<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.1.next().copied().unwrap_or(usize::MAX).max(1);
            let size = most.min(self.0.len()).min(buffer.len());
            buffer[..size].copy_from_slice(&self.0[..size]);
            self.0 = &self.0[size..];
            Ok(size)
        }
    }

    /// Complete lines as (number, raw, is over-long), with over-long ones joined.
    fn split(input: &[u8], reads: &[usize], max_line: usize) -> Vec<(u64, Vec<u8>, bool)> {
        let mut splitter = Splitter::new(Limits { max_line, max_depth: 8 });
        let mut from = Reads(input, reads.iter());
        let mut lines = Vec::new();
        let mut long = Vec::new();
        loop {
            let read = splitter.fill(&mut from).unwrap();
            while let Some(piece) = splitter.next() {
                match piece {
                    Piece::Line(line) => lines.push((line.number(), line.raw().to_vec(), false)),
                    Piece::Part { bytes, number, last } => {
                        long.extend_from_slice(bytes);
                        if last {
                            lines.push((number, std::mem::take(&mut long), true));
                        }
                    }
                }
            }
            if read == 0 {
                assert!(long.is_empty(), "an over-long line was never ended");
                return lines;
            }
        }
    }

    #[test]
    fn over_long_lines_come_in_parts_and_all_others_complete() {
        let lines = split(b"abc\nabcdef\nx", &[2, 3], 3);
        assert_eq!(lines, [(1, b"abc\n".to_vec(), false), (2, b"abcdef\n".to_vec(), true), (3, b"x".to_vec(), false)]);
    }

    #[test]
    fn a_line_of_many_parts_is_complete_and_scanned_once() {
        let mut input = vec![b'x'; 40 * PART + 7];
        input.extend_from_slice(b"\nnext\n");
        for reads in [&[][..], &[usize::MAX; 400][..]] {
            let lines = split(&input, reads, 16 * PART);
            assert_eq!(lines.len(), 2);
            assert!(lines[0].1 == input[..=40 * PART + 7] && lines[0].2 && lines[1].1 == b"next\n");
        }
        let mut splitter = Splitter::new(Limits { max_line: 64 * PART, max_depth: 8 });
        let mut from: &[u8] = &input;
        while splitter.fill(&mut from).unwrap() > 0 && splitter.end - splitter.start < 30 * PART {
            assert!(splitter.next().is_none());
        }
        splitter.release();
        assert!(splitter.next().is_some());
        assert_eq!(splitter.scanned, splitter.end, "what was looked through is not looked through again");
    }

    #[test]
    fn the_end_of_the_stream_ends_an_over_long_last_line() {
        assert_eq!(split(b"abcdef", &[3, 3], 2), [(1, b"abcdef".to_vec(), true)]);
    }

    proptest! {
        #[test]
        fn any_split_of_the_input_gives_the_same_lines(
            input in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(0), any::<u8>()], 0..400),
            reads in prop::collection::vec(1usize..20, 0..100),
            max_line in 0usize..40,
        ) {
            let whole = split(&input, &[], max_line);
            prop_assert_eq!(&split(&input, &reads, max_line), &whole);
            let joined: Vec<u8> = whole.iter().flat_map(|(_, raw, _)| raw.clone()).collect();
            prop_assert_eq!(joined, input, "no byte is lost or changed");
            for (index, (number, raw, long)) in whole.iter().enumerate() {
                prop_assert_eq!(*number, index as u64 + 1);
                let content = raw.strip_suffix(b"\n").unwrap_or(raw);
                prop_assert_eq!(*long, content.len() > max_line);
            }
        }
    }
}
