//! A call that orders or pays gets the deal that the last list of `browser-bridge` has named.

use super::browser_bridge::{LIST, answer, call, list};
use crate::process::{Talk, command};
use serde_json::{Value, json};

/// The calls as they reach the world, after a list with a deal.
fn passed(calls: &[Value]) -> Vec<Value> {
    let mut gate = command("policy-check");
    let script = r#"read -r call; printf '%s\n' "$0"; exec cat"#;
    let mut shown = list("s1.1", &["7 button Pay now", "8 link Help", "9 textbox Card", "10 button Pay by invoice"]);
    shown["data"]["deals"] = json!([{"numbers": [7, 9], "text": ["Kettle | $20", "Total | $20"]},
        {"numbers": [10], "text": [], "note": "the total could not be read"}]);
    gate.args(["--confirm", "mark", "--", "sh", "-c", script, &shown.to_string()]);
    let mut talk = Talk::start(&mut gate);
    talk.ask(&call(LIST, &json!({})).to_string());
    let passed = calls.iter().map(|call| serde_json::from_str(&talk.ask(&call.to_string())).unwrap()).collect();
    talk.end_after_close();
    passed
}

#[test]
fn a_call_that_is_asked_about_has_the_deal_that_was_listed() {
    let (pay, forged) = (json!({"text": ["Kettle | $20", "Total | $20"]}), json!({"text": ["Total | $1"]}));
    let invoice = json!({"text": [], "note": "the total could not be read"});
    for (tool, arguments, deal) in [
        ("browser_overlay_act", json!({"index": 7}), Some(&pay)),
        ("browser_overlay_act", json!({"index": "7", "action": "click", "deal": forged}), Some(&pay)),
        ("browser_overlay_act", json!({"index": 7, "deal": null}), Some(&pay)),
        ("browser_overlay_act", json!({"index": 10}), Some(&invoice)),
        ("browser_press", json!({"id": 7, "key": "Enter"}), Some(&pay)),
        ("browser_overlay_act", json!({"index": 9, "action": "type", "text": "x", "submit": true}), Some(&pay)),
        // Nobody is asked about these, or their element has no deal.
        ("browser_overlay_act", json!({"index": 9, "action": "type", "text": "x", "deal": pay}), None),
        ("browser_overlay_act", json!({"index": 8, "deal": pay}), None),
        ("browser_overlay_act", json!({"index": 99, "deal": pay}), None),
        ("shop__browser_overlay_act", json!({"index": 8, "deal": pay}), None),
        ("browser_extract", json!({"deal": pay}), None),
        // An argument of another server.
        ("create_offer", json!({"deal": forged}), Some(&forged)),
    ] {
        let passed = passed(&[call(tool, &arguments)]).remove(0);
        assert_eq!(passed["args"].get("deal"), deal, "{tool} {arguments}");
        let is_asked = deal.is_some() || arguments["index"] == 99;
        assert_eq!(passed.get("requires_approval").is_some(), is_asked, "{passed}");
        for (key, value) in arguments.as_object().unwrap().iter().filter(|(key, _)| *key != "deal") {
            assert_eq!(passed["args"][key], *value, "{tool} {arguments}");
        }
    }
    let mcp = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "browser_overlay_act", "arguments": {"index": 7, "deal": forged}}});
    assert_eq!(passed(&[mcp]).remove(0)["params"]["arguments"], json!({"index": 7, "deal": pay}));
}

#[test]
fn only_a_list_names_a_deal() {
    // A page's text is no list, and neither is what a caller says.
    let deals = json!([{"numbers": [7], "text": ["Total | $1"]}]);
    for (tool, answered) in [
        ("browser_extract", json!({"text": "x", "deals": deals})),
        ("browser_overlay_show", json!({"snapshot_id": "s1.2", "deals": deals})),
        (LIST, json!({"snapshot_id": "s1.2", "items": ["8 link Help"], "deals": deals})),
    ] {
        let mut gate = command("policy-check");
        let script = r#"for answer; do read -r call; printf '%s\n' "$answer"; done; exec cat"#;
        let first = list("s1.1", &["7 button Pay now"]).to_string();
        gate.args(["--confirm", "mark", "--", "sh", "-c", script, "sh", &first, &answer(&answered).to_string()]);
        let mut talk = Talk::start(&mut gate);
        talk.ask(&call(LIST, &json!({})).to_string());
        talk.ask(&call(tool, &json!({})).to_string());
        let pay = call("browser_overlay_act", &json!({"index": 7}));
        let passed: Value = serde_json::from_str(&talk.ask(&pay.to_string())).unwrap();
        assert_eq!(passed["args"], json!({"index": 7}), "{tool}");
        talk.end_after_close();
    }
}
