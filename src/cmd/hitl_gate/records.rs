//! The records about a held call: `status` and `policy_result`.

use crate::json::Object;
use crate::policy::audit::{By, Settlement};
use crate::record::Call;

/// The call is held. The record is for the caller, which must not answer, so it has no nonce.
pub fn notice(call: &Call<'_>) -> String {
    call.identify(Object::default().text("type", "status").text("status", "waiting_human")).end()
}

/// The `status` of its record.
fn status_of(verdict: Settlement) -> &'static str {
    match verdict {
        Settlement::Edited => "edited_by_human",
        other => other.name(),
    }
}

/// The call is no longer held; with the arguments that it passes with, if a person has changed them.
pub fn status(call: &Call<'_>, verdict: Settlement, edited: Option<&str>) -> String {
    let status = Object::default().text("type", "status").text("status", status_of(verdict));
    call.identify(status).put_some("edited_arguments", edited).end()
}

/// Who has decided, and why.
pub fn result(call: &Call<'_>, verdict: Settlement, by: By, sha256: &str, feedback: Option<&str>) -> String {
    call.identify(Object::default().text("type", "policy_result"))
        .text("verdict", verdict.name())
        .text("by", by.name())
        .text("arguments_sha256", sha256)
        .text_some("feedback", feedback)
        .end()
}
