//! The parts of a request: schemas, tools, images, complete conversations.

use super::server::{Reply, Server};
use super::{gemini, model, records};
use crate::process::{command, pipe, text};

const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

#[test]
fn an_answer_that_does_not_match_the_schema_is_repaired() {
    let server =
        Server::start(|_, before| Reply::gemini(["n is 1", "{\"n\":\"1\"}", "```json\n{\"n\":1}\n```"][before]));
    let output = pipe(gemini(&server).args(["--schema", SCHEMA]), b"{\"prompt\":\"p\"}\n");
    let turn = &records(&output)[0];
    assert_eq!((&turn["text"], &turn["usage"]["input"]), (&r#"{"n":1}"#.into(), &21.into()), "{output:?}");
    let requests = server.requests();
    assert!(requests[2].body.contains("n is 1") && requests[2].body.contains("does not match"), "{}", requests[2].body);
    assert!(requests[0].body.contains("integer"), "the provider has the schema");
    let server = Server::start(|_, _| Reply::gemini("never"));
    let output = pipe(gemini(&server).args(["--schema", SCHEMA]), b"{\"prompt\":\"p\"}\n");
    assert_eq!((&records(&output)[0]["kind"], server.requests().len()), (&"protocol".into(), 3));
}

#[test]
fn images_come_only_from_their_folder_and_match_their_hash() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.png"), b"picture").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", folder.path().join("out.png")).unwrap();
    nix::unistd::mkfifo(&folder.path().join("pipe.png"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let server = Server::start(|_, _| Reply::gemini("x"));
    let image = |image: &str| {
        format!(r#"{{"type":"model_request","messages":[{{"role":"user","content":[{image},{{"text":"what?"}}]}}]}}"#)
            + "\n"
    };
    // printf picture | sha256sum
    let hash = "2cea274d0bedc39ec4ab6ba9e59ec889e3ed6fb56a1cf088a64d9b383378dc97";
    let input = [
        "{\"prompt\":\"p\",\"images\":[\"a.png\"]}\n".to_owned(),
        "{\"prompt\":\"p\",\"images\":[\"../a.png\"]}\n".to_owned(),
        "{\"prompt\":\"p\",\"images\":[\"out.png\"]}\n".to_owned(),
        "{\"prompt\":\"p\",\"images\":[\"pipe.png\"]}\n".to_owned(),
        image(&format!(r#"{{"image":"a.png","sha256":"{}"}}"#, hash.replace('2', "3"))),
        image(&format!(r#"{{"image":"a.png","sha256":"{hash}"}}"#)),
        image(r#"{"image_base64":"AAAA","mime":"image/png"}"#),
    ];
    let output = pipe(gemini(&server).arg("--images").arg(folder.path()), input.concat().as_bytes());
    let turns = records(&output);
    let status: Vec<&str> = turns.iter().map(|turn| turn["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["ok", "error", "error", "error", "error", "ok", "ok"], "{output:?}");
    assert!(text(&output.stderr).contains("SHA-256"), "{output:?}");
    assert!(server.requests()[0].body.contains("cGljdHVyZQ=="), "{}", server.requests()[0].body);
}

#[test]
fn a_conversation_is_sent_back_unchanged() {
    let call = r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":{"n":1.10}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2}}"#;
    let server =
        Server::start(move |_, before| if before == 0 { Reply::stream(&[call]) } else { Reply::gemini("done") });
    let ask = |messages: &str| {
        format!(
            r#"{{"type":"model_request","messages":[{messages}],"tools":[{{"name":"look","description":"d","input_schema":{{"type":"object"}}}}]}}"#
        ) + "\n"
    };
    let goal = r#"{"role":"user","content":"go"}"#;
    let output = pipe(&mut gemini(&server), ask(goal).as_bytes());
    let turn = text(&output.stdout);
    assert!(turn.contains(r#""arguments":{"n":1.10}"#), "{turn}");
    let call_id = records(&output)[0]["calls"][0]["call_id"].as_str().unwrap().to_owned();
    let result = format!(r#"{{"role":"tool","call_id":"{call_id}","content":[{{"text":"a door"}}]}}"#);
    let second = ask(&format!(r#"{goal},{{"role":"assistant","turn":{}}},{result}"#, turn.trim()));
    let output = pipe(&mut gemini(&server), second.as_bytes());
    assert_eq!(records(&output)[0]["text"], "done", "{output:?}");
    let body = &server.requests()[1].body;
    assert!(body.contains(r#"{"functionCall":{"name":"look","args":{"n":1.10}},"thoughtSignature":"c2ln"}"#), "{body}");
    assert!(body.contains("a door"), "{body}");
}

#[test]
fn a_server_without_tools_gets_them_in_the_prompt_and_its_calls_are_found_in_the_text() {
    let refusal = r#"{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}}"#;
    let chunk = r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"function_call: name=look args={\"n\":1.10}"},"finish_reason":"stop"}]}"#;
    let server = Server::start(move |request, _| match request.body.contains(r#""tools""#) {
        true => Reply::error(400, refusal),
        false => Reply::stream(&[chunk, "[DONE]"]),
    });
    let ask = r#"{"type":"model_request","messages":[{"role":"user","content":"go"}],"tools":[{"name":"look","description":"d","input_schema":{"type":"object"}}]}"#;
    let mut llm = command("llm-pipe");
    let output = pipe(llm.args(["-m", "vllm/x", "--base-url", &server.url]), format!("{ask}\n{ask}\n").as_bytes());
    let turn = &records(&output)[1];
    assert_eq!((&turn["stop"], &turn["calls"][0]["tool_name"]), (&"call".into(), &"look".into()), "{output:?}");
    assert!(text(&output.stdout).contains(r#""arguments":{"n":1.10}"#));
    assert_eq!(server.requests().len(), 3, "the refusal is remembered");
}

#[test]
fn a_server_without_schemas_gets_the_schema_in_the_prompt() {
    let refusal = r#"{"error":{"code":500,"message":"response_format type must be one of \"text\" or \"json_object\", but got: json_schema","type":"server_error"}}"#;
    let chunk = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"```json\n{\"n\":1}\n```"},"finish_reason":"stop"}]}"#;
    let server = Server::start(move |request, _| match request.body.contains("response_format") {
        true => Reply::error(500, refusal),
        false => Reply::stream(&[chunk, "[DONE]"]),
    });
    let mut llm = model(&server, "llama.cpp/x");
    let output = pipe(llm.args(["--schema", SCHEMA, "--system", "Count."]), &b"{\"prompt\":\"p\"}\n".repeat(2));
    let turns = records(&output);
    assert!(turns.len() == 2 && turns.iter().all(|turn| turn["text"] == r#"{"n":1}"#), "{output:?}");
    assert!(text(&output.stderr).contains("llm-pipe: the server does not accept the schema"), "{output:?}");
    let requests = server.requests();
    // Status 500 may pass: both requests are sent with the schema before it comes again.
    assert_eq!(requests.len(), 5, "the refusal is remembered");
    let sent: serde_json::Value = serde_json::from_str(&requests[4].body).unwrap();
    let system = sent["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Count.\n\n") && system.ends_with(SCHEMA), "{system}");
}

#[test]
fn a_prompt_whose_front_ollama_has_dropped_is_reported() {
    let said = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}"#;
    let server = Server::start(move |_, _| {
        let counted = r#"{"choices":[],"usage":{"prompt_tokens":2050,"completion_tokens":1,"total_tokens":2051}}"#;
        Reply::stream(&[said, counted, "[DONE]"])
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.png"), [0; 50_000]).unwrap();
    let (fits, long) = ("word ".repeat(2000), "word ".repeat(4000));
    let input = format!("{{\"prompt\":\"{fits}\",\"images\":[\"a.png\"]}}\n{{\"prompt\":\"{long}\"}}\n");
    let noticed = |name: &str| {
        let output = pipe(model(&server, name).arg("--images").arg(folder.path()), input.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        text(&output.stderr)
    };
    let stderr = noticed("ollama/x");
    assert!(stderr.contains("stdin:2: the server counted 2050 tokens") && !stderr.contains("stdin:1"), "{stderr}");
    assert_eq!(noticed("vllm/x"), "");
}

#[test]
fn a_refusal_and_a_cut_turn_are_not_sent_back_for_the_schema() {
    for (reason, stop) in [("SAFETY", "refusal"), ("MAX_TOKENS", "length")] {
        let turn =
            format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"no"}}]}},"finishReason":"{reason}"}}]}}"#);
        let server = Server::start(move |_, _| Reply::stream(&[&turn]));
        let output = pipe(gemini(&server).args(["--schema", r#"{"type":"object"}"#]), b"{\"prompt\":\"p\"}\n");
        assert_eq!((&records(&output)[0]["stop"], server.requests().len()), (&stop.into(), 1), "{output:?}");
    }
}

#[test]
fn a_server_without_tools_that_was_offered_none_is_asked_once() {
    let server = Server::start(|_, _| Reply::error(400, r#"{"error":{"message":"m does not support tools"}}"#));
    let mut llm = command("llm-pipe");
    let output = pipe(llm.args(["-m", "ollama/m", "--base-url", &server.url]), b"{\"prompt\":\"p\"}\n");
    assert_eq!((&records(&output)[0]["kind"], server.requests().len()), (&"bad_request".into(), 1), "{output:?}");
}

#[test]
fn an_unreadable_request_keeps_its_id_and_a_bad_schema_is_explained() {
    let server = Server::start(|_, _| Reply::gemini("x"));
    let input = r#"{"type":"model_request","request_id":"a","messages":[],"messages":[]}
{"type":"model_request","request_id":"b","messages":[{"role":"user","content":"x"}],"schema":{"pattern":"("}}
"#;
    let turns = records(&pipe(&mut gemini(&server), input.as_bytes()));
    assert_eq!((&turns[0]["request_id"], &turns[0]["kind"]), (&"a".into(), &"bad_input".into()));
    let why = turns[1]["error"].as_str().unwrap();
    assert!(why.contains("pattern") && !why.contains("mcp"), "{why}");
}

#[test]
fn tools_with_invalid_names_are_refused_by_name() {
    let server = Server::start(|_, _| Reply::gemini("x"));
    for tools in [r#"{"name":"look"},{"name":"look"}"#, r#"{"name":"look","input_schema":7}"#] {
        let ask =
            format!(r#"{{"type":"model_request","messages":[{{"role":"user","content":"go"}}],"tools":[{tools}]}}"#);
        let output = pipe(&mut gemini(&server), format!("{ask}\n").as_bytes());
        let turn = &records(&output)[0];
        assert_eq!(turn["kind"], "bad_input", "{turn}");
        assert!(turn["error"].as_str().unwrap().contains("\"look\""), "{turn}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn the_name_of_a_model_stays_in_its_place_in_the_address() {
    let server = Server::start(|_, _| Reply::gemini("x"));
    for (name, path) in [
        ("gemini/../../x", "/models/..%2F..%2Fx:"),
        ("gemini/a?key=1", "/models/a%3Fkey%3D1:"),
        ("gemini/a#b", "/models/a%23b:"),
        ("gemini/models/gemini-3", "/models/gemini-3:"),
    ] {
        let output = pipe(&mut model(&server, name), b"{\"prompt\":\"p\"}\n");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let request = server.requests().pop().unwrap();
        assert_eq!(request.path, format!("{path}streamGenerateContent?alt=sse"));
    }
}
