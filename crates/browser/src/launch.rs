//! Starts a browser, and cleans up completely when it ends.

use crate::profile::Profile;
use crate::{AddressRules, Connection};
use crate::{Device, Routes};
use command_fds::{CommandFdExt, FdMapping};
use pipewright_sys::lock;
use pipewright_sys::process::{self, Group, is_root};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, PipeReader, Read, pipe};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The program names of Chromium and related browsers in distributions.
const NAMES: [&str; 6] =
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "microsoft-edge", "brave-browser"];

/// The fixed arguments: no questions to a person, and no traffic of its own.
const ARGUMENTS: [&str; 13] = [
    "--remote-debugging-pipe",
    // No start page, which may be on the network. Pages are opened over the pipe.
    "--no-startup-window",
    // Provides `element.computedRole` and `computedName`: the browser's own roles and names, without the complete
    // accessibility tree.
    "--enable-blink-features=ComputedAccessibilityInfo",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--password-store=basic",
];

/// How much of the browser's output is kept, in bytes.
const MAX_OUTPUT: usize = 4096;

/// How long a browser may take to end when asked to.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// The settings for starting a browser.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// The program; `None`: see [`find`].
    pub program: Option<PathBuf>,
    /// Whether it shows a window.
    pub is_headed: bool,
    /// The folder of its profile; `None`: a new temporary folder that is removed at the end.
    pub profile: Option<PathBuf>,
    /// Where pages may be, besides public addresses.
    pub allowed: AddressRules,
    /// What pages see of the device. The size is that of the page, without the window's borders.
    pub device: Device,
    /// What answers requests in place of servers.
    pub routes: Routes,
    /// The language for requests and for number formats, as a BCP 47 tag: `de-DE`.
    pub locale: Option<String>,
    /// The proxy for all traffic, including loopback, in the form of Chromium's `--proxy-server`: `http://HOST:PORT`,
    /// `socks5://HOST:PORT`.
    pub proxy: Option<String>,
    /// Whether all connections are judged by `allowed`, not only documents. Not with a `proxy`.
    pub is_fenced: bool,
    /// Further arguments.
    pub arguments: Vec<OsString>,
}

/// Why a browser was not started, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LaunchError(pub String);

/// A running browser. Dropping this ends it and all its processes, and removes its profile if that is temporary.
#[derive(Debug)]
pub struct Process {
    child: Child,
    group: Group,
    profile: Profile,
    printed: Arc<Mutex<VecDeque<u8>>>,
    /// Reads what is printed, until all processes of the browser have ended.
    printing: Option<JoinHandle<()>>,
}

/// The first browser in `PATH`.
pub fn find() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

impl Launch {
    /// Starts it.
    ///
    /// # Errors
    /// There is no browser, no profile, or no process.
    pub fn start(&self) -> Result<(Process, Connection), LaunchError> {
        let named = self.program.clone().or_else(find);
        let program = named.ok_or_else(|| {
            LaunchError("no browser found in PATH: install Chromium, or name a browser with --browser".to_owned())
        })?;
        let failed =
            |what: &str, error: &dyn fmt::Display| LaunchError(format!("{}: {what}: {error}", program.display()));
        let options = self.options().map_err(|why| failed("it cannot be started", &why))?;
        let profile = Profile::open(self.profile.as_deref()).map_err(|error| failed("its profile", &error))?;
        let system = |error: io::Error| failed("it cannot be started", &error);
        let (commands, to) = pipe().map_err(system)?;
        let (from, messages) = pipe().map_err(system)?;
        let (stderr, printing) = pipe().map_err(system)?;
        let mut command = Command::new(&program);
        command.args(ARGUMENTS).args(options).args(&self.arguments).arg(user_data(&profile.folder));
        if !self.is_headed {
            command.args(["--headless", "--disable-gpu", "--mute-audio"]);
        }
        if is_root() {
            // The browser's sandbox does not start as root.
            command.arg("--no-sandbox");
        }
        if let Some(folder) = profile.temporary_files() {
            command.env("TMPDIR", folder);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(printing);
        let mapped = command.fd_mappings(vec![
            FdMapping { parent_fd: commands.into(), child_fd: 3 },
            FdMapping { parent_fd: messages.into(), child_fd: 4 },
        ]);
        mapped.map_err(|error| failed("its pipe", &error))?;
        let (child, group) = process::start(&mut command).map_err(system)?;
        // Close our copies of the browser's pipe ends, so that its end is noticed.
        drop(command);
        let printed = Arc::new(Mutex::new(VecDeque::new()));
        let mut process = Process { child, group, profile, printed: Arc::clone(&printed), printing: None };
        let kept = thread::Builder::new().name("browser's stderr".to_owned()).spawn(move || keep(stderr, &printed));
        let connected = kept.and_then(|thread| {
            process.printing = Some(thread);
            Connection::new(to, from)
        });
        match connected {
            Ok(connection) => Ok((process, connection)),
            Err(error) => {
                process.kill();
                Err(system(error))
            }
        }
    }
}

impl Launch {
    /// The browser's arguments for these settings.
    fn options(&self) -> Result<Vec<String>, String> {
        let mut options = Vec::new();
        if let Some((width, height)) = self.device.viewport {
            options.push(format!("--window-size={width},{height}"));
        }
        if let Some(locale) = &self.locale {
            if !locale
                .split('-')
                .all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            {
                return Err(format!("{locale:?} is not a language tag such as de-DE"));
            }
            options.push(format!("--lang={locale}"));
            options.push(match locale.split_once('-') {
                Some((language, _)) => format!("--accept-lang={locale},{language}"),
                None => format!("--accept-lang={locale}"),
            });
        }
        if let Some(proxy) = &self.proxy {
            if proxy.contains('@') {
                return Err("a proxy that needs a password is not supported by Chromium".to_owned());
            }
            options.push(format!("--proxy-server={proxy}"));
            // Without this, requests to loopback addresses bypass the proxy.
            options.push("--proxy-bypass-list=<-loopback>".to_owned());
        }
        Ok(options)
    }

