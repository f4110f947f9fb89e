//! `policy-check hooks install`: prints the settings with which a harness runs `policy-check hook`, or writes them.

use super::settings::{merged, skeleton};
use super::{ASKER, CLIENTS, Client, Layout, NAME};
use crate::cmd::usage;
use crate::cmd::working_tree::home;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_sys::descriptor::stdout;
use pipewright_sys::private;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct HooksArguments {
    #[command(subcommand)]
    action: HooksAction,
}

#[derive(Debug, clap::Subcommand)]
enum HooksAction {
    /// Print the settings of a harness that runs the hook, or write them
    Install(InstallArguments),
}

#[derive(Debug, clap::Args)]
struct InstallArguments {
    /// The harness
    #[arg(value_name = "CLIENT", value_parser = client_names())]
    client: String,
    /// Merge the settings into the file, and keep a copy of the former file beside it
    #[arg(long)]
    write: bool,
    /// Use the file of this project's folder, and not the user's
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
}

fn client_names() -> clap::builder::PossibleValuesParser {
    CLIENTS.iter().map(|client| client.name).collect::<Vec<_>>().into()
}

/// Prints or writes the settings.
pub fn run(arguments: &HooksArguments, report: &Report) -> Result<Status, Failure> {
    let HooksAction::Install(own) = &arguments.action;
    let Some(client) = CLIENTS.iter().find(|client| client.name == own.client) else {
        return Err(usage(format_args!("{}: not a known harness", own.client)));
    };
    let path = path(client, own)?;
    let failed = |why: &dyn std::fmt::Display| usage(format_args!("{}: {why}", path.display()));
    let programs = Programs { judge: program(NAME).map_err(|error| failed(&error))?, asker: program(ASKER).ok() };
    let former = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(&error)),
    };
    if !own.write {
        let settings = new_text(client, None, &programs).map_err(|why| failed(&why))?;
        print(&settings)?;
        report.note(format_args!("for {}; --write merges it into that file", path.display()));
    } else {
        is_writable(&path, former.is_some()).map_err(|why| failed(&why))?;
        let settings = new_text(client, former.as_deref(), &programs).map_err(|why| failed(&why))?;
        if former.as_deref() == Some(&settings) {
            report.note(format_args!("{}: it has these settings already", path.display()));
        } else {
            let backup = write(&path, &settings, former.is_some(), client).map_err(|error| failed(&error))?;
            let kept = backup.map_or(String::new(), |backup| format!("; the former file is {}", backup.display()));
            report.note(format_args!("{}: written{kept}", path.display()));
        }
    }
    report.note(client.note);
    Ok(report.finish())
}

fn path(client: &Client, own: &InstallArguments) -> Result<PathBuf, Failure> {
    match (&own.project, client.user_file) {
        (Some(folder), _) => Ok(folder.join(client.project_file)),
        (None, Some(_)) => match client.user_path(home().as_deref()) {
            Some(path) => Ok(path),
            None => Err(usage("the home folder is not known: name a project with --project FOLDER")),
        },
        (None, None) => Ok(PathBuf::from(client.project_file)),
    }
}

/// The programs that hooks run, for a shell.
struct Programs {
    judge: String,
    /// If it is installed.
    asker: Option<String>,
}

/// The new text of the file.
fn new_text(client: &Client, former: Option<&str>, programs: &Programs) -> Result<String, String> {
    let program = &programs.judge;
    if let Layout::Program(text) = client.layout {
        return match former {
            Some(former) if former != text(program) && !client.is_written_by_us(former) => {
                let why = "another hook is there, or one that was changed, and is left as it is";
                Err(format!("{why}: call `policy-check hook` from it, or remove it"))
            }
            _ => Ok(text(program)),
        };
    }
    let former_value: Value = match former.map(str::trim).filter(|former| !former.is_empty()) {
        Some(former) => {
            let value: Value = serde_json::from_str(former)
                .map_err(|error| format!("it is not JSON, and is left as it is ({error}): add the settings by hand"))?;
            if skeleton(former) != skeleton(&value.to_string()) {
                let why = "it has a key twice, or a number that would be written in another way";
                return Err(format!("{why}, and is left as it is: add the settings by hand"));
            }
            value
        }
        None => json!({}),
    };
    let settings = merged(&former_value, client, program, programs.asker.as_deref())?;
    match former {
        // How the file is written is its owner's.
        Some(former) if settings == former_value => Ok(former.to_owned()),
        _ => Ok(format!("{settings:#}\n")),
    }
}

/// Refuses a file that is read-only, or a link that leads nowhere.
fn is_writable(path: &Path, exists: bool) -> Result<(), String> {
    match fs::metadata(path) {
        Ok(file) if file.permissions().readonly() => Err("it is read-only, and is left as it is".to_owned()),
        Err(_) if !exists && path.is_symlink() => {
            Err("it is a link to a file that does not exist, and is left as it is".to_owned())
        }
        _ => Ok(()),
    }
}

/// Writes the file in place of the former one, whose copy it returns.
fn write(path: &Path, text: &str, exists: bool, client: &Client) -> io::Result<Option<PathBuf>> {
    // A link to the file stays a link.
    let path = if exists { path.canonicalize()? } else { path.to_owned() };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let backup = if exists { Some(copy(&path)?) } else { None };
    let new = beside(&path, &format!(".new-{}", std::process::id()));
    let mut file = private::file().write(true).create_new(true).open(&new)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| {
        if exists {
            fs::set_permissions(&new, fs::metadata(&path)?.permissions())?;
        }
        if matches!(client.layout, Layout::Program(_)) {
            pipewright_sys::file::make_executable(&new)?;
        }
        fs::rename(&new, &path)
    });
    if written.is_err() {
        // It has no content that is needed.
        let _ = fs::remove_file(&new);
    }
    written.map(|()| backup)
}

/// Copies a file to a new one beside it.
fn copy(path: &Path) -> io::Result<PathBuf> {
    let names = std::iter::once(".bak".to_owned()).chain((1..).map(|number| format!(".bak{number}")));
    for name in names {
        let backup = beside(path, &name);
        match private::file().write(true).create_new(true).open(&backup) {
            Ok(_) => return fs::copy(path, &backup).map(|_| backup),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// This program, or another one in its folder, for a shell: its name if the `PATH` leads to it.
pub(super) fn program(name: &str) -> io::Result<String> {
    let own = std::env::current_exe()?;
    let mut own = own.canonicalize().unwrap_or(own);
    if name != NAME {
        own = own.with_file_name(name).with_extension(std::env::consts::EXE_EXTENSION).canonicalize()?;
    }
    let file_name = own.file_name().unwrap_or_default().to_owned();
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(&file_name)).find(|path| path.is_file());
    let is_own = found.and_then(|path| path.canonicalize().ok()).is_some_and(|path| path == own);
    let text = if is_own { file_name.to_string_lossy().into_owned() } else { own.to_string_lossy().into_owned() };
    Ok(shlex::try_quote(&text).map_or(text.clone(), |quoted| quoted.into_owned()))
}

pub(super) fn print(text: &str) -> Result<(), Failure> {
    match stdout().and_then(|mut stdout| stdout.write_all(text.as_bytes())) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Status::Fault, format_args!("stdout: {error}")))
        }
        _ => Ok(()),
    }
}
