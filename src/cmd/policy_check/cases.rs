//! `policy-check test RULES CASES`: whether rules give the expected verdicts, and which rules no case matches.

use crate::cmd::needs_input;
use crate::cmd::rules_file::{JudgedCall, RulesFile, agent_id, judge};
use crate::cmd::usage;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::why_not_json;
use pipewright_policy::Verdict;
use pipewright_policy::annotations::Hint;
use pipewright_policy::builtin::Builtin;
use pipewright_policy::rules::{History, Period};
use pipewright_record::{Call, Record, recognise};
use pipewright_sys::descriptor::stdout;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub(super) struct TestArguments {
    /// The rules file
    rules: PathBuf,
    /// One case per line: {"before"?:[{...}],"call":{...},"verdict":"allow|confirm|deny","rule"?:"id"}; `-` is stdin
    cases: PathBuf,
}

/// A time between two calls.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wait {
    wait: Period,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case<'a> {
    /// Calls that pass before it, if the rules do not deny them, and times in between.
    #[serde(borrow, default)]
    before: Vec<&'a RawValue>,
    #[serde(borrow)]
    call: &'a RawValue,
    verdict: Verdict,
    rule: Option<String>,
}

/// A case with another verdict than expected, or the summary of all cases.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "policy_case_result")]
pub enum CaseResult {
    /// A case with another verdict than expected.
    Failed {
        /// The line number of the case.
        #[schemars(range(min = 1))]
        case: u64,
        /// For people: the expected and the actual verdict.
        failed: String,
    },
    /// The summary of all cases.
    #[schemars(extend("not" = { "required": ["case"] }))]
    Summary {
        /// The number of cases.
        cases: u64,
        /// The number of failed cases.
        failed: u64,
        /// For each rule, by id, the number of cases whose call it matches.
        #[schemars(with = "BTreeMap<String, u64>")]
        rules: Map<String, Value>,
    },
}

impl Record for CaseResult {}

/// Tries each case; gives status 1 if one of them has another verdict.
pub(super) fn run(arguments: &TestArguments, report: &Arc<Report>) -> Result<Status, Failure> {
    let mut rules = RulesFile::open(&arguments.rules, report)?;
    let is_stdin = arguments.cases == Path::new("-");
    let place = if is_stdin { "stdin".into() } else { arguments.cases.to_string_lossy() };
    let read = if is_stdin {
        needs_input("cases")?;
        io::read_to_string(io::stdin())
    } else {
        std::fs::read_to_string(&arguments.cases)
    };
    let text = read.map_err(|error| usage(format_args!("{place}: {error}")))?;
    let (mut tried, mut failed, mut meant) = (0, 0, vec![0; rules.rules().len()]);
    let mut lines = String::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        tried += 1;
        match try_case(line, &mut rules, &mut meant) {
            Ok(None) => {}
            Ok(Some(difference)) => {
                failed += 1;
                report.fail();
                lines += &CaseResult::Failed { case: number, failed: difference }.line();
            }
            Err(why) => return Err(usage(format_args!("{place}:{number}: {why}"))),
        }
    }
    let count = |(rule, count): (&pipewright_policy::rules::Rule, &u64)| (rule.id.clone(), Value::from(*count));
    let counts = rules.rules().iter().zip(&meant).map(count).collect();
    for (rule, _) in rules.rules().iter().zip(&meant).filter(|(_, count)| **count == 0) {
        report.note(format_args!("no case matches rule {:?}", rule.id));
    }
    lines += &CaseResult::Summary { cases: tried, failed, rules: counts }.line();
    match stdout().and_then(|mut stdout| stdout.write_all(lines.as_bytes())) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(Status::Fault, format_args!("stdout: {error}")))
        }
        _ => Ok(report.finish()),
    }
}

/// How the verdict differs from the expected one, if it does.
fn try_case(line: &str, rules: &mut RulesFile, meant: &mut [u64]) -> Result<Option<String>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("not {{\"before\"?,\"call\",\"verdict\",\"rule\"?}}: {error}");
    let case: Case<'_> = serde_json::from_str(line).map_err(|error| wrong(&why_not_json(&error)))?;
    (rules.history, rules.waited) = (History::default(), 0);
    for earlier in case.before {
        if let Ok(Wait { wait }) = serde_json::from_str(earlier.get()) {
            rules.waited += wait.0;
            continue;
        }
        let (call, judged) = judged(earlier, rules).map_err(|why| wrong(&format_args!("before: {why}")))?;
        if judged.decision.verdict != Verdict::Deny {
            rules.passes(&call, &judged.counted, true);
        }
    }
    let (call, JudgedCall { decision, matching, .. }) = judged(case.call, rules).map_err(|why| wrong(&why))?;
    matching.into_iter().for_each(|index| meant[index] += 1);
    let is_meant = decision.verdict == case.verdict && case.rule.as_ref().is_none_or(|rule| *rule == decision.rule);
    let by = case.rule.map_or(String::new(), |rule| format!(" by {rule}"));
    Ok((!is_meant).then(|| {
        let (was, meant) = (decision.verdict.name(), case.verdict.name());
        format!("{}: {was} by {} ({}), not {meant}{by}", call.tool, decision.rule, decision.reason)
    }))
}

/// Reads and judges a call.
fn judged<'a>(json: &'a RawValue, rules: &mut RulesFile) -> Result<(Call<'a>, JudgedCall), String> {
    let call = recognise(json.get()).map_err(|error| error.to_string())?.ok_or("its call is not a call")?;
    rules.set_agent(agent_id(&call));
    let judged = judge(&call, &Builtin::default(), Some(rules), Hint::None);
    Ok((call, judged))
}
