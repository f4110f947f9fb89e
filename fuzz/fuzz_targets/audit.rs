//! Audits. For any files, verifying them ends and counts at most the existing lines. For any input, a gate's audit is valid, and
//! no line of it can be changed or removed unnoticed.
//!
//! Input: a byte that selects the test; then either files with 0xff between them, or what to change (a byte) and texts, one per
//! line, or the fields of a line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_lines::Line;
use pipewright_policy::audit::{Chain, Event, Link, SettledBy, Settlement, Subject, Summary, Verification, digest};
use serde_json::value::RawValue;

fuzz_target!(|input: &[u8]| {
    match input {
        [how, files @ ..] if how % 3 == 0 => check_any(files),
        [how, change, texts @ ..] if how % 3 == 1 => check_gate(&String::from_utf8_lossy(texts), usize::from(*change)),
        [_, fields @ ..] => check_link(&String::from_utf8_lossy(fields)),
        [] => {}
    }
});

fn verify(files: &[&[u8]]) -> Vec<Summary> {
    let mut verification = Verification::of(files.len(), "hitl-gate");
    let mut lines: Vec<_> = files.iter().map(|file| file.split_inclusive(|&byte| byte == b'\n').zip(1..)).collect();
    while let Some(file) = verification.next() {
        match lines[file].next() {
            Some((line, number)) => verification.line(file, &Line::new(line, number)),
            None => verification.end_file(file),
        }
    }
    verification.finish()
}

fn check_any(bytes: &[u8]) {
    let files: Vec<&[u8]> = bytes.split(|&byte| byte == 0xff).collect();
    for (file, summary) in files.iter().zip(verify(&files)) {
        let lines = file.iter().filter(|&&byte| byte == b'\n').count() as u64;
        assert!(summary.entries <= lines);
        assert!(
            summary.broken.is_some() || summary.entries == lines,
            "a line is not an entry, but the chain is unbroken"
        );
        assert_eq!(summary.torn.is_some(), !file.is_empty() && !file.ends_with(b"\n"));
        serde_json::to_string(&summary).expect("it can be printed");
    }
}

/// A gate that handles each text according to its first byte.
fn check_gate(texts: &str, change: usize) {
    let mut chain = Chain::begin();
    let mut lines = vec![chain.link(&Event::start("hitl-gate", texts).fields("1"))];
    let mut unapproved = 0;
    for text in texts.lines() {
        let call_id = serde_json::from_str::<&RawValue>(text).ok();
        let subject = || Subject { call_id, tool: Some(text), digest: digest(text) };
        let settled = |verdict| {
            let (by, feedback) = (SettledBy::Answers, Some(text));
            Event::Settled { subject: subject(), verdict, by, feedback, digest_after: None }
        };
        let passed = || Event::Passed { subject: subject(), required_approval: true };
        let events = match text.as_bytes().first().map_or(0, |byte| byte % 4) {
            0 => vec![Event::Asked { subject: subject(), nonce: text }, settled(Settlement::Rejected)],
            1 => vec![settled(Settlement::Approved), passed()],
            2 => vec![Event::Passed { subject: subject(), required_approval: false }],
            _ => {
                unapproved += 1;
                vec![passed()]
            }
        };
        lines.extend(events.iter().map(|event| chain.link(&event.fields(text))));
    }
    let file = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let whole = file(&lines);
    let [summary] = &verify(&[whole.as_bytes()])[..] else { panic!("one file, one summary") };
    assert!(summary.broken.is_none(), "{:?}: {whole}", summary.broken);
    assert_eq!(summary.entries, lines.len() as u64);
    assert_eq!(summary.unapproved.len() as u64 + summary.more_unapproved, unapproved, "{whole}");
    check_changed(&lines, change, &file);
}

/// Changes any line except the last; without that one, the chain is still unbroken.
fn check_changed(lines: &[String], change: usize, file: &dyn Fn(&[String]) -> String) {
    let Some(most) = lines.len().checked_sub(1).filter(|&most| most > 0) else { return };
    let line = change % most;
    let mut without = lines.to_vec();
    without.remove(line);
    let mut changed = lines.to_vec();
    changed[line] = changed[line].replacen('"', "'", 1 + change % 7);
    for lines in [without, changed] {
        let text = file(&lines);
        let broken = verify(&[text.as_bytes()]).remove(0).broken.expect("it was changed");
        assert_eq!(broken.line, line as u64 + 1, "{text}");
    }
}

fn check_link(fields: &str) {
    let mut chain = Chain::resume(&"a".repeat(64), 41);
    let line = chain.link(fields);
    assert!(!line.contains(['\n', '\r']));
    let link = Link::read(&line).expect("it was just written");
    assert_eq!((link.seq, link.next()), (41, Ok(chain)));
}
