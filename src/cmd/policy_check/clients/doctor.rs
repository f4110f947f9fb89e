//! `policy-check doctor`: which harnesses run the hook, and whether it works there.

use super::install::print;
use super::settings::{command, ours};
use super::{CLIENTS, Client, Layout};
use crate::cmd::working_tree::home;
use pipewright_io::printable::printable;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_record::hook::{HookAnswer, HookInput, WrittenAnswer, read};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub struct DoctorArguments {
    /// The folder of the project whose settings are read besides the user's
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    project: PathBuf,
}

/// The calls that are tried.
const HARMLESS: &str = "ls";
const DANGEROUS: &str = "rm -rf build";
/// A hook takes a few milliseconds.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(30);

/// A hook in a file.
struct Installed {
    file: PathBuf,
    /// A shell's text, or a program with its arguments.
    command: (String, Vec<String>),
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
            faults.extend(trials(client, &hook));
            let file = printable(&hook.file.display().to_string()).into_owned();
            let state = if faults.is_empty() { "guarded" } else { "faulty" };
            let says = match faults.is_empty() {
                true => format!(
                    "`{HARMLESS}` passes, `{DANGEROUS}` is {}",
                    if asks(client) { "asked about" } else { "denied" }
                ),
                false => faults.join("; "),
            };
            // Writing to a String can't fail.
            let _ = writeln!(table, "{:9} {state:11}  {file}: {says}", client.name);
            let _ = writeln!(table, "{:9} {:11}  not seen: {}", "", "", client.blind);
            if !faults.is_empty() {
                report.fail();
            }
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

/// Our hooks in the files of a harness.
fn installed(client: &Client, home: Option<&Path>, project: &Path, report: &Report) -> Vec<Installed> {
    let mut found = Vec::new();
    let mut files = client.files(home, project);
    files.dedup_by_key(|file| file.canonicalize().unwrap_or_else(|_| file.clone()));
    for file in files {
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => continue,
            Err(error) => {
                report.fault(file.display(), error);
                continue;
            }
        };
        match &client.layout {
            Layout::Program(_) if text.contains("policy-check") => {
                let program = file.canonicalize().unwrap_or_else(|_| file.clone());
                let faults = match pipewright_sys::file::is_executable(&program) || client.name == "opencode" {
                    true => vec![],
                    false => vec!["the file is not executable"],
                };
                found.push(Installed { command: (program.display().to_string(), vec![]), file, faults });
            }
            Layout::Program(_) => {}
            Layout::Groups { events, .. } | Layout::Flat { events, .. } => match serde_json::from_str::<Value>(&text) {
                Ok(settings) => found.extend(in_settings(client, &file, &settings, events)),
                Err(error) => report.fault(file.display(), format_args!("not JSON: {error}")),
            },
        }
    }
    found
}

fn in_settings(client: &Client, file: &Path, settings: &Value, events: &[&str]) -> Option<Installed> {
    let mut faults = Vec::new();
    if settings["disableAllHooks"] == true || settings["hooksConfig"]["enabled"] == false {
        faults.push("the settings switch hooks off");
    }
    let mut hooks = events.iter().map(|event| ours(settings, event)).collect::<Vec<_>>();
    let first = hooks.iter().flatten().next().map(|(hook, _)| (*hook).clone())?;
    if hooks.iter().any(Vec::is_empty) {
        faults.push("not every event has the hook: install it again");
    }
    if client.name == "qwen" && hooks.iter().flatten().any(|(_, is_last)| !is_last) {
        faults.push("another hook behind it decides");
    }
    let is_closed = |hook: &Value| match client.name {
        "claude" => hook["onFailure"] == "block",
        "cursor" => hook["failClosed"] == true,
        "codex" | "gemini" | "qwen" => command(hook).0.contains("exit 2"),
        _ => true,
    };
    if hooks.iter_mut().flatten().any(|(hook, _)| !is_closed(hook)) {
        faults.push("a hook that fails lets the call run: install it again");
    }
    Some(Installed { file: file.to_owned(), command: command(&first), faults })
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
fn trials(client: &Client, hook: &Installed) -> Vec<String> {
    // The plugin itself runs only in OpenCode.
    let command = match client.name {
        "opencode" => match std::env::current_exe() {
            Ok(own) => (own.display().to_string(), ["hook", "--for", "opencode"].map(str::to_owned).to_vec()),
            Err(error) => return vec![error.to_string()],
        },
        _ => hook.command.clone(),
    };
    let tried = |text: &str| answer(&command, client, text);
    let mut wrong = Vec::new();
    match tried(HARMLESS) {
        Ok((0, answer)) if is_free(client, &answer) => {}
        Ok((status, answer)) => {
            wrong.push(format!("`{HARMLESS}` does not pass: status {status}, {}", printable(answer.trim())))
        }
        Err(why) => wrong.push(format!("`{HARMLESS}`: {why}")),
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
fn answer((program, arguments): &(String, Vec<String>), client: &Client, text: &str) -> Result<(i32, String), String> {
    let failed = |error: io::Error| format!("{program}: {error}");
    let mut command = match (arguments.is_empty(), &client.layout) {
        (false, _) | (true, Layout::Program(_)) => Command::new(program),
        (true, _) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", program]);
            shell
        }
    };
    let child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook that ends without reading shows that by its status.
        let _ = stdin.write_all(client.sample.replace("COMMAND", text).as_bytes());
    }
    let status = wait(&mut child).map_err(failed)?;
    let mut answer = String::new();
    let stdout = child.stdout.take().map_or(Ok(0), |mut stdout| stdout.read_to_string(&mut answer));
    stdout.map_err(failed)?;
    Ok((status, answer))
}

fn wait(child: &mut Child) -> io::Result<i32> {
    let until = Instant::now() + TRIAL_TIMEOUT;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code().unwrap_or(-1));
        }
        if Instant::now() > until {
            child.kill()?;
            return Err(io::ErrorKind::TimedOut.into());
        }
        thread::sleep(Duration::from_millis(5));
    }
}
