//! Programs that read, and with which arguments they do.

use super::arguments::{
    are_numbers, assignments_then, before_files, behind_options, has_none, is_digits, is_number, options, printf_reads,
    test_reads,
};
use super::{git, program_arguments};
pub(super) use crate::lists::shell_programs::READ_ONLY_PROGRAMS;
use crate::lists::shell_programs::{
    BREW_SUBCOMMANDS, DOCKER_SUBCOMMANDS, GH_SUBCOMMANDS, HELM_SUBCOMMANDS, HELP_GROUPS, HELP_PRINTERS,
    KUBECTL_SUBCOMMANDS, VERSION_PRINTERS,
};
use pipewright_syntax::shell::Word;

/// When a program only reads.
pub(super) enum ReadOnlyWhen {
    /// With any arguments.
    Whatever,
    /// Without these options: `-o` also among other letters, `--output` also abbreviated.
    Without(&'static [&'static str]),
    /// If this is true of its arguments.
    If(fn(&[&str]) -> bool),
    /// If the command in its arguments only reads.
    Wrapper(fn(&[Word]) -> Option<&[Word]>),
    /// If the command in its arguments only reads with any further arguments: `xargs`.
    EachInput,
    /// If the commands in its arguments only read, with the names of files: `find`.
    EachFile,
    /// If the text after `-c` only reads.
    Shell,
    /// If this is true of its arguments, some of which may be expansions.
    IfWords(fn(&[Word]) -> bool),
}

