//! The events of an audit, as they are written.

use super::{Digest, FORMAT, Link, VERSION, digest};
use crate::detector::{ActionKind, Severity};
use crate::verdict::Verdict;
use pipewright_record::{Call, Form, Record, SettledBy, Settlement, named, schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

/// A line of a gate's audit.
///
/// seq and prev come first, in this order, and hash last. The hash is of the line's bytes before `,"hash"`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "audit_line")]
pub struct AuditLine<'a> {
    // Written by the chain.
    #[serde(flatten)]
    #[schemars(with = "Link<'a>")]
    link: Option<Link<'a>>,
    /// The time of the event.
    #[schemars(with = "schema::Time")]
    time: &'a str,
    #[serde(flatten)]
    event: &'a Event<'a>,
}

impl Record for AuditLine<'_> {}

/// An action of a gate.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// A gate started.
    Start {
        /// The name of the gate.
        command: &'a str,
        /// The version of the gate.
        program: &'a str,
        /// The name of the format.
        #[schemars(extend("const" = FORMAT))]
        format: &'static str,
        /// The version of the format.
        #[schemars(range(min = 1))]
        version: u64,
    },
    /// policy-check judged a call, or a line that it could not read.
    Verdict {
        /// The call or the line.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// The form of the call; null for a line that cannot be read.
        form: Option<Form>,
        /// The verdict on the call.
        verdict: Verdict,
        /// The id of the rule that decided.
        rule: &'a str,
        /// For people.
        reason: &'a str,
        /// The effect of the call, if that is destructive.
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<ActionKind>,
        /// How prominently to show it.
        #[serde(skip_serializing_if = "Option::is_none")]
        severity: Option<Severity>,
        /// Whether verdicts were enforced.
        mode: Mode,
        /// What the gate did with the call.
        did: Did,
    },
    /// hitl-gate asked a person.
    Asked {
        /// The call.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// The nonce that an answer must have.
        #[schemars(with = "schema::Nonce")]
        nonce: &'a str,
    },
    /// A question was settled.
    #[schemars(extend(
        "if" = { "properties": { "verdict": { "const": "edited" } } },
        "then" = { "required": ["digest_after"] }
    ))]
    Settled {
        /// The call, as the person was asked about it.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// How it was settled.
        verdict: Settlement,
        /// Who or what settled it.
        by: SettledBy,
        /// The person's feedback.
        #[serde(skip_serializing_if = "Option::is_none")]
        feedback: Option<&'a str>,
        /// The hash of the arguments that were approved, if the person edited them.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<Digest>")]
        digest_after: Option<&'a str>,
    },
    /// hitl-gate passed a call on.
    Passed {
        /// The call, as it passed.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// Whether a person had to be asked about the call.
        required_approval: bool,
    },
    /// A call that had passed was never written to the other side, which accepts no more lines.
    Undelivered {
        /// The call, as it passed.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// What the gate had done with the call.
        #[schemars(extend("enum" = ["passed", "marked"]))]
        did: Did,
    },
    /// A person has added a rule that allows calls until the gate ends.
    Allowed {
        /// The id of the rule.
        rule_id: &'a str,
        /// The hash of the rule's text, which may hold arguments.
        #[schemars(with = "Digest")]
        digest: &'a str,
        /// Who added it.
        by: SettledBy,
    },
    /// Such a rule was revoked.
    Revoked {
        /// The id of the rule.
        rule_id: &'a str,
    },
    /// The gate ended in order.
    End,
}

impl<'a> Event<'a> {
    /// The start of a gate: its name and its version.
    pub fn start(command: &'a str, program: &'a str) -> Event<'a> {
        Event::Start { command, program, format: FORMAT, version: VERSION }
    }

    /// The fields of its line, for [`Chain::link`](super::Chain::link). `time` is in RFC 3339.
    pub fn fields(&self, time: &str) -> String {
        let object = AuditLine { link: None, time, event: self }.json();
        object.strip_prefix('{').and_then(|inside| inside.strip_suffix('}')).unwrap_or_default().to_owned()
    }
}

/// The call that an event is about.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Subject<'a> {
    /// The id of the call, as it was written; null if it has none.
    #[schemars(with = "schema::Id")]
    pub call_id: Option<&'a RawValue>,
    /// The tool of the call; null for a line that cannot be read.
    pub tool: Option<&'a str>,
    /// The hash of the arguments of the call (of the empty text if they are left out), or of the line if that cannot be
    /// read.
    #[schemars(with = "Digest")]
    pub digest: String,
}

impl<'a> Subject<'a> {
    /// The subject of a call. Without arguments, the digest is that of an empty text.
    pub fn of(call: &'a Call<'_>) -> Subject<'a> {
        let arguments = call.arguments.map_or("", RawValue::get);
        Subject { call_id: call.id, tool: Some(&call.tool), digest: digest(arguments) }
    }
}

named! {
    /// Whether a gate enforces its verdicts.
    pub enum Mode as "gate_mode" {
        /// Verdicts are enforced.
        Enforce = "enforce",
        /// Verdicts are only recorded: every call passes.
        Observe = "observe",
    }
}

named! {
    /// What a gate did with a call.
    pub enum Did as "gate_action" {
        /// The call was passed on as it came.
        Passed = "passed",
        /// The call was passed on with a mark: a person must approve it.
        Marked = "marked",
        /// The call was answered with an error.
        Refused = "refused",
    }
}
