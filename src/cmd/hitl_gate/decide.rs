//! A held call from its question to its end: asked about, answered, passed or rejected.

use super::elicitation::Elicitation;
use super::gate::{Gate, Pending, not_audited};
use super::gate_event::GateEvent;
use super::held::Held;
use super::records;
use crate::approvals::{Question, settled};
use crate::io::approvers::{Approvers, VARIABLE};
use crate::io::lines::Line;
use crate::io::report::{Failure, Status};
use crate::io::session::token;
use crate::io::stage::Out;
use crate::policy::audit::{By, Settlement, sha256};
use crate::record::{Form, Kind, OwnedCall};
use jiff::Timestamp;
use std::time::Instant;

/// Why a call is rejected at once.
const NOBODY: &str = "a person's approval is needed, and nobody can be asked here";

/// How a question ended.
pub(super) struct Decision<'a> {
    pub(super) verdict: Settlement,
    pub(super) by: By,
    pub(super) feedback: Option<&'a str>,
    /// The call that passes.
    pub(super) agreed: Option<&'a Agreed>,
    /// Why a rejected call does not pass.
    pub(super) why: &'a str,
}

/// A call as a person has approved it, and its text without the mark that held it.
pub(super) struct Agreed {
    pub(super) text: String,
    pub(super) call: OwnedCall,
}

impl Gate {
    /// Passes the calls whose turn it is, and asks about the first one that needs it.
    pub(super) fn advance(&mut self, out: &mut Out) {
        loop {
            // The call that is asked about is the first; others pass it only once its caller has an answer.
            let next = usize::from(self.pending.is_some());
            if next == 1 && self.calls.first().is_some_and(|first| !first.is_answered) {
                return;
            }
            let is_marked = self.calls.iter().nth(next).map(|held| held.marked);
            match is_marked {
                Some(true) if next == 0 => {
                    if !self.pass_by_rule(out) {
                        self.ask(out);
                    }
                }
                Some(false) => {
                    if let Some(held) = self.calls.remove(next) {
                        self.pass_call(&held.call.call(), &held.line(), out);
                    }
                }
                Some(true) | None => return,
            }
        }
    }

    /// Asks about the first held call, or rejects it if nobody can be asked.
    fn ask(&mut self, out: &mut Out) {
        let Some(held) = self.calls.first() else { return };
        let (held_call, beside_arguments) = (held.call.clone(), held.beside_arguments.clone());
        let call = held_call.call();
        let asks_client = self
            .elicitation
            .as_ref()
            .is_some_and(|elicitation| elicitation.can_ask(&call, beside_arguments.as_deref()));
        if !self.has_person() && !asks_client && !self.may_be_answered() {
            return self.reject_unasked(out);
        }
        let nonces = [(); 3].map(|()| token());
        let sha256 = sha256(call.arguments_text().as_bytes());
        let asked = match &nonces {
            [Ok(nonce), Ok(_), Ok(_)] => self.audit(GateEvent::Asked { call: &call, nonce }),
            [Err(error), ..] | [_, Err(error), _] | [.., Err(error)] => {
                Err(Failure::new(Status::Fault, format_args!("/dev/urandom: {error}")))
            }
        };
        let ([Ok(nonce), Ok(terminal_nonce), Ok(approver_nonce)], Ok(())) = (nonces, &asked) else {
            let why = asked.err().map_or_else(String::new, |failure| not_audited(&failure));
            return self.drop_first(Kind::Denied, &why, out);
        };
        let asked_at = Timestamp::now();
        let question = Question {
            nonce: nonce.clone(),
            sha256: sha256.clone(),
            call: held_call.clone(),
            beside_arguments,
            caller: self.caller.clone(),
            asked_at: Some(asked_at),
            expires_at: self.settings.timeout.and_then(|timeout| asked_at.checked_add(timeout).ok()),
            rule_offers: self.rule_offers(),
            rules_file: self.remember.as_ref().map(|path| path.display().to_string()),
        };
        self.send_event(&question.record(), out);
        self.send_notice(&call, &records::notice(&call), out);
        if let Some(asker) = &mut self.asker {
            asker.ask(Question { nonce: terminal_nonce.clone(), ..question.clone() }, String::new());
        }
        if let Some(elicitation) = self.elicitation.as_mut().filter(|_| asks_client) {
            elicitation.ask(&question, out);
        }
        let until = self.settings.timeout.map(|timeout| Instant::now() + timeout);
        let question = Question { nonce: approver_nonce, ..question };
        let record = question.record();
        self.pending = Some(Pending { nonce, terminal_nonce, question, sha256, until });
        self.send_to_approvers(&record);
        if let Some(notifier) = &self.notifier {
            notifier.notify();
        }
        if let Some(how) = self.how_to_approve.take() {
            self.report.note(how);
        }
    }

