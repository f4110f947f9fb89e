//! A browser and its pages: sends commands, waits for their answers, and handles events meanwhile.

use crate::Device;
use crate::console::CollectedEvents;
use crate::elements::Numbers;
use crate::fence::Fence;
use crate::files::Downloads;
use crate::interception::{self, Interception};
use crate::pages::{Dialog, NewSession, Page, Pages};
use crate::routes::Routes;
use crate::silent_frames::SilentFrames;
use crate::storage::Origins;
use crate::tools::RecordRequest;
use crate::uploads::FileChoosers;
use crate::wire::{CommandError, Message};
use crate::{AddressRules, Connection, Launch, LaunchError, Process, ReceiveError, Waker};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

/// How long a browser may take to start.
const START: Duration = Duration::from_secs(30);

/// Chromium's refusal while a page's new document replaces the old one. The command was not carried out.
const NO_ACTIVE_DOCUMENT: &str = "Not attached to an active page";
/// Time until such a command is sent again.
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// A running browser.
#[derive(Debug)]
pub struct Browser {
    /// `None` if attached to: then the browser is not ours, and stays open.
    process: Option<Process>,
    connection: Connection,
    pub(crate) pages: Pages,
    /// The id of the page that commands go to.
    active: String,
    /// The numbers of the active page's elements.
    pub(crate) numbers: Numbers,
    pub(crate) downloads: Downloads,
    pub(crate) interception: Interception,
    pub(crate) origins: Origins,
    /// Commands sent to every session of a page or a frame.
    pub(crate) emulation: Vec<(&'static str, Value)>,
    /// Counts the events of pages and frames; after one, their documents may be gone.
    pub(crate) page_events: u64,
    pub(crate) replayed: CollectedEvents,
    pub(crate) silent: SilentFrames,
    pub(crate) choosers: FileChoosers,
    pub(crate) device: Device,
    recorder: Recorder,
    /// Where the mouse was moved to last.
    pub(crate) mouse_at: Option<(f64, f64)>,
    /// What all connections go through, if everything is judged.
    pub(crate) fence: Option<Fence>,
}

/// What is done with each request that has ended.
struct Recorder(Option<RecordRequest>);

impl fmt::Debug for Recorder {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_tuple("Recorder").field(&self.0.is_some()).finish()
    }
}

/// Why an action failed.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    /// The browser took too long.
    #[error("the browser took too long")]
    Late,
    /// [`Waker::cancel`] was called.
    #[error("it was cancelled")]
    Cancelled,
    /// The browser has ended; its exit status and last output.
    #[error("the browser has ended{}", behind_colon(.0))]
    Lost(String),
    /// The page's process has ended.
    #[error("the page has crashed: navigate to load it again")]
    Crashed,
    /// A dialog of the page blocks it.
    #[error("a dialog is open: {}: {:?}", .0.kind, .0.message)]
    Dialog(Dialog),
    /// The page is closed.
    #[error("the page is closed")]
    NoPage,
    /// The process of a frame does not answer.
    #[error("the frame does not answer, and is left out for a while: act elsewhere, or load the page again")]
    SilentFrame,
    /// The address is not allowed; the address, the reason, and what would allow it.
    #[error("{0}")]
    Denied(String),
    /// The browser refused the command.
    #[error("{}", .0.message)]
    Refused(CommandError),
    /// The browser's answer does not follow the protocol.
    #[error("the browser's answer cannot be read: {0}")]
    Unreadable(String),
    /// One of our own scripts failed in the page.
    #[error("our own script failed in the page, please report this: {0}")]
    Script(String),
    /// The caller's script has thrown an exception.
    #[error("the script threw {0}")]
    Thrown(String),
}

fn behind_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Window {
    window_id: i64,
}

