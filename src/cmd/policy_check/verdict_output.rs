//! The outputs of a verdict: an answer to the caller, a record for `--events`, a line on stderr, and the audit's event.

use super::gate::{CallAction, Gate, GateMode};
use crate::cmd::refusal::Refusal;
use pipewright_io::printable::printable;
use pipewright_io::stage::{Out, Side};
use pipewright_lines::Piece;
use pipewright_policy::audit::{self, Subject};
use pipewright_policy::request::PolicyRequest;
use pipewright_policy::target::Target;
use pipewright_policy::{Decision, Verdict};
use pipewright_record::{Call, Form, Kind, Record, Unreadable};

impl Gate {
    /// Writes what is about to happen; if it can't be written, it must not happen.
    pub(super) fn audit_verdict<'s>(
        &mut self,
        subject: impl FnOnce() -> Subject<'s>,
        form: Option<Form>,
        decision: &Decision,
        did: CallAction,
    ) -> Result<(), Decision> {
        let event = || audit::Event::Verdict {
            subject: subject(),
            form,
            verdict: decision.verdict,
            rule: &decision.rule,
            reason: decision.plain_reason(),
            kind: decision.kind,
            severity: decision.severity,
            mode: match self.settings.mode {
                GateMode::Enforce => audit::Mode::Enforce,
                GateMode::Observe => audit::Mode::Observe,
            },
            did: did.audited(),
        };
        self.passage.audit(event).map_err(|error| {
            Decision::new(Verdict::Deny, "audit", format!("cannot write the verdict (--audit): {error}"))
        })
    }

    /// `policy_request`: a person must approve the call.
    pub(super) fn request(&mut self, call: &Call<'_>, decision: &Decision, target: Option<&Target>, out: &mut Out) {
        let request = PolicyRequest { about: call.about(), tool_name: &call.tool, policy: decision, target };
        self.passage.send_event(&request.json(), out);
    }

    pub(super) fn refuse(&mut self, call: &Call<'_>, decision: &Decision, kind: Kind, number: u64, out: &mut Out) {
        let how = match kind {
            Kind::NeedsApproval => "a person has to approve this first",
            _ => "the policy denies this",
        };
        let message = format!("{how}: {} ({})", decision.reason, decision.rule);
        self.passage.report.fault(format_args!("stdin:{number}"), format_args!("{}: {message}", call.tool));
        let data = serde_json::from_str(&decision.json()).ok();
        let refusal = Refusal { data, ..Refusal::new(kind, message) };
        self.passage.refuse(call, &refusal, out);
    }

    /// Refuses a line, or the last part of one, that can't be read for certain.
    pub(super) fn refuse_line(&mut self, piece: &Piece<'_>, kind: Kind, error: &Unreadable, out: &mut Out) {
        let (number, body) = match piece {
            Piece::Line(line) => (line.number(), line.body()),
            Piece::Part { bytes, number, .. } => (*number, *bytes),
        };
        if self.settings.mode == GateMode::Observe {
            let passed = format_args!("{error}; passed (--mode observe)");
            self.passage.report.fault(format_args!("stdin:{number}"), passed);
            return out.pass(Side::FAR, piece);
        }
        let subject = || Subject { call_id: None, tool: None, digest: audit::digest(body) };
        let decision = Decision::new(Verdict::Deny, "builtin.unreadable", error.to_string());
        // The call is always refused, even if it can't be audited.
        if let Err(failed) = self.audit_verdict(subject, None, &decision, CallAction::Refuse(kind)) {
            self.passage.report.fault("--audit", failed.reason);
        }
        self.passage.report.fault(format_args!("stdin:{number}"), format_args!("{error}; refused"));
        out.add_line(Side::NEAR, &error.refusal(kind, number));
    }

    pub(super) fn explain(&self, call: &Call<'_>, number: u64, decision: &Decision) {
        let Decision { verdict, rule, reason, .. } = decision;
        let tool = printable(&call.tool);
        let reason = printable(reason);
        self.passage.report.say(format_args!("stdin:{number}: {}: {tool}: {rule}: {reason}", verdict.name()));
    }
}
