//! The shipped files: the commit in `--version`, and where `scripts/install` puts what.

use crate::documents::has_jq;
use crate::process::{binary, command, pipe, text};
use pipewright::cmd::ALL;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// The output of git for this checkout; `None` if it is not one.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    output.status.success().then(|| text(&output.stdout).trim_end().to_owned())
}

/// The text after the version.
fn commit() -> Option<String> {
    if let Some(given) = option_env!("PIPEWRIGHT_COMMIT") {
        return Some(given.to_owned()).filter(|given| !given.is_empty());
    }
    let archived = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo_vcs_info.json");
    if let Ok(archived) = std::fs::read_to_string(archived) {
        let archived: serde_json::Value = serde_json::from_str(&archived).unwrap();
        return Some(archived["git"]["sha1"].as_str().unwrap()[..9].to_owned());
    }
    git(&["rev-parse", "--show-prefix"]).filter(String::is_empty)?;
    git(&["log", "-1", "--abbrev=9", "--format=%h %cs"])
}

#[test]
fn the_version_names_the_commit_and_the_short_one_does_not() {
    let version = env!("CARGO_PKG_VERSION");
    let long = commit().map_or(version.to_owned(), |commit| format!("{version} ({commit})"));
    for of in ALL {
        for (option, said) in [("--version", long.as_str()), ("-V", version)] {
            let output = pipe(command(of.name).arg(option), b"");
            assert_eq!(text(&output.stdout), format!("{} {said}\n", of.name));
        }
    }
}

fn install(arguments: &[&str], destination: &Path) -> std::process::Output {
    script("install").args(arguments).env("DESTDIR", destination).output().unwrap()
}

/// Runs a bash script without a user's settings.
fn bash(script: &str) -> String {
    let output = Command::new("bash").args(["--norc", "-c", script]).output().unwrap();
    assert!(output.status.success(), "{script}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The number of links from installed documents to files of the checkout, which are installed, too. A manual page is among manual pages.
fn linked(folder: &Path, checkout: &Path) -> usize {
    let mut links = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            links += linked(&path, &checkout.join(path.file_name().unwrap()));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let document = std::fs::read_to_string(&path).unwrap();
            let targets = document.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
            let is_ours = |target: &&str| !target.is_empty() && !target.contains(':') && !target.contains("man/");
            for target in targets.filter(is_ours).filter(|target| checkout.join(target).exists()) {
                assert!(folder.join(target).exists(), "{}: {target}", path.display());
                links += 1;
            }
        }
    }
    links
}

#[test]
fn installed_commands_run_complete_and_can_be_uninstalled() {
    let folder = tempfile::tempdir().unwrap();
    let built = binary("");
    let output = install(&["--built", built.to_str().unwrap(), "/opt/own"], folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let root = folder.path().join("opt/own");
    for of in ALL {
        let said = pipe(Command::new(root.join("bin").join(of.name)).arg("-V"), b"");
        assert!(text(&said.stdout).starts_with(of.name));
        let share = root.join("share");
        for (at, needle) in [
            (format!("man/man1/{}.1", of.name), ".TH"),
            (format!("zsh/site-functions/_{}", of.name), "#compdef"),
            (format!("fish/vendor_completions.d/{}.fish", of.name), "complete -c"),
        ] {
            let text = std::fs::read_to_string(share.join(&at)).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert!(text.contains(needle), "{at}");
        }
        // As bash-completion loads it, and bash requests completions of `NAME --max-l`.
        let completed = bash(&format!(
            "source {}/bash-completion/completions/{name}; f=$(complete -p {name} | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); \
             COMP_WORDS=({name} --vers); COMP_CWORD=1; $f {name} --vers {name}; echo \"${{COMPREPLY[@]}}\"",
            share.display(),
            name = of.name
        ));
        assert_eq!(completed, "--version\n", "{}", of.name);
    }
    assert!(root.join("share/man/man7/pipewright.7").is_file());
    assert!(root.join("share/doc/pipewright/LICENSE-MIT").is_file());
    assert!(linked(&root.join("share/doc/pipewright"), Path::new(env!("CARGO_MANIFEST_DIR"))) > 50);

    let output = install(&["--uninstall", "/opt/own"], folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let left = bash(&format!("find {} ! -type d", root.display()));
    assert_eq!(left, "");
    assert!(!root.join("share/doc/pipewright").exists());
}

#[test]
fn nothing_is_installed_if_a_file_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let empty = tempfile::tempdir().unwrap();
    let output = install(&["--built", empty.path().to_str().unwrap(), "/opt"], folder.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("install: "), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no folder either");
    for wrong in [&[][..], &["--no-such-option", "/opt"], &["/a", "/b"], &["--built"]] {
        assert_eq!(install(wrong, folder.path()).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_prefix_that_is_not_a_folder_is_reported_before_anything_is_built() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let output = install(&["/file"], folder.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("/file; use another PREFIX"), "{}", text(&output.stderr));
}

#[test]
fn a_folder_in_place_of_a_command_is_reported_before_anything_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let in_the_way = folder.path().join("opt/bin/replay");
    std::fs::create_dir_all(&in_the_way).unwrap();
    let output = install(&["--built", binary("").to_str().unwrap(), "/opt"], folder.path());
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("{} is a folder", in_the_way.display());
    assert!(text(&output.stderr).contains(&expected), "{}", text(&output.stderr));
    let there = bash(&format!("cd {} && find . | sort", folder.path().display()));
    assert_eq!(there, ".\n./opt\n./opt/bin\n./opt/bin/replay\n");
}

fn script(name: &str) -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name))
}

