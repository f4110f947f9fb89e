//! The layers of the sources: each uses only those below it, as docs/architecture.md shows.

use pipewright::cmd::ALL;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Each layer of `src`, and the layers that it may use, besides those that these use.
const LAYERS: &[(&str, &[&str])] = &[
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

/// The parts of `io` that pure layers may use: they touch no stream.
const PURE_IO: [&str; 2] = ["lines", "tail"];

const PURE_LAYERS: [&str; 13] = [
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

/// The Rust files in a folder and its subfolders.
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

/// Each file of `src` with its layer and its code without tests.
fn code() -> Vec<(PathBuf, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut code = Vec::new();
    for path in sources(&root) {
        let below = path.strip_prefix(&root).unwrap();
        let first = below.iter().next().unwrap().to_string_lossy();
        let layer = first.strip_suffix(".rs").unwrap_or(&first).to_owned();
        if layer == "lib" || below.with_extension("").iter().any(|part| part == "tests") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        code.push((path, layer, without_tests(&text)));
    }
    code
}

/// Removes each item after `#[cfg(test)]`, up to the line that ends it: the first one at the same depth that ends in `;` or `}`.
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
fn only_test_code_is_removed() {
    let text = "use a;\n#[cfg(test)]\n#[allow(x)]\nmod tests;\nuse b;\n#[cfg(test)]\nmod tests {\n    use c;\n}\n    #[cfg(test)]\n    fn d() {}\n    fn e() {}\n";
    assert_eq!(without_tests(text), "use a;\nuse b;\n    fn e() {}\n");
    for (path, _, code) in code() {
        assert!(!code.contains("#[test]"), "{}: tests are read as code", path.display());
    }
}

/// The words after `crate::` (in `src/bin` `pipewright::`), and those after them.
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

fn all_below(layer: &str) -> BTreeSet<String> {
    let own = LAYERS
        .iter()
        .find(|(name, _)| *name == layer)
        .unwrap_or_else(|| panic!("{layer} is not a layer: add it to LAYERS and to docs/architecture.md"));
    let mut below: BTreeSet<String> = own.1.iter().map(|&name| name.to_owned()).collect();
    for name in own.1 {
        below.extend(all_below(name));
    }
    below
}

#[test]
fn every_layer_uses_only_those_below_it() {
    let below: BTreeMap<&str, BTreeSet<String>> = LAYERS.iter().map(|(name, _)| (*name, all_below(name))).collect();
    let mut seen = BTreeSet::new();
    for (path, layer, code) in code() {
        for (import, part) in imports(&code) {
            seen.insert((layer.clone(), import.clone()));
            let allowed = below.get(&*layer).unwrap_or_else(|| panic!("{}: {layer} is not a layer", path.display()));
            assert!(import == layer || allowed.contains(&import), "{}: {layer} uses {import}", path.display());
            if PURE_LAYERS.contains(&&*layer) && import == "io" {
                assert!(PURE_IO.contains(&&*part), "{}: a pure layer uses io::{part}", path.display());
            }
        }
    }
    assert!(seen.contains(&("mcp".to_owned(), "rpc".to_owned())), "the imports were not found: {seen:?}");
}

/// The modules of `src/cmd` that are commands: those with a `COMMAND`.
fn commands(code: &[(PathBuf, String, String)]) -> BTreeSet<String> {
    let commands = code.iter().filter(|(_, layer, code)| layer == "cmd" && code.contains("pub const COMMAND: Command"));
    commands.map(|(path, ..)| module(path)).collect()
}

/// The first name below `src/cmd`.
fn module(path: &Path) -> String {
    let mut names = path.iter().map(|name| name.to_string_lossy().into_owned());
    names.find(|name| name == "cmd");
    names.next().unwrap_or_default().trim_end_matches(".rs").to_owned()
}

#[test]
fn a_command_is_used_neither_by_another_command_nor_by_shared_code() {
    let code = code();
    let commands = commands(&code);
    assert!(commands.len() >= 9, "{commands:?}");
    for (path, _, code) in code.iter().filter(|(path, layer, _)| layer == "cmd" && !path.ends_with("cmd/mod.rs")) {
        let own = module(path);
        for command in commands.iter().filter(|command| **command != own) {
            for import in [format!("crate::cmd::{command}"), format!("use super::{command}::")] {
                assert!(!code.contains(&import), "{}: {own} uses {command}", path.display());
            }
        }
    }
}

#[test]
fn the_pure_layers_touch_no_stream_file_or_clock() {
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
    for (path, layer, code) in code() {
        if PURE_LAYERS.contains(&&*layer)
            || ["record", "rpc", "json", "glob", "identifier", "toml_error"].contains(&&*layer)
        {
            for word in impure {
                assert!(!without_comments(&code).contains(word), "{}: a pure layer uses {word}", path.display());
            }
        }
    }
}

/// A layer below `cmd` gets the names of commands and options from its callers.
#[test]
fn nothing_below_cmd_uses_clap_or_names_a_command() {
    let names: Vec<String> = ALL.iter().map(|command| format!("\"{}\"", command.name)).collect();
    assert!(names.len() >= 9, "{names:?}");
    for (path, _, code) in code().iter().filter(|(_, layer, _)| !["cmd", "bin"].contains(&&**layer)) {
        let code = without_comments(code);
        for word in names.iter().map(String::as_str).chain(["clap::"]) {
            assert!(!code.contains(word), "{}: it is below cmd and uses {word}", path.display());
        }
    }
}

#[test]
fn pure_layers_name_no_option() {
    let is_pure = |path: &Path, layer: &str| layer != "io" || path.components().any(|part| part.as_os_str() == "lines");
    let mut options: BTreeSet<String> = BTreeSet::new();
    for command in ALL {
        let command = (command.clap)();
        let all = std::iter::once(&command).chain(command.get_subcommands()).flat_map(clap::Command::get_arguments);
        options.extend(all.filter_map(|option| option.get_long()).map(|long| format!("--{long}")));
    }
    assert!(options.contains("--max-line"), "{options:?}");
    for (path, layer, code) in code() {
        // Their tables have the options of other programs.
        let shells = ["policy/builtin/shell/", "policy/rules/command.rs"];
        let is_of_shells = shells.iter().any(|own| path.to_string_lossy().contains(own));
        if !["cmd", "bin"].contains(&&*layer) && is_pure(&path, &layer) && !is_of_shells {
            let code = without_comments(&code);
            for option in &options {
                assert!(!code.contains(option), "{}: it names {option}", path.display());
            }
        }
    }
}

#[test]
fn the_architecture_page_has_every_layer_and_names_existing_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let drawing = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let drawn = drawing.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let words: Vec<&str> = drawn.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for (layer, _) in LAYERS {
        assert!(words.contains(layer), "docs/architecture.md does not show {layer}");
    }
    let named = drawing.split('`').skip(1).step_by(2);
    let named = named.filter(|name| ["src/", "crates/", "godot/", "tests/"].iter().any(|root| name.starts_with(root)));
    let mut count = 0;
    for name in named {
        assert!(root.join(name).exists(), "docs/architecture.md names {name}, which does not exist");
        count += 1;
    }
    assert!(count >= 10, "docs/architecture.md names only {count} files");
}
