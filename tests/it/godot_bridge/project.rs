//! Projects: the addon put in and taken out, and how the engine is called for one.

use crate::process::{command, pipe, text};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

const PROJECT: &str = "config_version=5\n\n[application]\n\nconfig/name=\"x\"\n";
const SCRIPT: &str = "addons/agent_bridge/agent_bridge.gd";

fn project(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("project.godot");
    fs::write(&file, text).unwrap();
    (folder, file)
}

fn run(arguments: &[&str], folder: &Path) -> Output {
    let mut bridge = command("godot-bridge");
    bridge.args(arguments).arg(folder).env_remove("PIPEWRIGHT_GODOT").env("XDG_RUNTIME_DIR", folder.parent().unwrap());
    pipe(&mut bridge, b"")
}

fn everything(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_addon_is_put_in_once_and_taken_out_byte_for_byte() {
    let others = "[autoload]\n\nGame=\"*res://game.gd\"\n\n[display]\n";
    for before in [PROJECT, others, PROJECT.trim_end(), &PROJECT.replace('\n', "\r\n"), &format!("{PROJECT}\n\n"), ""] {
        let (folder, file) = project(before);
        let put_in = run(&["install"], folder.path());
        assert_eq!(put_in.status.code(), Some(0), "{}", text(&put_in.stderr));
        let told = text(&put_in.stdout);
        let line = "+AgentBridge=\"*res://addons/agent_bridge/agent_bridge.gd\"    (project.godot)";
        assert!(told.lines().any(|told| told == line), "{told}");
        assert!(told.contains("+README.md in addons/agent_bridge"), "{told}");
        let after = fs::read_to_string(&file).unwrap();
        assert_eq!(text(&run(&["install"], &file).stdout), "nothing to change\n");
        assert_eq!(fs::read_to_string(&file).unwrap(), after);
        let taken_out = text(&run(&["install", "--remove"], folder.path()).stdout);
        assert!(taken_out.contains("-addons/agent_bridge/") && taken_out.contains("-AgentBridge="), "{taken_out}");
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
        assert_eq!(everything(folder.path()), [file], "nothing else is left");
        assert_eq!(text(&run(&["install", "--remove"], folder.path()).stdout), "nothing to change\n");
    }
}

#[test]
fn a_link_that_leads_nowhere_makes_room() {
    let (folder, _) = project(PROJECT);
    fs::create_dir(folder.path().join("addons")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere", folder.path().join("addons/agent_bridge")).unwrap();
    let put_in = run(&["install"], folder.path());
    assert!(put_in.status.success() && folder.path().join(SCRIPT).is_file(), "{}", text(&put_in.stderr));
    assert!(text(&put_in.stdout).contains("-addons/agent_bridge (a link that led nowhere)"));
}

#[test]
fn what_others_put_beside_the_addon_stays_and_what_was_changed_is_told() {
    let (folder, file) = project(PROJECT);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(folder.path().join("addons/other")).unwrap();
    run(&["install"], folder.path());
    fs::write(folder.path().join("addons/agent_bridge/README.md"), "mine").unwrap();
    assert_eq!(text(&run(&["install"], folder.path()).stdout), "~README.md in addons/agent_bridge\n");
    run(&["install", "--remove"], folder.path());
    assert!(folder.path().join("addons/other").is_dir() && !folder.path().join("addons/agent_bridge").exists());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_project_file_behind_a_link_is_written_where_it_is() {
    let (elsewhere, file) = project(PROJECT);
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("project.godot");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert_eq!(run(&["install"], folder.path()).status.code(), Some(0));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("AgentBridge"));
    assert_eq!(everything(elsewhere.path()), [file]);
}

#[test]
fn what_is_no_project_is_2() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["install"][..], &["install", "--remove"], &["--launch"], &["tree", "--launch"]] {
        let output = run(arguments, folder.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = text(&output.stderr);
        assert!(stderr.contains("project.godot: No such file or directory"), "{stderr}");
    }
    let (folder, _) = project(PROJECT);
    let output = run(&["--launch"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    let advice = format!("put it in with godot-bridge install {}", folder.path().display());
    assert!(text(&output.stderr).contains(&advice), "{}", text(&output.stderr));
}

/// A project with the addon, whatever that is, and an engine that notes how it is called.
struct Launch {
    folder: TempDir,
    calls: PathBuf,
}

impl Launch {
    fn new() -> Launch {
        let (folder, _) = project(&format!("{PROJECT}\n[autoload]\n\nAgentBridge=\"*res://{SCRIPT}\"\n"));
        let launch = Launch { calls: folder.path().join(".calls"), folder };
        launch.add(SCRIPT, "extends Node\n");
        launch
    }

    fn add(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The engine's arguments, call by call, after a launch with `engine` as what it does.
    fn launch(&self, engine: &str) -> (Output, Vec<String>) {
        let _ = fs::remove_file(&self.calls);
        let program = self.folder.path().join(".engine");
        let game = crate::process::example("stand-in-game");
        let script = format!("#!/bin/sh\necho \"$*\" >>{}\ngame={}\n{engine}\n", self.calls.display(), game.display());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let output = run(&["--godot", program.to_str().unwrap(), "--launch"], self.folder.path());
        let calls = fs::read_to_string(&self.calls).unwrap_or_default();
        let folder = self.folder.path().to_str().unwrap();
        (output, calls.lines().map(|call| call.replace(folder, "P")).collect())
    }

    fn imports(&self) -> bool {
        let (output, calls) = self.launch(PLAYS);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(calls.last().unwrap(), "--headless --path P", "{calls:?}");
        let imports = calls[..calls.len() - 1].to_vec();
        assert!(imports.is_empty() || imports == ["--headless --path P --import"], "{calls:?}");
        assert_eq!(text(&output.stderr).contains("importing, once"), !imports.is_empty());
        !imports.is_empty()
    }
}

const PLAYS: &str = r#"case $* in *--import) exit;; esac; exec "$game" "$@" echo"#;

#[test]
fn the_engine_looks_through_a_project_where_it_has_to() {
    let launch = Launch::new();
    assert!(!launch.imports(), "there is nothing to look for");
    launch.add("ball.gd", "# A ball\nclass_name Ball extends Node2D\n");
    assert!(launch.imports(), "a class_name that it doesn't know");
    launch.add(".godot/global_script_class_cache.cfg", "list=[{\n\"class\": &\"Ball\",\n}]\n");
    assert!(!launch.imports());
    launch.add("art/ball.png", "");
    assert!(launch.imports(), "an asset that was never imported");
    launch.add("art/ball.png.import", "[remap]\npath=\"res://.godot/imported/ball.ctex\"\n");
    assert!(launch.imports(), "one whose result is gone");
    launch.add(".godot/imported/ball.ctex", "");
    assert!(!launch.imports());
    launch.add("raw/.gdignore", "");
    launch.add("raw/other.png", "");
    assert!(!launch.imports(), "what the engine ignores");
}

#[test]
fn an_import_that_fails_is_3() {
    let launch = Launch::new();
    launch.add("ball.gd", "class_name Ball\n");
    let (output, calls) = launch.launch("echo ERROR: no disk left; exit 4");
    let stderr = text(&output.stderr);
    assert_eq!((output.status.code(), calls.len()), (Some(3), 1), "{stderr}");
    assert!(
        stderr.contains("  | ERROR: no disk left\n") && stderr.contains("the import has failed: exit status 4"),
        "{stderr}"
    );
}

#[test]
fn what_an_import_leaves_behind_is_not_waited_for() {
    let launch = Launch::new();
    launch.add("ball.gd", "class_name Ball\n");
    // In a session of its own, as a daemon is, with the engine's stdout.
    let pid = launch.folder.path().join(".pid");
    let leaves = format!(
        "setsid sh -c 'echo $$ >{}; exec sleep 100' & until [ -s {} ]; do sleep 0.01; done; exit",
        pid.display(),
        pid.display()
    );
    let started = std::time::Instant::now();
    let (output, calls) = launch.launch(&format!("case $* in *--import) {leaves};; esac; exec \"$game\" \"$@\" echo"));
    assert_eq!((output.status.code(), calls.len()), (Some(0), 2), "{}", text(&output.stderr));
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    let daemon: i32 = fs::read_to_string(pid).unwrap().trim().parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(daemon), nix::sys::signal::SIGKILL).unwrap();
}

#[test]
fn an_engine_that_is_not_there_is_3() {
    let launch = Launch::new();
    let output = run(&["--godot", "/no/such/godot", "--launch"], launch.folder.path());
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("cannot start /no/such/godot: No such file"), "{}", text(&output.stderr));
    let mut bridge = command("godot-bridge");
    bridge.env("PATH", "/no/such/folder").env_remove("PIPEWRIGHT_GODOT").arg("--launch").arg(launch.folder.path());
    let output = pipe(&mut bridge, b"");
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("neither godot nor godot4 is on PATH"), "{}", text(&output.stderr));
}
