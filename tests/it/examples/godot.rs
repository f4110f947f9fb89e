//! The examples that play a game on a real Godot.

use super::run;
use crate::godot::{catch, vault};
use std::fs;

/// A copy of the example game that a test may break.
fn copy(of: &std::path::Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let status = std::process::Command::new("cp").arg("-R").arg(of.join(".")).arg(copy.path()).status().unwrap();
    assert!(status.success());
    copy
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_smoke_test_passes_for_a_working_game() {
    let game = vault();
    let ran = run("godot-smoke-test.sh", &[game.to_str().unwrap()]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().filter(|line| line.starts_with("ok: ")).count(), 3, "{}", ran.stdout);
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_smoke_test_fails_for_a_broken_game() {
    let game = copy(&vault());
    let level = game.path().join("scripts/level_scene.gd");
    let well = fs::read_to_string(&level).unwrap();
    // A script that fails during play, but continues.
    fs::write(&level, well.replace("\tcompleted.emit()", "\tcompleted.emit()\n\t\tpush_error(\"the key is stuck\")"))
        .unwrap();
    let ran = run("godot-smoke-test.sh", &[game.path().to_str().unwrap()]);
    assert!(!ran.stdout.contains("no error of a script"), "{}", ran.stdout);
    assert!(
        ran.status != Some(0) && ran.stderr.contains("failed: no error of a script or the engine"),
        "{}",
        ran.stderr
    );

    // A level that cannot be completed.
    fs::write(&level, well.replace("\tcompleted.emit()", "\tget_tree().quit(7)")).unwrap();
    let ran = run("godot-smoke-test.sh", &[game.path().to_str().unwrap()]);
    assert_eq!(ran.status, Some(4), "{}", ran.stderr);
    assert!(ran.stderr.contains("failed: ") && ran.stderr.contains("(GAME_EXITED)"), "{}", ran.stderr);
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_menu_is_used_as_by_a_player() {
    let ran = run("godot-menu-test.sh", &[catch().to_str().unwrap()]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), "ok\n".repeat(10).as_str()), "{}", ran.stderr);
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_readme_prints_what_it_shows() {
    assert_eq!(crate::documents::run_sessions("console godot"), ["README.md"]);
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_agent_tests_a_game_by_goal() {
    let ran = run("godot-tester.sh", &[catch().to_str().unwrap()]);
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("3. press_button {\"path\":\"Button:text(\\\"Start\\\")\"}: ok\n"), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().filter(|line| line.ends_with(": ok")).count(), 5, "{}", ran.stdout);
}
