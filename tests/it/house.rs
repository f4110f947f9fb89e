//! The house: every floor stands only on those below it, as docs/architecture.md draws it.

use pipewright::cmd::ALL;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Each floor of `src`, and what it may stand on beside the floors that those stand on.
const FLOORS: &[(&str, &[&str])] = &[
    ("json", &[]),
    ("glob", &[]),
    ("toml_error", &[]),
    ("identifier", &[]),
    ("io", &["json"]),
    ("record", &["json"]),
    ("rpc", &["record"]),
    ("spire", &["io"]),
    ("godot", &["record", "io"]),
    ("journal", &["io"]),
    ("agent", &["record", "glob", "mask", "toml_error"]),
    ("llm", &["record"]),
    ("session", &["record"]),
    ("approvals", &["record", "io"]),
    ("acp", &["session", "approvals", "rpc", "identifier"]),
    ("agui", &["session", "approvals"]),
    ("mcp", &["rpc", "glob"]),
    ("mask", &["identifier", "toml_error", "io"]),
    ("policy", &["record", "glob", "identifier", "toml_error", "io"]),
    ("replay", &["rpc", "io"]),
    (
        "cmd",
        &[
            "spire",
            "godot",
            "journal",
            "mcp",
            "policy",
            "approvals",
            "replay",
            "llm",
            "agent",
            "mask",
            "session",
            "acp",
            "agui",
            "toml_error",
        ],
    ),
    ("bin", &["cmd"]),
];

/// Of `io`, what the rooms of knowledge may use: it touches no stream.
const PURE_IO: [&str; 2] = ["lines", "tail"];

const ROOMS: [&str; 13] = [
    "agui",
    "spire",
    "godot",
    "journal",
    "mcp",
    "policy",
    "approvals",
    "replay",
    "llm",
    "agent",
    "mask",
    "session",
    "acp",
];

/// Files of Rust below a folder.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Each file of `src` with its floor and its code without tests.
fn code() -> Vec<(PathBuf, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut code = Vec::new();
    for path in sources(&root) {
        let below = path.strip_prefix(&root).unwrap();
        let first = below.iter().next().unwrap().to_string_lossy();
        let floor = first.strip_suffix(".rs").unwrap_or(&first).to_owned();
        if floor == "lib" || below.with_extension("").iter().any(|part| part == "tests") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        code.push((path, floor, without_tests(&text)));
    }
    code
}

/// Leaves out each item behind `#[cfg(test)]`, up to the line that closes it: the first at its own depth that ends in `;` or `}`.
fn without_tests(text: &str) -> String {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            lines.by_ref().find(|later| depth(later) == depth(line) && later.ends_with([';', '}']));
        } else {
            code += line;
            code.push('\n');
        }
    }
    code
}

fn without_comments(code: &str) -> String {
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect()
}

#[test]
fn only_test_code_is_left_unchecked() {
    let text = "use a;\n#[cfg(test)]\n#[allow(x)]\nmod tests;\nuse b;\n#[cfg(test)]\nmod tests {\n    use c;\n}\n    #[cfg(test)]\n    fn d() {}\n    fn e() {}\n";
    assert_eq!(without_tests(text), "use a;\nuse b;\n    fn e() {}\n");
    for (path, _, code) in code() {
        assert!(!code.contains("#[test]"), "{}: tests are read as code", path.display());
    }
}

