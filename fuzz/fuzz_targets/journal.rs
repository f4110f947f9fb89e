//! The log. For any file, reading it ends, and a message is read as it was written. For any stream, however it is split, reading
//! its log gives its bytes back.
//!
//! Input: a byte that selects the test, the longest line and its maximum depth (a byte each), the number of read sizes (a byte),
//! the sizes, and the bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_lines::{Limits, Line, Path, Paths, Splitter};
use pipewright_log::read::{Content, Found, Reader};
use pipewright_log::write::{self, Header, Stamp};
use pipewright_log::{Direction, Part};
use serde_json::value::RawValue;

fuzz_target!(|input: &[u8]| {
    let [meaning, max_line, max_depth, reads, rest @ ..] = input else {
        return;
    };
    let limits = Limits { max_line: usize::from(*max_line), max_depth: usize::from(*max_depth) };
    let (sizes, bytes) = rest.split_at(usize::from(*reads).min(rest.len()));
    match meaning % 4 {
        0 => check_any(bytes),
        // A log that was continued, torn, fused or rewritten: the text after it is still read.
        1 => check_any(&[&record(b"{\"n\":1}\nx\n", &[], limits), bytes].concat()),
        2 => check_repeated(bytes),
        _ => check_identity(bytes, sizes, limits),
    }
});

/// The items found in a file.
#[derive(Default)]
struct All {
    bytes: Vec<u8>,
    headers: usize,
    messages: usize,
    problems: Vec<String>,
}

fn read(file: &[u8]) -> All {
    let mut reader = Reader::new(Paths::new(&Path::parse(".ts").map_or(Vec::new(), |path| vec![path])));
    let mut all = All::default();
    for (index, raw) in file.split_inclusive(|&byte| byte == b'\n').enumerate() {
        reader.read(&Line::new(raw, index as u64 + 1), &mut |_, found| match found {
            Found::Header(_) => all.headers += 1,
            Found::Message(message) => {
                all.messages += 1;
                assert_eq!(message.write(&mut all.bytes), !matches!(message.content, Content::Withheld(_)));
                if let Content::Json(json) = message.content {
                    serde_json::from_str::<&RawValue>(json).expect("it is given as JSON");
                }
            }
            Found::Lost(_) | Found::End(_) => {}
            Found::Problem(problem) => all.problems.push(problem.to_string()),
        });
    }
    all
}

/// Any findings are allowed, but the file is read to its end.
fn check_any(bytes: &[u8]) {
    read(bytes);
}

/// The same text repeated on one line: quadratic code takes longer than libFuzzer's limit (-timeout).
fn check_repeated(bytes: &[u8]) {
    let line: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != b'\n').collect();
    if !line.is_empty() && line.len() < 100 {
        read(&line.repeat((128 << 10) / line.len()));
    }
}

fn check_identity(stream: &[u8], sizes: &[u8], limits: Limits) {
    let log = record(stream, sizes, limits);
    let all = read(&log);
    assert!(all.problems.is_empty(), "{:?}", all.problems);
    assert_eq!(all.bytes, stream, "bytes were lost or changed");
    assert_eq!(all.headers, 1);
    assert_eq!(all.headers + all.messages, log.iter().filter(|&&byte| byte == b'\n').count(), "a line is one record");
    assert!(!log.contains(&b'\r'), "some readers of lines would end one there");
    assert!(log.len() <= 300 + 2 * stream.len() + 200 * all.messages, "much longer than what it holds");
    // A log whose writer was killed: every complete line is read, and the torn one is reported. (If a torn record contains a
    // record, as in the log of a log, the inner one is read as the one that tore it.)
    if contains(stream, b"{\"t\":") || contains(stream, b"{\"format\":") {
        return;
    }
    let cut = log.len() * sizes.first().copied().map_or(1, usize::from) / 256;
    let torn = read(&log[..cut]);
    assert!(torn.problems.len() <= 1, "{:?}", torn.problems);
    assert!(stream.starts_with(&torn.bytes), "the content of a torn log is not the beginning of the stream");
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn record(stream: &[u8], sizes: &[u8], limits: Limits) -> Vec<u8> {
    let mut log = Vec::new();
    Header::new(0, "2026-11-22T01:00:00.000000Z", Some(Part::World), &["a command".to_owned()]).write(&mut log);
    let mut splitter = Splitter::new(limits);
    let mut sizes = sizes.iter().map(|&size| usize::from(size).max(1));
    let mut rest = stream;
    let mut seq = 1;
    loop {
        let (mut now, later) = rest.split_at(sizes.next().unwrap_or(usize::MAX).min(rest.len()));
        let given = now.len();
        let read = splitter.fill(&mut now).expect("these reads never fail");
        rest = &rest[read..];
        assert!(read == given || !later.is_empty() || !rest.is_empty());
        while let Some(piece) = splitter.next() {
            let stamp = Stamp { t: seq * 7, seq, direction: Direction::Out };
            write::message(stamp, &piece, limits.max_depth, &mut log);
            seq += 1;
        }
        if read == 0 {
            return log;
        }
    }
}
