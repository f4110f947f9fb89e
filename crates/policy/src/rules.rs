//! Rules that people write, in TOML: which calls they match, and the verdict on those. The strictest verdict of all
//! matching rules and the built-in policy counts.
//!
//! ```toml
//! [[rule]]
//! id = "own-folder"
//! verdict = "allow"                      # allow, confirm or deny
//! instead_of_builtin = true              # the built-in policy asks about writing
//! tool = ["read_text_file", "write_file"]        # globs
//! arguments = { ".path" = { within = "/home/me/project" } }
//! match = ['{"tool":"write_file","args":{"path":"/home/me/project/a"}}']
//! not_match = ['{"tool":"write_file","args":{"path":"/home/me/project/../.ssh/config"}}']
//! ```

mod command;
mod condition;
mod facts;
mod folder;
mod history;
mod origin;
mod session;

pub use condition::Condition;
pub use facts::Facts;
pub use history::{CallOutcome, History, PassingCall, Period};
pub use session::{SessionRule, SessionRules, proposals, reach, table};

use super::detector::ActionKind;
use super::verdict::{Decision, Verdict};
use crate::arguments::{Row, rows};
use crate::lists::actions::DESCRIBING;
use crate::lists::rules::INCIDENTAL_KEYS;
use condition::Globs;
use history::Beyond;
use pipewright_lines::{Path, Paths, Step};
use pipewright_record::identifier::words;
use pipewright_record::toml_error::{describe, place};
use pipewright_record::{Fields, Reason};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use toml::Spanned;

/// A parsed rules file.
#[derive(Debug)]
pub struct Rules {
    /// Whether the built-in policy applies.
    pub builtin: bool,
    /// Without the built-in policy: the verdict on calls that no rule matches.
    pub default: Verdict,
    /// In the order of the file.
    pub rules: Vec<Rule>,
    /// The paths of all rules' arguments, and a finder for all of them at once.
    paths: Vec<Path>,
    finder: Paths,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "yes")]
    builtin: bool,
    default: Option<Spanned<Verdict>>,
    #[serde(default)]
    rule: Vec<Spanned<Rule>>,
}

fn yes() -> bool {
    true
}

/// One rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The line in its file on which it begins.
    #[serde(skip)]
    pub line: usize,
    /// The name of the rule in verdicts.
    pub id: String,
    /// The verdict on the calls that it matches. Without one, they only count for other rules.
    verdict: Option<Verdict>,
    /// For people.
    pub reason: Option<String>,
    /// What the calls do; it is shown to the person who is asked.
    pub kind: Option<ActionKind>,
    /// The built-in policy does not apply to the calls that this rule matches.
    #[serde(default)]
    pub instead_of_builtin: bool,
    /// The rule does not count for calls that pay or order according to the built-in policy.
    #[serde(default)]
    except_payments: bool,
    tool: Option<Globs>,
    agent: Option<Globs>,
    plan: Option<Globs>,
    session: Option<Globs>,
    #[serde(default)]
    target: BTreeMap<TargetField, Globs>,
    /// The call names files below this folder, and nothing else of which it is not known that it is no path.
    folder: Option<String>,
    #[serde(default)]
    arguments: BTreeMap<String, Condition>,
    /// The call has no arguments besides those in `arguments`, except some that do not change its effect.
    #[serde(default)]
    no_other_arguments: bool,
    /// A call that this rule counts has passed before.
    after: Option<String>,
    /// None has.
    before: Option<String>,
    /// So many calls that this rule matches have passed before.
    beyond: Option<Beyond>,
    /// A jq filter that must be true, too; the caller of [`Rules::matching`] runs it, over [`Facts::json`].
    pub when: Option<String>,
    /// Calls that it must match, as JSON.
    #[serde(default, rename = "match")]
    pub matches: Vec<String>,
    /// Calls that it must not match.
    #[serde(default, rename = "not_match")]
    pub not_matches: Vec<String>,
    /// The indices of the paths of `arguments` among all paths.
    #[serde(skip)]
    places: Vec<usize>,
    /// Whether it matches only what it certainly means, as rules that allow do.
    #[serde(skip)]
    allows: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TargetField {
    Role,
    Name,
    Value,
    Context,
    /// Not a glob: an origin.
    Origin,
}

/// Whether a rule's jq filter is true of a call, by the rule's index; if it cannot be run, why.
pub type FilterCheck<'a> = dyn FnMut(usize) -> Result<bool, Reason> + 'a;

fn check_id(rule: &Rule, before: &[Rule]) -> Result<(), String> {
    let Rule { line, id, .. } = rule;
    if id.is_empty() || id.starts_with("builtin") {
        return Err(format!("{line}: rule {id:?}: an id must not be empty and must not begin with `builtin`"));
    }
    match before.iter().find(|other| other.id == *id) {
        Some(other) => Err(format!("{line}: rule {id:?}: the rule on line {} has this id already", other.line)),
        None => Ok(()),
    }
}

