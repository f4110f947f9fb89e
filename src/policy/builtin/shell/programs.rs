//! Programs that read, and with which arguments they do.

use super::arguments::{
    are_numbers, assignments_then, before_files, behind_options, has_none, is_digits, is_number, options, printf_reads,
    test_reads,
};
use super::{git, scripts};
use pipewright_syntax::shell::Word;

/// When a program only reads.
pub(super) enum Reading {
    /// With any arguments.
    Whatever,
    /// Without these options: `-o` also among other letters, `--output` also abbreviated.
    Without(&'static [&'static str]),
    /// With one of the first list as its first argument, and only options of the second, alone or with `=VALUE`.
    Subcommands(&'static [&'static str], &'static [&'static str]),
    /// If this is true of its arguments.
    If(fn(&[&str]) -> bool),
    /// If the command in its arguments only reads.
    Wrapper(fn(&[Word]) -> Option<&[Word]>),
    /// If the command in its arguments only reads with any further arguments: `xargs`.
    EachInput,
    /// If the text after `-c` only reads.
    Shell,
    /// If this is true of its arguments, some of which may be expansions.
    IfWords(fn(&[Word]) -> bool),
}

/// Sorted, for the binary search.
pub(super) const WHATEVER: &[&str] = &[
    ":",
    "b2sum",
    "basename",
    "cal",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "expr",
    "factor",
    "false",
    "fgrep",
    "fmt",
    "fold",
    "free",
    "getconf",
    "grep",
    "groups",
    "head",
    "hexdump",
    "id",
    "join",
    "jq",
    "last",
    "locale",
    "ls",
    "lsblk",
    "lscpu",
    "lsmod",
    "lsusb",
    "md5sum",
    "nl",
    "nproc",
    "numfmt",
    "od",
    "paste",
    "pgrep",
    "pidof",
    "popd",
    "printenv",
    "ps",
    "pstree",
    "pushd",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "sleep",
    "stat",
    "strings",
    "sum",
    "tac",
    "tail",
    "tr",
    "true",
    "tty",
    "type",
    "uname",
    "unexpand",
    "uptime",
    "users",
    "vmstat",
    "w",
    "wc",
    "whereis",
    "which",
    "who",
    "whoami",
];

