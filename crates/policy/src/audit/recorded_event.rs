//! An event of an audit, as the verifier reads it.

use super::FORMAT;
use super::event::Did;
use crate::verdict::Verdict;
use pipewright_lines::why_not_json;
use pipewright_record::Settlement;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// An event with the fields that the verifier uses.
#[derive(Debug, Deserialize)]
pub(super) struct RecordedEvent<'a> {
    #[serde(borrow)]
    pub(super) time: Cow<'a, str>,
    pub(super) event: Name,
    #[serde(borrow)]
    pub(super) call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool: Option<&'a RawValue>,
    #[serde(borrow)]
    digest: Option<Cow<'a, str>>,
    #[serde(borrow)]
    digest_after: Option<Cow<'a, str>>,
    #[serde(borrow)]
    verdict: Option<Cow<'a, str>>,
    did: Option<Did>,
    required_approval: Option<bool>,
    #[serde(borrow)]
    format: Option<Cow<'a, str>>,
    version: Option<u64>,
    #[serde(borrow)]
    command: Option<Cow<'a, str>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Name {
    Start,
    Verdict,
    Asked,
    Settled,
    Passed,
    Undelivered,
    Allowed,
    Revoked,
    End,
}

/// The meaning of an event for the approval of calls.
#[derive(Debug)]
pub(super) enum Meaning<'a> {
    Start {
        version: u64,
        command: &'a str,
    },
    Verdict {
        digest: &'a str,
        verdict: Verdict,
        did: Did,
    },
    Asked {
        digest: &'a str,
    },
    Settled {
        digest: &'a str,
        settlement: Settlement,
        passes: &'a str,
    },
    Passed {
        digest: &'a str,
        required_approval: bool,
    },
    Undelivered {
        digest: &'a str,
        did: Did,
    },
    /// A rule was added or revoked; the calls that it allows are settled one by one.
    Rule,
    End,
}

impl<'a> RecordedEvent<'a> {
    pub(super) fn read(line: &'a str) -> Result<RecordedEvent<'a>, String> {
        serde_json::from_str(line).map_err(|error| why_not_json(&error))
    }

    pub(super) fn meaning(&self) -> Result<Meaning<'_>, String> {
        let digest = || needed("digest", self.digest.as_deref());
        let verdict = || needed("verdict", self.verdict.as_deref());
        Ok(match self.event {
            Name::Start if self.format.as_deref() != Some(FORMAT) => {
                return Err(format!("its format is not {FORMAT:?}"));
            }
            Name::Start => Meaning::Start {
                version: needed("version", self.version)?,
                command: needed("command", self.command.as_deref())?,
            },
            Name::Verdict => {
                Meaning::Verdict { digest: digest()?, verdict: known(verdict()?)?, did: needed("did", self.did)? }
            }
            Name::Asked => Meaning::Asked { digest: digest()? },
            Name::Settled => {
                let settlement = known(verdict()?)?;
                let passes = match settlement {
                    Settlement::Edited => needed("digest_after", self.digest_after.as_deref())?,
                    Settlement::Approved | Settlement::Rejected => digest()?,
                };
                Meaning::Settled { digest: digest()?, settlement, passes }
            }
            Name::Passed => Meaning::Passed {
                digest: digest()?,
                required_approval: needed("required_approval", self.required_approval)?,
            },
            Name::Undelivered => Meaning::Undelivered { digest: digest()?, did: needed("did", self.did)? },
            Name::Allowed | Name::Revoked => Meaning::Rule,
            Name::End => Meaning::End,
        })
    }
}

fn needed<T>(key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("it has no {key}"))
}

/// Reads a word as a value of an enum.
fn known<'a, T: Deserialize<'a>>(word: &'a str) -> Result<T, String> {
    let word = serde::de::value::BorrowedStrDeserializer::<serde::de::value::Error>::new(word);
    T::deserialize(word).map_err(|error| error.to_string())
}
