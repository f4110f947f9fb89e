//! The decision about a call, and its reasons.

use super::detector::{ActionKind, Finding, Severity};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The verdict on a call. Of several, the strictest counts; the order is from lenient to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It passes.
    Allow,
    /// It passes after a person has approved it.
    Confirm,
    /// It does not pass.
    Deny,
}

impl Verdict {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Confirm => "confirm",
            Verdict::Deny => "deny",
        }
    }
}

/// A verdict with its reasons; as JSON it is a call's `policy`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The verdict on the call.
    pub verdict: Verdict,
    /// The id of the rule that decided; the built-in ones begin with `builtin.`.
    pub rule: Cow<'static, str>,
    /// For people.
    pub reason: Cow<'static, str>,
    /// What the call does, if that is destructive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ActionKind>,
    /// How strongly it is to be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Whether a part of the call pays or orders; `kind` may be another part's.
    #[serde(skip)]
    pub pays: bool,
    /// Whether a part of the call is text that is run: a command, code, SQL. Another call of the same tool may then do anything.
    #[serde(skip)]
    pub runs_text: bool,
}

impl Decision {
    /// A decision about a call that is not known to be destructive.
    pub fn new(verdict: Verdict, rule: impl Into<Cow<'static, str>>, reason: impl Into<Cow<'static, str>>) -> Decision {
        let (rule, reason) = (rule.into(), reason.into());
        Decision { verdict, rule, reason, kind: None, severity: None, pays: false, runs_text: false }
    }

    /// The decision to ask a person about a finding.
    pub fn confirm(rule: &'static str, found: Finding) -> Decision {
        let Finding { kind, severity, because } = found;
        let decision = Decision::new(Verdict::Confirm, rule, because);
        Decision { kind: Some(kind), severity: Some(severity), pays: kind.is_payment(), ..decision }
    }

    /// The stricter of two; of equals the one with a `kind`, else this one. It pays, or runs text, if either does.
    #[must_use]
    pub fn or_stricter(self, other: Decision) -> Decision {
        let weight = |decision: &Decision| (decision.verdict, decision.kind.is_some());
        let (pays, runs_text) = (self.pays || other.pays, self.runs_text || other.runs_text);
        let stricter = if weight(&other) > weight(&self) { other } else { self };
        Decision { pays, runs_text, ..stricter }
    }

    /// JSON text: a call's `policy`.
    pub fn json(&self) -> String {
        // It has names and texts only, so it can't fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_wins_and_of_equals_the_one_with_a_kind() {
        let found = Finding { kind: ActionKind::Pay, severity: Severity::Strong, because: "pay".to_owned() };
        let allow = Decision::new(Verdict::Allow, "a", "");
        let (confirm, pay) = (Decision::new(Verdict::Confirm, "c", ""), Decision::confirm("p", found));
        let deny = Decision::new(Verdict::Deny, "d", "");
        assert_eq!(allow.clone().or_stricter(confirm.clone()).rule, "c");
        assert_eq!(confirm.clone().or_stricter(pay.clone()).rule, "p");
        assert_eq!(pay.clone().or_stricter(confirm).rule, "p");
        assert_eq!(pay.clone().or_stricter(deny).or_stricter(allow).rule, "d");
        assert_eq!(pay.json(), r#"{"verdict":"confirm","rule":"p","reason":"pay","kind":"pay","severity":"strong"}"#);
    }
}
