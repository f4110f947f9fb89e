//! What in a harness's settings keeps a hook from judging every call.

use super::Client;
use super::settings::{FoundHook, command};
use pipewright_io::report::Report;
use serde_json::Value;
use std::path::Path;

/// A hook blocks a call by itself after 20 s; this many seconds leave it time for that.
const LEAST_TIMEOUT: f64 = 30.0;

type IsFault = fn(&Client, &FoundHook<'_>) -> bool;

/// What may be wrong with a hook in the settings.
pub const FAULTS: &[(IsFault, &str)] = &[
    (|client, found| client.name == "qwen" && !found.is_last, "another hook behind it decides"),
    (|client, found| !is_closed(client, found.hook), "a hook that fails lets the call run: install it again"),
    (
        |_, found| leaves_out(&found.entry["matcher"]) || leaves_out(&found.hook["matcher"]),
        "its matcher leaves out tools",
    ),
    (
        |_, found| ["async", "asyncRewake"].iter().any(|key| found.hook[*key] == true),
        "the call does not wait for it (async)",
    ),
    (|_, found| !found.hook["if"].is_null() || !found.entry["if"].is_null(), "it runs only for some calls (if)"),
    (|client, found| is_short(client, found.hook), "its timeout is short: a hook that runs into it lets the call run"),
];

fn is_closed(client: &Client, hook: &Value) -> bool {
    match client.name {
        "claude" => hook["onFailure"] == "block",
        "cursor" => hook["failClosed"] == true,
        "codex" | "gemini" | "qwen" => command(hook).is_some_and(|text| text.contains("exit 2")),
        _ => true,
    }
}

/// Whether a matcher is not one for all tools.
fn leaves_out(matcher: &Value) -> bool {
    !(matcher.is_null() || ["", "*", ".*"].iter().any(|all| matcher == all))
}

/// Whether the harness may not wait until the hook blocks the call by itself.
fn is_short(client: &Client, hook: &Value) -> bool {
    let limit = ["timeoutSec", "timeout"].iter().map(|key| &hook[*key]).find(|limit| !limit.is_null());
    let Some(limit) = limit else { return false };
    let is_enough = limit.as_f64().is_some_and(|limit| match client.name {
        "gemini" => limit >= LEAST_TIMEOUT * 1000.0,
        "qwen" if limit >= 1000.0 => limit >= LEAST_TIMEOUT * 1000.0,
        _ => limit >= LEAST_TIMEOUT,
    });
    !is_enough
}

/// What switches hooks off, in any file of a harness.
#[derive(Debug, Default)]
pub struct Switches {
    pub is_off: bool,
    /// Names and commands of single hooks.
    disabled: Vec<Value>,
}

impl Switches {
    pub fn add(&mut self, settings: &Value) {
        let configs = [&settings["hooksConfig"], &settings["hooks"]];
        self.is_off |= settings["disableAllHooks"] == true
            || configs.iter().any(|config| config["enabled"] == false || config["disabled"] == true);
        self.disabled.extend(configs.iter().filter_map(|config| config["disabled"].as_array()).flatten().cloned());
    }

    /// Codex has them in another file than the hooks.
    pub fn add_toml(&mut self, file: &Path, text: &str, report: &Report) {
        match toml::from_str::<toml::Table>(text) {
            Ok(settings) => {
                let features = settings.get("features").and_then(toml::Value::as_table);
                let is_off = |key: &&str| features.and_then(|all| all.get(*key)?.as_bool()) == Some(false);
                self.is_off |= ["hooks", "codex_hooks"].iter().any(is_off);
            }
            Err(error) => report.fault(file.display(), format_args!("not TOML: {}", error.message())),
        }
    }

    pub fn disables(&self, hook: &Value) -> bool {
        ["name", "command"].iter().any(|key| self.disabled.contains(&hook[*key]))
    }
}
