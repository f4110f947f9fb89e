//! `replay` to stdout, with the recorded times.

use crate::process::{PATIENCE, Talk, binary, command, eventually, pipe, text, with_a_person};
use crate::recorded::{Folder, header, line, log, peak};
use nix::sys::signal::Signal;
use rexpect::session::PtySession;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Plays without pauses; returns stdout and stderr.
fn play(folder: &Folder, words: &str) -> (String, String, i32) {
    let output = folder.run(&format!("replay --speed max {words}"));
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}

fn played(folder: &Folder, words: &str) -> String {
    let (stdout, stderr, status) = play(folder, words);
    assert_eq!((stderr.as_str(), status), ("", 0), "{words}");
    stdout
}

#[test]
fn a_recording_is_played_byte_for_byte() {
    let odd: &[&[u8]] = &[
        b"\xef\xbb\xbf{\"big\":12345678901234567890,\"f\":1.10}\r\n",
        b"\n",
        b" \t \r\n",
        b"{\"nul\":\"\0\"}\n",
        b"\xff\xfe\n",
        b"{\"a\":1}\r{\"b\":2}\n",
        b"\x1b[2J\x07\n",
        "имя 打击 \u{2028}\n".as_bytes(),
        &[b'x'; 70_000],
        b"\n",
        &[b'['; 3000],
        b"\n[1,\n\"no line feed at the end\"",
    ];
    let input = odd.concat();
    let folder = Folder::new();
    for limit in ["4M", "1K", "1"] {
        let recorded = pipe(&mut folder.command(&format!("jsonl-record {limit}.jsonl --max-line {limit}")), &input);
        assert!(recorded.status.success() && recorded.stdout == input);
        let output = folder.run(&format!("replay --speed max {limit}.jsonl"));
        assert!(output.stdout == input, "--max-line {limit}: {}", text(&output.stdout));
        assert_eq!((text(&output.stderr).as_str(), output.status.code()), ("", Some(0)));
    }
}

#[test]
fn both_sides_of_a_conversation_are_played_in_order_and_stderr_on_request() {
    let folder = Folder::new();
    let child = r#"echo warming up >&2; while read -r line; do echo "{\"to\":$line}"; done"#;
    let mut record = folder.command("jsonl-record run.jsonl -- sh -c");
    let mut talk = Talk::start(record.arg(child));
    for number in ["1", "2"] {
        talk.ask(number);
    }
    assert_eq!(talk.end_after_close().status.code(), Some(0));
    assert_eq!(played(&folder, "run.jsonl"), "1\n{\"to\":1}\n2\n{\"to\":2}\n");
    assert_eq!(played(&folder, "--dir in run.jsonl"), "1\n2\n");
    assert_eq!(played(&folder, "--dir out run.jsonl"), "{\"to\":1}\n{\"to\":2}\n");
    assert_eq!(played(&folder, "--dir err run.jsonl"), "warming up\n");
    assert_eq!(played(&folder, "--dir in,err run.jsonl").lines().count(), 3);
}

#[test]
fn messages_come_at_their_recorded_times_without_drift() {
    let folder = Folder::new();
    let lines: String = (0..40).map(|number| line(number * 25_000, number + 1, "<1")).collect();
    let log = folder.write("run.jsonl", header("") + "\n" + &lines);
    let started = Instant::now();
    let mut talk = Talk::start(command("replay").arg(log));
    let late: Vec<Duration> = (0..40)
        .map(|number| {
            talk.receive();
            started.elapsed().saturating_sub(Duration::from_millis(number * 25))
        })
        .collect();
    assert!(started.elapsed() >= Duration::from_millis(975), "{:?}", started.elapsed());
    // A busy machine delays the start, and single messages; a drift would delay all of the last ones.
    let least = |late: &[Duration]| *late.iter().min().unwrap();
    assert!(least(&late[30..]) < least(&late[..10]) + Duration::from_millis(60), "{late:?}");
}

