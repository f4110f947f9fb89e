//! Downloads and uploads.

use super::deals::EffectOfPress;
use super::numbers::Number;
use super::report::ResultMembers;
use super::table::Arguments;
use super::{Problem, ProblemKind, ToolResult, ToolSession};
use crate::{ActionError, Download, DownloadState};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClickAndWait {
    /// The number of the element to click.
    id: Number,
    /// How long the download may take, in milliseconds.
    #[serde(default = "patience")]
    timeout_ms: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    /// How long the download may take, in milliseconds.
    #[serde(default = "patience")]
    timeout_ms: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Upload {
    /// The number of a file input, of an element that opens a file chooser, or of a place to drop files. Without it, the file chooser
    /// that the last action has opened is answered.
    id: Option<Number>,
    /// Paths of the files, absolute or below the folder for uploads.
    files: Vec<PathBuf>,
}

fn patience() -> u64 {
    30_000
}

fn within(timeout_ms: u64, until: Instant) -> Instant {
    (Instant::now() + Duration::from_millis(timeout_ms.min(86_400_000))).min(until)
}

/// A download, as results show it.
pub(super) fn download(download: &Download) -> Value {
    let state = match download.state {
        DownloadState::UnderWay => "under_way",
        DownloadState::Done => "done",
        DownloadState::Cancelled => "cancelled",
    };
    json!({"filename": download.name, "state": state, "received": download.received})
}

impl Arguments for ClickAndWait {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        session.needs_download_folder()?;
        let index = session.element(self.id, None, until)?;
        // An earlier download is not the one that the click starts.
        let before = session.browser.download_ids();
        let clicked = session.click_checked(index, until).map_err(Problem::from);
        clicked.map_err(|problem| session.with_deals(problem, Some(index), until))?;
        session.wait_for_download(&before, within(self.timeout_ms, until))
    }
}

impl Arguments for Wait {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        session.needs_download_folder()?;
        session.wait_for_download(&[], within(self.timeout_ms, until))
    }
}

impl Arguments for Upload {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let index = match self.id {
            Some(number) => Some(session.element(number, None, until)?),
            None if session.browser.file_chooser().is_some() => None,
            None => {
                let why = "no file chooser is open: give the number of the element as \"id\"";
                return Err(Problem::new(ProblemKind::NotFound, why).with_code("no_file_chooser"));
            }
        };
        let Some(root) = session.settings.uploads.clone() else {
            let why = "uploads are refused: start the browser with a folder for uploads";
            return Err(Problem::new(ProblemKind::Denied, why));
        };
        let files = self.files.iter().map(|file| allowed(&root, file)).collect::<Result<Vec<PathBuf>, Problem>>()?;
        let report = ResultMembers::default().with("uploaded", files.len());
        let Some(index) = index else {
            // Another action would forget the chooser.
            session.browser.choose_files(&files, until)?;
            return Ok(report.and(session.shown(until)?));
        };
        let report = report.with("id", index.to_string());
        let uploaded = session.act_on(None, until, report, |session| {
            session.press_checked(index, EffectOfPress::Presses, until, |browser| browser.upload(index, &files, until))
        });
        uploaded.map_err(|problem| session.with_deals(problem, Some(index), until))
    }
}

/// The file with links resolved, if it is below the folder.
fn allowed(root: &Path, file: &Path) -> Result<PathBuf, Problem> {
    let shown = file.display();
    let system = |error: std::io::Error| Problem::new(ProblemKind::NotFound, format!("{shown}: {error}"));
    let root = root.canonicalize().map_err(system)?;
    let path = root.join(file).canonicalize().map_err(system)?;
    if !path.starts_with(&root) {
        return Err(Problem::new(ProblemKind::Denied, format!("{shown} is not in the folder for uploads")));
    }
    match path.is_file() {
        true => Ok(path),
        false => Err(Problem::new(ProblemKind::NotFound, format!("{shown} is not a file"))),
    }
}

impl ToolSession {
    fn needs_download_folder(&self) -> Result<(), Problem> {
        match self.settings.downloads {
            Some(_) => Ok(()),
            None => {
                let why = "downloads are refused: start the browser with a folder for downloads";
                Err(Problem::new(ProblemKind::Denied, why))
            }
        }
    }

    fn wait_for_download(&mut self, before: &[String], until: Instant) -> ToolResult {
        let (download, path) = match self.browser.download(before, until) {
            Err(ActionError::Late) => {
                let message = match self.browser.downloads_seen().iter().find(|download| !before.contains(&download.id))
                {
                    Some(download) => {
                        format!("{} is not complete: {} bytes received", download.name, download.received)
                    }
                    None => "no download has started".to_owned(),
                };
                return Err(Problem::new(ProblemKind::Timeout, message));
            }
            done => done?,
        };
        match path {
            Ok(path) => {
                Ok(ResultMembers::default().with("path", path.display().to_string()).with("filename", file_name(&path)))
            }
            Err(error) => Err(Problem::new(ProblemKind::ToolError, format!("{}: {error}", download.name))
                .with_code("download_failed")),
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_the_folder_are_denied_even_through_links() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        std::fs::create_dir_all(root.join("in")).unwrap();
        std::fs::write(root.join("in/a.txt"), "a").unwrap();
        std::fs::write(place.path().join("secret"), "b").unwrap();
        std::os::unix::fs::symlink(place.path().join("secret"), root.join("link")).unwrap();
        assert!(allowed(&root, Path::new("in/a.txt")).is_ok());
        assert!(allowed(&root, &root.join("in/a.txt")).is_ok());
        for (file, kind) in [
            ("link", ProblemKind::Denied),
            ("../secret", ProblemKind::Denied),
            ("/etc/passwd", ProblemKind::Denied),
            ("in", ProblemKind::NotFound),
            ("none", ProblemKind::NotFound),
        ] {
            assert_eq!(allowed(&root, Path::new(file)).unwrap_err().kind, kind, "{file}");
        }
    }
}
