//! The documents agree with the commands: man pages and completions are made from the same definitions, and the sessions in the README
//! and in the pages of `docs/` print what they show.
//!
//! `UPDATE_DOCUMENTS=1 cargo test --test it documents` writes the man pages and completions again.

use crate::process::{binary, pipe, text};
use crate::spire::{Step, demo_session};
use clap_complete::Shell;
use pipewright::cmd::{ALL, Command};
use std::path::{Path, PathBuf};

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub fn compare(path: &str, made: &[u8]) {
    if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
        std::fs::write(at(path), made).unwrap();
    }
    let committed = std::fs::read(at(path)).unwrap_or_default();
    assert!(
        committed == made,
        "{path} is not what the definitions say: UPDATE_DOCUMENTS=1 cargo test --test it documents"
    );
}

fn definition(of: &Command) -> clap::Command {
    (of.clap)()
}

/// A man page: clap's content, and the closing paragraphs of `--help` as sections of their own.
fn man_page(of: &Command) -> std::io::Result<Vec<u8>> {
    let definition = definition(of);
    let closing = definition.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let man = clap_mangen::Man::new(definition).manual("pipewright");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut goes_on = false;
    for line in closing.lines() {
        let escaped = line.replace('\\', "\\e").replace('-', "\\-");
        match line.strip_suffix(':') {
            Some(heading) if !line.starts_with(' ') => {
                page.extend(format!(".SH {}\n", heading.to_uppercase()).into_bytes())
            }
            // The lines with the deepest indentation are verbatim; a line never begins with a control character.
            _ if line.starts_with("    ") => {
                page.extend(format!(".RS\n.EX\n\\&{}\n.EE\n.RE\n", escaped.trim_start()).into_bytes())
            }
            _ if line.is_empty() => {}
            _ => {
                let paragraph = if goes_on { "" } else { ".PP\n" };
                page.extend(format!("{paragraph}\\&{}\n", escaped.trim_start()).into_bytes());
            }
        }
        goes_on = !line.is_empty() && !line.ends_with([':', '.']);
    }
    page.extend(b".SH SEE ALSO\n.BR pipewright (7)\n");
    Ok(page)
}

#[test]
fn man_pages_match_the_definitions() {
    for of in ALL {
        let page = man_page(of).unwrap();
        compare(&format!("man/{}.1", of.name), &page);
    }
}

#[test]
fn completions_match_the_definitions() {
    for of in ALL {
        for (shell, name) in [
            (Shell::Bash, format!("{}.bash", of.name)),
            (Shell::Zsh, format!("_{}", of.name)),
            (Shell::Fish, format!("{}.fish", of.name)),
        ] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut definition(of), of.name, &mut script);
            compare(&format!("completions/{name}"), &script);
        }
    }
}

#[test]
fn no_document_is_left_over() {
    for (folder, known) in [("man", &[".1"][..]), ("completions", &[".bash", ".fish", ""])] {
        for file in std::fs::read_dir(at(folder)).unwrap() {
            let name = file.unwrap().file_name().to_string_lossy().into_owned();
            let of = |command: &Command| {
                known.iter().any(|ending| name == format!("{}{ending}", command.name))
                    || name == format!("_{}", command.name)
            };
            assert!(name == "pipewright.7" || ALL.iter().any(of), "{folder}/{name} belongs to no command");
        }
    }
}

#[test]
fn the_readme_and_the_changelog_name_every_command() {
    let readme = std::fs::read_to_string(at("README.md")).unwrap();
    let changes = std::fs::read_to_string(at("CHANGELOG.md")).unwrap();
    for of in ALL {
        assert!(readme.contains(&format!("| `{}` |", of.name)), "the README's table has no row for {}", of.name);
        assert!(changes.contains(&format!("`{}`", of.name)), "the changelog does not name {}", of.name);
    }
}

/// A shell session of a document: commands, and what each prints.
struct Session {
    line: usize,
    steps: Vec<(String, Vec<String>)>,
}

/// The fenced blocks with this info string. A command begins with `$ ` and continues after a line that ends in `\`.
fn sessions(document: &str, info: &str) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut inside = false;
    for (number, line) in document.lines().enumerate() {
        match line {
            _ if line.strip_prefix("```") == Some(info) => {
                inside = true;
                sessions.push(Session { line: number + 1, steps: Vec::new() });
            }
            "```" => inside = false,
            _ if inside => {
                let steps = &mut sessions.last_mut().unwrap().steps;
                match (line.strip_prefix("$ "), steps.last_mut()) {
                    (Some(command), _) => steps.push((command.to_owned(), Vec::new())),
                    (None, Some((command, _))) if command.ends_with('\\') => {
                        command.push('\n');
                        command.push_str(line);
                    }
                    (None, Some((_, output))) => output.push(line.to_owned()),
                    (None, None) => panic!("line {}: output before a command", number + 1),
                }
            }
            _ => {}
        }
    }
    sessions
}

/// `...` alone stands for any lines; within a line, for any text.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "..." => {
            matches(rest, printed) || printed.split_first().is_some_and(|(_, later)| matches(shown, later))
        }
        (Some((shown, more)), Some((printed, rest))) => line_matches(shown, printed) && matches(more, rest),
        _ => false,
    }
}

