//! Shell text that passes is run by real shells: it must do no more than `policy-check` has read.

use super::play;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// The texts that pass without a question, in a folder.
fn passed(texts: &[String], folder: &Path) -> Vec<String> {
    let lines = texts.iter().enumerate().map(|(id, text)| {
        json!({"tool": "run_command", "args": {"command": text, "cwd": folder}, "id": id}).to_string() + "\n"
    });
    let played = play(&[], &lines.collect::<String>());
    let calls: Vec<Value> = played.records().into_iter().filter(|record| record.get("tool").is_some()).collect();
    assert_eq!(calls.len(), texts.len(), "{}", played.stderr);
    let passes = |id: usize| calls[id]["id"] == id && calls[id].get("requires_approval").is_none();
    texts.iter().enumerate().filter(|(id, _)| passes(*id)).map(|(_, text)| text.clone()).collect()
}

fn passes(text: &str, folder: &Path) -> bool {
    !passed(&[text.to_owned()], folder).is_empty()
}

/// Runs a text in a folder.
fn run(shell: &str, text: &str, folder: &Path) {
    let mut child = Command::new(shell);
    child.arg("-c").arg(text).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    child.status().unwrap();
}

/// Texts that only print, with an effect that is data in them.
const DATA: &[&str] = &[
    "cat <<EOF\nEOF touch pwned\ntouch pwned\nEOF\n",
    "cat <<EOF\nEO\nF\ntouch pwned\nEOF",
    "cat <<EOF && ls\n; touch pwned; $x\nEOF",
    "cat <<-EOF\n\ttouch pwned\n\tEOF\n",
    "cat <<'E F'\n(touch pwned)\nE F\n",
    "cat <<A <<B\ntouch pwned\nA\ntouch pwned\nB\n",
    "cat <<EOF\n(touch pwned)\n{touch pwned}\nEOF\n",
    "cat <<\\EOF\n; touch pwned\nEOF\n",
    "echo '(touch pwned)' \"(touch pwned)\" # (touch pwned)\n",
    "echo \"a; touch pwned\" | grep '& touch pwned'",
    "ls # touch pwned\n",
    "cat <<< '; touch pwned'",
    "[[ a == 'touch pwned' ]] && ls",
    "[ -n '&& touch pwned' ]",
    "for x in 'a;touch pwned'; do echo \"$x\"; done",
    "case 'a' in 'b;touch pwned') ls;; esac",
];

#[test]
fn no_text_that_passes_has_an_effect_wherever_a_line_is_continued_or_a_sign_is_added() {
    let scratch = tempfile::tempdir().unwrap();
    let signs = ["\\\n", " \\\n", "\\", "\n", "'", "\"", "$", "#", "<", "("];
    let mut texts: Vec<String> = Vec::new();
    for text in DATA {
        texts.push((*text).to_owned());
        for (at, _) in text.char_indices() {
            texts.extend(signs.map(|sign| format!("{}{sign}{}", &text[..at], &text[at..])));
        }
    }
    let passed = passed(&texts, scratch.path());
    assert!(DATA.iter().all(|text| passed.iter().any(|own| own == text)), "they only print");
    for text in passed {
        for shell in ["bash", "dash"] {
            run(shell, &text, scratch.path());
            assert!(!scratch.path().join("pwned").exists(), "{shell} {text:?}");
        }
    }
}

#[test]
fn a_continued_line_is_read_as_shells_read_it() {
    let scratch = tempfile::tempdir().unwrap();
    for text in [
        "cat <<EOF\nEO\\\nF\ntouch pwned\nEOF",
        "cat <<EOF\n$\\\n(touch pwned)\nEOF",
        "cat <<EOF\n$\\\n{x:=$(touch pwned)}\nEOF",
        "cat <<EOF\n\\\nEOF\ntouch pwned\nEOF",
        "cat <<-EOF\n\t\\\nEOF\ntouch pwned\nEOF",
        "cat <<E\\\nOF\nhi\nEOF\ntouch pwned",
        "cat <\\\n<EOF\nhi\nEOF\ntouch pwned",
        "echo \"$\\\n(touch pwned)\"",
        "echo $\\\n(touch pwned)",
        "cat <\\\n(touch pwned)",
        "ls &\\\n& touch pwned",
        "ls # \\\ntouch pwned",
    ] {
        assert!(!passes(text, scratch.path()), "{text:?}");
    }
    assert!(passes("grep -r \\\n  --include '*.rs' \\\n  TODO src", scratch.path()));
    assert!(passes("cat <<'EOF'\na \\\nb\nEOF", scratch.path()));
}

