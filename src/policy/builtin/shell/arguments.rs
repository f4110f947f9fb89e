//! A program's arguments: whether an option is among them, and which words are a command of their own.

use super::is_harmless_setting;
use pipewright_syntax::shell::Word;

/// Whether none of the options is there. GNU's long options may be shortened, short ones are also found among other letters, and
/// longer ones with a single dash (find's) with anything behind them.
pub(super) fn has_none(arguments: &[&str], options: &[&str]) -> bool {
    let is = |argument: &str, option: &str| match (argument.strip_prefix("--"), option.strip_prefix("--")) {
        (Some(argument), Some(option)) => {
            let name = argument.split('=').next().unwrap_or_default();
            !name.is_empty() && (option.starts_with(name) || name.starts_with(option))
        }
        (None, None) if option.len() == 2 => argument.starts_with('-') && argument[1..].contains(&option[1..]),
        (None, None) => argument.starts_with(option),
        _ => false,
    };
    !arguments.iter().any(|argument| options.iter().any(|option| is(argument, option)))
}

/// The words behind options, of which some stand alone and some have a value, in the same word or the next one; `None` where there is
/// another option, or one that is not known.
pub(super) fn behind_options<'a>(words: &'a [Word], alone: &[&str], valued: &[&str]) -> Option<&'a [Word]> {
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        let word = word.as_deref()?;
        rest = match word {
            _ if !word.starts_with('-') => return Some(rest),
            "--" => return Some(behind),
            _ if alone.contains(&word) => behind,
            _ if valued.contains(&word) => behind.split_first()?.1,
            _ if word.get(..2).is_some_and(|option| valued.contains(&option)) => behind,
            _ => return None,
        };
    }
    Some(rest)
}

/// `env`: the command behind variables that only change how a program prints.
pub(super) fn assignments_then(words: &[Word]) -> Option<&[Word]> {
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        match word.as_deref()?.split_once('=') {
            Some((name, _)) if is_harmless_setting(name) => rest = behind,
            Some(_) => return None,
            None => return (!word.as_deref()?.starts_with('-')).then_some(rest),
        }
    }
    Some(rest)
}

/// Whether a test looks at files and texts: with `-v` and `-R` it evaluates the name of a variable, which may run a command.
pub(super) fn tests(words: &[Word]) -> bool {
    let words = match words.split_last() {
        Some((last, before)) if last.as_deref() == Some("]") => before,
        _ => words,
    };
    let is = |word: &Word, known: &[&str]| word.as_deref().is_some_and(|word| known.contains(&word));
    let words = match words {
        [not, rest @ ..] if is(not, &["!"]) => rest,
        words => words,
    };
    match words {
        [operator, _] => {
            is(operator, &["-d", "-e", "-f", "-h", "-L", "-n", "-r", "-s", "-w", "-x", "-z", "-b", "-c", "-p", "-S"])
        }
        [_, operator, _] => {
            is(operator, &["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"])
        }
        words => words
            .iter()
            .all(|word| word.as_deref().is_some_and(|word| !word.starts_with("-v") && !word.starts_with("-R"))),
    }
}
