//! What is decided about a call, and why.

use super::detector::{ActionKind, Finding, Severity};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What becomes of a call; the strictest of several counts, and they stand in that order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It passes.
    Allow,
    /// It passes once a person has agreed.
    Confirm,
    /// It doesn't pass.
    Deny,
}

impl Verdict {
    /// As it stands in records.
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
    /// What becomes of the call.
    pub verdict: Verdict,
    /// The id of the rule that says so; those that are built in begin with `builtin.`.
    pub rule: Cow<'static, str>,
    /// For people.
    pub reason: Cow<'static, str>,
    /// What the call does, where that is destructive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ActionKind>,
    /// How strongly that is to be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Whether some part of the call pays or orders, whatever `kind` is.
    #[serde(skip)]
    pub pays: bool,
}

impl Decision {
    /// A decision about a call that destroys nothing, as far as is known.
    pub fn new(verdict: Verdict, rule: impl Into<Cow<'static, str>>, reason: impl Into<Cow<'static, str>>) -> Decision {
        Decision { verdict, rule: rule.into(), reason: reason.into(), kind: None, severity: None, pays: false }
    }

    /// A person is to be asked about what was found.
    pub fn confirm(rule: &'static str, found: Finding) -> Decision {
        let Finding { kind, severity, because } = found;
        let decision = Decision::new(Verdict::Confirm, rule, because);
        Decision { kind: Some(kind), severity: Some(severity), pays: kind.is_payment(), ..decision }
    }

    /// The stricter of two; of equals the one that knows what the call does, else this one. It pays where either does.
    #[must_use]
    pub fn or_stricter(self, other: Decision) -> Decision {
        let weight = |decision: &Decision| (decision.verdict, decision.kind.is_some());
        let pays = self.pays || other.pays;
        let stricter = if weight(&other) > weight(&self) { other } else { self };
        Decision { pays, ..stricter }
    }

    /// JSON text: a call's `policy`.
    pub fn json(&self) -> String {
        // Names and texts: there is nothing in them that can't be JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_wins_and_of_equals_the_one_that_knows_more() {
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
