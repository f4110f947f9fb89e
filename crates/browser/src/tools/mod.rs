//! The tools of a browser: JSON arguments in, a JSON result or a [`Problem`] out. Their names, arguments and defaults
//! are those of the browser assistant that `browser-bridge` serves (docs/browser.md).

mod acting;
mod banners;
mod choices;
mod deals;
mod keyboard;
mod listing;
mod navigate;
mod numbers;
mod overlay;
mod pointing;
mod problem;
mod reading;
mod report;
mod requests;
mod resize;
mod table;
mod tabs;
mod transfer;

pub use navigate::with_scheme;
pub use problem::{Problem, ProblemKind};
pub use table::{ToolDescription, declared};

use crate::{ActionError, Browser, Deal, DealRules, Focus, NumberColours, StorageFault, WaitFor, Waker};
use listing::Snapshots;
use pipewright_sys::lock;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use table::Tool;

/// Time limit for saving the storage state.
const SAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// The result of a call: the members of its result, or a problem.
type ToolResult = Result<report::ResultMembers, Problem>;

/// Stores a picture or document under a new name that ends with `.ENDING`, and gives its path.
pub type SaveFile = Box<dyn FnMut(&[u8], &str) -> io::Result<PathBuf> + Send>;

/// Takes each request that has ended.
pub type RecordRequest = Box<dyn FnMut(&crate::NetworkRequest) + Send>;

/// Counters that outlive a crashed browser: its numbers and lists must not mean anything in the next one.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counters {
    number: u32,
    documents: u64,
}

/// What a session may do.
pub struct SessionSettings {
    /// What to wait for after an action that does not specify it.
    pub settle: WaitFor,
    /// How long `settle=fixed` waits.
    pub pause: Duration,
    /// The folder for downloads; without one they are refused.
    pub downloads: Option<PathBuf>,
    /// The folder for uploads; without one they are refused.
    pub uploads: Option<PathBuf>,
    /// The file that cookies and local storage are loaded from, if it exists, and saved to at the end.
    pub storage: Option<PathBuf>,
    /// Whether `browser_evaluate` exists.
    pub evaluates: bool,
    /// Whether an element of a role is still the one of the list if its name has changed from the first to the second.
    pub is_same_name: fn(&str, &str, &str) -> bool,
    /// Which elements order or pay, and what the text beside them means.
    pub deals: DealRules,
    /// Replaces secrets in what a page has sent and received.
    pub mask: Box<dyn FnMut(&str) -> String + Send>,
    /// What is done with each request that has ended.
    pub record: Option<RecordRequest>,
    /// The counters of earlier sessions, continued by this one.
    pub counted: Arc<Mutex<Counters>>,
    /// Stores pictures and documents.
    pub store: SaveFile,
}

impl std::fmt::Debug for SessionSettings {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SessionSettings { settle, pause, downloads, uploads, storage, evaluates, .. } = self;
        let mut shown = to.debug_struct("Settings");
        shown.field("settle", settle).field("pause", pause).field("downloads", downloads);
        shown.field("uploads", uploads).field("storage", storage).field("evaluates", evaluates).finish_non_exhaustive()
    }
}

/// What a result says of the focus: which element has it, if any.
#[derive(Debug)]
struct ReportedFocus(Option<Focus>);

/// A browser whose tools are called, one at a time.
#[derive(Debug)]
pub struct ToolSession {
    browser: Browser,
    settings: SessionSettings,
    snapshots: Snapshots,
    overlay: Option<NumberColours>,
    /// The deal that was approved for the present call.
    approved: Option<Deal>,
    signs: deals::PaymentSigns,
    /// What the last result that names the focus has said of it.
    reported: Option<ReportedFocus>,
    tools: Vec<Tool>,
}

impl ToolSession {
    /// Takes a browser.
    ///
    /// # Errors
    /// The storage state cannot be loaded; the browser refuses the folder for downloads, or has ended.
    pub fn new(
        mut browser: Browser,
        mut settings: SessionSettings,
        until: Instant,
    ) -> Result<ToolSession, StorageFault> {
        if let Some(path) = settings.storage.as_deref().filter(|path| path.exists()) {
            browser.load_storage(path, until)?;
        }
        browser.set_downloads(settings.downloads.as_deref(), until)?;
        let tools = table::all(settings.evaluates);
        let Counters { number, documents } = *lock(&settings.counted);
        browser.record_requests(settings.record.take());
        browser.count_on(number);
        let mut snapshots = Snapshots::default();
        snapshots.count_on(documents);
        let signs = deals::PaymentSigns::default();
        Ok(ToolSession { browser, settings, snapshots, overlay: None, approved: None, signs, reported: None, tools })
    }

    /// Interrupts a call, or [`ToolSession::idle`], from another thread.
    pub fn waker(&self) -> Waker {
        self.browser.waker()
    }

    /// Handles the browser's events between calls. Returns after each event, and when the [`Waker`] wakes it.
    ///
    /// # Errors
    /// [`ActionError::Lost`]: the browser has ended.
    pub fn idle(&mut self) -> Result<(), ActionError> {
        match self.browser.take_next(Instant::now() + Duration::from_secs(3600)) {
            Err(ActionError::Late | ActionError::Cancelled) => Ok(()),
            taken => taken,
        }
    }

    /// Opens the first address.
    ///
    /// # Errors
    /// The reason why it is not shown.
    pub fn open(&mut self, url: &str, until: Instant) -> Result<(), Problem> {
        self.browser.navigate(url, crate::Ready::Parsed, until)?;
        Ok(())
    }

    /// Calls a tool. `arguments` is JSON text of an object.
    ///
    /// # Errors
    /// The reason why there is no result.
    pub fn call(&mut self, tool: &str, arguments: &str, until: Instant) -> Result<serde_json::Value, Problem> {
        let Some(index) = self.tools.iter().position(|known| known.declared.name == tool) else {
            return Err(self.unknown(tool));
        };
        let (approved, arguments) = deals::approved(arguments)?;
        self.approved = approved;
        self.browser.adopt_page(until)?;
        let run = self.tools[index].run;
        let report = run(self, &arguments, until)?;
        let silent = self.browser.silent_frames();
        let report = report.with_some("silent_frames", Some(silent).filter(|silent| !silent.is_empty()));
        Ok(serde_json::Value::Object(report.into_members()))
    }

    fn unknown(&self, tool: &str) -> Problem {
        if tool == table::EVALUATE {
            return Problem::new(
                ProblemKind::Denied,
                "scripts are not allowed: start the browser with permission to evaluate scripts",
            );
        }
        Problem::new(ProblemKind::UnknownTool, format!("there is no tool {tool:?}: list_tools names all of them"))
    }

    /// Saves the storage state if wanted, and ends the browser if it is ours.
    ///
    /// # Errors
    /// The reason why the state was not saved.
    pub fn close(mut self) -> Result<(), StorageFault> {
        let saved = match &self.settings.storage {
            Some(path) => self.browser.save_storage(path, Instant::now() + SAVE_TIMEOUT),
            None => Ok(()),
        };
        self.browser.close();
        saved
    }
}
