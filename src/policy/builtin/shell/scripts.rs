//! Arguments that are small programs: those of sed and awk, and of builtins that set something.

use super::arguments::is_digits;
use super::is_own_name;

/// sed's scripts that print, delete and replace lines of what passes. `w`, `e` and `-i` write and run.
pub(super) fn sed_reads(arguments: &[&str]) -> bool {
    let (options, rest): (Vec<&str>, Vec<&str>) =
        arguments.iter().copied().partition(|argument| argument.starts_with('-'));
    let is_harmless =
        |option: &str| ["-n", "-E", "-r", "-s", "-u", "-z", "-nE", "-En", "-nr", "--quiet"].contains(&option);
    options.into_iter().all(is_harmless) && rest.first().is_some_and(|script| script.split(';').all(sed_command_reads))
}

fn sed_command_reads(command: &str) -> bool {
    let command = command.trim();
    if command.contains('\n') {
        return false;
    }
    let behind_address = command.trim_start_matches(|one: char| one.is_ascii_digit() || "$,~+ ".contains(one));
    match behind_address {
        "p" | "d" | "q" | "=" | "!d" | "!p" | "P" | "D" | "n" | "N" | "" => true,
        replaced if replaced.starts_with('s') => sed_replacement_reads(&replaced[1..]),
        matched if matched.starts_with('/') => {
            // No escaped or bracketed delimiter: where the pattern ends is then certain.
            let mut parts = matched[1..].split('/');
            let pattern = parts.next().unwrap_or_default();
            let is_plain = !pattern.contains(['\\', '[']);
            is_plain && matches!(parts.next(), Some("p" | "d" | "!p" | "!d" | "=" | "q")) && parts.next().is_none()
        }
        _ => false,
    }
}

/// What follows the `s`: three parts, and flags that neither write nor run.
fn sed_replacement_reads(replacement: &str) -> bool {
    let Some(delimiter) = replacement.chars().next().filter(|one| "/|#,@!:_".contains(*one)) else { return false };
    let (mut parts, mut is_escaped) = (vec![String::new()], false);
    for one in replacement.chars().skip(1) {
        match one {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if one == delimiter => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(one);
        }
    }
    // Where a bracketed delimiter is none for sed, it has fewer parts than these, and refuses it.
    matches!(&parts[..], [_, _, flags] if flags.chars().all(|flag| "gpIi0123456789".contains(flag)))
}

/// awk's programs without files, pipes and functions that run something.
pub(super) fn awk_reads(arguments: &[&str]) -> bool {
    let mut rest = arguments;
    loop {
        rest = match rest {
            ["-F" | "-v", _, rest @ ..] => rest,
            [option, rest @ ..] if option.starts_with("-F") && option.len() > 2 => rest,
            _ => break,
        };
    }
    let Some((program, files)) = rest.split_first() else { return false };
    let may = ["system", "getline", "|", ">", "@", "close", "fflush", "ARGV", "ENVIRON", "SYMTAB", "FUNCTAB"];
    !program.starts_with('-')
        && !may.iter().any(|word| program.contains(word))
        && files.iter().all(|file| !file.starts_with('-'))
}

/// `read` sets variables of the text's own.
pub(super) fn read_reads(arguments: &[&str]) -> bool {
    let mut rest = arguments;
    loop {
        rest = match rest {
            ["-r" | "-s", rest @ ..] | ["-d", _, rest @ ..] => rest,
            // zsh calculates these, and takes what follows -p for a name.
            ["-n" | "-t" | "-u", number, rest @ ..] if is_digits(number) => rest,
            _ => break,
        };
    }
    rest.iter().all(|name| is_own_name(name))
}

/// `set` with the options by which a text stops at errors or shows what it does.
pub(super) fn set_reads(arguments: &[&str]) -> bool {
    let is_flag =
        |word: &str| word.strip_prefix(['-', '+']).is_some_and(|flags| flags.chars().all(|flag| "euxo".contains(flag)));
    !arguments.is_empty() && arguments.iter().all(|word| *word == "pipefail" || is_flag(word))
}
