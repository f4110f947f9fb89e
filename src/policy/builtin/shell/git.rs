//! git's subcommands that read.

use super::arguments::has_none;

/// They read with any arguments except [`WRITING`].
const READING: &[&str] = &[
    "blame",
    "cat-file",
    "check-ignore",
    "cherry",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "status",
    "version",
    "whatchanged",
];

/// Options that write to a file or run a program.
const WRITING: &[&str] = &[
    "--output",
    "--ext-diff",
    "--open-files-in-pager",
    "-O",
    "--upload-pack",
    "--exec-path",
    "--parseopt",
    "--textconv",
    "--filters",
];

/// Whether git with these arguments only reads.
pub(super) fn reads(arguments: &[&str]) -> bool {
    let mut rest = arguments;
    loop {
        rest = match rest {
            ["--no-pager" | "-P" | "--no-optional-locks", rest @ ..] | ["-C", _, rest @ ..] => rest,
            _ => break,
        };
    }
    let Some((&subcommand, arguments)) = rest.split_first() else { return false };
    let only = |known: &[&str]| arguments.iter().all(|argument| known.contains(argument));
    match subcommand {
        "branch" if arguments.first() == Some(&"--list") => has_operands_only(&arguments[1..]),
        "branch" => only(&["-a", "-r", "-v", "-vv", "--all", "--remotes", "--list", "--show-current", "--verbose"]),
        "tag" if matches!(arguments, ["-l" | "--list", ..]) => has_operands_only(&arguments[1..]),
        "tag" => only(&["-l", "--list", "-n"]),
        "remote" => matches!(arguments, [] | ["-v" | "--verbose"] | ["get-url", _]),
        "stash" => matches!(arguments, ["list" | "show", ..]) && has_none(arguments, WRITING),
        "config" if arguments.len() == 1 && arguments[0].contains('.') => has_operands_only(arguments),
        "config" => matches!(arguments, ["--list" | "-l"] | ["--get" | "--get-all" | "--get-regexp", ..]),
        "worktree" => matches!(arguments, ["list", ..]),
        "reflog" => matches!(arguments, [] | ["-n", _] | ["show", ..]) && has_none(arguments, WRITING),
        "--version" => arguments.is_empty(),
        _ => READING.contains(&subcommand) && has_none(arguments, WRITING),
    }
}

fn has_operands_only(arguments: &[&str]) -> bool {
    !arguments.iter().any(|argument| argument.starts_with('-'))
}
