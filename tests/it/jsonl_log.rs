//! `jsonl-log`: checks, recovers, tabulates and summarizes logs.

use crate::process::{PATIENCE, Talk, binary, pipe, text, with_a_person};
use crate::recorded::{Folder, end, header, line, log, peak, watch};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

struct Ran {
    stdout: String,
    stderr: String,
    status: Option<i32>,
}

fn run(folder: &Folder, words: &str) -> Ran {
    let output = folder.run(&format!("jsonl-log {words}"));
    Ran { stdout: text(&output.stdout), stderr: text(&output.stderr), status: output.status.code() }
}

/// The output of a run without problems.
fn clean(folder: &Folder, words: &str) -> String {
    let Ran { stdout, stderr, status } = run(folder, words);
    assert_eq!((stderr.as_str(), status), ("", Some(0)), "{words}");
    stdout
}

fn check(folder: &Folder, file: &str) -> (Value, String) {
    let ran = run(folder, &format!("check {file}"));
    let check: Value = serde_json::from_str(&ran.stdout).unwrap();
    let counts = ["missing", "lost", "torn", "unreadable", "fused", "out_of_order", "backwards"];
    let clean = counts.iter().all(|count| check[count] == 0) && ran.stderr.is_empty();
    assert_eq!(ran.status, Some(i32::from(!clean)), "{}", ran.stderr);
    (check, ran.stderr)
}

