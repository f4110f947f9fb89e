//! Random texts run by bash itself: it runs no command that the reader has not found.
#![allow(clippy::expect_used)]

use pipewright_syntax::shell::{ShellStep, steps};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::path::Path;
use std::process::{Command, Stdio};

const BASH: &str = "/bin/bash";

/// The name of a command that does not exist; bash reports it on stderr if it would run it.
const MISSING: &str = "MISSING";

/// Whether the reader has found that the text may run a command of this name, or an unknown one.
fn is_found(steps: &[ShellStep]) -> bool {
    steps.iter().any(|step| match step {
        ShellStep::Run(command) => {
            let name = command.words.first();
            // A pattern may match a file that an earlier text has created.
            name.is_some_and(|name| {
                name.text().is_none_or(|name| name.contains(MISSING) || name.contains(['*', '?', '[']))
            })
        }
        ShellStep::Define(_) => false,
    })
}

fn runs_it(text: &str, folder: &Path) -> bool {
    let mut bash = Command::new(BASH);
    bash.args(["--norc", "-c", text]).current_dir(folder).env_clear().env("PATH", "/nonexistent").stdin(Stdio::null());
    let output = bash.output().expect("bash is there");
    String::from_utf8_lossy(&output.stderr).contains(": MISSING: command not found")
}

const FRAGMENTS: &[&str] = &[
    "MISSING",
    " MISSING ",
    ";MISSING",
    "a",
    "x=1",
    "echo ",
    ": ",
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "<",
    ">",
    "<<E\n",
    "\nE\n",
    "<<<",
    "(",
    ")",
    "$(",
    "<(",
    "{ ",
    "; }",
    "'",
    "\"",
    "`",
    "\\",
    "\\\n",
    "#",
    " #",
    "$x",
    "${x",
    ":-",
    "}",
    "case a in a) ",
    " esac",
    ";;",
    "if : ; then ",
    "; fi",
    "for x in ",
    "; do ",
    "; done",
    "[[ ",
    " ]]",
    "[",
    "]",
    "=",
    "!",
    "~",
    "*",
    "f() ",
    "{a,",
    "((",
    "))",
    "n=1;",
    "n='a[$(MISSING)]';",
    "read n;",
    " $((n",
    "$n",
    "[[ n -eq 1 ]];",
    "(n)",
];

#[test]
fn bash_runs_no_command_that_is_not_found() {
    if !Path::new(BASH).exists() {
        return;
    }
    // Redirections create files.
    let folder = std::env::temp_dir().join(format!("pipewright-syntax-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let texts = prop::collection::vec(prop::sample::select(FRAGMENTS), 1..14);
    let outcome = runner.run(&texts, |pieces| {
        let text = pieces.concat();
        if let Ok(steps) = steps(&text)
            && text.contains(MISSING)
            && !is_found(&steps)
        {
            prop_assert!(!runs_it(&text, &folder), "bash runs it: {text:?}");
        }
        Ok(())
    });
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    assert_eq!(outcome, Ok(()));
}
