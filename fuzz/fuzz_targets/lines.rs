//! However the reads are split, the same bytes give the same lines, and no byte is lost or changed.
//!
//! Input: the longest line (a byte), the number of reads with given sizes (a byte), their sizes (a byte each), and the bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_lines::{Limits, Piece, Splitter};
use std::io::{self, Read};

/// Returns the bytes in reads of the given sizes, then in reads as large as possible.
struct Reads<'a> {
    bytes: &'a [u8],
    sizes: std::slice::Iter<'a, u8>,
}

impl Read for Reads<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.sizes.next().map_or(usize::MAX, |&size| usize::from(size).max(1));
        let size = most.min(self.bytes.len()).min(buffer.len());
        let (now, later) = self.bytes.split_at(size);
        buffer[..size].copy_from_slice(now);
        self.bytes = later;
        Ok(size)
    }
}

#[derive(Debug, PartialEq)]
struct Whole {
    number: u64,
    raw: Vec<u8>,
    over_long: bool,
}

/// The lines, over-long ones joined again.
fn split(bytes: &[u8], sizes: &[u8], max_line: usize) -> Vec<Whole> {
    let mut splitter = Splitter::new(Limits { max_line, ..Limits::default() });
    let mut from = Reads { bytes, sizes: sizes.iter() };
    let mut lines = Vec::new();
    let mut parts = Vec::new();
    loop {
        let read = splitter.fill(&mut from).expect("these reads never fail");
        while let Some(piece) = splitter.next() {
            match piece {
                Piece::Line(line) => {
                    assert!(parts.is_empty(), "a line within an over-long one");
                    assert_eq!([line.before(), line.body(), line.after()].concat(), line.raw());
                    lines.push(Whole { number: line.number(), raw: line.raw().to_vec(), over_long: false });
                }
                Piece::Part { bytes, number, last } => {
                    assert!(last || !bytes.is_empty(), "an empty part that isn't the last");
                    parts.extend_from_slice(bytes);
                    if last {
                        lines.push(Whole { number, raw: std::mem::take(&mut parts), over_long: true });
                    }
                }
            }
        }
        if read == 0 {
            assert!(parts.is_empty(), "an over-long line was never ended");
            return lines;
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let [max_line, reads, rest @ ..] = input else {
        return;
    };
    let max_line = usize::from(*max_line);
    let (sizes, bytes) = rest.split_at(usize::from(*reads).min(rest.len()));
    let lines = split(bytes, sizes, max_line);
    assert_eq!(lines, split(bytes, &[], max_line), "the reads changed the lines");
    assert_eq!(
        lines.iter().flat_map(|line| line.raw.clone()).collect::<Vec<u8>>(),
        bytes,
        "bytes were lost or changed"
    );
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line.number, index as u64 + 1);
        let content = line.raw.strip_suffix(b"\n").unwrap_or(&line.raw);
        assert!(!content.contains(&b'\n'), "two lines in one");
        assert_eq!(line.over_long, content.len() > max_line);
    }
});