#[test]
fn speed_and_idle_limit_shorten_the_playback() {
    let folder = Folder::new();
    folder
        .write("run.jsonl", header("") + "\n" + &line(0, 1, "<1") + &line(600_000, 2, "<2") + &line(900_000, 3, "<3"));
    for (options, least, most) in [
        ("", 900, 2000),
        ("--speed 3", 300, 800),
        ("--speed 0.5 --idle-limit 0.1", 400, 1200),
        ("--idle-limit 0.1", 200, 800),
        ("--idle-limit 0", 0, 500),
        ("--speed 1e300", 0, 500),
        ("--speed max", 0, 500),
    ] {
        // A busy machine delays some of the runs, a fault all.
        eventually(options, || {
            let started = Instant::now();
            let output = folder.run(&format!("replay {options} run.jsonl"));
            let took = started.elapsed().as_millis();
            assert_eq!(text(&output.stdout), "1\n2\n3\n");
            assert!(took >= least, "{options}: {took} ms");
            took < most
        });
    }
}

#[test]
fn files_of_any_format_are_merged_by_time() {
    let folder = Folder::new();
    folder.write("log.jsonl", log("", &["<\"log 1\"", ">\"log 2\""]));
    folder.write(
        "ndjson.jsonl",
        "{\"n\":\"no time yet\"}\n{\"ts\":\"2026-11-22T01:00:00.0015Z\"}\n{\"n\":\"with the one before\"}\n{\"ts\":1795309200.002}\n",
    );
    assert_eq!(
        played(&folder, "log.jsonl ndjson.jsonl"),
        "{\"n\":\"no time yet\"}\n\"log 1\"\n{\"ts\":\"2026-11-22T01:00:00.0015Z\"}\n{\"n\":\"with the one before\"}\n\
         \"log 2\"\n{\"ts\":1795309200.002}\n"
    );
    // Of two messages at one time, the one from the first file comes first.
    assert!(played(&folder, "ndjson.jsonl log.jsonl").ends_with("{\"ts\":1795309200.002}\n\"log 2\"\n"));
    assert_eq!(played(&folder, "log.jsonl log.jsonl"), "\"log 1\"\n\"log 1\"\n\"log 2\"\n\"log 2\"\n");
    let output = pipe(&mut folder.command("replay --speed max - log.jsonl"), b"{\"ts\":1795309200.0011}\n");
    assert_eq!(text(&output.stdout), "\"log 1\"\n{\"ts\":1795309200.0011}\n\"log 2\"\n");
}

#[test]
fn a_rotated_log_is_played_in_order_for_any_order_of_its_files() {
    let folder = Folder::new();
    let lines: String = (0..200).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    let recorded = pipe(&mut folder.command("jsonl-record --rotate 2K --keep 99 run.jsonl"), lines.as_bytes());
    assert!(recorded.status.success());
    let files = std::fs::read_dir(folder.path("")).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.len() > 5, "{names:?}");
    // In the order of a shell glob: the newest first, and 10 before 2.
    assert_eq!(played(&folder, &names.join(" ")), lines);
}

#[test]
fn lines_without_a_time_are_played_at_once_with_a_hint_at_the_option() {
    let folder = Folder::new();
    folder.write("plain.jsonl", "{\"at\":1,\"n\":1}\n{\"at\":3,\"n\":2}\n");
    let output = folder.run("replay plain.jsonl");
    assert_eq!(text(&output.stdout).lines().count(), 2);
    let message = "replay: plain.jsonl: its lines have no time, so they are played without pauses; \
                name the field of the time with --time\n";
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), (message, Some(0)));
    // If some lines have a time, or no pauses are made, there is no note.
    for (words, content) in [
        ("replay --time at --idle-limit 0 plain.jsonl", ""),
        ("replay --speed max plain.jsonl", ""),
        ("replay plain.jsonl", "{\"n\":1}\n{\"ts\":1}\n"),
        ("replay plain.jsonl", log("", &["<1"]).as_str()),
    ] {
        if !content.is_empty() {
            folder.write("plain.jsonl", content);
        }
        let output = folder.run(words);
        assert_eq!((text(&output.stderr).as_str(), output.status.code()), ("", Some(0)), "{words} {content}");
    }
}

