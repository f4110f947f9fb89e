//! Over real worlds, and with the traffic of real providers.

#[cfg(feature = "http")]
mod aimock;
#[cfg(feature = "gates")]
mod mcp;

use super::{Place, Run};
use serde_json::Value;

/// What a run has called, each with `ok`, or the kind of its failure.
fn calls(run: &Run) -> Vec<(&str, &str)> {
    let tools = run.of_type("tool_call").into_iter().map(|call| call["tool_name"].as_str().unwrap());
    let outcomes = run.of_type("tool_result").into_iter().map(|result| result["kind"].as_str().unwrap_or("ok"));
    tools.zip(outcomes).collect()
}

/// The last message of a request: what was observed after the last call.
fn newest(request: &Value) -> String {
    super::said(request["messages"].as_array().unwrap().last().unwrap())
}
