//! The summary of `--mode observe`: how often each tool was called, and the verdicts on its calls.

use pipewright_io::report::Report;
use pipewright_policy::Verdict;
use std::collections::BTreeMap;

/// At most this many tools are counted one by one.
const MAX_TOOLS: usize = 1000;

/// The verdicts of each tool's calls.
#[derive(Debug, Default)]
pub struct Summary {
    tools: BTreeMap<String, Counts>,
    others: Counts,
}

/// How many calls were allowed, to be confirmed, and denied.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    allowed: u64,
    confirmed: u64,
    denied: u64,
}

impl Counts {
    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Allow => self.allowed += 1,
            Verdict::Confirm => self.confirmed += 1,
            Verdict::Deny => self.denied += 1,
        }
    }

    fn calls(self) -> u64 {
        self.allowed + self.confirmed + self.denied
    }

    fn plus(self, other: Counts) -> Counts {
        Counts {
            allowed: self.allowed + other.allowed,
            confirmed: self.confirmed + other.confirmed,
            denied: self.denied + other.denied,
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { allowed, confirmed, denied } = self;
        write!(to, "calls {}, allow {allowed}, confirm {confirmed}, deny {denied}", self.calls())
    }
}

impl Summary {
    /// Counts a call.
    pub fn count(&mut self, tool: &str, verdict: Verdict) {
        let is_counted = self.tools.contains_key(tool) || self.tools.len() < MAX_TOOLS;
        let counts = if is_counted { self.tools.entry(tool.to_owned()).or_default() } else { &mut self.others };
        counts.add(verdict);
    }

    /// Writes a line for each tool, those with the most calls to confirm or deny first, and one for all; nothing if
    /// there was no call.
    pub fn say(&self, report: &Report) {
        let all = self.tools.values().fold(self.others, |all, counts| all.plus(*counts));
        if all.calls() == 0 {
            return;
        }
        let mut tools: Vec<(&String, &Counts)> = self.tools.iter().collect();
        tools.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.confirmed + counts.denied));
        for (tool, counts) in tools {
            report.say(format_args!("{}: {counts}", tool));
        }
        if self.others.calls() > 0 {
            report.say(format_args!("other tools: {}", self.others));
        }
        report.say(format_args!("in all: {all}"));
    }
}
