//! The effects of an action on a page, once the page has settled.

use crate::focus::focusing;
use crate::pages::{Navigations, Page};
use crate::{ActionError, Browser};
use serde::Deserialize;
use serde_json::json;
use std::time::{Duration, Instant};

const STATE: &str = focusing!(
    "(() => {",
    include_str!("scripts/secret.js"),
    include_str!("scripts/late-styles.js"),
    "return (",
    include_str!("scripts/state.js"),
    ")})()"
);

const QUIET_SCRIPT: &str = include_str!("scripts/quiet.js");

/// What to wait for after an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitFor {
    /// Nothing.
    None,
    /// Until the document has not changed for 50 ms.
    Dom,
    /// Until nothing has been loaded for 500 ms.
    Network,
    /// For this long.
    Fixed(Duration),
}

/// Between two documents, the state is asked for again after this time.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A document without a change for this long has settled.
const DOM_QUIET: Duration = Duration::from_millis(50);
/// A page that has loaded nothing for this long has settled.
const NETWORK_QUIET: Duration = Duration::from_millis(500);
/// A page that never settles is taken as it is after this time.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// How long a page may take to report its state before an action.
const STATE_TIMEOUT: Duration = Duration::from_secs(2);

/// The state of a page.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PageState {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its scroll position, x and y, in CSS pixels.
    pub scroll: [i64; 2],
    /// The element with the focus.
    pub focus: Option<Focus>,
    /// The frame with the focus, if it is not the page itself: its original address, or its name.
    pub frame: Option<String>,
    /// The video or sound that is playing, or the first one of the page.
    pub media: Option<Media>,
    /// How often the document has changed.
    changes: u64,
}

/// The element with the focus.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Focus {
    /// Its role.
    pub role: String,
    /// Its name.
    pub name: String,
    /// Whether it is for passwords, one-time codes or card numbers.
    pub secret: bool,
    /// Tells it from other elements with this role and name.
    mark: String,
}

/// A video or a sound.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Media {
    /// Whether it plays.
    pub playing: bool,
    /// Its position, in seconds.
    pub time: f64,
}

/// The page before an action.
#[derive(Debug, Clone)]
pub struct PageBefore {
    page: String,
    pages: Vec<String>,
    navigations: Navigations,
    /// None if the page could not be asked.
    state: Option<PageState>,
}

/// How a page has changed its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Navigation {
    /// Not at all.
    None,
    /// Within its document.
    Within,
    /// To another document.
    Full,
}

/// The effects of an action.
#[derive(Debug, Clone)]
pub struct ActionEffects {
    /// How the address has changed.
    pub navigation: Navigation,
    /// Whether anything on the page has changed.
    pub is_changed: bool,
    /// The state of the page now.
    pub state: PageState,
    /// The ids of the pages that were opened.
    pub opened: Vec<String>,
    /// The page is closed; the state is that of the page that is now active.
    pub is_closed: bool,
}

impl Browser {
    /// Notes the state of the page before an action.
    ///
    /// # Errors
    /// There is no page.
    pub fn state_before(&mut self, until: Instant) -> Result<PageBefore, ActionError> {
        let page = self.page()?;
        let (page, navigations) = (page.id.clone(), page.navigations);
        // A hanging page must not use up all of the time.
        let state = self.state(until.min(Instant::now() + STATE_TIMEOUT)).ok();
        let pages = self.pages().all().iter().map(|page| page.id.clone()).collect();
        Ok(PageBefore { page, pages, navigations, state })
    }

