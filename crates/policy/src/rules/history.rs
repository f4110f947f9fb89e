//! Rules over the session: which calls a gate has let pass before the one that it judges.
//!
//! ```toml
//! [[rule]]
//! id = "tests"                                   # no verdict: it only counts
//! arguments = { ".command" = { command = "cargo test *" } }
//!
//! [[rule]]
//! id = "test-first"
//! verdict = "deny"
//! arguments = { ".command" = "git push*" }
//! before = "tests"
//! ```

use super::{Rule, Rules};
use crate::verdict::Verdict;
use pipewright_record::Reason;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// At most this many calls are kept for a rule, and `calls` is at most this.
const MAX_COUNTED: usize = 1000;

/// More calls than a rule allows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Beyond {
    /// So many calls do not count.
    calls: usize,
    /// Only those within this time count.
    per: Option<Period>,
}

/// A time, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Period(pub u64);

impl TryFrom<String> for Period {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Period, &'static str> {
        let units = [("s", 1), ("m", 60), ("h", 60 * 60), ("d", 24 * 60 * 60)];
        let read = units.iter().find_map(|(unit, seconds)| {
            let number = text.strip_suffix(unit)?.parse::<u32>().ok()?;
            Some(Period(u64::from(number) * seconds))
        });
        read.filter(|period| period.0 > 0).ok_or("a time is a whole number with s, m, h or d: 90s, 10m, 1h, 7d")
    }
}

/// What a gate has let pass in a session, by the ids of the rules that count it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History(BTreeMap<String, Vec<CountedCall>>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CountedCall {
    /// Seconds since 1970.
    at: u64,
    /// The id of the call, as long as a person may still reject it.
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<String>,
    is_certain: bool,
}

/// A call that a gate lets pass.
#[derive(Debug, Clone, Copy)]
pub struct PassingCall<'a> {
    /// Its id, JSON text, if it has one.
    pub id: Option<&'a str>,
    /// Seconds since 1970.
    pub at: u64,
    /// Nobody can still reject it.
    pub is_certain: bool,
}

/// What has become of a call that a person was to approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// It was carried out.
    Done,
    /// It was carried out, and has failed.
    Failed,
    /// It was not carried out.
    Refused,
}

impl History {
    /// Takes a call that these rules count. If another call with its id is open, an answer may belong to either: what
    /// has become of the other one is never known.
    pub fn take<'r>(&mut self, rules: impl IntoIterator<Item = &'r str>, call: PassingCall<'_>) {
        let same = self.0.values_mut().flatten().filter(|other| call.id.is_some() && other.open.as_deref() == call.id);
        same.for_each(|other| other.open = None);
        let open = call.id.filter(|_| !call.is_certain);
        for rule in rules {
            let counted = self.0.entry(rule.to_owned()).or_default();
            if counted.len() == MAX_COUNTED {
                counted.remove(0);
            }
            counted.push(CountedCall { at: call.at, open: open.map(str::to_owned), is_certain: call.is_certain });
        }
    }

    /// Takes the outcome of a call. One that has failed may have been carried out in part.
    pub fn settle(&mut self, id: &str, outcome: CallOutcome) {
        for counted in self.0.values_mut() {
            let Some(at) = counted.iter().position(|call| call.open.as_deref() == Some(id)) else { continue };
            match outcome {
                CallOutcome::Refused => _ = counted.remove(at),
                CallOutcome::Done | CallOutcome::Failed => {
                    counted[at].open = None;
                    counted[at].is_certain = outcome == CallOutcome::Done;
                }
            }
        }
    }

    /// Whether a call may still be settled.
    pub fn has_open(&self) -> bool {
        self.0.values().flatten().any(|call| call.open.is_some())
    }

    fn has(&self, rule: &str, is_certain: bool) -> bool {
        self.0.get(rule).is_some_and(|counted| counted.iter().any(|call| call.is_certain || !is_certain))
    }

    fn count(&self, rule: &str, period: Option<Period>, now: u64) -> usize {
        // A clock that was set back makes no call older.
        let counts = |call: &&CountedCall| period.is_none_or(|period| now.saturating_sub(call.at) < period.0);
        self.0.get(rule).map_or(0, |counted| counted.iter().filter(counts).count())
    }
}

impl Rules {
    /// Whether a rule depends on earlier calls.
    pub fn have_history(&self) -> bool {
        self.rules.iter().any(Rule::is_counted)
    }

    /// Whether a rule that matches a call also does so after these calls.
    pub fn holds_after(&self, index: usize, history: &History, now: u64) -> bool {
        let rule = &self.rules[index];
        // If it is uncertain whether a call was carried out, the strict side is taken.
        let allows = rule.verdict == Some(Verdict::Allow);
        rule.after.as_ref().is_none_or(|id| history.has(id, allows))
            && rule.before.as_ref().is_none_or(|id| !history.has(id, !allows))
            && rule.beyond.as_ref().is_none_or(|beyond| history.count(&rule.id, beyond.per, now) >= beyond.calls)
    }
}

impl Rule {
    /// Whether calls that it matches are counted.
    pub fn is_counted(&self) -> bool {
        self.beyond.is_some() || self.verdict.is_none()
    }

    /// Whether it counts calls that must certainly have been carried out.
    pub(super) fn is_prerequisite(&self) -> bool {
        self.verdict.is_none() && self.allows
    }
}

