//! `policy-check hook`: judges one tool call of Claude Code, as the command of a PreToolUse hook.
//!
//! The format is that of Claude Code's hooks reference: the call on stdin, a `permissionDecision` on stdout. There,
//! exit status 2 blocks the call, with stderr as the reason. Any other failure lets the call pass, so every failure
//! here exits with 2. Without any output, the client decides by its own settings. `allow` would switch its question
//! off, so by default the hook never gives it.

use crate::cmd::needs_input;
use crate::cmd::options::{LimitOptions, TOO_DEEP, TOO_LONG};
use crate::cmd::rules_file::{JudgedCall, RulesOptions, judge};
use crate::cmd::usage;
use crate::cmd::working_tree::{home, runs_nothing};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::{Limits, deeper_than};
use pipewright_policy::annotations::Hint;
use pipewright_policy::builtin::working_folder::WorkingFolder;
use pipewright_policy::builtin::{Builtin, may_disclose};
use pipewright_policy::{Decision, Verdict};
use pipewright_record::json::Object;
use pipewright_record::{Call, Fields};
use pipewright_sys::descriptor::stdout;
use std::io::{self, Read, Write};
use std::path::PathBuf;

const EVENT: &str = "PreToolUse";

#[derive(Debug, clap::Args)]
pub struct HookArguments {
    #[command(flatten)]
    rules: RulesOptions,
    /// Allow calls that only read, in place of leaving them to Claude Code's own settings; never files that hold secrets, and addresses
    /// with a query, a fragment or a user name
    #[arg(long)]
    allow_reads: bool,
    #[command(flatten)]
    limits: LimitOptions,
}

/// Reads the call, and writes the decision.
pub fn run(arguments: HookArguments, report: &Report) -> Result<Status, Failure> {
    decide(arguments, report).map_err(usage)
}

fn decide(arguments: HookArguments, report: &Report) -> Result<Status, Failure> {
    let failed = |why: &dyn std::fmt::Display| usage(format_args!("stdin: {why}"));
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
    let folder = Fields::read(&input).ok().and_then(|fields| fields.text("cwd"));
    let place = WorkingFolder { folder: absolute(folder.as_deref()), home: home(), runs_nothing: Some(runs_nothing) };
    let builtin = Builtin::of_client().with_place(place);
    let JudgedCall { decision, acts, .. } = judge(&call, &builtin, rules.as_ref(), Hint::None);
    let may_allow = arguments.allow_reads && acts.is_read_only() && {
        // A rule that allows more than reading does not make it reading.
        builtin.judge(&call, Hint::None).0.verdict == Verdict::Allow && !may_disclose(&call, folder.as_deref())
    };
    let answer = answer(&decision, may_allow);
    let written = stdout().and_then(|mut stdout| stdout.write_all(answer.as_bytes()));
    written.map_err(|error| usage(format_args!("stdout: {error}")))?;
    Ok(Status::Well)
}

fn absolute(folder: Option<&str>) -> Option<PathBuf> {
    folder.map(PathBuf::from).filter(|folder| folder.is_absolute())
}

/// The answer; empty if the client is to decide.
fn answer(decision: &Decision, may_allow: bool) -> String {
    let permission = match decision.verdict {
        Verdict::Allow if may_allow => "allow",
        Verdict::Allow => return String::new(),
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
