//! Tools for the branches, tags and remotes of a repository.

use super::{JudgedCall, allow, plain_key, text};
use crate::lists::builtin::CHOOSING;
use crate::verdict::{Decision, Verdict};

/// Allows a call that only selects branches, tags or remotes of a repository to list.
pub(super) fn judge_refs(call: &JudgedCall<'_>) -> Decision {
    let lists = |key: &str| {
        let does = ["action", "mode", "operation"].contains(&key)
            && text(&call.arguments, key).is_some_and(|verb| verb == "list");
        does || CHOOSING.contains(&&*plain_key(key))
    };
    match call.arguments.iter().find(|(key, _)| !lists(key)) {
        None => allow("it lists what the repository has"),
        Some((key, _)) => {
            let why = format!("the effect of {key:?} in {} is not known", call.tool);
            Decision::new(Verdict::Confirm, "builtin.unknown", why)
        }
    }
}
