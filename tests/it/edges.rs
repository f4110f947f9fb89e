//! The common parts of all commands: options with the same name, help, exit statuses and variables follow the same rules. A new command is
//! tested from the day it is added.

use pipewright::cmd::{ALL, Command};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A command's definition and those of its subcommands.
fn definitions(of: &Command) -> Vec<clap::Command> {
    let definition = (of.clap)();
    let mut all: Vec<clap::Command> = definition.get_subcommands().cloned().collect();
    all.push(definition);
    all
}

/// The last paragraph of a command's `--help`, on one line.
fn exit_statuses(of: &Command) -> String {
    let closing = (of.clap)().get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let (_, paragraph) = closing.split_once("Exit status:\n").unwrap_or_else(|| panic!("{}: no exit status", of.name));
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_option_is_the_same_in_every_command() {
    /// Options that take different values in different commands.
    type Look = (Vec<String>, Option<char>);
    // --start takes a class of Spire or the name of a session; --session a number, a name or a file; --settle a mode or a duration;
    // --attach a folder, or also an address; --protocol a version of MCP, or how a Spire bot communicates.
    const HOMONYMS: [&str; 5] = ["start", "session", "settle", "attach", "protocol"];
    let mut seen: BTreeMap<String, (&str, Look)> = BTreeMap::new();
    let mut shared = 0;
    for of in ALL {
        for definition in definitions(of) {
            for argument in definition.get_arguments() {
                let Some(long) = argument.get_long().filter(|long| !HOMONYMS.contains(long)) else { continue };
                let takes = argument.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
                let look = (takes, argument.get_short());
                let (before, known) = seen.entry(long.to_owned()).or_insert_with(|| (of.name, look.clone()));
                assert_eq!(*known, look, "--{long} of {before} and of {}", of.name);
                shared += usize::from(*before != of.name);
            }
        }
    }
    assert!(shared > 20, "only {shared} options are shared");
}

#[test]
fn durations_are_given_in_milliseconds_seconds_minutes_or_hours() {
    let mut count = 0;
    for of in ALL {
        let definition = (of.clap)();
        let takes_duration = |option: &&clap::Arg| {
            option.get_value_names().is_some_and(|names| names.iter().any(|name| name == "DURATION"))
        };
        for long in definition.get_arguments().filter(takes_duration).filter_map(clap::Arg::get_long) {
            let refused = |duration: &str| {
                let arguments = [of.name, &format!("--{long}={duration}")];
                let error = (of.clap)().try_get_matches_from(arguments).err();
                error.filter(|error| error.kind() == clap::error::ErrorKind::ValueValidation)
            };
            for good in ["500ms", "3s", "2m", "1h", "1.5m", "0.5", "7", "0"] {
                assert!(refused(good).is_none(), "{} --{long}={good}", of.name);
            }
            for bad in ["soon", "3 apples", "1d", "-1", "-1s", "ms"] {
                let error = refused(bad).unwrap_or_else(|| panic!("{} --{long}={bad}", of.name)).to_string();
                assert!(error.contains("500ms, 3s, 2m"), "{error}");
            }
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} options take a duration");
}

#[test]
fn a_negative_number_is_refused_by_its_own_option() {
    let mut refused = 0;
    for of in ALL {
        let program = crate::process::binary(of.name);
        let folder = tempfile::tempdir().unwrap();
        for long in (of.clap)()
            .get_arguments()
            .filter(|option| option.get_action().takes_values())
            .filter_map(clap::Arg::get_long)
        {
            let mut asked = std::process::Command::new(&program);
            let answered = asked
                .args([&format!("--{long}"), "-1"])
                .current_dir(&folder)
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            let answered = String::from_utf8_lossy(&answered.stderr).into_owned();
            assert!(!answered.contains("unexpected argument '-1'"), "{} --{long}: {answered}", of.name);
            refused += usize::from(answered.contains("invalid value '-1'"));
        }
    }
    assert!(refused > 15, "{refused}");
}

#[test]
fn an_option_without_effect_is_refused() {
    for (name, arguments, expected) in [
        ("jsonl-record", "--keep 3 x", "--rotate"),
        ("mcp-pipe", "--env A=b --url http://127.0.0.1:1", "--url"),
        ("mcp-pipe", "--clean-env --url http://127.0.0.1:1", "--url"),
        ("mcp-pipe", "--header a:b -- cat", "--header"),
        ("hitl-gate", "--answers .", "is a directory"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut asked = crate::process::command(name);
        let output = crate::process::pipe(asked.args(arguments.split(' ')).current_dir(&folder), b"");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(expected), "{name} {arguments}: {stderr}");
    }
}

#[test]
fn every_option_has_a_help_text() {
    for of in ALL {
        for definition in definitions(of) {
            for argument in definition.get_arguments() {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                let place = format!("{}: {}", of.name, argument.get_id());
                assert!(help.starts_with(|c: char| c.is_uppercase() || c == '`'), "{place}: {help:?}");
                assert!(!help.ends_with('.'), "{place}: help has no full stop");
            }
        }
    }
}

#[test]
fn exit_statuses_are_described_in_the_same_words() {
    for of in ALL {
        let statuses = exit_statuses(of);
        assert!(statuses.starts_with("0 success; 1 "), "{}: {statuses}", of.name);
        assert!(statuses.ends_with(" See pipewright(7)."), "{}: {statuses}", of.name);
        let numbers: Vec<u32> =
            statuses.split(['.', ';']).filter_map(|part| part.split_whitespace().next()?.parse().ok()).collect();
        assert!(numbers.starts_with(&[0, 1, 2]), "{}: {statuses}", of.name);
        assert!(statuses.contains("; 2 wrong usage"), "{}: {statuses}", of.name);
        assert!(numbers.is_sorted(), "{}: {statuses}", of.name);
        assert!(numbers.iter().all(|number| [0, 1, 2, 3, 4, 124].contains(number)), "{}: {statuses}", of.name);
        // A command that wraps another passes on its status.
        let wraps = (of.clap)().get_arguments().any(|argument| {
            argument.get_value_names().is_some_and(|names| names.iter().any(|name| name == "CMD ARGS"))
        });
        let names_child_status = statuses.contains("CMD, its own status if that is not 0");
        assert_eq!(wraps, names_child_status, "{}: {statuses}", of.name);
        assert!(!wraps || numbers.contains(&3), "{}: {statuses}", of.name);
    }
}

#[test]
fn the_common_manual_page_names_every_command() {
    let page = read("man/pipewright.7");
    let (text, see_also) = page.split_once(".SH SEE ALSO\n").unwrap();
    for of in ALL {
        let name = of.name.replace('-', "\\-");
        assert!(see_also.contains(&format!(".BR {name} (1)")), "SEE ALSO of pipewright(7) leaves out {}", of.name);
        assert!(text.contains(&format!("{name} (1)")), "pipewright(7) does not describe {}", of.name);
    }
}

#[test]
fn every_command_has_its_place_in_tests_and_examples() {
    let examples: String = std::fs::read_dir(at("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sh"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let tests = read("tests/it/main.rs");
    for of in ALL {
        let module = of.name.replace('-', "_");
        assert!(tests.contains(&format!("mod {module};")), "tests/it has no module for {}", of.name);
        let is_used = examples.lines().any(|line| !line.starts_with('#') && line.contains(of.name));
        assert!(is_used, "no script of examples/ uses {}", of.name);
    }
}

/// The variables that the sources read: the names in quotes after one of these.
fn variables(sources: &str) -> BTreeSet<String> {
    let readers = ["var_os(\"", "env::var(\"", "absolute(\"", "base(\"", "set(\"", "env = \""];
    let behind = |reader: &str| {
        sources.match_indices(reader).map(|(at, found)| &sources[at + found.len()..]).collect::<Vec<_>>()
    };
    let name = |rest: &str| rest.split('"').next().unwrap_or_default().to_owned();
    let is_variable = |name: &String| name.len() > 2 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    readers.iter().flat_map(|reader| behind(reader)).map(name).filter(is_variable).collect()
}

#[test]
fn every_variable_that_is_read_is_in_a_man_page() {
    let mut sources = String::new();
    for folder in ["src/cmd", "crates/io/src", "crates/sys/src"] {
        for file in crate::house::sources(&at(folder)) {
            sources += &std::fs::read_to_string(file).unwrap();
        }
    }
    let pages: String = std::fs::read_dir(at("man"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let found = variables(&sources);
    assert!(found.contains("NO_COLOR") && found.contains("XDG_DATA_HOME"), "they were not found: {found:?}");
    for name in found {
        assert!(pages.contains(&name), "no man page describes {name}");
    }
}
