//! Navigates to an address, and back.

use crate::pages::{Document, Navigations, Page};
use crate::{ActionError, Browser};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::time::{Duration, Instant};

/// How far a page must have loaded before the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// Its answer has come.
    Begun,
    /// Its document is parsed.
    Parsed,
    /// The page has loaded nothing for this long, or half of the time is over.
    Quiet(Duration),
}

/// The result of a navigation.
#[derive(Debug, Clone)]
pub struct NavigationResult {
    /// The document shown.
    pub document: Document,
    /// How often something else has been shown since.
    pub navigations: Navigations,
    /// The page was not [`Ready`] in time, and is shown as far as it was loaded.
    pub is_late: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigateResult {
    loader_id: Option<String>,
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    current_index: i64,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: i64,
}

/// How long a page that is made to crash may take.
const CRASH: Duration = Duration::from_secs(2);

/// How long style sheets may hold up a page.
pub(crate) const LATE_STYLES: Duration = Duration::from_secs(3);

const RELEASE_STYLES: &str = concat!("() => {", include_str!("scripts/late-styles.js"), "releaseLateStyles(0); }");

impl Browser {
    /// Goes to an address.
    ///
    /// # Errors
    /// [`ActionError::Denied`]: it is not allowed, or redirects to one that is not. [`ActionError::Refused`]: the page cannot be loaded; with
    /// the browser's own `net::ERR_...`.
    pub fn navigate(&mut self, url: &str, ready: Ready, until: Instant) -> Result<NavigationResult, ActionError> {
        self.check_address(url)?;
        self.visit(url, ready, until)
    }

    /// Goes to an address without checking it.
    pub(crate) fn visit(&mut self, url: &str, ready: Ready, until: Instant) -> Result<NavigationResult, ActionError> {
        let before = self.depart()?;
        if !self.page()?.document.is_loaded {
            // A page that keeps navigating by itself would replace this one.
            self.stop_loading()?;
        }
        let navigated: NavigateResult = match self.call_page("Page.navigate", &json!({"url": url}), until) {
            Err(ActionError::Late) => {
                // Until then the page accepts no other command.
                self.stop_loading()?;
                return Err(ActionError::Late);
            }
            navigated => navigated?,
        };
        if let Some(message) = navigated.error_text.filter(|_| !navigated.is_download) {
            let refused = ActionError::Refused(crate::wire::CommandError { code: 0, message });
            let fenced = || self.fence.as_ref().and_then(|fence| fence.reason(url));
            return Err(self.denied()?.or_else(fenced).unwrap_or(refused));
        }
        self.load();
        if navigated.is_download {
            let document = self.page()?.document.clone();
            return Ok(NavigationResult { document, navigations: Navigations::default(), is_late: false });
        }
        let loader = navigated.loader_id;
        self.arrive(before, ready, until, |page| match &loader {
            Some(loader) => page.document.loader == *loader && page.navigations.full > before.full,
            // Only the fragment of the same document changes.
            None => page.navigations != before,
        })
    }

    /// Sends the command without waiting: a hanging page would not answer it.
    fn stop_loading(&mut self) -> Result<(), ActionError> {
        let session = self.page()?.session.clone();
        self.send(&session, "Page.stopLoading", &json!({})).map(drop)
    }

    /// Kills the process of the active page if the page does not answer in time.
    ///
    /// # Errors
    /// The page is closed, or the browser has ended.
    pub fn end_hung_page(&mut self, by: Instant) -> Result<(), ActionError> {
        let session = self.page()?.session.clone();
        let asked = json!({"expression": "1", "returnByValue": true});
        let answered: Result<IgnoredAny, ActionError> = self.call(Some(&session), "Runtime.evaluate", &asked, by);
        match answered {
            Err(ActionError::Late) => {
                self.send(&session, "Page.crash", &json!({}))?;
                self.wait(Instant::now() + CRASH, |pages| {
                    pages.of_session(&session).is_none_or(|page| page.is_crashed)
                })?;
                Ok(())
            }
            Err(fault @ (ActionError::Lost(_) | ActionError::Cancelled | ActionError::NoPage)) => Err(fault),
            _ => Ok(()),
        }
    }

    /// Goes this many pages back (negative) or forward (positive); `None` if there is no such page.
    ///
    /// # Errors
    /// The page does not load in time.
    pub fn go(&mut self, steps: i64, ready: Ready, until: Instant) -> Result<Option<NavigationResult>, ActionError> {
        let before = self.depart()?;
        let History { current_index, entries } = self.call_page("Page.getNavigationHistory", &json!({}), until)?;
        let entry = usize::try_from(current_index + steps).ok().and_then(|index| entries.get(index));
        let Some(entry) = entry else { return Ok(None) };
        let IgnoredAny = self.call_page("Page.navigateToHistoryEntry", &json!({"entryId": entry.id}), until)?;
        self.load();
        self.arrive(before, ready, until, |page| page.navigations != before).map(Some)
    }

