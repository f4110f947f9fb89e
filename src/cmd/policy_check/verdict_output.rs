//! The outputs of a verdict: an answer to the caller, a record for `--events`, a line on stderr, and the audit's event.

use super::gate::{Did, Gate, Mode};
use crate::cmd::caller::Refusal;
use crate::io::lines::Piece;
use crate::io::stage::{Out, Side};
use crate::io::terminal::printable;
use crate::policy::audit::{self, Subject};
use crate::policy::target::Target;
use crate::policy::{Decision, Verdict};
use crate::record::{Call, Form, Kind, Unreadable};
use serde_json::value::RawValue;

impl Gate {
    /// Writes what is about to happen; if it can't be written, it must not happen.
    pub(super) fn audit_verdict<'s>(
        &mut self,
        subject: impl FnOnce() -> Subject<'s>,
        form: Option<Form>,
        decision: &Decision,
        did: Did,
    ) -> Result<(), Decision> {
        let Some(audit) = &mut self.audit else { return Ok(()) };
        let event = audit::Event::Verdict {
            subject: subject(),
            form,
            verdict: decision.verdict,
            rule: &decision.rule,
            reason: &decision.reason,
            kind: decision.kind,
            severity: decision.severity,
            mode: match self.settings.mode {
                Mode::Enforce => audit::Mode::Enforce,
                Mode::Observe => audit::Mode::Observe,
            },
            did: match did {
                Did::Pass => audit::Did::Passed,
                Did::Mark => audit::Did::Marked,
                Did::Refuse(_) => audit::Did::Refused,
            },
        };
        audit.write(&event).map_err(|error| {
            Decision::new(Verdict::Deny, "audit", format!("cannot write the verdict (--audit): {error}"))
        })
    }

    /// `policy_request`: a person must approve the call.
    pub(super) fn request(&mut self, call: &Call<'_>, decision: &Decision, target: Option<&Target>, out: &mut Out) {
        let target = target.map(Target::json);
        let policy = decision.json();
        let mut more = vec![("policy", policy.as_str())];
        more.extend(target.as_deref().map(|target| ("target", target)));
        let record = call.event_record("policy_request", &more);
        if let Some(events) = &mut self.events {
            events.take_record(&record, out);
        }
    }

    pub(super) fn refuse(&mut self, call: &Call<'_>, decision: &Decision, kind: Kind, number: u64, out: &mut Out) {
        let how = match kind {
            Kind::NeedsApproval => "a person has to approve this first",
            _ => "the policy denies this",
        };
        let message = format!("{how}: {} ({})", decision.reason, decision.rule);
        self.report.fault(format_args!("stdin:{number}"), format_args!("{}: {message}", call.tool));
        let policy = decision.json();
        let data: Option<Box<RawValue>> = serde_json::from_str(&policy).ok();
        let refusal = Refusal::new(kind, &message).with_data(data.as_deref());
        self.settings.refuse_as.refuse(call, &refusal, out);
    }

    /// Writes that a call that passed was not delivered.
    pub(super) fn audit_undelivered(&mut self, call: &Call<'_>, marked: bool) {
        let did = if marked { audit::Did::Marked } else { audit::Did::Passed };
        let event = audit::Event::Undelivered { subject: Subject::of(call), did };
        if let Some(Err(error)) = self.audit.as_mut().map(|audit| audit.write(&event)) {
            self.report.fault("--audit", error);
        }
    }

    /// Refuses a line, or the last part of one, that can't be read for certain.
    pub(super) fn refuse_line(&mut self, piece: &Piece<'_>, kind: Kind, error: &Unreadable, out: &mut Out) {
        let (number, body) = match piece {
            Piece::Line(line) => (line.number(), line.body()),
            Piece::Part { bytes, number, .. } => (*number, *bytes),
        };
        if self.settings.mode == Mode::Observe {
            let passed = format_args!("{error}; passed (--mode observe)");
            self.report.fault(format_args!("stdin:{number}"), passed);
            return out.pass(Side::Far, piece);
        }
        let subject = || Subject { call_id: None, tool: None, digest: audit::digest(body) };
        let decision = Decision::new(Verdict::Deny, "builtin.unreadable", error.to_string());
        // It is always refused, even if it can't be audited.
        if let Err(failed) = self.audit_verdict(subject, None, &decision, Did::Refuse(kind)) {
            self.report.fault("--audit", failed.reason);
        }
        self.report.fault(format_args!("stdin:{number}"), format_args!("{error}; refused"));
        out.add_line(Side::Near, &error.refusal(kind, number));
    }

    pub(super) fn explain(&self, call: &Call<'_>, number: u64, decision: &Decision) {
        let Decision { verdict, rule, reason, .. } = decision;
        let tool = printable(&call.tool);
        let reason = printable(reason);
        self.report.say(format_args!("stdin:{number}: {}: {tool}: {rule}: {reason}", verdict.name()));
    }
}
