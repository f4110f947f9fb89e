use super::*;
use pipewright_io::report::Status;
use pipewright_lines::Line;
use pipewright_policy::Verdict;
use pipewright_policy::audit::{Did, Mode, Subject, Summary, Verification, digest};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

fn open(path: &Path) -> Result<Audit, String> {
    Audit::open(path, "policy-check", &Report::new("policy-check", false)).map_err(|failure| {
        assert_eq!(failure.status, Status::Usage);
        failure.to_string()
    })
}

fn refused() -> Event<'static> {
    Event::Verdict {
        subject: Subject { call_id: None, tool: Some("pay"), digest: digest("") },
        form: None,
        verdict: Verdict::Deny,
        rule: "r",
        reason: "why",
        kind: None,
        severity: None,
        mode: Mode::Enforce,
        did: Did::Refused,
    }
}

fn verify(path: &Path) -> Summary {
    let mut verification = Verification::of(1, "hitl-gate");
    for (line, number) in std::fs::read(path).unwrap().split_inclusive(|&byte| byte == b'\n').zip(1..) {
        verification.line(0, &Line::new(line, number));
    }
    verification.end_file(0);
    verification.finish().remove(0)
}

fn new_path() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    (folder, path)
}

#[test]
fn later_sessions_continue_the_chain() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = new_path();
    for session in 1..=3 {
        let mut audit = open(&path).unwrap();
        audit.write(&refused()).unwrap();
        audit.end().unwrap();
        let summary = verify(&path);
        assert!(summary.is_well() && summary.ended);
        assert_eq!((summary.entries, summary.verdicts.deny), (session * 3, session));
    }
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn the_chain_continues_after_a_torn_last_line() {
    let (_folder, path) = new_path();
    let mut audit = open(&path).unwrap();
    audit.write(&refused()).unwrap();
    drop(audit);
    let whole = std::fs::read(&path).unwrap();
    let first_line = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    // Torn in the first line, in the last, and before its line feed.
    for (end, entries) in [(20, 0), (first_line - 1, 0), (first_line + 70, 1), (whole.len() - 1, 1)] {
        std::fs::write(&path, &whole[..end]).unwrap();
        let report = Report::new("policy-check", false);
        Audit::open(&path, "policy-check", &report).unwrap().end().unwrap();
        assert_eq!(report.faults(), 1, "the torn line is reported");
        let summary = verify(&path);
        assert!(summary.is_well());
        assert_eq!(summary.entries, entries + 2);
    }
    let torn = std::fs::read_to_string(path.with_extension("jsonl.torn")).unwrap();
    assert_eq!(torn.lines().count(), 4, "the torn lines are kept");
}

#[test]
fn a_file_that_was_changed_at_its_end_is_refused_and_left_as_it_is() {
    let (_folder, path) = new_path();
    let mut audit = open(&path).unwrap();
    audit.write(&refused()).unwrap();
    audit.end().unwrap();
    drop(audit);
    let whole = std::fs::read_to_string(&path).unwrap();
    let last = whole.trim_end().rfind('\n').unwrap() + 1;
    let changed = [
        format!("{}{}", &whole[..last], whole[last..].replace("end", "eng")),
        whole.trim_end().to_owned() + "\r\n",
        format!("{whole}\n"),
        format!("{whole}{{}}\n"),
        // The last line is torn as well: the line before it is checked.
        format!("{whole}{{}}\n{{\"seq\""),
    ];
    for changed in changed {
        std::fs::write(&path, &changed).unwrap();
        let message = open(&path).unwrap_err();
        let name = path.display();
        assert!(message.starts_with(&format!("--audit: {name}: its last line: ")), "{message}");
        assert!(message.ends_with(&format!("Run `policy-check verify {name}`, and give a new file")), "{message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), changed);
        assert!(!path.with_extension("jsonl.torn").exists());
    }
    for other in ["{\"n\":1}\n", "a note without a line feed", "\n"] {
        std::fs::write(&path, other).unwrap();
        let message = open(&path).unwrap_err();
        assert_eq!(message, format!("--audit: {}: not an audit of a gate; give another file", path.display()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
    }
}

#[test]
fn a_last_line_of_any_length_is_found() {
    let (_folder, path) = new_path();
    let mut audit = open(&path).unwrap();
    let long = "x".repeat(3 << 20);
    let Event::Verdict { subject, form, verdict, rule, kind, severity, mode, did, .. } = refused() else { return };
    audit.write(&Event::Verdict { subject, form, verdict, rule, reason: &long, kind, severity, mode, did }).unwrap();
    drop(audit);
    open(&path).unwrap().end().unwrap();
    assert!(verify(&path).is_well());
}

#[test]
fn a_failed_write_is_an_error_and_leaves_no_gap() {
    let full = open(Path::new("/dev/full")).unwrap_err();
    assert_eq!(full, "--audit: /dev/full: No space left on device (os error 28)");
    let nowhere = open(Path::new("/nowhere/audit")).unwrap_err();
    assert_eq!(nowhere, "--audit: /nowhere/audit: No such file or directory (os error 2)");

    let (_folder, path) = new_path();
    let mut audit = open(&path).unwrap();
    let (full, _) = Appender::resume(Path::new("/dev/full")).unwrap();
    let file = std::mem::replace(&mut audit.file, full);
    for _ in 0..2 {
        let error = audit.write(&refused()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
    // There is space again.
    audit.file = file;
    audit.write(&refused()).unwrap();
    audit.end().unwrap();
    let summary = verify(&path);
    assert!(summary.is_well());
    assert_eq!(summary.entries, 3);
}

/// The file that this test program writes to when it plays the gate.
const GATE: &str = "PIPEWRIGHT_TEST_AUDIT";

/// Another process, which writes until it is killed.
fn other_process(path: &Path) -> std::process::Child {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| std::env::current_exe().unwrap());
    let mut command = Command::new(program);
    command.args(["--exact", "cmd::audit::tests::another_process_is_kept_out_until_it_is_killed", "--nocapture"]);
    command.env(GATE, path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

#[test]
fn another_process_is_kept_out_until_it_is_killed() {
    if let Some(path) = std::env::var_os(GATE) {
        return run_other_process(Path::new(&path));
    }
    let (_folder, path) = new_path();
    let mut other = other_process(&path);
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    let mut wait_for = |word: &str| lines.find(|line| line.as_ref().unwrap().ends_with(word)).unwrap().unwrap();
    wait_for("written 100");
    let message = open(&path).unwrap_err();
    let expected = format!("--audit: {}: another process writes to it; give each gate its own file", path.display());
    assert_eq!(message, expected);
    other.kill().unwrap();
    other.wait().unwrap();
    let left = verify(&path);
    assert!(left.is_well() && !left.ended, "all of its lines are complete");
    assert!(left.entries > 100, "every line that it reported is in the file");
    open(&path).unwrap().end().unwrap();
    assert_eq!(verify(&path).entries, left.entries + 2);
    assert!(verify(&path).is_well());
}

fn run_other_process(path: &Path) {
    let mut audit = open(path).unwrap();
    for number in 1.. {
        audit.write(&refused()).unwrap();
        if writeln!(io::stdout(), "written {number}").is_err() {
            return;
        }
    }
}