/// When a program only reads; `None` if it is not known.
pub(super) fn reading(program: &str) -> Option<ReadOnlyWhen> {
    if READ_ONLY_PROGRAMS.binary_search(&program).is_ok() {
        return Some(ReadOnlyWhen::Whatever);
    }
    Some(match program {
        // On macOS it runs a command.
        "arch" => ReadOnlyWhen::If(|arguments| arguments.is_empty()),
        // `lspci -q` asks a server for names, and keeps the answers.
        "lspci" => ReadOnlyWhen::Without(&["-q", "-Q", "-O"]),
        // That of zutils runs programs that it is given.
        "zcat" => ReadOnlyWhen::Without(&["--gz", "--bz2", "--lz", "--xz", "--zst"]),
        // macOS has -o.
        "base32" | "base64" => ReadOnlyWhen::Without(&["-o", "--output"]),
        "date" => ReadOnlyWhen::If(program_arguments::date_reads),
        "env" => ReadOnlyWhen::Wrapper(assignments_then),
        "fd" | "fdfind" => ReadOnlyWhen::Without(&["-x", "-X", "--exec", "--exec-batch"]),
        // They load a plugin, and take further arguments from `@FILE`.
        "addr2line" | "c++filt" | "nm" | "objdump" | "readelf" | "size" => ReadOnlyWhen::IfWords(|words| {
            options(words, false).is_some_and(|options| has_none(&options, &["--plugin", "@"]))
        }),
        // They ask for the names of hosts.
        "last" => ReadOnlyWhen::Without(&["-d", "--dns"]),
        "who" => ReadOnlyWhen::Without(&["--lookup"]),
        "file" => ReadOnlyWhen::Without(&["-C", "--compile"]),
        "find" => ReadOnlyWhen::EachFile,
        "hostname" => ReadOnlyWhen::If(|arguments| {
            arguments.iter().all(|argument| ["-f", "-i", "-I", "-s", "-d"].contains(argument))
        }),
        "history" => ReadOnlyWhen::If(|arguments| arguments.len() < 2 && arguments.iter().all(|word| is_digits(word))),
        "jobs" | "times" => ReadOnlyWhen::If(|arguments| matches!(arguments, [] | ["-l"] | ["-p"] | ["-r"] | ["-s"])),
        // With other words they set something.
        "alias" | "umask" | "mount" => ReadOnlyWhen::If(|arguments| arguments.is_empty()),
        "export" | "declare" | "typeset" | "readonly" => ReadOnlyWhen::If(|arguments| arguments == ["-p"]),
        "dirs" => ReadOnlyWhen::If(|arguments| matches!(arguments, [] | ["-v"] | ["-p"] | ["-l"])),
        "ulimit" => ReadOnlyWhen::If(|arguments| matches!(arguments, ["-a"] | ["-n"] | ["-u"])),
        "hash" => ReadOnlyWhen::If(|arguments| match arguments {
            [] => true,
            [option, names @ ..] => *option == "-t" && !names.iter().any(|name| name.contains(['=', '-'])),
        }),
        "sysctl" => ReadOnlyWhen::If(|arguments| {
            // FreeBSD's sets a value behind a colon, too.
            let is_key = |word: &&str| !word.starts_with('-') && !word.contains(['=', ':']);
            arguments.iter().all(|word| ["-a", "-n"].contains(word) || is_key(word))
        }),
        "lsof" => ReadOnlyWhen::If(program_arguments::lsof_reads),
        "netstat" | "ss" => ReadOnlyWhen::Without(&["-K", "--kill", "-D", "--diag"]),
        "break" | "continue" | "exit" | "return" | "shift" => ReadOnlyWhen::IfWords(are_numbers),
        "printf" => ReadOnlyWhen::IfWords(printf_reads),
        // -p NAME assigns.
        "wait" => ReadOnlyWhen::IfWords(|words| {
            let is_job = |word: &Word| {
                is_number(word)
                    || word.text().is_some_and(|word| word == "-n" || word.strip_prefix('%').is_some_and(is_digits))
            };
            words.iter().all(is_job)
        }),
        "read" => ReadOnlyWhen::If(program_arguments::read_reads),
        "rg" => ReadOnlyWhen::IfWords(|words| {
            options(words, true).is_some_and(|mut options| {
                options.retain(|option| *option != "--pretty");
                has_none(&options, &["--pre", "--hostname-bin", "--search-zip", "-z"])
            })
        }),
        "curl" => ReadOnlyWhen::If(program_arguments::curl_reads),
        "set" => ReadOnlyWhen::If(program_arguments::set_reads),
        "sort" => ReadOnlyWhen::Without(&["-o", "--output", "--compress-program", "-T", "--temporary-directory"]),
        "top" => ReadOnlyWhen::If(program_arguments::top_reads),
        "whatis" => ReadOnlyWhen::If(|arguments| !arguments.iter().any(|word| word.starts_with('-'))),
        "tar" => ReadOnlyWhen::If(program_arguments::tar_reads),
        "tee" => ReadOnlyWhen::If(|arguments| arguments == ["/dev/null"]),
        "unzip" => ReadOnlyWhen::If(
            |arguments| matches!(arguments, ["-l" | "-t" | "-v", archive] if !archive.starts_with('-')),
        ),
        // A value may be two words behind its letter, and so may `--` be one.
        "tree" => ReadOnlyWhen::If(|arguments| {
            let writes = |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.contains(['o', 'R']);
            !arguments.iter().any(writes)
        }),
        // The second file is written to, and for some versions the word after the first one is a file.
        "uniq" => ReadOnlyWhen::If(|arguments| {
            let is_option = |argument: &&str| argument.starts_with('-') && !["-", "--"].contains(argument);
            arguments.split_last().is_none_or(|(_, before)| before.iter().all(is_option))
        }),
        // The program in Go, or the one in Python.
        "yq" => ReadOnlyWhen::Without(&[
            "-i",
            "--inplace",
            "--in-place",
            "-s",
            "--split-exp",
            "--security-enable-system-operator",
        ]),
        "awk" | "gawk" | "mawk" => {
            ReadOnlyWhen::IfWords(|words| before_files(words).is_some_and(|texts| program_arguments::awk_reads(&texts)))
        }
        "sed" => {
            ReadOnlyWhen::IfWords(|words| before_files(words).is_some_and(|texts| program_arguments::sed_reads(&texts)))
        }
        "git" => ReadOnlyWhen::IfWords(git::reads),
        // Other words are files with code, or rules of a makefile; `python -v` runs its input.
        "python" | "python3" => ReadOnlyWhen::If(|arguments| matches!(arguments, ["--version" | "-V"])),
        // `--print cfg=FILE` writes, and `@FILE` has more arguments.
        "rustc" => ReadOnlyWhen::If(|arguments| match arguments {
            ["--explain" | "--print", what] => !what.starts_with('-') && !what.contains(['=', '@', '/', '.']),
            _ => matches!(arguments, ["--version" | "-V" | "-vV"]),
        }),
        "node" => ReadOnlyWhen::If(|arguments| match arguments {
            ["--check" | "-c", file] => !file.starts_with('-'),
            _ => matches!(arguments, ["--version" | "-v"]),
        }),
        "ruby" | "gcc" | "make" => ReadOnlyWhen::If(|arguments| matches!(arguments, ["--version" | "-v"])),
        "cmake" => ReadOnlyWhen::If(|arguments| arguments == ["--version"]),
        "ffmpeg" | "ffprobe" | "java" | "javac" | "xcodebuild" => {
            ReadOnlyWhen::If(|arguments| matches!(arguments, ["--version" | "-version"]))
        }
        "bash" | "dash" | "sh" => ReadOnlyWhen::Shell,
        "powershell" | "powershell.exe" | "pwsh" | "pwsh.exe" => ReadOnlyWhen::If(program_arguments::powershell_reads),
        "[" | "test" => ReadOnlyWhen::IfWords(test_reads),
        "xargs" => ReadOnlyWhen::EachInput,
        "command" => ReadOnlyWhen::Wrapper(|words| {
            behind_options(words, &["-p"], &[]).or_else(|| is_lookup(words).then_some(&[]))
        }),
        "nice" => ReadOnlyWhen::Wrapper(|words| behind_options(words, &[], &["-n"])),
        "stdbuf" => ReadOnlyWhen::Wrapper(|words| behind_options(words, &[], &["-i", "-o", "-e"])),
        "timeout" => ReadOnlyWhen::Wrapper(|words| {
            behind_options(words, &["--foreground", "-v"], &["-k", "-s"])?.split_first().map(|(_, inner)| inner)
        }),
        _ => return None,
    })
}

