//! The policy: the rules of a file with their filters, and the built-in policy.

use crate::cmd::filter::{Conditions, FilterResult};
use crate::cmd::usage;
use pipewright_io::report::{Failure, Report};
use pipewright_policy::annotations::Hint;
use pipewright_policy::builtin::{Builtin, CallEffect};
use pipewright_policy::rules::{Facts, History, PassingCall, Rule, Rules};
use pipewright_policy::snapshot::id_value;
use pipewright_policy::{Decision, Verdict};
use pipewright_record::{Call, Reason, recognise};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Which rules apply, and which agent makes the calls.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct RulesOptions {
    /// Also judge by the rules in this TOML file
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// The name of the agent that makes the calls, for rules with `agent`; an agent named in a call does not count
    #[arg(long, value_name = "NAME", requires = "rules")]
    pub agent: Option<String>,
}

impl RulesOptions {
    /// Opens the rules file, if there is one.
    pub fn open(self, report: &Report) -> Result<Option<RulesFile>, Failure> {
        let RulesOptions { rules, agent } = self;
        let file = rules.map(|path| RulesFile::open(&path, report)).transpose()?;
        let Some(file) = file else { return Ok(None) };
        if agent.is_none()
            && let Some(Rule { line, id, .. }) = file.rules().iter().find(|rule| rule.has_agent())
        {
            let path = file.path.display();
            report.note(format_args!(
                "{path}:{line}: rule {id:?} has an agent, and matches no call without --agent NAME"
            ));
        }
        Ok(Some(RulesFile { agent, ..file }))
    }
}

/// A rules file with its filters.
pub struct RulesFile {
    path: PathBuf,
    text: String,
    /// The agent whose calls are judged.
    agent: Option<String>,
    rules: Rules,
    /// The filters of those rules that have one.
    filters: Conditions,
    /// By rule: the index of its filter in `filters`.
    places: Vec<Option<usize>>,
    /// What has passed in this session.
    pub history: History,
    /// So many seconds are taken to have passed.
    pub waited: u64,
}

/// The decision about a call, and which rules match it.
pub struct JudgedCall {
    pub decision: Decision,
    pub acts: CallEffect,
    /// By index in the file.
    pub matching: Vec<usize>,
    /// The ids of the rules that count it, if it passes.
    pub counted: Vec<String>,
}

impl RulesFile {
    /// Reads a rules file, compiles its filters, and tries its examples; warns of rules that match every call.
    ///
    /// # Errors
    /// [`usage`] with the file, and the line or the rule.
    pub fn open(path: &Path, report: &Report) -> Result<RulesFile, Failure> {
        let wrong = |why: &dyn std::fmt::Display| usage(format_args!("{}:{why}", path.display()));
        let text = std::fs::read_to_string(path)
            .map_err(|error| usage(format_args!("{}: cannot read the rules: {error}", path.display())))?;
        let rules = Rules::read(&text).map_err(|why| wrong(&why))?;
        let (mut sources, mut places) = (Vec::new(), Vec::new());
        for rule in &rules.rules {
            places.push(rule.when.is_some().then_some(sources.len()));
            let name = format!("{}: rule {:?}: when", rule.line, rule.id);
            sources.extend(rule.when.as_deref().map(|when| (name, when)));
        }
        let filters = Conditions::compile(&sources).map_err(|why| wrong(&why))?;
        let file = RulesFile {
            path: path.to_owned(),
            text,
            agent: None,
            rules,
            filters,
            places,
            history: History::default(),
            waited: 0,
        };
        for rule in &file.rules.rules {
            file.try_examples(rule).map_err(|why| wrong(&format_args!("{}: rule {:?}: {why}", rule.line, rule.id)))?;
        }
        for Rule { line, id, .. } in file.rules().iter().filter(|rule| !rule.has_condition()) {
            report.note(format_args!(
                "{}:{line}: rule {id:?} has no condition, so it applies to every call; if you mean that, write tool \
                 = \"*\"",
                path.display()
            ));
        }
        Ok(file)
    }

