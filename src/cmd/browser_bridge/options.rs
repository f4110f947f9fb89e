//! Which browser, and what it may do.

use super::store;
use super::worker::Start;
use crate::io::private;
use crate::io::report::{Failure, Status};
use clap::ValueEnum;
use pipewright_browser::tools::{Session, Settings};
use pipewright_browser::{Browser, Launch, Settle};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Which browser, and what it may do.
#[derive(Debug, clap::Args)]
pub struct BrowserOptions {
    /// Open this address first; its origin is allowed even if it is this machine or a private network
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// Show no window; the default where there is no display
    #[arg(long, conflicts_with = "headed", help_heading = "Browser")]
    headless: bool,
    /// Show a window, which a person can use at the same time; the default where there is a display
    #[arg(long, help_heading = "Browser")]
    headed: bool,
    /// The browser's program [default: chromium, google-chrome and their like on PATH]
    #[arg(long, value_name = "PATH", help_heading = "Browser")]
    browser: Option<PathBuf>,
    /// Keep the profile (logins, history) in this folder; by default it is a new one that is removed at the end
    #[arg(long, value_name = "DIR", help_heading = "Browser")]
    user_data: Option<PathBuf>,

    /// Save files that pages offer for download in this folder; without it they are refused
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    download_dir: Option<PathBuf>,
    /// Let browser_upload use the files in this folder; without it uploads are refused
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    upload_root: Option<PathBuf>,
    /// Save screenshots and PDFs in this folder [default: a new folder in that for temporary files, which stays]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    save_media: Option<PathBuf>,

    /// Offer browser_evaluate, which runs JavaScript in pages
    #[arg(long, help_heading = "Permissions")]
    pub(super) allow_evaluate: bool,
}

/// What is waited for behind an action.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Settling {
    None,
    Dom,
    Network,
    Fixed,
}

/// The first page may take so long.
const FIRST_PAGE: Duration = Duration::from_secs(30);

impl BrowserOptions {
    /// What starts the browser, each time anew.
    ///
    /// # Errors
    /// [`Status::Usage`]: a folder cannot be used.
    pub fn start(self, settle: Settling, pause: Duration) -> Result<Start, Failure> {
        let settle = match settle {
            Settling::None => Settle::None,
            Settling::Dom => Settle::Dom,
            Settling::Network => Settle::Network,
            Settling::Fixed => Settle::Fixed(pause),
        };
        let downloads = self.download_dir.as_deref().map(|folder| made("--download-dir", folder)).transpose()?;
        let uploads = self.upload_root.as_deref().map(|folder| found("--upload-root", folder)).transpose()?;
        let has_display = ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        let launch = Launch {
            program: self.browser,
            is_headed: self.headed || (has_display && !self.headless),
            profile: self.user_data,
            ..Launch::default()
        };
        let (url, evaluates, media) = (self.url, self.allow_evaluate, self.save_media);
        Ok(Arc::new(move || {
            let browser = Browser::start(&launch).map_err(|why| why.to_string())?;
            let settings = Settings {
                settle,
                pause,
                downloads: downloads.clone(),
                uploads: uploads.clone(),
                evaluates,
                store: Box::new(store(media.clone())),
            };
            let until = Instant::now() + FIRST_PAGE;
            let mut session = Session::new(browser, settings, until).map_err(|why| why.to_string())?;
            if let Some(url) = &url {
                session.open(url, until).map_err(|problem| format!("{url}: {}", problem.message))?;
            }
            Ok(session)
        }))
    }
}

/// A folder that is made where it is not there.
fn made(option: &str, folder: &Path) -> Result<PathBuf, Failure> {
    let created = private::folder().recursive(true).create(folder);
    created.map_err(|error| Failure::new(Status::Usage, format_args!("{option}: {}: {error}", folder.display())))?;
    found(option, folder)
}

/// A folder that has to be there, by its absolute path.
fn found(option: &str, folder: &Path) -> Result<PathBuf, Failure> {
    let usage = |why: &dyn std::fmt::Display| {
        Failure::new(Status::Usage, format_args!("{option}: {}: {why}", folder.display()))
    };
    let path = folder.canonicalize().map_err(|error| usage(&error))?;
    match path.is_dir() {
        true => Ok(path),
        false => Err(usage(&"it is not a folder")),
    }
}
