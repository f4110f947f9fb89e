//! What the browsers that an agent drives from its shell have shown: their last snapshots, in a private, locked file for
//! each session of a harness.
//!
//! A page is taken only from the output of a text that is one simple command of the browser, and counts only for such a
//! text. All pages are forgotten when a call is judged that may change one, before the call runs: it may fail, or never
//! be reported. The file is an agent's to forge, if it has a shell of the same user (SECURITY.md).

use super::session_file::SessionFile;
use pipewright_policy::builtin::Builtin;
use pipewright_policy::builtin::browsers::shell_text;
use pipewright_policy::builtin::shell::browser::{BrowserAction, is_browser};
use pipewright_policy::builtin::shell::browser_command;
use pipewright_policy::snapshot::printed;
use pipewright_record::hook::{HookCall, HookResult, OwnToolUse};
use pipewright_record::{Call, Fields};
use pipewright_sys::run_folder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

/// What the session's file is for.
const PURPOSE: &str = "browser-pages";
/// A longer page is not kept.
const MAX_PAGE: usize = 1 << 20;
/// As many calls for a snapshot may be open.
const MAX_OPEN: usize = 100;

/// What the file has.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Pages {
    /// By the folder and the browser.
    shown: BTreeMap<String, String>,
    /// The ids of calls for a snapshot that have not ended, and whether another call may have changed the page since.
    open: Vec<(String, bool)>,
}

impl Pages {
    /// A file that cannot be read has no pages.
    fn read(file: &mut SessionFile) -> io::Result<Pages> {
        Ok(serde_json::from_str(&file.text()?).unwrap_or_default())
    }

    fn write(&self, file: &mut SessionFile) -> io::Result<()> {
        file.replace(&serde_json::to_string(self)?)
    }

    fn forget(&mut self) {
        self.shown.clear();
        self.open.iter_mut().for_each(|(_, is_stale)| *is_stale = true);
    }

    fn begin(&mut self, id: String) {
        self.shown.clear();
        self.open.retain(|(open, _)| *open != id);
        if self.open.len() == MAX_OPEN {
            self.open.remove(0);
        }
        self.open.push((id, false));
    }

    /// Whether the call's page may be another one by now, as it may if its begin is not known.
    fn end(&mut self, id: &str) -> bool {
        self.shown.clear();
        let at = self.open.iter().position(|(open, _)| open == id);
        at.is_none_or(|at| self.open.remove(at).1)
    }
}

/// Takes a call that is judged: forgets the pages, unless it only looks. Gives the browser, and what it has shown before,
/// if the call is one simple command of it.
///
/// # Errors
/// The pages cannot be forgotten.
pub fn judged(hook: &HookCall, builtin: &Builtin) -> io::Result<Option<(String, String)>> {
    let call = hook.call().map_err(|why| io::Error::other(why.to_string()))?;
    if hook.session.is_none() || builtin.keeps_pages(&call) {
        return Ok(None);
    }
    // Without the folder for such files there are no pages.
    if run_folder::home().is_err() && !shell_text(&call).is_some_and(|text| names_browser(&text)) {
        return Ok(None);
    }
    let command = shell_alone(hook, &call).and_then(|text| browser_command(&text));
    let is_snapshot = command.as_ref().is_some_and(|command| command.action == BrowserAction::Snapshot);
    let mut file = match SessionFile::open_existing(PURPOSE, hook)? {
        Some(file) => file,
        // Without a file, its output is not taken either.
        None if is_snapshot => match SessionFile::open(PURPOSE, hook) {
            Ok(file) => file,
            Err(_) => return Ok(None),
        },
        None => return Ok(None),
    };
    let mut pages = Pages::read(&mut file)?;
    let shown = command.and_then(|command| {
        let page = pages.shown.remove(&key(hook, &command.browser))?;
        Some((command.browser, page))
    });
    match is_snapshot {
        true => pages.begin(id(&call)),
        false => pages.forget(),
    }
    pages.write(&mut file)?;
    Ok(shown)
}

/// Takes what a call has printed, if it is a browser's. Gives whether it is.
///
/// # Errors
/// The file cannot be written.
pub fn take(result: &HookResult) -> io::Result<bool> {
    let hook = &result.call;
    let call = hook.call().map_err(|why| io::Error::other(why.to_string()))?;
    if !shell_text(&call).is_some_and(|text| names_browser(&text)) {
        return Ok(false);
    }
    let command = shell_alone(hook, &call).and_then(|text| browser_command(&text));
    let is_snapshot = match command.as_ref().map(|command| &command.action) {
        Some(BrowserAction::Look) => return Ok(true),
        action => action == Some(&BrowserAction::Snapshot),
    };
    let mut file = SessionFile::open(PURPOSE, hook)?;
    let mut pages = Pages::read(&mut file)?;
    match command.filter(|_| is_snapshot) {
        Some(command) => {
            let is_stale = pages.end(&id(&call));
            let program = command.browser.split(' ').next().unwrap_or_default();
            let output = result.output.as_ref().filter(|output| !is_stale && output.len() <= MAX_PAGE);
            if let Some(page) = output.and_then(|output| printed::page(program, output)) {
                pages.shown.insert(key(hook, &command.browser), page);
            }
        }
        None => pages.forget(),
    }
    pages.write(&mut file)?;
    Ok(true)
}

/// A browser's sessions may belong to the folder in which its command runs.
fn key(hook: &HookCall, browser: &str) -> String {
    format!("{}\n{browser}", hook.folder.as_deref().unwrap_or_default())
}

fn id(call: &Call<'_>) -> String {
    call.id.map_or(String::new(), |id| id.get().to_owned())
}

fn names_browser(text: &str) -> bool {
    text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '-')).any(is_browser)
}

/// The text that the harness's own shell runs, if no other argument tells it where or how.
fn shell_alone(hook: &HookCall, call: &Call<'_>) -> Option<String> {
    let arguments = Fields::read(call.arguments_text()).ok()?;
    let is_alone = arguments.iter().all(|(key, value)| {
        matches!(key, "command" | "description" | "timeout") || matches!(value.get(), "false" | "null")
    });
    let is_shell = matches!(hook.harness.own_tool(&call.tool), Some(OwnToolUse::Runs(_)));
    arguments.text("command").filter(|_| is_alone && is_shell)
}
