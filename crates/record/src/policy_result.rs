//! `policy_result`: how, and by whom, a held call was settled.

use super::{About, Record, named, schema};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

named! {
    /// How a question was settled.
    pub enum Settlement as "settlement" {
        /// The call passes unchanged.
        Approved = "approved",
        /// The call passes with other arguments.
        Edited = "edited",
        /// The call does not pass.
        Rejected = "rejected",
    }
}

named! {
    /// Who or what settled a question.
    pub enum SettledBy as "settled_by" {
        /// A person at the terminal.
        Terminal = "terminal",
        /// The channel of answers.
        Answers = "answers",
        /// The user of the MCP client, as the client claims.
        Client = "client",
        /// A person in a client that the gate is connected to.
        Approver = "approver",
        /// A rule that a person made earlier in the run.
        Session = "session",
        /// No answer in time.
        Timeout = "timeout",
        /// Nobody could be asked.
        Nobody = "nobody",
        /// No answer before the end.
        End = "end",
        /// The caller has cancelled the call.
        Caller = "caller",
    }
}

/// How, and by whom, a held call was settled.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "policy_result")]
pub struct PolicyResult<'a> {
    /// The call.
    #[serde(flatten)]
    pub about: About<'a>,
    /// The nonce of the question, if this is sent to an approver.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Nonce>")]
    pub nonce: Option<&'a str>,
    /// How it was settled.
    #[schemars(with = "Settlement")]
    pub verdict: Cow<'a, str>,
    /// Who or what settled it.
    #[schemars(with = "SettledBy")]
    pub by: Cow<'a, str>,
    /// The SHA-256 of the arguments with which the call passes or, if it is rejected, would have passed.
    #[schemars(with = "schema::Sha256")]
    pub arguments_sha256: Cow<'a, str>,
    /// A message to the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Cow<'a, str>>,
}

impl Record for PolicyResult<'_> {}
