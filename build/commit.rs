//! The commit for `--version`: from the packager's `PIPEWRIGHT_COMMIT`, from the file that `cargo package` writes into a source
//! archive, or from the checkout. Without any of these, only the version is shown.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

const GIVEN: &str = "PIPEWRIGHT_COMMIT";
const ARCHIVED: &str = ".cargo_vcs_info.json";

/// Sets `PIPEWRIGHT_VERSION` for the crate.
pub fn set() {
    println!("cargo::rerun-if-env-changed={GIVEN}");
    let version = env!("CARGO_PKG_VERSION");
    let commit = env::var(GIVEN).ok().or_else(archived).or_else(checked_out).filter(|commit| !commit.is_empty());
    match commit {
        Some(commit) => println!("cargo::rustc-env=PIPEWRIGHT_VERSION={version} ({commit})"),
        None => println!("cargo::rustc-env=PIPEWRIGHT_VERSION={version}"),
    }
}

/// The commit of a source archive: its first nine digits, as git abbreviates it.
fn archived() -> Option<String> {
    let text = fs::read_to_string(ARCHIVED).ok()?;
    println!("cargo::rerun-if-changed={ARCHIVED}");
    let (_, sha1) = text.split_once("\"sha1\"")?;
    let digits: String = sha1.chars().skip_while(|letter| !letter.is_ascii_hexdigit()).take(9).collect();
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(digits)
}

/// The commit of a checkout and its date. A checkout of something else around this folder does not count.
fn checked_out() -> Option<String> {
    if !git(&["rev-parse", "--show-prefix"])?.is_empty() {
        return None;
    }
    watch();
    git(&["-c", "log.showSignature=false", "log", "-1", "--abbrev=9", "--format=%h %cs"])
}

/// Makes cargo watch the files in which git records another commit. A missing file would count as changed each time.
fn watch() {
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "packed-refs", "reftable"].into_iter().chain(branch.as_deref()) {
        let Some(path) = git(&["rev-parse", "--git-path", name]) else { continue };
        // A packed branch gets its own file with its next commit, in a folder that may not exist yet.
        let parents = if Some(name) == branch.as_deref() { usize::MAX } else { 1 };
        if let Some(path) = Path::new(&path).ancestors().take(parents).find(|path| path.exists()) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    // Cargo may have been started by a hook of another repository.
    let output = Command::new("git").args(arguments).env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_owned())
}
