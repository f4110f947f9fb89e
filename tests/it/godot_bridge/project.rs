//! Projects: installing and removing the addon, and the engine's command line.

mod imports;

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
fn the_addon_is_installed_once_and_removed_byte_for_byte() {
    let others = "[autoload]\n\nGame=\"*res://game.gd\"\n\n[display]\n";
    for before in [PROJECT, others, PROJECT.trim_end(), &PROJECT.replace('\n', "\r\n"), &format!("{PROJECT}\n\n"), ""] {
        let (folder, file) = project(before);
        let put_in = run(&["install"], folder.path());
        assert_eq!(put_in.status.code(), Some(0), "{}", text(&put_in.stderr));
        let message = text(&put_in.stdout);
        let line = "+AgentBridge=\"*res://addons/agent_bridge/agent_bridge.gd\"    (project.godot)";
        assert!(message.lines().any(|message| message == line), "{message}");
        assert!(message.contains("+README.md in addons/agent_bridge"), "{message}");
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
fn a_dangling_link_is_replaced() {
    let (folder, _) = project(PROJECT);
    fs::create_dir(folder.path().join("addons")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere", folder.path().join("addons/agent_bridge")).unwrap();
    let put_in = run(&["install"], folder.path());
    assert!(put_in.status.success() && folder.path().join(SCRIPT).is_file(), "{}", text(&put_in.stderr));
    assert!(text(&put_in.stdout).contains("-addons/agent_bridge (a dangling link)"));
}

#[test]
fn other_addons_stay_and_changes_are_reported() {
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
fn a_linked_project_file_is_written_at_its_target() {
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
fn another_autoload_of_that_name_stays() {
    let before = "[autoload]\n\nGame=\"*res://game.gd\"\nAgentBridge=\"*res://src/agent_bridge.gd\"\n";
    let (folder, file) = project(before);
    let refused = run(&["install"], folder.path());
    assert_eq!((refused.status.code(), text(&refused.stdout).as_str()), (Some(2), ""));
    let line =
        "project.godot:4: AgentBridge is another autoload of this project: AgentBridge=\"*res://src/agent_bridge.gd\"";
    let stderr = text(&refused.stderr);
    assert!(stderr.contains(line) && stderr.contains("give that autoload another name"), "{stderr}");
    assert!(!folder.path().join("addons").exists(), "nothing is written");
    let left = run(&["install", "--remove"], folder.path());
    let line = " AgentBridge=\"*res://src/agent_bridge.gd\"    (project.godot:4, not the addon's: left unchanged)\n";
    assert_eq!((left.status.code(), text(&left.stdout).as_str()), (Some(0), line));
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    let output = run(&["--launch"], folder.path());
    assert_eq!(output.status.code(), Some(2), "it does not start the bridge");
}

#[test]
fn a_project_that_godot_4_would_convert_is_refused_before_anything_is_written() {
    let addon = format!("[autoload]\n\nAgentBridge=\"*res://{SCRIPT}\"\n");
    for (version, of) in
        [("config_version=4", "Godot 3"), ("config_version = 3", "Godot 3"), ("config_version=6", "later")]
    {
        let before = format!("; Engine configuration file.\r\n\r\n{version}\r\n\r\n{addon}");
        let (folder, file) = project(&before);
        for arguments in [&["install"][..], &["--launch"], &["tree", "--launch"]] {
            let refused = run(arguments, folder.path());
            assert_eq!((refused.status.code(), text(&refused.stdout).as_str()), (Some(2), ""), "{arguments:?}");
            let stderr = text(&refused.stderr);
            assert!(stderr.contains(of) && stderr.contains("nothing was written"), "{stderr}");
            assert_eq!(everything(folder.path()), std::slice::from_ref(&file), "{arguments:?}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
        // What an earlier version has installed can be removed.
        fs::create_dir_all(folder.path().join("addons/agent_bridge")).unwrap();
        assert_eq!(run(&["install", "--remove"], folder.path()).status.code(), Some(0));
        assert_eq!(everything(folder.path()), [file]);
    }
}

#[test]
fn a_class_with_the_name_of_the_autoload_is_refused() {
    let (folder, file) = project(PROJECT);
    fs::create_dir(folder.path().join("net")).unwrap();
    fs::write(folder.path().join("net/bridge.gd"), "@tool\nclass_name AgentBridge extends Node\n").unwrap();
    let refused = run(&["install"], folder.path());
    assert_eq!(refused.status.code(), Some(2));
    let stderr = text(&refused.stderr);
    assert!(stderr.contains("net/bridge.gd: this class has the name of the addon's autoload"), "{stderr}");
    assert_eq!(fs::read_to_string(&file).unwrap(), PROJECT);
    assert!(!folder.path().join("addons").exists());
}

#[test]
fn a_folder_that_is_not_a_project_exits_2() {
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
    let advice = format!("run godot-bridge install {}", folder.path().display());
    assert!(text(&output.stderr).contains(&advice), "{}", text(&output.stderr));
}

/// A project with a placeholder addon, and an engine that logs its arguments.
struct Launch {
    folder: TempDir,
    calls: PathBuf,
}

impl Launch {
    fn new() -> Launch {
        let (folder, _) = project(&format!("{PROJECT}\n[autoload]\n\nAgentBridge=\"*res://{SCRIPT}\"\n"));
        let launch = Launch { calls: folder.path().join(".calls"), folder };
        launch.add(SCRIPT, "extends Node\n");
        launch.add("addons/agent_bridge/agent_options.gd", "extends Node\n");
        launch
    }

    fn add(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The engine's arguments, call by call, after a launch with `engine` as its behaviour.
    fn launch(&self, engine: &str) -> (Output, Vec<String>) {
        self.launch_with(&[], engine)
    }

    fn launch_with(&self, options: &[&str], engine: &str) -> (Output, Vec<String>) {
        let _ = fs::remove_file(&self.calls);
        let program = self.folder.path().join(".engine");
        let game = crate::process::example("stand-in-game");
        let script = format!("#!/bin/sh\necho \"$*\" >>{}\ngame={}\n{engine}\n", self.calls.display(), game.display());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let arguments = [options, &["--godot", program.to_str().unwrap(), "--launch"]].concat();
        let output = run(&arguments, self.folder.path());
        let calls = fs::read_to_string(&self.calls).unwrap_or_default();
        let folder = self.folder.path().to_str().unwrap();
        (output, calls.lines().map(|call| call.replace(folder, "P")).collect())
    }

    /// Whether the project is imported, once, when it is launched.
    fn imports(&self) -> bool {
        let (output, calls) = self.launch(PLAYS);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(calls.last().unwrap(), "--headless --path P", "{calls:?}");
        let imports = calls[..calls.len() - 1].to_vec();
        assert!(imports.is_empty() || imports == [IMPORT], "{calls:?}");
        assert_eq!(text(&output.stderr).contains("importing the project once"), !imports.is_empty());
        !imports.is_empty()
    }
}

const IMPORT: &str = "--headless --path P --import";
const PLAYS: &str = r#"case $* in *--import) exit;; esac; exec "$game" "$@" echo"#;

#[test]
fn an_addon_of_another_version_is_reported() {
    let launch = Launch::new();
    let note = |output: &Output| text(&output.stderr).matches("its AgentBridge is of another version").count();
    let (output, _) = launch.launch(PLAYS);
    assert_eq!((output.status.code(), note(&output)), (Some(0), 1));
    let advice = format!("run godot-bridge install {}\n", launch.folder.path().display());
    assert!(text(&output.stderr).contains(&advice), "{}", text(&output.stderr));
    fs::remove_file(launch.folder.path().join("addons/agent_bridge/agent_options.gd")).unwrap();
    let (output, calls) = launch.launch(PLAYS);
    assert_eq!((output.status.code(), calls.len()), (Some(2), 0), "one that knows no variables would not answer");
    assert!(text(&output.stderr).contains(&advice), "{}", text(&output.stderr));
    run(&["install"], launch.folder.path());
    let (output, _) = launch.launch(PLAYS);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

#[test]
fn the_engine_gets_the_projects_frames_and_a_movie_needs_a_window() {
    let launch = Launch::new();
    launch.add(
        "project.godot",
        &format!("[autoload]\nAgentBridge=\"*res://{SCRIPT}\"\n[physics]\ncommon/physics_ticks_per_second=30\n"),
    );
    let (_, calls) = launch.launch_with(&["--lockstep"], PLAYS);
    assert_eq!(calls, ["--headless --path P --fixed-fps 30"]);
    let (_, calls) = launch.launch_with(&["--window", "--movie", "/tmp/movie.avi"], PLAYS);
    assert_eq!(calls, ["--path P --fixed-fps 30 --write-movie /tmp/movie.avi"]);
    let (output, calls) = launch.launch_with(&["--movie", "movie.avi"], PLAYS);
    assert_eq!((output.status.code(), calls.len()), (Some(2), 0));
    assert!(text(&output.stderr).contains("--movie needs --window"), "{}", text(&output.stderr));
}

#[test]
fn a_missing_engine_exits_3() {
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