#[test]
fn the_name_of_a_file_never_becomes_an_option() {
    let scratch = tempfile::tempdir().unwrap();
    for text in [
        "rg TODO *",
        "rg TODO ?-pre=x",
        "rg TODO [-]*",
        "rg TODO \"-\"*",
        "rg TODO -- x; rg TODO *",
        "rg -e -- *",
        "tar tf a.tar *",
        "tar tf src/*",
        "sed p *",
        "sed -n p *",
        "sed src/* p",
        "awk '{print}' *",
        "awk src/*",
        "find *",
        "find -- *",
        "find * -name x",
        "find \"$x\"",
        "git diff *",
        "git log *",
        "git log --author -- *",
        "git -C * status",
        "git * status",
        "git branch a*",
        "git tag a*",
        "git remote a*",
        "git grep -l x *",
        "git diff $x",
        "sort *",
        "sort -k -- *",
        "sort $files",
        "cat a | sort ?o b",
        "tree *",
        "uniq *",
        "uniq src/*",
        "file *",
        "fdfind x *",
        "yq .a *",
        "xxd *",
        "docker ps *",
        "kubectl get *",
        "unzip -l a*",
        "date *",
        "env *",
        "timeout 5 sort *",
        "nice sort *",
        "ls | xargs sort *",
        "for x in 1; do sort *; done",
        "sort {*,a}",
        "base64 *",
        "l* a",
        "[ -e * ]",
        "sh -c 'sort *'",
    ] {
        assert!(!passes(text, scratch.path()), "{text}");
    }
    for text in [
        "ls *",
        "cat *.rs",
        "grep -n TODO *",
        "wc -l src/*.rs",
        "rg TODO ./*",
        "rg TODO src/*.rs",
        "rg -l TODO -- *",
        "sort -- *",
        "sort ./*",
        "sort -- \"$file\"",
        "find src/* -name 'a*'",
        "find ./* -type f",
        "git diff -- *",
        "git log --oneline -- src/*.rs *.md",
        "git diff HEAD~1 src/*.rs",
        "sed -n 1,5p src/*.rs",
        "awk '{print $1}' logs/*.log",
        "ls | xargs rg TODO --",
        "find . -name '*.rs'",
        "for file in *.rs; do wc -l \"$file\"; done",
        "rg 'a*b' src",
        "sort \\*",
    ] {
        assert!(passes(text, scratch.path()), "{text}");
    }
}

/// A folder with files whose names are options that write or run something.
fn hostile(folder: &Path) {
    for name in [
        "-delete",
        "-ovictim",
        "-o",
        "--output=victim",
        "--pre=sh",
        "-i",
        "-e1e touch pwned",
        "-xtouch",
        "zz",
        "victim",
    ] {
        std::fs::write(folder.join(name), "touch pwned\n").unwrap();
    }
}

#[test]
fn patterns_that_pass_have_no_effect_in_a_folder_of_options() {
    let programs = [
        "find",
        "sort",
        "git diff --no-index",
        "git grep x",
        "tree",
        "uniq",
        "sed -n p",
        "sed",
        "awk",
        "cat",
        "grep x",
        "file",
        "base64",
        "tail -n 1",
    ];
    let endings = ["*", "-- *", "./*", "* x", "[!a]*", "?*", "zz *", "-- zz *", "z*", "\"-\"*"];
    let texts: Vec<String> =
        programs.iter().flat_map(|program| endings.map(|ending| format!("{program} {ending}"))).collect();
    let kept = tempfile::tempdir().unwrap();
    hostile(kept.path());
    let names = |folder: &Path| {
        let mut names: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap()))
            .collect();
        names.sort();
        names
    };
    let before = names(kept.path());
    let passed = passed(&texts, kept.path());
    assert!(passed.len() > 40, "{passed:?}");
    for text in passed {
        run("bash", &text, kept.path());
        assert_eq!(names(kept.path()), before, "{text}");
    }
}
