//! `replay --as world --any-order`: serves a recorded MCP server to clients, in any order. Calls in our own forms: replay_any_order.rs.

use crate::process::{Talk, binary, pipe, text, without_duration};
use crate::recorded::{Folder, header, line, log};
use serde_json::{Value, json};
use std::process::Output;
use std::time::{Duration, Instant};

/// An MCP server whose answers to repeated calls differ, and that sends progress on request.
const SERVER: &str = r#"n=0
while read -r line; do
    case $line in *'"id":'*) ;; *) continue ;; esac
    id=${line#*\"id\":}; id=${id%%,*}
    case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"0"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}' ;;
    *)
        n=$((n + 1)); token=${line#*\"progressToken\":}; token=${token%%\}*}
        message=${line#*\"message\":\"}; message=${message%%\"*}
        echo "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$token,\"progress\":$n}}"
        result="{\"content\":[{\"type\":\"text\",\"text\":\"$message\"}],\"structuredContent\":{\"n\":$n,\"big\":12345678901234567890123}}" ;;
    esac
    echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
done"#;

fn calls(messages: &[&str]) -> String {
    let call = |message: &&str| json!({"tool": "echo", "args": {"message": message}, "id": message}).to_string() + "\n";
    messages.iter().map(call).collect()
}

/// The results of calls: the number that the server gave each result, or the kind of the error.
fn outcomes(output: &Output) -> Vec<String> {
    let outcome = |line: &str| {
        let result: Value = serde_json::from_str(line).unwrap();
        match result["data"]["structuredContent"]["n"].as_u64() {
            Some(n) => format!("{} {n}", result["id"].as_str().unwrap()),
            None => format!("{} {}", result["id"].as_str().unwrap(), result["kind"].as_str().unwrap()),
        }
    };
    text(&output.stdout).lines().filter(|line| line.contains("\"tool\"")).map(outcome).collect()
}

/// Makes the calls with `mcp-pipe` and the real server, and records them.
fn record(folder: &Folder, messages: &[&str]) -> Output {
    // `--events` makes mcp-pipe request progress.
    let mut mcp_pipe = folder.command("mcp-pipe --events events.jsonl --");
    mcp_pipe.arg(binary("jsonl-record")).args(["--child", "world", "mcp.jsonl", "--", "sh", "-c", SERVER]);
    let output = pipe(&mut mcp_pipe, calls(messages).as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    output
}

/// The same with the recording in place of the server.
fn serve(folder: &Folder, options: &str, messages: &[&str]) -> Output {
    let mut mcp_pipe = folder.command(&format!("mcp-pipe {options} --"));
    mcp_pipe.arg(binary("replay")).args(["--as", "world", "--any-order", "mcp.jsonl"]);
    pipe(&mut mcp_pipe, calls(messages).as_bytes())
}

/// A client that writes to the recording's stdin.
fn ask(folder: &Folder, options: &str, lines: &[&str]) -> Output {
    let mut replay = folder.command(&format!("replay --as world --any-order mcp.jsonl {options}"));
    pipe(&mut replay, (lines.join("\n") + "\n").as_bytes())
}

const CALL: &str =
    r#"<{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}"#;
const ANSWER: &str = r#">{"jsonrpc":"2.0","id":1,"result":{"sum":3.0, "big":12345678901234567890123}}"#;

fn call(id: &str, arguments: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{arguments}}}}}"#)
}

/// The last line, for a single request.
fn sum(answered: u64, not: u64) -> String {
    format!("replay: 1 request: {answered} answered from the recording, {not} not; recorded and not made: 0\n")
}

fn with_log(messages: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.write("mcp.jsonl", log("world", messages));
    folder
}

