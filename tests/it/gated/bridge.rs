//! `browser-bridge` behind both gates, used by an MCP client, and a recording of it in its place.

use super::{Guarded, assert_shows, path, read};
use crate::browser_bridge::serve;
use serde_json::{Value, json};
use std::path::Path;

const PAGES: &[(&str, &str)] = &[
    (
        "/",
        "<!doctype html><title>Shop</title><a href=/next>Next page</a>
        <button onclick=\"document.title = 'Paid'\">Pay now</button>",
    ),
    ("/next", "<!doctype html><title>Next</title><button>There</button>"),
];

/// An MCP client of `mcp-serve`.
struct Client {
    guarded: Guarded,
    last: u64,
}

impl Client {
    /// Starts the command line in the folder, with the person's terminal in place of TTY.
    fn start(line: &str, folder: &Path) -> Client {
        let line = line.replace("TTY", super::TERMINAL);
        let mut client = Client { guarded: Guarded::start(&line, folder, &path()), last: 0 };
        let about =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "0"}});
        assert_eq!(client.ask("initialize", &about)["result"]["serverInfo"]["name"], "pipewright");
        client.guarded.calls.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
    }

    fn tool(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let request = self.request(method, params);
        let answer = self.guarded.unasked(&request);
        assert_eq!(answer["id"], self.last, "{answer}");
        answer
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))["result"].clone()
    }

    /// Clicks, and gives the title of the page afterwards.
    #[track_caller]
    fn click(&mut self, index: u64) -> Value {
        self.call("browser_overlay_act", &json!({"index": index}))["structuredContent"]["title"].clone()
    }
}

/// The calls of the live run and of the recording, each with a part of its answer.
fn visit(client: &mut Client) {
    let listed = client.call("browser_list_interactives", &json!({}));
    let items = &listed["structuredContent"]["items"];
    assert_eq!(*items, json!(["1 link Next page", "2 button Pay now"]), "{listed}");
    assert_eq!(client.click(1), "Next");
    let wrong = client.call("browser_wait", &json!({"selector": "#none", "timeout_ms": 100}));
    assert!(wrong["isError"] == true && wrong.to_string().contains("kind: timeout"), "{wrong}");
    assert_eq!(client.call("browser_back", &json!({}))["structuredContent"]["title"], "Shop");
}

#[test]
#[ignore = "needs Chromium"]
fn an_mcp_client_uses_a_browser_through_both_gates() {
    let folder = tempfile::tempdir().unwrap();
    let line = "mcp-serve -- policy-check -- hitl-gate --tty TTY -- browser-bridge --headless --save-media shots";
    let mut client = Client::start(&format!("{line} {}", serve(PAGES)), folder.path());

    let listed = client.ask("tools/list", &json!({}));
    let tools: Vec<&Value> = listed["result"]["tools"].as_array().unwrap().iter().collect();
    let declared = pipewright_browser::tools::declared(false);
    assert_eq!(tools.len(), declared.len());
    for (tool, declared) in tools.iter().zip(&declared) {
        assert_eq!((&tool["name"], &tool["inputSchema"]), (&declared.name.into(), &declared.input_schema));
        assert_eq!(tool["annotations"], declared.annotations);
    }
    visit(&mut client);

    client.call("browser_list_interactives", &json!({}));
    let pay = client.tool("browser_overlay_act", &json!({"index": 2}));
    let shown = client.guarded.held(&pay);
    assert_shows(&shown, &["tool  browser_overlay_act", "button \"Pay now\"", "reason  pay: \"pay now\" (en)"]);
    let rejected = client.guarded.decide("n too expensive");
    assert!(rejected["result"]["isError"] == true && rejected.to_string().contains("too expensive"), "{rejected}");
    client.call("browser_list_interactives", &json!({}));
    let pay = client.tool("browser_overlay_act", &json!({"index": 2}));
    client.guarded.held(&pay);
    assert_eq!(client.guarded.decide("y")["result"]["structuredContent"]["title"], "Paid");

    let picture = client.call("browser_screenshot", &json!({}));
    let path = picture["structuredContent"]["path"].as_str().unwrap();
    assert!(std::fs::read(folder.path().join(path)).unwrap().starts_with(b"\x89PNG"), "{picture}");

    let wait = client.tool("browser_wait", &json!({"ms": 600_000}));
    client.guarded.calls.say(&wait.to_string());
    client.guarded.calls.receive_nothing_for(300);
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": client.last}});
    client.guarded.calls.say(&cancelled.to_string());
    assert_eq!(client.call("browser_tabs", &json!({}))["structuredContent"]["tabs"][0]["title"], "Paid");
    // A call was rejected, one failed, and one was cancelled.
    assert_eq!(client.guarded.calls.end_after_close().status.code(), Some(1));
}

#[test]
#[ignore = "needs Chromium"]
fn a_recording_of_a_browser_answers_the_same_calls() {
    let folder = tempfile::tempdir().unwrap();
    let record = "mcp-serve -- jsonl-record --child world run.jsonl -- browser-bridge --headless";
    let mut live = Client::start(&format!("{record} {}", serve(PAGES)), folder.path());
    visit(&mut live);
    live.guarded.calls.end_after_close();
    for replay in ["replay --as world", "replay --as world --any-order"] {
        let mut offline = Client::start(&format!("mcp-serve -- {replay} run.jsonl"), folder.path());
        assert!(offline.ask("tools/list", &json!({})).to_string().contains("browser_close_banners"));
        visit(&mut offline);
        let ended = offline.guarded.calls.end_after_close();
        assert!(!ended.stderr.contains("not recorded"), "{replay}: {}", ended.stderr);
    }
    let log = std::fs::read_to_string(folder.path().join("run.jsonl")).unwrap();
    assert!(log.lines().all(|line| read(line).is_object()));
}
