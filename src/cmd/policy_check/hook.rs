//! `policy-check hook`: judges one tool call of Claude Code, as the command of a PreToolUse hook.
//!
//! The format is that of Claude Code's hooks reference: the call on stdin, a `permissionDecision` on stdout. There, exit status 2 blocks
//! the call, with stderr as the reason. Any other failure lets the call pass, so every failure here exits with 2.

use crate::cmd::needs_input;
use crate::cmd::options::{LimitOptions, TOO_DEEP, TOO_LONG};
use crate::cmd::rules_file::{Judged, RulesOptions, judge};
use crate::cmd::working_tree::runs_nothing;
use crate::io::descriptor::stdout;
use crate::io::lines::{Limits, deeper_than};
use crate::io::report::{Failure, Report, Status};
use crate::json::Object;
use crate::policy::annotations::Hint;
use crate::policy::builtin::Builtin;
use crate::policy::builtin::place::Place;
use crate::policy::{Decision, Verdict};
use crate::record::{Call, Fields};
use std::io::{self, Read, Write};
use std::path::PathBuf;

const EVENT: &str = "PreToolUse";

#[derive(Debug, clap::Args)]
pub struct HookArguments {
    #[command(flatten)]
    rules: RulesOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

/// Reads the call, and writes the decision.
pub fn run(arguments: HookArguments, report: &Report) -> Result<Status, Failure> {
    decide(arguments, report).map_err(|failure| Failure::new(Status::Usage, failure))
}

fn decide(arguments: HookArguments, report: &Report) -> Result<Status, Failure> {
    let failed = |why: &dyn std::fmt::Display| Failure::new(Status::Usage, format_args!("stdin: {why}"));
    needs_input("a tool call from a PreToolUse hook")?;
    let rules = arguments.rules.open(report)?;
    let limits = Limits::from(arguments.limits);
    let mut input = String::new();
    let most = limits.max_line as u64 + 1;
    io::stdin().lock().take(most).read_to_string(&mut input).map_err(|error| failed(&error))?;
    if input.len() > limits.max_line {
        return Err(failed(&TOO_LONG));
    }
    if deeper_than(input.as_bytes(), limits.max_depth) {
        return Err(failed(&TOO_DEEP));
    }
    let call = Call::from_hook(&input, EVENT).map_err(|error| failed(&error))?;
    let place = Place { folder: folder(&input), runs_nothing: Some(runs_nothing) };
    let Judged { decision, .. } = judge(&call, &Builtin::of_client().with_place(place), rules.as_ref(), Hint::None);
    let written = stdout().and_then(|mut stdout| stdout.write_all(answer(&decision).as_bytes()));
    written.map_err(|error| Failure::new(Status::Usage, format_args!("stdout: {error}")))?;
    Ok(Status::Well)
}

/// The folder in which the client runs commands, if it names one.
fn folder(input: &str) -> Option<PathBuf> {
    let folder: PathBuf = serde_json::from_str(Fields::read(input).ok()?.get("cwd")?.get()).ok()?;
    folder.is_absolute().then_some(folder)
}

fn answer(decision: &Decision) -> String {
    let permission = match decision.verdict {
        Verdict::Allow => "allow",
        Verdict::Confirm => "ask",
        Verdict::Deny => "deny",
    };
    let reason = format!("{} ({})", decision.reason, decision.rule);
    let output = Object::default()
        .text("hookEventName", EVENT)
        .text("permissionDecision", permission)
        .text("permissionDecisionReason", &reason);
    Object::default().put("hookSpecificOutput", output.end()).end() + "\n"
}
