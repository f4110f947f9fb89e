//! Rules that a person adds while a gate runs. Each allows the calls that it matches until the gate ends or the rule is
//! revoked.
//!
//! Such a rule is a text in the language of rules files, without `id` and `verdict`:
//!
//! ```toml
//! tool = "browser_click"
//! target = { role = "button", name = "Next page" }
//! ```
//!
//! A rule about a tool never allows a call that [runs text](Decision::runs_text), which may do anything. For those, the
//! rule has the value of each argument, except that a command may have other names below the folder:
//!
//! ```toml
//! tool = "run_command"
//! arguments = { ".command" = { command = "mkdir *" }, ".cwd" = { is = "/home/me/p" } }
//! no_other_arguments = true
//! ```

use super::{Condition, Facts, Globs, Rule, Rules, TargetField, command, effective_rows, folder, origin};
use crate::arguments::{Row, rows};
use crate::target::Target;
use crate::verdict::{Decision, Verdict};
use pipewright_lines::plain_text;
use pipewright_record::Reason;
use pipewright_record::glob::is_pattern;
use pipewright_record::json::quoted;

/// A longer rule is not proposed: nobody would read it.
const MAX_LEN: usize = 2000;

const TOO_WIDE: &str = "the call runs text, and the rule would allow other text: it needs `no_other_arguments = true`, \
                        the tool's full name, and each argument's exact text (`is`), or `command` for a program such \
                        as mkdir";

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
    /// Checks a rule that a person has written about a call, of which the policy has decided so.
    ///
    /// # Errors
    /// Why it is not a rule, or not about that call.
    pub fn check(text: &str, facts: &Facts<'_>, decision: &Decision) -> Result<(), Reason> {
        let rule = SessionRule::read(String::new(), text)?;
        match rule.matches(facts) {
            false => Err("the rule does not match this call".into()),
            true if decision.runs_text && !rule.is_narrow() => Err(TOO_WIDE.into()),
            true => Ok(()),
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
    pub fn add(&mut self, text: &str) -> Result<(), Reason> {
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

    /// Removes the rules that allow calls of a tool; gives their ids.
    pub fn end_for(&mut self, tool: &str) -> Vec<String> {
        let is_about = |rule: &SessionRule| {
            rule.rules.rules.iter().any(|rule| rule.tool.as_ref().is_some_and(|globs| globs.match_text(tool)))
        };
        self.rules.extract_if(.., |rule| is_about(rule)).map(|rule| rule.id).collect()
    }

    /// The rules in force.
    pub fn iter(&self) -> impl Iterator<Item = &SessionRule> {
        self.rules.iter()
    }

    /// The first rule that allows a call, of which the policy has decided so.
    pub fn find(&self, facts: &Facts<'_>, decision: &Decision) -> Option<&SessionRule> {
        self.rules.iter().find(|rule| (!decision.runs_text || rule.is_narrow()) && rule.matches(facts))
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

    fn matches(&self, facts: &Facts<'_>) -> bool {
        !self.rules.matching(facts, &mut |_| Ok(false)).is_empty()
    }

    /// Whether it matches one text, or the simple commands of one pattern, and nothing else.
    fn is_narrow(&self) -> bool {
        let is_whole = |rule: &Rule| matches!(&rule.tool, Some(Globs::One(tool)) if !is_pattern(tool));
        let is = |rule: &Rule| rule.no_other_arguments && rule.arguments.values().all(Condition::is_narrow);
        self.rules.rules.iter().all(|rule| is_whole(rule) && is(rule))
    }
}

/// What a rule allows, for people: the end of "allow ... for the session".
pub fn reach(text: &str) -> String {
    let Ok(SessionRule { rules, .. }) = SessionRule::read(String::new(), text) else { return "this rule".to_owned() };
    let Some(rule) = rules.rules.first() else { return "this rule".to_owned() };
    match rule.arguments.values().find_map(Condition::command) {
        Some(pattern) => format!("`{pattern}` in this folder"),
        None if let Some(folder) = &rule.folder => format!("this tool on files below {folder}"),
        None if let Some(origins) = rule.target.get(&TargetField::Origin) => {
            format!("this tool on {}", origins.iter().collect::<Vec<_>>().join(" or "))
        }
        None if rule.no_other_arguments => "exactly this call".to_owned(),
        None if !rule.target.is_empty() => "this tool on this target".to_owned(),
        None if !rule.arguments.is_empty() => "this tool with these arguments".to_owned(),
        None => "this tool".to_owned(),
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

/// Rules that a person may want to add for a call, the widest first: one for every call of the tool, one for those on
/// the same origin or on files below the same folder, and one for calls with the same target, or, if that is not known,
/// with the same arguments. Additional arguments may have any value. There is no narrower rule if a value has `*` or
/// `?`, since in a rule they match other values.
///
/// If the call runs text, the first rule is for its program with other names, if that is certain, and the last one for
/// its exact text.
pub fn proposals(facts: &Facts<'_>, decision: &Decision) -> Vec<String> {
    if is_pattern(facts.tool) {
        return Vec::new();
    }
    let tool = format!("tool = {}", quoted(facts.tool));
    let is_sound = |text: &String| text.len() <= MAX_LEN && SessionRules::check(text, facts, decision).is_ok();
    if decision.runs_text {
        return for_text(&tool, facts).into_iter().filter(is_sound).collect();
    }
    let origin = facts.target.and_then(|target| origin::read(target.origin.as_deref()?));
    let origin = origin.map(|origin| format!("{tool}\ntarget = {{ origin = {} }}", quoted(&origin)));
    let folder = folder::offered(facts).map(|folder| format!("{tool}\nfolder = {}", quoted(&folder)));
    let narrower = match facts.target.filter(|target| !target.name.is_empty()) {
        Some(Target { role, name, .. }) => {
            let is_exact = !is_pattern(name) && !role.as_deref().is_some_and(is_pattern);
            let role = role.as_ref().map_or_else(String::new, |role| format!("role = {}, ", quoted(role)));
            is_exact.then(|| format!("{tool}\ntarget = {{ {role}name = {} }}", quoted(name)))
        }
        None => {
            let rows = rows(facts.arguments);
            let values = rows.iter().map(|row| (&row.path, plain_text(&row.value)));
            let is_exact = !rows.is_empty() && !values.clone().any(|(_, value)| is_pattern(&value));
            let conditions = values.map(|(path, value)| format!("{} = {}", quoted(path), quoted(&value)));
            let conditions = conditions.collect::<Vec<_>>().join(", ");
            is_exact.then(|| format!("{tool}\narguments = {{ {conditions} }}"))
        }
    };
    [tool].into_iter().chain(origin).chain(folder).chain(narrower).filter(is_sound).collect()
}

/// The rules for a call that runs text.
fn for_text(tool: &str, facts: &Facts<'_>) -> Vec<String> {
    let rows: Vec<Row> = effective_rows(facts.arguments).collect();
    let exact: Vec<(&str, String)> =
        rows.iter().map(|row| (&*row.path, format!("{{ is = {} }}", quoted(&plain_text(&row.value))))).collect();
    let rule = |conditions: &[(&str, String)]| {
        let conditions = conditions.iter().map(|(path, condition)| format!("{} = {condition}", quoted(path)));
        let conditions = conditions.collect::<Vec<_>>().join(", ");
        format!("{tool}\narguments = {{ {conditions} }}\nno_other_arguments = true")
    };
    // Its commands look like those of a shell.
    let name = facts.tool.to_lowercase();
    let is_foreign = ["cmdlet", "fish", "node", "perl", "php", "powershell", "pwsh", "python", "ruby"]
        .iter()
        .any(|language| name.contains(language));
    let of_program = rows.iter().enumerate().filter(|_| !is_foreign).find_map(|(at, row)| {
        let pattern = command::pattern_of(&plain_text(&row.value)).filter(|_| is_command(&row.path))?;
        let mut conditions = exact.clone();
        conditions[at].1 = format!("{{ command = {} }}", quoted(&pattern));
        Some(rule(&conditions))
    });
    of_program.into_iter().chain([rule(&exact)]).collect()
}

/// Whether an argument is a shell's text by its key.
fn is_command(path: &str) -> bool {
    let key = path.trim_start_matches('.').replace('_', "").to_lowercase();
    let key = key.strip_suffix("[0]").unwrap_or(&key);
    ["bash", "cmd", "command", "commandline", "commands", "script", "shell", "shellcommand"].contains(&key)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use pipewright_record::recognise;

    fn harmless() -> Decision {
        Decision::new(Verdict::Confirm, "builtin.unknown", "")
    }

    fn running() -> Decision {
        Decision { runs_text: true, ..harmless() }
    }
    use proptest::prelude::*;

    fn click(name: &str) -> (String, Target) {
        let target = Target {
            role: Some("button".into()),
            name: name.into(),
            value: None,
            context: None,
            snapshot_id: None,
            origin: None,
            deal: None,
        };
        (r#"{"tool":"browser_click","args":{"ref":"e7"}}"#.to_owned(), target)
    }

    #[test]
    fn a_rule_allows_what_it_matches_until_it_is_revoked() {
        let (line, next) = click("Next page");
        let call = recognise(&line).unwrap().unwrap();
        let proposed = proposals(&Facts::new(&call, Some(&next), None), &harmless());
        let [wide, narrow] = &proposed[..] else { unreachable!("{proposed:?}") };
        assert_eq!(wide, "tool = \"browser_click\"");
        assert_eq!(narrow, "tool = \"browser_click\"\ntarget = { role = \"button\", name = \"Next page\" }");
        let mut rules = SessionRules::default();
        rules.add(narrow).unwrap();
        assert_eq!(rules.find(&Facts::new(&call, Some(&next), None), &harmless()).unwrap().id, "session-1");
        assert!(rules.find(&Facts::new(&call, Some(&click("Delete").1), None), &harmless()).is_none());
        assert!(rules.find(&Facts::new(&call, None, None), &harmless()).is_none());
        assert!(rules.revoke("session-1") && !rules.revoke("session-1"));
        assert!(rules.find(&Facts::new(&call, Some(&next), None), &harmless()).is_none());
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
            let error = SessionRules::check(text, &Facts::new(&call, None, None), &harmless()).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_call_that_runs_text_is_allowed_by_its_program_or_its_text() {
        let line = |arguments: &str| format!("{{\"tool\":\"run_command\",\"args\":{arguments}}}");
        let first = line(r#"{"command":"mkdir build","cwd":"/w","description":"a","timeout":5}"#);
        let call = recognise(&first).unwrap().unwrap();
        let [program, exact] = &proposals(&Facts::new(&call, None, None), &running())[..] else { unreachable!() };
        assert_eq!((reach(program), reach(exact)), ("`mkdir *` in this folder".into(), "exactly this call".into()));
        for (rule, arguments, is_allowed) in [
            (program, r#"{"command":"mkdir b","cwd":"/w","description":"c"}"#, true),
            (program, r#"{"command":"mkdir b","cwd":"/w","timeout_ms":900}"#, true),
            (program, r#"{"command":"mkdir b","cwd":"/etc"}"#, false),
            (program, r#"{"command":"mkdir b"}"#, false),
            (program, r#"{"command":"mkdir b","cwd":"/w","env":{"LD_PRELOAD":"x"}}"#, false),
            (program, r#"{"command":"mkdir b","cwd":"/w","args":["x"]}"#, false),
            (program, r#"{"command":"mkdir b","cwd":"/w","cmd":"rm c"}"#, false),
            (program, r#"{"command":"mkdir b","cwd":"/w","dangerouslyDisableSandbox":true}"#, false),
            (program, r#"{"command":["mkdir","b"],"cwd":"/w"}"#, false),
            (program, r#"{"command":"rm -rf ~","cwd":"/w"}"#, false),
            (exact, r#"{"command":"mkdir build","cwd":"/w"}"#, true),
            (exact, r#"{"command":"mkdir build2","cwd":"/w"}"#, false),
            (exact, r#"{"command":"mkdir build","cwd":"/w","Cwd":"/etc"}"#, false),
        ] {
            let mut rules = SessionRules::default();
            rules.add(rule).unwrap();
            let line = line(arguments);
            let call = recognise(&line).unwrap().unwrap();
            assert_eq!(
                rules.find(&Facts::new(&call, None, None), &running()).is_some(),
                is_allowed,
                "{rule}: {arguments}"
            );
        }
    }

    #[test]
    fn no_rule_with_a_pattern_allows_text_that_is_run() {
        let line = r#"{"tool":"run_command","args":{"command":"rm *.o"}}"#;
        let call = recognise(line).unwrap().unwrap();
        let exact =
            "tool = \"run_command\"\narguments = { \".command\" = { is = \"rm *.o\" } }\nno_other_arguments = true";
        assert_eq!(proposals(&Facts::new(&call, None, None), &running()), [exact]);
        for wide in [
            "tool = \"run_command\"".to_owned(),
            exact.replace("\nno_other", "\n# no_other"),
            exact.replace("run_command", "run_*"),
            exact.replace("{ is = \"rm *.o\" }", "\"rm *\""),
            exact.replace("{ is = \"rm *.o\" }", "{ exists = true }"),
            exact.replace("{ is = \"rm *.o\" }", "[\"rm *.o\"]"),
        ] {
            assert_eq!(
                SessionRules::check(&wide, &Facts::new(&call, None, None), &running()),
                Err(TOO_WIDE.into()),
                "{wide}"
            );
            let mut rules = SessionRules::default();
            rules.add(&wide).unwrap();
            assert!(rules.find(&Facts::new(&call, None, None), &running()).is_none(), "{wide}");
        }
        let program = exact.replace("is = \"rm *.o\"", "command = \"rm *\"");
        assert!(
            SessionRules::check(&program, &Facts::new(&call, None, None), &running())
                .unwrap_err()
                .contains("only for these programs")
        );
    }

    proptest! {
        /// A proposed rule matches its call; the narrower one matches no call with another value.
        #[test]
        fn a_proposed_rule_matches_its_call(key in "[a-z \"\\\\.é]{1,6}", value in "\\PC{0,12}", other in "[a-z]{13,15}") {
            let line = |value: &str| format!("{{\"tool\":\"rm\",\"args\":{{{}:{}}}}}", quoted(&key), quoted(value));
            let (line, another) = (line(&value), line(&other));
            let call = recognise(&line).unwrap().unwrap();
            let proposed = proposals(&Facts::new(&call, None, None), &harmless());
            prop_assert!(!proposed.is_empty());
            for text in &proposed {
                prop_assert_eq!(SessionRules::check(text, &Facts::new(&call, None, None), &harmless()), Ok(()));
            }
            if let Some(narrow) = proposed.get(1) {
                let another = recognise(&another).unwrap().unwrap();
                prop_assert!(SessionRules::check(narrow, &Facts::new(&another, None, None), &harmless()).is_err(), "{}", narrow);
            }
        }
    }
}
