//! Rules that a person adds while a gate runs. Each allows the calls that it matches until the gate ends or the rule is revoked.
//!
//! Such a rule is a text in the language of rules files, without `id` and `verdict`:
//!
//! ```toml
//! tool = "browser_click"
//! target = { role = "button", name = "Next page" }
//! ```

use super::{Facts, Rules};
use crate::io::lines::plain_text;
use crate::json::quoted;
use crate::policy::arguments::rows;
use crate::policy::target::Target;
use crate::policy::verdict::Verdict;
use crate::record::Call;

/// A longer rule is not proposed: nobody would read it.
const LONGEST: usize = 2000;

/// Rules in the order in which they were added.
#[derive(Debug, Default)]
pub struct SessionRules {
    made: usize,
    rules: Vec<SessionRule>,
}

/// A rule that is in force.
#[derive(Debug)]
pub struct SessionRule {
    /// `session-1` and so on.
    pub id: String,
    /// The text as it was written.
    pub text: String,
    rules: Rules,
}

impl SessionRules {
    /// Checks a rule that a person has written about a call.
    ///
    /// # Errors
    /// Why it is not a rule, or not about that call.
    pub fn check(text: &str, call: &Call<'_>, target: Option<&Target>) -> Result<(), String> {
        let rule = SessionRule::read(String::new(), text)?;
        match rule.allows(&Facts::new(call, target, None)) {
            true => Ok(()),
            false => Err("the rule does not match this call".to_owned()),
        }
    }

    /// The id of the next rule.
    pub fn next_id(&self) -> String {
        format!("session-{}", self.made + 1)
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// Why it is not a rule.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let rule = SessionRule::read(self.next_id(), text)?;
        self.made += 1;
        self.rules.push(rule);
        Ok(())
    }

    /// Removes a rule; gives whether there was one.
    pub fn revoke(&mut self, id: &str) -> bool {
        let before = self.rules.len();
        self.rules.retain(|rule| rule.id != id);
        self.rules.len() < before
    }

    /// The rules in force.
    pub fn iter(&self) -> impl Iterator<Item = &SessionRule> {
        self.rules.iter()
    }

    /// The first rule that allows a call.
    pub fn find(&self, call: &Call<'_>, target: Option<&Target>) -> Option<&SessionRule> {
        let facts = Facts::new(call, target, None);
        self.rules.iter().find(|rule| rule.allows(&facts))
    }
}

impl SessionRule {
    fn read(id: String, text: &str) -> Result<SessionRule, String> {
        let wrong = |why: &str| format!("not a rule for this session: {why}");
        // The line number is that of the generated table, so it is left out.
        let rules = Rules::read(&table("session", text))
            .map_err(|why| wrong(why.split_once(": ").map_or(&*why, |(_, behind)| behind)))?;
        let is_alone = rules.builtin && rules.default == Verdict::Confirm;
        match &rules.rules[..] {
            [rule] if rule.tool.is_none() => Err(wrong("it has no `tool`")),
            [rule] if rule.when.is_some() => Err(wrong("it has a filter (`when`)")),
            [_] if is_alone => Ok(SessionRule { id, text: text.to_owned(), rules }),
            _ => Err(wrong("it is more than one rule")),
        }
    }

    fn allows(&self, facts: &Facts<'_>) -> bool {
        !self.rules.matching(facts, &mut |_| Ok(false)).is_empty()
    }
}

/// A rule as a table of a rules file. It allows no payments: each of those needs its own question.
pub fn table(id: &str, text: &str) -> String {
    let id = quoted(id);
    format!(
        "[[rule]]\nid = {id}\nverdict = \"allow\"\ninstead_of_builtin = true\nexcept_payments = true\n{}\n",
        text.trim()
    )
}

