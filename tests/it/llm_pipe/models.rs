//! `models.toml`, and `llm-pipe models`.

use super::records;
use super::server::{Reply, Server};
use crate::process::{command, pipe, text};
use std::path::Path;
use std::process::Command;

/// `llm-pipe` with a `models.toml` of this text.
fn configured(place: &Path, models: &str) -> Command {
    std::fs::create_dir_all(place.join("pipewright")).unwrap();
    std::fs::write(place.join("pipewright/models.toml"), models).unwrap();
    let mut llm = command("llm-pipe");
    llm.env("XDG_CONFIG_HOME", place).env("SECRET_OF_MINE", "s3cret-of-mine").env_remove("OPENAI_API_KEY");
    llm
}

#[test]
fn a_name_stands_for_a_model_its_server_and_its_key() {
    let place = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| Reply::gemini("x"));
    let url = &server.url;
    let models = format!(
        "[fast]\nmodel = \"gemini/gemini-3-flash\"\nbase_url = \"{url}/v1\"\nkey_env = \"SECRET_OF_MINE\"\n\
         [\"gemini/other\"]\nbase_url = \"{url}/v2/\"\n"
    );
    for (name, path, key) in [
        ("fast", "/v1/models/gemini-3-flash:streamGenerateContent?alt=sse", Some("s3cret-of-mine")),
        ("gemini/other", "/v2/models/other:streamGenerateContent?alt=sse", None),
    ] {
        let output = pipe(configured(place.path(), &models).args(["-m", name]), b"{\"prompt\":\"p\"}\n");
        assert!(output.status.success(), "{output:?}");
        let request = server.requests().pop().unwrap();
        assert_eq!((&*request.path, request.header("x-goog-api-key")), (path, key));
    }
    // Options take precedence, and the file's key is for the file's address only.
    let output = pipe(
        configured(place.path(), &models).args(["-m", "fast", "--base-url", &format!("{url}/v3")]),
        b"{\"prompt\":\"p\"}\n",
    );
    assert!(output.status.success(), "{output:?}");
    let request = server.requests().pop().unwrap();
    assert!(request.path.starts_with("/v3/") && request.header("x-goog-api-key").is_none(), "{request:?}");
}

#[test]
fn all_models_are_listed_without_a_key() {
    let place = tempfile::tempdir().unwrap();
    let models = "[fast]\nmodel = \"gemini/g\"\nkey_env = \"SECRET_OF_MINE\"\nprice = { input = 0.5, output = 3 }\n";
    let output = configured(place.path(), models).arg("models").output().unwrap();
    let lines = records(&output);
    let expected = serde_json::json!({"name": "fast", "model": "gemini/g", "key_env": "SECRET_OF_MINE", "has_key": true,
        "price": {"input": 0.5, "output": 3}, "file": place.path().join("pipewright/models.toml")});
    assert_eq!(lines[0], expected);
    let openai = lines.iter().find(|line| line["provider"] == "openai").unwrap();
    assert_eq!((&openai["key_env"], &openai["has_key"]), (&"OPENAI_API_KEY".into(), &false.into()));
    assert!(!text(&output.stdout).contains("s3cret"), "{output:?}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn errors_in_the_file_are_reported_with_their_place() {
    let place = tempfile::tempdir().unwrap();
    for (models, why) in [
        ("[fast]\nmodl = \"x\"\n", "models.toml:2:1: unknown field `modl`"),
        ("[fast]\nmodel = 7\n", "models.toml:2:9: "),
        ("[fast\n", "models.toml:1:6: "),
        (
            "[fast]\nmodel = \"gemini/g\"\nkey_env = \"NOT_THERE\"\n",
            "key_env in models.toml: NOT_THERE is not set in the environment",
        ),
        ("[fast]\nmodel = \"elsewhere/g\"\n", "unknown provider \"elsewhere\""),
        ("[fast]\n", "\"fast\" is neither PROVIDER/NAME nor a name in models.toml"),
        ("[fast]\nmodel = \"b\"\n[b]\n", "--model: fast in models.toml: \"b\" is neither PROVIDER/NAME"),
        ("[fast]\nprice = { input = -1, output = 1 }\n", "models.toml:2:19: a price is a number that is at least 0"),
        ("[fast]\nprice = { input = nan, output = 1 }\n", "a price is a number that is at least 0"),
        ("fast = 7\n", "models.toml:1:8: invalid type: integer `7`, expected a table for each model"),
    ] {
        let output = pipe(configured(place.path(), models).args(["-m", "fast"]), b"");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains(why), "{why}: {}", text(&output.stderr));
    }
    let output = pipe(&mut configured(place.path(), ""), b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--model PROVIDER/NAME"), "{output:?}");
}
