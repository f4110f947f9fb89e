//! `mcp-serve` as an MCP client uses it: in front of a stand-in world (`tests/stand_in/world.rs`), and in front of real ones.

mod http;
mod lists;
mod protocol;
mod results;
mod sdks;
mod worlds;

use crate::process::{Talk, command, example};
use serde_json::{Value, json};
use std::process::Command;

const META: &str =
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn serve(options: &[&str], world: &[&str]) -> Command {
    let mut serve = command("mcp-serve");
    serve.args(options).arg("--").args(world);
    serve
}

/// With the stand-in world.
fn stand_in(options: &[&str]) -> Command {
    let world = example("stand-in-world");
    serve(options, &[world.to_str().unwrap()])
}

/// A client on stdio.
struct Client {
    talk: Talk,
    next: u64,
}

impl Client {
    fn start(serve: &mut Command) -> Client {
        Client { talk: Talk::start(serve), next: 1 }
    }

    fn receive(&mut self) -> Value {
        let line = self.talk.receive();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request; gives its id.
    fn request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.talk.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// Sends a request; gives the next line, which is its response.
    #[track_caller]
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.talk.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// The lines that the world has received, except for the request for its tools and this call.
    fn seen(&mut self) -> Vec<Value> {
        let seen = self.call("seen", &json!({}));
        let lines: Vec<String> = serde_json::from_str(seen["content"][0]["text"].as_str().unwrap()).unwrap();
        let lines = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["type"] != "list_tools" && line["tool_name"] != "seen").collect()
    }
}
