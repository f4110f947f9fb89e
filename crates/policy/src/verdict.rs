//! The decision about a call, and its reasons.

use super::detector::{ActionKind, Finding, Severity};
use pipewright_record::{json, named};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

named! {
    /// The verdict on a call. Of several, the strictest counts; the order is from lenient to strict.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Verdict as "verdict" {
        /// It passes.
        Allow = "allow",
        /// It passes after a person has approved it.
        Confirm = "confirm",
        /// It does not pass.
        Deny = "deny",
    }
}

/// A verdict on a call, with its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "decision")]
pub struct Decision {
    /// The verdict on the call.
    pub verdict: Verdict,
    /// The id of the rule; ids of built-in rules begin with `builtin.`.
    pub rule: Cow<'static, str>,
    /// For people.
    pub reason: Cow<'static, str>,
    /// The effect of the call, if that is destructive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ActionKind>,
    /// How prominently to show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Whether a part of the call pays or orders; `kind` may be another part's.
    #[serde(skip)]
    pub pays: bool,
    /// Whether a part of the call is text that is run: a command, code, SQL. Another call of the same tool may then do anything.
    #[serde(skip)]
    pub runs_text: bool,
    /// The length of `reason` without parts of the arguments at its end, which audits leave out.
    #[serde(skip)]
    pub plain_reason: Option<usize>,
}

impl Decision {
    /// A decision about a call that is not known to be destructive.
    pub fn new(verdict: Verdict, rule: impl Into<Cow<'static, str>>, reason: impl Into<Cow<'static, str>>) -> Decision {
        let (rule, reason) = (rule.into(), reason.into());
        Decision {
            verdict,
            rule,
            reason,
            kind: None,
            severity: None,
            pays: false,
            runs_text: false,
            plain_reason: None,
        }
    }

    /// The decision to ask a person about a finding.
    pub fn confirm(rule: &'static str, found: Finding) -> Decision {
        let Finding { kind, severity, because } = found;
        let decision = Decision::new(Verdict::Confirm, rule, because);
        Decision { kind: Some(kind), severity: Some(severity), pays: kind.is_payment(), ..decision }
    }

    /// Adds the parts of the arguments that caused the decision: `: "rm -rf build", "git push"`.
    #[must_use]
    pub fn with_parts(self, parts: &[String]) -> Decision {
        const SHOWN: usize = 3;
        const LENGTH: usize = 200;
        let shorten = |part: &String| match part.char_indices().nth(LENGTH) {
            Some((end, _)) => format!("{}...", &part[..end]),
            None => part.clone(),
        };
        let shown: Vec<String> = parts.iter().take(SHOWN).map(shorten).collect();
        let reason = match parts.len().saturating_sub(SHOWN) {
            _ if shown.is_empty() => return self,
            0 => format!("{}: {}", self.reason, shown.join(", ")),
            more => format!("{}: {}, and {more} more", self.reason, shown.join(", ")),
        };
        Decision { plain_reason: Some(self.reason.len()), reason: reason.into(), ..self }
    }

    /// The decision about a call of a tool that its server has changed since it was listed first.
    #[must_use]
    pub fn of_changed_tool(self) -> Decision {
        const CHANGED: &str =
            "its server has changed the tool's description or schema in this session; apart from that: ";
        Decision {
            verdict: self.verdict.max(Verdict::Confirm),
            rule: if self.verdict == Verdict::Deny { self.rule } else { "builtin.changed_tool".into() },
            plain_reason: self.plain_reason.map(|end| end + CHANGED.len()),
            reason: format!("{CHANGED}{}", self.reason).into(),
            ..self
        }
    }

    /// The reason without parts of the arguments.
    pub fn plain_reason(&self) -> &str {
        self.plain_reason.and_then(|end| self.reason.get(..end)).unwrap_or(&self.reason)
    }

    /// The stricter of two; of equals the one with a `kind`, else this one. It pays, or runs text, if either does.
    #[must_use]
    pub fn stricter(self, other: Decision) -> Decision {
        let weight = |decision: &Decision| (decision.verdict, decision.kind.is_some());
        let (pays, runs_text) = (self.pays || other.pays, self.runs_text || other.runs_text);
        let stricter = if weight(&other) > weight(&self) { other } else { self };
        Decision { pays, runs_text, ..stricter }
    }

    /// JSON text: a call's `policy`.
    pub fn json(&self) -> String {
        json::text(self)
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
        assert_eq!(allow.clone().stricter(confirm.clone()).rule, "c");
        assert_eq!(confirm.clone().stricter(pay.clone()).rule, "p");
        assert_eq!(pay.clone().stricter(confirm).rule, "p");
        assert_eq!(pay.clone().stricter(deny).stricter(allow).rule, "d");
        assert_eq!(pay.json(), r#"{"verdict":"confirm","rule":"p","reason":"pay","kind":"pay","severity":"strong"}"#);
    }
}
