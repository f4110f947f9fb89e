//! What the browsers that an agent drives from its shell have shown: their last snapshots, in a private, locked file for
//! each session of a harness.
//!
//! A page is taken only from the output of a text that is one simple command of the browser, or from the file that the
//! browser writes. Both are an agent's to forge, if it has a shell of the same user (SECURITY.md).

use super::session_file::SessionFile;
use pipewright_policy::builtin::shell::browser::{BrowserAction, BrowserCommand, is_browser};
use pipewright_policy::builtin::shell::browser_command;
use pipewright_record::Fields;
use pipewright_record::hook::{HookCall, HookResult};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What the session's file is for.
const PURPOSE: &str = "browser-pages";
/// A longer page is not kept.
const MAX_PAGE: usize = 1 << 20;
/// Where playwright-cli writes its snapshots, below the folder in which it runs.
const PLAYWRIGHT_FOLDER: &str = ".playwright-cli";
/// The browser of playwright-cli without further options.
const PLAYWRIGHT: &str = "playwright-cli";

type Pages = BTreeMap<String, String>;

/// The pages that a session's browsers have shown last.
pub fn shown(hook: &HookCall) -> Pages {
    let Some(text) = shell_text(hook).filter(|text| names_browser(text)) else { return Pages::new() };
    // Without its page, an element is not known, and is asked about.
    let mut pages = read(&SessionFile::read(PURPOSE, hook));
    if text.contains(PLAYWRIGHT)
        && let Some(page) = hook.folder.as_deref().and_then(|folder| newest(Path::new(folder)))
    {
        pages.insert(PLAYWRIGHT.to_owned(), page);
    }
    pages
}

/// Takes what a call has printed, if it is a browser's. Gives whether it is.
///
/// # Errors
/// The file cannot be written.
pub fn take(result: &HookResult) -> io::Result<bool> {
    let Some(text) = shell_text(&result.call).filter(|text| names_browser(text)) else { return Ok(false) };
    let command = browser_command(&text);
    if command.as_ref().is_some_and(|command| command.action != BrowserAction::Snapshot && !command.leads_elsewhere()) {
        return Ok(true);
    }
    let mut file = SessionFile::open(PURPOSE, &result.call)?;
    let mut pages = read(&file.text()?);
    match command {
        Some(BrowserCommand { browser, action: BrowserAction::Snapshot }) => match page(&result.output) {
            Some(page) => _ = pages.insert(browser, page),
            None => _ = pages.remove(&browser),
        },
        Some(command) => _ = pages.remove(&command.browser),
        // The text may have done anything with any of them.
        None => pages.clear(),
    }
    file.replace(&serde_json::to_string(&pages)?)?;
    Ok(true)
}

/// A file that cannot be read has no pages.
fn read(text: &str) -> Pages {
    serde_json::from_str(text).unwrap_or_default()
}

fn names_browser(text: &str) -> bool {
    text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '-')).any(is_browser)
}

/// The shell's text of a call.
fn shell_text(hook: &HookCall) -> Option<String> {
    let fields = Fields::read(hook.call().ok()?.arguments_text()).ok()?.text("command");
    fields.or_else(|| {
        let call = hook.call().ok()?;
        let texts = Fields::read(call.arguments_text()).ok()?.list("commands").ok()?;
        let texts: Option<Vec<String>> = texts.iter().map(|text| serde_json::from_str(text.get()).ok()).collect();
        Some(texts?.join("\n"))
    })
}

/// The lines of a snapshot in the output of the command.
fn page(output: &str) -> Option<String> {
    let page = match serde_json::from_str::<Value>(output) {
        Ok(value) => value.pointer("/data/snapshot").and_then(Value::as_str)?.to_owned(),
        Err(_) => output.to_owned(),
    };
    Some(page).filter(|page| page.len() <= MAX_PAGE && page.contains("[ref="))
}

/// The newest snapshot that playwright-cli has written in a folder.
fn newest(folder: &Path) -> Option<String> {
    let is_page = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("page-") && name.ends_with(".yml") && path.symlink_metadata().is_ok_and(|file| file.is_file())
    };
    let files = fs::read_dir(folder.join(PLAYWRIGHT_FOLDER)).ok()?.flatten().map(|entry| entry.path());
    let path = files.filter(is_page).max_by_key(|path| path.metadata().and_then(|file| file.modified()).ok())?;
    let mut page = String::new();
    File::open(path).ok()?.take(MAX_PAGE as u64).read_to_string(&mut page).ok()?;
    Some(page)
}