#[test]
fn the_same_calls_get_the_same_results_byte_for_byte() {
    let folder = Folder::new();
    let recorded = record(&folder, &["a", "b", "a"]);
    assert_eq!(outcomes(&recorded), ["a 1", "b 2", "a 3"]);
    let served = serve(&folder, "", &["a", "b", "a"]);
    let results = |output: &Output| text(&output.stdout).lines().map(without_duration).collect::<Vec<_>>();
    assert_eq!((results(&served), served.status.code()), (results(&recorded), Some(0)), "{}", text(&served.stderr));
}

#[test]
fn reordered_and_repeated_calls_get_their_own_results() {
    let folder = Folder::new();
    record(&folder, &["a", "b", "a"]);
    for options in ["", "-j 8"] {
        let served = serve(&folder, options, &["b", "a", "a", "a", "b"]);
        assert_eq!(outcomes(&served), ["b 2", "a 1", "a 3", "a 3", "b 2"]);
        assert_eq!(served.status.code(), Some(0));
    }
}

#[test]
fn an_unrecorded_call_gets_an_error_that_names_the_nearest() {
    let folder = Folder::new();
    record(&folder, &["a", "b"]);
    let served = serve(&folder, "--verbose", &["b", "c", "a"]);
    assert_eq!(outcomes(&served), ["b 2", "c tool_error", "a 1"]);
    assert_eq!(served.status.code(), Some(1));
    let error: Value = serde_json::from_str(text(&served.stdout).lines().nth(1).unwrap()).unwrap();
    let why =
        "the recording has no call of echo with these arguments; the nearest differs at .params.arguments.message";
    assert_eq!(error["error"], why);
    assert_eq!(error["data"], json!({"recorded": [{"message": "a"}, {"message": "b"}]}));
    assert!(text(&served.stderr).contains(&format!("replay: stdin:5: {why}\n")), "{}", text(&served.stderr));
}