/// The counts of problems that are not 0.
fn counts(file: &[u8]) -> String {
    let folder = Folder::new();
    folder.write("run.jsonl", file);
    let (check, _) = check(&folder, "run.jsonl");
    let names = ["messages", "missing", "lost", "withheld", "torn", "unreadable", "fused", "out_of_order", "backwards"];
    let problems = names.iter().filter(|name| check[**name] != 0).map(|name| format!("{name} {}", check[*name]));
    problems.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_log_of_the_recorder_is_checked_clean() {
    let folder = Folder::new();
    for input in ["1\n2\n", "3"] {
        assert!(pipe(&mut folder.command("jsonl-record run.jsonl"), input.as_bytes()).status.success());
    }
    let (check, _) = check(&folder, "run.jsonl");
    assert_eq!((&check["files"], &check["format"]), (&json!(["run.jsonl"]), &"pipewright-log".into()));
    assert_eq!((&check["messages"], &check["sessions"], &check["ended"]), (&3.into(), &2.into(), &2.into()));
    assert_eq!(check["bytes"].as_u64(), Some(folder.read("run.jsonl").len() as u64));
    assert!(check["first"].as_str() < check["last"].as_str(), "{check}");
}

#[test]
fn each_kind_of_damage_has_its_count() {
    let [one, two, three] = [(1, "<1"), (2, ">2"), (3, "<3")].map(|(n, message)| line(n * 1000, n, message));
    let head = header("") + "\n";
    let with = |second: &str| format!("{head}{one}{second}{three}").into_bytes();
    for (file, counted) in [
        (with(&two), "messages 3"),
        (with(""), "messages 2, missing 1"),
        (with("{\"t\":2000,\"seq\":2,\"lost\":1}\n"), "messages 2, lost 1"),
        (with("{\"t\":2000,\"seq\":2,\"dir\":\"in\",\"withheld\":\"why\"}\n"), "messages 3, withheld 1"),
        (with(&(two[..20].to_owned() + "\n")), "messages 2, missing 1, unreadable 1"),
        (with(&two[..20]), "messages 2, missing 1, torn 1"),
        (with(two.trim_end()), "messages 3, fused 1"),
        (with(&format!("{}{}\n", two.trim_end(), &two[..9])), "messages 3, torn 1"),
        (with(&line(2000, 1, "<2")), "messages 3, missing 1, out_of_order 1"),
        (with(&line(500, 2, "<2")), "messages 3, backwards 1"),
        (with(&("[".repeat(100_000) + "\n")), "messages 2, missing 1, unreadable 1"),
        (with(&format!("\"{}\"\n", "x".repeat(7 << 20))), "messages 2, missing 1, unreadable 1"),
        (format!("{head}{one}{}", &two[..20]).into_bytes(), "messages 1, torn 1"),
        (format!("{}\n{one}{two}", &head[..30]).into_bytes(), "messages 2, unreadable 1"),
        ([head.as_bytes(), b"\xff\n", one.as_bytes()].concat(), "messages 1, unreadable 1"),
        (b"{\"ts\":2}\n{\"ts\":1}\n".to_vec(), "messages 2, backwards 1"),
    ] {
        assert_eq!(counts(&file), counted, "{}", String::from_utf8_lossy(&file[..file.len().min(500)]));
    }
}

#[test]
fn counters_saturate() {
    let most = u64::MAX;
    let lost = format!("{{\"t\":1,\"seq\":5,\"lost\":{most}}}\n");
    let gap = line(1, 0, "<1") + &line(1, most, "<1");
    assert_eq!(
        counts(format!("{lost}{lost}{gap}{gap}").as_bytes()),
        format!("messages 4, missing {most}, lost {most}, out_of_order 3")
    );
}

#[test]
fn an_empty_file_and_a_newer_version_are_reported() {
    let folder = Folder::new();
    folder.write("empty", "");
    let ran = run(&folder, "check empty");
    assert_eq!((ran.stderr.as_str(), ran.status), ("jsonl-log: empty: the file is empty\n", Some(1)));
    folder.write("new", log("", &["<1"]).replace("\"version\":1", "\"version\":2"));
    let ran = run(&folder, "check new");
    assert!(ran.stderr.starts_with("jsonl-log: new:1: written by a newer pipewright"), "{}", ran.stderr);
    assert_eq!(ran.status, Some(1));
}

#[test]
fn a_log_without_its_beginning_has_no_date_and_is_reported() {
    let folder = Folder::new();
    let whole = log("", &["<{\"n\":1}", "<{\"n\":2}"]);
    folder.write("headless", whole.split_once('\n').unwrap().1);
    let ran = run(&folder, "check headless");
    let check: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&check["messages"], &check["first"], ran.status), (&2.into(), &Value::Null, Some(1)));
    assert!(ran.stderr.starts_with("jsonl-log: headless:1: the log's beginning is missing"), "{}", ran.stderr);
    assert_eq!(run(&folder, "csv $time,.n headless").stdout, "time,n\n,1\n,2\n");
    folder.write("dateless", whole.replace("2026-11-22T", "some day, "));
    let ran = run(&folder, "check dateless");
    assert!(
        ran.status == Some(1) && ran.stderr.contains("dateless:1: this header has no start time"),
        "{}",
        ran.stderr
    );
    // Other lines before it do not hide it.
    folder.write("late", format!("{{}}\n{whole}"));
    let ran = run(&folder, "check late");
    let check: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&check["format"], &check["messages"]), (&"pipewright-log".into(), &3.into()));
    assert!(ran.status == Some(1) && ran.stderr.contains("late:2: a log begins here"), "{}", ran.stderr);
}

