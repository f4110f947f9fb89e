//! Where an address leads.

use super::{JudgedCall, allow, found, text};
use crate::policy::detector::ActionKind;
use crate::policy::identifier::words;
use crate::policy::verdict::{Decision, Verdict};

/// Judges a call that leads to an address.
pub fn judge_address(call: &JudgedCall<'_>) -> Decision {
    let Some(address) = text(&call.arguments, "url").or_else(|| text(&call.arguments, "href")) else {
        return allow("it only leads elsewhere");
    };
    let lower = address.trim_start().to_lowercase();
    let scheme = lower.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| {
        scheme.chars().all(|one| one.is_ascii_alphanumeric() || "+-.".contains(one)) && !scheme.contains('.')
    });
    match scheme {
        Some("javascript" | "vbscript") => {
            found(ActionKind::Run, "builtin.address", "the address is a program".to_owned())
        }
        None | Some("http" | "https" | "about" | "localhost") => judge_path(&lower),
        Some(scheme) => {
            let why = format!("where {scheme}: leads isn't known");
            Decision::new(Verdict::Confirm, "builtin.address", why)
        }
    }
}

/// An address may do what it says: some sites delete at a GET.
fn judge_path(address: &str) -> Decision {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let path = path.split_once("://").map_or(path, |(_, rest)| rest).split_once('/').map_or("", |(_, path)| path);
    let segments = path.split('/').chain(query.split(['&', '=']));
    for segment in segments {
        if let ["delete" | "remove" | "destroy" | "purge" | "erase" | "unsubscribe" | "deactivate", ..] =
            words(segment).iter().map(String::as_str).collect::<Vec<_>>()[..]
        {
            return found(ActionKind::Delete, "builtin.address", format!("the address says {segment:?}"));
        }
    }
    allow("it only leads elsewhere")
}