/// Rules that a person may want to add for a call, the widest first: one for every call of the tool, and one for calls with the same
/// target, or, if that is not known, with the same arguments. Additional arguments may have any value. There is no narrower rule if a
/// value has `*` or `?`, since in a rule they match other values.
pub fn proposals(call: &Call<'_>, target: Option<&Target>) -> Vec<String> {
    let is_pattern = |text: &str| text.contains(['*', '?']);
    if is_pattern(&call.tool) {
        return Vec::new();
    }
    let tool = format!("tool = {}", quoted(&call.tool));
    let narrower = match target.filter(|target| !target.name.is_empty()) {
        Some(Target { role, name, .. }) => {
            let is_exact = !is_pattern(name) && !role.as_deref().is_some_and(is_pattern);
            let role = role.as_ref().map_or_else(String::new, |role| format!("role = {}, ", quoted(role)));
            is_exact.then(|| format!("{tool}\ntarget = {{ {role}name = {} }}", quoted(name)))
        }
        None => {
            let rows = rows(call.arguments_text());
            let values = rows.iter().map(|row| (&row.path, plain_text(&row.value)));
            let is_exact = !rows.is_empty() && !values.clone().any(|(_, value)| is_pattern(&value));
            let conditions = values.map(|(path, value)| format!("{} = {}", quoted(path), quoted(&value)));
            let conditions = conditions.collect::<Vec<_>>().join(", ");
            is_exact.then(|| format!("{tool}\narguments = {{ {conditions} }}"))
        }
    };
    let is_sound = |text: &String| text.len() <= LONGEST && SessionRules::check(text, call, target).is_ok();
    [tool].into_iter().chain(narrower).filter(is_sound).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::record::recognise;
    use proptest::prelude::*;

    fn click(name: &str) -> (String, Target) {
        let target =
            Target { role: Some("button".into()), name: name.into(), value: None, context: None, snapshot_id: None };
        (r#"{"tool":"browser_click","args":{"ref":"e7"}}"#.to_owned(), target)
    }

    #[test]
    fn a_rule_allows_what_it_matches_until_it_is_revoked() {
        let (line, next) = click("Next page");
        let call = recognise(&line).unwrap().unwrap();
        let proposed = proposals(&call, Some(&next));
        let [wide, narrow] = &proposed[..] else { unreachable!("{proposed:?}") };
        assert_eq!(wide, "tool = \"browser_click\"");
        assert_eq!(narrow, "tool = \"browser_click\"\ntarget = { role = \"button\", name = \"Next page\" }");
        let mut rules = SessionRules::default();
        rules.add(narrow).unwrap();
        assert_eq!(rules.find(&call, Some(&next)).unwrap().id, "session-1");
        assert!(rules.find(&call, Some(&click("Delete").1)).is_none());
        assert!(rules.find(&call, None).is_none());
        assert!(rules.revoke("session-1") && !rules.revoke("session-1"));
        assert!(rules.find(&call, Some(&next)).is_none());
        assert_eq!(rules.next_id(), "session-2", "an id is not used again");
    }

    #[test]
    fn a_text_that_is_not_one_rule_about_the_call_is_refused() {
        let call = recognise(r#"{"tool":"rm","args":{"path":"a"}}"#).unwrap().unwrap();
        for (text, why) in [
            ("", "no `tool`"),
            ("tool = 7", "not a rule"),
            ("tool = \"rm\"\nwhen = \"true\"", "a filter"),
            ("tool = \"rm\"\nverdict = \"deny\"", "duplicate key"),
            ("tool = \"rm\"\n[[rule]]\nid = \"x\"\nverdict = \"allow\"", "more than one"),
            ("tool = \"mv\"", "does not match this call"),
            ("tool = \"rm\"\narguments = { \".path\" = \"b*\" }", "does not match this call"),
        ] {
            let error = SessionRules::check(text, &call, None).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        /// A proposed rule matches its call; the narrower one matches no call with another value.
        #[test]
        fn a_proposed_rule_matches_its_call(key in "[a-z \"\\\\.é]{1,6}", value in "\\PC{0,12}", other in "[a-z]{13,15}") {
            let line = |value: &str| format!("{{\"tool\":\"rm\",\"args\":{{{}:{}}}}}", quoted(&key), quoted(value));
            let (line, another) = (line(&value), line(&other));
            let call = recognise(&line).unwrap().unwrap();
            let proposed = proposals(&call, None);
            prop_assert!(!proposed.is_empty());
            for text in &proposed {
                prop_assert_eq!(SessionRules::check(text, &call, None), Ok(()));
            }
            if let Some(narrow) = proposed.get(1) {
                let another = recognise(&another).unwrap().unwrap();
                prop_assert!(SessionRules::check(narrow, &another, None).is_err(), "{}", narrow);
            }
        }
    }
}