#[test]
fn several_files_are_checked_as_one_log() {
    let folder = Folder::new();
    let messages: Vec<String> = (0..40).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    for half in [&messages[..20], &messages[20..]] {
        let mut record = folder.command("jsonl-record --rotate 300 --keep 50 run.jsonl");
        assert!(pipe(&mut record, half.concat().as_bytes()).status.success());
    }
    // The shell lists them as run.jsonl run.jsonl.1 run.jsonl.10 run.jsonl.11 ... run.jsonl.2
    let mut names: Vec<String> = std::fs::read_dir(folder.path("")).unwrap().map(name_of).collect();
    names.sort();
    assert!(names.len() > 5);
    let (whole, _) = check(&folder, &names.join(" "));
    assert_eq!((&whole["messages"], &whole["sessions"], &whole["ended"]), (&json!(40), &json!(2), &json!(2)));
    assert_eq!(whole["format"], "pipewright-log");
    let files: Vec<&str> = whole["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    assert_eq!((files.len(), files.last()), (names.len(), Some(&"run.jsonl")), "the oldest first");
    // A missing file between the others is noticed.
    names.retain(|name| name != "run.jsonl.2");
    let taken = folder.read("run.jsonl.2").iter().filter(|&&byte| byte == b'\n').count();
    let (damaged, stderr) = check(&folder, &names.join(" "));
    assert_eq!(damaged["missing"], json!(taken), "{stderr}");
    assert!(stderr.contains("run.jsonl.1:1: ") && stderr.contains("missing before this one"), "{stderr}");
    assert_eq!(check(&folder, "run.jsonl").0["missing"], 0, "a file alone has no others to miss");
}

fn name_of(entry: std::io::Result<std::fs::DirEntry>) -> String {
    entry.unwrap().file_name().to_string_lossy().into_owned()
}

#[test]
fn files_of_different_logs_and_stdin_are_counted_together() {
    let folder = Folder::new();
    folder.write("a", log("", &["<1"]));
    folder.write("b", "{\"ts\":1}\n{}\n");
    folder.write("c", log("", &["<1", ">2"]));
    let output = pipe(&mut folder.command("jsonl-log check a - b c"), b"7\n");
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&counts["format"], &counts["messages"]), (&json!("ndjson"), &json!(6)));
    assert_eq!(counts["files"], json!(["stdin", "b", "a", "c"]));
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), ("", Some(0)), "each log begins with 0");
    let ran = run(&folder, "check a none");
    assert_eq!((ran.stdout.lines().count(), ran.status), (1, Some(1)), "the others are still read");
    assert!(ran.stderr.starts_with("jsonl-log: none: No such file"), "{}", ran.stderr);
    let ran = run(&folder, "check none .");
    assert_eq!((ran.stdout.as_str(), ran.status, ran.stderr.lines().count()), ("", Some(2), 2));
    assert!(ran.stderr.contains("jsonl-log: .: is a directory"), "{}", ran.stderr);
}

#[test]
fn a_recovered_log_is_clean_except_for_missing_lines() {
    let folder = Folder::new();
    let lines: Vec<String> = (1..=8).map(|n| line(n * 1000, n, &format!("<{{\"n\" : {n}.0}}"))).collect();
    let damaged = [
        header("agent").as_bytes(),
        b"\n",
        lines[0].as_bytes(),
        &lines[1].as_bytes()[..20],
        b"\n",
        lines[2].trim_end().as_bytes(),
        lines[3].as_bytes(),
        &lines[4].as_bytes()[..25],
        lines[5].as_bytes(),
        b"\xff\xff\n\n",
        "[".repeat(100_000).as_bytes(),
        b"\n",
        lines[6].as_bytes(),
        &lines[7].as_bytes()[..30],
    ]
    .concat();
    folder.write("run.jsonl", damaged);
    let ran = run(&folder, "recover run.jsonl");
    assert_eq!(ran.status, Some(1));
    let kept = [&lines[0], &lines[2], &lines[3], &lines[5], &lines[6]].map(String::as_str).concat();
    assert_eq!(ran.stdout, header("agent") + "\n" + &kept, "each record as it stands there");
    folder.write("whole.jsonl", &ran.stdout);
    let (check, stderr) = check(&folder, "whole.jsonl");
    assert_eq!((&check["messages"], &check["missing"], stderr.lines().count()), (&5.into(), &2.into(), 2), "{stderr}");
    assert_eq!(run(&folder, "recover whole.jsonl").stdout, ran.stdout);
}

