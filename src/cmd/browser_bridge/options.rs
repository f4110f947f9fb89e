//! Which browser, and what it may do.

use super::har::{self, HarFile};
use super::store;
use super::worker::StartBrowser;
use crate::cmd::{environment, usage};
use clap::ValueEnum;
use pipewright_browser::tools::{SessionSettings, ToolSession, with_scheme};
use pipewright_browser::{AddressRules, Browser, DealRules, Device, Launch, PaymentSign, Routes, WaitFor};
use pipewright_io::report::Failure;
use pipewright_policy::deal;
use pipewright_sys::private;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Which browser, and what it may do.
#[derive(Debug, clap::Args)]
pub struct BrowserOptions {
    /// Open this address first; pages at its origin are allowed, even on this machine or a private network
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// Show no window; the default if there is no display
    #[arg(long, conflicts_with = "headed", help_heading = "Browser")]
    headless: bool,
    /// Show a window, which a person can use at the same time; the default if there is a display
    #[arg(long, help_heading = "Browser")]
    headed: bool,
    /// The browser to run [default: chromium, google-chrome or similar on PATH]
    #[arg(long, value_name = "PATH", help_heading = "Browser")]
    browser: Option<PathBuf>,
    /// Keep the profile (logins, history) in this folder; by default it is a new folder that is removed at the end
    #[arg(long, value_name = "DIR", help_heading = "Browser")]
    user_data: Option<PathBuf>,

    /// Use a browser that is already open, and leave it open: its profile folder, a ws:// or wss:// address, or http(s)://HOST:PORT
    #[arg(long, value_name = "WHERE", conflicts_with_all = ["headless", "headed", "browser", "user_data", "viewport", "touch", "dark", "locale", "proxy"], help_heading = "Browser")]
    attach: Option<String>,
    /// Send this header ('Name: value') to the address of --attach; ${VAR} is replaced from the environment; may be repeated
    #[arg(long, value_name = "HEADER", requires = "attach", help_heading = "Browser")]
    attach_header: Vec<String>,
    /// Size of the page, such as 1280x720
    #[arg(long, value_name = "WxH", value_parser = viewport, help_heading = "Browser")]
    viewport: Option<(u32, u32)>,
    /// Act as a touch screen, with pages laid out as on a phone (390x844 without --viewport)
    #[arg(long, help_heading = "Browser")]
    touch: bool,
    /// Ask pages for dark colours
    #[arg(long, help_heading = "Browser")]
    dark: bool,
    /// Language to request from pages, such as de-DE
    #[arg(long, value_name = "TAG", help_heading = "Browser")]
    locale: Option<String>,
    /// Proxy for all requests: http://HOST:PORT or socks5://HOST:PORT
    #[arg(long, value_name = "URL", help_heading = "Browser")]
    proxy: Option<String>,

    /// Save downloads in this folder; without it they are refused
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    download_dir: Option<PathBuf>,
    /// Let browser_upload use the files in this folder; without it uploads are refused
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    upload_root: Option<PathBuf>,
    /// Load cookies and local storage from this file, if it exists, and save them to it at the end
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    storage_state: Option<PathBuf>,
    /// Save screenshots and PDFs in this folder [default: a new folder in the temporary folder, which is kept]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    save_media: Option<PathBuf>,

    /// Answer requests from this file: one JSON object per line, with url (* stands for any text) and method, status, headers, body or body_file
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    route: Option<PathBuf>,
    /// Write the requests of all pages to this file, as HTTP Archive (HAR 1.2), without contents and with secrets masked
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    har: Option<PathBuf>,

    /// Allow pages at this origin (http://HOST:PORT, HOST or *.DOMAIN), even on this machine or a private network, which are otherwise refused; may be repeated
    #[arg(long, value_name = "ORIGIN", help_heading = "Permissions")]
    allow_origin: Vec<String>,
    /// What these permissions apply to: documents, or all that pages load, with WebSockets and WebRTC, through a proxy of our own
    #[arg(long, value_name = "WHAT", default_value = "documents", conflicts_with_all = ["attach", "proxy"], help_heading = "Permissions")]
    fence: FenceOption,
    /// Allow pages from this file or folder (file: addresses are otherwise refused); may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Permissions")]
    allow_file: Vec<PathBuf>,
    /// Offer browser_evaluate, which runs JavaScript in pages
    #[arg(long, help_heading = "Permissions")]
    pub(super) allow_evaluate: bool,
}

/// What the permissions for addresses apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FenceOption {
    Documents,
    All,
}

/// What to wait for after an action.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SettleOption {
    None,
    Dom,
    Network,
    Fixed,
}

impl SettleOption {
    /// `pause` is how long to wait with [`SettleOption::Fixed`].
    fn wait_for(self, pause: Duration) -> WaitFor {
        match self {
            SettleOption::None => WaitFor::None,
            SettleOption::Dom => WaitFor::Dom,
            SettleOption::Network => WaitFor::Network,
            SettleOption::Fixed => WaitFor::Fixed(pause),
        }
    }
}

