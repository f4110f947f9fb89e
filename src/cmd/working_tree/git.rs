//! git: its configuration and its hooks, in submodules, too.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Ends of the names of variables with a program or a part of a shell's text, in any section of a repository's own
/// configuration (git-config(1)), or with the path of another file with variables.
const PROGRAMS: &[&str] = &[
    "askpass",
    "clean",
    "cmd",
    "command",
    "difffilter",
    "driver",
    "editor",
    "external",
    "gitproxy",
    "helper",
    "pager",
    "path",
    "process",
    "program",
    "receivepack",
    "smudge",
    "sshcommand",
    "textconv",
    "tunnel",
    "uploadpack",
    "vcs",
];

/// What `git lfs install` writes.
const LFS: &[&str] = &[
    "git-lfs clean -- %f",
    "git-lfs filter-process",
    "git-lfs filter-process --skip",
    "git-lfs smudge -- %f",
    "git-lfs smudge --skip -- %f",
];

/// The greatest depth of submodules.
const MAX_DEPTH: usize = 5;

/// Whether git's reading subcommands run nothing here that the repository names.
pub(super) fn runs_nothing(folder: &Path) -> bool {
    !folder.is_dir() || repository_runs_nothing(folder, MAX_DEPTH)
}

fn repository_runs_nothing(folder: &Path, deep: usize) -> bool {
    // Without git, it runs nothing. git itself says which repository it finds here, and what its configuration is: this
    // runs no program.
    let Ok(configuration) = git(folder, &["config", "--list", "--show-scope", "-z"]) else { return true };
    if deep == 0 || !configuration.is_some_and(|configuration| all_harmless(&configuration)) {
        return false;
    }
    let own = |folder: &Path| output(folder, &["rev-parse", "--absolute-git-dir"]);
    let Some(top) = output(folder, &["rev-parse", "--show-toplevel"]) else {
        // No repository, or one without a working tree.
        return own(folder).is_none() || has_no_hook(folder);
    };
    // With another repository's working tree (`core.worktree`), what is found there would not count.
    own(&top) == own(folder) && has_no_hook(folder) && submodules_run_nothing(&top, deep)
}

/// Whether there is no hook that reading subcommands run: when they refresh the index, or fetch what a partial clone
/// lacks.
fn has_no_hook(folder: &Path) -> bool {
    ["post-index-change", "pre-auto-gc", "reference-transaction"].iter().all(|hook| {
        let path = output(folder, &["rev-parse", "--git-path", &format!("hooks/{hook}")]);
        path.is_some_and(|path| !folder.join(path).exists())
    })
}

fn submodules_run_nothing(top: &Path, deep: usize) -> bool {
    let Ok(Some(files)) = git(top, &["-c", "core.fsmonitor=false", "ls-files", "--stage", "-z"]) else { return false };
    files
        .split('\0')
        .filter(|entry| entry.starts_with("160000 "))
        .filter_map(|entry| Some(top.join(entry.split_once('\t')?.1)))
        .filter(|submodule| submodule.join(".git").exists())
        .all(|submodule| repository_runs_nothing(&submodule, deep - 1))
}

/// Whether no variable of the repository names a program. The text has, for each variable, its scope, and its name and
/// value after a line feed, each with a NUL behind it.
fn all_harmless(configuration: &str) -> bool {
    let mut parts = configuration.split_terminator('\0');
    while let Some(scope) = parts.next() {
        let Some(variable) = parts.next() else { return false };
        let (name, value) = variable.split_once('\n').unwrap_or((variable, "true"));
        if ["local", "worktree"].contains(&scope) && !is_harmless(name, value) {
            return false;
        }
    }
    true
}

fn is_harmless(name: &str, value: &str) -> bool {
    let (section, last) = (name.split('.').next().unwrap_or_default(), name.rsplit('.').next().unwrap_or_default());
    let is_switch = ["true", "false", "yes", "no", "on", "off", "1", "0", ""].contains(&&*value.to_lowercase());
    match (section, last) {
        // A subcommand cannot be replaced, unless git will drop it.
        ("alias", _) => !name.starts_with("alias.whatchanged"),
        // Hooks are looked for there; the path of a submodule is within the repository.
        ("core", "hookspath") | ("submodule", "path") => true,
        // git's own programs, as `git lfs install --local` writes them.
        ("filter", _) if name.starts_with("filter.lfs.") => is_switch || LFS.contains(&value),
        ("core", "fsmonitor") | ("pager", _) => is_switch,
        ("protocol", _) => false,
        // `diff.submodule` runs git in the submodule's folder, wherever the submodule comes from.
        ("diff", "submodule") => value != "diff",
        // A helper for a kind of address may run anything: `ext::sh -c ...`.
        ("remote", _) if value.contains("::") => false,
        ("url", _) if name.contains("::") => false,
        _ => !PROGRAMS.iter().any(|program| last.ends_with(program)),
    }
}

/// The line that git prints; `None` if it fails.
fn output(folder: &Path, arguments: &[&str]) -> Option<PathBuf> {
    let text = git(folder, arguments).ok()??;
    Some(PathBuf::from(text.strip_suffix('\n').unwrap_or(&text)))
}

/// What git prints; `None` if it fails or prints bytes that are not UTF-8. An error if it cannot be started.
fn git(folder: &Path, arguments: &[&str]) -> std::io::Result<Option<String>> {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    let done = git.output()?;
    Ok(if done.status.success() { String::from_utf8(done.stdout).ok() } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_with_a_program_is_found() {
        for (name, value) in [
            ("core.fsmonitor", "touch x"),
            ("core.pager", "less"),
            ("pager.log", "sh -c x"),
            ("diff.external", "x"),
            ("diff.pdf.textconv", "pdftotext"),
            ("filter.x.clean", "x"),
            ("filter.lfs.process", "sh -c x"),
            ("filter.lfs.clean", "git-lfs x; touch y"),
            ("core.alternaterefscommand", "x"),
            ("alias.whatchanged.command", "x"),
            ("diff.submodule", "diff"),
            ("gpg.program", "x"),
            ("gpg.ssh.program", "x"),
            ("include.path", "../x"),
            ("includeif.gitdir:/.path", "../x"),
            ("core.sshcommand", "x"),
            ("remote.origin.uploadpack", "x"),
            ("remote.origin.url", "ext::sh -c x"),
            ("url.ext::x.insteadof", "https"),
            ("protocol.ext.allow", "always"),
            ("hook.a.command", "x"),
            ("credential.helper", "!x"),
        ] {
            assert!(!is_harmless(name, value), "{name}");
        }
        for (name, value) in [
            ("core.fsmonitor", "true"),
            ("core.bare", "false"),
            ("core.hookspath", ".husky/_"),
            ("pager.log", "false"),
            ("remote.origin.url", "git@example.com:a/b.git"),
            ("branch.main.merge", "refs/heads/main"),
            ("submodule.a.url", "https://example.com/a"),
            ("filter.lfs.process", "git-lfs filter-process"),
            ("alias.ci", "!x"),
        ] {
            assert!(is_harmless(name, value), "{name}");
        }
    }
}