/// Checks the conditions on earlier calls, and sets how each rule reads a call whose meaning is uncertain.
///
/// # Errors
/// What is wrong, after the line of the rule.
pub(super) fn check(rules: &mut [Rule]) -> Result<(), Reason> {
    let mut readings: BTreeMap<String, bool> = BTreeMap::new();
    for rule in rules.iter() {
        let wrong = |why: String| Reason::from(format!("{}: rule {:?}: {why}", rule.line, rule.id));
        let allows = rule.verdict == Some(Verdict::Allow);
        let named = [("after", &rule.after, allows), ("before", &rule.before, !allows)];
        for (key, id, is_certain) in named.into_iter().filter_map(|(key, id, is)| Some((key, id.as_ref()?, is))) {
            match rules.iter().find(|other| other.id == *id) {
                None => return Err(wrong(format!("{key}: no rule has the id {id:?}"))),
                Some(other) if other.verdict.is_some() => {
                    let advice = "it must only count, without a `verdict`";
                    return Err(wrong(format!("{key}: rule {id:?} has a verdict: {advice}")));
                }
                Some(_) => {}
            }
            if readings.insert(id.clone(), is_certain).is_some_and(|other| other != is_certain) {
                let why = "a call of which that is uncertain cannot count for one rule and not for the other: write \
                           two rules";
                return Err(wrong(format!("{key}: {id:?} is named in `after` and in `before`: {why}")));
            }
        }
        match &rule.beyond {
            Some(_) if rule.verdict.is_none_or(|verdict| verdict == Verdict::Allow) => {
                return Err(wrong("`beyond` is for rules that confirm or deny".to_owned()));
            }
            Some(beyond) if beyond.calls > MAX_COUNTED => {
                return Err(wrong(format!("beyond: `calls` is at most {MAX_COUNTED}")));
            }
            _ => {}
        }
        if rule.verdict.is_none() && (rule.after.is_some() || rule.before.is_some()) {
            return Err(wrong("a rule that only counts has no `after` and no `before`".to_owned()));
        }
    }
    for rule in rules {
        rule.allows = match (rule.verdict, readings.get(&rule.id)) {
            (Some(verdict), _) => verdict == Verdict::Allow,
            (None, Some(is_certain)) => *is_certain,
            (None, None) => {
                let why = "it has no `verdict`, and no rule names it in `after` or `before`";
                return Err(format!("{}: rule {:?}: {why}", rule.line, rule.id).into());
            }
        };
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_within_their_time_until_they_are_refused() {
        let mut history = History::default();
        let call = |id, at, is_certain| PassingCall { id, at, is_certain };
        for (id, at) in [("1", 100), ("3", 150), ("2", 200)] {
            history.take(["a"], call(Some(id), at, false));
        }
        let hour = Some(Period(60));
        assert_eq!(
            (history.count("a", None, 200), history.count("a", hour, 200), history.count("a", hour, 209)),
            (3, 2, 2)
        );
        assert_eq!((history.count("a", hour, 210), history.count("a", hour, 50)), (1, 3), "a clock may be set back");
        assert!(history.has("a", false) && !history.has("a", true) && !history.has("b", false));
        history.settle("1", CallOutcome::Refused);
        assert_eq!(history.count("a", None, 200), 2);
        history.settle("3", CallOutcome::Failed);
        assert!(!history.has("a", true) && history.has_open());
        history.settle("2", CallOutcome::Done);
        history.settle("2", CallOutcome::Refused);
        assert!(history.has("a", true) && !history.has_open());
        history.take(["b"], call(Some("4"), 1, false));
        history.take([], call(Some("4"), 1, true));
        history.settle("4", CallOutcome::Done);
        assert!(!history.has("b", true), "an answer to either of two calls");
        let kept: History = serde_json::from_str(&serde_json::to_string(&history).unwrap()).unwrap();
        assert_eq!(kept, history);
        for _ in 0..2 * MAX_COUNTED {
            history.take(["a"], call(None, 1, true));
        }
        assert_eq!(history.count("a", None, 1), MAX_COUNTED);
    }

    #[test]
    fn a_rule_that_cannot_be_applied_is_refused() {
        let count = "[[rule]]\nid = \"a\"\ntool = \"a\"\n";
        for (text, why) in [
            (count.to_owned(), "1: rule \"a\": it has no `verdict`, and no rule names it"),
            ("[[rule]]\nid = \"b\"\nverdict = \"deny\"\nafter = \"a\"".to_owned(), "after: no rule has the id \"a\""),
            (
                "[[rule]]\nid = \"a\"\nverdict = \"deny\"\n[[rule]]\nid = \"b\"\nverdict = \"deny\"\nafter = \"a\""
                    .to_owned(),
                "rule \"a\" has a verdict",
            ),
            (
                format!(
                    "{count}[[rule]]\nid = \"b\"\nverdict = \"deny\"\nafter = \"a\"\n[[rule]]\nid = \"c\"\nverdict = \"deny\"\nbefore = \"a\""
                ),
                "write two rules",
            ),
            (format!("{count}after = \"b\"\n[[rule]]\nid = \"b\"\ntool = \"b\"\nbefore = \"a\""), "only counts has no"),
            ("[[rule]]\nid = \"a\"\nverdict = \"allow\"\nbeyond = { calls = 1 }".to_owned(), "confirm or deny"),
            ("[[rule]]\nid = \"a\"\nverdict = \"deny\"\nbeyond = { calls = 1001 }".to_owned(), "at most 1000"),
            (
                "[[rule]]\nid = \"a\"\nverdict = \"deny\"\nbeyond = { calls = 1, per = \"1 hour\" }".to_owned(),
                "a time is a whole number",
            ),
            ("[[rule]]\nid = \"a\"\nverdict = \"deny\"\nbeyond = { per = \"1h\" }".to_owned(), "calls"),
        ] {
            let error = Rules::read(&text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
