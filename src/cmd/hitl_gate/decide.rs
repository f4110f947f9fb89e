//! From a call that waits to its end: asked about, answered, passed or rejected.

use super::asker::Question;
use super::gate::{Gate, Pending, unnoted};
use super::gate_event::GateEvent;
use super::records;
use crate::io::lines::Line;
use crate::io::report::{Failure, Status};
use crate::io::session::token;
use crate::io::stage::Out;
use crate::policy::audit::{By, Settlement, sha256};
use crate::record::{Call, Form, Kind, OwnedCall};
use std::time::Instant;

/// A call as a person has agreed to it, and its text without the mark that held it.
pub(super) struct Agreed {
    pub(super) text: String,
    pub(super) call: OwnedCall,
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
                self.pass_call(&held.call.call(), &held.line(), out);
            }
        }
    }

    /// Asks about the first call that waits; where that can't be, it doesn't wait any more.
    fn ask(&mut self, out: &mut Out) {
        if self.asker.is_none() && !self.has_channel && !self.settings.near_answers {
            return self.reject_first(By::Nobody, &self.nobody(), out);
        }
        let Some(held) = self.calls.first() else { return };
        let held_call = held.call.clone();
        let call = held_call.call();
        let question = token().and_then(|nonce| Ok((nonce, token()?)));
        let sha256 = sha256(call.arguments_text().as_bytes());
        let asked = match &question {
            Ok((nonce, _)) => self.audit(GateEvent::Asked { call: &call, nonce }),
            Err(error) => Err(Failure::new(Status::Fault, format_args!("/dev/urandom: {error}"))),
        };
        let (Ok((nonce, terminal_nonce)), Ok(())) = (question, &asked) else {
            let why = asked.err().map_or_else(String::new, |failure| unnoted(&failure));
            return self.drop_first(Kind::Denied, &why, out);
        };
        self.send_event(&records::waiting(&call, &nonce, &sha256), out);
        if let Some(asker) = &mut self.asker {
            let (nonce, sha256) = (terminal_nonce.clone(), sha256.clone());
            asker.ask(Question { nonce, sha256, call: held_call.clone(), timeout: self.settings.timeout });
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

    /// The first call's question is settled: it passes as it was agreed to, or it is answered with why it doesn't.
    pub(super) fn close_first(
        &mut self,
        verdict: Settlement,
        by: By,
        feedback: Option<&str>,
        agreed: Option<&Agreed>,
        why: &str,
        out: &mut Out,
    ) {
        let Some(held) = self.calls.pop() else { return };
        self.withdraw(verdict, by, why);
        let (call, line) = (held.call.call(), held.line());
        if let Err(failure) = self.settled(&call, verdict, by, feedback, agreed, out) {
            self.report.fault(format_args!("stdin:{}", line.number()), &failure);
            return self.answer(&call, Kind::Denied, &unnoted(&failure), out);
        }
        match agreed.filter(|_| verdict != Settlement::Rejected) {
            Some(agreed) => {
                let passed = [line.before(), agreed.text.as_bytes(), line.after()].concat();
                self.deliveries.pass(&Line::new(&passed, line.number()), &agreed.call.call(), false, out);
            }
            None => self.answer(&call, Kind::Rejected, why, out),
        }
    }

    /// Notes, and tells, how it ended for a call that was held for a person.
    fn settled(
        &mut self,
        call: &Call<'_>,
        verdict: Settlement,
        by: By,
        feedback: Option<&str>,
        agreed: Option<&Agreed>,
        out: &mut Out,
    ) -> Result<(), Failure> {
        let edited = agreed.map(|agreed| agreed.call.call());
        let sha256 = sha256(edited.as_ref().unwrap_or(call).arguments_text().as_bytes());
        self.audit(GateEvent::Settled { call, verdict, by, sha256: &sha256, feedback })?;
        for record in records::settled(call, verdict, by, &sha256, feedback) {
            self.send_event(&record, out);
        }
        Ok(())
    }

    /// Rejects the first call without a person's word.
    pub(super) fn reject_first(&mut self, by: By, why: &str, out: &mut Out) {
        if let Some(first) = self.calls.first() {
            self.report.fault(format_args!("stdin:{}", first.line().number()), why);
        }
        self.close_first(Settlement::Rejected, by, None, None, why, out);
    }

    /// The first call can't even be asked about.
    fn drop_first(&mut self, kind: Kind, why: &str, out: &mut Out) {
        if let Some(held) = self.calls.pop() {
            self.report.fault(format_args!("stdin:{}", held.line().number()), why);
            self.answer(&held.call.call(), kind, why, out);
        }
    }

    fn withdraw(&mut self, verdict: Settlement, by: By, why: &str) {
        if self.pending.take().is_none() {
            return;
        }
        let note = match (verdict, by) {
            (Settlement::Rejected, By::Terminal | By::Answers) => "rejected".to_owned(),
            (Settlement::Rejected, _) => format!("this question is withdrawn: {why}"),
            (Settlement::Approved, _) => "approved".to_owned(),
            (Settlement::Edited, _) => "approved as edited".to_owned(),
        };
        if let Some(asker) = &mut self.asker {
            asker.withdraw(&note);
        }
    }

    /// Whoever had made a call that waits takes it back.
    pub(super) fn cancel(&mut self, index: usize, out: &mut Out) {
        let Some(held) = self.calls.remove(index) else { return };
        if index == 0 && self.pending.is_some() {
            self.withdraw(Settlement::Rejected, By::Caller, "the call was cancelled");
        }
        let call = held.call.call();
        if held.marked
            && let Err(failure) = self.settled(&call, Settlement::Rejected, By::Caller, None, None, out)
        {
            self.report.fault(format_args!("stdin:{}", held.line().number()), &failure);
        }
        if call.form == Form::JsonRpc {
            self.report.fail();
        } else {
            self.answer(&call, Kind::Cancelled, "it was cancelled", out);
        }
    }

    /// Nothing that waits will pass any more.
    pub(super) fn refuse_all(&mut self, kind: Kind, why: &str, out: &mut Out) {
        while let Some(held) = self.calls.pop() {
            self.withdraw(Settlement::Rejected, By::End, why);
            let call = held.call.call();
            if held.marked
                && let Err(failure) = self.settled(&call, Settlement::Rejected, By::End, None, None, out)
            {
                self.report.fault(format_args!("stdin:{}", held.line().number()), &failure);
            }
            // What nobody had to be asked about isn't rejected.
            let kind = if held.marked || kind == Kind::Lost { kind } else { Kind::Cancelled };
            self.answer(&call, kind, why, out);
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
    pub(super) fn look_at_terminal(&mut self, out: &mut Out) {
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
