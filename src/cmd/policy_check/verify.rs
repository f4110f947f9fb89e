//! `policy-check verify`: whether audits are unchanged and complete, and what they contain.

use crate::cmd::usage;
use pipewright_io::output::Output;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::{Limits, Piece, Splitter};
use pipewright_policy::audit::{AuditVerification, Summary, Verification};
use pipewright_record::Record;
use pipewright_sys::descriptor::Descriptor;
use pipewright_sys::signal::Signals;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Audits of gates that worked on the same calls
#[derive(Debug, Clone, clap::Args)]
pub struct VerifyArguments {
    /// Audit files; name those of policy-check and of hitl-gate together to check that each marked call was approved or rejected
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// The command whose audits contain how questions to a person were settled.
const ASKER: &str = "hitl-gate";
/// Ids and feedback make long lines, but none longer than this.
const MAX_LINE: usize = 64 << 20;

/// Writes a JSON line on stdout for each file with its contents, and on stderr what is wrong with it.
///
/// # Errors
/// [`usage`] if a file can't be opened, [`Status::Fault`] if it can't be read to its end.
pub fn run(arguments: &VerifyArguments, signals: &Signals, report: &Report) -> Result<Status, Failure> {
    let audits = arguments.files.iter().map(|path| Audit::open(path)).collect::<Result<Vec<Audit>, Failure>>()?;
    let output = Output::open(signals)?;
    let found = verify(audits)?;
    for (name, summary) in &found {
        print_summary(name, summary, report);
    }
    let written = found.iter().try_for_each(|(name, summary)| output.write(|out| write(name, summary, out)));
    match written.and_then(|()| output.flush()) {
        Ok(()) => Ok(report.finish()),
        Err(closed) => closed.end(report),
    }
}

/// An audit that is being read.
struct Audit {
    name: String,
    from: Descriptor,
    splitter: Splitter,
}

impl Audit {
    fn open(path: &Path) -> Result<Audit, Failure> {
        let name = path.display().to_string();
        let failed = |error: io::Error| usage(format_args!("{name}: {error}"));
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let limits = Limits { max_line: MAX_LINE, ..Limits::default() };
        Ok(Audit { from: Descriptor::new(file), splitter: Splitter::new(limits), name })
    }

    /// Gives `verification` the next line, the next part of an over-long one, or the end of the file.
    fn step(&mut self, number: usize, verification: &mut Verification) -> Result<(), Failure> {
        let mut is_read = false;
        loop {
            match self.splitter.next() {
                Some(Piece::Line(line)) => verification.line(number, &line),
                Some(Piece::Part { number: line, last: true, .. }) => verification.too_long(number, line),
                Some(Piece::Part { .. }) => {}
                None if is_read => verification.end_file(number),
                None => {
                    let read = self.splitter.fill(&mut self.from);
                    let failed = |error| Failure::new(Status::Fault, format_args!("{}: {error}", self.name));
                    is_read = read.map_err(failed)? == 0;
                    continue;
                }
            }
            return Ok(());
        }
    }
}

/// Reads the audits side by side.
fn verify(mut audits: Vec<Audit>) -> Result<Vec<(String, Summary)>, Failure> {
    let mut verification = Verification::of(audits.len(), ASKER);
    while let Some(number) = verification.next() {
        audits[number].step(number, &mut verification)?;
    }
    Ok(audits.into_iter().map(|audit| audit.name).zip(verification.finish()).collect())
}

fn print_summary(name: &str, summary: &Summary, report: &Report) {
    if let Some(broken) = &summary.broken {
        let message = format_args!("the chain is broken here: {}; the lines after it prove nothing", broken.why);
        report.fault(format_args!("{name}:{}", broken.line), message);
    }
    for call in &summary.unapproved {
        report.fault(format_args!("{name}:{}", call.line), call);
    }
    if summary.more_unapproved > 0 {
        report.fault(name, format_args!("{} more calls passed without approval", summary.more_unapproved));
    }
    match summary.torn {
        Some(line) => report.fault(
            format_args!("{name}:{line}"),
            "the last line is torn: its writer was stopped in the middle (a gate that continues the file sets it \
             aside)",
        ),
        None if !summary.ended && summary.broken.is_none() => report.note(format_args!(
            "{name}: no end: the gate is running, or was killed, or lines were cut off (last hash, to compare: {})",
            summary.last_hash.as_deref().unwrap_or("none")
        )),
        None => {}
    }
    if summary.unanswered > 0 {
        report.note(format_args!(
            "{name}: {} questions have no answer: the gate is still asking, or was killed meanwhile; these calls did \
             not pass",
            summary.unanswered
        ));
    }
    if summary.unchecked > 0 {
        report.note(format_args!(
            "{name}: {} calls were marked for approval: also name the audit of hitl-gate, to check that a person was asked",
            summary.unchecked
        ));
    }
}

fn write(name: &str, summary: &Summary, out: &mut Vec<u8>) {
    out.extend_from_slice(AuditVerification { file: name, summary }.line().as_bytes());
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use pipewright_policy::Verdict;
    use pipewright_policy::audit::{Broken, Chain, Did, Event, Fault, Mode, SettledBy, Settlement, Subject, digest};
    use serde_json::{Value, json};

    const TIME: &str = "2026-11-22T01:00:00.000000Z";

    fn write_audit(path: &Path, command: &str, events: &[Event<'_>]) {
        let mut chain = Chain::begin();
        let start = [Event::start(command, "0.1.0")];
        let events = start.iter().chain(events).chain([&Event::End]);
        let lines: String = events.map(|event| chain.link(&event.fields(TIME)) + "\n").collect();
        std::fs::write(path, lines).unwrap();
    }

    fn subject() -> Subject<'static> {
        Subject { call_id: None, tool: Some("pay"), digest: digest("{}") }
    }

    fn marked() -> Event<'static> {
        Event::Verdict {
            subject: subject(),
            form: None,
            verdict: Verdict::Confirm,
            rule: "r",
            reason: "why",
            kind: None,
            severity: None,
            mode: Mode::Enforce,
            did: Did::Marked,
        }
    }

