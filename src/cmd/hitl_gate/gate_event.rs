//! The events of a gate that are written to its audit.

use crate::cmd::audit::Audit;
use crate::io::report::{Failure, Status};
use crate::policy::audit::{By, Did, Event, Settlement, Subject, digest};
use crate::record::Call;

/// An event that is about to happen.
pub enum GateEvent<'a> {
    /// A person is asked about a call with these arguments.
    Asked { call: &'a Call<'a>, nonce: &'a str },
    /// A call was decided; `sha256` is of the arguments that it passes with, or would have passed with. An approved call passes at once,
    /// unless its caller has been asked to repeat it.
    Settled {
        call: &'a Call<'a>,
        verdict: Settlement,
        by: By,
        sha256: &'a str,
        feedback: Option<&'a str>,
        passes: bool,
    },
    /// A call that needs no approval passes.
    Passed { call: &'a Call<'a> },
    /// A call that had passed was not written to the other side.
    Undelivered { call: &'a Call<'a> },
    /// A rule of the session is added: it allows the calls that match it.
    Allowed { id: &'a str, rule: &'a str, by: By },
    /// A rule is revoked.
    Revoked { id: &'a str },
}

/// Writes the event; if it can't be written, it must not happen.
pub fn write(event: &GateEvent<'_>, audit: &mut Audit) -> Result<(), Failure> {
    let failed = |error| Failure::new(Status::Fault, format_args!("--audit: {error}"));
    match event {
        GateEvent::Asked { call, nonce } => audit.write(&Event::Asked { subject: Subject::of(call), nonce }),
        GateEvent::Passed { call } => {
            audit.write(&Event::Passed { subject: Subject::of(call), required_approval: false })
        }
        GateEvent::Undelivered { call } => {
            audit.write(&Event::Undelivered { subject: Subject::of(call), did: Did::Passed })
        }
        GateEvent::Allowed { id, rule, by } => {
            let digest = digest(rule);
            audit.write(&Event::Allowed { rule_id: id, digest: &digest, by: *by })
        }
        GateEvent::Revoked { id } => audit.write(&Event::Revoked { rule_id: id }),
        GateEvent::Settled { call, verdict, by, sha256, feedback, passes } => {
            let after = (*verdict == Settlement::Edited).then(|| format!("sha256:{sha256}"));
            let (verdict, by, feedback) = (*verdict, *by, *feedback);
            let subject = Subject::of(call);
            let settled = Event::Settled { subject, verdict, by, feedback, digest_after: after.as_deref() };
            audit.write(&settled).and_then(|()| match passes {
                false => Ok(()),
                true => {
                    let subject = Subject::of(call);
                    let digest = after.unwrap_or_else(|| subject.digest.clone());
                    audit.write(&Event::Passed { subject: Subject { digest, ..subject }, required_approval: true })
                }
            })
        }
    }
    .map_err(failed)
}
