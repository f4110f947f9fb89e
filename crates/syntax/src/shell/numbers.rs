//! Words that are certainly numbers. Shells evaluate expressions where they expect a number (zsh's `[ $n -gt 5 ]`, any
//! shell's `$((n+1))`), and the variables in them may have code.

use super::{Walker, Word};
use brush_parser::ast::{
    Command as Node, CommandPrefixOrSuffixItem as Item, IoFileRedirectKind, IoRedirect, Pipeline, Program,
};
use std::collections::HashSet;

/// The variables of a text that have numbers.
#[derive(Default)]
pub(super) struct NumericVariables {
    /// Variables that have certainly been set to a number, in the text so far.
    set: HashSet<String>,
    /// Variables that are set to anything else, anywhere.
    tainted: HashSet<String>,
    /// Whether functions are defined: one may have the name of a program that prints a number.
    pub(super) defines_functions: bool,
    /// Whether no variable and no program counts as a number.
    pub(super) is_off: bool,
}

impl NumericVariables {
    /// Counts no variable and no program as a number.
    pub(super) fn off() -> NumericVariables {
        NumericVariables { is_off: true, ..NumericVariables::default() }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        !self.is_off && self.set.contains(name)
    }

    /// Whether one of them is also set to something else, before or later: a loop or a function may return to text that
    /// was already read.
    pub(super) fn is_invalid(&self) -> bool {
        !self.is_off && (self.defines_functions || !self.set.is_disjoint(&self.tainted))
    }

    /// Records an assignment.
    pub(super) fn assign(&mut self, name: &str, value: &Word) {
        if !is_number(value) {
            self.taint(name);
        }
    }

    pub(super) fn taint(&mut self, name: &str) {
        self.tainted.insert(name.to_owned());
    }

    /// Records an argument, which may be a variable that the command sets: `read n`, `export n=1`.
    pub(super) fn pass(&mut self, word: &Word) {
        if let Some(name) = word.text().and_then(|text| text.split(['=', '[', '+']).next()) {
            self.taint(name);
        }
    }

    /// Records an assignment that always happens.
    pub(super) fn certainly_assign(&mut self, name: &str) {
        let is_plain = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_';
        let begins = name.starts_with(|one: char| one.is_ascii_lowercase());
        // zsh sets these itself when a pattern matches.
        if begins
            && !self.tainted.contains(name)
            && name.chars().all(is_plain)
            && !["match", "mbegin", "mend", "reply"].contains(&name)
        {
            self.set.insert(name.to_owned());
        }
    }
}

/// Whether a word is a number.
pub(super) fn is_number(word: &Word) -> bool {
    match word {
        Word::Number => true,
        Word::Text(text) => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
        Word::Pattern(_) | Word::One | Word::Any => false,
    }
}

impl Walker {
    /// Records `n=1`, if it is a pipeline of its own that certainly runs.
    pub(super) fn note_numbers(&mut self, pipeline: &Pipeline) {
        if let [Node::Simple(simple)] = &pipeline.seq[..]
            && simple.word_or_name.is_none()
            && let Some(super::ShellStep::Run(command)) = self.steps.last()
        {
            command.assigned.iter().for_each(|(name, _)| self.numbers.certainly_assign(name));
        }
    }
}

/// Whether a text prints only a number: `wc -l <f`, `ls | wc -l`.
pub(super) fn prints_number(program: &Program) -> bool {
    let [list] = &program.complete_commands[..] else { return false };
    let [item] = &list.0[..] else { return false };
    let Some(Node::Simple(last)) = item.0.first.seq.last().filter(|_| item.0.additional.is_empty()) else {
        return false;
    };
    let is_read = |item: &Item| matches!(item, Item::IoRedirect(IoRedirect::File(None, IoFileRedirectKind::Read, _)));
    let suffix: Vec<&Item> = last.suffix.iter().flat_map(|suffix| &suffix.0).filter(|item| !is_read(item)).collect();
    last.prefix.is_none()
        && item.0.first.timed.is_none()
        && last.word_or_name.as_ref().is_some_and(|name| name.value == "wc")
        && matches!(&suffix[..], [Item::Word(option)] if ["-c", "-l", "-m", "-w"].contains(&option.value.as_str()))
}