    /// Sends a record to the connected approvers; those that connect later get the standing records.
    pub(super) fn send_to_approvers(&mut self, record: &str) {
        let standing = self.standing();
        if let Some(approvers) = &mut self.approvers {
            approvers.send(record, standing);
        }
    }

    /// Whether a person is asked directly, at the terminal or through an approver.
    pub(super) fn has_person(&self) -> bool {
        self.asker.is_some() || self.approvers.is_some()
    }

    /// Whether an answer may come from another source: a channel, the caller, or the client's user.
    fn may_be_answered(&self) -> bool {
        let is_client_asked = self.elicitation.as_ref().is_some_and(Elicitation::is_open);
        self.has_channel || self.settings.near_answers || is_client_asked
    }

    /// Rejects the first call, about which nobody can be asked. The advice is for the user of the gate, not for the model.
    fn reject_unasked(&mut self, out: &mut Out) {
        if let Some(first) = self.calls.first() {
            let client = if self.elicitation.is_some() { "; the client does not ask its user either" } else { "" };
            let place = format!("stdin:{}", first.line().number());
            self.report.fault(place, format_args!("{NOBODY}: {}{client}", self.no_terminal));
        }
        if let Some(advice) = self.how_to_be_asked.take() {
            self.report.note(advice);
        }
        self.close_first(Settlement::Rejected, By::Nobody, None, None, NOBODY, out);
    }

    /// The client did not ask its user: the open question is rejected, if nobody else can answer it.
    pub(super) fn client_failed(&mut self, out: &mut Out) {
        if self.pending.is_some() && !self.has_person() && !self.may_be_answered() {
            self.reject_unasked(out);
        }
    }