impl Rules {
    /// Reads a rules file.
    ///
    /// # Errors
    /// What is wrong, after its place: `LINE: WHY` or `LINE:COLUMN: WHY`.
    pub fn read(text: &str) -> Result<Rules, Reason> {
        let File { builtin, default, rule } = toml::from_str::<File>(text).map_err(|error| describe(text, &error))?;
        if builtin && let Some(default) = &default {
            let line = place(text, default.span().start).0;
            return Err(format!(
                "{line}: `default` is for calls that no rule matches; it needs `builtin = false`, since the built-in \
                 policy asks about them"
            )
            .into());
        }
        let (mut paths, mut rules) = (Vec::new(), Vec::new());
        let with_line = |rule: Spanned<Rule>| Rule { line: place(text, rule.span().start).0, ..rule.into_inner() };
        let mut all: Vec<Rule> = rule.into_iter().map(with_line).collect();
        history::check(&mut all)?;
        for mut rule in all {
            let line = rule.line;
            check_id(&rule, &rules)?;
            rule.check_scope().map_err(|why| format!("{line}: rule {:?}: {why}", rule.id))?;
            for (path, condition) in &rule.arguments {
                let wrong = |why: &str| format!("{line}: rule {:?}: arguments: {path:?}: {why}", rule.id);
                let path = Path::parse(path).filter(|path| !path.steps().contains(&Step::Each));
                rule.places.push(paths.len());
                paths.push(path.ok_or_else(|| wrong("a path names one value, such as .path or .items[0].id"))?);
                condition.check(rule.allows).map_err(|why| wrong(&why))?;
            }
            rules.push(rule);
        }
        let default = default.map_or(Verdict::Confirm, Spanned::into_inner);
        Ok(Rules { builtin, default, rules, finder: Paths::new(&paths), paths })
    }

    /// Which rules match the call, by index, each with the reason if its filter cannot be run.
    pub fn matching(&self, facts: &Facts<'_>, when: &mut FilterCheck<'_>) -> Vec<(usize, Result<(), Reason>)> {
        let mut found = vec![None; self.paths.len()];
        if !self.paths.is_empty() {
            self.finder.find_in_json(facts.arguments, &mut found);
        }
        let found: Vec<ArgumentValue<'_>> = found
            .into_iter()
            .zip(&self.paths)
            .map(|(value, path)| match value {
                Some(value) => ArgumentValue::Value(value),
                None => ignoring_case(facts.arguments, path.steps())
                    .map_or(ArgumentValue::Nothing, ArgumentValue::InAnotherCase),
            })
            .collect();
        let of = |(index, rule): (usize, &Rule)| {
            if !rule.matches_call(facts, &found) {
                return None;
            }
            match &rule.when {
                None => Some((index, Ok(()))),
                Some(_) => match when(index) {
                    Ok(true) => Some((index, Ok(()))),
                    Ok(false) => None,
                    Err(why) => Some((index, Err(why))),
                },
            }
        };
        self.rules.iter().enumerate().filter_map(of).collect()
    }

    /// The decision on a call, from the rules that match it and the built-in policy's decision.
    pub fn decide(&self, matching: &[(usize, Result<(), Reason>)], builtin: Decision) -> Decision {
        let (pays, runs_text) = (builtin.pays, builtin.runs_text);
        // A rule that only counts decides nothing, unless it cannot be applied.
        let decides = |rule: &Rule, filtered: &Result<(), Reason>| rule.verdict.is_some() || filtered.is_err();
        let matching = matching.iter().filter(|(index, filtered)| {
            let rule = &self.rules[*index];
            decides(rule, filtered) && !(pays && rule.except_payments)
        });
        let is_certain = |(_, filtered): &&(usize, Result<(), Reason>)| filtered.is_ok();
        let settled = matching.clone().filter(is_certain).any(|(index, _)| self.rules[*index].instead_of_builtin);
        // A rule may know a call that the built-in policy does not know.
        let is_known = !builtin.rule.starts_with("builtin.unknown") || matching.clone().next().is_none();
        // The built-in policy denies what two readers could read differently: the rules have judged one reading only.
        let is_denied = builtin.verdict == Verdict::Deny;
        let mut decision = (is_denied || self.builtin && !settled && is_known).then_some(builtin);
        for (index, filtered) in matching {
            let own = self.rules[*index].decision(filtered);
            decision = Some(match decision {
                Some(decision) => decision.stricter(own),
                None => own,
            });
        }
        let mut decision = decision.unwrap_or_else(|| Decision::new(self.default, "default", "no rule matches it"));
        decision.pays |= pays;
        decision.runs_text |= runs_text;
        decision
    }
}

impl Rule {
    fn decision(&self, filtered: &Result<(), Reason>) -> Decision {
        match filtered {
            Ok(()) => {
                let reason = self.reason.clone().unwrap_or_else(|| format!("rule {}", self.id));
                let decision = Decision::new(self.verdict.unwrap_or(Verdict::Allow), self.id.clone(), reason);
                let pays = self.kind.is_some_and(ActionKind::is_payment);
                Decision { kind: self.kind, severity: self.kind.map(ActionKind::severity), pays, ..decision }
            }
            Err(why) => Decision::new(Verdict::Deny, self.id.clone(), format!("the rule cannot be applied: {why}")),
        }
    }

