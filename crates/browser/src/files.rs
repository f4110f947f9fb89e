//! Uploads to a page, and downloads from it.

use crate::wire::Event;
use crate::{ActionError, Browser};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// The browser's id of it.
    pub(crate) id: String,
    /// Its address.
    pub url: String,
    /// The name that the page suggests, cleaned: no folder, no control characters, not hidden.
    pub name: String,
    /// Bytes received so far.
    pub received: u64,
    /// Its state.
    pub state: DownloadState,
}

/// The state of a download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadState {
    /// In progress.
    UnderWay,
    /// Complete.
    Done,
    /// Cancelled.
    Cancelled,
}

/// The downloads of a browser, and their folder.
#[derive(Debug, Default)]
pub(crate) struct Downloads {
    folder: Option<PathBuf>,
    /// Those that no call has taken yet.
    all: Vec<Download>,
}

/// Removes incomplete downloads. By then the browser has ended.
impl Drop for Downloads {
    fn drop(&mut self) {
        let Some(folder) = &self.folder else { return };
        for download in self.all.iter().filter(|download| download.state == DownloadState::UnderWay) {
            let _ = fs::remove_file(folder.join(&download.id));
            let _ = fs::remove_file(folder.join(format!("{}.crdownload", download.id)));
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DownloadWillBegin {
    guid: String,
    url: String,
    suggested_filename: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DownloadProgress {
    guid: String,
    received_bytes: f64,
    state: String,
}

impl Downloads {
    pub(crate) fn take(&mut self, event: &Event) -> Option<()> {
        match event.method.as_str() {
            "Browser.downloadWillBegin" => {
                let DownloadWillBegin { guid, url, suggested_filename } =
                    serde_json::from_str(event.params.get()).ok()?;
                let name = clean(&suggested_filename);
                self.all.push(Download { id: guid, url, name, received: 0, state: DownloadState::UnderWay });
            }
            "Browser.downloadProgress" => {
                let DownloadProgress { guid, received_bytes, state } = serde_json::from_str(event.params.get()).ok()?;
                let download = self.all.iter_mut().find(|download| download.id == guid)?;
                download.received = received_bytes as u64;
                download.state = match state.as_str() {
                    "completed" => DownloadState::Done,
                    "canceled" => DownloadState::Cancelled,
                    _ => DownloadState::UnderWay,
                };
            }
            _ => {}
        }
        Some(())
    }
}

impl Browser {
    /// Allows downloads to this folder; without one they are refused.
    ///
    /// # Errors
    /// The browser refuses the folder.
    pub fn set_downloads(&mut self, folder: Option<&Path>, until: Instant) -> Result<(), ActionError> {
        let asked = match folder {
            // Saved under its id at first: a suggested name could be that of another file.
            Some(folder) => json!({"behavior": "allowAndName", "downloadPath": folder, "eventsEnabled": true}),
            None => json!({"behavior": "deny", "eventsEnabled": true}),
        };
        let IgnoredAny = self.call_browser("Browser.setDownloadBehavior", &asked, until)?;
        self.downloads.folder = folder.map(Path::to_owned);
        Ok(())
    }

    /// The downloads that no call has taken yet.
    pub fn downloads_seen(&self) -> &[Download] {
        &self.downloads.all
    }

    /// The browser's ids of them.
    pub(crate) fn download_ids(&self) -> Vec<String> {
        self.downloads.all.iter().map(|download| download.id.clone()).collect()
    }

    /// Waits for the first download that no call has taken, including one that finished earlier, and returns it with
    /// its file. Those with an id in `but` are left for later.
    ///
    /// # Errors
    /// [`ActionError::Late`]: there is none, or it is not complete in time.
    pub fn download(&mut self, but: &[String], until: Instant) -> Result<(Download, io::Result<PathBuf>), ActionError> {
        loop {
            let done = |download: &Download| download.state != DownloadState::UnderWay && !but.contains(&download.id);
            if let Some(place) = self.downloads.all.iter().position(done) {
                let download = self.downloads.all.remove(place);
                let folder = self.downloads.folder.clone().unwrap_or_default();
                let path = keep(&folder, &download);
                return Ok((download, path));
            }
            self.take_next(until)?;
        }
    }
}

/// Gives a download its name, or a numbered one if that is taken.
fn keep(folder: &Path, download: &Download) -> io::Result<PathBuf> {
    let arrived = folder.join(&download.id);
    if download.state == DownloadState::Cancelled {
        let _ = fs::remove_file(&arrived);
        return Err(io::Error::new(io::ErrorKind::Interrupted, "the download was cancelled"));
    }
    let (stem, extension) = match download.name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        _ => (download.name.as_str(), String::new()),
    };
    for number in 1..=MAX_COPIES {
        let name = if number == 1 { download.name.clone() } else { format!("{stem} ({number}){extension}") };
        let path = folder.join(name);
        // A hard link is created only if the name is free.
        match fs::hard_link(&arrived, &path) {
            Ok(()) => return fs::remove_file(&arrived).map(|()| path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("there are already {MAX_COPIES} files with the name {:?}", download.name),
    ))
}

/// How many files of the same name are kept.
const MAX_COPIES: u32 = 1000;

/// The longest file name, in bytes: with a number added, most file systems still accept it.
const MAX_NAME: usize = 200;

/// Makes a file name from one that a page suggests.
fn clean(suggested: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = last.chars().map(|one| if one.is_control() || one == '\u{202e}' { '_' } else { one }).collect();
    let plain = plain.trim_start_matches(|one: char| one == '.' || one.is_whitespace()).trim_end();
    let mut end = plain.len().min(MAX_NAME);
    while !plain.is_char_boundary(end) {
        end -= 1;
    }
    match &plain[..end] {
        "" => "download".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_cleaned() {
        for (suggested, name) in [
            ("a.pdf", "a.pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\x\\y.exe", "y.exe"),
            (".bashrc", "bashrc"),
            ("..", "download"),
            ("\u{a0}.", "download"),
            ("", "download"),
            ("a\nb\u{202e}fdp.exe", "a_b_fdp.exe"),
            ("счёт.pdf", "счёт.pdf"),
        ] {
            assert_eq!(clean(suggested), name, "{suggested:?}");
        }
    }

    proptest! {
        #[test]
        fn a_name_stays_in_its_folder(suggested in ".{0,300}") {
            let name = clean(&suggested);
            prop_assert!(!name.is_empty() && name.len() <= MAX_NAME && !name.starts_with('.') && !name.contains(['/', '\0']));
        }
    }
}