    /// Waits until the page has settled, and returns the effects since then.
    ///
    /// # Errors
    /// The page does not answer in time, or at all: it has crashed, or a dialog is open.
    pub fn after(
        &mut self,
        before: &PageBefore,
        settle: WaitFor,
        until: Instant,
    ) -> Result<ActionEffects, ActionError> {
        // The rest of the time is for asking the page for its state.
        let half = until.saturating_duration_since(Instant::now()) / 2;
        let enough = Instant::now() + half.min(MAX_WAIT);
        match settle {
            WaitFor::None => {}
            WaitFor::Dom => self.rest(enough)?,
            WaitFor::Network => {
                self.rest(enough)?;
                self.wait_for_network(enough)?;
            }
            WaitFor::Fixed(pause) => _ = self.wait(Instant::now() + pause, |_| false)?,
        }
        let seen = self.page()?.navigations;
        let mut state = self.state(until)?;
        if matches!(settle, WaitFor::Dom | WaitFor::Network) && self.page()?.navigations.full > seen.full {
            // The page went elsewhere while it was asked.
            self.rest(enough)?;
            state = self.state(until)?;
        }
        let page = self.page()?;
        let (is_closed, now) = (page.id != before.page, page.navigations);
        let navigation = if !is_closed && now.full > before.navigations.full {
            Navigation::Full
        } else if !is_closed && now.within > before.navigations.within {
            Navigation::Within
        } else {
            Navigation::None
        };
        let is_changed = navigation != Navigation::None || before.state.as_ref() != Some(&state);
        let opened = self.pages().all().iter().map(|page| page.id.clone()).filter(|id| !before.pages.contains(id));
        Ok(ActionEffects { navigation, is_changed, state, opened: opened.collect(), is_closed })
    }

    /// Waits until the document has settled. If another one replaces it, waits until that one is parsed and has
    /// settled.
    fn rest(&mut self, enough: Instant) -> Result<(), ActionError> {
        loop {
            let active = self.page()?.id.clone();
            let is_read = |page: &Page| page.document.is_parsed;
            if !self.wait_for(&active, enough, is_read)? {
                return Ok(());
            }
            let navigations = self.page()?.navigations.full;
            let frame = self.main_frame()?;
            let left = enough.saturating_duration_since(Instant::now());
            let world = self.world(&frame, enough)?;
            let times = json!([{"value": DOM_QUIET.as_millis() as u64}, {"value": left.as_millis() as u64}]);
            match self.run_to_end(&world, QUIET_SCRIPT, &times, enough + DOM_QUIET) {
                Err(ActionError::Late) => return Ok(()),
                // Its document has gone, and the next one is loading.
                Err(ActionError::Refused(_)) if Instant::now() < enough => {
                    self.wait(Instant::now() + POLL_INTERVAL, |_| false)?;
                    continue;
                }
                Ok(_) | Err(ActionError::Refused(_)) => {}
                Err(fault) => return Err(fault),
            }
            if self.page()?.navigations.full == navigations || Instant::now() >= enough {
                return Ok(());
            }
        }
    }

    fn wait_for_network(&mut self, enough: Instant) -> Result<(), ActionError> {
        let active = self.page()?.id.clone();
        self.wait_until_quiet(&active, NETWORK_QUIET, enough, enough)?;
        Ok(())
    }

    fn state_now(&mut self, until: Instant) -> Result<PageState, ActionError> {
        let frame = self.main_frame()?;
        let world = self.world(&frame, until)?;
        self.run(&world, STATE, &json!([]), true, until)?.read()
    }

    /// The state of the active page.
    pub(crate) fn state(&mut self, until: Instant) -> Result<PageState, ActionError> {
        let asked = self.state_now(until);
        let mut state = match asked {
            // Its document has gone; the next one is loaded, or loading.
            Err(ActionError::Refused(_)) => {
                self.wait(until.min(Instant::now() + POLL_INTERVAL), |_| false)?;
                self.state_now(until)?
            }
            asked => asked?,
        };
        // A hanging frame must not use up all of the time; then only the frame itself is known.
        if state.frame.is_some()
            && let Ok(Some((_, focus))) = self.focus(until.min(Instant::now() + STATE_TIMEOUT))
        {
            state.focus = focus;
        }
        Ok(state)
    }
}