/// Whether a program only prints its version or its help.
pub(super) fn describes_itself(program: &str, arguments: &[&str]) -> bool {
    // A word that they do not know may be a plugin or an alias, which they run.
    let own = match program {
        "brew" => Some(BREW_SUBCOMMANDS),
        "docker" => Some(DOCKER_SUBCOMMANDS),
        "gh" => Some(GH_SUBCOMMANDS),
        "helm" => Some(HELM_SUBCOMMANDS),
        "kubectl" => Some(KUBECTL_SUBCOMMANDS),
        _ => None,
    };
    let is_own = |word: &&str| own.is_none_or(|own| own.contains(word));
    let is_plain =
        |word: &str| !word.starts_with('-') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    match arguments {
        ["--version"] => VERSION_PRINTERS.contains(&program),
        // `dotnet --help` runs what a file in the folder names, so not each program that is known is believed.
        ["--help"] => {
            [HELP_PRINTERS, VERSION_PRINTERS].iter().any(|known| known.contains(&program)) || reading(program).is_some()
        }
        // A further word might be a program, whose help would be printed by running it.
        [subcommand, "--help"] => HELP_PRINTERS.contains(&program) && is_plain(subcommand) && is_own(subcommand),
        [group, subcommand, "--help"] => {
            HELP_PRINTERS.contains(&program) && HELP_GROUPS.contains(group) && is_own(group) && is_plain(subcommand)
        }
        _ => false,
    }
}

/// `command -v NAME` tells where a program is.
fn is_lookup(words: &[Word]) -> bool {
    matches!(words.first().and_then(Word::text), Some("-v" | "-V"))
}
