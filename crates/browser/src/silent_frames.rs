//! Frames whose processes do not answer. They are left out, so that the rest of the page can be used.

use crate::Browser;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long a frame with its own process may take to answer.
const FRAME_TIMEOUT: Duration = Duration::from_secs(2);

/// How long such a frame is then left out.
const LEFT_OUT: Duration = Duration::from_secs(20);

/// The sessions of frames that have not answered, each with the time until which they are left out.
#[derive(Debug, Default)]
pub(crate) struct SilentFrames(HashMap<String, Instant>);

impl Browser {
    /// Until when a session is waited for: a page as long as the caller wants, a frame of it not for long.
    pub(crate) fn session_limit(&self, session: Option<&str>, until: Instant) -> Instant {
        match session.and_then(|session| self.pages.around(session)) {
            Some(_) => until.min(Instant::now() + FRAME_TIMEOUT),
            None => until,
        }
    }

    /// A frame has not answered in time.
    pub(crate) fn leave_out(&mut self, session: &str) {
        self.silent.0.insert(session.to_owned(), Instant::now() + LEFT_OUT);
    }

    pub(crate) fn is_left_out(&self, session: &str) -> bool {
        self.silent.0.get(session).is_some_and(|end| Instant::now() < *end)
    }

    /// The addresses of the active page's frames that are left out.
    pub fn silent_frames(&self) -> Vec<String> {
        let Ok(page) = self.page() else { return Vec::new() };
        let sessions = self.pages.sessions_below(&page.session);
        let silent = sessions.iter().filter(|session| self.is_left_out(session));
        silent.filter_map(|session| self.pages.frame_address(session)).map(str::to_owned).collect()
    }
}
