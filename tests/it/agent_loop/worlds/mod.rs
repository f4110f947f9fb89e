//! Real worlds, and the traffic of real providers.

#[cfg(feature = "http")]
mod aimock;
mod godot;
#[cfg(feature = "gates")]
mod mcp;
#[cfg(feature = "browser")]
mod playwright;

use super::{Place, Run};
use crate::process::pipe;
use serde_json::Value;
use std::process::Command;

/// The calls of a run, each with `ok` or the kind of its failure.
fn calls(run: &Run) -> Vec<(&str, &str)> {
    let tools = run.of_type("tool_call").into_iter().map(|call| call["tool_name"].as_str().unwrap());
    let outcomes = run.of_type("tool_result").into_iter().map(|result| result["kind"].as_str().unwrap_or("ok"));
    tools.zip(outcomes).collect()
}

/// Runs the agent over this world until the goal is reached. Each turn of the script must have its expected outcome.
#[track_caller]
fn reach(profile: &str, script: &[String], world: impl FnOnce(&mut Command)) -> (Run, Place) {
    let place = Place::new(&script.iter().map(String::as_str).collect::<Vec<_>>());
    let mut agent = place.agent(&["--profile", profile, "--start-timeout", "60s", "--goal", "g", "--"]);
    world(&mut agent);
    let run = Run::of(pipe(&mut agent, b""));
    assert_eq!(run.last()["outcome"], "done", "{:?} {}", run.records, run.stderr);
    assert_eq!(place.requests().len(), script.len(), "{:?}", run.records);
    assert!(!run.stderr.contains("the profile calls"), "what the profile calls is there: {}", run.stderr);
    (run, place)
}

/// The last message of a request: the observation after the last call.
fn newest(request: &Value) -> String {
    super::said(request["messages"].as_array().unwrap().last().unwrap())
}
