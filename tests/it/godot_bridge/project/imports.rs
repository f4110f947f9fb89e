//! Projects that the engine has to import before they can be played.

use super::{IMPORT, Launch, PLAYS, text};
use std::fs;

#[test]
fn a_project_is_imported_if_needed() {
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
    launch.add("art/gone.png.import", "[remap]\npath=\"res://.godot/imported/gone.ctex\"\n");
    assert!(!launch.imports(), "one whose asset is gone");
    launch.add("text.gd", "var text = \"\"\"\nclass_name Text\n\"\"\"\n# class_name Comment\n");
    assert!(!launch.imports(), "a class_name in a string");
    launch.add("bin/own.gdextension", "");
    assert!(launch.imports(), "an extension that it doesn't know");
    launch.add(".godot/extension_list.cfg", "res://bin/own.gdextension\n");
    assert!(!launch.imports());
    launch.add("check.gd", "func is_uid(text): return text.begins_with(\"uid://\")\n");
    assert!(!launch.imports(), "no uid");
    launch.add("level.gd", "var next := preload(\"uid://b4xtest12345\")\n");
    assert!(launch.imports(), "a uid before there is a list of them");
    launch.add(".godot/uid_cache.bin", "");
    assert!(!launch.imports());
    launch.add("raw/.gdignore", "");
    launch.add("raw/other.png", "");
    assert!(!launch.imports(), "what the engine ignores");
}

#[test]
fn a_failed_import_exits_3() {
    let launch = Launch::new();
    launch.add("ball.gd", "class_name Ball\n");
    let (output, calls) = launch.launch("echo ERROR: no disk left; exit 4");
    let stderr = text(&output.stderr);
    assert_eq!((output.status.code(), calls.len()), (Some(3), 1), "{stderr}");
    assert!(
        stderr.contains("  | ERROR: no disk left\n") && stderr.contains("the import failed: exit status 4"),
        "{stderr}"
    );
}

#[test]
fn processes_left_by_an_import_are_not_waited_for() {
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
fn files_that_an_import_skips_cause_no_further_import_until_they_change() {
    let launch = Launch::new();
    launch.add("ball.gd", "class_name Ball\n");
    launch.add("broken.png", "");
    assert!(launch.imports());
    assert!(!launch.imports(), "the import has settled neither");
    launch.add("new.png", "");
    assert!(launch.imports(), "another file");
    assert!(!launch.imports());
    launch.add("ball.gd", "class_name Ball extends Node\n");
    assert!(launch.imports(), "one that has changed");
    assert!(!launch.imports());
}

/// The engine imports a project with translations in two runs.
#[test]
fn an_import_that_made_progress_is_repeated_at_once() {
    let launch = Launch::new();
    let (first, second) = (launch.folder.path().join("first.png"), launch.folder.path().join("second.png"));
    launch.add("first.png", "");
    launch.add("second.png", "");
    let settles = format!(
        "case $* in *--import) [ -e {0}.import ] && : >{1}.import; : >{0}.import; exit;; esac; exec \"$game\" \"$@\" echo",
        first.display(),
        second.display()
    );
    let (output, calls) = launch.launch(&settles);
    assert_eq!(calls, [IMPORT, IMPORT, "--headless --path P"], "{}", text(&output.stderr));
    assert!(!launch.imports());
}

#[test]
fn a_project_file_that_an_import_has_changed_is_backed_up() {
    let launch = Launch::new();
    let file = launch.folder.path().join("project.godot");
    let former = fs::read_to_string(&file).unwrap();
    let changes = format!("case $* in *--import) echo '; changed' >>{};; esac\n{PLAYS}", file.display());
    for (number, (script, kept)) in [("a.gd", "before-import"), ("b.gd", "before-import-2")].into_iter().enumerate() {
        launch.add(script, &format!("class_name Number{number}\n"));
        let (output, _) = launch.launch(&changes);
        let kept = launch.folder.path().join(format!("project.godot.{kept}"));
        assert_eq!(fs::read_to_string(&kept).unwrap(), former.clone() + &"; changed\n".repeat(number));
        let (kept, file) = (kept.display(), file.display());
        let note = format!("the import has changed {file}; the previous file is {kept}; to undo: mv {kept} {file}\n");
        assert_eq!(
            (output.status.code(), text(&output.stderr).contains(&note)),
            (Some(0), true),
            "{}",
            text(&output.stderr)
        );
    }
}