/// What follows `crate::` (in the doors `pipewright::`), and what follows that.
fn imports(code: &str) -> Vec<(String, String)> {
    let word = |text: &str| -> String { text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let after =
        |start: &str| code.match_indices(start).map(|(at, found)| &code[at + found.len()..]).collect::<Vec<_>>();
    [after("crate::"), after("pipewright::")]
        .concat()
        .into_iter()
        .map(|rest| {
            let first = word(rest);
            let second = rest[first.len()..].strip_prefix("::").map(word).unwrap_or_default();
            (first, second)
        })
        .collect()
}

fn all_below(floor: &str) -> BTreeSet<String> {
    let own = FLOORS.iter().find(|(name, _)| *name == floor).unwrap_or_else(|| panic!("{floor} is no floor: draw it"));
    let mut below: BTreeSet<String> = own.1.iter().map(|&name| name.to_owned()).collect();
    for name in own.1 {
        below.extend(all_below(name));
    }
    below
}

#[test]
fn every_floor_stands_on_those_below_it() {
    let below: BTreeMap<&str, BTreeSet<String>> = FLOORS.iter().map(|(name, _)| (*name, all_below(name))).collect();
    let mut seen = BTreeSet::new();
    for (path, floor, code) in code() {
        for (import, part) in imports(&code) {
            seen.insert((floor.clone(), import.clone()));
            let allowed = below.get(&*floor).unwrap_or_else(|| panic!("{}: {floor} is no floor", path.display()));
            assert!(import == floor || allowed.contains(&import), "{}: {floor} uses {import}", path.display());
            if ROOMS.contains(&&*floor) && import == "io" {
                assert!(PURE_IO.contains(&&*part), "{}: a room of knowledge touches io::{part}", path.display());
            }
        }
    }
    assert!(seen.contains(&("mcp".to_owned(), "rpc".to_owned())), "the imports weren't found: {seen:?}");
}

/// The modules of `src/cmd` that are commands: those that have one in `cmd::ALL`.
fn commands(code: &[(PathBuf, String, String)]) -> BTreeSet<String> {
    let commands = code.iter().filter(|(_, floor, code)| floor == "cmd" && code.contains("pub const COMMAND: Command"));
    commands.map(|(path, ..)| module(path)).collect()
}

/// The first name below `src/cmd`.
fn module(path: &Path) -> String {
    let mut names = path.iter().map(|name| name.to_string_lossy().into_owned());
    names.find(|name| name == "cmd");
    names.next().unwrap_or_default().trim_end_matches(".rs").to_owned()
}

#[test]
fn a_command_is_used_by_no_other_command_and_by_nothing_that_they_share() {
    let code = code();
    let commands = commands(&code);
    assert!(commands.len() >= 9, "{commands:?}");
    for (path, _, code) in code.iter().filter(|(path, floor, _)| floor == "cmd" && !path.ends_with("cmd/mod.rs")) {
        let own = module(path);
        for command in commands.iter().filter(|command| **command != own) {
            for import in [format!("crate::cmd::{command}"), format!("use super::{command}::")] {
                assert!(!code.contains(&import), "{}: {own} uses {command}", path.display());
            }
        }
    }
}

#[test]
fn the_rooms_of_knowledge_are_pure() {
    let impure = [
        "std::fs",
        "std::net",
        "std::process",
        "std::thread",
        "std::env",
        "SystemTime",
        "Instant::now",
        "clap",
        "println!",
        "nix::",
    ];
    for (path, floor, code) in code() {
        if ROOMS.contains(&&*floor) || ["record", "rpc", "json", "glob", "identifier", "toml_error"].contains(&&*floor)
        {
            for word in impure {
                assert!(!without_comments(&code).contains(word), "{}: a room of knowledge uses {word}", path.display());
            }
        }
    }
}

/// A floor below `cmd` takes the names of commands and options from its callers.
#[test]
fn nothing_below_cmd_uses_clap_or_names_a_command() {
    let names: Vec<String> = ALL.iter().map(|command| format!("\"{}\"", command.name)).collect();
    assert!(names.len() >= 9, "{names:?}");
    for (path, _, code) in code().iter().filter(|(_, floor, _)| !["cmd", "bin"].contains(&&**floor)) {
        let code = without_comments(code);
        for word in names.iter().map(String::as_str).chain(["clap::"]) {
            assert!(!code.contains(word), "{}: below cmd stands {word}", path.display());
        }
    }
}

#[test]
fn what_is_pure_names_no_option() {
    let is_pure = |path: &Path, floor: &str| floor != "io" || path.components().any(|part| part.as_os_str() == "lines");
    let mut options: BTreeSet<String> = BTreeSet::new();
    for command in ALL {
        let command = (command.clap)();
        let all = std::iter::once(&command).chain(command.get_subcommands()).flat_map(clap::Command::get_arguments);
        options.extend(all.filter_map(|option| option.get_long()).map(|long| format!("--{long}")));
    }
    assert!(options.contains("--max-line"), "{options:?}");
    for (path, floor, code) in code() {
        // Its tables hold the options of other programs.
        let is_of_shells = path.to_string_lossy().contains("policy/builtin/shell/");
        if !["cmd", "bin"].contains(&&*floor) && is_pure(&path, &floor) && !is_of_shells {
            let code = without_comments(&code);
            for option in &options {
                assert!(!code.contains(option), "{}: it names {option}", path.display());
            }
        }
    }
}

#[test]
fn the_drawing_has_every_floor_and_names_files_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let drawing = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let drawn = drawing.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let words: Vec<&str> = drawn.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for (floor, _) in FLOORS {
        assert!(words.contains(floor), "docs/architecture.md doesn't draw {floor}");
    }
    let named = drawing.split('`').skip(1).step_by(2);
    let named = named.filter(|name| ["src/", "crates/", "godot/", "tests/"].iter().any(|root| name.starts_with(root)));
    let mut count = 0;
    for name in named {
        assert!(root.join(name).exists(), "docs/architecture.md names {name}, which isn't there");
        count += 1;
    }
    assert!(count >= 10, "docs/architecture.md names only {count} files");
}
