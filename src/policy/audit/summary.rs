//! What was found in an audit.

use super::chain::Fault;
use super::event::Settlement;
use crate::policy::verdict::Verdict;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;

/// What was found in one file. As JSON, it is what `policy-check verify` prints.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// Whole lines that are entries.
    pub entries: u64,
    /// What the policy said.
    pub verdicts: Verdicts,
    /// How often a person was asked.
    pub asked: u64,
    /// Questions that were answered with yes.
    pub approved: u64,
    /// Those where the call was changed first.
    pub edited: u64,
    /// Those that were answered with no, or not at all.
    pub rejected: u64,
    /// Questions that were open when hitl-gate was killed, or are open still. Their calls did not pass.
    #[serde(skip_serializing_if = "is_none")]
    pub unanswered: u64,
    /// Calls that hitl-gate let pass.
    pub passed: u64,
    /// Calls that a gate let pass and that were never written to the other side; they are counted where they passed, too.
    #[serde(skip_serializing_if = "is_none")]
    pub undelivered: u64,
    /// Where the chain is broken first. What stands behind it is looked at, and proves nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
    /// A last line without its line feed: its writer was stopped in the middle. Nothing is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torn: Option<u64>,
    /// Calls that passed without approval, up to [`Summary::LISTED`].
    pub unapproved: Vec<Unapproved>,
    /// How many more there are.
    #[serde(skip_serializing_if = "is_none")]
    pub more_unapproved: u64,
    /// Marked calls of which nothing can be known: no audit of hitl-gate was given.
    #[serde(skip_serializing_if = "is_none")]
    pub unchecked: u64,
    /// Whether its last session was ended in order. Where it wasn't, the gate is running still or was killed, or lines
    /// were cut off.
    pub ended: bool,
    /// The last entry's hash. Kept elsewhere, it tells whether the file was shortened or written anew.
    pub last_hash: Option<String>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// How often each.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs)] // the names say it
pub struct Verdicts {
    pub allow: u64,
    pub confirm: u64,
    pub deny: u64,
}

impl Verdicts {
    pub(super) fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Allow => &mut self.allow,
            Verdict::Confirm => &mut self.confirm,
            Verdict::Deny => &mut self.deny,
        } += 1;
    }
}

/// Where a chain is broken, and why.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// From 1.
    pub line: u64,
    /// What is wrong there.
    #[serde(serialize_with = "in_words")]
    pub why: Fault,
}

fn in_words<S: Serializer>(fault: &Fault, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(fault)
}

/// A call that passed without its approval.
#[derive(Debug, Serialize)]
pub struct Unapproved {
    /// From 1: where it passed, or was marked.
    pub line: u64,
    /// As it was written; the digest of one that is too long to be shown.
    pub call_id: Option<Box<RawValue>>,
    /// The same.
    pub tool: Option<Box<RawValue>>,
    /// What it lacked.
    pub lack: Lack,
}

/// What a call lacked that passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// policy-check gave it on without a mark, though somebody was to be asked first: it only observed.
    Mark,
    /// policy-check gave it on, though it was not to be carried out at all.
    Refusal,
    /// It was marked, and no audit says that the question was settled.
    Settlement,
    /// hitl-gate let it pass, and nobody had approved that call with these arguments.
    Approval,
}

impl fmt::Display for Unapproved {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = |value: &Option<Box<RawValue>>| value.as_ref().map_or("null", |value| value.get()).to_owned();
        write!(to, "the call {} of {} ", json(&self.call_id), json(&self.tool))?;
        to.write_str(match self.lack {
            Lack::Mark => "passed unmarked, though somebody was to be asked about it",
            Lack::Refusal => "passed, though the policy denies it",
            Lack::Settlement => "was marked, and no audit given here says that it was settled",
            Lack::Approval => "passed, and nobody had approved it with these arguments",
        })
    }
}

impl Summary {
    /// More calls without approval are only counted.
    pub const LISTED: usize = 1000;

    /// Whether nothing is wrong: neither broken nor torn, and nothing passed that was not approved.
    pub fn is_well(&self) -> bool {
        self.broken.is_none() && self.torn.is_none() && self.unapproved.is_empty()
    }

    pub(super) fn count(&mut self, settlement: Settlement) {
        *match settlement {
            Settlement::Approved => &mut self.approved,
            Settlement::Edited => &mut self.edited,
            Settlement::Rejected => &mut self.rejected,
        } += 1;
    }

    pub(super) fn list(&mut self, call: Unapproved) {
        if self.unapproved.len() < Summary::LISTED {
            self.unapproved.push(call);
        } else {
            self.more_unapproved += 1;
        }
    }
}