#[test]
fn the_time_is_read_from_the_given_path() {
    let folder = Folder::new();
    folder.write("a.jsonl", "{\"event\":{\"at\":\"2026-01-01T00:00:01\"}}\n{\"event\":{\"at\":3000000000}}\n");
    folder.write("b.jsonl", "{\"event\":{\"at\":1767225602.5}}\n");
    let merged = played(&folder, "--time .event.at a.jsonl b.jsonl");
    assert_eq!(merged.lines().nth(1), Some("{\"event\":{\"at\":1767225602.5}}"));
    assert_eq!(merged, played(&folder, "--time event.at a.jsonl b.jsonl"));
    let (_, stderr, status) = play(&folder, "--time .event[ a.jsonl");
    assert!(status == 2 && stderr.contains("--time"), "{stderr}");
}

#[test]
fn a_part_of_a_recording_is_played_between_two_places() {
    let folder = Folder::new();
    let (_, stderr, status) = play(&folder, "--from 4 --to 2 run.jsonl");
    assert!(status == 2 && stderr.contains("--from is after --to"), "{stderr}");
    let lines: String = (0..6).map(|n| line(n * 1_000_000, n + 1, &format!("<{n}"))).collect();
    folder.write("run.jsonl", header("") + "\n" + &lines);
    let plain: String = (0..6).map(|n| format!("{{\"ts\":\"2026-11-22T01:00:0{n}Z\"}}\n")).collect();
    folder.write("plain.jsonl", plain);
    for (options, numbers) in [
        ("--from 3", "2345"),
        ("--to 3", "012"),
        ("--from 3 --to 3", "2"),
        ("--from 2s", "2345"),
        ("--from 1500ms --to 0.05m", "23"),
        ("--from 2026-11-22T01:00:04Z", "45"),
        ("--to 2026-11-22T02:00:01+01:00", "01"),
        ("--from 1h", ""),
        ("--from 18446744073709551615", ""),
        ("--from 3s --dir in", "345"),
        // Counted from the first message of the recording, not of the selection.
        ("--from 3s --where .>=2", "345"),
    ] {
        let digits: String = played(&folder, &format!("{options} run.jsonl")).split_whitespace().collect();
        assert_eq!(digits, numbers, "{options}");
    }
    assert_eq!(played(&folder, "--from 2 --to 3 plain.jsonl").lines().count(), 2);
    assert_eq!(played(&folder, "--from 4.5s plain.jsonl").lines().count(), 1);
    for bad in ["", "soon", "1d", "99999999999999999999", "1e400s", "s"] {
        let output = pipe(folder.command("replay run.jsonl --from").arg(bad), b"");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{bad:?}");
        assert!(text(&output.stderr).contains("--from"), "{}", text(&output.stderr));
    }
}

#[test]
fn only_messages_that_match_the_filter_are_played() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("", &["<{\"a\":1}", ">choose 0", "<{\"a\":2}", ">7"]));
    let filtered = |filter: &str| {
        let output = pipe(folder.command("replay --speed max run.jsonl --where").arg(filter), b"");
        (text(&output.stdout), text(&output.stderr), output.status.code())
    };
    assert_eq!(
        filtered(".a > 1"),
        ("{\"a\":2}\n".to_owned(), String::new(), Some(0)),
        "a text has no .a, and that is all"
    );
    assert_eq!(filtered("$dir == \"out\"").0, "choose 0\n7\n");
    assert_eq!(filtered("$seq == 3 and $t == 3000").0, "{\"a\":2}\n");
    assert_eq!(filtered(". == \"choose 0\"").0, "choose 0\n");
    let (stdout, stderr, status) = filtered(".a >");
    assert_eq!((stdout.as_str(), status), ("", Some(2)));
    assert!(stderr.starts_with("replay: --where: "), "{stderr}");
}

#[test]
fn the_proxys_records_are_played_by_their_ts_field() {
    let folder = Folder::new();
    let record = |ts: &str, cmd: &str| {
        let run = r#"{"seed":1,"class":"THE_SILENT","ascension":20,"floor":5}"#;
        format!(
            "{{\"ts\":\"{ts}\",\"action_id\":110,\"cmd\":\"{cmd}\",\"label\":\"{cmd}\",\"legal_ids\":[110],\"state\":{{}},\"run\":{run},\"confirmed\":true}}\n"
        )
    };
    folder.write("one", record("2026-02-02T20:06:23.218194Z", "a") + &record("2026-02-02T20:06:25.218194Z", "c"));
    folder.write("two", record("2026-02-02T20:06:24.218194Z", "b"));
    let merged = played(&folder, "two one");
    let commands: Vec<&str> = merged.lines().map(|line| &line[line.find("\"cmd\":\"").unwrap() + 7..][..1]).collect();
    assert_eq!(commands, ["a", "b", "c"]);
}

