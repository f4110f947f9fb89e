//! Programs that read, and with which arguments.

use super::arguments::{assignments_then, behind_options};
use super::{git, scripts};
use pipewright_syntax::shell::Word;

/// When a program only reads.
pub(super) enum Reading {
    /// Whatever its arguments.
    Whatever,
    /// Without these options: `-o` also among other letters, `--output` also shortened.
    Without(&'static [&'static str]),
    /// With one of these as its first argument.
    Subcommands(&'static [&'static str]),
    /// If this is true of its arguments.
    If(fn(&[&str]) -> bool),
    /// If the command in its arguments does.
    Wrapper(fn(&[Word]) -> Option<&[Word]>),
    /// If the command in its arguments does with any further arguments: `xargs`.
    EachInput,
    /// If the text behind `-c` does.
    Shell,
    /// `test` and `[`, which evaluate names of variables.
    Test,
}

/// Options that make programs with subcommands read programs or settings from elsewhere.
pub(super) const ELSEWHERE: &[&str] = &["--kubeconfig", "--config", "--host", "-H", "--script-shell", "--python"];

/// Sorted, to be looked up.
pub(super) const WHATEVER: &[&str] = &[
    ":",
    "arch",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "break",
    "cal",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "continue",
    "cut",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "exit",
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
    "lspci",
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
    "return",
    "rev",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shift",
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
    "wait",
    "wc",
    "whereis",
    "which",
    "who",
    "whoami",
    "zcat",
];

/// What is known of a program.
pub(super) fn reading(program: &str) -> Option<Reading> {
    if WHATEVER.binary_search(&program).is_ok() {
        return Some(Reading::Whatever);
    }
    Some(match program {
        "date" => Reading::If(|arguments| {
            arguments.iter().all(|argument| argument.starts_with('+') || ["-u", "-R", "-I", "--utc"].contains(argument))
        }),
        "env" => Reading::Wrapper(assignments_then),
        "fd" | "fdfind" => Reading::Without(&["-x", "-X", "--exec", "--exec-batch"]),
        "file" => Reading::Without(&["-C", "--compile"]),
        "find" => Reading::Without(&["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fls"]),
        "hostname" => {
            Reading::If(|arguments| arguments.iter().all(|argument| ["-f", "-i", "-I", "-s", "-d"].contains(argument)))
        }
        "netstat" | "ss" => Reading::Without(&["-K", "--kill", "-D", "--diag"]),
        // -v NAME assigns, and evaluates an index of it.
        "printf" => Reading::If(|arguments| arguments.first().is_some_and(|first| !first.starts_with('-'))),
        "read" => Reading::If(scripts::read_reads),
        "rg" => Reading::Without(&["--pre", "--hostname-bin", "--search-zip", "-z"]),
        "set" => Reading::If(scripts::set_reads),
        "sort" => Reading::Without(&["-o", "--output", "--compress-program", "-T", "--temporary-directory"]),
        "tree" => Reading::Without(&["-o", "-R"]),
        // The second file is written to.
        "uniq" => Reading::If(|arguments| arguments.iter().filter(|argument| !argument.starts_with('-')).count() <= 1),
        "yq" => Reading::Without(&["-i", "--inplace", "-s", "--split-exp"]),
        "awk" | "gawk" | "mawk" => Reading::If(scripts::awk_reads),
        "sed" => Reading::If(scripts::sed_reads),
        "git" => Reading::If(git::reads),
        "docker" | "podman" => Reading::Subcommands(&["ps", "images", "logs", "inspect", "version", "info"]),
        "kubectl" => Reading::Subcommands(&["get", "describe", "logs", "version", "explain"]),
        "npm" | "pnpm" => Reading::Subcommands(&["ls", "list", "outdated", "view", "--version", "-v"]),
        "pip" | "pip3" => Reading::Subcommands(&["list", "show", "freeze", "check", "--version", "-V"]),
        "systemctl" => Reading::Subcommands(&["status", "is-active", "is-enabled", "list-units", "show", "cat"]),
        "node" | "python" | "python3" | "ruby" | "java" | "go" | "cargo" | "rustc" | "gcc" | "make" | "cmake" => {
            Reading::If(|arguments| matches!(arguments, ["--version" | "-V" | "-v" | "version"]))
        }
        "bash" | "dash" | "sh" => Reading::Shell,
        "[" | "test" => Reading::Test,
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
    matches!(words.first(), Some(Some(option)) if option == "-v" || option == "-V")
}