impl Browser {
    /// Starts a browser with one empty page.
    ///
    /// # Errors
    /// The browser does not start, or shows no page.
    pub fn start(launch: &Launch) -> Result<Browser, LaunchError> {
        let fence = launch.is_fenced.then(|| Fence::start(launch.allowed.clone())).transpose();
        let fence = fence.map_err(|error| LaunchError(format!("the browser's proxy cannot be started: {error}")))?;
        let launch = &fence.as_ref().map_or_else(|| launch.clone(), |fence| fence.before(launch));
        let (process, connection) = launch.start()?;
        let mut browser = Browser::from_connection(
            connection,
            Some(process),
            (launch.allowed.clone(), launch.routes.clone()),
            launch.emulation(),
        );
        browser.device = launch.device;
        browser.fence = fence;
        let until = Instant::now() + START;
        let begun = browser.begin(until).and_then(|()| browser.open(until));
        let begun = begun.and_then(|_| browser.fit_window(launch, until));
        begun.map_err(|fault| LaunchError(format!("the browser started, but: {fault}")))?;
        Ok(browser)
    }

    /// Enlarges the window so the page gets the requested size: the size given at the start includes the window's
    /// borders.
    fn fit_window(&mut self, launch: &Launch, until: Instant) -> Result<(), ActionError> {
        let Some((width, height)) = launch.device.viewport.filter(|_| launch.is_headed) else { return Ok(()) };
        let Window { window_id } = self.call_page("Browser.getWindowForTarget", &json!({}), until)?;
        let asked = json!({"windowId": window_id, "width": width, "height": height});
        match self.call_browser("Browser.setContentsSize", &asked, until) {
            // A browser without this command shows less of the page.
            Ok(IgnoredAny) | Err(ActionError::Refused(_)) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// `emulation`: commands to send to every session of a page or a frame.
    pub(crate) fn from_connection(
        connection: Connection,
        process: Option<Process>,
        (allowed, routes): (AddressRules, Routes),
        emulation: Vec<(&'static str, Value)>,
    ) -> Browser {
        Browser {
            process,
            connection,
            pages: Pages::default(),
            active: String::new(),
            numbers: Numbers::default(),
            downloads: Downloads::default(),
            interception: Interception::new(allowed, routes),
            origins: Origins::default(),
            emulation,
            page_events: 0,
            replayed: CollectedEvents::default(),
            silent: SilentFrames::default(),
            choosers: FileChoosers::default(),
            device: Device::default(),
            recorder: Recorder(None),
            mouse_at: None,
            fence: None,
        }
    }

    /// Begins to receive the events of all pages, including those already open.
    pub(crate) fn begin(&mut self, until: Instant) -> Result<(), ActionError> {
        let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        let _: IgnoredAny = self.call(None, "Target.setAutoAttach", &attach, until)?;
        Ok(())
    }

    /// All pages.
    pub fn pages(&self) -> &Pages {
        &self.pages
    }

    /// The active page.
    ///
    /// # Errors
    /// [`ActionError::NoPage`]: it is closed.
    pub fn page(&self) -> Result<&Page, ActionError> {
        self.pages.all().iter().find(|page| page.id == self.active).ok_or(ActionError::NoPage)
    }

    /// Interrupts a wait from another thread.
    pub fn waker(&self) -> Waker {
        self.connection.waker()
    }

    /// Takes the next event. An answer that comes instead is discarded. Returns early if [`Waker::wake`] is called.
    ///
    /// # Errors
    /// No event came in time.
    pub fn take_next(&mut self, until: Instant) -> Result<(), ActionError> {
        self.next(until).map(drop)
    }

    /// Sets what is done with each request that has ended.
    pub(crate) fn record_requests(&mut self, record: Option<RecordRequest>) {
        self.recorder = Recorder(record);
    }

    pub(crate) fn page_mut(&mut self) -> Result<&mut Page, ActionError> {
        self.pages.page_mut(&self.active).ok_or(ActionError::NoPage)
    }

    /// Makes this page the active one.
    pub(crate) fn activate(&mut self, id: &str) {
        id.clone_into(&mut self.active);
    }

    /// Sends a command to the browser itself, and waits for its answer.
    pub(crate) fn call_browser<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
        until: Instant,
    ) -> Result<T, ActionError> {
        self.call(None, method, params, until)
    }

    /// The active page starts to load something else.
    pub(crate) fn load(&mut self) {
        self.pages.load(&self.active);
    }

    /// Sends a command to the active page, and waits for its answer.
    ///
    /// # Errors
    /// No answer in time, or none at all because a dialog opened.
    pub fn call_page<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
        until: Instant,
    ) -> Result<T, ActionError> {
        let session = self.page()?.session.clone();
        self.call(Some(&session), method, params, until)
    }

    pub(crate) fn call<T: DeserializeOwned>(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &impl Serialize,
        until: Instant,
    ) -> Result<T, ActionError> {
        loop {
            match self.call_once(session, method, params, until) {
                Err(ActionError::Refused(refused))
                    if refused.message == NO_ACTIVE_DOCUMENT && Instant::now() < until =>
                {
                    self.wait(until.min(Instant::now() + RETRY_DELAY), |_| false)?;
                }
                outcome => return outcome,
            }
        }
    }

    fn call_once<T: DeserializeOwned>(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &impl Serialize,
        until: Instant,
    ) -> Result<T, ActionError> {
        let unreadable = |error: serde_json::Error| ActionError::Unreadable(error.to_string());
        self.check(session, method)?;
        let number = self.connection.send(session, method, params).map_err(unreadable)?;
        let limit = self.session_limit(session, until);
        loop {
            if let Some((id, outcome)) = self.next_of(session, limit, until)?
                && id == number
            {
                let result = outcome.map_err(ActionError::Refused)?;
                return serde_json::from_str(result.get()).map_err(unreadable);
            }
            self.check(session, method)?;
        }
    }

    /// The next message, while a session is waited for until its limit.
    fn next_of(
        &mut self,
        session: Option<&str>,
        limit: Instant,
        until: Instant,
    ) -> Result<Option<CommandResult>, ActionError> {
        match (self.next(limit), session) {
            (Err(ActionError::Late), Some(session)) if limit < until => {
                self.leave_out(session);
                Err(ActionError::SilentFrame)
            }
            (next, _) => next,
        }
    }

    /// Fails if the page cannot carry out the command now: it is closed, does not answer, has crashed, or is blocked by a dialog.
    pub(crate) fn check(&self, session: Option<&str>, method: &str) -> Result<(), ActionError> {
        if session.is_some_and(|session| self.is_left_out(session)) {
            return Err(ActionError::SilentFrame);
        }
        match session.map(|session| self.pages.of_session(session)) {
            Some(None) => Err(ActionError::NoPage),
            Some(Some(Page { is_crashed: true, .. })) if method != "Page.navigate" => Err(ActionError::Crashed),
            Some(Some(Page { dialog: Some(dialog), .. })) if method != "Page.handleJavaScriptDialog" => {
                Err(ActionError::Dialog(dialog.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Takes events until the condition holds for the pages. Returns false if it does not hold in time.
    ///
    /// # Errors
    /// The browser has ended.
    pub fn wait(&mut self, until: Instant, is_so: impl Fn(&Pages) -> bool) -> Result<bool, ActionError> {
        while !is_so(&self.pages) {
            match self.next(until) {
                Ok(_) => {}
                Err(ActionError::Late) => return Ok(false),
                Err(fault) => return Err(fault),
            }
        }
        Ok(true)
    }

    /// Takes the next message. Returns it if it is an answer.
    pub(crate) fn next(&mut self, until: Instant) -> Result<Option<CommandResult>, ActionError> {
        match self.connection.next(until) {
            Ok(None) => Ok(None),
            Ok(Some(Message::Response { id, outcome })) => Ok(Some((id, outcome))),
            Ok(Some(Message::Event(event))) => {
                self.downloads.take(&event);
                self.origins.take(&event);
                self.choosers.take(&event);
                self.replayed.take(&event);
                self.page_events += u64::from(event.method.starts_with("Page.") || event.method.starts_with("Target."));
                if let Some(begun) = self.pages.take(&event, Instant::now()) {
                    self.listen(&begun);
                }
                if let (Some(request), Some(record)) = (self.pages.take_ended(), &mut self.recorder.0) {
                    record(&request);
                }
                if let Some(interception::Reply { method, params, denied }) = self.interception.take(&event) {
                    // Serialising a JSON value cannot fail.
                    let _ = self.connection.send(event.session.as_deref(), method, &params);
                    if let (Some((denied, frame)), Some(session)) = (denied, &event.session) {
                        self.pages.refuse(session, &frame, denied);
                    }
                }
                Ok(None)
            }
            Err(ReceiveError::Late) => Err(ActionError::Late),
            Err(ReceiveError::Cancelled) => Err(ActionError::Cancelled),
            Err(ReceiveError::Ended) => {
                Err(ActionError::Lost(self.process.as_mut().map(Process::ending).unwrap_or_default()))
            }
        }
    }

    /// Sends the initial commands to a new session, without waiting for answers.
    fn listen(&mut self, begun: &NewSession) {
        let nothing = json!({});
        let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        let commands = [
            ("Page.enable", &nothing),
            ("Page.setLifecycleEventsEnabled", &json!({"enabled": true})),
            ("Network.enable", &nothing),
            // Keeps the accessibility tree, which gives roles and names. Otherwise the browser rebuilds it for each of
            // them (6 ms on a page of 300 kB).
            ("Accessibility.enable", &nothing),
            ("Fetch.enable", &self.interception.patterns()),
            ("Target.setAutoAttach", &attach),
        ];
        let wanted = if begun.is_wanted { &commands[..] } else { &[] };
        let emulation = self.emulation.iter().filter(|_| begun.is_wanted).map(|(method, params)| (*method, params));
        for (method, params) in
            wanted.iter().copied().chain(emulation).chain([("Runtime.runIfWaitingForDebugger", &nothing)])
        {
            // Serialising a JSON value cannot fail.
            let _ = self.connection.send(Some(&begun.session), method, params);
        }
    }

    /// Sends commands to one session, then waits for all answers: this takes only one round trip. The answers are in
    /// the order of the commands.
    pub(crate) fn call_together(
        &mut self,
        session: &str,
        commands: &[(&str, Value)],
        until: Instant,
    ) -> Result<Vec<Result<Box<RawValue>, CommandError>>, ActionError> {
        let mut places = HashMap::new();
        for (place, (method, params)) in commands.iter().enumerate() {
            self.check(Some(session), method)?;
            places.insert(self.send(session, method, params)?, place);
        }
        let mut answers: Vec<_> = commands.iter().map(|_| None).collect();
        let limit = self.session_limit(Some(session), until);
        let mut waiting = 0;
        while waiting < answers.len() {
            if answers[waiting].is_some() {
                waiting += 1;
                continue;
            }
            if let Some((number, outcome)) = self.next_of(Some(session), limit, until)?
                && let Some(place) = places.get(&number)
            {
                answers[*place] = Some(outcome);
            }
            self.check(Some(session), commands[waiting].0)?;
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Sends a command, and returns its number; [`Browser::next`] returns the answer with this number.
    pub(crate) fn send(&mut self, session: &str, method: &str, params: &Value) -> Result<u64, ActionError> {
        self.connection.send(Some(session), method, params).map_err(|error| ActionError::Unreadable(error.to_string()))
    }

    /// Asks the browser to end, and waits until it has. A browser that was attached to is left open.
    pub fn close(mut self) {
        if let Some(mut process) = self.process.take() {
            let until = Instant::now() + Duration::from_secs(3);
            let _: Result<IgnoredAny, ActionError> = self.call(None, "Browser.close", &json!({}), until);
            let _ = process.wait();
        }
    }
}

/// The number of a command, and its result.
pub(crate) type CommandResult = (u64, Result<Box<RawValue>, CommandError>);
