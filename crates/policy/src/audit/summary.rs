//! The findings in an audit.

use super::Hash;
use super::chain::Fault;
use crate::verdict::Verdict;
use pipewright_record::{Record, Settlement, named, schema};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;

/// The result of a verification of audits.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "audit_verification")]
pub struct AuditVerification<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The findings in the file.
    #[serde(flatten)]
    pub summary: &'a Summary,
}

impl Record for AuditVerification<'_> {}

/// The findings in one file.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Summary {
    /// The number of complete lines that are entries.
    pub entries: u64,
    /// How often each verdict was given.
    pub verdicts: Verdicts,
    /// How often a person was asked.
    pub asked: u64,
    /// Questions that were answered with approval.
    pub approved: u64,
    /// Questions whose call was changed and approved.
    pub edited: u64,
    /// Questions that were rejected, or not answered at all.
    pub rejected: u64,
    /// Questions that were open when hitl-gate was killed, or are still open. Their calls did not pass.
    #[serde(skip_serializing_if = "is_none")]
    #[schemars(range(min = 1))]
    pub unanswered: u64,
    /// Calls that hitl-gate passed on.
    pub passed: u64,
    /// Calls that a gate passed on and that were never written to the other side; they are also counted as passed.
    #[serde(skip_serializing_if = "is_none")]
    #[schemars(range(min = 1))]
    pub undelivered: u64,
    /// The first break of the chain. The lines after it are read, and prove nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
    /// The number of a last line without its line feed: its writer was stopped in the middle. Its content is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub torn: Option<u64>,
    /// Calls that passed without approval.
    #[schemars(length(max = Summary::LISTED))]
    pub unapproved: Vec<Unapproved>,
    /// The number of further such calls.
    #[serde(skip_serializing_if = "is_none")]
    #[schemars(range(min = 1))]
    pub more_unapproved: u64,
    /// Marked calls that could not be checked, because no audit of hitl-gate was given.
    #[serde(skip_serializing_if = "is_none")]
    #[schemars(range(min = 1))]
    pub unchecked: u64,
    /// Whether its last session ended in order. If not, the gate is still running or was killed, or lines were cut off.
    pub ended: bool,
    /// The hash of the last entry; null if there is none. A copy of it, kept elsewhere, shows whether the file was
    /// shortened or written again.
    #[schemars(with = "Option<Hash>")]
    pub last_hash: Option<String>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// The number of each verdict.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
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

/// The place and the reason of a break.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Broken {
    /// The line, from 1.
    #[schemars(range(min = 1))]
    pub line: u64,
    /// What is wrong there.
    #[serde(serialize_with = "in_words")]
    #[schemars(with = "str")]
    pub why: Fault,
}

fn in_words<S: Serializer>(fault: &Fault, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(fault)
}

/// A call that passed without its approval.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Unapproved {
    /// The line, from 1, in which it passed or was marked.
    #[schemars(range(min = 1))]
    pub line: u64,
    /// The id of the call as it was written, or the digest of one that is too long to be shown.
    #[schemars(with = "schema::Id")]
    pub call_id: Option<Box<RawValue>>,
    /// The tool of the call, or the digest of a name that is too long to be shown.
    #[schemars(with = "Option<String>")]
    pub tool: Option<Box<RawValue>>,
    /// The missing step.
    pub lack: Lack,
}

named! {
    /// The missing step of a call that passed.
    pub enum Lack as "missing_step" {
        /// policy-check only observed: the call passed without a mark, although a person had to approve it.
        Mark = "mark",
        /// policy-check passed the call on, although the policy denies it.
        Refusal = "refusal",
        /// The call was marked, and no audit has the settlement of its question.
        Settlement = "settlement",
        /// hitl-gate passed the call on, and nobody had approved it with these arguments.
        Approval = "approval",
    }
}

impl fmt::Display for Unapproved {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = |value: &Option<Box<RawValue>>| value.as_ref().map_or("null", |value| value.get()).to_owned();
        write!(to, "the call {} of {} ", json(&self.call_id), json(&self.tool))?;
        to.write_str(match self.lack {
            Lack::Mark => "passed without a mark, though it needs approval",
            Lack::Refusal => "passed, though the policy denies it",
            Lack::Settlement => "was marked, and no audit given here has its settlement",
            Lack::Approval => "passed, and nobody had approved it with these arguments",
        })
    }
}

impl Summary {
    /// At most this many calls without approval are listed; more are only counted.
    pub const LISTED: usize = 1000;

    /// Whether nothing is wrong: the chain is intact, no line is torn, and every call that needed approval had it.
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
