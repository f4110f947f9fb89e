//! The events of an audit, as they are written.

use super::{FORMAT, VERSION, digest};
use crate::policy::detector::{ActionKind, Severity};
use crate::policy::verdict::Verdict;
use crate::record::{Call, Form};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// An action of a gate.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// A gate began to write.
    Start {
        /// Its name.
        command: &'a str,
        /// The program's version.
        program: &'a str,
    },
    /// policy-check judged a call, or a line that it could not read.
    Verdict {
        /// The call or the line.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// The form of the call; none for a line that can't be read.
        #[serde(serialize_with = "form_name")]
        form: Option<Form>,
        /// The policy's verdict.
        verdict: Verdict,
        /// The rule that decided.
        rule: &'a str,
        /// For people.
        reason: &'a str,
        /// The kind of action.
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<ActionKind>,
        /// How strongly it is shown.
        #[serde(skip_serializing_if = "Option::is_none")]
        severity: Option<Severity>,
        /// Whether verdicts were enforced.
        mode: Mode,
        /// What was done with the call.
        did: Did,
    },
    /// hitl-gate asked a person.
    Asked {
        /// The call.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// The nonce that an answer must have.
        nonce: &'a str,
    },
    /// A question was settled.
    Settled {
        /// The call, as the person was asked about it.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// The outcome.
        verdict: Settlement,
        /// Who or what settled it.
        by: By,
        /// The person's feedback.
        #[serde(skip_serializing_if = "Option::is_none")]
        feedback: Option<&'a str>,
        /// The [`digest`] of the approved arguments, if the person edited them.
        #[serde(skip_serializing_if = "Option::is_none")]
        digest_after: Option<&'a str>,
    },
    /// hitl-gate passed a call on.
    Passed {
        /// The call, as it passed.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// Whether it needed a person's approval.
        required_approval: bool,
    },
    /// A call that had passed was never written to the other side, which accepts no more lines.
    Undelivered {
        /// The call, as it passed.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// Whether it had passed or been marked.
        did: Did,
    },
    /// A person has added a rule that allows calls until the gate ends.
    Allowed {
        /// `session-1` and so on.
        rule_id: &'a str,
        /// The [`digest`] of its text, which may hold arguments.
        digest: &'a str,
        /// Who added it.
        by: By,
    },
    /// Such a rule was revoked.
    Revoked {
        /// Its id.
        rule_id: &'a str,
    },
    /// The gate ended in order.
    End,
}

impl Event<'_> {
    /// The fields of its line, for [`Chain::link`](super::Chain::link). `time` is in RFC 3339.
    pub fn fields(&self, time: &str) -> String {
        #[derive(Serialize)]
        struct Timed<'a> {
            time: &'a str,
            #[serde(flatten)]
            event: &'a Event<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            format: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            version: Option<u64>,
        }
        let is_start = matches!(self, Event::Start { .. });
        let (format, version) = (is_start.then_some(FORMAT), is_start.then_some(VERSION));
        // It has texts and JSON under plain keys only, so it can't fail.
        let object = serde_json::to_string(&Timed { time, event: self, format, version }).unwrap_or_default();
        object.strip_prefix('{').and_then(|inside| inside.strip_suffix('}')).unwrap_or_default().to_owned()
    }
}

/// The call that an event is about.
#[derive(Debug, Clone, Serialize)]
pub struct Subject<'a> {
    /// Its id as it was written; `null` if it has none.
    pub call_id: Option<&'a RawValue>,
    /// Its tool; none for a line that can't be read.
    pub tool: Option<&'a str>,
    /// The [`digest`] of its arguments; of the whole line, if that can't be read.
    pub digest: String,
}

impl<'a> Subject<'a> {
    /// The subject of a call. Without arguments, the digest is that of an empty text.
    pub fn of(call: &'a Call<'_>) -> Subject<'a> {
        let arguments = call.arguments.map_or("", RawValue::get);
        Subject { call_id: call.id, tool: Some(&call.tool), digest: digest(arguments) }
    }
}

/// Whether verdicts are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// They are.
    Enforce,
    /// They are only recorded: every call passes.
    Observe,
}

/// What a gate did with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Did {
    /// Passed it on as it came.
    Passed,
    /// Passed it on with a mark: a person must approve it.
    Marked,
    /// Answered it with an error.
    Refused,
}

/// The outcome of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// The call may pass as it is.
    Approved,
    /// It may pass with other arguments.
    Edited,
    /// It may not.
    Rejected,
}

/// Who or what settled it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A person at the terminal.
    Terminal,
    /// The `--answers` channel.
    Answers,
    /// The user of the MCP client, according to the client.
    Client,
    /// A person, in a client that the gate is connected to.
    Approver,
    /// A rule that a person added earlier in the run.
    Session,
    /// The timeout: nobody answered.
    Timeout,
    /// There was nobody to ask.
    Nobody,
    /// The end of the run: nobody had answered.
    End,
    /// The caller, who cancelled the call.
    Caller,
}

impl Settlement {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Settlement::Approved => "approved",
            Settlement::Edited => "edited",
            Settlement::Rejected => "rejected",
        }
    }
}

impl By {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            By::Terminal => "terminal",
            By::Answers => "answers",
            By::Client => "client",
            By::Approver => "approver",
            By::Session => "session",
            By::Timeout => "timeout",
            By::Nobody => "nobody",
            By::End => "end",
            By::Caller => "caller",
        }
    }
}

fn form_name<S: Serializer>(form: &Option<Form>, to: S) -> Result<S::Ok, S::Error> {
    let name = form.map(|form| match form {
        Form::Record => "record",
        Form::Short => "short",
        Form::Godot => "godot",
        Form::JsonRpc => "jsonrpc",
    });
    name.serialize(to)
}
