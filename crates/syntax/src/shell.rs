//! The simple commands of a shell's text, at any place: in lists, pipelines, loops, functions, substitutions.
//!
//! The text is parsed as bash and POSIX's shell do it (`brush-parser`). If a construct evaluates the content of a
//! variable as code (arithmetic with names, `${x@P}`, `${!x}`, subscripts), or if shells disagree, the text is
//! unreadable.

mod conditions;
mod disagreements;
mod numbers;
mod words;

use crate::{Unreadable, parse};
use brush_parser::ast::{
    AndOr, AssignmentName, AssignmentValue, Command as Node, CommandPrefixOrSuffixItem as Item, CompoundCommand,
    CompoundList, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline, RedirectList, SeparatorOperator,
    SimpleCommand,
};
use brush_parser::{Parser, ParserOptions, SourceInfo};
use numbers::{NumericVariables, prints_number};

/// A word of a command after expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// A text.
    Text(String),
    /// The names of files that match this pattern (`*.c`), or the pattern itself: any number of words.
    Pattern(String),
    /// A number: an exit status, the result of a calculation, a variable that the text sets only to numbers. It is one
    /// word; only an unquoted `$!` is no word if nothing runs in the background.
    Number,
    /// Exactly one word: a quoted expansion with unknown text.
    One,
    /// Any number of words, zero included: an unquoted expansion is split at blanks.
    Any,
}

impl Word {
    /// Its text, if that is known.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Pattern(_) | Self::Number | Self::One | Self::Any => None,
        }
    }
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// The variables that are set, with their values: before the command, only for it, or by a loop.
    pub assigned: Vec<(String, Word)>,
    /// The program and its arguments; empty if variables are set or files are opened without a program.
    pub words: Vec<Word>,
    /// The files that redirections open to write.
    pub written: Vec<Word>,
    /// The files that redirections open to read.
    pub read: Vec<Word>,
    /// Its text, for a person; without the lines of here-documents.
    pub source: String,
}

/// A step of a text, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellStep {
    /// May run a command, once or several times.
    Run(Command),
    /// From here on, in the whole text, a function has this name. The commands of its body are steps before this one.
    Define(String),
}

/// The greatest number of brackets, quotes of substitutions and opening keywords of a text.
const OPENERS: usize = 40;
/// The greatest depth of parentheses. The parser tries each as a subshell and as a calculation, so its time doubles
/// with each unclosed one.
const PARENTHESES: usize = 8;
/// The greatest depth of substitutions.
const MAX_DEPTH: usize = 4;

/// The steps of a text.
///
/// ```
/// use pipewright_syntax::shell::{ShellStep, Word, steps};
/// let steps = steps("cd src && grep -c 'x y' \"$A\" $B >out").expect("it is readable");
/// let [ShellStep::Run(cd), ShellStep::Run(grep)] = &steps[..] else { panic!("two commands") };
/// assert_eq!(cd.words, [Word::Text("cd".to_owned()), Word::Text("src".to_owned())]);
/// assert_eq!(grep.words[2..], [Word::Text("x y".to_owned()), Word::One, Word::Any]);
/// assert_eq!(grep.written, [Word::Text("out".to_owned())]);
/// ```
///
/// # Errors
/// If they are not certain.
pub fn steps(text: &str) -> Result<Vec<ShellStep>, Unreadable> {
    parse(text, || {
        let mut walk = Walker::default();
        walk.program(text)?;
        if walk.numbers.is_invalid() {
            walk = Walker { numbers: NumericVariables::off(), ..Walker::default() };
            walk.program(text)?;
        }
        Ok(walk.steps)
    })
}

fn options() -> ParserOptions {
    ParserOptions {
        // Other shells run code in what are such patterns for bash.
        enable_extended_globbing: false,
        // A tilde is not expanded.
        tilde_expansion: false,
        ..ParserOptions::default()
    }
}