    /// Reads the same file again.
    ///
    /// # Errors
    /// As [`RulesFile::open`]; also if the file seems to be cut off, as it is while another program writes it: it is
    /// empty, or it is the beginning of the text that was read before.
    pub fn again(&self, report: &Report) -> Result<RulesFile, Failure> {
        let file = RulesFile::open(&self.path, report)?;
        let is_cut_off = file.text.len() < self.text.len() && self.text.starts_with(&file.text);
        if is_cut_off || file.is_blank() {
            let path = self.path.display();
            let advice = "if you mean that, add a comment line";
            return Err(usage(format_args!(
                "{path}: the file is empty, or only the beginning of the former rules; {advice}"
            )));
        }
        Ok(RulesFile { agent: self.agent.clone(), history: self.history.clone(), ..file })
    }

    /// Whether nothing is written in the file.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The calls that are judged after this are of this agent.
    pub fn set_agent(&mut self, agent: Option<String>) {
        self.agent = agent;
    }

    /// Whether earlier calls count.
    pub fn has_history(&self) -> bool {
        self.rules.have_history()
    }

    /// Takes a judged call that passes. If it `is_certain`, nobody can still reject it.
    pub fn passes(&mut self, call: &Call<'_>, counted: &[String], is_certain: bool) {
        let id = call.id.and_then(|id| id_value(id.get()));
        let call = PassingCall { id: id.as_deref(), at: self.now(), is_certain };
        self.history.take(counted.iter().map(String::as_str), call);
    }

    fn now(&self) -> u64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.map_or(0, |since| since.as_secs()) + self.waited
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules.rules
    }

    fn try_examples(&self, rule: &Rule) -> Result<(), String> {
        let examples = [(&rule.matches, true, "match"), (&rule.not_matches, false, "not_match")];
        for (lines, wanted, list) in examples {
            for line in lines {
                let call = match recognise(line) {
                    Ok(Some(call)) => call,
                    Ok(None) => return Err(format!("{list}: {line}: not a call")),
                    Err(error) => return Err(format!("{list}: {line}: {error}")),
                };
                let (_, acts) = Builtin::default().judge(&call, Hint::None);
                let agent = agent_id(&call);
                let matching = self.matching(&Facts::new(&call, acts.target.as_ref(), agent.as_deref()));
                let means = matching.iter().any(|(index, _)| self.rules.rules[*index].id == rule.id);
                if means != wanted {
                    let does = if means { "the rule matches it" } else { "the rule does not match it" };
                    return Err(format!("{list}: {line}: {does}"));
                }
            }
        }
        Ok(())
    }

    fn matching(&self, facts: &Facts<'_>) -> Vec<(usize, Result<(), Reason>)> {
        let mut results: Option<Vec<FilterResult>> = None;
        self.rules.matching(facts, &mut |index| {
            let results = results.get_or_insert_with(|| self.filters.hold(facts.json().as_bytes()));
            self.places[index].map_or(Ok(true), |place| results[place].clone().map_err(Reason::from))
        })
    }
}

/// The agent that a call in an example or a test case names.
pub fn agent_id(call: &Call<'_>) -> Option<String> {
    Some(pipewright_lines::plain_text(call.context.agent_id?.get()).into_owned())
}

/// Judges a call by the built-in policy, the server's hint about the tool, and the rules, if there are any.
pub fn judge(call: &Call<'_>, builtin: &Builtin, rules: Option<&RulesFile>, hint: Hint) -> JudgedCall {
    let (decision, acts) = builtin.judge(call, hint);
    let (decision, matching, counted) = match rules {
        Some(file) => {
            let matching =
                file.matching(&Facts::new(call, acts.target.as_ref(), file.agent.as_deref()).in_place(builtin.place()));
            let counting = matching.iter().map(|(index, _)| &file.rules()[*index]).filter(|rule| rule.is_counted());
            let counted = counting.map(|rule| rule.id.clone()).collect();
            let now = file.now();
            let holds = |(index, filtered): &(usize, Result<(), Reason>)| {
                filtered.is_err() || file.rules.holds_after(*index, &file.history, now)
            };
            let matching: Vec<_> = matching.into_iter().filter(holds).collect();
            let decision = file.rules.decide(&matching, decision);
            (decision, matching.into_iter().map(|(index, _)| index).collect(), counted)
        }
        None => (decision, Vec::new(), Vec::new()),
    };
    // A caller may ask for approval, and never give it.
    let decision = if call.requires_approval {
        decision.stricter(Decision::new(Verdict::Confirm, "caller", "the caller itself asks for approval"))
    } else {
        decision
    };
    JudgedCall { decision, acts, matching, counted }
}