/// Plays a log of three messages with a damaged second one; checks the report and the output.
fn damaged(second: &str, message: &str, left: &str) {
    let folder = Folder::new();
    let (first, third) = (line(1000, 1, "<1"), line(3000, 3, "<3"));
    folder.write("run.jsonl", format!("{}\n{first}{second}{third}", header("")));
    let (stdout, stderr, status) = play(&folder, "run.jsonl");
    assert_eq!((stdout.as_str(), status), (left, 1), "{stderr}");
    assert!(stderr.starts_with(&format!("replay: run.jsonl:{message}")), "{stderr}");
}

#[test]
fn a_damaged_line_is_reported_with_its_number_and_affects_nothing_else() {
    let two = line(2000, 2, "<2");
    damaged(&format!("{}\n", &two[..20]), "3: not JSON, left out: EOF", "1\n3\n");
    damaged(&two[..20], "3: a record is torn by the next, which was read", "1\n3\n");
    damaged(&two[..4], "3: a record is torn by the next, which was read", "1\n3\n");
    damaged("{", "3: a record is torn by the next, which was read", "1\n3\n");
    damaged(two.trim_end(), "3: several records on one line; each was read", "1\n2\n3\n");
    damaged(&format!("{}{}\n", two.trim_end(), &two[..20]), "3: the text after a record is torn", "1\n2\n3\n");
    damaged(&format!("{}{}", two.trim_end(), &two[..20]), "3: a record is torn by the next", "1\n2\n3\n");
    damaged(&format!("\0\0\0\0{two}"), "3: a record is torn by the next", "1\n2\n3\n");
    damaged("{\"other\":1}\n", "3: not a record of this log, left out", "1\n3\n");
    damaged("\u{1b}[2Joops\n", "3: not JSON, left out", "1\n3\n");
    damaged(&format!("{}\n", "[".repeat(100_000)), "3: nested deeper than --max-depth, left out", "1\n3\n");
    damaged(&format!("{{\"t\":{}\n", "{\"t\":".repeat(100_000)), "3: nested deeper than --max-depth", "1\n3\n");
    damaged("", "3: one record is missing before this one", "1\n3\n");
    damaged("{\"t\":1500,\"seq\":2,\"lost\":1}\n", "3: 1 messages were not recorded here", "1\n3\n");
    damaged("{\"t\":1,\"seq\":2,\"dir\":\"in\",\"withheld\":\"secret\"}\n", "3: the clock went back", "1\n3\n");
    damaged(&line(1, 2, "<2"), "3: the clock went back by 0.000999 s", "1\n2\n3\n");
    damaged(&line(2000, 1, "<2"), "3: seq 1 follows 1", "1\n2\n3\n");
}

#[test]
fn a_torn_first_or_last_line_loses_only_itself() {
    let folder = Folder::new();
    folder.write("first.jsonl", format!("{}\n{}", &header("")[..40], line(1000, 1, "<1")));
    let (stdout, stderr, status) = play(&folder, "first.jsonl");
    assert_eq!((stdout.as_str(), status), ("1\n", 1));
    assert!(stderr.starts_with("replay: first.jsonl:1: not JSON"), "{stderr}");
    folder.write("last.jsonl", log("", &["<1"]) + &line(1000, 2, "<2")[..30]);
    assert_eq!(
        play(&folder, "last.jsonl"),
        ("1\n".to_owned(), "replay: last.jsonl:3: the last line is torn, left out\n".to_owned(), 1)
    );
    // The writer was stopped and started again.
    folder.write("header.jsonl", log("", &["<1"]) + &line(1000, 2, "<2")[..30] + &log("", &["<3"]));
    let (stdout, stderr, _) = play(&folder, "header.jsonl");
    assert_eq!(stdout, "1\n3\n");
    assert!(stderr.starts_with("replay: header.jsonl:3: a record is torn by the next, which was read"), "{stderr}");
}

