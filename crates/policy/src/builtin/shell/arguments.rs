//! A program's arguments: whether they have an option, and which words are a command of their own.

use super::is_harmless_setting;
use pipewright_syntax::shell::Word;

/// Whether none of the options is there. GNU's long options may be abbreviated, short ones are also found among other
/// letters, and longer ones with a single dash (find's) with any text after them.
pub(super) fn has_none(arguments: &[&str], options: &[&str]) -> bool {
    let is = |argument: &str, option: &str| match (argument.strip_prefix("--"), option.strip_prefix("--")) {
        (Some(argument), Some(option)) => {
            let name = argument.split('=').next().unwrap_or_default();
            !name.is_empty() && (option.starts_with(name) || name.starts_with(option))
        }
        // `-o=json` has no letters behind the sign.
        (None, None) if option.len() == 2 => {
            argument.starts_with('-') && argument[1..].split('=').next().is_some_and(|it| it.contains(&option[1..]))
        }
        (None, None) => argument.starts_with(option),
        _ => false,
    };
    !arguments.iter().any(|argument| options.iter().any(|option| is(argument, option)))
}

/// The arguments that may be options of a program, as texts; `None` if an expansion may become one. If the program
/// knows `--`, there are only operands behind it, unless it is itself the value of an option. The name of a file is no
/// option if its first letter is known.
pub(super) fn options(words: &[Word], knows_end: bool) -> Option<Vec<&str>> {
    const ALONE: &[&str] = &["--cached", "--name-only", "--name-status", "--oneline", "--staged", "--stat"];
    // `-5` is a number of commits or lines.
    let stands_alone = |option: &str| ALONE.contains(&option) || option.strip_prefix('-').is_some_and(is_digits);
    let may_take_value = |option: &&str| option.starts_with('-') && !option.contains('=') && !stands_alone(option);
    let mut texts: Vec<&str> = Vec::new();
    for word in words {
        match word {
            Word::Text(text) if knows_end && text == "--" && !texts.last().is_some_and(may_take_value) => break,
            Word::Text(text) => texts.push(text),
            Word::Pattern(pattern) if begins_as_name(pattern) => {}
            Word::Pattern(_) | Word::Number | Word::One | Word::Any => return None,
        }
    }
    Some(texts)
}

/// The arguments before names of files, which are no options; `None` if there is another expansion.
pub(super) fn before_files(words: &[Word]) -> Option<Vec<&str>> {
    let is_files = |word: &Word| matches!(word, Word::Pattern(pattern) if begins_as_name(pattern));
    let before = words.iter().rposition(|word| !is_files(word)).map_or(0, |last| last + 1);
    words[..before].iter().map(Word::text).collect()
}

/// Whether all names that match a pattern begin with a letter or a folder, so that programs take none for an option.
fn begins_as_name(pattern: &str) -> bool {
    pattern.starts_with(|one: char| one.is_alphanumeric() || "./_~".contains(one))
}

/// The words after options, of which some stand alone and some have a value, in the same word or the next one; `None`
/// if there is any other option.
pub(super) fn behind_options<'a>(words: &'a [Word], alone: &[&str], valued: &[&str]) -> Option<&'a [Word]> {
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        let word = word.text()?;
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

/// The command of `env`, after variables that only change how a program prints.
pub(super) fn assignments_then(words: &[Word]) -> Option<&[Word]> {
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        match word.text()?.split_once('=') {
            Some((name, value)) if is_harmless_setting(name, Some(value)) => rest = behind,
            Some(_) => return None,
            None => return (!word.text()?.starts_with('-')).then_some(rest),
        }
    }
    Some(rest)
}

/// Whether a test only looks at files and texts. With `-v` and `-R` it evaluates the name of a variable, which may run
/// a command, and zsh evaluates the operands of `-eq`.
pub(super) fn test_reads(words: &[Word]) -> bool {
    const OF_ONE: &[&str] = &["-d", "-e", "-f", "-h", "-L", "-n", "-r", "-s", "-w", "-x", "-z", "-b", "-c", "-p", "-S"];
    let is = |word: &Word, known: &[&str]| word.text().is_some_and(|word| known.contains(&word));
    let words = match words.split_last() {
        Some((last, before)) if is(last, &["]"]) => before,
        _ => words,
    };
    let words = match words {
        [not, rest @ ..] if is(not, &["!"]) => rest,
        words => words,
    };
    // After an expansion that may be several words, operators may be in unexpected places.
    if words.iter().any(|word| matches!(word, Word::Any | Word::Pattern(_))) {
        return false;
    }
    match words {
        [] | [_] => true,
        [operator, _] => is(operator, OF_ONE),
        [left, operator, right] => {
            is(operator, &["=", "==", "!=", "-nt", "-ot", "-ef"])
                || is(operator, &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]) && is_number(left) && is_number(right)
        }
        words => words.iter().all(|word| {
            is(word, OF_ONE) || is(word, &["-a", "-o"]) || word.text().is_some_and(|word| !word.starts_with('-'))
        }),
    }
}

/// Whether npm looks an operand up in its registry: an option, a field or the name of a package, with a version. It
/// asks other addresses for `user/repository` and `name@https://...`, and so sends them what the address says.
pub(super) fn is_package(word: &str) -> bool {
    let name = word.strip_prefix('@').map_or(word, |scoped| scoped.split_once('/').map_or("/", |(_, name)| name));
    !name.contains(['/', ':', '\\'])
}

/// Whether a word is certainly a number: zsh evaluates expressions where it expects one, and bash in an index.
pub(super) fn is_number(word: &Word) -> bool {
    *word == Word::Number || word.text().is_some_and(is_digits)
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `exit`, `shift` and other builtins with a number.
pub(super) fn are_numbers(words: &[Word]) -> bool {
    words.iter().all(is_number)
}

/// `printf`, whose `-v NAME` and `%n` assign, and whose numbers zsh evaluates.
pub(super) fn printf_reads(words: &[Word]) -> bool {
    let Some((format, operands)) = words.split_first() else { return false };
    let Some(format) = format.text().filter(|format| !format.starts_with('-')) else { return false };
    // zsh decodes escapes before it looks for conversions.
    let has_plain_escapes = format.replace("\\\\", "").split('\\').skip(1).all(|behind| {
        let is_zero = behind.strip_prefix('0').is_some_and(|rest| !rest.starts_with(|one: char| one.is_ascii_digit()));
        is_zero || behind.starts_with(['n', 't', 'r', 'a', 'b', 'e', 'f', 'v'])
    });
    let format = format.replace("%%", "");
    let mut conversions = format.split('%').skip(1).map(|behind| {
        behind.trim_start_matches(|one: char| one.is_ascii_digit() || "-+ #.".contains(one)).chars().next()
    });
    has_plain_escapes
        && conversions.all(|conversion| match conversion {
            Some('s' | 'b' | 'q' | 'c') => true,
            Some('d' | 'i' | 'u' | 'x' | 'X' | 'o' | 'f' | 'e' | 'g') => are_numbers(operands),
            _ => false,
        })
}
