//! `policy-check hook` with the inputs of real harnesses, as they were recorded.

use super::play;
use serde_json::Value;

/// Words of the calls that need approval.
const DANGEROUS: [&str; 5] = ["rm -rf src", "delete_file", "file_text", "new_text", "\"diff\""];

#[test]
fn recorded_calls_pass_or_need_approval() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hooks");
    for harness in ["claude", "codex", "gemini", "qwen", "copilot", "opencode", "cline"] {
        let inputs = std::fs::read_to_string(format!("{folder}/{harness}.jsonl")).unwrap();
        for input in inputs.lines() {
            let said = |options: &[&str]| {
                let played = play(&[&["hook"], options].concat(), input);
                assert_eq!(played.status, Some(0), "{input}: {}", played.stderr);
                played.lines.concat()
            };
            let answer = said(&[]);
            assert_eq!(said(&["--for", harness]), answer, "{input}");
            let call: Value = serde_json::from_str(input).unwrap();
            let is_after = ["tool_response", "toolResult", "tool_result"].iter().any(|key| !call[key].is_null());
            let writes = ["write_file", "write"].iter().any(|tool| call["tool_name"] == *tool);
            let is_dangerous = !is_after && (writes || DANGEROUS.iter().any(|word| input.contains(word)));
            assert_eq!(!answer.is_empty(), is_dangerous, "{input}: {answer}");
        }
    }
}
