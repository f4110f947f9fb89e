//! The records about a held call: `status` and `policy_result`.

use pipewright_policy::audit::{SettledBy, Settlement};
use pipewright_record::json::raw;
use pipewright_record::{Call, PolicyResult, Record, State, Status};
use std::borrow::Cow;

/// The call is held. The record is for the caller, which must not answer, so it has no nonce.
pub fn notice(call: &Call<'_>) -> String {
    Status::of_call(State::WaitingHuman, call.about()).json()
}

/// The state of a call that is settled in this way.
fn state_after(verdict: Settlement) -> State {
    match verdict {
        Settlement::Approved => State::Approved,
        Settlement::Edited => State::EditedByHuman,
        Settlement::Rejected => State::Rejected,
    }
}

/// The call is no longer held; with the arguments that it passes with, if a person has changed them.
pub fn status(call: &Call<'_>, verdict: Settlement, edited: Option<&str>) -> String {
    Status { edited_arguments: edited.map(raw), ..Status::of_call(state_after(verdict), call.about()) }.json()
}

/// Who has decided, and why.
pub fn result(call: &Call<'_>, verdict: Settlement, by: SettledBy, sha256: &str, feedback: Option<&str>) -> String {
    let (verdict, by, feedback) = (verdict.into(), by.into(), feedback.map(Cow::Borrowed));
    PolicyResult { about: call.about(), nonce: None, verdict, by, arguments_sha256: sha256.into(), feedback }.json()
}
