//! A real page in Chromium, through Playwright's server.

use super::{Guarded, assert_shows, read, shown_line};
use crate::mcp_servers::{page, path_with_npx, running_with};
use crate::process::{binary, eventually};
use serde_json::{Value, json};

/// The button that was pressed last becomes the title.
pub const SHOP: &str = "<title>Shop</title><h1>Basket</h1><p>2 items</p>\
    <button onclick=\"document.title='Second'\">Next page</button>\
    <button onclick=\"document.title='Paid'\">Pay now</button>\
    <button onclick=\"document.title='Invoiced'\">Pay by invoice</button>";

/// The text of a result, which may be an error.
const TEXT: &str = "/result/content/0/text";

/// A client on a page.
struct Caller<'a> {
    gated: &'a mut Guarded,
    calls: u32,
}

impl Caller<'_> {
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.calls += 1;
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": self.calls}});
        json!({"jsonrpc": "2.0", "id": self.calls, "method": "tools/call", "params": params})
    }

    /// A part of an answer, which must be this call's.
    fn said(&self, answer: &Value, pointer: &str) -> String {
        assert_eq!(answer["id"], self.calls, "{answer}");
        answer.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no {pointer} in {answer}")).to_owned()
    }

    fn unasked(&mut self, tool: &str, arguments: Value) -> String {
        let call = self.call(tool, arguments);
        let answer = self.gated.unasked(&call);
        self.said(&answer, TEXT)
    }

    /// The elements with these names on the page, and the references that calls use for them.
    fn look<const N: usize>(&mut self, names: [&str; N]) -> [String; N] {
        let seen = self.unasked("browser_snapshot", json!({}));
        names.map(|name| {
            let line = seen.lines().find(|line| line.contains(&format!("{name:?}")));
            let reference = line.and_then(|line| line.split_once("[ref=")?.1.split_once(']'));
            reference.unwrap_or_else(|| panic!("{name} isn't in {seen}")).0.to_owned()
        })
    }

    fn held_click(&mut self, reference: &str) -> String {
        let click = self.call("browser_click", json!({"target": reference}));
        self.gated.held(&click)
    }

    fn approved(&mut self) -> String {
        let answer = self.gated.decide("y");
        self.said(&answer, TEXT)
    }
}

/// An ordinary click, then a rejected one, an edited one, and an approved one.
fn shop(gated: &mut Guarded, url: &str) {
    let mut caller = Caller { gated, calls: 0 };
    caller.unasked("browser_navigate", json!({"url": url}));
    let [next] = caller.look(["Next page"]);
    let clicked = caller.unasked("browser_click", json!({"target": next}));
    assert!(clicked.contains("Page Title: Second"), "{clicked}");

    let [next, pay] = caller.look(["Next page", "Pay now"]);
    let shown = caller.held_click(&pay);
    let target = format!(".target: \"{pay}\"");
    assert_shows(&shown, &["tool  browser_click", "target  button \"Pay now\"", "PAY: it may spend money", &target]);
    assert_shows(&shown, &["reason  pay: \"pay now\" (en)"]);
    let rejected = caller.gated.decide("n too expensive");
    assert_eq!(caller.said(&rejected, "/result/_meta/kind"), "rejected");
    let said = caller.said(&rejected, TEXT);
    assert!(said.contains("a person rejected it: too expensive"), "{said}");
    // Nothing was clicked, so the caller chooses again from the same page.
    let clicked = caller.unasked("browser_click", json!({"target": next}));
    assert!(clicked.contains("Page Title: Second"), "{clicked}");

    let [pay, invoice] = caller.look(["Pay now", "Pay by invoice"]);
    caller.held_click(&pay);
    let edited = caller.gated.edit(&format!("target={invoice}"));
    assert_shows(&edited, &[&format!("- {target}"), &format!("+ .target: \"{invoice}\"")]);
    let clicked = caller.approved();
    assert!(clicked.contains("Page Title: Invoiced"), "{clicked}");

    let [pay] = caller.look(["Pay now"]);
    caller.held_click(&pay);
    let clicked = caller.approved();
    assert!(clicked.contains("Page Title: Paid"), "{clicked}");
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn calls_of_any_mcp_client_are_held() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("server.jsonl");
    // The log records what reaches the server.
    let recorder = format!("{} {} --", binary("jsonl-record").display(), log.display());
    let line = shown_line("policy-check --confirm mark -- hitl-gate --tty /dev/pts/3 --");
    let mut gated = Guarded::start(line, folder.path(), &path_with_npx(folder.path(), &recorder));
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "0"}});
    let hello = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": hello});
    assert!(gated.unasked(&hello)["result"]["serverInfo"].is_object());
    gated.calls.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let listed = gated.unasked(&json!({"jsonrpc": "2.0", "id": "b", "method": "tools/list"}));
    assert!(listed.to_string().contains("browser_click"), "{listed}");
    shop(&mut gated, &page(SHOP));
    assert_eq!(gated.calls.end_after_close().status.code(), Some(1), "something was rejected");
    eventually("no server and no browser is left", || running_with(folder.path().to_str().unwrap()) == 0);

    let log = std::fs::read_to_string(log).unwrap();
    let reached = log.lines().map(read).filter(|line| line["dir"] == "in");
    let reached: Vec<Value> = reached.map(|mut line| line["msg"].take()).collect();
    let calls: Vec<&Value> = reached.iter().filter(|message| message["method"] == "tools/call").collect();
    let clicks = calls.iter().filter(|call| call["params"]["name"] == "browser_click").count();
    assert_eq!(clicks, 4, "the rejected click is not there: {calls:?}");
    for call in calls {
        assert_eq!(
            call["params"]["_meta"],
            json!({"progressToken": call["id"]}),
            "no mark of ours, and all of the caller's"
        );
    }
    assert!(!log.contains("requires_approval"), "nowhere else either");
}
