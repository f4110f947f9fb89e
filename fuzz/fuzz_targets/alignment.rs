//! For any recording and any live lines: every recorded line and every live line is accounted for once, and the same conversation
//! has no findings. Whether two lines differ does not depend on which of them was recorded.
//!
//! Input: a byte of options (bits: whether turns may be skipped, and what is ignored); the steps (a byte each: odd gives up or
//! settles, even takes the next line) up to a 0; and two conversations with a byte 0xff between them. They consist of lines; an
//! empty line ends a turn.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_lines::Path;
use pipewright_replay::alignment::{Alignment, Finding, LiveLine, Need};
use pipewright_replay::compare::Comparison;
use pipewright_replay::turns::{Place, RecordedLine, Turn};

fuzz_target!(|input: &[u8]| {
    let [how, rest @ ..] = input else {
        return;
    };
    let (steps, rest) = split(rest, 0);
    let (recorded, live) = split(rest, 0xff);
    let ignored = [None, Some(".a"), Some(".a[]"), Some(".a[].b")][usize::from(how >> 1 & 3)];
    let ignored = ignored.and_then(Path::parse).into_iter().collect();
    let comparison = Comparison { ignored, ..Comparison::default() };
    let turns = turns(recorded);
    let live: Vec<&[u8]> = live.split(|&byte| byte == b'\n').collect();
    play(&turns, &live, how & 1 == 1, steps, &comparison);

    let same: Vec<&[u8]> = turns.iter().flat_map(|turn| &turn.theirs).map(|line| &line.bytes[..]).collect();
    let found = play(&turns, &same, false, &[], &comparison);
    assert_eq!(found, 0, "the same conversation differs");
    for (line, now) in same.iter().zip(&live) {
        let differs = |one, other| !comparison.differences(one, other).is_empty();
        assert_eq!(differs(line, now), differs(now, line), "it depends on which was first");
    }
});

fn split(bytes: &[u8], at: u8) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|&byte| byte == at).unwrap_or(bytes.len());
    (&bytes[..end], bytes.get(end + 1..).unwrap_or_default())
}

fn turns(recorded: &[u8]) -> Vec<Turn> {
    let mut turns = vec![Turn { number: 1, ..Turn::default() }];
    for (line, bytes) in (1..).zip(recorded.split(|&byte| byte == b'\n')) {
        let number = turns.len() as u64;
        if bytes.is_empty() {
            turns.push(Turn { number: number + 1, ..Turn::default() });
        } else if let Some(turn) = turns.last_mut() {
            turn.theirs.push(RecordedLine { bytes: bytes.to_vec(), t: 0, place: Place { file: 0, line } });
        }
    }
    turns
}

/// Returns the number of findings other than equal lines.
fn play(turns: &[Turn], live: &[&[u8]], skips: bool, steps: &[u8], comparison: &Comparison) -> usize {
    let is_same = |recorded: &[u8], now: &[u8]| comparison.differences(recorded, now).is_empty();
    let mut alignment = Alignment::default();
    let (mut rest, mut lines, mut steps) = (turns.iter().cloned(), live.iter().zip(1..), steps.iter());
    while let Some(turn) = alignment.next_ahead().or_else(|| rest.next()) {
        while skips
            && alignment.ahead() < 16
            && let Some(turn) = rest.next()
        {
            alignment.look_ahead(turn);
        }
        let mut need = alignment.begin(&turn, &is_same);
        while need != Need::Next {
            let next = if steps.next().is_some_and(|step| step % 2 == 1) { None } else { lines.next() };
            need = match next {
                Some((bytes, number)) => alignment.receive(LiveLine { bytes: bytes.to_vec(), number }, &is_same),
                None if need == Need::Explanation => alignment.settle(),
                None => alignment.give_up(),
            };
        }
    }
    for (bytes, number) in lines {
        alignment.receive(LiveLine { bytes: bytes.to_vec(), number }, &is_same);
    }
    alignment.give_up();
    let (mut recorded, mut reported, mut same, mut count) = (Vec::new(), Vec::new(), 0, 0);
    for (turn, finding) in alignment.findings() {
        assert!(turn > 0, "in no turn: {finding:?}");
        count += usize::from(!matches!(finding, Finding::Same(..)));
        match finding {
            Finding::Same(line, _) => {
                recorded.push(line.place);
                same += 1;
            }
            Finding::Missing(line) => recorded.push(line.place),
            Finding::Differs(line, live_line) => {
                recorded.push(line.place);
                reported.push(live_line.number);
            }
            Finding::Extra(live_line) => reported.push(live_line.number),
            Finding::Unsaid(_) => {}
        }
    }
    recorded.sort_unstable();
    reported.sort_unstable();
    let expected: Vec<_> = turns.iter().flat_map(|turn| &turn.theirs).map(|line| line.place).collect();
    assert_eq!(recorded, expected, "each recorded line once");
    assert!(reported.windows(2).all(|pair| pair[0] < pair[1]), "a live line was reported twice");
    assert_eq!(reported.len() + same, live.len(), "each live line once");
    count
}
