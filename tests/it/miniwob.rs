//! `browser-bridge` solves the tasks of MiniWoB++ (installed by `scripts/install-miniwob`; PIPEWRIGHT_MINIWOB names
//! the folder of its pages). The players in `tests/miniwob` use only the bridge's tools.

use crate::process::{binary, text};
use std::process::Command;

#[test]
#[ignore = "needs Chromium and MiniWoB++: scripts/test installs it"]
fn scripted_players_solve_all_tasks_but_those_that_eyes_toml_lists() {
    let html = std::env::var("PIPEWRIGHT_MINIWOB").expect("PIPEWRIGHT_MINIWOB must name a folder: run scripts/test");
    let player = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/miniwob/play.py");
    let mut play = Command::new("python3");
    // No compiled files in the checkout.
    play.args(["-B", player, "--seeds", "2", &html]).arg(binary("browser-bridge"));
    let output = play.output().unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}
