//! git's subcommands that read.

use super::arguments::{has_none, is_digits, options};
use super::readers;
use crate::lists::shell_git::{HARMLESS_VARIABLES, READ_COMMANDS, WRITE_OPTIONS};
use pipewright_syntax::shell::Word;

/// The words behind git's own options, and the values of `-C`.
fn behind_own_options(words: &[Word]) -> (&[Word], Vec<String>) {
    let (mut rest, mut folders) = (words, Vec::new());
    loop {
        match rest {
            [option, behind @ ..] if matches!(option.text(), Some("--no-pager" | "-P" | "--no-optional-locks")) => {
                rest = behind;
            }
            [option, Word::Text(set), behind @ ..] if option.text() == Some("-c") && is_harmless_variable(set) => {
                rest = behind;
            }
            [option, Word::Text(folder), behind @ ..] if option.text() == Some("-C") => {
                folders.push(folder.clone());
                rest = behind;
            }
            _ => return (rest, folders),
        }
    }
}

/// Whether a variable with a value, behind `-c`, only changes how git prints.
fn is_harmless_variable(set: &str) -> bool {
    let Some((name, value)) = set.split_once('=') else { return false };
    let name = name.to_lowercase();
    HARMLESS_VARIABLES.contains(&&*format!("{name}={value}"))
        || name.starts_with("color.") && value.chars().all(|one| one.is_ascii_alphabetic())
}

/// The values of `git -C`, in order.
pub(super) fn folders(words: &[Word]) -> Vec<String> {
    behind_own_options(words).1
}

/// Whether git with these arguments only reads.
pub(super) fn reads(words: &[Word]) -> bool {
    let (rest, _) = behind_own_options(words);
    let Some((subcommand, words)) = rest.split_first() else { return false };
    let Some(subcommand) = subcommand.text() else { return false };
    if READ_COMMANDS.contains(&subcommand) {
        return options(words, true).is_some_and(|options| has_none(&options, WRITE_OPTIONS));
    }
    let arguments: Option<Vec<&str>> = words.iter().map(Word::text).collect();
    arguments.is_some_and(|arguments| only_lists(subcommand, &arguments))
}

/// Whether a subcommand that can also change something only shows what there is.
fn only_lists(subcommand: &str, arguments: &[&str]) -> bool {
    match subcommand {
        "stash" => matches!(arguments, ["list" | "show", ..]) && has_none(arguments, WRITE_OPTIONS),
        "config" if arguments.len() == 1 && arguments[0].contains('.') => has_operands_only(arguments),
        "config" => match arguments {
            ["--list" | "-l", rest @ ..] => {
                rest.iter().all(|word| ["--show-origin", "--show-scope", "--global", "--local"].contains(word))
            }
            _ => readers::reads("git", &[&[subcommand], arguments].concat()).unwrap_or(false),
        },
        "reflog" => {
            // Among these is no other subcommand.
            let is_shown = |word: &&str| word.starts_with('-') || *word == "HEAD" || is_digits(word);
            let shows = matches!(arguments, ["show", ..]) || arguments.iter().all(is_shown);
            shows && has_none(arguments, WRITE_OPTIONS)
        }
        _ => {
            let words: Vec<&str> = [&[subcommand], arguments].concat();
            readers::reads("git", &words).unwrap_or(false)
        }
    }
}

fn has_operands_only(arguments: &[&str]) -> bool {
    !arguments.iter().any(|argument| argument.starts_with('-'))
}
