//! Requests that fail: which are sent again, and how the others are reported.

use super::server::{Reply, Server};
use super::{gemini, records};
use crate::process::{Talk, command, pipe, text};
use nix::sys::signal::Signal;
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

const PROMPT: &[u8] = b"{\"prompt\":\"p\",\"id\":1}\n";

fn failing_once(reply: Reply) -> Server {
    Server::start(move |_, before| if before == 0 { reply.clone() } else { Reply::gemini("x") })
}

#[test]
fn a_rate_limit_pauses_every_request_for_as_long_as_the_provider_asks() {
    let limited = Reply::error(429, r#"{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}"#);
    let server = failing_once(limited.header("retry-after", "1"));
    let begun = Instant::now();
    let output = pipe(&mut gemini(&server), &PROMPT.repeat(2));
    let turns = records(&output);
    assert_eq!((turns.len(), server.requests().len()), (2, 3));
    assert_eq!((&turns[0]["status"], &turns[0]["retries"]), (&"ok".into(), &1.into()));
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("llm-pipe: stdin:1: slow down; sending it again"), "{output:?}");
}

#[test]
fn a_hundred_rate_limits_at_once_are_one_pause_and_every_request_is_answered() {
    let (limited, times) = (Arc::new(Barrier::new(100)), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&times);
    let server = Server::start(move |request, before| {
        seen.lock().unwrap().push(Instant::now());
        if before < 100 {
            limited.wait();
            let slow = r#"{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}"#;
            return Reply::error(429, slow).header("retry-after", "1");
        }
        Reply::gemini(request.body.split(['<', '>']).nth(1).unwrap())
    });
    let prompts: String = (0..120).map(|number| format!("{{\"prompt\":\"<{number}>\"}}\n")).collect();
    let output = pipe(gemini(&server).args(["-j", "100"]), prompts.as_bytes());
    for (number, turn) in records(&output).iter().enumerate() {
        assert_eq!((&turn["text"], &turn["retries"]), (&number.to_string().into(), &u8::from(number < 100).into()));
    }
    let times = times.lock().unwrap();
    assert_eq!((times.len(), records(&output).len()), (220, 120));
    let (first, then) = times.split_at(100);
    let pause = *then.iter().min().unwrap() - *first.iter().max().unwrap();
    assert!(pause >= Duration::from_secs(1), "a request was sent {pause:?} after the last limit");
}

