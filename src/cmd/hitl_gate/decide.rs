//! From a call that waits to its end: asked about, answered, passed or rejected.

use super::asker::Question;
use super::gate::{Gate, Pending, unnoted};
use super::noted::Noted;
use super::records::{self, By, Verdict};
use super::waiting::{Held, arguments, is_same};
use crate::io::lines::{Line, Piece, deeper_than};
use crate::io::report::Failure;
use crate::io::session::token;
use crate::io::stage::Out;
use crate::policy::arguments::merged;
use crate::policy::marks::{settle, with_arguments};
use crate::record::{Action, Call, HitlResponse, Kind, Unreadable, recognise};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::time::Instant;

/// Of bytes, as 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Gate {
    /// Lets pass what has its turn, and asks about the first call that needs it.
    pub(super) fn advance(&mut self, out: &mut Out) {
        while self.pending.is_none()
            && let Some(first) = self.calls.first()
        {
            if first.marked {
                self.ask(out);
            } else if let Some(held) = self.calls.pop() {
                with_call(&held, |call, line| self.pass_call(call, line, out));
            }
        }
    }

    /// Asks about the first call that waits; where that can't be, it doesn't wait any more.
    fn ask(&mut self, out: &mut Out) {
        if self.asker.is_none() && !self.has_channel && !self.settings.near_answers {
            return self.reject_first(By::Nobody, &self.nobody(), out);
        }
        let Some(held) = self.calls.first() else { return };
        let text = held.text().into_owned();
        // It was a call when it came.
        let Ok(Some(call)) = recognise(&text) else { return drop(self.calls.pop()) };
        let question = token().and_then(|nonce| Ok((nonce, token()?)));
        let sha256 = sha256(arguments(&call).as_bytes());
        let asked = match &question {
            Ok((nonce, _)) => self.note(Noted::Asked { call: &call, nonce, sha256: &sha256 }),
            Err(error) => Err(Failure::new(crate::io::report::Status::Fault, format_args!("/dev/urandom: {error}"))),
        };
        let (Ok((nonce, terminal_nonce)), Ok(())) = (question, &asked) else {
            let why = asked.err().map_or_else(String::new, |failure| unnoted(&failure));
            return self.drop_first(Kind::Denied, &why, out);
        };
        self.tell(&records::waiting(&call, &nonce, &sha256), out);
        if let Some(asker) = &mut self.asker {
            let (nonce, sha256) = (terminal_nonce.clone(), sha256.clone());
            asker.ask(Question { nonce, sha256, call: text.clone(), timeout: self.settings.timeout });
        }
        let until = self.settings.timeout.map(|timeout| Instant::now() + timeout);
        self.pending = Some(Pending { nonce, terminal_nonce, sha256, until });
    }

    fn nobody(&self) -> String {
        format!(
            "it needs a person's approval, and there is nobody to ask: {}; or have somebody answer on --answers FIFO",
            self.no_terminal
        )
    }

    /// Takes a line of those who answer.
    pub(super) fn take_answer_line(&mut self, piece: &Piece<'_>, out: &mut Out) {
        match piece {
            // The terminal's way to say that it isn't there; from anybody else it says nothing.
            Piece::Line(line) if line.is_blank() => self.look_at_terminal(out),
            Piece::Line(line) => {
                let place = format!("answers:{}", line.number());
                if deeper_than(line.body(), self.settings.limits.max_depth) {
                    return self.report.fault(place, "nested deeper than --max-depth");
                }
                match std::str::from_utf8(line.body()) {
                    Ok(body) => self.take_answer(&place, HitlResponse::read(body), out),
                    Err(_) => self.report.fault(place, "it is no UTF-8"),
                }
            }
            Piece::Part { last: true, number, .. } => {
                self.report.fault(format_args!("answers:{number}"), "longer than --max-line");
            }
            Piece::Part { .. } => {}
        }
    }

    /// Takes an answer: a wrong one is told, and changes nothing.
    pub(super) fn take_answer(
        &mut self,
        place: &str,
        answer: Result<Option<HitlResponse<'_>>, Unreadable>,
        out: &mut Out,
    ) {
        let wrong = match answer {
            Ok(Some(answer)) => match self.who_answers(&answer) {
                Ok(by) => return self.decide(&answer, by, out),
                Err(why) => why.to_owned(),
            },
            Ok(None) => "it is no hitl_response".to_owned(),
            Err(error) => error.to_string(),
        };
        self.report.fault(place, format_args!("not taken for an answer: {wrong}"));
    }

    /// Whether it answers the question that is open, and who does.
    fn who_answers(&self, answer: &HitlResponse<'_>) -> Result<By, &'static str> {
        let (Some(pending), Some(first)) = (&self.pending, self.calls.first()) else {
            return Err("no question is open");
        };
        let by = match answer.nonce.as_str() {
            nonce if nonce == pending.terminal_nonce => By::Terminal,
            nonce if nonce == pending.nonce => By::Answers,
            "" => return Err("it has no nonce: that of the question belongs into it"),
            _ => return Err("its nonce isn't that of the question that is open"),
        };
        let text = first.text();
        let id = recognise(&text).ok().flatten().and_then(|call| call.id.map(RawValue::get));
        if !is_same(answer.call_id.map(RawValue::get), id) {
            return Err("its call_id isn't that of the call that waits");
        }
        if answer.arguments_sha256.as_ref().is_some_and(|sha256| *sha256 != pending.sha256) {
            return Err("it is about other arguments than those of the call that waits (arguments_sha256)");
        }
        Ok(by)
    }

    fn decide(&mut self, answer: &HitlResponse<'_>, by: By, out: &mut Out) {
        let feedback = answer.feedback.as_deref().filter(|feedback| !feedback.trim().is_empty());
        if answer.action == Action::Reject {
            return self.close_first(Verdict::Rejected, by, feedback, None, &rejection(feedback), out);
        }
        let Some(text) = self.calls.first().map(|held| held.text().into_owned()) else { return };
        let whole = if by == By::Terminal { answer.arguments } else { None };
        let agreed = match self.agreed(&text, answer.edited_arguments, whole) {
            Ok(agreed) => agreed,
            Err(why) => match (&mut self.asker, by) {
                // They may edit again.
                (Some(asker), By::Terminal) => return asker.refuse(&why),
                _ => {
                    let why = format!("what it was edited to doesn't pass: {why}");
                    return self.close_first(Verdict::Rejected, by, feedback, None, &why, out);
                }
            },
        };
        let verdict = if answer.action == Action::Edit { Verdict::Edited } else { Verdict::Approved };
        self.close_first(verdict, by, feedback, Some(&agreed), "", out);
    }

    /// The text of a call as somebody has agreed to it, without the mark that held it.
    fn agreed(&self, text: &str, edited: Option<&str>, whole: Option<&str>) -> Result<String, String> {
        let failed = |error: &dyn std::fmt::Display| format!("the call can't be changed: {error}");
        let read = |text| match recognise(text) {
            Ok(Some(call)) => Ok(call),
            Ok(None) => Err("it would be no call any more".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let call = read(text)?;
        // What was shown is what passes.
        let shown = sha256(arguments(&call).as_bytes());
        if self.pending.as_ref().is_none_or(|pending| pending.sha256 != shown) {
            return Err("the arguments aren't those that were shown".to_owned());
        }
        let arguments = match (whole, edited) {
            (Some(whole), _) => whole.to_owned(),
            (None, Some(edited)) => merged(arguments(&call), edited)?,
            (None, None) => return settle(&call, text).map_err(|error| failed(&error)),
        };
        let edited = with_arguments(&call, text, &arguments).map_err(|error| failed(&error))?;
        let limits = self.settings.limits;
        if edited.len() > limits.max_line || deeper_than(edited.as_bytes(), limits.max_depth) {
            return Err("it would be longer than --max-line, or deeper than --max-depth".to_owned());
        }
        let call = read(&edited)?;
        self.judge_edited(&edited)?;
        settle(&call, &edited).map_err(|error| failed(&error))
    }

    /// The first call's question is settled: it passes as it was agreed to, or it is answered with why it doesn't.
    fn close_first(
        &mut self,
        verdict: Verdict,
        by: By,
        feedback: Option<&str>,
        agreed: Option<&str>,
        why: &str,
        out: &mut Out,
    ) {
        let Some(held) = self.calls.pop() else { return };
        self.withdraw(verdict, by, why);
        with_call(&held, |call, line| {
            let (verdict, agreed) = match self.settled(call, verdict, by, feedback, agreed, out) {
                Ok(()) => (verdict, agreed),
                Err(failure) => {
                    self.report.fault(format_args!("stdin:{}", line.number()), &failure);
                    return self.answer(call, Kind::Denied, &unnoted(&failure), out);
                }
            };
            match agreed.filter(|_| verdict != Verdict::Rejected) {
                Some(agreed) => self.pass(&[line.before(), agreed.as_bytes(), line.after()].concat(), out),
                None => self.answer(call, Kind::Rejected, why, out),
            }
        });
    }

    /// Notes, and tells, how it ended for a call that was held for a person.
    fn settled(
        &mut self,
        call: &Call<'_>,
        verdict: Verdict,
        by: By,
        feedback: Option<&str>,
        agreed: Option<&str>,
        out: &mut Out,
    ) -> Result<(), Failure> {
        let edited = agreed.and_then(|agreed| recognise(agreed).ok().flatten());
        let sha256 = sha256(arguments(edited.as_ref().unwrap_or(call)).as_bytes());
        self.note(Noted::Settled { call, verdict, by, sha256: &sha256, feedback })?;
        for record in records::settled(call, verdict, by, &sha256, feedback) {
            self.tell(&record, out);
        }
        Ok(())
    }

    /// Rejects the first call without a person's word.
    pub(super) fn reject_first(&mut self, by: By, why: &str, out: &mut Out) {
        if let Some(first) = self.calls.first() {
            self.report.fault(format_args!("stdin:{}", first.line().number()), why);
        }
        self.close_first(Verdict::Rejected, by, None, None, why, out);
    }

    /// The first call can't even be asked about.
    fn drop_first(&mut self, kind: Kind, why: &str, out: &mut Out) {
        if let Some(held) = self.calls.pop() {
            self.report.fault(format_args!("stdin:{}", held.line().number()), why);
            with_call(&held, |call, _| self.answer(call, kind, why, out));
        }
    }

    fn withdraw(&mut self, verdict: Verdict, by: By, why: &str) {
        if self.pending.take().is_none() {
            return;
        }
        let note = match (verdict, by) {
            (Verdict::Rejected, By::Terminal | By::Answers) => "rejected".to_owned(),
            (Verdict::Rejected, _) => format!("this question is withdrawn: {why}"),
            (Verdict::Approved, _) => "approved".to_owned(),
            (Verdict::Edited, _) => "approved as edited".to_owned(),
        };
        if let Some(asker) = &mut self.asker {
            asker.withdraw(&note);
        }
    }

    /// Whoever had made a call that waits takes it back.
    pub(super) fn cancel(&mut self, index: usize, out: &mut Out) {
        let Some(held) = self.calls.remove(index) else { return };
        let was_pending = index == 0 && self.pending.is_some();
        if was_pending {
            self.withdraw(Verdict::Rejected, By::Caller, "the call was cancelled");
        }
        with_call(&held, |call, line| {
            if was_pending && let Err(failure) = self.settled(call, Verdict::Rejected, By::Caller, None, None, out) {
                self.report.fault(format_args!("stdin:{}", line.number()), &failure);
            }
            if call.form == crate::record::Form::JsonRpc {
                self.report.fail();
            } else {
                self.answer(call, Kind::Cancelled, "it was cancelled", out);
            }
        });
    }

    /// Nothing that waits will pass any more.
    pub(super) fn refuse_all(&mut self, kind: Kind, why: &str, out: &mut Out) {
        while let Some(held) = self.calls.pop() {
            self.withdraw(Verdict::Rejected, By::End, why);
            with_call(&held, |call, line| {
                if held.marked
                    && let Err(failure) = self.settled(call, Verdict::Rejected, By::End, None, None, out)
                {
                    self.report.fault(format_args!("stdin:{}", line.number()), &failure);
                }
                // What nobody had to be asked about isn't rejected.
                let kind = if held.marked || kind == Kind::Lost { kind } else { Kind::Cancelled };
                self.answer(call, kind, why, out);
            });
        }
    }

    pub(super) fn due(&mut self, out: &mut Out) {
        let is_late = self.deadline_of_question().is_some_and(|until| until <= Instant::now());
        if let (true, Some(timeout)) = (is_late, self.settings.timeout) {
            let why = format!("nobody has answered within {} s (--timeout)", timeout.as_secs_f64());
            self.reject_first(By::Timeout, &why, out);
        }
    }

    fn deadline_of_question(&self) -> Option<Instant> {
        self.pending.as_ref().and_then(|pending| pending.until)
    }

    /// The terminal can't be asked at: now, or not any more.
    fn look_at_terminal(&mut self, out: &mut Out) {
        let gone = self.asker.as_mut().and_then(|asker| asker.gone());
        let (Some((nonce, why)), Some(pending)) = (gone, &self.pending) else { return };
        if nonce != pending.terminal_nonce {
            return;
        }
        self.no_terminal = why;
        if !self.has_channel && !self.settings.near_answers {
            self.reject_first(By::Nobody, &self.nobody(), out);
        }
    }

    /// Nobody writes to `--answers` any more.
    pub(super) fn channel_closed(&mut self, out: &mut Out) {
        self.has_channel = false;
        self.no_terminal += if self.no_terminal.is_empty() { "" } else { ", and " };
        self.no_terminal += "--answers has ended";
        if self.pending.is_some() && self.asker.is_none() && !self.settings.near_answers {
            self.reject_first(By::Nobody, &self.nobody(), out);
        }
    }
}

fn rejection(feedback: Option<&str>) -> String {
    feedback.map_or_else(|| "a person rejected it".to_owned(), |feedback| format!("a person rejected it: {feedback}"))
}

/// What waits was a call when it came, and is one still.
fn with_call(held: &Held, act: impl FnOnce(&Call<'_>, &Line<'_>)) {
    let text = held.text();
    if let Ok(Some(call)) = recognise(&text) {
        act(&call, &held.line());
    }
}