/// What orders or pays, by the judgement of the gates.
const DEALS: DealRules = DealRules {
    payment_sign: |role, name| match deal::payment_sign(role, name) {
        deal::PaymentSign::None => PaymentSign::None,
        deal::PaymentSign::Unsure => PaymentSign::Unsure,
        deal::PaymentSign::Pays => PaymentSign::Pays,
    },
    has_amount: deal::has_amount,
    has_bare_amount: deal::has_bare_amount,
    names_total: deal::names_total,
    is_same: deal::is_same_deal,
};

/// Time limit for the first page.
const FIRST_PAGE: Duration = Duration::from_secs(30);

impl BrowserOptions {
    /// Gives the function that starts the browser, which is called for each start.
    ///
    /// # Errors
    /// [`usage`]: a file, folder, address or header cannot be used.
    pub fn starter(self, settle: SettleOption, pause: Duration) -> Result<StartBrowser, Failure> {
        let url = self.url.as_deref().map(with_scheme);
        let downloads =
            self.download_dir.as_deref().map(|folder| created_folder("--download-dir", folder)).transpose()?;
        let uploads = self.upload_root.as_deref().map(|folder| existing_folder("--upload-root", folder)).transpose()?;
        let has_display = ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        let launch = Launch {
            program: self.browser,
            is_headed: self.headed || (has_display && !self.headless),
            profile: self.user_data,
            device: Device { viewport: self.viewport, is_touch: self.touch, is_dark: self.dark.then_some(true) },
            locale: self.locale,
            proxy: self.proxy,
            is_fenced: self.fence == FenceOption::All,
            routes: self.route.as_deref().map(routes).transpose()?.unwrap_or_default(),
            allowed: allowed_addresses(url.as_deref(), &self.allow_origin, &self.allow_file)?,
            ..Launch::default()
        };
        let headers = self.attach_header.iter().map(|text| environment::header("--attach-header", text));
        let headers = headers.collect::<Result<Vec<_>, _>>()?;
        let har = self.har.map(|path| HarFile::create(&path)).transpose()?;
        let counted = Arc::default();
        Ok(Arc::new(move || {
            let browser = match &self.attach {
                Some(place) => Browser::attach(place, &headers, launch.allowed.clone(), launch.routes.clone()),
                None => Browser::start(&launch),
            };
            let browser = browser.map_err(|why| why.to_string())?;
            let settings = SessionSettings {
                settle: settle.wait_for(pause),
                pause,
                downloads: downloads.clone(),
                uploads: uploads.clone(),
                storage: self.storage_state.clone(),
                evaluates: self.allow_evaluate,
                is_same_name: pipewright_policy::detector::differ_only_in_time,
                deals: DEALS,
                mask: har::mask(),
                record: har.as_ref().map(HarFile::recorder),
                counted: Arc::clone(&counted),
                store: Box::new(store(self.save_media.clone())),
            };
            let until = Instant::now() + FIRST_PAGE;
            let mut session = ToolSession::new(browser, settings, until).map_err(|why| why.to_string())?;
            if let Some(url) = &url {
                session.open(url, until).map_err(|problem| format!("{url}: {}", problem.message))?;
            }
            Ok(session)
        }))
    }
}

/// Reads the file of `--route`.
fn routes(path: &Path) -> Result<Routes, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| usage(format!("--route {}: {error}", path.display())))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Routes::read(&text, folder).map_err(|error| usage(format!("--route {}: {error}", path.display())))
}

/// Reads `1280x720`.
fn viewport(text: &str) -> Result<(u32, u32), String> {
    let sides =
        text.split_once(['x', 'X']).and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let is_allowed = |side: u32| (1..=16384).contains(&side);
    sides
        .filter(|(width, height)| is_allowed(*width) && is_allowed(*height))
        .ok_or_else(|| "not a size: give width and height in CSS pixels (1 to 16384), such as 1280x720".to_owned())
}

/// The addresses that pages may have besides public ones. `first` is the address named on the command line.
fn allowed_addresses(first: Option<&str>, origins: &[String], files: &[PathBuf]) -> Result<AddressRules, Failure> {
    let mut allowed = AddressRules::default();
    for origin in origins {
        allowed = allowed.origin(origin).map_err(|why| usage(format_args!("--allow-origin: {why}")))?;
    }
    for file in files {
        let added = allowed.file(file);
        allowed = added.map_err(|error| usage(format_args!("--allow-file: {}: {error}", file.display())))?;
    }
    match first {
        Some(url) => allowed.first(url).map_err(|why| usage(format_args!("URL: {why}"))),
        None => Ok(allowed),
    }
}

/// The absolute path of a folder, which is created if it does not exist.
fn created_folder(option: &str, folder: &Path) -> Result<PathBuf, Failure> {
    let created = private::folder().recursive(true).create(folder);
    created.map_err(|error| usage(format_args!("{option}: {}: {error}", folder.display())))?;
    existing_folder(option, folder)
}

/// The absolute path of a folder that must exist.
fn existing_folder(option: &str, folder: &Path) -> Result<PathBuf, Failure> {
    let wrong = |why: &dyn std::fmt::Display| usage(format_args!("{option}: {}: {why}", folder.display()));
    let path = folder.canonicalize().map_err(|error| wrong(&error))?;
    if path.is_dir() { Ok(path) } else { Err(wrong(&"not a folder")) }
}