/// Refuses text that this parser and the shells may read differently, and text that would take too long.
fn check(text: &str) -> Result<(), Unreadable> {
    let has = |part: &str| text.contains(part);
    if text.chars().any(|one| one.is_control() && !matches!(one, '\n' | '\t')) {
        return Err(Unreadable("it has control characters"));
    }
    // Escapes in backquotes are unescaped a second time.
    if has("`") && has("\\") {
        return Err(Unreadable("it has escapes and backquotes"));
    }
    disagreements::check(text)?;
    let depths = text.bytes().scan(0_usize, |depth, byte| {
        match byte {
            b'(' => *depth += 1,
            b')' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(*depth)
    });
    if depths.max() > Some(PARENTHESES) {
        return Err(Unreadable("its parentheses are nested too deeply"));
    }
    let words = text.split(|one: char| !one.is_alphanumeric());
    let opening = words.filter(|word| matches!(*word, "if" | "while" | "until" | "for" | "case" | "function")).count();
    if opening + text.matches(['(', '{', '`', '!', '[']).count() > OPENERS {
        return Err(Unreadable("it is nested too deeply"));
    }
    let substitutes = has("`") || has("$(") || has("<(") || has(">(");
    // If a comment, a here-document or a `case` has a bracket, the end of a substitution is hard to find.
    if substitutes && (has("#") || has("<<") || has("case")) {
        return Err(Unreadable("it has a substitution and a comment, a here-document or a case"));
    }
    Ok(())
}

#[derive(Default)]
struct Walker {
    steps: Vec<ShellStep>,
    depth: usize,
    /// Whether the whole text has two consecutive opening brackets.
    has_double_bracket: bool,
    /// Whether the whole text has the word `function`.
    has_function: bool,
    /// Whether the whole text has an exclamation mark that may negate a command.
    negates: bool,
    numbers: NumericVariables,
}

type WalkResult = Result<(), Unreadable>;

impl Walker {
    /// Reads a text; gives whether it prints only a number.
    fn program(&mut self, text: &str) -> Result<bool, Unreadable> {
        check(text)?;
        self.has_double_bracket |= text.contains("((");
        self.has_function |= text.contains("function");
        self.negates |= text.replace("!=", "").contains('!');
        if self.depth > MAX_DEPTH {
            return Err(Unreadable("its substitutions are nested too deeply"));
        }
        let program = Parser::new(text.as_bytes(), &options(), &SourceInfo::default()).parse_program();
        let program = program.map_err(|_| Unreadable("it is not text for bash or POSIX's shell"))?;
        program.complete_commands.iter().try_for_each(|list| self.list(list, self.depth == 0))?;
        Ok(prints_number(&program))
    }

    /// Adds the steps of a substitution.
    fn substitution(&mut self, text: &str) -> Result<Word, Unreadable> {
        if text.starts_with('(') {
            return Err(Unreadable("shells may take two brackets for a calculation"));
        }
        self.depth += 1;
        let is_number = self.program(text)?;
        self.depth -= 1;
        Ok(if is_number { Word::Number } else { Word::Any })
    }

    fn list(&mut self, list: &CompoundList, is_whole_text: bool) -> WalkResult {
        for item in &list.0 {
            self.pipeline(&item.0.first)?;
            for AndOr::And(next) | AndOr::Or(next) in &item.0.additional {
                self.pipeline(next)?;
            }
            let is_alone = item.0.additional.is_empty() && matches!(item.1, SeparatorOperator::Sequence);
            if is_whole_text && is_alone {
                self.note_numbers(&item.0.first);
            }
            if let [Node::Function(function)] = &item.0.first.seq[..]
                && is_whole_text
                && is_alone
            {
                self.steps.push(ShellStep::Define(function.fname.value.clone()));
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> WalkResult {
        pipeline.seq.iter().try_for_each(|command| self.command(command))
    }

    fn command(&mut self, command: &Node) -> WalkResult {
        match command {
            Node::Simple(simple) => self.simple(simple),
            Node::Compound(compound, redirections) => {
                self.compound(compound)?;
                self.redirections(redirections.as_ref())
            }
            Node::Function(_) if self.has_function => Err(Unreadable("not all shells know the word function")),
            Node::Function(function) => {
                // A function may be named `wc`, and print anything.
                self.numbers.defines_functions = true;
                self.word(&function.fname.value)?;
                self.compound(&function.body.0)?;
                self.redirections(function.body.1.as_ref())
            }
            Node::ExtendedTest(test) => {
                self.test(&test.expr)?;
                // It runs nothing itself, but is a step: a text of tests is not empty.
                self.steps
                    .push(ShellStep::Run(Command { source: first_line(&command.to_string()), ..Command::default() }));
                Ok(())
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) -> WalkResult {
        let mut command = Command::default();
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, &mut command, true)?;
        }
        if let Some(name) = &simple.word_or_name {
            command.words.push(self.word(&name.value)?);
        }
        let suffix: Vec<&Item> = simple.suffix.iter().flat_map(|suffix| &suffix.0).collect();
        for (at, item) in suffix.iter().enumerate() {
            self.item(item, &mut command, false)?;
            // Other shells begin a command behind the file.
            let is_last = !suffix[at..].iter().any(|item| !matches!(item, Item::IoRedirect(_)));
            if matches!(item, Item::IoRedirect(IoRedirect::OutputAndError(..))) && !is_last {
                return Err(Unreadable("it has words behind &>"));
            }
        }
        command.words.iter().for_each(|word| self.numbers.pass(word));
        command.source = first_line(&simple.to_string());
        self.steps.push(ShellStep::Run(command));
        Ok(())
    }

    fn item(&mut self, item: &Item, command: &mut Command, is_before: bool) -> WalkResult {
        match item {
            Item::IoRedirect(redirection) => self.redirection(redirection, command)?,
            Item::Word(word) => command.words.push(self.word(&word.value)?),
            Item::AssignmentWord(assignment, _) if is_before => {
                let AssignmentName::VariableName(name) = &assignment.name else {
                    return Err(Unreadable("it sets an element of an array"));
                };
                let value = match &assignment.value {
                    AssignmentValue::Scalar(word) => {
                        let value = self.word(&word.value)?;
                        // Other shells take the text for the path of a program.
                        if assignment.append
                            && value.text().is_none_or(|text| text.contains('/'))
                            && value != Word::Number
                        {
                            return Err(Unreadable("it appends to a variable what may be a path"));
                        }
                        self.numbers.assign(name, &value);
                        if assignment.append { Word::Any } else { value }
                    }
                    AssignmentValue::Array(words) => {
                        self.numbers.taint(name);
                        for (key, word) in words {
                            if key.is_some() {
                                return Err(Unreadable("it sets an element of an array"));
                            }
                            self.word(&word.value)?;
                        }
                        Word::Any
                    }
                };
                command.assigned.push((name.clone(), value));
            }
            Item::AssignmentWord(_, word) => command.words.push(self.word(&word.value)?),
            Item::ProcessSubstitution(_, subshell) => {
                self.list(&subshell.list, false)?;
                command.words.push(Word::Any);
            }
        }
        Ok(())
    }

    fn redirections(&mut self, list: Option<&RedirectList>) -> WalkResult {
        let mut command = Command::default();
        for redirection in list.iter().flat_map(|list| &list.0) {
            self.redirection(redirection, &mut command)?;
        }
        let redirections = list.iter().flat_map(|list| &list.0).map(ToString::to_string);
        command.source = first_line(&redirections.collect::<Vec<_>>().join(" "));
        self.steps.push(ShellStep::Run(command));
        Ok(())
    }

    fn redirection(&mut self, redirection: &IoRedirect, command: &mut Command) -> WalkResult {
        match redirection {
            IoRedirect::File(_, kind, target) => {
                let is_read = matches!(kind, IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput);
                let file = match target {
                    IoFileRedirectTarget::Fd(_) => return Ok(()),
                    IoFileRedirectTarget::Filename(word) => self.word(&word.value)?,
                    IoFileRedirectTarget::Duplicate(word) => match self.word(&word.value)? {
                        Word::Text(descriptor) if is_descriptor(&descriptor) => return Ok(()),
                        // bash expands the name of a file a second time here.
                        Word::Text(file) if !file.contains(['$', '`']) => Word::Text(file),
                        _ => return Err(Unreadable("it expands the name of a file twice")),
                    },
                    IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                        return self.list(&subshell.list, false);
                    }
                };
                if is_read { &mut command.read } else { &mut command.written }.push(file);
            }
            IoRedirect::HereDocument(_, document) => {
                self.word(&document.here_end.value)?;
                // A text with a here-document and a substitution is refused.
                let text = &document.doc.value;
                if document.requires_expansion && text.contains("${") {
                    return Err(Unreadable("its here-document expands more than plain variables"));
                }
                // Shells join its lines before they look for its end.
                if document.requires_expansion && text.contains("\\\n") {
                    return Err(Unreadable("a line is continued in its here-document"));
                }
            }
            IoRedirect::HereString(_, word) => drop(self.word(&word.value)?),
            IoRedirect::OutputAndError(word, _) => command.written.push(self.word(&word.value)?),
        }
        Ok(())
    }

    fn compound(&mut self, compound: &CompoundCommand) -> WalkResult {
        match compound {
            CompoundCommand::Arithmetic(_) => Err(Unreadable("shells may take two brackets for a subshell")),
            CompoundCommand::ArithmeticForClause(clause) => {
                [&clause.initializer, &clause.condition, &clause.updater]
                    .into_iter()
                    .flatten()
                    .try_for_each(|expression| self.arithmetic(expression))?;
                self.list(&clause.body.list, false)
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list, false),
            CompoundCommand::Subshell(subshell) => {
                if self.has_double_bracket && begins_with_subshell(&subshell.list) {
                    return Err(Unreadable("shells may take two brackets for a calculation"));
                }
                self.list(&subshell.list, false)
            }
            CompoundCommand::ForClause(clause) => {
                for value in clause.values.iter().flatten() {
                    self.word(&value.value)?;
                }
                self.numbers.taint(&clause.variable_name);
                let assigned = vec![(clause.variable_name.clone(), Word::Any)];
                let source = format!("for {}", clause.variable_name);
                self.steps.push(ShellStep::Run(Command { assigned, source, ..Command::default() }));
                self.list(&clause.body.list, false)
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value)?;
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.word(&pattern.value)?;
                    }
                    case.cmd.iter().try_for_each(|list| self.list(list, false))?;
                }
                Ok(())
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, false)?;
                self.list(&clause.then, false)?;
                for other in clause.elses.iter().flatten() {
                    other.condition.iter().try_for_each(|list| self.list(list, false))?;
                    self.list(&other.body, false)?;
                }
                Ok(())
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0, false)?;
                self.list(&clause.1.list, false)
            }
        }
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_end().to_owned()
}

/// Whether a list is `(a)...`.
fn begins_with_subshell(list: &CompoundList) -> bool {
    let first = list.0.first().and_then(|item| item.0.first.seq.first());
    matches!(first, Some(Node::Compound(CompoundCommand::Subshell(_), _)))
}

/// Whether a word after `>&` is a descriptor: a number, or `-` to close.
fn is_descriptor(word: &str) -> bool {
    let number = word.strip_suffix('-').unwrap_or(word);
    !word.is_empty() && number.len() <= 3 && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