#[test]
fn a_call_that_still_requires_approval_is_refused_as_by_every_world() {
    let folder = with_log(&[CALL, ANSWER]);
    let held = call("9", r#"{"a":1,"b":2},"_meta":{"requires_approval":true}"#);
    let output = ask(&folder, "", &[&held, &call("10", r#"{"a":1,"b":2}"#)]);
    let stdout = text(&output.stdout);
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(lines[0].contains(r#""id":9"#) && lines[0].contains(r#""kind":"needs_approval""#), "{stdout}");
    assert!(lines[1].contains(r#""id":10,"result":{"sum":3.0"#), "{stdout}");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("stdin:1: it still requires approval"));
}

#[test]
fn progress_has_the_token_of_the_live_request() {
    let folder = Folder::new();
    record(&folder, &["a", "b"]);
    let served = serve(&folder, "--events -", &["b", "a"]);
    let progress = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap();
        (event["data"]["event"] == "progress").then(|| event["data"]["data"].to_string())
    };
    let events: Vec<String> = text(&served.stdout).lines().filter_map(progress).collect();
    // The calls are the third and fourth request of mcp-pipe.
    assert_eq!(events, [r#"{"progressToken":3,"progress":2}"#, r#"{"progressToken":4,"progress":1}"#]);
}

#[test]
fn a_client_that_tries_the_wrong_protocol_version_finds_the_recorded_one() {
    let folder = with_log(&[
        r#"<{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"version":"x"}}}"#,
        r#">{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#,
        r#"<{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{}}}"#,
        r#">{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}"#,
        r#"<{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"message":"a"},"_meta":{}}}"#,
        r#">{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","structuredContent":{"n":1}}}"#,
    ]);
    let served = serve(&folder, "", &["a"]);
    assert_eq!(
        (outcomes(&served), served.status.code()),
        (vec!["a 1".to_owned()], Some(0)),
        "{}",
        text(&served.stderr)
    );
}

#[test]
fn ids_of_any_type_are_returned_with_every_digit() {
    let folder = with_log(&[CALL, ANSWER]);
    let ids = [r#""k\u00e9y""#, "98765432109876543210987654321", "-0.10", r#"{"deep":[1]}"#];
    let lines: Vec<String> = ids.iter().map(|id| call(id, r#"{ "b":2, "a":1 }"#)).collect();
    let output = ask(&folder, "", &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let expected = |id: &&str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"sum\":3.0, \"big\":12345678901234567890123}}}}\n")
    };
    assert_eq!(text(&output.stdout), ids.iter().map(expected).collect::<String>());
    let sum = "replay: 4 requests: 4 answered from the recording, 0 not; recorded and not made: 0\n";
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), sum));
}

#[test]
fn recorded_requests_that_were_not_made_are_listed_and_counted() {
    let folder = Folder::new();
    record(&folder, &["a", "b", "a"]);
    let log = text(&folder.read("mcp.jsonl"));
    let place = |message: &str, nth: usize| {
        let asked = |line: &&str| line.contains("\"in\"") && line.contains(&format!("\"message\":{message:?}"));
        let line = log.lines().filter(asked).nth(nth).unwrap();
        let number = log.lines().position(|other| other == line).unwrap() + 1;
        let asked: Value = serde_json::from_str(line).unwrap();
        (format!("mcp.jsonl:{number}"), asked["msg"].clone())
    };
    let call_of = |id: &str, message: &str| {
        let arguments = json!({"message": message});
        json!({"id": id, "method": "tools/call", "params": {"name": "echo", "arguments": arguments}}).to_string()
    };
    let lines = [r#"{"id":0,"method":"tools/list","params":{}}"#, &call_of("x", "a"), &call_of("y", "c")];
    let output = ask(&folder, "--report report", &lines);
    let stderr = text(&output.stderr);
    for (log, _) in [place("b", 0), place("a", 1)] {
        let named = format!("replay: {log}: recorded, but not requested: {{\"jsonrpc\":\"2.0\"");
        assert!(stderr.contains(&named), "{log}: {stderr}");
    }
    let sum = "replay: 3 requests: 2 answered from the recording, 1 not; recorded and not made: 2\n";
    assert!(stderr.ends_with(sum) && stderr.lines().count() == 4, "{stderr}");
    assert_eq!(output.status.code(), Some(1));

    let report = crate::schemas::written(folder.path("report"));
    let report: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let why =
        "the recording has no call of echo with these arguments; the nearest differs at .params.arguments.message";
    let now: Value = serde_json::from_str(lines[2]).unwrap();
    let missing =
        |(log, recorded): (String, Value)| json!({"type":"difference","kind":"missing","log":log,"recorded":recorded});
    assert_eq!(
        report,
        [
            json!({"type":"difference","kind":"extra","now":now,"why":why}),
            missing(place("b", 0)),
            missing(place("a", 1)),
            json!({"type":"summary","lines":{"same":2,"differs":0,"missing":2,"extra":1,"unsaid":0}}),
        ]
    );
    // Requests that are not made are not a fault; --quiet leaves only the summary.
    let output = ask(&folder, "--quiet", &lines[..2]);
    let sum = "replay: 2 requests: 2 answered from the recording, 0 not; recorded and not made: 2\n";
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), (sum, Some(0)));
    // The first are listed, the others counted.
    let many: String =
        (0..30).map(|n| line(n, n + 1, &format!("<{}", call(&n.to_string(), &format!("{{\"n\":{n}}}"))))).collect();
    folder.write("mcp.jsonl", header("world") + "\n" + &many);
    let stderr = text(&ask(&folder, "", &[]).stderr);
    assert_eq!(stderr.matches("recorded, but not requested").count(), 20, "{stderr}");
    assert!(stderr.contains("and 10 more notes") && stderr.contains("recorded and not made: 30"), "{stderr}");
}

#[test]
fn a_servers_report_is_written_after_a_signal_and_a_write_error_is_reported() {
    let folder = with_log(&[CALL, ANSWER]);
    let output = ask(&folder, "--report /dev/full", &[&call("1", r#"{"a":1,"b":2}"#)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("replay: /dev/full: No space left on device"), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).lines().count(), 1);
    let output = ask(&folder, "--report /no/such/folder/report", &[]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let mut talk = Talk::start(&mut folder.command("replay --as world --any-order --report report mcp.jsonl"));
    talk.ask(&call("1", r#"{"a":1,"b":2}"#));
    talk.signal(nix::sys::signal::Signal::SIGTERM);
    let ended = talk.end();
    assert!(ended.stderr.contains("replay: 1 request: 1 answered"), "{}", ended.stderr);
    assert!(crate::schemas::written(folder.path("report")).contains("\"same\":1"));
}

#[test]
fn an_unrecorded_request_is_reported_and_exits_1() {
    let folder = with_log(&[CALL, ANSWER]);
    let lines = [
        r#"{"id":1,"method":"ping"}"#,
        r#"{"method":"notifications/initialized"}"#,
        r#"{"id":"s","result":{}}"#,
        "",
        &call("2", r#"{"a":1}"#),
        r#"{"id":3,"method":"tools/list"}"#,
        r#"{"id":4,"method":"tools/call","params":{"name":"ad"}}"#,
        "hello",
        "[]",
        &call("5", r#"{"a":1,"b":2}"#),
    ];
    let output = ask(&folder, "", &lines);
    let answers: Vec<Value> = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let codes: Vec<(Value, Value)> =
        answers.iter().map(|answer| (answer["id"].clone(), answer["error"]["code"].clone())).collect();
    let number = |id: i32, code: i32| (json!(id), json!(code));
    let nobody = |code: i32| (Value::Null, json!(code));
    let well = |id: i32| (json!(id), Value::Null);
    let expected =
        [well(1), number(2, -32603), number(3, -32601), number(4, -32603), nobody(-32700), nobody(-32600), well(5)];
    assert_eq!(codes, expected);
    assert_eq!(answers[3]["error"]["data"], json!({"names": ["add"]}));
    assert_eq!(
        text(&output.stderr),
        "replay: stdin:5: the recording has no call of add with these arguments; the nearest differs at .params.arguments.b\n\
         replay: stdin:6: the recording has no tools/list; it has tools/call\n\
         replay: stdin:7: the recording has no call of ad; it has add\n\
         replay: stdin:8: it is not a JSON object: expected value at column 1\n\
         replay: stdin:9: it is an array: send one record per line\n\
         replay: 6 requests: 1 answered from the recording, 5 not; recorded and not made: 0\n"
    );
    assert_eq!(output.status.code(), Some(1));
    let quiet = ask(&folder, "--quiet", &lines);
    assert_eq!(
        (text(&quiet.stderr).as_str(), quiet.status.code()),
        ("replay: 6 requests: 1 answered from the recording, 5 not; recorded and not made: 0\n", Some(1))
    );
}

#[test]
fn the_servers_own_requests_are_sent_again() {
    let folder = with_log(&[
        CALL,
        r#">{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{}}"#,
        r#"<{"jsonrpc":"2.0","id":"s1","result":{"model":"m"}}"#,
        ANSWER,
        r#">{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    ]);
    let mut talk = Talk::start(&mut folder.command("replay --as world --any-order mcp.jsonl"));
    assert!(talk.ask(&call("7", r#"{"a":1,"b":2}"#)).contains("sampling/createMessage"));
    assert!(talk.receive().contains("\"id\":7,\"result\""));
    assert!(talk.receive().contains("list_changed"));
    talk.say(r#"{"jsonrpc":"2.0","id":"s1","error":{"code":-1,"message":"no"}}"#);
    let ended = talk.end_after_close();
    assert_eq!((ended.status.code(), ended.lines, ended.stderr), (Some(0), vec![], sum(1, 0)));
}

#[test]
fn a_recorded_request_without_an_answer_gets_an_error() {
    let folder = with_log(&[CALL, r#">{"method":"notifications/message","params":{}}"#]);
    let output = ask(&folder, "", &[&call("2", r#"{"a":1,"b":2}"#)]);
    let why = "this request is in the recording but was never answered there";
    assert_eq!(
        text(&output.stdout),
        format!(
            "{{\"method\":\"notifications/message\",\"params\":{{}}}}\n\
             {{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{{\"code\":-32603,\"message\":\"{why}\"}}}}\n"
        )
    );
    assert_eq!(
        (text(&output.stderr), output.status.code()),
        (format!("replay: stdin:1: {why}\n{}", sum(0, 1)), Some(1))
    );
}

#[test]
fn answers_come_at_once_or_with_the_recorded_delay() {
    let folder = Folder::new();
    let mut content = header("world") + "\n";
    for (t, seq, message) in [
        (100, 1, CALL),
        (300_100, 2, ANSWER),
        (400_000, 3, r#"<{"id":2,"method":"tools/list"}"#),
        (400_100, 4, r#">{"id":2,"result":{}}"#),
    ] {
        content += &line(t, seq, message);
    }
    folder.write("mcp.jsonl", content);
    let slow = call("1", r#"{"a":1,"b":2}"#);
    let both = format!("{slow}\n{}", r#"{"id":2,"method":"tools/list"}"#);
    for (options, at_least, first) in
        [("", 0, "1"), ("--speed 1", 300, "2"), ("--speed 2", 150, "2"), ("--speed 1 --idle-limit 0.1", 100, "2")]
    {
        let mut talk = Talk::start(&mut folder.command(&format!("replay --as world --any-order {options} mcp.jsonl")));
        let started = Instant::now();
        let answers = talk.ask(&both);
        assert!(answers.contains(&format!("\"id\":{first},")), "{options}: {answers}");
        talk.receive();
        assert!(started.elapsed() >= Duration::from_millis(at_least), "{options}");
        assert_eq!(talk.end_after_close().status.code(), Some(0));
    }
    // A cancelled request is not answered; after the end of stdin there are no pauses.
    let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(text(&ask(&folder, "--speed 0.001", &[&slow, cancel]).stdout), "");
    assert_eq!(text(&ask(&folder, "--speed 0.001", &[&slow]).stdout).lines().count(), 1);
}

#[test]
fn sessions_of_one_log_are_one_store_and_their_ids_do_not_mix() {
    let folder = Folder::new();
    record(&folder, &["a"]);
    record(&folder, &["b", "a"]);
    let served = serve(&folder, "", &["b", "a", "a"]);
    assert_eq!(outcomes(&served), ["b 1", "a 1", "a 2"]);
    assert_eq!(served.status.code(), Some(0), "{}", text(&served.stderr));
    // The first session ends before its answer; the second has other requests with the same ids.
    let other = header("world").replace("01:00:00", "02:00:00").replace("\"seq\":0", "\"seq\":2");
    let list = [line(1, 3, r#"<{"id":2,"method":"tools/list"}"#), line(2, 4, r#">{"id":1,"result":"no"}"#)].concat();
    folder.write("mcp.jsonl", format!("{}{other}\n{list}", log("world", &[CALL])));
    let output = ask(&folder, "", &[&call("1", r#"{"a":1,"b":2}"#)]);
    assert!(text(&output.stdout).contains("never answered"), "{}", text(&output.stdout));
}

#[test]
fn the_readable_part_of_a_torn_log_is_served() {
    let folder = Folder::new();
    let whole = log("world", &[CALL, ANSWER, r#"<{"id":2,"method":"tools/list"}"#, r#">{"id":2,"result":{}}"#]);
    folder.write("mcp.jsonl", &whole[..whole.len() - 9]);
    let output = ask(&folder, "", &[&call("1", r#"{"a":1,"b":2}"#), r#"{"id":2,"method":"tools/list"}"#]);
    let answers = text(&output.stdout);
    assert!(answers.starts_with(&ANSWER[1..]) && answers.contains("never answered"), "{answers}");
    assert!(text(&output.stderr).starts_with("replay: mcp.jsonl:5: the last line is torn"), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
    // Without the header, the part of the child must be given.
    folder.write("mcp.jsonl", &whole[whole.find('\n').unwrap() - 20..]);
    assert_eq!(ask(&folder, "", &[]).status.code(), Some(2));
    let output = ask(&folder, "--child world", &[&call("1", r#"{"a":1,"b":2}"#)]);
    assert_eq!(text(&output.stdout), format!("{}\n", &ANSWER[1..]));
}

#[test]
fn the_recorded_redaction_is_applied_to_live_requests() {
    let folder = Folder::new();
    let mut record = folder.command("jsonl-record --child world mcp.jsonl --redact del(.params.arguments.b)");
    let input = CALL[1..].to_owned() + "\n";
    let server = format!("read -r line; echo '{}'", &ANSWER[1..]);
    pipe(record.args(["--", "sh", "-c", &server]), input.as_bytes());
    let asked = call("1", r#"{"b":2,"a":1}"#);
    assert!(text(&ask(&folder, "", &[&asked]).stdout).contains("the nearest differs at .params.arguments.b"));
    for options in ["--normalise del(.params.arguments.b)", "--ignore .params.arguments.b"] {
        // The redacting filter has reformatted the answer.
        assert_eq!(text(&ask(&folder, options, &[&asked]).stdout), format!("{}\n", ANSWER[1..].replace(", ", ",")));
    }
}

#[test]
fn a_started_client_is_served_and_its_status_is_the_exit_status() {
    let folder = with_log(&[CALL, ANSWER]);
    let client = format!("echo '{}'; read -r answer; echo \"$answer\" >&2; exit 7", call("\"c\"", r#"{"a":1,"b":2}"#));
    let mut replay = folder.command("replay --as world --any-order mcp.jsonl -- sh -c");
    let output = pipe(replay.arg(&client), b"");
    assert_eq!(output.status.code(), Some(7));
    let answer = ANSWER[1..].replace("\"id\":1", "\"id\":\"c\"");
    assert_eq!(text(&output.stderr), format!("{answer}\n{}", sum(1, 0)));
    let mut replay = folder.command("replay --as world --any-order mcp.jsonl -- sh -c");
    let output = pipe(replay.arg("echo '{\"id\":1,\"method\":\"x\"}'; read -r answer; exec >&-; sleep 0.1"), b"");
    let stderr = text(&output.stderr);
    assert!(stderr.starts_with("replay: client:1: the recording has no x; it has tools/call\n"), "{stderr}");
    assert!(stderr.contains("replay: mcp.jsonl:2: recorded, but not requested: "), "{stderr}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn logs_that_cannot_be_served_are_refused() {
    let folder = with_log(&[CALL, ANSWER]);
    folder.write("game.jsonl", log("world", &["<choose 0", r#">{"hp":1}"#]));
    folder.write("pipe.jsonl", log("", &[CALL]).replace(r#""command":["./bot","-v"]"#, r#""command":[]"#));
    for (words, why) in [
        ("--any-order mcp.jsonl", "--as <PART>"),
        ("--as agent --any-order mcp.jsonl", "--any-order needs --as world"),
        ("--as world --any-order game.jsonl", "game.jsonl: the log contains no call and no request to answer"),
        ("--as world --any-order pipe.jsonl", "recorded in a pipe"),
        ("--as world --any-order --session 1 mcp.jsonl", "--session"),
    ] {
        let output = folder.run(&format!("replay {words}"));
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words}");
        assert!(text(&output.stderr).contains(why), "{words}: {}", text(&output.stderr));
    }
}