fn line_matches(shown: &str, mut printed: &str) -> bool {
    let mut parts = shown.split("...");
    let first = parts.next().unwrap_or_default();
    let Some(rest) = printed.strip_prefix(first) else { return false };
    printed = rest;
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return printed.is_empty() };
    for part in middle {
        let Some(found) = printed.find(part) else { return false };
        printed = &printed[found + part.len()..];
    }
    printed.ends_with(last)
}

pub fn path_with_our_programs() -> String {
    format!("{}:{}", binary("").display(), std::env::var("PATH").unwrap())
}

/// Whether jq is installed, which the documents' examples use. `scripts/test` installs it, or reports that it was skipped.
pub fn has_jq() -> bool {
    let found = std::process::Command::new("jq").arg("--version").output().is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "CI skips nothing: install jq");
    if !found {
        eprintln!("skipped: jq is not installed");
    }
    found
}

/// The README and the pages of `docs/`: their paths and texts.
pub fn pages() -> Vec<(String, String)> {
    let folder = std::fs::read_dir(at("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = folder.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let pages = pages.map(|path| format!("docs/{}", path.file_name().unwrap().to_string_lossy()));
    let pages = pages.chain(["README.md".to_owned()]);
    pages.map(|path| (path.clone(), std::fs::read_to_string(at(&path)).unwrap())).collect()
}

#[test]
fn the_documents_sessions_print_what_they_show() {
    if !has_jq() {
        return;
    }
    let shown = run_sessions("console");
    for page in ["README.md", "docs/gates.md", "docs/logs.md", "docs/masking.md", "docs/spire.md"] {
        assert!(shown.iter().any(|of| of == page), "{page} has no session");
    }
}

/// Runs the sessions with this info string; gives the pages that have one.
pub fn run_sessions(info: &str) -> Vec<String> {
    let path = path_with_our_programs();
    let pages = pages();
    let sessions: Vec<_> = pages
        .iter()
        .flat_map(|(page, text)| sessions(text, info).into_iter().map(move |session| (page, session)))
        .collect();
    let shown = sessions.iter().map(|(page, _)| (*page).clone()).collect();
    for (page, session) in sessions {
        for (command, shown) in session.steps {
            let output = std::process::Command::new("bash")
                .args(["-c", &format!("set -o pipefail; {command}")])
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .env("PATH", &path)
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            let printed = text(&output.stdout) + &text(&output.stderr);
            let lines: Vec<&str> = printed.lines().collect();
            assert!(
                matches(&shown, &lines),
                "{page}:{}: $ {command}\nshows\n{}\nand prints\n{printed}",
                session.line,
                shown.join("\n")
            );
        }
    }
    shown
}

/// The targets of a page's links, without addresses and its own headings.
fn links(page: &str) -> Vec<&str> {
    let ends = page.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let targets = ends.map(|(target, _)| target.split('#').next().unwrap_or_default());
    targets.filter(|target| !target.is_empty() && !target.contains("://")).collect()
}

#[test]
fn links_between_the_documents_have_targets() {
    let others = ["SECURITY.md", "CONTRIBUTING.md", "examples/README.md", "schemas/README.md"];
    let others = others.into_iter().map(|path| (path.to_owned(), std::fs::read_to_string(at(path)).unwrap()));
    for (page, text) in pages().into_iter().chain(others) {
        for link in links(&text) {
            let target = at(&page).with_file_name("").join(link);
            assert!(target.exists(), "{page} links to {link}, which does not exist");
        }
    }
    assert_eq!(links("[a](b.md#c) [d](#e) ![f](g.svg) [h](https://example.org/)"), ["b.md", "g.svg"]);
}

#[test]
fn the_documents_one_line_bot_plays_the_recorded_game() {
    if !has_jq() {
        return;
    }
    let page = std::fs::read_to_string(at("docs/spire.md")).unwrap();
    let bot = page.lines().find(|line| line.starts_with("echo ready; valid-actions | jq")).expect("the bot");
    let (mut messages, mut recorded) = (String::new(), vec!["ready".to_owned()]);
    for step in demo_session() {
        match step {
            Step::Mod(message) => messages += &format!("{message}\n"),
            // The recorded player took the first legal action, too; it also started the run.
            Step::Command(command) if command.starts_with("start") => {}
            Step::Command(command) => recorded.push(command),
        }
    }
    let output = pipe(
        std::process::Command::new("sh").args(["-c", bot]).env("PATH", path_with_our_programs()),
        messages.as_bytes(),
    );
    let said = text(&output.stdout);
    assert_eq!(said.lines().collect::<Vec<_>>(), recorded);
}

#[test]
fn the_runner_notices_differences() {
    let own = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    assert!(matches(&own(&["a", "...", "d"]), &["a", "b", "c", "d"]));
    assert!(matches(&own(&["x...z"]), &["x y z"]));
    assert!(matches(&own(&["..."]), &[]));
    assert!(!matches(&own(&["a"]), &["a", "b"]));
    assert!(!matches(&own(&["x...z"]), &["x y"]));
    assert!(!matches(&own(&["a", "...", "d"]), &["a", "b"]));
    let read = sessions("```console\n$ a \\\n  b\nout\n$ c\n```\n```sh\n$ not this\n```\n", "console");
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].steps, [("a \\\n  b".to_owned(), own(&["out"])), ("c".to_owned(), own(&[]))]);
}