    fn approved() -> [Event<'static>; 2] {
        let (verdict, by) = (Settlement::Approved, SettledBy::Answers);
        [
            Event::Settled { subject: subject(), verdict, by, feedback: None, digest_after: None },
            Event::Passed { subject: subject(), required_approval: true },
        ]
    }

    fn rows(files: &[&Path]) -> Vec<Value> {
        let audits = files.iter().map(|path| Audit::open(path).unwrap()).collect();
        let mut out = Vec::new();
        for (name, summary) in verify(audits).unwrap() {
            write(&name, &summary, &mut out);
        }
        out.split_inclusive(|&byte| byte == b'\n').map(|row| serde_json::from_slice(row).unwrap()).collect()
    }

    fn status(files: &[&Path]) -> Status {
        let files = files.iter().map(|path| path.to_path_buf()).collect();
        match run(&VerifyArguments { files }, &Signals::hold().unwrap(), &Report::new("policy-check", true)) {
            Ok(status) => status,
            Err(failure) => failure.status,
        }
    }

    #[test]
    fn audits_are_checked_against_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let (policy, gate) = (folder.path().join("policy.jsonl"), folder.path().join("gate.jsonl"));
        write_audit(&policy, "policy-check", &[marked(), marked()]);
        write_audit(&gate, "hitl-gate", &approved());

        let alone = rows(&[&policy]).remove(0);
        assert_eq!((&alone["unchecked"], &alone["unapproved"]), (&json!(2), &json!([])));
        assert_eq!(alone["verdicts"], json!({"allow": 0, "confirm": 2, "deny": 0}));
        assert_eq!(status(&[&policy]), Status::Success);

        let both = rows(&[&policy, &gate]);
        assert_eq!(both[0]["file"], json!(policy));
        let lacking = json!([{"line": 3, "call_id": null, "tool": "pay", "lack": "settlement"}]);
        assert_eq!(both[0]["unapproved"], lacking);
        assert_eq!((&both[1]["approved"], &both[1]["passed"]), (&json!(1), &json!(1)));
        assert_eq!(status(&[&policy, &gate]), Status::Fault);
        assert_eq!(status(&[&gate]), Status::Success);
    }

    #[test]
    fn a_broken_chain_is_reported_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.jsonl");
        write_audit(&path, "hitl-gate", &approved());
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("answers", "nobody!")).unwrap();
        let row = rows(&[&path]).remove(0);
        assert_eq!(
            row["broken"],
            json!({"line": 2, "why": "its hash is not that of its content: the line was changed"})
        );
        assert_eq!(status(&[&path]), Status::Fault);
        std::fs::write(&path, &text[..text.len() - 1]).unwrap();
        let row = rows(&[&path]).remove(0);
        assert_eq!((&row["torn"], row.get("broken")), (&json!(4), None));
        assert_eq!(status(&[&path]), Status::Fault);
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_a_usage_error() {
        assert_eq!(status(&[Path::new("/nowhere/audit")]), Status::Usage);
        assert_eq!(status(&[Path::new("/")]), Status::Usage);
    }

    #[test]
    fn an_overlong_line_is_reported_and_the_rest_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.jsonl");
        write_audit(&path, "hitl-gate", &approved());
        let text = std::fs::read_to_string(&path).unwrap();
        let longest = text.lines().map(str::len).max().unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines[1] = "x".repeat(longest + 1);
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let mut audit = Audit::open(&path).unwrap();
        audit.splitter = Splitter::new(Limits { max_line: longest, ..Limits::default() });
        let (_, summary) = verify(vec![audit]).unwrap().remove(0);
        assert_eq!(summary.broken, Some(Broken { line: 2, why: Fault::TooLong }));
        assert_eq!((summary.entries, summary.ended), (3, true));
    }
}
