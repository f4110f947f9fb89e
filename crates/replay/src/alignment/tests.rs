use super::*;
use crate::turns::Place;

fn turn(number: u64, theirs: &[&str]) -> Turn {
    let line = |text: &&str| RecordedLine {
        bytes: format!("{text}\n").into_bytes(),
        t: 0,
        place: Place { file: 0, line: number },
    };
    Turn { number, think: 0, ours: vec![line(&"we")], theirs: theirs.iter().map(line).collect() }
}

/// Plays turns against a script: lines, `.` for a pause without lines, `!` for giving up.
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
                let live = LiveLine { bytes: format!("{word}\r\n").into_bytes(), number };
                alignment.receive(live, &|recorded, now| recorded == now)
            }
        };
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(body(bytes)).into_owned();
    for (turn, finding) in alignment.findings() {
        out.push(match finding {
            Finding::Same(..) => continue,
            Finding::Differs(line, live) => format!("{turn}:{}/{}", text(&line.bytes), text(&live.bytes)),
            Finding::Missing(line) => format!("{turn}:-{}", text(&line.bytes)),
            Finding::Extra(live) => format!("{turn}:+{}", text(&live.bytes)),
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
fn a_world_that_continues_by_itself_is_followed() {
    let long = "x".repeat(MIN_LENGTH);
    let turns: [&[&str]; 4] = [&["a"], &["b"], &[&long], &["d"]];
    assert_eq!(play(&turns, &format!("a {long} d"), true), "2:-b 3:unsaid");
    assert_eq!(play(&turns, &format!("a {long} . . d"), false), format!("2:b/{long} 3:{long}/d").as_str());
    let twice: [&[&str]; 4] = [&["a"], &["b"], &[&long], &[&long]];
    assert!(
        play(&twice, &format!("a {long} ."), true).starts_with("2:b/"),
        "a line that is expected twice tells nothing"
    );
}

/// The recorded lines that were accounted for, the numbers of the reported live lines, and how many lines were the
/// same.
fn account(turns: &[Turn], live: &[Vec<u8>], skips: bool, gives_up: &[bool]) -> (Vec<RecordedLine>, Vec<u64>, usize) {
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
                Some((bytes, number)) => alignment.receive(LiveLine { bytes: bytes.clone(), number }, &is_same),
                None if need == Need::Explanation => alignment.settle(),
                None => alignment.give_up(),
            };
        }
    }
    for (bytes, number) in live {
        alignment.receive(LiveLine { bytes: bytes.clone(), number }, &is_same);
    }
    alignment.give_up();
    let (mut recorded, mut reported, mut same) = (Vec::new(), Vec::new(), 0);
    for (_, finding) in alignment.findings() {
        same += usize::from(matches!(finding, Finding::Same(..)));
        match finding {
            Finding::Same(line, _) | Finding::Missing(line) => recorded.push(line),
            Finding::Differs(line, live) => {
                recorded.push(line);
                reported.push(live.number);
            }
            Finding::Extra(live) => reported.push(live.number),
            Finding::Unsaid(_) => {}
        }
    }
    recorded.sort_by_key(|line| line.place);
    reported.sort_unstable();
    reported.dedup();
    (recorded, reported, same)
}

proptest::proptest! {
    #[test]
    fn every_line_is_accounted_for_exactly_once(
        shape in proptest::collection::vec(proptest::collection::vec(0u8..6, 0..5), 0..12),
        live in proptest::collection::vec(0u8..6, 0..40),
        skips in proptest::bool::ANY,
        gives_up in proptest::collection::vec(proptest::bool::weighted(0.3), 1..20),
    ) {
        // Some lines are long enough to be distinctive.
        let text = |letter: u8| vec![b'a' + letter; if letter > 3 { MIN_LENGTH } else { 1 }];
        let mut place = Place::default();
        let mut line = |letter: u8| {
            place.line += 1;
            RecordedLine { bytes: text(letter), t: 0, place }
        };
        let turns: Vec<Turn> = shape.iter().zip(1..).map(|(theirs, number)| Turn {
            number, think: 0, ours: Vec::new(), theirs: theirs.iter().map(|&letter| line(letter)).collect(),
        }).collect();
        let expected: Vec<RecordedLine> = turns.iter().flat_map(|turn| turn.theirs.clone()).collect();
        let live: Vec<Vec<u8>> = live.into_iter().map(text).collect();
        let (recorded, reported, same) = account(&turns, &live, skips, &gives_up);
        proptest::prop_assert_eq!(recorded, expected.clone(), "each recorded line once");
        // Equal lines are counted, not reported.
        proptest::prop_assert_eq!(reported.len() + same, live.len(), "each live line once");
        // An equal conversation has no findings.
        let bytes: Vec<Vec<u8>> = expected.iter().map(|line| line.bytes.clone()).collect();
        let (_, reported, same) = account(&turns, &bytes, false, &[false]);
        proptest::prop_assert_eq!((reported, same), (Vec::new(), expected.len()));
    }
}