    /// Reloads the page.
    ///
    /// # Errors
    /// The page does not load in time. [`ActionError::Denied`]: it is the answer to a form, which would be sent again.
    pub fn reload(&mut self, ready: Ready, until: Instant) -> Result<NavigationResult, ActionError> {
        // The main frame of a page has the page's id.
        self.interception.reload(Some(self.page()?.id.clone()));
        let arrived = self.load_again(ready, until);
        self.interception.reload(None);
        arrived
    }

    fn load_again(&mut self, ready: Ready, until: Instant) -> Result<NavigationResult, ActionError> {
        let before = self.depart()?;
        let IgnoredAny = self.call_page("Page.reload", &json!({}), until)?;
        self.load();
        self.arrive(before, ready, until, |page| page.navigations.full > before.full)
    }

    /// Marks that the active page is about to go elsewhere. Returns its navigations so far.
    fn depart(&mut self) -> Result<Navigations, ActionError> {
        let (id, before) = (self.page()?.id.clone(), self.page()?.navigations);
        self.pages.depart(&id);
        Ok(before)
    }

    /// Whether the active page was going to an address that is not allowed.
    fn denied(&self) -> Result<Option<ActionError>, ActionError> {
        Ok(self.page()?.refused.as_ref().map(|denied| ActionError::Denied(denied.to_string())))
    }

    /// Waits for a page's new document.
    fn arrive(
        &mut self,
        before: Navigations,
        ready: Ready,
        until: Instant,
        is_there: impl Fn(&Page) -> bool,
    ) -> Result<NavigationResult, ActionError> {
        let active = self.page()?.id.clone();
        // A redirect by script shows yet another document, which counts too.
        let is_shown = self.wait_for(&active, until, |page| {
            is_there(page) || page.navigations.full > before.full + 1 || page.refused.is_some()
        })?;
        if self.page()?.navigations == before
            && let Some(denied) = self.denied()?
        {
            return Err(denied);
        }
        let half = Instant::now() + until.saturating_duration_since(Instant::now()) / 2;
        let is_ready = is_shown
            && match ready {
                Ready::Begun => true,
                Ready::Parsed => self.wait_until_parsed(&active, until)?,
                Ready::Quiet(quiet) => self.wait_until_quiet(&active, quiet, until, half)?,
            };
        let page = self.page()?;
        let (document, now) = (page.document.clone(), page.navigations);
        let navigations = Navigations { full: now.full - before.full, within: now.within - before.within };
        Ok(NavigationResult { document, navigations, is_late: !is_ready })
    }

    /// Waits until the document is parsed. Style sheets that do not come hold up the parser.
    fn wait_until_parsed(&mut self, id: &str, until: Instant) -> Result<bool, ActionError> {
        let soon = until.min(Instant::now() + LATE_STYLES);
        if self.wait_for(id, soon, |page| page.document.is_parsed)? {
            return Ok(true);
        }
        self.release_styles(until.min(Instant::now() + LATE_STYLES))?;
        self.wait_for(id, until, |page| page.document.is_parsed)
    }

    /// Style sheets of the active page that have not come no longer hold up anything.
    pub(crate) fn release_styles(&mut self, until: Instant) -> Result<(), ActionError> {
        let frame = self.main_frame()?;
        let released =
            self.world(&frame, until).and_then(|world| self.run(&world, RELEASE_STYLES, &json!([]), true, until));
        match released {
            // The page hangs, or another document has come.
            Ok(_) | Err(ActionError::Late | ActionError::Refused(_)) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// Waits for a condition of one page. Returns false if it does not hold in time.
    pub(crate) fn wait_for(
        &mut self,
        id: &str,
        until: Instant,
        is_so: impl Fn(&Page) -> bool,
    ) -> Result<bool, ActionError> {
        let page = |pages: &crate::pages::Pages| pages.all().iter().position(|page| page.id == id);
        let is_over = |page: &Page| page.is_crashed || page.dialog.is_some() || is_so(page);
        let waited = self.wait(until, |pages| page(pages).is_none_or(|index| is_over(&pages.all()[index])))?;
        let page = page(self.pages()).and_then(|index| self.pages().all().get(index)).ok_or(ActionError::NoPage)?;
        match page {
            page if is_so(page) => Ok(waited),
            Page { is_crashed: true, .. } => Err(ActionError::Crashed),
            Page { dialog: Some(dialog), .. } => Err(ActionError::Dialog(dialog.clone())),
            _ => Ok(false),
        }
    }

    /// A page that never stops loading is taken as it is at `enough`, once it has loaded.
    pub(crate) fn wait_until_quiet(
        &mut self,
        id: &str,
        quiet: Duration,
        until: Instant,
        enough: Instant,
    ) -> Result<bool, ActionError> {
        if !self.wait_for(id, until, |page| page.document.is_loaded)? {
            return Ok(false);
        }
        loop {
            if !self.wait_for(id, enough, |page| page.quiet_since().is_some())? {
                return Ok(true);
            }
            let Some(since) = self.page()?.quiet_since() else { continue };
            let end = (since + quiet).min(enough);
            if Instant::now() >= end {
                return Ok(true);
            }
            // A request before that time starts the wait again.
            if !self.wait_for(id, end, |page| page.quiet_since() != Some(since))? {
                return Ok(true);
            }
        }
    }
}
