//! What stands in an audit, as it is written.

use super::{FORMAT, VERSION, digest};
use crate::policy::detector::{ActionKind, Severity};
use crate::policy::verdict::Verdict;
use crate::record::{Call, Form};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// Something that a gate did.
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
    /// policy-check judged a call, or a line that it couldn't read.
    Verdict {
        /// Which.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// How the call came; none of a line that can't be read.
        #[serde(serialize_with = "form_name")]
        form: Option<Form>,
        /// What the policy says.
        verdict: Verdict,
        /// By which of its rules.
        rule: &'a str,
        /// For people.
        reason: &'a str,
        /// What sort of action it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<ActionKind>,
        /// How strongly it is shown.
        #[serde(skip_serializing_if = "Option::is_none")]
        severity: Option<Severity>,
        /// Whether verdicts were carried out.
        mode: Mode,
        /// What was done with the call.
        did: Did,
    },
    /// hitl-gate asked a person.
    Asked {
        /// About which call.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// What the answer has to name.
        nonce: &'a str,
    },
    /// What became of the question.
    Settled {
        /// The call, as it was asked about.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// What was said.
        verdict: Settlement,
        /// By whom.
        by: By,
        /// What the person wrote.
        #[serde(skip_serializing_if = "Option::is_none")]
        feedback: Option<&'a str>,
        /// The [`digest`] of the arguments that were approved, where the person edited them.
        #[serde(skip_serializing_if = "Option::is_none")]
        digest_after: Option<&'a str>,
    },
    /// hitl-gate let a call pass.
    Passed {
        /// As it passed.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// Whether a person had to be asked about it.
        required_approval: bool,
    },
    /// A call that had passed was never written to the other side, which takes nothing any more.
    Undelivered {
        /// As it passed.
        #[serde(flatten)]
        subject: Subject<'a>,
        /// What had been done with it: it had passed, or been marked.
        did: Did,
    },
    /// A person has made a rule that allows calls until the gate ends.
    Allowed {
        /// `session-1` and so on.
        rule_id: &'a str,
        /// The [`digest`] of its text, which may hold arguments.
        digest: &'a str,
        /// Who has.
        by: By,
    },
    /// Such a rule was revoked.
    Revoked {
        /// Which.
        rule_id: &'a str,
    },
    /// The gate ended in order.
    End,
}

impl Event<'_> {
    /// The inside of its line, for [`Chain::link`](super::Chain::link). `time` is in RFC 3339.
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
        // Texts and JSON under plain keys: there is nothing in them that can't be written.
        let object = serde_json::to_string(&Timed { time, event: self, format, version }).unwrap_or_default();
        object.strip_prefix('{').and_then(|inside| inside.strip_suffix('}')).unwrap_or_default().to_owned()
    }
}

/// The call that something is said of.
#[derive(Debug, Clone, Serialize)]
pub struct Subject<'a> {
    /// As it was written; `null` where it has none.
    pub call_id: Option<&'a RawValue>,
    /// Its tool; none of a line that can't be read.
    pub tool: Option<&'a str>,
    /// The [`digest`] of its arguments; of the whole line, where that can't be read.
    pub digest: String,
}

impl<'a> Subject<'a> {
    /// What a call is known by. Left out, its arguments are an empty text.
    pub fn of(call: &'a Call<'_>) -> Subject<'a> {
        let arguments = call.arguments.map_or("", RawValue::get);
        Subject { call_id: call.id, tool: Some(&call.tool), digest: digest(arguments) }
    }
}

/// Whether verdicts are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// They are.
    Enforce,
    /// They are only written down: every call passes.
    Observe,
}

/// What policy-check did with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Did {
    /// Gave it on as it came.
    Passed,
    /// Gave it on with a mark: somebody has to be asked first.
    Marked,
    /// Answered it with an error.
    Refused,
}

/// What became of a question.
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

/// Who settled it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A person at the terminal.
    Terminal,
    /// The channel of answers.
    Answers,
    /// The user of the MCP client, as the client says.
    Client,
    /// A person, in a client that the gate is connected to.
    Approver,
    /// A rule that a person has made earlier in the run.
    Session,
    /// Nobody, in time.
    Timeout,
    /// Nobody: there was nobody to ask.
    Nobody,
    /// Nobody, before all ended.
    End,
    /// Whoever had made the call has taken it back.
    Caller,
}

impl Settlement {
    /// As it stands in records.
    pub fn name(self) -> &'static str {
        match self {
            Settlement::Approved => "approved",
            Settlement::Edited => "edited",
            Settlement::Rejected => "rejected",
        }
    }
}

impl By {
    /// As it stands in records.
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
