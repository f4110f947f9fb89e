//! `policy-check doctor`: which harnesses run the hook, and whether it works there.

use super::faults::{FAULTS, Switches};
use super::install::{print, program as program_name};
use super::settings::{FoundHook, command, mentions};
use super::{CLIENTS, Client, Layout, NAME};
use crate::cmd::hook::shortened;
use crate::cmd::working_tree::home;
use pipewright_io::printable::printable;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_record::hook::{HookAnswer, HookInput, WrittenAnswer, read};
use pipewright_sys::process::start;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub struct DoctorArguments {
    /// The folder of the project whose settings are read besides the user's
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    project: PathBuf,
}

/// The calls that are tried.
const HARMLESS: &str = "ls";
const DANGEROUS: &str = "rm -rf build";
/// A hook takes a few milliseconds, and blocks the call by itself after 20 s.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(30);

/// A hook in a file.
struct Installed {
    file: PathBuf,
    /// A shell's text, or the whole program.
    text: String,
    /// What is run for a trial, a shell's text or a program with its arguments: only what install writes for this
    /// program. The settings of a project may be somebody else's.
    trial: Option<(String, Vec<String>)>,
    /// What its settings lack.
    faults: Vec<&'static str>,
}

/// Prints a table, and fails if a hook does not work.
pub fn run(arguments: &DoctorArguments, report: &Report) -> Result<Status, Failure> {
    let home = home();
    let mut table = String::new();
    for client in CLIENTS {
        let found = installed(client, home.as_deref(), &arguments.project, report);
        if found.is_empty() {
            let advice = format!("policy-check hooks install {}", client.name);
            let _ = writeln!(table, "{:9} not guarded  no hook in its settings: {advice}", client.name);
        }
        for hook in found {
            let mut faults: Vec<String> = hook.faults.iter().map(|fault| (*fault).to_owned()).collect();
            if let Some(trial) = &hook.trial {
                faults.extend(trials(client, trial));
            }
            if !faults.is_empty() {
                report.fail();
            }
            let state = match (faults.is_empty(), &hook.trial) {
                (false, _) => "faulty",
                (true, Some(_)) => "guarded",
                (true, None) => "not tried",
            };
            if hook.trial.is_none() {
                let text = match client.layout {
                    Layout::Program(_) => "the program".to_owned(),
                    _ => format!("`{}`", printable(&shortened(&hook.text))),
                };
                faults.push(format!("{text} is not what install writes for this program, and was not run"));
            }
            let says = match faults.is_empty() {
                true => format!(
                    "`{HARMLESS}` passes, `{DANGEROUS}` is {}",
                    if asks(client) { "asked about" } else { "denied" }
                ),
                false => faults.join("; "),
            };
            let file = printable(&hook.file.display().to_string()).into_owned();
            // Writing to a String can't fail.
            let _ = writeln!(table, "{:9} {state:11}  {file}: {says}", client.name);
            let _ = writeln!(table, "{:9} {:11}  not seen: {}", "", "", client.blind);
        }
    }
    let _ = writeln!(
        table,
        "Not seen for any of them: settings of an administrator, or that a command line names; calls that a program \
         makes which the harness starts; and whether a person is there to answer."
    );
    print(&table)?;
    Ok(report.finish())
}

/// The hooks of a harness that run policy-check.
fn installed(client: &Client, home: Option<&Path>, project: &Path, report: &Report) -> Vec<Installed> {
    let mut files = client.files(home, project);
    files.dedup_by_key(|file| file.canonicalize().unwrap_or_else(|_| file.clone()));
    let mut switches = Switches::default();
    if client.name == "codex" {
        for file in files.iter().map(|file| file.with_file_name("config.toml")) {
            if let Some(text) = text_of(&file, report) {
                switches.add_toml(&file, &text, report);
            }
        }
    }
    if client.name == "claude" {
        files.push(project.join(".claude/settings.local.json"));
    }
    let own = programs();
    let mut found = Vec::new();
    let mut all = Vec::new();
    for file in files {
        let Some(text) = text_of(&file, report) else { continue };
        match &client.layout {
            Layout::Program(written) if text.contains(NAME) => {
                let is_own = own.iter().any(|program| text == written(program));
                found.push(program(client, file, text, is_own));
            }
            Layout::Program(_) => {}
            Layout::Groups { .. } | Layout::Flat { .. } => match serde_json::from_str::<Value>(&text) {
                Ok(settings) => {
                    switches.add(&settings);
                    all.push((file, settings));
                }
                Err(error) => report.fault(file.display(), format_args!("not JSON: {error}")),
            },
        }
    }
    for (file, settings) in &all {
        found.extend(in_settings(client, file, settings, &own, &switches));
    }
    found
}

fn text_of(file: &Path, report: &Report) -> Option<String> {
    match fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
        Err(error) => {
            report.fault(file.display(), error);
            None
        }
    }
}

/// The ways in which install may name this program.
fn programs() -> Vec<String> {
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok();
    let quoted = own.and_then(|own| shlex::try_quote(own.to_str()?).map(|own| own.into_owned()).ok());
    program_name(NAME).ok().into_iter().chain(quoted).collect()
}