#[test]
fn bytes_that_are_not_utf8_are_played_unchanged_and_reported() {
    let folder = Folder::new();
    folder.write("gbk", b"{\"ts\":1,\"name\":\"\xb4\xf2\"}\n{\"ts\":2}\n");
    let output = folder.run("replay --speed max gbk");
    assert_eq!(output.stdout, b"{\"ts\":1,\"name\":\"\xb4\xf2\"}\n{\"ts\":2}\n");
    assert_eq!(text(&output.stderr), "replay: gbk:1: contains bytes that are not UTF-8; read anyway\n");
    let log = [log("", &["<1"]).as_bytes(), b"\xff\xff\n", line(9000, 2, "<2").as_bytes()].concat();
    folder.write("log", log);
    assert_eq!(play(&folder, "log").0, "1\n2\n");
    assert_eq!(play(&folder, "log").1, "replay: log:3: not JSON, left out: not UTF-8\n");
}

#[test]
fn a_log_from_a_newer_version_and_an_empty_file_are_reported() {
    let folder = Folder::new();
    folder.write("new", log("", &["<1"]).replace("\"version\":1", "\"version\":7,\"novelty\":[]"));
    let (stdout, stderr, status) = play(&folder, "new");
    assert_eq!((stdout.as_str(), status), ("1\n", 1));
    assert!(
        stderr.starts_with("replay: new:1: written by a newer pipewright (log version 7, known is 1); update"),
        "{stderr}"
    );
    folder.write("empty", "");
    assert_eq!(play(&folder, "empty"), (String::new(), "replay: empty: the file is empty\n".to_owned(), 1));
}

#[test]
fn a_line_of_100_mb_is_reported_and_the_next_is_played_with_little_memory() {
    let folder = Folder::new();
    let mut talk = Talk::start(&mut folder.command("replay --speed max -"));
    talk.say("{\"ts\":1}");
    let pad = "x".repeat(1 << 20);
    talk.say(&format!("{{\"pad\":\"{}\"}}", pad.repeat(100)));
    talk.say("{\"ts\":2}");
    assert_eq!((talk.receive().as_str(), talk.receive().as_str()), ("{\"ts\":1}", "{\"ts\":2}"));
    let peak = peak(talk.pid().as_raw()).unwrap();
    assert!(peak < 30 << 10, "{peak} KiB");
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(ended.stderr, "replay: stdin:2: longer than --max-line, left out\n");
}

#[test]
fn a_recorded_line_of_100_mb_is_played_completely() {
    let folder = Folder::new();
    let long = [vec![b'x'; 100 << 20], b"\nnext\n".to_vec()].concat();
    assert!(pipe(&mut folder.command("jsonl-record run.jsonl"), &long).stdout == long);
    let output = folder.run("replay --speed max run.jsonl");
    assert!(output.stdout == long, "{} bytes", output.stdout.len());
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), ("", Some(0)));
}

#[test]
fn no_torn_line_of_any_form_takes_long() {
    let folder = Folder::new();
    let torn =
        ["{\"t\":1,", "{\"t\":[", "{\"", "{\"t\":{}", "\"{"].map(|piece| piece.repeat((4 << 20) / piece.len()) + "\n");
    folder.write("run.jsonl", log("", &["<0"]) + &torn.concat() + &line(1000, 2, "<1"));
    let started = Instant::now();
    let (stdout, _, status) = play(&folder, "--max-depth 9999999 run.jsonl");
    assert_eq!((stdout.as_str(), status), ("0\n1\n", 1));
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
}

#[test]
fn extreme_times_and_numbers_are_harmless() {
    let folder = Folder::new();
    let plain = "{\"ts\":-1e300}\n{\"ts\":1e300}\n{\"ts\":\"9999-12-30T22:00:00Z\"}\n{\"ts\":\"-009999-01-03T00:00:00Z\"}\n\
                 {\"ts\":9223372036854775807}\n{\"ts\":-9223372036854775808}\n";
    folder.write("plain", plain);
    let (max, most) = (u64::MAX, i64::MAX as u64);
    folder.write("log", header("") + "\n" + &line(max, max - 1, "<1") + &line(0, max, ">2") + &line(most, 1, "<3"));
    for options in [
        "--speed max --from 1s",
        "--speed max --to 1s",
        "--speed max --from 0 --to 18446744073709551615",
        "--idle-limit 1 --speed 1e300",
        "--idle-limit 0",
    ] {
        for file in ["plain", "log"] {
            let output = folder.run(&format!("replay {options} {file}"));
            let (stderr, status) = (text(&output.stderr), output.status.code());
            assert_eq!(status, Some(1), "{options} {file}: {stderr}");
            assert!(!stderr.contains("panic"), "{stderr}");
        }
    }
    assert_eq!(play(&folder, "plain").0, plain);
    assert_eq!(play(&folder, "log").0, "1\n2\n3\n");
    for bad in ["0", "-1", "nan", "inf", "fast", ""] {
        let output = pipe(folder.command("replay log").arg(format!("--speed={bad}")), b"");
        assert_eq!(output.status.code(), Some(2), "{bad}");
    }
}