    /// The first call's question is settled: the call passes as approved, or is answered with the reason why not.
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
        self.close(held, &Decision { verdict, by, feedback, agreed, why }, out);
    }

    /// A question is settled: the call passes, or is answered. If its caller has an answer already, the decision is kept for a repetition.
    pub(super) fn close(&mut self, held: Held, decision: &Decision<'_>, out: &mut Out) {
        let (call, line) = (held.call.call(), held.line());
        if let Err(failure) = self.settled(&held, decision, out) {
            self.report.fault(format_args!("stdin:{}", line.number()), &failure);
            if !held.is_answered {
                self.answer(&call, Kind::Denied, &not_audited(&failure), out);
            }
            return;
        }
        if held.is_answered {
            return self.keep(held, decision);
        }
        match decision.agreed.filter(|_| decision.verdict != Settlement::Rejected) {
            Some(agreed) => {
                let passed = [line.before(), agreed.text.as_bytes(), line.after()].concat();
                self.deliveries.pass(&Line::new(&passed, line.number()), &agreed.call.call(), false, out);
            }
            None => self.answer(&call, Kind::Rejected, decision.why, out),
        }
    }

    /// Audits and reports the decision on a held call, for each time that the call was made.
    fn settled(&mut self, held: &Held, decision: &Decision<'_>, out: &mut Out) -> Result<(), Failure> {
        let &Decision { verdict, by, feedback, agreed, .. } = decision;
        let edited = agreed.map(|agreed| agreed.call.call());
        for (call, waits) in held.calls() {
            let (call, passes) = (call.call(), waits && verdict != Settlement::Rejected);
            let sha256 = sha256(edited.as_ref().unwrap_or(&call).arguments_text().as_bytes());
            self.audit(GateEvent::Settled { call: &call, verdict, by, sha256: &sha256, feedback, passes })?;
            let edited = edited.as_ref().filter(|_| verdict == Settlement::Edited).map(|call| call.arguments_text());
            let status = records::status(&call, verdict, edited);
            self.send_event(&status, out);
            self.send_event(&records::result(&call, verdict, by, &sha256, feedback), out);
            // A rejected call gets its result next.
            if passes {
                self.send_notice(&call, &status, out);
            }
        }
        Ok(())
    }

    /// Audits and reports that a marked call does not pass, without a question or without an answer.
    pub(super) fn settle_unanswered(&mut self, held: &Held, by: By, out: &mut Out) {
        let rejected = Decision { verdict: Settlement::Rejected, by, feedback: None, agreed: None, why: "" };
        if held.marked
            && let Err(failure) = self.settled(held, &rejected, out)
        {
            self.report.fault(format_args!("stdin:{}", held.line().number()), &failure);
        }
    }

    /// Rejects the first call without a person's decision.
    pub(super) fn reject_first(&mut self, by: By, why: &str, out: &mut Out) {
        if let Some(first) = self.calls.first() {
            self.report.fault(format_args!("stdin:{}", first.line().number()), why);
        }
        self.close_first(Settlement::Rejected, by, None, None, why, out);
    }

    /// Answers the first call, which can't be asked about because of a failure.
    fn drop_first(&mut self, kind: Kind, why: &str, out: &mut Out) {
        if let Some(held) = self.calls.pop() {
            self.report.fault(format_args!("stdin:{}", held.line().number()), why);
            self.answer(&held.call.call(), kind, why, out);
        }
    }

    fn withdraw(&mut self, verdict: Settlement, by: By, why: &str) {
        let Some(pending) = self.pending.take() else { return };
        let Question { nonce, sha256, call, .. } = &pending.question;
        self.send_to_approvers(&settled(&call.call(), nonce, verdict.name(), by.name(), sha256));
        let note = match (verdict, by) {
            (Settlement::Rejected, By::Terminal | By::Answers | By::Client | By::Approver) => "rejected".to_owned(),
            (Settlement::Rejected, _) => format!("this question is withdrawn: {why}"),
            (Settlement::Approved, _) => "approved".to_owned(),
            (Settlement::Edited, _) => "approved as edited".to_owned(),
        };
        if let Some(asker) = &mut self.asker {
            asker.withdraw(&note);
        }
    }

    /// The caller cancels a held call.
    pub(super) fn cancel(&mut self, index: usize, out: &mut Out) {
        let Some(held) = self.calls.remove(index) else { return };
        if index == 0 && self.pending.is_some() {
            self.withdraw(Settlement::Rejected, By::Caller, "the call was cancelled");
        }
        self.settle_unanswered(&held, By::Caller, out);
        let call = held.call.call();
        if call.form == Form::JsonRpc {
            self.report.fail();
        } else {
            self.answer(&call, Kind::Cancelled, "it was cancelled", out);
        }
    }

    /// Answers all held calls: none of them will pass.
    pub(super) fn refuse_all(&mut self, kind: Kind, why: &str, out: &mut Out) {
        while let Some(held) = self.calls.pop() {
            self.withdraw(Settlement::Rejected, By::End, why);
            self.settle_unanswered(&held, By::End, out);
            // A call that needed no approval is not rejected.
            let kind = if held.marked || kind == Kind::Lost { kind } else { Kind::Cancelled };
            if !held.is_answered {
                self.answer(&held.call.call(), kind, why, out);
            }
        }
    }

    pub(super) fn due(&mut self, out: &mut Out) {
        let is_late = self.deadline_of_question().is_some_and(|until| until <= Instant::now());
        if let (true, Some(timeout)) = (is_late, self.settings.timeout) {
            let why = format!("nobody has answered within {} s (--timeout)", timeout.as_secs_f64());
            self.reject_first(By::Timeout, &why, out);
        }
        self.answer_waiting(out);
    }

    fn deadline_of_question(&self) -> Option<Instant> {
        self.pending.as_ref().and_then(|pending| pending.until)
    }

    /// The terminal or the approvers can't be asked, now or any more: rejects the open question if nobody is left.
    pub(super) fn check_who_is_left(&mut self, out: &mut Out) {
        let terminal = self.asker.as_mut().and_then(|asker| asker.gone());
        let approvers = self.approvers.as_mut().and_then(Approvers::lost);
        let Some(pending) = &self.pending else { return };
        let terminal = terminal.filter(|(nonce, _)| *nonce == pending.terminal_nonce);
        let is_left = (terminal.is_none() && self.asker.is_some()) || (approvers.is_none() && self.approvers.is_some());
        let Some(why) = terminal.map(|(_, why)| why).or(approvers.map(|why| format!("{VARIABLE}: {why}"))) else {
            return;
        };
        self.no_terminal = why;
        if !is_left && !self.may_be_answered() {
            self.reject_unasked(out);
        }
    }

    /// `--answers` has ended.
    pub(super) fn channel_closed(&mut self, out: &mut Out) {
        self.has_channel = false;
        self.no_terminal += if self.no_terminal.is_empty() { "" } else { ", and " };
        self.no_terminal += "--answers has ended";
        if self.pending.is_some() && !self.has_person() && !self.may_be_answered() {
            self.reject_unasked(out);
        }
    }
}
