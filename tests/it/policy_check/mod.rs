//! `policy-check` as a process: its verdicts on calls in a pipe and around a world, its rules, and attempts to get calls past it.

mod arguments;
mod audit;
mod browser_bridge;
mod bytes;
mod calls;
mod deals;
mod harnesses;
mod hints;
mod history;
mod hook;
mod hook_browsers;
mod hook_harnesses;
mod hook_hostile;
mod hook_install;
mod hook_recorded;
mod interleaved;
mod names;
mod questions;
mod readers;
mod rules;
mod shell_text;
mod snapshots;
mod subcommands;
mod undelivered;
mod working_tree;
mod wrapped;

use crate::process::{command, pipe, text};
use serde_json::Value;

/// The output of a run.
struct Played {
    status: Option<i32>,
    lines: Vec<String>,
    stderr: String,
}

impl Played {
    fn records(&self) -> Vec<Value> {
        self.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn play(options: &[&str], input: &str) -> Played {
    play_bytes(options, input.as_bytes())
}

fn play_bytes(options: &[&str], input: &[u8]) -> Played {
    let output = pipe(command("policy-check").args(options), input);
    Played {
        status: output.status.code(),
        lines: text(&output.stdout).lines().map(str::to_owned).collect(),
        stderr: text(&output.stderr),
    }
}
