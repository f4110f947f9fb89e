//! Settings of requests, addresses from the environment, the models of a server, and what `check` saves.

use super::records;
use super::server::{Reply, Request, Server};
use crate::process::{command, pipe, text};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const PROMPT: &[u8] = b"{\"prompt\":\"p\"}\n";

fn said() -> Reply {
    Reply::stream(&[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ])
}

fn body(request: &Request) -> Value {
    serde_json::from_str(&request.body).unwrap()
}

fn configured(place: &Path, models: &str) -> Command {
    std::fs::create_dir_all(place.join("pipewright")).unwrap();
    std::fs::write(place.join("pipewright/models.toml"), models).unwrap();
    let mut llm = command("llm-pipe");
    llm.env("XDG_CONFIG_HOME", place);
    llm
}

#[test]
fn settings_of_the_file_and_of_the_command_line_are_sent() {
    let place = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| said());
    let models = format!(
        "[own]\nmodel = \"vllm/m\"\nbase_url = \"{}/v1\"\nheaders = {{ X-Title = \"t\" }}\n\
         set = {{ temperature = 0.5, chat_template_kwargs = {{ enable_thinking = false }} }}\n",
        server.url
    );
    let mut llm = configured(place.path(), &models);
    let output =
        pipe(llm.args(["-m", "own", "--set", "temperature=0.2", "--set", "stop=[\"a\"]", "--set", "user=me"]), PROMPT);
    assert!(output.status.success(), "{output:?}");
    let request = &server.requests()[0];
    let sent = body(request);
    assert_eq!((&sent["temperature"], &sent["stop"], &sent["user"]), (&json!(0.2), &json!(["a"]), &json!("me")));
    assert_eq!(sent["chat_template_kwargs"], json!({"enable_thinking": false}));
    assert_eq!((request.header("x-title"), sent["max_tokens"].as_u64()), (Some("t"), Some(16384)));
    for wrong in ["temperature", "messages=[]", "stream=false"] {
        let output = pipe(configured(place.path(), &models).args(["-m", "own", "--set", wrong]), PROMPT);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    let output =
        pipe(configured(place.path(), "[own]\nset = { model = 1 }\nmodel = \"vllm/m\"\n").args(["-m", "own"]), PROMPT);
    assert!(text(&output.stderr).contains("own in models.toml: \"model\" is no setting"), "{output:?}");
}

#[test]
fn the_usual_variables_name_the_address_and_get_no_usual_key() {
    let server = Server::start(|_, _| said());
    let host = server.url.strip_prefix("http://").unwrap();
    for (name, variable, value) in [
        ("openai/m", "OPENAI_BASE_URL", format!("{}/v1", server.url)),
        ("ollama/m", "OLLAMA_HOST", host.to_owned()),
        ("ollama/m", "OLLAMA_HOST", host.replace("127.0.0.1", "0.0.0.0")),
        ("ollama/m", "OLLAMA_HOST", server.url.clone()),
    ] {
        let mut llm = command("llm-pipe");
        llm.args(["-m", name]).env(variable, &value).env("OPENAI_API_KEY", "k3y-of-all");
        let output = pipe(&mut llm, PROMPT);
        assert_eq!(records(&output)[0]["text"], "x", "{value}: {output:?}");
        let request = server.requests().pop().unwrap();
        assert_eq!((&*request.path, request.header("authorization")), ("/v1/chat/completions", None), "{value}");
    }
}

#[test]
fn a_server_lists_its_models() {
    let server = Server::start(|request, _| match &*request.path {
        "/v1/models" => Reply::error(200, r#"{"object":"list","data":[{"id":"a"},{"id":"b/c"}]}"#),
        _ => Reply::error(404, "{}"),
    });
    let output = command("llm-pipe").args(["models", "vllm", "--base-url", &server.url]).output().unwrap();
    assert_eq!(text(&output.stdout), "{\"model\":\"vllm/a\"}\n{\"model\":\"vllm/b/c\"}\n", "{output:?}");
    let output = command("llm-pipe").args(["models", "vllm", "--base-url", "http://127.0.0.1:1/v1"]).output().unwrap();
    assert!(text(&output.stderr).contains("http://127.0.0.1:1/v1/models: the server cannot be reached"), "{output:?}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn check_saves_what_it_found_and_fails_if_a_declared_ability_is_missing() {
    let place = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| said());
    let models = format!("# mine\n[own]\nmodel = \"vllm/m\"\nbase_url = \"{}/v1\"\n", server.url);
    let output = configured(place.path(), &models).args(["check", "-m", "own", "--save"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let saved = std::fs::read_to_string(place.path().join("pipewright/models.toml")).unwrap();
    assert!(saved.starts_with("# mine\n[own]\nabilities = { tools = false, "), "{saved}");
    assert!(saved.contains("schema = false, images = false, system = true"), "{saved}");
    // Without tools, they are described in the text from the beginning.
    let tools = r#"{"type":"model_request","messages":[{"role":"user","content":"x"}],"tools":[{"name":"look"}]}"#;
    let output = pipe(configured(place.path(), &saved).args(["-m", "own"]), format!("{tools}\n").as_bytes());
    assert!(output.status.success(), "{output:?}");
    assert!(body(&server.requests().pop().unwrap())["messages"][0]["content"].as_str().unwrap().contains("look"));
    let declared = models.clone() + "abilities = { tools = true }\n";
    let output = configured(place.path(), &declared).args(["check", "-m", "own"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("declares \"tools\" for this model"), "{output:?}");
    let output =
        pipe(configured(place.path(), &(models + "abilities = { flying = true }\n")).args(["-m", "own"]), PROMPT);
    assert!(text(&output.stderr).contains("unknown ability \"flying\"; known are tools, "), "{output:?}");
}

#[test]
fn the_query_of_an_address_stays_behind_the_path() {
    let server = Server::start(|_, _| said());
    let mut llm = command("llm-pipe");
    llm.args(["-m", "vllm/m", "--base-url", &format!("{}/openai/v1?api-version=2026-01-01", server.url)]);
    assert!(pipe(&mut llm, PROMPT).status.success());
    assert_eq!(server.requests()[0].path, "/openai/v1/chat/completions?api-version=2026-01-01");
}
