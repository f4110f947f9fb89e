use super::read::{Content, Found, Header, Message, Reader};
use super::write::{self, Stamp};
use super::*;
use pipewright_lines::{Limits, Line, Paths, Piece, Splitter};
use proptest::prelude::*;

/// Everything found in a file: the original bytes of messages, and the problems.
#[derive(Default)]
struct All {
    headers: Vec<Header>,
    bytes: Vec<u8>,
    contents: Vec<String>,
    times: Vec<Option<i64>>,
    lost: u64,
    ends: Vec<String>,
    problems: Vec<String>,
}

fn read(file: &[u8]) -> All {
    let ts = pipewright_lines::Path::parse(".ts").unwrap();
    let mut reader = Reader::new(Paths::new(&[ts]));
    let mut all = All::default();
    for (index, raw) in file.split_inclusive(|&byte| byte == b'\n').enumerate() {
        reader.read(&Line::new(raw, index as u64 + 1), &mut |_, found| match found {
            Found::Header(header) => all.headers.push(header),
            Found::Message(message) => {
                message.write(&mut all.bytes);
                all.contents.push(kind(&message).to_owned());
                all.times.push(message.time);
            }
            Found::Lost(count) => all.lost += count,
            Found::End(end) => all.ends.push(end.how.into_owned()),
            Found::Problem(problem) => all.problems.push(format!("{}: {problem}", index + 1)),
        });
    }
    all
}

fn kind(message: &Message<'_>) -> &'static str {
    match message.content {
        Content::Json(_) => "msg",
        Content::Text(_) => "text",
        Content::Bytes(_) => "b64",
        Content::Withheld(_) => "withheld",
    }
}

/// Records a stream, cut into reads of these sizes.
fn record(stream: &[u8], reads: &[usize], max_line: usize) -> Vec<u8> {
    let limits = Limits { max_line, max_depth: 4 };
    let mut log = Vec::new();
    write::Header::new(0, "2026-11-22T01:00:00.000000Z", None, &[]).write(&mut log);
    let mut seq = 1;
    let mut splitter = Splitter::new(limits);
    let mut sizes = reads.iter().copied().chain(std::iter::repeat(usize::MAX));
    let mut rest = stream;
    loop {
        let size = sizes.next().unwrap_or(1).min(rest.len());
        let mut from: &[u8] = &rest[..size];
        let read = splitter.fill(&mut from).unwrap();
        rest = &rest[read..];
        while let Some(piece) = splitter.next() {
            write::message(Stamp { t: seq, seq, direction: Direction::In }, &piece, limits.max_depth, &mut log);
            seq += 1;
        }
        if read == 0 && rest.is_empty() {
            return log;
        }
    }
}

proptest! {
    #[test]
    fn recording_and_reading_is_the_identity_on_bytes(
        pieces in prop::collection::vec(prop_oneof![
            Just(b"{\"a\":[1.10,12345678901234567890]}".to_vec()),
            Just(b"null".to_vec()), Just(b" {} ".to_vec()), Just(b"{\"x\":[\r{}]}".to_vec()), Just(b"[[[[[[]]]]]]".to_vec()),
            Just(b"\n".to_vec()), Just(b"\r\n".to_vec()), Just(b"\xef\xbb\xbf".to_vec()), Just("имя 打击".as_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 0..40), "[ -~]{0,30}".prop_map(String::into_bytes),
        ], 0..30),
        reads in prop::collection::vec(1usize..30, 0..50),
        max_line in 1usize..60,
    ) {
        let stream = pieces.concat();
        let log = record(&stream, &reads, max_line);
        let all = read(&log);
        prop_assert_eq!(&all.problems, &Vec::<String>::new());
        prop_assert_eq!(all.bytes, stream);
        for line in log.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            // Searchable with grep: one JSON object per line, for every reader of lines.
            prop_assert!(serde_json::from_slice::<serde_json::Value>(line).unwrap().is_object());
            prop_assert!(!line.contains(&b'\r'));
        }
    }

    #[test]
    fn no_input_makes_the_reader_panic(lines in prop::collection::vec(prop_oneof![
        any::<String>(), r#"\{"(t|seq|dir|msg|lost|end|format|version)":[0-9"a-z{}]{0,12}(,"(t|seq|dir|msg)":[0-9"a-z{}]{0,9}){0,3}\}?"#,
    ], 0..12)) {
        read(lines.join("\n").as_bytes());
    }
}