#[test]
fn packaging_refuses_unknown_arguments() {
    for arguments in [&["--dist"][..], &["--built"], &["a", "b"], &["--built", ".", "a", "b"], &["a", "--built"]] {
        let output = script("package").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains("usage: scripts/package [--built DIR] [FOLDER]"), "{arguments:?}");
    }
}

#[test]
fn the_cache_folder_is_found_like_the_commands_find_theirs() {
    let path = std::env::var("PATH").unwrap();
    for (environment, folder) in [
        (&[("PIPEWRIGHT_CACHE", "/own"), ("XDG_CACHE_HOME", "/xdg"), ("HOME", "/home/a")][..], Some("/own")),
        (&[("XDG_CACHE_HOME", "/xdg"), ("HOME", "/home/a")], Some("/xdg/pipewright")),
        (&[("XDG_CACHE_HOME", "xdg"), ("HOME", "/home/a")], Some("/home/a/.cache/pipewright")),
        (&[("PIPEWRIGHT_CACHE", "own"), ("HOME", "/home/a")], None),
        (&[("HOME", "a")], None),
        (&[], None),
    ] {
        let mut script = script("cache-folder");
        let output = script.env_clear().env("PATH", &path).envs(environment.iter().copied()).output().unwrap();
        let found = output.status.success().then(|| text(&output.stdout).trim_end().to_owned());
        assert_eq!(found.as_deref(), folder, "{environment:?}");
        assert_eq!(text(&output.stderr).starts_with("cache-folder: "), folder.is_none(), "{environment:?}");
    }
}

/// A folder with a cargo that knows of one crate, which has no licence text.
fn cargo_of_a_crate_under(licence: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("crate/Cargo.toml");
    std::fs::create_dir(manifest.parent().unwrap()).unwrap();
    let metadata = serde_json::json!({"packages": [{
        "name": "bare", "version": "1.2.3", "source": "a registry", "license": licence, "license_file": null,
        "authors": ["Ada", "Bob & Co."], "manifest_path": manifest,
    }]});
    let cargo = folder.path().join("cargo");
    let program =
        format!("#!/bin/sh\ncase $1 in tree) echo 'bare v1.2.3' ;; metadata) cat <<'END'\n{metadata}\nEND\nesac\n");
    std::fs::write(&cargo, program).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn a_crate_without_its_licence_text_gets_it_or_is_reported() {
    if !has_jq() {
        return;
    }
    for (licence, wanted) in [
        ("MIT", Ok("Copyright (c) Ada, Bob & Co.\n\nPermission is hereby granted")),
        ("MIT/Apache-2.0", Ok("Permission is hereby granted")),
        ("Zlib OR Apache-2.0", Ok("TERMS AND CONDITIONS")),
        ("Zlib", Err("bare 1.2.3 has no licence file, and there is no text for Zlib")),
        ("MIT AND Zlib", Err("there is no text for MIT AND Zlib")),
    ] {
        let folder = cargo_of_a_crate_under(licence);
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        let output = script("third-party").env("PATH", path).output().unwrap();
        assert_eq!(output.status.success(), wanted.is_ok(), "{licence}: {}", text(&output.stderr));
        let (said, needle) = match wanted {
            Ok(needle) => (text(&output.stdout), needle),
            Err(needle) => (text(&output.stderr), needle),
        };
        assert!(said.contains(needle), "{licence}: {said}");
    }
}

#[test]
fn the_tests_in_the_threat_model_exist() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["src", "crates", "tests"].map(|folder| crate::house::sources(&checkout.join(folder))).concat();
    let text: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let model = std::fs::read_to_string(checkout.join("SECURITY.md")).unwrap();
    let rows = model.lines().filter(|line| line.starts_with("| ")).skip(1);
    let columns = rows.map(|row| row.trim_end_matches(" |").rsplit(" | ").next().unwrap());
    let names: Vec<&str> = columns.flat_map(|column| column.split('`').skip(1).step_by(2)).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let last = name.rsplit("::").next().unwrap();
        let is_there = text.contains(&format!("fn {last}(")) || text.contains(&format!("mod {last};"));
        assert!(
            is_there
                || checkout.join(name).is_file()
                || checkout.join(format!("fuzz/fuzz_targets/{name}.rs")).is_file(),
            "{name}"
        );
    }
}
