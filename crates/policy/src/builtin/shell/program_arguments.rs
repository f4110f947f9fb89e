//! Arguments that are small programs: those of sed and awk, and of builtins that set something.

use super::super::address::judge_service;
use super::super::powershell;
use super::arguments::is_digits;
use super::{awk, is_own_name};
use crate::lists::address::LOCAL_QUERY_KEYS;
use url::Url;

/// sed's scripts that print, delete and replace lines of its input. `w`, `e` and `-i` write and run.
pub(super) fn sed_reads(arguments: &[&str]) -> bool {
    let is_harmless =
        |option: &str| ["-n", "-E", "-r", "-s", "-u", "-z", "-nE", "-En", "-nr", "--quiet"].contains(&option);
    let (mut scripts, mut operands, mut rest) = (Vec::new(), Vec::new(), arguments);
    while let Some((&argument, behind)) = rest.split_first() {
        rest = behind;
        match (argument, behind) {
            // After an operand, BSD's sed takes `-e` for a file, and the operand for the script.
            ("-e" | "-ne", [script, behind @ ..]) if operands.is_empty() => {
                scripts.push(*script);
                rest = behind;
            }
            _ if !argument.starts_with('-') => operands.push(argument),
            _ if is_harmless(argument) => {}
            _ => return false,
        }
    }
    if scripts.is_empty() {
        scripts.extend(operands.first());
    }
    let is_alone = scripts.len() == 1 && !scripts.iter().any(|script| script.contains(';'));
    !scripts.is_empty()
        && scripts.iter().all(|script| script.split(';').all(|command| sed_command_reads(command, is_alone)))
}

/// Whether a command only reads; `is_alone`, if no other text can belong to it.
fn sed_command_reads(command: &str, is_alone: bool) -> bool {
    let command = command.trim();
    if command.contains('\n') {
        return false;
    }
    let (mut behind_address, mut is_alone) = (command, is_alone);
    loop {
        behind_address = behind_address.trim_start_matches(|one: char| one.is_ascii_digit() || "$,~+ ".contains(one));
        // A group: its commands are between semicolons, too.
        if let Some(first) = behind_address.strip_prefix('{') {
            (behind_address, is_alone) = (first, false);
            continue;
        }
        let Some(matched) = behind_address.strip_prefix('/') else { break };
        // Without an escaped or bracketed delimiter, the end of the pattern is certain.
        match matched.split_once('/') {
            Some((pattern, behind)) if !pattern.contains(['\\', '[']) => behind_address = behind,
            _ => return false,
        }
    }
    match behind_address.trim_end_matches(['}', ' ']) {
        "p" | "d" | "q" | "=" | "!d" | "!p" | "P" | "D" | "n" | "N" | "" => true,
        _ => behind_address.strip_prefix('s').is_some_and(|rest| sed_replacement_reads(rest, is_alone)),
    }
}

/// The text after the `s`: three parts, and flags that neither write nor run.
fn sed_replacement_reads(replacement: &str, is_alone: bool) -> bool {
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
    // If sed takes a delimiter in brackets as text, its command has fewer parts than these: it refuses it, or takes what
    // follows for the rest.
    matches!(&parts[..], [pattern, _, flags] if flags.chars().all(|flag| "gpIi0123456789".contains(flag))
        && (is_alone || !may_leave_bracket_open(pattern)))
}

/// Whether a part of a pattern may end within brackets.
fn may_leave_bracket_open(pattern: &str) -> bool {
    let plain = ["alnum", "alpha", "blank", "digit", "lower", "punct", "space", "upper", "xdigit"]
        .iter()
        .fold(pattern.to_owned(), |plain, class| plain.replace(&format!("[:{class}:]"), "x"));
    if plain.contains('[') && ["\\", "[.", "[=", "[:"].iter().any(|odd| plain.contains(odd)) {
        return true;
    }
    let mut rest = plain.as_str();
    while let Some((_, inner)) = rest.split_once('[') {
        let inner = inner.strip_prefix('^').unwrap_or(inner);
        // A bracket at the beginning is a sign like any other.
        let inner = inner.strip_prefix(']').unwrap_or(inner);
        let Some((_, behind)) = inner.split_once(']') else { return true };
        rest = behind;
    }
    false
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
    let may = ["system", "getline", "@", "close", "fflush", "ARGV", "ENVIRON", "SYMTAB", "FUNCTAB"];
    // Before the first action, `>` compares; after print, it opens a file.
    let actions = program.split_once('{').map_or("", |(_, actions)| actions);
    let opens_nothing = !program.contains('|') && !actions.replace(">=", " ").contains('>');
    !program.starts_with('-')
        && (opens_nothing || awk::opens_nothing(program))
        && !may.iter().any(|word| program.contains(word))
        // gawk connects to what is named like `/inet/tcp/0/HOST/PORT`.
        && files.iter().all(|file| !file.starts_with('-') && !file.contains("/inet"))
}

