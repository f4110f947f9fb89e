//! Programs with subcommands, of which some only read: the files of `readers` name them, and the options with which
//! they do. Any other subcommand or option may have an effect.
//!
//! An option is listed as `--all` (alone), `--tail=` (with a value in the same word, or the next one) or `--color?`
//! (alone, or with a value in the same word). A word of a path is `list|ls` (one of several), `describe-*` (a begin) or
//! `*` (any word without a dash).

use super::arguments::{is_digits, is_package};

/// A program, or several with the same subcommands.
struct Reader {
    names: &'static [&'static str],
    /// Options that may stand before the subcommand, and behind it.
    before: &'static [&'static str],
    /// If there are any, words like `https://HOST/...` and `HOST/OWNER/NAME` must be of one of these.
    hosts: &'static [&'static str],
    /// Whether long options have a single dash, so that several letters are no short options.
    single_dash: bool,
    groups: &'static [ReaderGroup],
}

/// Subcommands with the same options.
struct ReaderGroup {
    paths: &'static [&'static [&'static str]],
    options: &'static [&'static str],
    operands: Operands,
    /// For [`Operands::Marked`].
    marks: &'static [&'static str],
    /// If there are any, one of these options must be there.
    needs: &'static [&'static str],
}

/// Which operands a subcommand may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    None,
    /// Any but addresses, lists of arguments (`@FILE`) and commands for pagers (`+!rm x`).
    Any,
    /// One at most, as a second one is written to.
    One,
    /// Addresses of a store of files, which is only listed.
    Buckets,
    /// Paths of a service's interface, without its address.
    Paths,
    /// Modules in Go without a version, which go looks up at their address.
    Imports,
    /// Names of packages, but no files and folders.
    Packages,
    /// The usual names of git's remotes, and patterns behind them.
    Remote,
    /// Any behind one of the group's marks; without such an option, none.
    Marked,
}

include!(concat!(env!("OUT_DIR"), "/readers.rs"));

/// Whether a program with these arguments only reads; `None` if the program is not listed.
pub(super) fn reads(program: &str, arguments: &[&str]) -> Option<bool> {
    let reader = READERS.iter().find(|reader| reader.names.contains(&program))?;
    Some(reader.reads(arguments))
}

impl Reader {
    fn reads(&self, arguments: &[&str]) -> bool {
        self.groups.iter().any(|group| {
            let paths = group.paths.iter();
            paths.filter(|path| !self.has_longer(path, arguments)).any(|path| self.reads_as(group, path, arguments))
        })
    }

    /// Whether the words also are a longer path: then they are not operands of this one.
    fn has_longer(&self, path: &[&str], arguments: &[&str]) -> bool {
        let paths = self.groups.iter().flat_map(|group| group.paths);
        paths.filter(|longer| longer.len() > path.len()).any(|longer| self.behind_path(longer, arguments).is_some())
    }