    /// Whether it has any condition; without one it matches every call.
    pub fn has_condition(&self) -> bool {
        let globs = [&self.tool, &self.agent, &self.plan, &self.session];
        let has_fields = !self.target.is_empty() || !self.arguments.is_empty() || self.no_other_arguments;
        let has_history = self.after.is_some() || self.before.is_some() || self.beyond.is_some();
        let has_fields = has_fields || self.folder.is_some() || has_history;
        globs.into_iter().any(Option::is_some) || has_fields || self.when.is_some()
    }

    /// Whether it has a condition on the agent.
    pub fn has_agent(&self) -> bool {
        self.agent.is_some()
    }

    /// Checks the origin and the folder.
    fn check_scope(&self) -> Result<(), String> {
        let origins = self.target.get(&TargetField::Origin).into_iter().flat_map(Globs::iter);
        if let Some(wrong) = origins.into_iter().find(|text| origin::read(text).is_none()) {
            return Err(format!(
                "target: origin: {wrong:?} is not an origin: write the scheme and the host, and the port if it is not \
                 the usual one, such as https://shop.example"
            ));
        }
        match &self.folder {
            Some(folder) if !folder.starts_with('/') => Err("`folder` must be an absolute path".to_owned()),
            Some(_) if !self.allows => {
                Err("`folder` is only for rules that allow; `within` is the condition for one argument".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn matches_call(&self, facts: &Facts<'_>, found: &[ArgumentValue<'_>]) -> bool {
        let is = |globs: &Option<Globs>, text: Option<&str>| {
            globs.as_ref().is_none_or(|globs| text.is_some_and(|text| globs.match_text(text)))
        };
        let target = |field: TargetField| -> Option<&str> {
            let target = facts.target?;
            match field {
                TargetField::Role => target.role.as_deref(),
                TargetField::Name => Some(&target.name),
                TargetField::Value => target.value.as_deref(),
                TargetField::Context => target.context.as_deref(),
                TargetField::Origin => target.origin.as_deref(),
            }
        };
        is(&self.tool, Some(facts.tool))
            && !(self.is_prerequisite() && self.tool.is_none() && only_describes(facts.tool))
            && is(&self.agent, facts.agent)
            && is(&self.plan, facts.context("plan_id").as_deref())
            && is(&self.session, facts.context("session_id").as_deref())
            && (!self.no_other_arguments
                || effective_rows(facts.arguments).all(|row| self.arguments.contains_key(&row.path)))
            && self.target.iter().all(|(field, globs)| {
                target(*field).is_some_and(|text| match field {
                    TargetField::Origin => globs.iter().any(|own| origin::is_same(own, text)),
                    _ => globs.match_folded(text),
                })
            })
            && self.folder.as_ref().is_none_or(|own| folder::holds(own, facts))
            && self.places.iter().zip(self.arguments.values()).all(|(place, condition)| {
                let allows = self.allows;
                let holds = |value| condition.holds(value, allows, facts.place);
                match found.get(*place) {
                    Some(ArgumentValue::Value(value)) => holds(Some(value)),
                    Some(ArgumentValue::InAnotherCase(value)) if allows => holds(Some(value)) && holds(None),
                    Some(ArgumentValue::InAnotherCase(value)) => holds(Some(value)) || holds(None),
                    Some(ArgumentValue::Nothing) | None => holds(None),
                }
            })
    }
}

/// Whether a tool, by its name, only describes its arguments: it carries no command of theirs out.
fn only_describes(tool: &str) -> bool {
    words(tool).iter().any(|word| DESCRIBING.contains(&word.as_str()))
}

/// The values of a call that may change its effect.
fn effective_rows(arguments: &str) -> impl Iterator<Item = Row> {
    let is_beside = |row: &Row| {
        let key = row.path.trim_start_matches('.').replace(['_', '-'], "").to_lowercase();
        INCIDENTAL_KEYS.contains(&&*key) && !row.value.starts_with(['{', '['])
    };
    rows(arguments).into_iter().filter(move |row| !is_beside(row))
}

/// The value at an argument's path.
enum ArgumentValue<'a> {
    /// A value, JSON text.
    Value(&'a str),
    /// A value, but only for readers that ignore case, as Go's do: `{"Path":..}` at `.path`. A rule that allows must
    /// hold for both readings, any other rule for one of them.
    InAnotherCase(&'a str),
    Nothing,
}

/// The value at a path for readers that ignore case.
fn ignoring_case<'a>(json: &'a str, steps: &[Step]) -> Option<&'a str> {
    let Some((step, below)) = steps.split_first() else { return Some(json) };
    let value: &RawValue = match step {
        Step::Field(key) => Fields::read(json).ok()?.get_ignoring_case(key)?,
        Step::Item(index) => serde_json::from_str::<Vec<&RawValue>>(json).ok()?.get(*index)?,
        Step::Each => return None,
    };
    ignoring_case(value.get(), below)
}

/// An id as a jq filter or a person gets it: text without its quotes.
fn plain(json: &str) -> Cow<'_, str> {
    pipewright_lines::plain_text(json)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