/// When a program only reads; `None` if it is not known.
pub(super) fn reading(program: &str) -> Option<Reading> {
    if WHATEVER.binary_search(&program).is_ok() {
        return Some(Reading::Whatever);
    }
    Some(match program {
        // On macOS it runs a command.
        "arch" => Reading::If(|arguments| arguments.is_empty()),
        // It asks a server for names, and keeps the answers.
        "lspci" => Reading::Without(&["-q", "-Q", "-O"]),
        // That of zutils runs programs that it is given.
        "zcat" => Reading::Without(&["--gz", "--bz2", "--lz", "--xz", "--zst"]),
        // macOS has -o.
        "base32" | "base64" => Reading::Without(&["-o", "--output"]),
        "date" => Reading::If(scripts::date_reads),
        "env" => Reading::Wrapper(assignments_then),
        "fd" | "fdfind" => Reading::Without(&["-x", "-X", "--exec", "--exec-batch"]),
        "file" => Reading::Without(&["-C", "--compile"]),
        // After `--`, it still takes words with a dash for its tests and actions.
        "find" => Reading::IfWords(|words| {
            let acting = ["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fls"];
            options(words, false).is_some_and(|options| has_none(&options, &acting))
        }),
        "hostname" => {
            Reading::If(|arguments| arguments.iter().all(|argument| ["-f", "-i", "-I", "-s", "-d"].contains(argument)))
        }
        "netstat" | "ss" => Reading::Without(&["-K", "--kill", "-D", "--diag"]),
        "break" | "continue" | "exit" | "return" | "shift" => Reading::IfWords(are_numbers),
        "printf" => Reading::IfWords(printf_reads),
        // -p NAME assigns.
        "wait" => Reading::IfWords(|words| {
            let is_job = |word: &Word| {
                is_number(word)
                    || word.text().is_some_and(|word| word == "-n" || word.strip_prefix('%').is_some_and(is_digits))
            };
            words.iter().all(is_job)
        }),
        "read" => Reading::If(scripts::read_reads),
        "rg" => Reading::Without(&["--pre", "--hostname-bin", "--search-zip", "-z"]),
        "set" => Reading::If(scripts::set_reads),
        "sort" => Reading::Without(&["-o", "--output", "--compress-program", "-T", "--temporary-directory"]),
        "tar" => Reading::If(scripts::tar_reads),
        "tee" => Reading::If(|arguments| arguments == ["/dev/null"]),
        "unzip" => Reading::If(|arguments| matches!(arguments, ["-l", archive] if !archive.starts_with('-'))),
        "tree" => Reading::Without(&["-o", "-R"]),
        // The second file is written to, and for some versions the word after the first one is a file.
        "uniq" => Reading::If(|arguments| {
            let is_option = |argument: &&str| argument.starts_with('-') && !["-", "--"].contains(argument);
            arguments.split_last().is_none_or(|(_, before)| before.iter().all(is_option))
        }),
        // The program in Go, or the one in Python.
        "yq" => Reading::Without(&[
            "-i",
            "--inplace",
            "--in-place",
            "-s",
            "--split-exp",
            "--security-enable-system-operator",
        ]),
        "awk" | "gawk" | "mawk" => {
            Reading::IfWords(|words| before_files(words).is_some_and(|texts| scripts::awk_reads(&texts)))
        }
        "sed" => Reading::IfWords(|words| before_files(words).is_some_and(|texts| scripts::sed_reads(&texts))),
        "git" => Reading::IfWords(git::reads),
        "docker" | "podman" => Reading::Subcommands(
            &["ps", "images", "logs", "inspect", "version", "info"],
            &[
                "-a",
                "--all",
                "-q",
                "--quiet",
                "--no-trunc",
                "--format",
                "--filter",
                "-f",
                "--follow",
                "-n",
                "--tail",
                "--last",
                "-l",
                "--latest",
                "-s",
                "--size",
                "--since",
                "--until",
                "-t",
                "--timestamps",
                "--type",
            ],
        ),
        "kubectl" => Reading::Subcommands(
            &["get", "describe", "logs", "version", "explain"],
            &[
                "-A",
                "--all-namespaces",
                "-n",
                "--namespace",
                "-o",
                "--output",
                "-l",
                "--selector",
                "-c",
                "--container",
                "-p",
                "--previous",
                "--tail",
                "--since",
                "--timestamps",
                "--show-labels",
                "--field-selector",
                "--sort-by",
                "--no-headers",
                "--all-containers",
                "--client",
            ],
        ),
        "npm" | "pnpm" => Reading::Subcommands(
            &["ls", "list", "outdated", "view", "--version", "-v"],
            &["-g", "--global", "-a", "--all", "--depth", "--json", "-l", "--long", "--parseable", "--prod", "--dev"],
        ),
        "pip" | "pip3" => Reading::Subcommands(
            &["list", "show", "freeze", "check", "--version", "-V"],
            &[
                "-o",
                "--outdated",
                "-u",
                "--uptodate",
                "-l",
                "--local",
                "--user",
                "--not-required",
                "--format",
                "-f",
                "--files",
                "-v",
                "--verbose",
                "-q",
                "--quiet",
                "--all",
            ],
        ),
        "systemctl" => Reading::Subcommands(
            &["status", "is-active", "is-enabled", "list-units", "show", "cat"],
            &[
                "--user",
                "--no-pager",
                "-l",
                "--full",
                "-a",
                "--all",
                "-n",
                "--lines",
                "-o",
                "--output",
                "-p",
                "--property",
                "--value",
                "-t",
                "--type",
                "--state",
                "--failed",
                "-q",
                "--quiet",
            ],
        ),
        // Other words are files with code, or rules of a makefile; `python -v` runs its input.
        "go" => Reading::If(|arguments| arguments == ["version"]),
        "python" | "python3" | "rustc" => Reading::If(|arguments| matches!(arguments, ["--version" | "-V"])),
        "node" | "ruby" | "gcc" | "make" => Reading::If(|arguments| matches!(arguments, ["--version" | "-v"])),
        "cmake" | "java" => Reading::If(|arguments| arguments == ["--version"]),
        "cargo" => Reading::Subcommands(
            &["--version", "-V", "metadata", "tree", "version"],
            &[
                "--all-features",
                "--charset",
                "--depth",
                "-d",
                "--duplicates",
                "-e",
                "--edges",
                "-F",
                "--features",
                "-f",
                "--format",
                "--format-version",
                "--frozen",
                "-i",
                "--invert",
                "--locked",
                "--no-dedupe",
                "--no-default-features",
                "--no-deps",
                "--offline",
                "-p",
                "--package",
                "--prefix",
                "-q",
                "--quiet",
                "--target",
                "--workspace",
            ],
        ),
        "bash" | "dash" | "sh" => Reading::Shell,
        "[" | "test" => Reading::IfWords(test_reads),
        "xargs" => Reading::EachInput,
        "command" => {
            Reading::Wrapper(|words| behind_options(words, &["-p"], &[]).or_else(|| is_lookup(words).then_some(&[])))
        }
        "nice" => Reading::Wrapper(|words| behind_options(words, &[], &["-n"])),
        "stdbuf" => Reading::Wrapper(|words| behind_options(words, &[], &["-i", "-o", "-e"])),
        "timeout" => Reading::Wrapper(|words| {
            behind_options(words, &["--foreground", "-v"], &["-k", "-s"])?.split_first().map(|(_, inner)| inner)
        }),
        _ => return None,
    })
}

/// `command -v NAME` tells where a program is.
fn is_lookup(words: &[Word]) -> bool {
    matches!(words.first().and_then(Word::text), Some("-v" | "-V"))
}