#[test]
fn plain_ndjson_is_also_recovered_in_its_own_charset() {
    let folder = Folder::new();
    folder.write("plain", b"{\"ts\":1,\"n\":\"\xb4\xf2\"}\r\n\n{\"ts\":2\n{\"ts\":3}{\"ts\":4}\n7\n");
    let output = folder.run("jsonl-log recover plain");
    assert_eq!(output.stdout, b"{\"ts\":1,\"n\":\"\xb4\xf2\"}\n{\"ts\":3}\n{\"ts\":4}\n7\n");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_table_has_the_requested_columns_in_every_row() {
    let folder = Folder::new();
    let odd = r#"<{"id":12345678901234567890,"p":{"total":1.10,"tags":["a,b","c"]},"s":"say \"hi\", \n имя","n":null}"#;
    folder.write("run.jsonl", log("", &[odd, ">choose 0", "<{\"p\":7}", "<[1,2]"]));
    assert_eq!(
        clean(&folder, "csv .id,.p.total,.p.tags,.p.tags[1],.s,.n run.jsonl"),
        "id,p.total,p.tags,p.tags[1],s,n\n\
         12345678901234567890,1.10,\"[\"\"a,b\"\",\"\"c\"\"]\",c,\"say \"\"hi\"\", \n имя\",\n,,,,,\n,,,,,\n,,,,,\n"
    );
    assert_eq!(
        clean(&folder, "csv $seq,$t,$dir,$time,$file,$line,. --where $dir==\"out\" run.jsonl"),
        "seq,t,dir,time,file,line,.\n2,2000,out,2026-11-22T01:00:00.002000Z,run.jsonl,3,choose 0\n"
    );
    folder.write("plain.jsonl", "{\"ts\":1.5,\"id\":1}\n");
    assert_eq!(
        clean(&folder, "csv $file,$seq,$dir,$time,.id plain.jsonl run.jsonl --where .id"),
        "file,seq,dir,time,id\nplain.jsonl,,,1970-01-01T00:00:01.500000Z,1\n\
         run.jsonl,1,in,2026-11-22T01:00:00.001000Z,12345678901234567890\n"
    );
    assert_eq!(clean(&folder, "csv .a,.b --where false run.jsonl"), "a,b\n", "there are columns even without rows");
}

#[test]
fn a_column_that_no_message_has_is_warned_about() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("", &["<{\"hp\":7,\"n\":null}", ">choose 0", "<{\"floor\":1}"]));
    let ran = run(&folder, "csv .turn,.hp,.n,.floor,.,.hp.x run.jsonl");
    assert_eq!(ran.stdout.lines().count(), 4);
    let warned = "jsonl-log: no message has .turn, so its column is empty\n\
                  jsonl-log: no message has .hp.x, so its column is empty\n";
    assert_eq!((ran.stderr.as_str(), ran.status), (warned, Some(0)));
    // Without messages, no path is reported as missing.
    assert_eq!(clean(&folder, "csv .turn --where false run.jsonl"), "turn\n");
}

#[test]
fn a_column_may_be_named() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("", &["<{\"hp\":7,\"max\":9}"]));
    let mut csv = folder.command("jsonl-log csv");
    let output = pipe(csv.args(["points=.hp, n=$seq,low=.hp == 7,left=.max-.hp,.hp==7,turn=.turn", "run.jsonl"]), b"");
    assert_eq!(text(&output.stdout), "points,n,low,left,hp==7,turn\n7,1,true,2,true,\n");
    assert_eq!(text(&output.stderr), "jsonl-log: no message has .turn, so its column is empty\n");
    let refused = run(&folder, "csv hp= run.jsonl");
    assert_eq!((refused.stderr.as_str(), refused.status), ("jsonl-log: FIELDS: an empty field in \"hp=\"\n", Some(2)));
}