#[test]
fn an_unfinished_line_is_not_mixed_with_another() {
    let folder = Folder::new();
    let part = |t: u64, direction: &str, message: &str, more: bool| {
        let more = if more { ",\"more\":true" } else { "" };
        format!("{{\"t\":{t},\"seq\":{t},\"dir\":\"{direction}\",\"text\":\"{message}\"{more}}}\n")
    };
    let both = header("")
        + "\n"
        + &part(1, "in", "in-", true)
        + &part(2, "out", "out-", true)
        + &part(3, "out", "put", false)
        + &part(4, "out", "long-", true)
        + &part(5, "in", "side", false)
        + &part(6, "in", "next", false)
        + &part(7, "out", "er", false);
    folder.write("both", &both);
    assert_eq!(played(&folder, "both"), "in-side\nout-put\nlong-er\nnext\n");
    // A line of another log at the same time is not the rest of it.
    folder.write("other", header("").replace("\"seq\":0", "\"seq\":1") + "\n" + &part(2, "in", "other", false));
    assert_eq!(
        played(&folder, "both other").lines().collect::<Vec<_>>(),
        ["in-side", "out-put", "other", "long-er", "next"]
    );
    // The rest of it never comes: nothing else is lost, and no other line is taken for the rest.
    let cut = header("") + "\n" + &part(1, "in", "in-", true) + &part(2, "out", "output", false);
    folder.write("cut", &cut);
    assert_eq!(played(&folder, "cut"), "in-\noutput\n");
    folder.write("again", cut + &header("").replace("\"seq\":0", "\"seq\":3") + "\n" + &line(1, 4, "<1"));
    assert_eq!(played(&folder, "again"), "in-\noutput\n1\n");
}

#[test]
fn a_growing_log_is_followed_line_by_line() {
    let folder = Folder::new();
    let path = folder.write("run.jsonl", log("", &["<1"]));
    let mut talk = Talk::start(&mut folder.command("replay --follow --speed max run.jsonl"));
    assert_eq!(talk.receive(), "1");
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    let second = line(2000, 2, "<2");
    file.write_all(&second.as_bytes()[..10]).unwrap();
    talk.receive_nothing_for(150);
    file.write_all(&second.as_bytes()[10..]).unwrap();
    assert_eq!(talk.receive(), "2");
    talk.signal(Signal::SIGTERM);
    let ended = talk.end();
    assert_eq!((ended.status.signal(), ended.stderr.as_str()), (Some(15), ""));
}

#[test]
fn a_log_that_is_rotated_or_truncated_is_still_followed() {
    let folder = Folder::new();
    let path = folder.write("run.jsonl", log("", &["<1"]));
    let mut talk = Talk::start(&mut folder.command("replay -f --speed max run.jsonl"));
    assert_eq!(talk.receive(), "1");
    let mut old = OpenOptions::new().append(true).open(&path).unwrap();
    std::fs::rename(&path, folder.path("run.jsonl.1")).unwrap();
    old.write_all(line(2000, 2, "<2").as_bytes()).unwrap();
    let header = header("").replace("\"seq\":0", "\"seq\":3");
    folder.write("run.jsonl", format!("{header}\n{}", line(4000, 4, "<4")));
    assert_eq!((talk.receive().as_str(), talk.receive().as_str()), ("2", "4"));
    // Like a log rotator that copies and truncates.
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(0).unwrap();
    (&file).write_all(line(5000, 5, "<5").as_bytes()).unwrap();
    assert_eq!(talk.receive(), "5");
    talk.signal(Signal::SIGINT);
    let ended = talk.end();
    assert_eq!((ended.status.signal(), ended.stderr.as_str()), (Some(2), ""));
}