/// `read` that sets the text's own variables.
pub(super) fn read_reads(arguments: &[&str]) -> bool {
    let mut rest = arguments;
    loop {
        rest = match rest {
            ["-r" | "-s", rest @ ..] | ["-d", _, rest @ ..] => rest,
            // zsh evaluates these, and takes the word after -p for a name.
            ["-n" | "-t" | "-u", number, rest @ ..] if is_digits(number) => rest,
            _ => break,
        };
    }
    rest.iter().all(|name| is_own_name(name))
}

/// `set` that shows variables, or with options that stop a text at errors or show what it does.
pub(super) fn set_reads(arguments: &[&str]) -> bool {
    let is_flag =
        |word: &str| word.strip_prefix(['-', '+']).is_some_and(|flags| flags.chars().all(|flag| "euxo".contains(flag)));
    arguments.iter().all(|word| *word == "pipefail" || is_flag(word))
}

/// `date` that shows the time, or another one.
pub(super) fn date_reads(arguments: &[&str]) -> bool {
    let mut rest = arguments;
    loop {
        rest = match rest {
            ["-d" | "--date" | "-r" | "--reference", _, rest @ ..] => rest,
            ["-u" | "-R" | "-I" | "-Iseconds" | "--utc" | "--universal" | "--iso-8601" | "--rfc-email", rest @ ..] => {
                rest
            }
            [option, rest @ ..]
                if ["+", "--date=", "--reference=", "--iso-8601=", "--rfc-3339="]
                    .iter()
                    .any(|it| option.starts_with(it)) =>
            {
                rest
            }
            _ => return rest.is_empty(),
        };
    }
}

/// `tar` that lists an archive. An archive with a colon is on another machine.
pub(super) fn tar_reads(arguments: &[&str]) -> bool {
    let is_archive = |name: &str| !name.contains(':') && !name.starts_with('-');
    let (mut lists, mut archives, mut rest) = (false, 0, arguments);
    while let Some((&word, behind)) = rest.split_first() {
        rest = behind;
        // Only the first word is flags without a dash.
        let is_first = behind.len() + 1 == arguments.len();
        let letters = word.strip_prefix('-').or(Some(word).filter(|_| is_first)).filter(|it| !it.starts_with('-'));
        match (word, letters) {
            ("--list", _) => lists = true,
            ("--verbose" | "--gzip" | "--bzip2" | "--xz" | "--zstd", _) => {}
            (_, Some(letters)) if !letters.is_empty() && letters.chars().all(|letter| "tvzjJf".contains(letter)) => {
                lists |= letters.contains('t');
                // What is behind an `f` is the archive.
                match (letters.find('f'), behind) {
                    (None, _) => {}
                    (Some(at), [archive, behind @ ..]) if at + 1 == letters.len() && is_archive(archive) => {
                        archives += 1;
                        rest = behind;
                    }
                    _ => return false,
                }
            }
            _ if let Some(archive) = word.strip_prefix("--file=") => {
                if !is_archive(archive) {
                    return false;
                }
                archives += 1;
            }
            _ if word.starts_with('-') || is_first => return false,
            // The name of a member.
            _ => {}
        }
    }
    lists && archives == 1
}

/// `curl` that gets a page from this machine. `-L` may lead to another one, `-o` and `-O` write, and other options send
/// something.
pub(super) fn curl_reads(arguments: &[&str]) -> bool {
    const ALONE: &[&str] = &["--silent", "--show-error", "--fail", "--include", "--head", "--verbose", "--compressed"];
    // A line end in a header, or an address, begins another header or request.
    if arguments.iter().any(|word| word.contains(char::is_control)) {
        return false;
    }
    let mut addresses = 0;
    let mut rest = arguments;
    while let Some((&word, behind)) = rest.split_first() {
        rest = match (word, behind) {
            ("-m" | "--max-time" | "--connect-timeout", [seconds, behind @ ..]) if is_digits(seconds) => behind,
            ("-o" | "--output", ["/dev/null", behind @ ..]) => behind,
            ("-X" | "--request", ["GET" | "HEAD", behind @ ..]) => behind,
            ("-H" | "--header", [header, behind @ ..]) if is_plain_header(header) => behind,
            // A format may name a file to write to, or one that has the format.
            ("-w" | "--write-out", [format, behind @ ..])
                if !format.starts_with('@') && !format.contains("output{") =>
            {
                behind
            }
            _ if ALONE.contains(&word) => behind,
            _ if word.strip_prefix('-').is_some_and(|letters| {
                !letters.is_empty() && letters.chars().all(|letter| "sSfiIvk46".contains(letter))
            }) =>
            {
                behind
            }
            _ if is_on_this_machine(word) => {
                addresses += 1;
                behind
            }
            _ => return false,
        };
    }
    addresses == 1
}

