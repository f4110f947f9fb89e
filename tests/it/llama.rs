//! `llm-pipe` and `agent-loop` with llama.cpp's own server and a tiny model (`scripts/install-llama tiny`; PIPEWRIGHT_LLAMA names the program
//! that serves it). The model reaches no goals: the tests ask only for what every model does in that form.

use crate::process::{Talk, binary, command, eventually, example, pipe, text};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// The context window, in tokens.
const CONTEXT: u64 = 8192;

/// A server of its own for each test: what one has left cannot slow down another.
struct Llama {
    process: Child,
    /// `127.0.0.1:PORT`
    address: String,
}

impl Llama {
    #[track_caller]
    fn start() -> Llama {
        let program =
            std::env::var("PIPEWRIGHT_LLAMA").expect("PIPEWRIGHT_LLAMA must name a program: run scripts/test");
        let mut server = Command::new(program);
        let mut process = server
            .arg("0")
            .env("LLAMA_THREADS", "1")
            .env("LLAMA_CONTEXT", CONTEXT.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let address = first.trim().strip_prefix("http://").expect("an address").to_owned();
        Llama { process, address }
    }

    fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    fn pipe(&self, arguments: &[&str]) -> Command {
        let mut command = command("llm-pipe");
        command.args(arguments).args(["--model", "llama.cpp/tiny", "--base-url", &self.url()]);
        command
    }

    /// The state of the only slot.
    fn slot(&self) -> Value {
        let mut connection = TcpStream::connect(&self.address).unwrap();
        connection.write_all(b"GET /slots HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str::<Value>(body).unwrap()[0].clone()
    }

    /// How many tokens of an answer the server has generated; `None` if it does nothing.
    fn generated(&self) -> Option<u64> {
        let slot = self.slot();
        let is_busy = slot["is_processing"] == true;
        is_busy.then(|| slot["next_token"][0]["n_decoded"].as_u64().unwrap_or(0))
    }

    #[track_caller]
    fn generates(&self) {
        eventually("the server generates", || self.generated().is_some_and(|tokens| tokens > 0));
    }

    /// Waits until the server does nothing, which must be long before the end of the answer.
    #[track_caller]
    fn stops(&self) {
        let mut last = 0;
        eventually("the server stops", || {
            let generated = self.generated();
            last = generated.unwrap_or(last);
            generated.is_none()
        });
        assert!(last < CONTEXT / 2, "{last} tokens");
    }

    /// A request whose answer only ends with the context window, while it is answered.
    #[track_caller]
    fn endless(&self) -> Talk {
        let mut talk = Talk::start(&mut self.pipe(&["--set", "ignore_eos=true"]));
        talk.say(r#"{"type":"model_request","request_id":"long","messages":[{"role":"user","content":"Count."}]}"#);
        self.generates();
        talk
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "needs llama.cpp: scripts/test installs it"]
fn check_finds_what_the_server_can_do() {
    let llama = Llama::start();
    let mut check = command("llm-pipe");
    let output = check.args(["check", "--model", "llama.cpp/tiny", "--base-url", &llama.url()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lines = text(&output.stdout);
    let found = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let worked: Vec<String> =
        found.filter(|line| line["status"] == "ok").map(|line| line["check"].to_string()).collect();
    for name in ["text", "streaming", "schema", "context"] {
        assert!(worked.contains(&format!("{name:?}")), "{name}: {lines}");
    }
    assert!(!worked.contains(&"\"images\"".to_owned()), "it has no eyes: {lines}");
}

#[test]
#[ignore = "needs llama.cpp: scripts/test installs it"]
fn an_answer_is_streamed_and_follows_a_schema() {
    let llama = Llama::start();
    let schema = r#"{"type":"object","properties":{"colour":{"enum":["red","blue"]},"is_dark":{"type":"boolean"}},"required":["colour","is_dark"],"additionalProperties":false}"#;
    let input = format!(
        "{}\n{{\"type\":\"model_request\",\"request_id\":2,\"messages\":[{{\"role\":\"user\",\"content\":\"A colour.\"}}],\"schema\":{schema}}}\n",
        r#"{"type":"model_request","request_id":1,"messages":[{"role":"user","content":"Count to ten."}],"max_output_tokens":40}"#
    );
    let output = pipe(&mut llama.pipe(&["--stream", "--set", "temperature=0"]), input.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let records = text(&output.stdout);
    let records: Vec<Value> = records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let pieces = records.iter().filter(|record| record["type"] == "assistant_message" && record["request_id"] == 1);
    let pieces: Vec<&str> = pieces.filter_map(|piece| piece["token"].as_str()).collect();
    let turns: Vec<&Value> = records.iter().filter(|record| record["type"] == "model_turn").collect();
    assert!(pieces.len() > 1 && pieces.concat().trim() == turns[0]["text"].as_str().unwrap().trim(), "{records:?}");
    let answer: Value = serde_json::from_str(turns[1]["text"].as_str().unwrap()).unwrap();
    assert!(
        ["red", "blue"].contains(&answer["colour"].as_str().unwrap()) && answer["is_dark"].is_boolean(),
        "{answer}"
    );
}

#[test]
#[ignore = "needs llama.cpp: scripts/test installs it"]
fn the_same_beginning_is_read_once() {
    let llama = Llama::start();
    let system = "You are a guide through a museum of clocks. ".repeat(40);
    let ask = |question: &str| {
        format!(
            r#"{{"type":"model_request","system":"{system}","messages":[{{"role":"user","content":"{question}"}}],"max_output_tokens":2}}"#
        )
    };
    let input = [ask("What time is it?"), ask("Which clock is the oldest?")].join("\n");
    let output = pipe(&mut llama.pipe(&[]), input.as_bytes());
    let turns = text(&output.stdout);
    let usage: Vec<Value> =
        turns.lines().map(|turn| serde_json::from_str::<Value>(turn).unwrap()["usage"].clone()).collect();
    let cached = |usage: &Value| usage["cached"].as_u64().unwrap_or(0);
    assert!(cached(&usage[0]) < 50 && cached(&usage[1]) > 300, "{usage:?}");
}

#[test]
#[ignore = "needs llama.cpp: scripts/test installs it"]
fn the_server_stops_when_a_request_is_cancelled() {
    let llama = Llama::start();
    let mut talk = llama.endless();
    talk.say(r#"{"type":"cancel","request_id":"long"}"#);
    let turn = talk.receive();
    assert!(turn.contains(r#""kind":"cancelled""#), "{turn}");
    llama.stops();
    let next = talk.ask(
        r#"{"type":"model_request","request_id":2,"messages":[{"role":"user","content":"Hi."}],"max_output_tokens":1}"#,
    );
    assert!(next.contains(r#""status":"ok""#), "the same process asks again: {next}");
}

#[test]
#[ignore = "needs llama.cpp: scripts/test installs it"]
fn the_server_stops_when_the_process_is_interrupted_or_killed() {
    let llama = Llama::start();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        let talk = llama.endless();
        talk.signal(signal);
        talk.end();
        llama.stops();
    }
}

#[test]
#[ignore = "needs llama.cpp: scripts/test installs it"]
fn the_server_stops_when_the_agent_is_cancelled_or_killed() {
    let llama = Llama::start();
    let mut agent = command("agent-loop");
    agent.args(["--model", "llama.cpp/tiny", "--set", "ignore_eos=true", "--base-url", &llama.url(), "--"]);
    let mut talk = Talk::start(agent.arg(example("stand-in-world")));
    for end in ["cancel", "kill"] {
        talk.say(r#"{"type":"user_message","content":"Count."}"#);
        llama.generates();
        match end {
            "cancel" => talk.say(r#"{"type":"cancel"}"#),
            _ => talk.signal(Signal::SIGKILL),
        }
        llama.stops();
    }
}

/// A page with one button, and a profile with one tool: what is tested is the way from the list through the schema to the click. If the
/// model answers with words, the person repeats the message.
#[cfg(feature = "browser")]
#[test]
#[ignore = "needs llama.cpp and Chromium: scripts/test installs them"]
fn a_goal_of_one_click_is_reached_by_schema() {
    const PROFILE: &str = r#"
        system = "Press the button of the page."
        core = ["browser_overlay_act(index, action)"]
        [[observe]]
        tool = "browser_list_interactives"
        fields = ["items"]
    "#;
    const PAGES: &[(&str, &str)] =
        &[("/", "<title>Start</title><button onclick=\"document.title='Pressed'\">Press</button>")];
    let (llama, place) = (Llama::start(), tempfile::tempdir().unwrap());
    let site = crate::browser_bridge::serve(PAGES);
    let models = place.path().join("pipewright/models.toml");
    std::fs::create_dir(models.parent().unwrap()).unwrap();
    std::fs::write(&models, "[\"llama.cpp/tiny\"]\nabilities = { tools = false, images = false }\n").unwrap();
    let profile = place.path().join("profile.toml");
    std::fs::write(&profile, PROFILE).unwrap();
    let llm = format!(
        "{} --model llama.cpp/tiny --base-url {} --max-output-tokens 64 --set temperature=0",
        binary("llm-pipe").display(),
        llama.url()
    );
    let mut agent = command("agent-loop");
    agent.args(["--llm", &llm, "--allow", "browser_overlay_act", "--turn-steps", "1", "--profile"]).arg(&profile);
    agent.arg("--").arg(binary("browser-bridge")).args(["--headless", &site]).env("XDG_CONFIG_HOME", place.path());
    let mut talk = Talk::start(&mut agent);
    let mut is_pressed = false;
    for _ in 0..5 {
        talk.say(r#"{"type":"user_message","content":"Click number 1."}"#);
        loop {
            let record: Value = serde_json::from_str(&talk.receive()).unwrap();
            is_pressed |= record["result"]["title"] == "Pressed";
            if is_pressed || (record["type"] == "assistant_message" && record["is_final"] == true) {
                break;
            }
        }
        if is_pressed {
            break;
        }
    }
    assert!(is_pressed);
    let last = talk.end_after_close().lines;
    assert!(last.iter().any(|line| line.contains(r#""form":"schema""#)), "{last:?}");
}
