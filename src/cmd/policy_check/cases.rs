//! `policy-check test RULES CASES`: whether rules give the expected verdicts, and which rules no case matches.

use crate::cmd::needs_input;
use crate::cmd::rules_file::{Judged, RulesFile, agent_id, judge};
use crate::io::descriptor::stdout;
use crate::io::report::{Failure, Report, Status};
use crate::json::why_none;
use crate::policy::Verdict;
use crate::policy::annotations::Hint;
use crate::policy::builtin::Builtin;
use crate::record::recognise;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub struct TestArguments {
    /// The rules file
    rules: PathBuf,
    /// One case per line: {"call":{...},"verdict":"allow|confirm|deny","rule"?:"id"}; `-` is stdin
    cases: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case<'a> {
    #[serde(borrow)]
    call: &'a RawValue,
    verdict: Verdict,
    rule: Option<String>,
}

/// Tries each case; gives status 1 if one of them has another verdict.
pub fn run(arguments: &TestArguments, report: &Arc<Report>) -> Result<Status, Failure> {
    let mut rules = RulesFile::open(&arguments.rules, report)?;
    let is_stdin = arguments.cases == Path::new("-");
    let place = if is_stdin { "stdin".into() } else { arguments.cases.to_string_lossy() };
    let read = if is_stdin {
        needs_input("cases")?;
        io::read_to_string(io::stdin())
    } else {
        std::fs::read_to_string(&arguments.cases)
    };
    let text = read.map_err(|error| Failure::new(Status::Usage, format_args!("{place}: {error}")))?;
    let (mut tried, mut failed, mut meant) = (0, 0, vec![0; rules.rules().len()]);
    let mut lines = String::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        tried += 1;
        match try_case(line, &mut rules, &mut meant) {
            Ok(None) => {}
            Ok(Some(difference)) => {
                failed += 1;
                report.fail();
                lines += &format!("{}\n", json!({"case": number, "failed": difference}));
            }
            Err(why) => return Err(Failure::new(Status::Usage, format_args!("{place}:{number}: {why}"))),
        }
    }
    let count = |(rule, count): (&crate::policy::rules::Rule, &u64)| (rule.id.clone(), json!(count));
    let counts: serde_json::Map<_, _> = rules.rules().iter().zip(&meant).map(count).collect();
    for (rule, _) in rules.rules().iter().zip(&meant).filter(|(_, count)| **count == 0) {
        report.note(format_args!("no case matches rule {:?}", rule.id));
    }
    lines += &format!("{}\n", json!({"cases": tried, "failed": failed, "rules": counts}));
    match stdout().and_then(|mut stdout| stdout.write_all(lines.as_bytes())) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(Status::Fault, format_args!("stdout: {error}")))
        }
        _ => Ok(report.finish()),
    }
}

/// How the verdict differs from the expected one, if it does.
fn try_case(line: &str, rules: &mut RulesFile, meant: &mut [u64]) -> Result<Option<String>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("not {{\"call\",\"verdict\",\"rule\"?}}: {error}");
    let case: Case<'_> = serde_json::from_str(line).map_err(|error| wrong(&why_none(&error)))?;
    let call =
        recognise(case.call.get()).map_err(|error| wrong(&error))?.ok_or_else(|| wrong(&"its call is not a call"))?;
    rules.set_agent(agent_id(&call));
    let Judged { decision, matching, .. } = judge(&call, &Builtin::default(), Some(rules), Hint::None);
    matching.into_iter().for_each(|index| meant[index] += 1);
    let is_meant = decision.verdict == case.verdict && case.rule.as_ref().is_none_or(|rule| *rule == decision.rule);
    let by = case.rule.map_or(String::new(), |rule| format!(" by {rule}"));
    Ok((!is_meant).then(|| {
        let (was, meant) = (decision.verdict.name(), case.verdict.name());
        format!("{}: {was} by {} ({}), not {meant}{by}", call.tool, decision.rule, decision.reason)
    }))
}