    /// Settings of every page that are sent as commands because there is no argument for them: the window has its own
    /// borders, and numbers and dates are formatted in the language of the browser's interface, which may not be
    /// installed.
    pub(crate) fn emulation(&self) -> Vec<(&'static str, Value)> {
        let locale = self.locale.as_ref().map(|locale| ("Emulation.setLocaleOverride", json!({"locale": locale})));
        self.device.commands().into_iter().chain(locale).collect()
    }
}

fn user_data(folder: &Path) -> OsString {
    let mut argument = OsString::from("--user-data-dir=");
    argument.push(folder);
    argument
}

impl Process {
    /// Waits for the end of a browser that was asked to end, and kills it if it does not end in time.
    ///
    /// # Errors
    /// The system's error about the process.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        let last_moment = Instant::now() + CLOSE_TIMEOUT;
        while Instant::now() < last_moment {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.kill();
        self.child.wait()
    }

    /// Its exit status and last output, for an error message.
    pub(crate) fn ending(&mut self) -> String {
        let status = self.wait().map(|status| status.to_string()).unwrap_or_default();
        self.kill();
        let last_moment = Instant::now() + CLOSE_TIMEOUT;
        while self.printing.as_ref().is_some_and(|thread| !thread.is_finished()) && Instant::now() < last_moment {
            thread::sleep(Duration::from_millis(5));
        }
        let printed = self.printed();
        // Chromium prints these lines on every machine without a desktop; they are not the cause.
        let lines = printed.lines().filter(|line| !line.is_empty() && !line.contains(":ERROR:dbus/"));
        let lines: Vec<&str> = lines.collect();
        let last = &lines[lines.len().saturating_sub(3)..];
        [std::iter::once(status.as_str()).collect(), last.to_vec()].concat().join("; ")
    }

    /// Its last lines of output.
    pub fn printed(&self) -> String {
        let printed = lock(&self.printed);
        let bytes: Vec<u8> = printed.iter().copied().collect();
        // If the output was cut, its first line is incomplete.
        let begin =
            if bytes.len() < MAX_OUTPUT { 0 } else { bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0) };
        String::from_utf8_lossy(&bytes[begin..]).trim().to_owned()
    }

    /// Its profile's folder.
    pub fn profile(&self) -> &Path {
        &self.profile.folder
    }

    /// The process that was started.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills every process of the browser's group.
    fn kill(&mut self) {
        self.group.kill();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
        self.profile.remove();
    }
}

/// Reads to the end, and keeps the last part.
fn keep(mut stderr: PipeReader, printed: &Mutex<VecDeque<u8>>) {
    let mut bytes = [0; 1024];
    while let Ok(length @ 1..) = stderr.read(&mut bytes) {
        let mut printed = lock(printed);
        printed.extend(&bytes[..length]);
        let much = printed.len().saturating_sub(MAX_OUTPUT);
        printed.drain(..much);
    }
}
