//! Programs that read, but run what a file of the folder names, as `policy-check` judges them with the folder of the call.

use super::play;
use serde_json::{Value, json};
use std::fs::{create_dir_all, write};
use std::path::Path;
use std::process::Command;

fn is_asked(text: &str, folder: &str) -> bool {
    let call = json!({"tool": "run_command", "args": {"command": text, "cwd": folder}});
    let played = play(&[], &format!("{call}\n"));
    // A question comes before its call.
    played.records().iter().any(|record| record.get("requires_approval").is_some())
}

fn git(folder: &Path, arguments: &[&str]) {
    create_dir_all(folder).unwrap();
    assert!(Command::new("git").arg("-C").arg(folder).args(arguments).status().unwrap().success());
}

/// Runs a text in a folder, and gives whether it has left a file.
fn has_effect(text: &str, folder: &Path, left: &Path) -> bool {
    Command::new("sh").args(["-c", text]).current_dir(folder).output().unwrap();
    let has = left.exists();
    let _ = std::fs::remove_file(left);
    has
}

#[test]
fn git_is_asked_about_where_a_repository_names_a_program() {
    let scratch = tempfile::tempdir().unwrap();
    let (top, left) = (scratch.path().join("top"), scratch.path().join("left"));
    let folder = top.to_str().unwrap();
    git(&top, &["init", "-q"]);
    let texts = ["git status", "git ls-files", "git diff", "git --no-pager status -s", "ls && git status | head"];
    assert!(texts.iter().all(|text| !is_asked(text, folder)));
    git(&top, &["config", "core.fsmonitor", &format!("touch {}; false", left.display())]);
    assert!(has_effect("git status", &top, &left), "git runs it");
    for text in texts {
        assert!(is_asked(text, folder), "{text}");
    }
    // The folder is not known: as before. Another program is no repository's.
    let unknown = play(&[], "{\"tool\":\"run_command\",\"args\":{\"command\":\"git status\"}}\n");
    assert!(unknown.records()[0].get("tool").is_some());
    assert!(!is_asked("ls -la | wc -l", folder) && !is_asked("cat a", folder));
}

#[test]
fn a_folder_to_which_a_text_changes_counts() {
    let scratch = tempfile::tempdir().unwrap();
    let (top, left) = (scratch.path().join("top"), scratch.path().join("left"));
    let (folder, docs) = (top.to_str().unwrap(), top.join("docs"));
    git(&top, &["init", "-q"]);
    create_dir_all(top.join("src")).unwrap();
    std::os::unix::fs::symlink("../docs", top.join("src/link")).unwrap();
    // A part of the tree that git takes for a repository without a working tree.
    git(&docs, &["init", "-q", "--bare", "."]);
    git(&docs, &["config", "core.worktree", "."]);
    git(&docs, &["config", "core.bare", "false"]);
    git(&docs, &["config", "core.fsmonitor", &format!("touch {}; false", left.display())]);
    assert!(has_effect("cd docs && git status", &top, &left), "git runs it");
    for text in [
        "cd docs && git status",
        "cd ./src/../docs; git status",
        "git -C docs diff",
        "git -C src -C ../docs ls-files",
        "(cd docs; git status)",
        "cd src; cd ../docs; git log",
        "sh -c 'cd docs; git status'",
        "cd \"$x\" && git status",
        "cd - && git status",
        "pushd docs; git status",
        "for x in 1 2; do git status; cd docs; done",
        "cd ~+/docs && git status",
        "git -C ~+/docs status",
        "f ( ) { cd docs; git status; }; f; f",
        "cd +1; git status",
        "cd src; git -C ./link/../docs status",
    ] {
        assert!(is_asked(text, folder), "{text}");
    }
    let absolute = format!("cd {folder} && git status");
    for text in
        ["git status", "cd src && git status", "cd . && git log", "git -C src status", &absolute, "cd docs && ls"]
    {
        assert!(!is_asked(text, folder), "{text}");
    }
}

#[test]
fn toolchains_and_package_managers_are_asked_about_where_a_file_names_code() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("part");
    create_dir_all(folder.join(".cargo")).unwrap();
    let folder = folder.to_str().unwrap();
    let rust = ["cargo --version", "cargo tree --offline", "cargo metadata --no-deps", "rustc --version"];
    let node = ["npm ls", "pnpm ls", "pnpm --version", "npm outdated"];
    let compose = ["docker compose ps", "docker compose logs web"];
    let browser = ["agent-browser snapshot", "playwright-cli snapshot"];
    let any = ["node --version", "python3 --version", "jq . a.json"];
    assert!([&rust[..], &node, &compose, &browser, &any].concat().iter().all(|text| !is_asked(text, folder)));
    for (file, content, texts) in [
        ("rust-toolchain.toml", "[toolchain]\npath = \"/x\"\n", &rust[..]),
        ("part/rust-toolchain", "[toolchain]\npath = \"/x\"\n", &rust),
        ("part/.cargo/config.toml", "[build]\nrustc-wrapper = \"./x\"\n", &rust),
        ("part/.pnpmfile.cjs", "", &node),
        (".npmrc", "onload-script=x.js\n", &node),
        ("package.json", "{\"packageManager\":\"pnpm@https://x.example/a.tgz\"}", &node),
        ("part/compose.yml", "include:\n  - oci://evil.example/x\n", &compose),
        ("part/agent-browser.json", "{\"executablePath\":\"./x\"}", &browser),
        (".tool-versions", "nodejs path:./x\n", &any),
    ] {
        write(scratch.path().join(file), content).unwrap();
        for text in texts {
            assert!(is_asked(text, folder), "{text} with {file}");
        }
        std::fs::remove_file(scratch.path().join(file)).unwrap();
    }
    write(scratch.path().join("package.json"), "{\"packageManager\":\"pnpm@9.1.0\"}").unwrap();
    assert!(!is_asked("pnpm ls", folder));
}

#[test]
fn a_hook_looks_at_the_folder_of_its_client() {
    let scratch = tempfile::tempdir().unwrap();
    let ask = |folder: &Path, arguments: Value| {
        let input = json!({
            "session_id": "a", "cwd": folder, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": arguments,
        });
        let played = play(&["hook"], &format!("{input}\n"));
        assert_eq!(played.status, Some(0), "{}", played.stderr);
        played.lines.concat().contains("\"ask\"")
    };
    git(scratch.path(), &["init", "-q"]);
    assert!(!ask(scratch.path(), json!({"command": "git status"})));
    git(scratch.path(), &["config", "core.fsmonitor", "touch x"]);
    assert!(ask(scratch.path(), json!({"command": "git status", "description": "Show the state"})));
    assert!(!ask(&scratch.path().join("absent"), json!({"command": "git status"})));
}
