//! docs/scale.md: its recipes, each run as it is written on simulated hosts (tests/scale/hosts).
//! (PIPEWRIGHT_SCALE names the folder that scripts/install-scale prints.)

mod batches;
mod logs;
mod shared;
mod streams;
mod world;

use crate::documents::path_with_our_programs;
use crate::process::text;
use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The control machine's `bash -euo pipefail`, in /mnt, which all hosts share. `E` is the folder of the recipes.
fn hosts(count: u32) -> Command {
    hosts_of(root(), count)
}

fn hosts_of(checkout: &Path, count: u32) -> Command {
    let tools = std::env::var("PIPEWRIGHT_SCALE").expect("PIPEWRIGHT_SCALE names no folder: run scripts/test");
    let mut hosts = Command::new(checkout.join("tests/scale/hosts"));
    hosts.arg(count.to_string()).env("PATH", format!("{tools}:{}:/usr/sbin:/sbin", path_with_our_programs()));
    for variable in ["PIPEWRIGHT_FOREGROUND", "PIPEWRIGHT_APPROVALS", "XDG_RUNTIME_DIR", "AI_STS_PROXY_DATA_DIR"] {
        hosts.env_remove(variable);
    }
    hosts
        .env("E", root().join("examples/scale"))
        .env("ROOT", root())
        .current_dir("/")
        .stdin(std::process::Stdio::null());
    hosts
}

const PROLOGUE: &str = r#"
cd /mnt
count() { grep -hs "$@" | wc -l; }
wait_for() { for _ in $(seq 300); do if "$@"; then return; fi; sleep 0.1; done; echo "waited in vain: $*" >&2; exit 1; }
"#;

/// What a script prints that runs on the control machine, with the commands that stand before it there.
#[track_caller]
fn run(count: u32, wrapper: &[&str], script: &str) -> String {
    let mut hosts = hosts(count);
    let output =
        hosts.args(wrapper).args(["bash", "-euo", "pipefail", "-c", &format!("{PROLOGUE}{script}")]).output().unwrap();
    assert!(output.status.success(), "{:?}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn hosts_see_a_checkout_below_tmp_and_have_a_tmp_of_their_own() {
    let checkout = tempfile::tempdir_in("/tmp").unwrap();
    let scripts = checkout.path().join("tests/scale");
    std::fs::create_dir_all(&scripts).unwrap();
    std::fs::copy(root().join("tests/scale/hosts"), scripts.join("hosts")).unwrap();
    let own = checkout.path().with_extension("own");
    let script = format!("test -x {}/hosts && touch {}", scripts.display(), own.display());
    let status = hosts_of(checkout.path(), 1).args(["ssh", "-n", "host1", &script]).status().unwrap();
    assert!(status.success() && !own.exists(), "{status:?}");
}

#[test]
fn each_recipe_is_run_here_and_named_in_the_document() {
    let page = std::fs::read_to_string(root().join("docs/scale.md")).unwrap();
    let tests =
        [include_str!("batches.rs"), include_str!("logs.rs"), include_str!("streams.rs"), include_str!("world.rs")];
    for entry in std::fs::read_dir(root().join("examples/scale")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(page.contains(&format!("(../examples/scale/{name})")), "docs/scale.md does not name {name}");
        let is_run = name == "one-run.sh" || tests.iter().any(|test| test.contains(&format!("$E/{name}")));
        assert!(is_run, "examples/scale/{name} is run by no test in tests/it/scale");
    }
}
