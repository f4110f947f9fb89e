//! Finds the recorded calls that were not carried out as they were made: a gate refused them, a person rejected or
//! edited them, or their caller cancelled them.

use super::calls::{CallNews, OpenCalls, about, call, unreadable_call};
use pipewright_record::{Fields, Form};
use std::collections::HashMap;

/// Finds such calls in a conversation, line by line. Lines are identified by number.
#[derive(Debug, Default)]
pub struct Refusals {
    open: OpenCalls<RecordedCall>,
    found: HashMap<u64, LineKind>,
}

/// The kind of a line about such a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// The call.
    Call,
    /// The call, which cannot be read reliably: every gate refuses it, but another server may carry it out.
    Unreadable,
    /// Its answer, or an earlier line about it.
    About,
}

/// Whether a line is a gate's notice to the caller that a call waits for a person.
pub fn is_notice(line: &[u8]) -> bool {
    if memchr::memmem::find(line, b"waiting_human").is_none() {
        return false;
    }
    let Some(fields) = std::str::from_utf8(line).ok().and_then(|line| Fields::read(line).ok()) else { return false };
    let is = |key, value| fields.get(key).is_some_and(|found| found.get() == value);
    is("type", "\"status\"") && is("status", "\"waiting_human\"") && fields.get("nonce").is_none()
}

#[derive(Debug, Default)]
struct RecordedCall {
    /// The numbers of the call's line and of the lines about it.
    lines: Vec<u64>,
    is_refused: bool,
    /// The call waits for a person, who has not answered yet.
    is_held: bool,
    is_cancelled: bool,
    is_unreadable: bool,
    length: usize,
}

impl Refusals {
    /// Takes the next line, of the calling side or of the other.
    pub fn take_line(&mut self, number: u64, line: &[u8], is_caller: bool) {
        if is_caller && let Some(call) = call(line) {
            // A notification has no answer that could show a refusal.
            if call.form != Form::JsonRpc || call.id.is_some() {
                let is_held = call.requires_approval;
                self.open.push(
                    &call,
                    RecordedCall { lines: vec![number], is_held, length: line.len(), ..RecordedCall::default() },
                );
            }
            return;
        }
        if is_caller && let Some(error) = unreadable_call(line) {
            let call =
                RecordedCall { lines: vec![number], is_refused: true, is_unreadable: true, ..RecordedCall::default() };
            self.open.push(&error.call(), call);
            return;
        }
        let Some(about) = about(line).filter(|_| !self.open.is_empty()) else { return };
        if matches!(about.news, CallNews::Rejected | CallNews::Answered { refused: true }) {
            // Without ids it may be any of these. None that may have been refused is played.
            self.open.of(&about).for_each(|call| call.is_refused = true);
            if about.names_none()
                && self.open.first(&about).is_none()
                && let Some(call) = self.open.all().filter(|call| !call.is_refused).max_by_key(|call| call.length)
            {
                // The gate did not read the line, usually because it was too long. Then it is the longest.
                call.is_refused = true;
                call.lines.push(number);
            }
        }
        if let Some(call) = self.open.of(&about).next() {
            call.lines.push(number);
            match about.news {
                CallNews::Held => call.is_held = true,
                CallNews::Approved => call.is_held = false,
                CallNews::Cancelled => call.is_cancelled = true,
                _ => {}
            }
        }
        if let CallNews::Answered { .. } = about.news
            && let Some(call) = self.open.close(&about)
            && call.is_refused
        {
            add_lines(&mut self.found, &call);
        }
    }

    /// The lines about calls that were refused, rejected or cancelled, and about calls that were still waiting at the
    /// end: for a person, or behind a call that did.
    pub fn end(mut self) -> HashMap<u64, LineKind> {
        let first_held =
            self.open.all().filter(|call| call.is_held).filter_map(|call| call.lines.first().copied()).min();
        let waits =
            |call: &RecordedCall| first_held.is_some_and(|held| call.lines.first().is_some_and(|line| *line >= held));
        for call in self.open.all().filter(|call| call.is_refused || call.is_cancelled || waits(call)) {
            add_lines(&mut self.found, call);
        }
        self.found
    }
}

