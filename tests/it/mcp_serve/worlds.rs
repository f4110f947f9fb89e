//! Worlds of ours behind it, and gates between.

use super::{Client, serve};
use crate::process::{binary, example};
use serde_json::json;

fn path(name: &str) -> String {
    binary(name).to_str().unwrap().to_owned()
}

#[cfg(feature = "jq")]
#[test]
fn gates_between_it_and_the_world_judge_each_call() {
    let world = example("stand-in-world");
    let (policy_check, world) = (path("policy-check"), world.to_str().unwrap());
    let mut client = Client::start(&mut serve(&[], &[&policy_check, "--confirm", "refuse", "--", world]));
    assert_eq!(client.call("echo", &json!({"a": 1}))["structuredContent"], json!({"a": 1}));
    let refused = client.call("die", &json!({}));
    assert_eq!(refused["isError"], true);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("kind: needs_approval") || text.contains("kind: denied"), "{text}");
    assert_eq!(client.talk.end_after_close().status.code(), Some(1), "the gate's own status: it has refused a call");
}