#[test]
fn json_keeps_its_bytes_and_other_lines_are_text() {
    let line = |raw: &[u8]| {
        let mut out = Vec::new();
        let stamp = Stamp { t: 7, seq: 3, direction: Direction::Out };
        write::message(stamp, &Piece::Line(Line::new(raw, 2)), 3, &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(line(b"{\"a\" : 1.10}\n"), "{\"t\":7,\"seq\":3,\"dir\":\"out\",\"msg\":{\"a\" : 1.10}}\n");
    assert_eq!(line(b"7\r\n"), "{\"t\":7,\"seq\":3,\"dir\":\"out\",\"msg\":7,\"eol\":\"\\r\\n\"}\n");
    assert_eq!(line(b"choose 0"), "{\"t\":7,\"seq\":3,\"dir\":\"out\",\"text\":\"choose 0\",\"eol\":\"\"}\n");
    assert_eq!(line(b"\n"), "{\"t\":7,\"seq\":3,\"dir\":\"out\",\"text\":\"\"}\n");
    assert_eq!(
        line(b"[[[[]]]]\n"),
        "{\"t\":7,\"seq\":3,\"dir\":\"out\",\"text\":\"[[[[]]]]\"}\n",
        "too deep for readers"
    );
    assert_eq!(line(b"\xb4\xf2\n"), "{\"t\":7,\"seq\":3,\"dir\":\"out\",\"b64\":\"tPI=\"}\n");
    assert!(line(&[1; 1000]).len() < 1500, "text that would mostly be escapes is base64");
}

const LOG: &str = r#"{"format":"pipewright-log","version":1,"seq":0,"start":"2026-11-22T01:00:00.000000Z","child":"agent","command":["bot"]}
{"t":10,"seq":1,"dir":"in","msg":{"n":1}}
{"t":20,"seq":2,"dir":"out","text":"go"}
{"t":30,"seq":3,"end":"exit status 0","status":0}
"#;

#[test]
fn a_log_is_read_with_its_times_and_roles() {
    let all = read(LOG.as_bytes());
    assert_eq!(all.headers[0].child, Some(Part::Agent));
    assert_eq!(all.headers[0].command, ["bot"]);
    let start = all.headers[0].start.unwrap();
    assert_eq!(all.times, [Some(start + 10), Some(start + 20)]);
    assert_eq!((all.ends, all.problems), (vec!["exit status 0".to_owned()], vec![]));
}

#[test]
fn each_kind_of_damage_is_reported_and_affects_only_its_line() {
    let lines: Vec<&str> = LOG.lines().collect();
    let [header, one, two, end] = lines[..] else { panic!() };
    let problems = |file: &str| {
        let all = read(file.as_bytes());
        (all.problems.join("\n"), String::from_utf8(all.bytes).unwrap())
    };
    let both = "{\"n\":1}\ngo\n".to_owned();
    let torn_first = format!("{}\n{one}\n{two}\n", &header[..40]);
    let (problem, bytes) = problems(&torn_first);
    assert!(problem.starts_with("1: not JSON, left out: EOF"), "{problem}");
    assert_eq!(bytes, both);
    let (problem, bytes) = problems(&format!("{header}\n{}\n{two}\n", &one[..20]));
    assert!(
        problem.starts_with("2: not JSON") && problem.ends_with("3: one record is missing before this one"),
        "{problem}"
    );
    assert_eq!(bytes, "go\n");
    assert_eq!(
        problems(&format!("{header}\n{one}\n{}", &two[..20])),
        ("3: the last line is torn, left out".to_owned(), "{\"n\":1}\n".to_owned())
    );
    let fused = format!("{header}\n{one}{two}\n{end}\n");
    assert_eq!(problems(&fused), ("2: several records on one line; each was read".to_owned(), both.clone()));
    let (problem, bytes) = problems(&format!("{header}\n{}{two}\n", &one[..30]));
    assert!(problem.starts_with("2: a record is torn by the next, which was read"), "{problem}");
    assert_eq!(bytes, "go\n");
    let back = format!("{header}\n{}\n{two}\n", one.replace("\"t\":10", "\"t\":1000020"));
    assert_eq!(problems(&back), ("3: the clock went back by 1.000000 s".to_owned(), both.clone()));
    let (problem, bytes) = problems(&format!("{}\n{one}\n{two}\n", header.replace("\"version\":1", "\"version\":2")));
    assert!(problem.starts_with("1: written by a newer pipewright (log version 2, known is 1)"), "{problem}");
    assert_eq!(bytes, both);
    let foreign = format!("{header}\n{{\"other\":1}}\n{one}\n{two}\n");
    assert_eq!(problems(&foreign), ("2: not a record of this log, left out".to_owned(), both.clone()));
    let again = format!("{header}\n{one}\n{one}\n");
    assert_eq!(problems(&again).0, "3: seq 1 follows 1");
    let lost = format!("{header}\n{one}\n{{\"t\":20,\"seq\":7,\"lost\":5}}\n");
    assert_eq!(
        (problems(&lost).0.as_str(), read(lost.as_bytes()).lost),
        ("", 5),
        "what is reported as lost is not missing"
    );
    let deep = format!("{header}\n{}\n{one}\n", "[".repeat(100_000));
    assert!(problems(&deep).0.starts_with("2: not JSON"));
}

#[test]
fn plain_ndjson_has_its_time_in_the_given_field() {
    let all =
        read(b"{\"ts\":\"2026-11-22T01:00:00Z\",\"status\":\"ok\"}\n\n{\"ts\":1763773201.5}\r\n{\"none\":1}\n7\n");
    assert_eq!(all.contents, ["msg"; 4]);
    assert_eq!(all.times[2..], [None, None]);
    assert_eq!(
        all.bytes,
        b"{\"ts\":\"2026-11-22T01:00:00Z\",\"status\":\"ok\"}\n{\"ts\":1763773201.5}\n{\"none\":1}\n7\n"
    );
    let gbk = read(b"{\"ts\":1,\"name\":\"\xb4\xf2\"}\n");
    assert_eq!(gbk.bytes, b"{\"ts\":1,\"name\":\"\xb4\xf2\"}\n");
    assert!(gbk.problems[0].contains("not UTF-8"));
}

#[test]
fn a_record_after_a_torn_one_is_found_wherever_that_is_torn() {
    let [header, one, two] = LOG.lines().take(3).collect::<Vec<_>>()[..] else { panic!() };
    let long = one.replace("{\"n\":1}", "{\"n\":[1,{\"a\":\"b, c\"}],\"m\":{\"x\":null,\"y\":2}}");
    let found: Vec<usize> = (1..long.len())
        .filter(|at| read(format!("{header}\n{}{two}\n", &long[..*at]).as_bytes()).bytes == b"go\n")
        .collect();
    // After a colon, and in an array, it may be a value of the torn record.
    let unsure: Vec<&str> = (1..long.len()).filter(|at| !found.contains(at)).map(|at| &long[..at]).collect();
    assert!(
        unsure.iter().all(|torn| torn.ends_with(':') || torn.ends_with('[') || torn.ends_with("[1,")),
        "{unsure:?}"
    );
}

#[test]
fn a_record_inside_a_torn_record_is_not_read_as_a_record() {
    let header = LOG.lines().next().unwrap();
    let inner = "{\"t\":3,\"seq\":9,\"dir\":\"out\",\"text\":\"inner\"}";
    // The log of a log, torn after the record that it holds.
    let file = format!("{header}\n{{\"t\":7,\"seq\":1,\"dir\":\"in\",\"msg\":{inner}");
    let all = read(file.as_bytes());
    assert_eq!(
        (all.bytes.as_slice(), all.problems.as_slice()),
        (b"".as_slice(), ["2: the last line is torn, left out".to_owned()].as_slice())
    );
}