#[test]
fn permanent_failures_are_not_retried() {
    for (reply, kind) in [
        (Reply::error(401, r#"{"error":{"code":401,"message":"no key","status":"UNAUTHENTICATED"}}"#), "auth"),
        (
            Reply::error(
                429,
                r#"{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}"#,
            ),
            "quota",
        ),
        (Reply::error(400, r#"{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}"#), "bad_request"),
        (
            Reply::error(
                400,
                r#"{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)","status":"INVALID_ARGUMENT"}}"#,
            ),
            "overflow",
        ),
    ] {
        let server = failing_once(reply);
        let output = pipe(&mut gemini(&server), PROMPT);
        let turn = &records(&output)[0];
        assert_eq!((&turn["status"], &turn["kind"], &turn["request_id"]), (&"error".into(), &kind.into(), &1.into()));
        assert_eq!((server.requests().len(), output.status.code()), (1, Some(1)), "{output:?}");
        assert!(text(&output.stderr).contains("llm-pipe: stdin:1: "), "{output:?}");
    }
}

#[test]
fn a_cut_answer_is_retried_and_never_used_as_a_turn() {
    let begun = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"half"}]}}],"usageMetadata":{"promptTokenCount":7}}"#;
    for breaks in [false, true] {
        let cut = Reply { breaks, ..Reply::stream(&[begun]) };
        let server = failing_once(cut.clone());
        let output = pipe(gemini(&server).arg("--stream"), PROMPT);
        let records = records(&output);
        assert_eq!(records[0]["token"], "half");
        assert_eq!(records[1]["restarted"], true);
        let turn = records.last().unwrap();
        assert_eq!((&turn["text"], &turn["usage"]["input"]), (&"x".into(), &14.into()), "both attempts are counted");
        let server = Server::start(move |_, _| cut.clone());
        let output = pipe(gemini(&server).args(["--retries", "1"]), PROMPT);
        let turn = &super::records(&output)[0];
        assert_eq!((&turn["kind"], &turn["usage"]["input"]), (&"lost".into(), &14.into()));
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn a_stalled_answer_is_detected() {
    let stalled = Reply::gemini("x").paused(Duration::from_secs(600));
    let server = failing_once(stalled);
    let output = pipe(gemini(&server).args(["--idle-timeout", "2s"]), PROMPT);
    assert_eq!((&records(&output)[0]["text"], server.requests().len()), (&"x".into(), 2));
}

#[test]
fn the_deadline_ends_the_run_and_every_request_is_answered() {
    let server = Server::start(|_, _| Reply::gemini("x").paused(Duration::from_secs(600)));
    let output = pipe(gemini(&server).args(["--deadline", "300ms"]), &PROMPT.repeat(3));
    let turns = records(&output);
    assert!(turns.len() == 3 && turns.iter().all(|turn| turn["kind"] == "timeout"), "{output:?}");
    assert_eq!(output.status.code(), Some(124));
}

#[test]
fn an_unreachable_server_is_retried_and_reported() {
    let mut llm = command("llm-pipe");
    llm.args(["--model", "gemini/g", "--base-url", "http://127.0.0.1:1", "--retries", "1"]).env("GEMINI_API_KEY", "k");
    let output = pipe(&mut llm, PROMPT);
    assert_eq!(records(&output)[0]["kind"], "unavailable");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn on_sigterm_the_known_usage_is_reported() {
    let server = Server::start(|_, _| {
        let mut reply = Reply::gemini("x");
        reply.pieces[1].0 = Duration::from_secs(10);
        reply
    });
    let mut talk = Talk::start(gemini(&server).arg("--stream"));
    talk.say(r#"{"prompt":"p","id":1}"#);
    assert!(talk.receive().contains(r#""token":"x""#));
    talk.signal(Signal::SIGTERM);
    let turn: serde_json::Value = serde_json::from_str(&talk.receive()).unwrap();
    assert_eq!((&turn["kind"], &turn["usage"]["input"]), (&"cancelled".into(), &7.into()));
}

#[test]
fn unreadable_lines_are_answered_and_the_others_are_sent() {
    let server = Server::start(|_, _| Reply::gemini("x"));
    let input = b"{\"prompt\":1,\"id\":5}\nno JSON\n{\"type\":\"model_request\",\"request_id\":\"m\",\"messages\":[]}\n{\"type\":\"x\"}\n{\"prompt\":\"p\",\"sytem\":\"s\"}\n\xff\n\n{\"prompt\":\"p\"}\n";
    let output = pipe(&mut gemini(&server), input);
    let turns = records(&output);
    assert_eq!(turns.len(), 7, "{output:?}");
    assert!(turns[..6].iter().all(|turn| turn["kind"] == "bad_input"));
    assert_eq!(
        (&turns[0]["request_id"], &turns[2]["request_id"], &turns[6]["text"]),
        (&5.into(), &"m".into(), &"x".into())
    );
    assert!(text(&output.stderr).contains("llm-pipe: stdin:5: unknown field \"sytem\""), "{output:?}");
    assert_eq!((output.status.code(), server.requests().len()), (Some(1), 1));
}

#[test]
fn a_pause_of_years_is_cut_to_the_time_for_a_busy_server() {
    let limited = Reply::error(429, r#"{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}"#);
    let server = failing_once(limited.header("retry-after", "99999999"));
    let output = pipe(gemini(&server).args(["--busy-timeout", "1s"]), PROMPT);
    assert_eq!(records(&output)[0]["text"], "x", "{output:?}");
    let said = text(&output.stderr);
    assert!(said.contains("asks for a pause of 99999999 s: waiting 1 s at most; sending it again in 1.0 s"), "{said}");
}

#[test]
fn a_compressed_answer_is_named_and_none_is_asked_for() {
    let packed =
        Reply { headers: vec![("content-type", "text/event-stream".to_owned())], ..Reply::error(200, "\u{1f}") };
    let server = failing_once(packed.header("content-encoding", "gzip"));
    let output = pipe(&mut gemini(&server), PROMPT);
    let turn = &records(&output)[0];
    let said = turn["error"].as_str().unwrap();
    assert!(turn["kind"] == "protocol" && said.contains("compressed (gzip)") && said.contains("proxy"), "{turn}");
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].header("accept-encoding")), (1, Some("identity")));
}

#[test]
fn an_unreachable_server_is_named() {
    let mut llm = command("llm-pipe");
    let output = pipe(llm.args(["-m", "ollama/x", "--base-url", "http://127.0.0.1:1/v1", "--retries", "0"]), PROMPT);
    let why = "http://127.0.0.1:1/v1: the server cannot be reached: Connection refused (os error 111): check that the server is running there";
    assert_eq!(records(&output)[0]["error"], why);
}

#[test]
fn an_answer_that_is_not_a_stream_is_described_and_not_retried() {
    let page = Reply { headers: vec![("content-type", "text/html".to_owned())], ..Reply::error(200, "<html>") };
    let moved = Reply::error(302, "").header("location", "https://example.org/login?token=s3cret");
    let (of_page, of_moved) =
        ("the server answered text/html instead of a stream", "redirects to https://example.org (");
    for (reply, message) in [(page, of_page), (moved, of_moved)] {
        let server = Server::start(move |_, _| reply.clone());
        let output = pipe(&mut gemini(&server), PROMPT);
        let turn = &records(&output)[0];
        assert_eq!((&turn["kind"], server.requests().len()), (&"protocol".into(), 1));
        let said = turn["error"].as_str().unwrap();
        assert!(said.contains(message) && said.contains("base URL") && !said.contains("s3cret"), "{said}");
    }
}
