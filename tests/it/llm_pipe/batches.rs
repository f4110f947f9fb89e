//! Many requests: how many are sent at once, and the order of their turns.

use super::server::{Reply, Server};
use super::{gemini, records};
use crate::process::{Talk, pipe, text};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Answers with the last word of the prompt; the higher its number, the sooner.
fn echo() -> Server {
    Server::start(|request, _| {
        let number: u64 = request.body.split("word ").nth(1).unwrap()[..1].parse().unwrap();
        Reply::gemini(&format!("word {number}")).paused(Duration::from_millis(100 * (3 - number)))
    })
}

const PROMPTS: &[u8] =
    b"{\"prompt\":\"word 0\",\"id\":1.0}\n{\"prompt\":\"word 1\",\"id\":\"b\"}\n{\"prompt\":\"word 2\"}\n";

#[test]
fn turns_are_printed_in_the_order_of_the_requests() {
    let server = echo();
    let output = pipe(gemini(&server).args(["-j", "3", "--system", "Say it."]), PROMPTS);
    let turns = records(&output);
    assert_eq!(
        turns.iter().map(|turn| turn["text"].as_str().unwrap()).collect::<Vec<_>>(),
        ["word 0", "word 1", "word 2"]
    );
    assert!(
        text(&output.stdout).starts_with(r#"{"type":"model_turn","request_id":1.0,"status":"ok","stop":"end","#),
        "{output:?}"
    );
    assert_eq!((&turns[1]["request_id"], &turns[0]["provider"]), (&"b".into(), &"gemini".into()));
    assert_eq!(turns[0]["usage"], serde_json::json!({"input": 7, "output": 2}));
    assert_eq!(output.status.code(), Some(0));
    assert!(server.requests().iter().all(|request| request.body.contains("Say it.")));
}

#[test]
fn unordered_turns_are_printed_as_they_arrive() {
    // Each word is answered once the one after it has been printed.
    let due = Arc::new(AtomicUsize::new(2));
    let awaited = Arc::clone(&due);
    let server = Server::start(move |request, _| {
        let number: usize = request.body.split("word ").nth(1).unwrap()[..1].parse().unwrap();
        crate::process::eventually("it is due", || awaited.load(Ordering::SeqCst) <= number);
        Reply::gemini(&format!("word {number}"))
    });
    let mut talk = Talk::start(gemini(&server).args(["-j", "3", "--unordered"]));
    talk.say(text(PROMPTS).trim_end());
    for number in [2, 1, 0] {
        due.store(number, Ordering::SeqCst);
        assert!(talk.receive().contains(&format!("word {number}")));
    }
}

#[test]
fn the_number_of_open_requests_is_limited() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(0)));
    let seen = Arc::clone(&most);
    let server = Server::start(move |_, _| {
        let now = running.fetch_add(1, Ordering::SeqCst) + 1;
        let most = || seen.lock().unwrap();
        {
            let mut most = most();
            *most = now.max(*most);
        }
        // A fifth would come within this time; the first requests are only answered once there are four.
        std::thread::sleep(Duration::from_millis(30));
        crate::process::eventually("four are open", || *most() >= 4);
        running.fetch_sub(1, Ordering::SeqCst);
        Reply::gemini("x")
    });
    let prompts = "{\"prompt\":\"p\"}\n".repeat(40);
    let output = pipe(gemini(&server).args(["-j", "4"]), prompts.as_bytes());
    assert_eq!(records(&output).len(), 40);
    assert_eq!(*most.lock().unwrap(), 4);
}

#[test]
fn an_answer_is_printed_before_the_next_request_arrives() {
    let server = Server::start(|_, _| Reply::gemini("x"));
    let mut talk = Talk::start(&mut gemini(&server));
    for _ in 0..3 {
        talk.say(r#"{"prompt":"p"}"#);
        assert!(talk.receive().contains(r#""text":"x""#));
    }
}

#[test]
fn tokens_are_printed_as_they_arrive() {
    let server = Server::start(|_, _| Reply::gemini("Hello").paused(Duration::from_millis(50)));
    let output = pipe(gemini(&server).arg("--stream"), b"{\"prompt\":\"p\",\"id\":7}\n");
    let lines = text(&output.stdout);
    let mut lines = lines.lines();
    assert_eq!(
        lines.next().unwrap(),
        r#"{"type":"assistant_message","request_id":7,"token":"Hello","is_final":false,"kind":"answer"}"#
    );
    assert!(lines.next().unwrap().starts_with(r#"{"type":"model_turn","request_id":7,"#));
    assert_eq!(lines.next(), None);
}

#[test]
fn a_cancelled_request_is_answered_at_once_and_is_not_a_fault() {
    let server = Server::start(|request, _| match request.body.contains("slow") {
        true => Reply::gemini("x").paused(Duration::from_secs(600)),
        false => Reply::gemini("y"),
    });
    let mut talk = Talk::start(&mut gemini(&server));
    talk.say(r#"{"prompt":"slow","id":"m\u0031"}"#);
    crate::process::eventually("the request is there", || !server.requests().is_empty());
    talk.say(r#"{"type":"cancel","request_id":"other"}"#);
    talk.say(r#"{"prompt":"quick","id":2}"#);
    let turn: serde_json::Value = serde_json::from_str(&talk.ask(r#"{"type":"cancel","request_id":"m1"}"#)).unwrap();
    assert_eq!((&turn["request_id"], &turn["kind"]), (&"m1".into(), &"cancelled".into()));
    assert!(talk.receive().contains(r#""text":"y""#));
    assert_eq!(talk.end_after_close().status.code(), Some(0));
}

#[test]
fn unended_answers_hold_at_most_as_many_connections_as_jobs() {
    const JOBS: usize = 4;
    let open = Arc::new(AtomicUsize::new(0));
    let is_held = Arc::new(AtomicBool::new(false));
    let holds = Arc::clone(&is_held);
    let server = Server::start_raw(move |mut stream| {
        open.fetch_add(1, Ordering::SeqCst);
        // The threads here detect a closed connection late, so they get time for it; a connection that stays open is never detected.
        let until = Instant::now() + crate::process::PATIENCE;
        while open.load(Ordering::SeqCst) > 2 * JOBS && !holds.load(Ordering::SeqCst) {
            holds.store(Instant::now() > until, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(2));
        }
        let turn = r#"{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}"#;
        let body = format!("data: {turn}\n\ndata: [DONE]\n\n");
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        write!(stream, "{head}{:x}\r\n{body}\r\n", body.len()).unwrap();
        // Until the client closes it.
        std::io::copy(&mut stream, &mut std::io::sink()).unwrap_or_default();
        open.fetch_sub(1, Ordering::SeqCst);
    });
    let mut llm = crate::process::command("llm-pipe");
    llm.args(["-m", "vllm/m", "--base-url", &server, "-j", &JOBS.to_string()]);
    let output = pipe(&mut llm, "{\"prompt\":\"p\"}\n".repeat(60).as_bytes());
    assert_eq!(records(&output).iter().filter(|turn| turn["text"] == "x").count(), 60, "{output:?}");
    assert!(!is_held.load(Ordering::SeqCst), "more than {} connections stayed open", 2 * JOBS);
}