/// A file that is a program.
fn program(client: &Client, file: PathBuf, text: String, is_own: bool) -> Installed {
    let program = file.canonicalize().unwrap_or_else(|_| file.clone());
    let faults = match pipewright_sys::file::is_executable(&program) || client.name == "opencode" {
        true => vec![],
        false => vec!["the file is not executable"],
    };
    let trial = match client.name {
        // The plugin itself runs only in OpenCode.
        "opencode" => std::env::current_exe()
            .ok()
            .map(|own| (own.display().to_string(), ["hook", "--for", "opencode"].map(str::to_owned).to_vec())),
        _ => Some((program.display().to_string(), vec![])),
    };
    Installed { file, text, trial: trial.filter(|_| is_own), faults }
}

/// The hooks of a file that run policy-check, by their commands.
fn in_settings(client: &Client, file: &Path, settings: &Value, own: &[String], switches: &Switches) -> Vec<Installed> {
    let by_event: Vec<Vec<FoundHook<'_>>> =
        client.events().iter().map(|event| mentions(settings, event, NAME)).collect();
    let mut texts: Vec<String> = by_event.iter().flatten().map(|found| shown(found.hook)).collect();
    let mut seen = Vec::new();
    texts.retain(|text| {
        !seen.contains(text) && {
            seen.push(text.clone());
            true
        }
    });
    texts
        .into_iter()
        .map(|text| {
            let hooks: Vec<&FoundHook<'_>> =
                by_event.iter().flatten().filter(|found| shown(found.hook) == text).collect();
            let mut faults = Vec::new();
            let has = |event: &Vec<FoundHook<'_>>| event.iter().any(|found| shown(found.hook) == text);
            if !by_event.iter().all(has) {
                faults.push("not every event has the hook: install it again");
            }
            if switches.is_off || hooks.iter().any(|found| switches.disables(found.hook)) {
                faults.push("the settings switch hooks off");
            }
            faults.extend(
                FAULTS.iter().filter(|(is, _)| hooks.iter().any(|found| is(client, found))).map(|(_, why)| *why),
            );
            let is_own = own.iter().filter_map(|program| client.hook(program)).any(|hook| shown(&hook) == text);
            let trial = is_own.then(|| (text.clone(), vec![]));
            Installed { file: file.to_owned(), text, trial, faults }
        })
        .collect()
}

/// The command of a hook, with its arguments if they are given apart.
fn shown(hook: &Value) -> String {
    let command = command(hook).unwrap_or_default();
    hook.get("args").map_or(command.to_owned(), |arguments| format!("{command} {arguments}"))
}

/// Whether the harness asks about the dangerous call.
fn asks(client: &Client) -> bool {
    event(client).is_some_and(|event| event.can_ask())
}

fn event(client: &Client) -> Option<&'static pipewright_record::hook::HookEvent> {
    match read(client.sample, client.harness()) {
        Ok(HookInput::Call(call)) => Some(call.event),
        _ => None,
    }
}

/// What is wrong with the answers to a harmless and a dangerous call.
fn trials(client: &Client, trial: &(String, Vec<String>)) -> Vec<String> {
    let tried = |text: &str| answer(trial, client, text);
    let mut wrong = Vec::new();
    match tried(HARMLESS) {
        Ok((0, answer)) if is_free(client, &answer) => {}
        Ok((status, answer)) => {
            wrong.push(format!("`{HARMLESS}` does not pass: status {status}, {}", printable(answer.trim())))
        }
        Err(why) => return vec![format!("`{HARMLESS}`: {why}")],
    }
    match tried(DANGEROUS) {
        Ok((0, answer)) if !is_free(client, &answer) => {}
        Ok((2, _)) => {}
        Ok((status, _)) => wrong.push(format!("`{DANGEROUS}` passes (status {status})")),
        Err(why) => wrong.push(format!("`{DANGEROUS}`: {why}")),
    }
    wrong
}

/// Whether an answer leaves the call to the harness.
fn is_free(client: &Client, answer: &str) -> bool {
    let Ok(HookInput::Call(call)) = read(client.sample, client.harness()) else { return false };
    let is_allowed = answer.contains("\"allow\"");
    is_allowed || call.answer(&HookAnswer::NoOpinion) == WrittenAnswer::Text(answer.to_owned())
}

/// Runs a hook as the harness does: its exit status and its stdout.
fn answer(trial: &(String, Vec<String>), client: &Client, text: &str) -> Result<(i32, String), String> {
    let (program, arguments) = trial;
    let mut command = match (arguments.is_empty(), &client.layout) {
        (false, _) | (true, Layout::Program(_)) => Command::new(program),
        (true, _) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", program]);
            shell
        }
    };
    let output = output_within(TRIAL_TIMEOUT, command.args(arguments), &client.sample.replace("COMMAND", text));
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Gives a short input to a command, and kills it with all that it has started if it does not end in time.
fn output_within(time: Duration, command: &mut Command, input: &str) -> io::Result<Output> {
    let (mut child, group) = start(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook that ends without reading shows that by its status.
        let _ = stdin.write_all(input.as_bytes());
    }
    let (send, ended) = channel();
    thread::spawn(move || send.send(child.wait_with_output()));
    ended.recv_timeout(time).unwrap_or_else(|_| {
        group.kill();
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {} s", time.as_secs())))
    })
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_leaves_a_program_behind_does_not_stop_doctor() {
        let mut shell = Command::new("sh");
        let slow = output_within(Duration::from_millis(200), shell.args(["-c", "sleep 600 & echo x"]), "{}");
        assert_eq!(slow.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let mut shell = Command::new("sh");
        let quick = output_within(Duration::from_secs(600), shell.args(["-c", "cat; exit 2"]), "{}").unwrap();
        assert_eq!((quick.status.code(), &quick.stdout[..]), (Some(2), &b"{}"[..]));
    }
}