fn add_lines(found: &mut HashMap<u64, LineKind>, call: &RecordedCall) {
    let kind = if call.is_unreadable { LineKind::Unreadable } else { LineKind::Call };
    let kinds = std::iter::once(kind).chain(std::iter::repeat(LineKind::About));
    found.extend(call.lines.iter().copied().zip(kinds));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the lines that are found; `>` marks the caller's lines, and numbers of calls are negative.
    fn found(lines: &[&str]) -> Vec<i64> {
        let mut refusals = Refusals::default();
        for (number, line) in (1..).zip(lines) {
            refusals.take_line(number, &line.as_bytes()[1..], line.starts_with('>'));
        }
        let mut found: Vec<i64> = refusals
            .end()
            .into_iter()
            .map(|(number, line)| if line != LineKind::About { -(number as i64) } else { number as i64 })
            .collect();
        found.sort_by_key(|number| number.abs());
        found
    }

    #[test]
    fn a_call_that_may_have_been_executed_was_not_refused() {
        for kind in ["cancelled", "too_large"] {
            let answer =
                format!(r#"<{{"id":1,"tool":"a","status":"error","error":"x","kind":"{kind}","maybe_executed":true}}"#);
            let lines = [r#">{"id":1,"tool":"a"}"#, r#">{"type":"cancel","call_id":1}"#, &answer];
            assert_eq!(found(&lines), [0; 0], "{kind}");
        }
    }

    #[test]
    fn a_refused_call_is_found_in_every_form_by_its_id() {
        for (calls, answers) in [
            (
                [
                    r#">{"type":"tool_call","call_id":1,"tool_name":"a"}"#,
                    r#">{"type":"tool_call","call_id":2,"tool_name":"b"}"#,
                ],
                [
                    r#"<{"type":"tool_result","call_id":2,"status":"error","error":"no","kind":"denied"}"#,
                    r#"<{"type":"tool_result","call_id":1,"status":"ok","result":{"kind":"denied"}}"#,
                ],
            ),
            (
                [r#">{"id":"x","tool":"a"}"#, r#">{"id":"\u0079","tool":"a"}"#],
                [
                    r#"<{"id":"y","tool":"a","status":"error","error":"no","kind":"rejected"}"#,
                    r#"<{"id":"x","tool":"a","status":"ok","data":{"kind":"rejected"}}"#,
                ],
            ),
            (
                [r#">{"id":1,"tool":"a"}"#, r#">{"id":2,"tool":"a"}"#],
                [
                    r#"<{"id":2,"tool":"a","status":"error","error":"no","kind":"tool_error","data":{"kind":"rejected"}}"#,
                    r#"<{"id":1,"tool":"a","status":"error","error":"no","kind":"tool_error","data":{"kind":"lost"}}"#,
                ],
            ),
            (
                [r#">{"cmd":"a","id":1}"#, r#">{"cmd":"a","id":2}"#],
                [r#"<{"ok":false,"id":2,"error":"no","code":"needs_approval","events":[]}"#, r#"<{"ok":true,"id":1}"#],
            ),
            (
                [r#">{"id":1,"tool":"a"}"#, r#">{"id":2,"tool":"a"}"#],
                [
                    r#"<{"id":2,"tool":"a","status":"error","error":"no","kind":"tool_error","data":{"content":[],"isError":true,"_meta":{"kind":"denied"}}}"#,
                    r#"<{"id":1,"tool":"a","status":"error","error":"no","kind":"tool_error","data":{"content":[],"isError":true}}"#,
                ],
            ),
            (
                [
                    r#">{"id":1,"method":"tools/call","params":{"name":"a"}}"#,
                    r#">{"id":2,"method":"tools/call","params":{"name":"b"}}"#,
                ],
                [
                    r#"<{"id":2,"result":{"content":[],"isError":true,"_meta":{"kind":"needs_approval"}}}"#,
                    r#"<{"id":1,"result":{"content":[],"kind":"denied","_meta":{"kind":"denied"}}}"#,
                ],
            ),
            (
                [
                    r#">{"id":1,"method":"tools/call","params":{"name":"a"}}"#,
                    r#">{"id":2,"method":"tools/call","params":{"name":"b"}}"#,
                ],
                [
                    r#"<{"id":2,"error":{"code":-32000,"message":"no","data":{"kind":"rejected"}}}"#,
                    r#"<{"id":1,"error":{"code":-32000,"message":"no","data":{"kind":"timeout"}}}"#,
                ],
            ),
        ] {
            assert_eq!(found(&[calls, answers].concat()), [-2, 3], "{calls:?}");
        }
    }

    #[test]
    fn a_gates_records_about_a_refused_call_are_found_too() {
        let lines = [
            r#">{"id":1,"tool":"pay"}"#,
            r#"<{"type":"policy_request","call_id":1,"tool_name":"pay","policy":{}}"#,
            r#"<{"type":"status","status":"waiting_human","call_id":1,"nonce":"n","tool_name":"pay"}"#,
            r#"<{"type":"observation","source":"x","data":{}}"#,
            r#">{"type":"hitl_response","call_id":1,"nonce":"n","action":"reject"}"#,
            r#"<{"type":"status","status":"rejected","call_id":1}"#,
            r#"<{"type":"policy_result","call_id":1,"verdict":"rejected","by":"terminal"}"#,
            r#"<{"id":1,"tool":"pay","status":"error","error":"no","kind":"rejected"}"#,
            r#"<{"type":"status","status":"running"}"#,
        ];
        let all = [-1, 2, 3, 5, 6, 7, 8];
        assert_eq!(found(&lines), all);
        // If the recording ends before the answer, or before a person's decision, the call was not carried out either.
        assert_eq!(found(&lines[..7]), all[..6]);
        assert_eq!(found(&lines[..4]), all[..3]);
        let approved = [lines[0], lines[2], r#"<{"type":"status","status":"approved","call_id":1}"#];
        assert!(found(&approved).is_empty());
        // The call that passed was a different one.
        let ok = r#"<{"id":1,"tool":"pay","status":"ok","data":1}"#;
        for edited in [
            r#"<{"type":"status","status":"edited_by_human","call_id":1}"#,
            r#"<{"type":"policy_result","call_id":1,"verdict":"edited"}"#,
        ] {
            assert_eq!(found(&[lines[0], lines[2], edited, ok]), [-1, 2, 3, 4]);
        }
    }

    #[test]
    fn without_ids_the_order_decides_or_all_possible_calls_are_refused() {
        let (a, b) = (r#">{"tool":"a"}"#, r#">{"tool":"b"}"#);
        let (ok_a, no_a) = (
            r#"<{"tool":"a","status":"ok","data":1}"#,
            r#"<{"tool":"a","status":"error","error":"no","kind":"rejected"}"#,
        );
        let ok_b = r#"<{"tool":"b","status":"ok","data":1}"#;
        assert_eq!(found(&[a, ok_a, a, no_a, a, ok_a]), [-3, 4]);
        assert_eq!(found(&[b, a, no_a, ok_b]), [-2, 3], "another tool");
        assert_eq!(found(&[a, a, ok_a, no_a]), [-2, 4]);
        assert_eq!(
            found(&[a, a, no_a, ok_a, a, ok_a]),
            [-1, -2, 3, 4],
            "a gate's refusal overtakes the calls that it passed"
        );
        let godot = [r#">{"cmd":"a"}"#, r#"<{"ok":false,"error":"no","code":"denied"}"#];
        assert_eq!(found(&godot), [-1, 2]);
        assert!(found(&[godot[0], no_a]).is_empty(), "an answer of another form");
        let notification = r#">{"method":"tools/call","params":{"name":"a"}}"#;
        assert!(
            found(&[notification, r#"<{"id":null,"error":{"code":1,"message":"","data":{"kind":"denied"}}}"#])
                .is_empty()
        );
    }

    #[test]
    fn an_unreadable_call_is_found_with_its_answer() {
        let no = r#"<{"type":"tool_result","status":"error","error":"line 1: no","kind":"bad_input"}"#;
        for unreadable in [
            r#">{"tool":"ls","tool":"rm","id":1}"#,
            r#">{"t\u006fol":"ls","tool":"rm","id":1}"#,
            r#">[{"tool":"rm"}]"#,
            r#">{"tool":"rm",}"#,
        ] {
            let lines = [unreadable, no, r#">{"tool":"a"}"#, r#"<{"tool":"a","status":"ok","data":1}"#];
            assert_eq!(found(&lines), [-1, 2], "{unreadable}");
            assert_eq!(found(&lines[..1]), [-1]);
        }
        let deep = format!(">{{\"tool\":\"rm\",\"args\":{}{}}}", "[".repeat(600), "]".repeat(600));
        assert_eq!(found(&[&deep, no]), [-1, 2]);
        let rpc = r#">{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#;
        let answer = r#"<{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no","data":{"kind":"bad_input"}}}"#;
        assert_eq!(found(&[rpc, answer]), [-1, 2]);
        // The moves of a game are not calls.
        for other in ["choose 0", "[3,4]", r#"{"x":1,"x":2}"#, r#"{"type":7}"#, "use tool", "7"] {
            assert!(found(&[&format!(">{other}")]).is_empty(), "{other}");
        }
    }

    #[test]
    fn calls_that_were_cancelled_or_waiting_at_the_end_are_found() {
        let (call, cancel) = (r#">{"id":1,"tool":"a"}"#, r#">{"type":"cancel","call_id":1}"#);
        let answer = r#"<{"id":1,"tool":"a","status":"error","error":"cancelled","kind":"cancelled"}"#;
        assert_eq!(found(&[call, cancel, answer]), [-1, 2, 3]);
        assert_eq!(found(&[call, cancel]), [-1, 2]);
        let (ok, other) = (r#"<{"id":1,"tool":"a","status":"ok","data":1}"#, r#">{"id":2,"tool":"b"}"#);
        assert!(found(&[call, cancel, ok]).is_empty(), "the cancel request came too late");
        let rpc = r#">{"id":1,"method":"tools/call","params":{"name":"a"}}"#;
        assert_eq!(found(&[rpc, r#">{"method":"notifications/cancelled","params":{"requestId":1}}"#]), [-1, 2]);
        let marked = r#">{"id":1,"tool":"a","requires_approval":true}"#;
        assert_eq!(found(&[r#">{"id":0,"tool":"b"}"#, marked, other]), [-2, -3]);
        assert!(found(&[marked, ok, other]).is_empty());
    }

    #[test]
    fn calls_that_failed_otherwise_were_made() {
        for kind in ["timeout", "tool_error", "lost", "invalid_args"] {
            let answer = format!(r#"<{{"id":1,"tool":"a","status":"error","error":"rejected","kind":"{kind}"}}"#);
            assert!(found(&[r#">{"id":1,"tool":"a"}"#, &answer]).is_empty(), "{kind}");
        }
    }
}
