//! What the compiler cannot keep: who may touch a stream, name an option or name a system, and that the architecture page is true.

use pipewright::cmd::ALL;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The rooms: crates that take text and give text or decisions, and do not use each other.
const ROOMS: [&str; 8] = ["agent", "clients", "games", "llm", "log", "mask", "policy", "replay"];
/// All crates that touch no file, process or clock.
const PURE: [&str; 13] =
    ["agent", "clients", "games", "jq", "lines", "llm", "log", "mask", "policy", "record", "replay", "syntax", "words"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

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

/// Each file of a folder with its code without tests and comments.
fn code(folder: &str) -> Vec<(PathBuf, String)> {
    let files = sources(&root().join(folder)).into_iter();
    let files = files.filter(|path| !path.with_extension("").iter().any(|part| part == "tests"));
    files
        .map(|path| (path.clone(), without_comments(&without_tests(&std::fs::read_to_string(path).unwrap()))))
        .collect()
}

/// The same for all pure crates.
fn pure_code() -> Vec<(PathBuf, String)> {
    PURE.iter().flat_map(|name| code(&format!("crates/{name}/src"))).collect()
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
    for (path, code) in pure_code() {
        assert!(!code.contains("#[test]"), "{}: tests are read as code", path.display());
    }
}

/// The first name below `src/cmd`.
fn module(path: &Path) -> String {
    let mut names = path.iter().map(|name| name.to_string_lossy().into_owned());
    names.find(|name| name == "cmd");
    names.next().unwrap_or_default().trim_end_matches(".rs").to_owned()
}

#[test]
fn a_command_is_used_neither_by_another_command_nor_by_shared_code() {
    let code = code("src/cmd");
    let is_command = |code: &str| code.contains("pub const COMMAND: Command");
    let commands: BTreeSet<String> =
        code.iter().filter(|(_, code)| is_command(code)).map(|(path, _)| module(path)).collect();
    assert!(commands.len() >= 9, "{commands:?}");
    for (path, code) in code.iter().filter(|(path, _)| !path.ends_with("cmd/mod.rs")) {
        let own = module(path);
        for command in commands.iter().filter(|command| **command != own) {
            for import in [format!("crate::cmd::{command}"), format!("use super::{command}::")] {
                assert!(!code.contains(&import), "{}: {own} uses {command}", path.display());
            }
        }
    }
}

#[test]
fn the_pure_crates_touch_no_stream_file_or_clock() {
    let impure =
        ["std::fs", "std::net", "std::process", "std::thread", "std::env", "SystemTime", "Instant::now", "println!"];
    for (path, code) in pure_code() {
        for word in impure {
            assert!(!code.contains(word), "{}: a pure crate uses {word}", path.display());
        }
    }
    for name in PURE {
        let manifest = std::fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml"))).unwrap();
        for crate_below in ["pipewright-io", "pipewright-sys", "clap", "tokio"] {
            assert!(!manifest.contains(crate_below), "crates/{name} depends on {crate_below}");
        }
        for other in ROOMS.iter().filter(|other| **other != name && (name, **other) != ("agent", "mask")) {
            assert!(!manifest.contains(&format!("pipewright-{other}")), "crates/{name} depends on crates/{other}");
        }
    }
}

/// What is below `src/cmd` gets the names of commands and options from its callers.
#[test]
fn nothing_below_cmd_names_a_command_or_an_option() {
    let names: Vec<String> = ALL.iter().map(|command| format!("\"{}\"", command.name)).collect();
    let mut options: BTreeSet<String> = BTreeSet::new();
    for command in ALL {
        let command = (command.clap)();
        let all = std::iter::once(&command).chain(command.get_subcommands()).flat_map(clap::Command::get_arguments);
        options.extend(all.filter_map(|option| option.get_long()).map(|long| format!("--{long}")));
    }
    assert!(names.len() >= 9 && options.contains("--max-line"), "{names:?} {options:?}");
    for (path, code) in pure_code() {
        // Their tables have the options of other programs.
        let shells = ["policy/src/builtin/shell/", "policy/src/rules/command.rs"];
        let is_of_shells = shells.iter().any(|own| path.to_string_lossy().contains(own));
        for word in names.iter().chain(options.iter().filter(|_| !is_of_shells)) {
            assert!(!code.contains(word), "{}: it names {word}", path.display());
        }
    }
    for (path, code) in [code("crates/io/src"), code("crates/sys/src")].concat() {
        for name in &names {
            assert!(!code.contains(name), "{}: it names {name}", path.display());
        }
    }
}

/// The rest is kept by the compiler: only that crate depends on nix.
#[test]
fn only_crates_sys_names_what_one_kind_of_system_has() {
    let all = [code("src"), code("crates")].concat();
    // Which commands need Unix is said where all commands are listed.
    let is_free = |path: &Path| path.starts_with(root().join("crates/sys")) || path.ends_with("src/cmd/mod.rs");
    for (path, code) in all.iter().filter(|(path, _)| !is_free(path)) {
        for word in ["std::os::", "target_os", "cfg(unix)", "cfg(windows)", "cfg(not(unix))"] {
            assert!(!code.contains(word), "{}: it uses {word}, which belongs into crates/sys", path.display());
        }
    }
}

#[test]
fn the_architecture_page_has_every_crate_and_names_existing_files() {
    let page = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let drawn = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let words: Vec<&str> = drawn.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(words.contains(&&*name), "docs/architecture.md does not show {name}");
    }
    let named = page.split('`').skip(1).step_by(2);
    let named = named.filter(|name| ["src/", "crates/", "godot/", "tests/"].iter().any(|root| name.starts_with(root)));
    let mut count = 0;
    for name in named {
        assert!(root().join(name).exists(), "docs/architecture.md names {name}, which does not exist");
        count += 1;
    }
    assert!(count >= 10, "docs/architecture.md names only {count} files");
}