    /// The words behind a subcommand.
    fn behind_path<'a, 'w>(&self, path: &[&str], arguments: &'a [&'w str]) -> Option<&'a [&'w str]> {
        let mut rest = arguments;
        for part in path {
            while !is_part(part, rest.first()?) {
                rest = self.behind_option(rest, &[])?;
            }
            rest = &rest[1..];
        }
        Some(rest)
    }

    fn reads_as(&self, group: &ReaderGroup, path: &[&str], arguments: &[&str]) -> bool {
        let Some(mut rest) = self.behind_path(path, arguments) else { return false };
        let (mut operands, mut is_marked, mut all_marked) = (Vec::new(), false, true);
        let mut has_needed = group.needs.is_empty();
        while let Some(word) = rest.first() {
            if word.starts_with('-') && *word != "-" {
                is_marked |= group.marks.iter().any(|mark| word.split('=').next() == Some(mark));
                has_needed |= group.needs.contains(word);
                let Some(behind) = self.behind_option(rest, group.options) else { return false };
                rest = behind;
            } else {
                operands.push(*word);
                all_marked &= is_marked;
                rest = &rest[1..];
            }
        }
        let may_be_path = group.operands == Operands::Paths;
        let is_bucket = |word: &str| group.operands == Operands::Buckets && word.starts_with("s3://");
        let only_here = operands.iter().all(|word| is_bucket(word) || self.stays_here(word, may_be_path));
        has_needed
            && only_here
            && match group.operands {
                Operands::None => operands.is_empty(),
                Operands::One if operands.len() > 1 => false,
                Operands::Any | Operands::One | Operands::Buckets | Operands::Paths => {
                    operands.iter().all(|word| !word.starts_with(['@', '+']))
                }
                Operands::Imports => !operands.iter().any(|word| word.contains('@')),
                Operands::Packages => operands.iter().all(|word| is_package(word) && !is_package_file(word)),
                Operands::Remote => operands.first().is_none_or(|name| ["origin", "upstream"].contains(name)),
                Operands::Marked => all_marked,
            }
    }

    /// The words behind an option and its value, if it is listed. No value begins with a dash, unless it is in the same
    /// word: if the option had none, the next word would be an option.
    fn behind_option<'a, 'w>(&self, words: &'a [&'w str], own: &[&str]) -> Option<&'a [&'w str]> {
        let (word, behind) = words.split_first()?;
        // `@me` is a name for gh; for others, a file may be meant.
        let may_begin = |value: &str| !value.starts_with('@') || !self.hosts.is_empty();
        // A template of go has a function that looks a module up at its address: `{{module "m@v"}}`.
        let looks_up = |value: &str| value.contains("{{") && value.contains("module");
        let is_value = |value: &str| may_begin(value) && self.stays_here(value, false) && !looks_up(value);
        // The subcommand's own options come first: one letter may have several meanings.
        let form = |name: &str| {
            let form = |listed: &&&str| listed.trim_end_matches(['=', '?']) == name;
            own.iter().chain(self.before).find(form).map(|listed| &listed[name.len()..])
        };
        if !word.starts_with('-') {
            return None;
        }
        if let Some((name, value)) = word.split_once('=') {
            return (form(name).is_some_and(|form| !form.is_empty()) && is_value(value)).then_some(behind);
        }
        match form(word) {
            Some("=") => {
                let (value, behind) = behind.split_first()?;
                return (!value.starts_with('-') && is_value(value)).then_some(behind);
            }
            Some(_) => return Some(behind),
            None => {}
        }
        if word.starts_with("--") || self.single_dash {
            return None;
        }
        let letters = &word[1..];
        if is_digits(letters) && own.contains(&"-#") {
            return Some(behind);
        }
        let (before, last) = letters.split_at(letters.char_indices().last()?.0);
        let is_alone = |letter: char| form(&format!("-{letter}")) == Some("");
        if before.chars().all(is_alone) {
            return match form(&format!("-{last}"))? {
                "=" => {
                    behind.split_first().filter(|(value, _)| !value.starts_with('-') && is_value(value)).map(|it| it.1)
                }
                _ => Some(behind),
            };
        }
        // Any other text behind a letter might be letters of options.
        let value =
            letters.get(1..).filter(|value| is_digits(value) || ["json", "name", "wide", "yaml"].contains(value))?;
        (form(&word[..2]) == Some("=") && !value.is_empty()).then_some(behind)
    }

    /// Whether a word does not lead to another machine than the program's own.
    fn stays_here(&self, word: &str, may_be_path: bool) -> bool {
        const SCHEMES: &[&str] = &["file", "fileb", "git", "git+https", "git+ssh", "http", "https", "oci", "ssh"];
        let has_scheme = |word: &str| word.split_once(':').is_some_and(|(scheme, _)| SCHEMES.contains(&scheme));
        if self.hosts.is_empty() {
            return !word.contains("://") && !has_scheme(&word.to_lowercase());
        }
        let on_host = |word: &str| self.hosts.iter().any(|host| word.strip_prefix(host).is_some_and(is_path));
        match word.strip_prefix("https://") {
            Some(address) => on_host(address) && !address.contains(['?', '#', '@', ':', '\\', '%']),
            None => {
                let has_dot = word.split('/').next().is_some_and(|host| host.contains(['.', ':']));
                let is_host = word.matches('/').count() > 1 && (has_dot || !may_be_path);
                let is_ssh = word.starts_with("git@");
                !word.contains("://") && !has_scheme(&word.to_lowercase()) && !is_ssh && (!is_host || on_host(word))
            }
        }
    }
}

fn is_path(text: &str) -> bool {
    text.starts_with('/')
}

/// Whether a word is this part of a path.
fn is_part(part: &str, word: &str) -> bool {
    part.split('|').any(|part| match part.strip_suffix('*') {
        Some(begin) => word.starts_with(begin) && !word.starts_with('-') && !word.contains(['/', ':']),
        None => part == word,
    })
}

/// Whether a package manager may take a word for a file, which some of them run.
fn is_package_file(word: &str) -> bool {
    let word = word.to_lowercase();
    word.starts_with('.')
        || [".rb", ".gem", ".gz", ".json", ".tgz", ".tar", ".whl", ".zip"].iter().any(|end| word.ends_with(end))
}

#[cfg(test)]
mod tests;
