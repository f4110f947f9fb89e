//! Turns in the form of each provider, by aimock (`scripts/install-mcp-servers` installs it), through `llm-pipe`.

use super::{Run, calls};
use crate::llm_pipe::aimock::Aimock;
use crate::process::{binary, command, example, pipe};

/// aimock finds a turn by the step count at the end of each request. The model `flaky` is overloaded once, and rejects the conversation as too long once.
const FIXTURES: &str = r#"{"fixtures":[
    {"match":{"userMessage":"left: 19 steps","model":"flaky","sequenceIndex":0},"response":{"error":{"message":"Overloaded","type":"server_error","code":"overloaded"},"status":503}},
    {"match":{"userMessage":"left: 18 steps","model":"flaky","sequenceIndex":0},"response":{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","code":"context_length_exceeded","param":"messages"},"status":400}},
    {"match":{"userMessage":"left: 20 steps"},"response":{"content":"I ask for an echo.","toolCalls":[{"name":"echo","arguments":"{\"message\":\"first\"}"}]}},
    {"match":{"userMessage":"left: 19 steps"},"response":{"toolCalls":[{"name":"fail","arguments":"{}"},{"name":"echo","arguments":"{\"message\":\"too many\"}"}]}},
    {"match":{"userMessage":"left: 18 steps"},"response":{"toolCalls":[{"name":"echo","arguments":"{\"message\":\"second\"}"}]}},
    {"match":{"userMessage":"left: 17 steps"},"response":{"content":"function_call: name=echo args={\"message\":\"third\"}"}},
    {"match":{"userMessage":"left: 16 steps"},"response":{"toolCalls":[{"name":"assistant_done","arguments":"{\"reason\":\"It said it three times.\",\"evidence\":\"third\"}"}]}}
]}"#;

fn run(aimock: &Aimock, model: &str, path: &str) -> Run {
    let llm = format!("'{}' -m {model} --base-url {}", binary("llm-pipe").display(), aimock.url(path));
    let mut agent = command("agent-loop");
    agent.env("KEY_OF_AIMOCK", "a-key").args(["--llm", &format!("{llm} --key-env KEY_OF_AIMOCK")]);
    agent.args(["--goal", "Have it said three times", "--"]).arg(example("stand-in-world"));
    Run::of(pipe(&mut agent, b""))
}

#[track_caller]
fn assert_is_done(run: &Run) {
    assert_eq!((run.status, &run.last()["outcome"]), (Some(0), &"done".into()), "{:?} {}", run.records, run.stderr);
    assert_eq!(run.last()["content"], "It said it three times.");
    assert_eq!(calls(run), [("echo", "ok"), ("fail", "not_found"), ("echo", "ok"), ("echo", "ok")]);
}

#[test]
#[ignore = "needs aimock"]
fn a_goal_is_reached_with_the_api_of_each_provider() {
    let aimock = Aimock::with(FIXTURES);
    for (model, path) in
        [("openai/m", "/v1"), ("openai-responses/m", "/v1"), ("anthropic/m", "/v1"), ("gemini/m", "/v1beta")]
    {
        let before = aimock.journal().len();
        let run = run(&aimock, model, path);
        assert_is_done(&run);
        assert_eq!(run.of_type("assistant_message")[0]["token"], "I ask for an echo.", "{model}");
        // The outcome of each call has reached the provider, including the call that was not made.
        let journal = aimock.journal();
        let last = journal.last().unwrap().to_string();
        for part in ["no such thing", "only the first action of a turn", "third"] {
            assert!(last.contains(part), "{model}: {part}: {last}");
        }
        assert_eq!(journal.len() - before, 5, "{model}: no turn was asked for twice");
    }
}

#[test]
#[ignore = "needs aimock"]
fn a_provider_that_fails_and_a_conversation_that_is_too_long_do_not_end_a_run() {
    let aimock = Aimock::with(FIXTURES);
    let run = run(&aimock, "openai/flaky", "/v1");
    assert_is_done(&run);
    let journal = aimock.journal();
    let statuses: Vec<_> = journal.iter().map(|entry| entry["response"]["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [200, 503, 200, 400, 200, 200, 200]);
    // The new conversation begins with the summary.
    let messages = &journal[4]["body"]["messages"];
    assert!(messages.to_string().contains("This conversation goes on from an earlier one"), "{messages}");
    assert!(messages.as_array().unwrap().iter().all(|message| message["role"] != "assistant"), "{messages}");
}
