//! Over real worlds, and with the traffic of real providers.

#[cfg(feature = "http")]
mod aimock;

use super::Run;
use serde_json::Value;

/// What a run has called, each with the status of its result, or the kind of its failure.
fn calls(run: &Run) -> Vec<(&str, &str)> {
    let tools = run.of_type("tool_call").into_iter().map(|call| call["tool_name"].as_str().unwrap());
    let outcome = |result: &&Value| result["status"] == "ok";
    let results = run.of_type("tool_result").into_iter();
    let outcomes = results.map(move |result| if outcome(&result) { "ok" } else { result["kind"].as_str().unwrap() });
    tools.zip(outcomes).collect()
}