/// Whether a header only says in which form an answer is wanted.
fn is_plain_header(header: &str) -> bool {
    let name = header.split(':').next().unwrap_or_default();
    ["accept", "accept-encoding", "accept-language"].iter().any(|plain| name.eq_ignore_ascii_case(plain))
}

/// Whether an address is on this machine, and no word of its path says that it does something.
fn is_on_this_machine(address: &str) -> bool {
    let scheme = ["http://", "https://"].into_iter().find_map(|scheme| address.strip_prefix(scheme));
    let behind = scheme.unwrap_or(address);
    let Some(port) = ["localhost", "127.0.0.1", "[::1]"].into_iter().find_map(|host| behind.strip_prefix(host)) else {
        return false;
    };
    let (port, path) = port.split_once('/').unwrap_or((port, ""));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "/._-~".contains(one);
    // With other keys, some services run what is in the value, or get it from elsewhere.
    let is_harmless = |part: &str| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        LOCAL_QUERY_KEYS.contains(&key) && value.chars().all(|one| one.is_ascii_alphanumeric() || "-_,".contains(one))
    };
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_digits))
        && path.chars().all(is_plain)
        && (query.is_empty() || query.split('&').all(is_harmless))
        && Url::parse(&format!("http://localhost/{path}")).is_ok_and(|url| judge_service(&url).is_none())
}

/// PowerShell with a text that only reads. As with other shells, the settings of the user count as harmless.
pub(super) fn powershell_reads(arguments: &[&str]) -> bool {
    let is = |word: &str, options: &[&str]| options.iter().any(|option| word.eq_ignore_ascii_case(option));
    let mut rest = arguments;
    while let [word, behind @ ..] = rest {
        match behind {
            _ if is(word, &["-NoProfile", "-NoLogo", "-NonInteractive"]) => rest = behind,
            [_, ..] if is(word, &["-Command", "-c"]) => return powershell::only_reads(&behind.join(" ")),
            _ => return false,
        }
    }
    false
}

/// `lsof` about files, processes, users and ports. `-i @HOST` asks for the address of a host.
pub(super) fn lsof_reads(arguments: &[&str]) -> bool {
    let is_port = |word: &str| {
        let kind = word.trim_start_matches(['4', '6']);
        let kind = kind.strip_prefix("TCP").or_else(|| kind.strip_prefix("tcp")).unwrap_or(kind);
        let kind = kind.strip_prefix("UDP").or_else(|| kind.strip_prefix("udp")).unwrap_or(kind);
        let is_number = |one: char| one.is_ascii_digit() || one == ',' || one == '-';
        kind.is_empty() || kind.strip_prefix(':').is_some_and(|ports| ports.chars().all(is_number))
    };
    let mut rest = arguments;
    while let Some((&word, behind)) = rest.split_first() {
        rest = match (word, behind) {
            ("-i" | "-nPi" | "-Pni" | "-ti", [ports, behind @ ..]) if is_port(ports) => behind,
            ("-c" | "-d" | "-p" | "-u", [value, behind @ ..]) if !value.starts_with('-') => behind,
            _ if word.strip_prefix("-i").is_some_and(is_port) => behind,
            _ if ["-sTCP:LISTEN", "-sTCP:ESTABLISHED"].contains(&word) => behind,
            _ => {
                let is_flags = |flags: &str| flags.chars().all(|flag| "abilnNoPRtUwV".contains(flag));
                let is_file = !word.starts_with('+') && !word.contains(['@', ':']);
                if !word.strip_prefix('-').map_or(is_file, is_flags) {
                    return false;
                }
                behind
            }
        };
    }
    true
}

/// `top` that prints to its output.
pub(super) fn top_reads(arguments: &[&str]) -> bool {
    let is_known = |word: &&str| {
        let letters = word.strip_prefix('-').unwrap_or(word).trim_end_matches(|one: char| one.is_ascii_digit());
        ["", "b", "bn", "n", "c", "bcn"].contains(&letters)
    };
    !arguments.is_empty() && arguments.iter().all(is_known)
}
