//! A held call from its question to its end: asked about, answered, passed or rejected.

use super::elicitation::Elicitation;
use super::gate::{Gate, PendingQuestion, not_audited};
use super::held::HeldCall;
use super::records;
use jiff::Timestamp;
use pipewright_clients::approvals::{Question, settled};
use pipewright_io::approvers::{Approvers, VARIABLE};
use pipewright_io::report::{Failure, Status};
use pipewright_io::stage::Out;
use pipewright_lines::Line;
use pipewright_policy::audit::{Did, Event, SettledBy, Settlement, Subject, sha256};
use pipewright_record::{Form, Kind, OwnedCall};
use pipewright_sys::random::token;
use std::io;
use std::time::Instant;

/// Why a call is rejected at once.
const NO_APPROVER: &str = "a person's approval is needed, and nobody can be asked here";

/// How a question ended.
pub(super) struct Decision<'a> {
    pub(super) verdict: Settlement,
    pub(super) by: SettledBy,
    pub(super) feedback: Option<&'a str>,
    /// The call that passes.
    pub(super) agreed: Option<&'a ApprovedCall>,
    /// Why a rejected call does not pass.
    pub(super) why: &'a str,
}

/// A call as a person has approved it, and its text without the mark that held it.
pub(super) struct ApprovedCall {
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
            .people
            .elicitation
            .as_ref()
            .is_some_and(|elicitation| elicitation.can_ask(&call, beside_arguments.as_deref()));
        if !self.people.has_person() && !asks_client && !self.may_be_answered() {
            return self.reject_unasked(out);
        }
        let sha256 = sha256(call.arguments_text().as_bytes());
        let nonces = || -> io::Result<[String; 3]> { Ok([token()?, token()?, token()?]) };
        let nonces = nonces().map_err(|error| Failure::new(Status::Fault, format_args!("/dev/urandom: {error}")));
        let asked = nonces.and_then(|nonces| {
            self.audit(|| Event::Asked { subject: Subject::of(&call), nonce: &nonces[0] }).map(|()| nonces)
        });
        let [nonce, terminal_nonce, approver_nonce] = match asked {
            Ok(nonces) => nonces,
            Err(failure) => return self.drop_first(Kind::Denied, &not_audited(&failure), out),
        };
        let asked_at = Timestamp::now();
        let question = Question {
            nonce: nonce.clone(),
            sha256: sha256.clone(),
            call: held_call.clone(),
            beside_arguments,
            caller: self.settings.caller.clone(),
            asked_at: Some(asked_at),
            expires_at: self.settings.timeout.and_then(|timeout| asked_at.checked_add(timeout).ok()),
            rule_offers: self.rule_offers(),
            rules_file: self.settings.remember.as_ref().map(|path| path.display().to_string()),
        };
        self.passage.send_event(&question.record(), out);
        self.send_notice(&call, &records::notice(&call), out);
        if let Some(asker) = &mut self.people.asker {
            asker.ask(Question { nonce: terminal_nonce.clone(), ..question.clone() }, String::new());
        }
        if let Some(elicitation) = self.people.elicitation.as_mut().filter(|_| asks_client) {
            elicitation.ask(&question, out);
        }
        let until = self.settings.timeout.map(|timeout| Instant::now() + timeout);
        let question = Question { nonce: approver_nonce, ..question };
        let record = question.record();
        self.pending = Some(PendingQuestion { nonce, terminal_nonce, question, sha256, until });
        self.send_to_approvers(&record);
        if let Some(notifier) = &self.people.notifier {
            notifier.notify();
        }
        if let Some(how) = self.people.how_to_approve.take() {
            self.passage.report.note(how);
        }
    }

    /// Sends a record to the connected approvers; those that connect later get the standing records.
    pub(super) fn send_to_approvers(&mut self, record: &str) {
        let standing = self.standing();
        if let Some(approvers) = &mut self.people.approvers {
            approvers.send(record, standing);
        }
    }

    /// Whether an answer may come from another source: a channel, the caller, or the client's user.
    fn may_be_answered(&self) -> bool {
        let is_client_asked = self.people.elicitation.as_ref().is_some_and(Elicitation::is_open);
        self.people.has_channel || self.settings.near_answers || is_client_asked
    }

    /// Rejects the first call, about which nobody can be asked. The advice is for the user of the gate, not for the
    /// model.
    fn reject_unasked(&mut self, out: &mut Out) {
        if let Some(first) = self.calls.first() {
            let client =
                if self.people.elicitation.is_some() { "; the client does not ask its user either" } else { "" };
            let place = format!("stdin:{}", first.line().number());
            self.passage.report.fault(place, format_args!("{NO_APPROVER}: {}{client}", self.people.no_terminal));
        }
        if let Some(advice) = self.people.how_to_be_asked.take() {
            self.passage.report.note(advice);
        }
        self.close_first(Settlement::Rejected, SettledBy::Nobody, None, None, NO_APPROVER, out);
    }

    /// The client did not ask its user: the open question is rejected, if nobody else can answer it.
    pub(super) fn client_failed(&mut self, out: &mut Out) {
        if self.pending.is_some() && !self.people.has_person() && !self.may_be_answered() {
            self.reject_unasked(out);
        }
    }

    /// The first call's question is settled: the call passes as approved, or is answered with the reason why not.
    pub(super) fn close_first(
        &mut self,
        verdict: Settlement,
        by: SettledBy,
        feedback: Option<&str>,
        agreed: Option<&ApprovedCall>,
        why: &str,
        out: &mut Out,
    ) {
        let Some(held) = self.calls.pop() else { return };
        self.withdraw(verdict, by, why);
        self.close(held, &Decision { verdict, by, feedback, agreed, why }, out);
    }

    /// A question is settled: the call passes, or is answered. If its caller has an answer already, the decision is
    /// kept for a repetition.
    pub(super) fn close(&mut self, held: HeldCall, decision: &Decision<'_>, out: &mut Out) {
        let passing = decision.agreed.filter(|_| decision.verdict != Settlement::Rejected && !held.is_answered);
        if let Some(why) = passing.and_then(|agreed| self.passes(&agreed.call.call()).err()) {
            let (verdict, agreed, why) = (Settlement::Rejected, None, &*why);
            return self.close(held, &Decision { verdict, agreed, why, ..*decision }, out);
        }
        let (call, line) = (held.call.call(), held.line());
        if let Err(failure) = self.settled(&held, decision, out) {
            self.passage.report.fault(format_args!("stdin:{}", line.number()), &failure);
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
                self.passage.pass(&Line::new(&passed, line.number()), &agreed.call.call(), Did::Passed, out);
            }
            None => self.answer(&call, Kind::Rejected, decision.why, out),
        }
    }

    /// Audits and reports the decision on a held call, for each time that the call was made.
    fn settled(&mut self, held: &HeldCall, decision: &Decision<'_>, out: &mut Out) -> Result<(), Failure> {
        let &Decision { verdict, by, feedback, agreed, .. } = decision;
        let edited = agreed.map(|agreed| agreed.call.call());
        for (call, waits) in held.calls() {
            let (call, passes) = (call.call(), waits && verdict != Settlement::Rejected);
            let sha256 = sha256(edited.as_ref().unwrap_or(&call).arguments_text().as_bytes());
            let after = (verdict == Settlement::Edited).then(|| format!("sha256:{sha256}"));
            let digest_after = after.as_deref();
            self.audit(|| Event::Settled { subject: Subject::of(&call), verdict, by, feedback, digest_after })?;
            // An approved call passes at once, unless its caller has been asked to repeat it.
            if passes {
                let own = Subject::of(&call);
                let subject = Subject { digest: after.unwrap_or_else(|| own.digest.clone()), ..own };
                self.audit(|| Event::Passed { subject, required_approval: true })?;
            }
            let edited = edited.as_ref().filter(|_| verdict == Settlement::Edited).map(|call| call.arguments_text());
            let status = records::status(&call, verdict, edited);
            self.passage.send_event(&status, out);
            self.passage.send_event(&records::result(&call, verdict, by, &sha256, feedback), out);
            // A rejected call gets its result next.
            if passes {
                self.send_notice(&call, &status, out);
            }
        }
        Ok(())
    }

    /// Audits and reports that a marked call does not pass, without a question or without an answer.
    pub(super) fn settle_unanswered(&mut self, held: &HeldCall, by: SettledBy, out: &mut Out) {
        let rejected = Decision { verdict: Settlement::Rejected, by, feedback: None, agreed: None, why: "" };
        if held.marked
            && let Err(failure) = self.settled(held, &rejected, out)
        {
            self.passage.report.fault(format_args!("stdin:{}", held.line().number()), &failure);
        }
    }

    /// Rejects the first call without a person's decision.
    pub(super) fn reject_first(&mut self, by: SettledBy, why: &str, out: &mut Out) {
        if let Some(first) = self.calls.first() {
            self.passage.report.fault(format_args!("stdin:{}", first.line().number()), why);
        }
        self.close_first(Settlement::Rejected, by, None, None, why, out);
    }

    /// Answers the first call, which can't be asked about because of a failure.
    fn drop_first(&mut self, kind: Kind, why: &str, out: &mut Out) {
        if let Some(held) = self.calls.pop() {
            self.passage.report.fault(format_args!("stdin:{}", held.line().number()), why);
            self.answer(&held.call.call(), kind, why, out);
        }
    }

    fn withdraw(&mut self, verdict: Settlement, by: SettledBy, why: &str) {
        let Some(pending) = self.pending.take() else { return };
        let Question { nonce, sha256, call, .. } = &pending.question;
        self.send_to_approvers(&settled(&call.call(), nonce, verdict.name(), by.name(), sha256));
        let note = match (verdict, by) {
            (
                Settlement::Rejected,
                SettledBy::Terminal | SettledBy::Answers | SettledBy::Client | SettledBy::Approver,
            ) => "rejected".to_owned(),
            (Settlement::Rejected, _) => format!("this question is withdrawn: {why}"),
            (Settlement::Approved, _) => "approved".to_owned(),
            (Settlement::Edited, _) => "approved as edited".to_owned(),
        };
        if let Some(asker) = &mut self.people.asker {
            asker.withdraw(&note);
        }
    }

    /// The caller cancels a held call.
    pub(super) fn cancel(&mut self, index: usize, out: &mut Out) {
        let Some(held) = self.calls.remove(index) else { return };
        if index == 0 && self.pending.is_some() {
            self.withdraw(Settlement::Rejected, SettledBy::Caller, "the call was cancelled");
        }
        self.settle_unanswered(&held, SettledBy::Caller, out);
        let call = held.call.call();
        if call.form == Form::JsonRpc {
            self.passage.report.fail();
        } else {
            self.answer(&call, Kind::Cancelled, "it was cancelled", out);
        }
    }

    /// Answers all held calls: none of them will pass.
    pub(super) fn refuse_all(&mut self, kind: Kind, why: &str, out: &mut Out) {
        while let Some(held) = self.calls.pop() {
            self.withdraw(Settlement::Rejected, SettledBy::End, why);
            self.settle_unanswered(&held, SettledBy::End, out);
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
            self.reject_first(SettledBy::Timeout, &why, out);
        }
        self.answer_waiting(out);
    }

    fn deadline_of_question(&self) -> Option<Instant> {
        self.pending.as_ref().and_then(|pending| pending.until)
    }

    /// The terminal or the approvers can't be asked, now or any more: rejects the open question if nobody is left.
    pub(super) fn check_who_is_left(&mut self, out: &mut Out) {
        let terminal = self.people.asker.as_mut().and_then(|asker| asker.gone());
        let approvers = self.people.approvers.as_mut().and_then(Approvers::lost);
        let Some(pending) = &self.pending else { return };
        let terminal = terminal.filter(|(nonce, _)| *nonce == pending.terminal_nonce);
        let is_left = (terminal.is_none() && self.people.asker.is_some())
            || (approvers.is_none() && self.people.approvers.is_some());
        let Some(why) = terminal.map(|(_, why)| why).or(approvers.map(|why| format!("{VARIABLE}: {why}"))) else {
            return;
        };
        self.people.no_terminal = why;
        if !is_left && !self.may_be_answered() {
            self.reject_unasked(out);
        }
    }

    /// `--answers` has ended.
    pub(super) fn channel_closed(&mut self, out: &mut Out) {
        self.people.has_channel = false;
        self.people.no_terminal += if self.people.no_terminal.is_empty() { "" } else { ", and " };
        self.people.no_terminal += "--answers has ended";
        if self.pending.is_some() && !self.people.has_person() && !self.may_be_answered() {
            self.reject_unasked(out);
        }
    }
}