#[test]
fn a_rotating_log_is_followed_through_many_files() {
    let folder = Folder::new();
    let mut record = Talk::start(&mut folder.command("jsonl-record --rotate 1K --keep 100 --sync never run.jsonl"));
    eventually("there is a log", || folder.path("run.jsonl").exists());
    let mut follow = Talk::start(&mut folder.command("replay -f --speed max run.jsonl"));
    for number in 0..200 {
        assert_eq!(record.ask(&number.to_string()), number.to_string());
        assert_eq!(follow.receive(), number.to_string());
    }
    assert!(folder.path("run.jsonl.5").exists());
    record.end_after_close();
}

#[test]
fn following_ends_when_nothing_more_can_come() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("", &["<1", "<2", "<3"]));
    assert_eq!(played(&folder, "-f --to 2 run.jsonl"), "1\n2\n");
    let mut input = log("", &["<1"]);
    input += line(2000, 2, "<2").trim_end();
    for file in ["-", "/dev/stdin"] {
        let output = pipe(&mut folder.command(&format!("replay -f --speed max {file}")), input.as_bytes());
        assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("1\n2\n", Some(0)), "{file}");
    }
}

#[test]
fn a_file_that_cannot_be_opened_exits_2_with_its_name() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("", &["<1"]));
    for (files, message) in [
        (".", "replay: .: is a directory\n"),
        ("none.jsonl", "replay: none.jsonl: No such file or directory (os error 2)\n"),
        ("run.jsonl none.jsonl", "replay: none.jsonl: No such file"),
        ("- -", "replay: stdin (-) can be read only once\n"),
        ("--step --tty /dev/null run.jsonl", ""),
    ] {
        let (stdout, stderr, status) = play(&folder, files);
        assert_eq!((stdout.as_str(), status), ("", if message.is_empty() { 3 } else { 2 }), "{files}");
        assert!(stderr.starts_with(message), "{stderr}");
    }
}

#[test]
fn a_closed_stdout_is_a_quiet_end_and_a_full_disk_is_reported() {
    let folder = Folder::new();
    let lines: String = (0..50_000).map(|n| line(n, n + 1, &format!("<{n}"))).collect();
    folder.write("run.jsonl", header("") + "\n" + &lines);
    let replay = binary("replay");
    let script = format!("{{ {} --speed max run.jsonl; echo status $? >&2; }} | head -1", replay.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path(""));
    let output = pipe(&mut shell, b"");
    assert_eq!((text(&output.stdout).as_str(), text(&output.stderr).as_str()), ("0\n", "status 0\n"));
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = folder.command("replay --speed max run.jsonl").stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "replay: stdout: No space left on device (os error 28)\n");
}

#[test]
fn a_signal_ends_the_playback_during_a_pause() {
    let folder = Folder::new();
    folder.write("run.jsonl", header("") + "\n" + &line(0, 1, "<1") + &line(3_600_000_000, 2, "<2"));
    for (signal, options) in [(Signal::SIGTERM, ""), (Signal::SIGINT, "--speed 1e-300"), (Signal::SIGHUP, "--speed 2")]
    {
        let mut talk = Talk::start(&mut folder.command(&format!("replay {options} run.jsonl")));
        assert_eq!(talk.receive(), "1", "it is out before the pause begins");
        talk.signal(signal);
        let ended = talk.end();
        assert_eq!((ended.status.signal(), ended.stderr.as_str()), (Some(signal as i32), ""));
    }
}

#[test]
fn memory_stays_flat_on_a_long_log() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    file.write_all((header("") + "\n").as_bytes()).unwrap();
    let pad = "x".repeat(900);
    for n in 0..60_000 {
        let message = if n % 2 == 0 { format!("<{{\"pad\":\"{pad}\"}}") } else { "<1".to_owned() };
        file.write_all(line(n, n + 1, &message).as_bytes()).unwrap();
    }
    drop(file);
    // When following, it still runs after everything has been played.
    let mut child = folder.command("replay -f --speed max run.jsonl").stdout(Stdio::piped()).spawn().unwrap();
    let mut all = child.stdout.take().unwrap().take(30_000 * (900 + 11) + 30_000 * 2);
    std::io::copy(&mut all, &mut std::io::sink()).unwrap();
    let peak = peak(child.id() as i32).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(peak < 30 << 10, "{peak} KiB");
}