#[test]
fn a_column_may_be_a_filter() {
    let folder = Folder::new();
    folder.write("run.jsonl", log("", &["<{\"a\":[3,4],\"b\":\"x\"}", "<{\"a\":[],\"b\":2}"]));
    let output = pipe(folder.command("jsonl-log csv").arg(".a|add, [.a[],.b], .a[0]+1,$seq*2").arg("run.jsonl"), b"");
    assert_eq!(
        text(&output.stdout),
        ".a|add,\"[.a[],.b]\",a[0]+1,seq*2\n7,\"[3,4,\"\"x\"\"]\",4,2\n,[2],1,4\n".replacen(".a|add", "a|add", 1)
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = pipe(folder.command("jsonl-log csv").arg(".b|ascii_upcase,$seq").arg("run.jsonl"), b"");
    assert_eq!(text(&output.stdout), "b|ascii_upcase,seq\nX,1\n,2\n");
    assert!(text(&output.stderr).starts_with("jsonl-log: run.jsonl:3: FIELDS: "), "{}", text(&output.stderr));
    for (fields, message) in
        [("", "an empty field"), (".a,,.b", "an empty field"), (".a |", "FIELDS: "), ("$nothing", "FIELDS: ")]
    {
        let output = pipe(folder.command("jsonl-log csv").arg(fields).arg("run.jsonl"), b"");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{fields:?}");
        assert!(text(&output.stderr).contains(message), "{fields:?}: {}", text(&output.stderr));
    }
    assert_eq!(run(&folder, "csv .a --where .[ run.jsonl").status, Some(2));
}

/// Two turns: an answer after 2 ms and one after 5 ms, with a line on stderr that belongs to no turn.
fn two_turns() -> String {
    let lines = [
        (1_000, "<{\"type\":\"state\",\"n\":1}"),
        (3_000, ">play 1 2"),
        (10_000, "<{\"type\":\"state\",\"n\":22}"),
        (12_000, "!warning: slow"),
        (15_000, ">play 3"),
    ];
    let lines: String = (1..).zip(lines).map(|(seq, (t, message))| line(t, seq, message)).collect();
    header("agent") + "\n" + &lines + &end(6, 0)
}

#[test]
fn a_summary_counts_by_direction_and_type_and_by_turn() {
    let folder = Folder::new();
    folder.write("run.jsonl", two_turns());
    let rows: Vec<Value> = clean(&folder, "summary --format json run.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |dir: &str, kind: &str| rows.iter().find(|row| row["dir"] == dir && row["type"] == kind).unwrap();
    let state = of("in", "state");
    assert_eq!((&state["count"], &state["bytes"], &state["size_max"]), (&2.into(), &45.into(), &23.into()));
    let play = of("out", "play");
    assert_eq!((&play["count"], &play["answers"]), (&2.into(), &2.into()));
    assert_eq!(play["answer_us_max"], 5000);
    assert!(play["answer_us_p50"].as_u64().unwrap().abs_diff(2000) <= 20, "to within a hundredth: {play}");
    let warning = of("err", "text");
    assert_eq!((&warning["answers"], &warning["answer_us_p50"]), (&0.into(), &Value::Null));
    let turn = of("", "(turn)");
    assert_eq!((&turn["count"], &turn["bytes"], &turn["answer_us_max"]), (&2.into(), &59.into(), &5000.into()));
    assert_eq!(rows.len(), 4);
}

#[test]
fn a_summary_has_formats_for_people_spreadsheets_and_programs() {
    let folder = Folder::new();
    folder.write("run.jsonl", two_turns().replace("play 1", "\\u001b[2J,\\\"x\\\" 1"));
    let table = clean(&folder, "summary run.jsonl");
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows[0].starts_with("dir  type") && rows[0].ends_with("answer us max"), "{table}");
    assert!(!table.contains('\u{1b}') && table.contains("?[2J,\"x\""), "{table}");
    assert_eq!(table, clean(&folder, "summary --format table run.jsonl"));
    let csv = clean(&folder, "summary --format csv run.jsonl");
    assert!(csv.starts_with(
        "dir,type,count,bytes,size_p50,size_p99,size_max,answers,answer_us_p50,answer_us_p99,answer_us_max\n"
    ));
    assert!(csv.contains("out,\"\u{1b}[2J,\"\"x\"\"\",1,"), "{csv}");
    assert_eq!(run(&folder, "summary --format yaml run.jsonl").status, Some(2));
    let columns = csv.lines().map(|line| line.matches(',').count()).max();
    let json = clean(&folder, "summary --format json run.jsonl");
    let first: serde_json::Map<String, Value> = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((first.len(), json.lines().count()), (11, csv.lines().count() - 1), "{columns:?}");
}

#[test]
fn turns_end_with_a_session_or_a_file() {
    let folder = Folder::new();
    folder.write("a", log("agent", &["<1"]));
    folder.write("b", log("agent", &[">2"]) + &log("agent", &["<3"]));
    assert!(!clean(&folder, "summary a").contains("(turn)"));
    assert!(!run(&folder, "summary a b").stdout.contains("(turn)"));
}

#[test]
fn memory_stays_flat_with_any_number_of_types() {
    let folder = Folder::new();
    let mut file = std::io::BufWriter::new(std::fs::File::create(folder.path("run.jsonl")).unwrap());
    file.write_all((header("") + "\n").as_bytes()).unwrap();
    let mut t = 0;
    for seq in 1..20_000u64 {
        // The answers of each type have all sizes, and take from no time to years.
        t += if seq % 2 == 0 { 0 } else { 1 << (seq / 2 % 23 * 2) };
        let direction = if seq % 2 == 0 { "<" } else { ">" };
        let message = format!("{direction}w{} {}", seq % 997, "x".repeat(seq as usize % 900));
        file.write_all(line(t, seq, &message).as_bytes()).unwrap();
    }
    drop(file);
    let out = std::fs::File::create(folder.path("out")).unwrap();
    let mut child = folder.command("jsonl-log summary --format json run.jsonl").stdout(out).spawn().unwrap();
    let most = watch(&mut child, PATIENCE);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let rows = text(&folder.read("out"));
    assert!(rows.contains("(other)") && rows.lines().count() < 1000, "{rows}");
    assert!(most < 30 << 10, "{most} KiB");
}

#[test]
fn a_line_of_100_mb_is_told_and_hurts_only_itself() {
    let folder = Folder::new();
    for task in ["check", "recover", "csv .", "summary"] {
        let mut talk = Talk::start(&mut folder.command(&format!("jsonl-log {task} -")));
        talk.say("{\"ts\":1}");
        talk.say(&"x".repeat(100 << 20));
        talk.say("{\"ts\":2}");
        let most = peak(talk.pid().as_raw()).unwrap();
        assert!(most < 30 << 10, "{task}: {most} KiB");
        let ended = talk.end_after_close();
        assert_eq!(ended.stderr, "jsonl-log: stdin:2: longer than --max-line, left out\n", "{task}");
        assert_eq!(ended.status.code(), Some(1));
    }
}

#[test]
fn progress_is_shown_only_at_a_terminal() {
    let folder = Folder::new();
    // A slow pipe simulates a big file.
    let log = folder.write("run.jsonl", log("", &["<1", "torn"]));
    let script = format!(
        "(cat {0}; sleep 1.2; cat {0}; sleep 0.4; cat {0}) | {1} check - >out; echo status $?",
        log.display(),
        binary("jsonl-log").display()
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path("")).env("TERM", "xterm");
    let mut person = with_a_person(shell);
    person.exp_string("\r\u{1b}[Kstdin: 0 MB").unwrap();
    let after = person.exp_string("status 1").unwrap();
    assert!(after.contains("\r\u{1b}[Kjsonl-log: stdin:"), "the problem is reported on its own line: {after:?}");
    let started = Instant::now();
    let output = pipe(Command::new("sh").args(["-c", &script]).current_dir(folder.path("")), b"");
    assert!(started.elapsed() > Duration::from_secs(1) && !text(&output.stderr).contains('\u{1b}'));
}

#[test]
fn a_full_disk_and_a_closed_stdout_end_every_task() {
    let folder = Folder::new();
    let lines: String = (0..40_000).map(|n| line(n, n + 1, "<{\"a\":1}")).collect();
    folder.write("run.jsonl", header("") + "\n" + &lines);
    for task in ["check", "recover", "csv $seq,.a,$time", "summary"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = folder.command(&format!("jsonl-log {task} run.jsonl"));
        let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(text(&output.stderr), "jsonl-log: stdout: No space left on device (os error 28)\n", "{task}");
        assert_eq!(output.status.code(), Some(1));
        let script = format!("{{ {} \"$@\"; echo status $? >&2; }} | head -c 1", binary("jsonl-log").display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh"]).args(task.split(' ')).arg("run.jsonl").current_dir(folder.path(""));
        assert_eq!(text(&pipe(&mut shell, b"").stderr), "status 0\n", "{task}");
    }
}