/// `replay` at a terminal, with stdout in a file. The output of the shell afterwards shows the state of the terminal.
fn at_terminal(folder: &Folder, options: &str) -> PtySession {
    let script = format!(
        "stty -a >before; sh -c 'echo $$ >pid; exec {} {options} run.jsonl >out'; echo status $?; \
         stty -a >after; cmp before after && echo restored",
        binary("replay").display(),
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path("")).env("TERM", "xterm").env_remove("PIPEWRIGHT_FOREGROUND");
    with_a_person(shell)
}

#[test]
fn a_person_steps_through_a_recording_with_single_keys() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("", &["<1", ">{\"choose\":\"\\u001b[2J\"}", "<3", ">4"]));
    let mut person = at_terminal(&folder, "--step --speed max");
    person.exp_string("run.jsonl:2: in 1").unwrap();
    person.exp_string("n next, r run on, q quit").unwrap();
    assert_eq!(folder.read("out"), b"", "it asks before it plays");
    person.send("n").unwrap();
    person.flush().unwrap();
    person.exp_string("run.jsonl:3: out {\"choose\"").unwrap();
    assert_eq!(folder.read("out"), b"1\n");
    person.send("xn").unwrap();
    person.flush().unwrap();
    person.exp_string("run.jsonl:4: in 3").unwrap();
    person.send("q").unwrap();
    person.flush().unwrap();
    person.exp_string("status 0").unwrap();
    person.exp_string("restored").unwrap();
    assert_eq!(folder.read("out"), b"1\n{\"choose\":\"\\u001b[2J\"}\n");
}

#[test]
fn text_shown_at_a_step_cannot_control_the_terminal() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("", &["<\x1b[2J\x1b]0;owned\x07", "<2"]));
    let mut person = at_terminal(&folder, "--step");
    let shown = person.exp_string("q quit").unwrap();
    assert!(!shown.contains('\x1b') && shown.contains("?[2J?]0;owned?"), "{shown:?}");
    person.send("r").unwrap();
    person.flush().unwrap();
    person.exp_string("status 0").unwrap();
    assert_eq!(folder.read("out"), b"\x1b[2J\x1b]0;owned\x07\n2\n", "what is played is played as it was");
}

#[test]
fn playback_stops_at_a_break_and_continues() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("", &["<1", "<2", "<3", "<4", "<5"]));
    let mut person = at_terminal(&folder, "--speed max --break .==2or.==4");
    person.exp_string("run.jsonl:3: in 2").unwrap();
    assert_eq!(folder.read("out"), b"1\n");
    person.send("r").unwrap();
    person.flush().unwrap();
    person.exp_string("run.jsonl:5: in 4").unwrap();
    person.send("n").unwrap();
    person.flush().unwrap();
    person.exp_string("run.jsonl:6: in 5").unwrap();
    person.send("r").unwrap();
    person.flush().unwrap();
    person.exp_string("status 0").unwrap();
    person.exp_string("restored").unwrap();
    assert_eq!(folder.read("out"), b"1\n2\n3\n4\n5\n");
}

#[test]
fn the_terminal_is_restored_after_a_signal_at_a_step() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("", &["<1"]));
    for (signal, status) in [(Signal::SIGTERM, "status 143"), (Signal::SIGHUP, "status 129")] {
        let mut person = at_terminal(&folder, "--step");
        person.exp_string("q quit").unwrap();
        let pid = text(&folder.read("pid")).trim().parse().unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
        person.exp_string(status).unwrap();
        person.exp_string("restored").unwrap();
    }
}

#[test]
fn the_pause_after_a_step_begins_with_the_answer() {
    let folder = Folder::new();
    folder.write("run.jsonl", header("") + "\n" + &line(0, 1, "<1") + &line(400_000, 2, "<2"));
    let mut person = at_terminal(&folder, "--break .==1");
    person.exp_string("q quit").unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let started = Instant::now();
    person.send("r").unwrap();
    person.flush().unwrap();
    person.exp_string("status 0").unwrap();
    assert!(started.elapsed() >= Duration::from_millis(380), "{:?}", started.elapsed());
}
