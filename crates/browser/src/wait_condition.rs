//! Waits for a condition on a page.

use crate::worlds::Frame;
use crate::{ActionError, Browser};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SCRIPT: &str = concat!(
    "(...given) => {",
    include_str!("scripts/members.js"),
    "return (",
    include_str!("scripts/wait.js"),
    ")(...given) }"
);

/// How long the outermost frame is waited for before the other frames are looked at.
const ROUND: Duration = Duration::from_millis(100);

/// The pause between two rounds.
const PAUSE: Duration = Duration::from_millis(20);

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitCondition {
    /// An element matched by a CSS selector, including in open shadow roots.
    Element(String, ElementState),
    /// A text that can be read on the page.
    Text(String),
    /// The address contains this.
    Address(String),
    /// The page has loaded nothing for this long.
    Quiet(Duration),
}

/// The state of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementState {
    /// The element can be seen.
    Visible,
    /// The element cannot be seen, or does not exist.
    Hidden,
    /// The element exists.
    Attached,
    /// The element does not exist.
    Detached,
}

impl ElementState {
    fn name(self) -> &'static str {
        match self {
            ElementState::Visible => "visible",
            ElementState::Hidden => "hidden",
            ElementState::Attached => "attached",
            ElementState::Detached => "detached",
        }
    }
}

impl Browser {
    /// Waits until a condition holds on the active page, or on those that follow it. Returns false if it does not hold
    /// in time.
    ///
    /// # Errors
    /// [`ActionError::Script`]: the selector is invalid. Also if the page has crashed, or a dialog is open.
    pub fn wait_until(&mut self, condition: &WaitCondition, until: Instant) -> Result<bool, ActionError> {
        let active = self.page()?.id.clone();
        match condition {
            WaitCondition::Element(selector, presence) => {
                let is_absence = matches!(presence, ElementState::Hidden | ElementState::Detached);
                self.look_for(&json!({"selector": selector, "state": presence.name()}), is_absence, until)
            }
            WaitCondition::Text(text) => self.look_for(&json!({"text": text}), false, until),
            WaitCondition::Address(part) => self.wait_for(&active, until, |page| page.document.url.contains(part)),
            WaitCondition::Quiet(quiet) => {
                let is_quiet = |since: Option<Instant>| since.is_some_and(|since| since.elapsed() >= *quiet);
                while !is_quiet(self.page()?.quiet_since()) {
                    let since = self.page()?.quiet_since();
                    let end = since.map_or(until, |since| since + *quiet).min(until);
                    if Instant::now() >= until {
                        return Ok(false);
                    }
                    self.wait_for(&active, end, |page| page.quiet_since() != since)?;
                }
                Ok(true)
            }
        }
    }

    /// Waits until a condition holds in a frame of the active page, or, for an absence, in all of them.
    fn look_for(&mut self, what: &Value, is_absence: bool, until: Instant) -> Result<bool, ActionError> {
        loop {
            let frames = match self.frames(until) {
                Err(ActionError::Late) => return Ok(false),
                frames => frames?,
            };
            let (mut is_anywhere, mut is_everywhere) = (false, true);
            for (place, frame) in frames.iter().enumerate() {
                // Changes are seen at once in the outermost frame; the others are looked at now and then.
                let left = until.saturating_duration_since(Instant::now());
                let patience = match (place, frames.len()) {
                    (0, 1) => left,
                    (0, _) => left.min(ROUND),
                    _ => Duration::ZERO,
                };
                let holds = self.look_in(frame, what, patience, until)?;
                is_anywhere |= holds == Some(true);
                is_everywhere &= holds != Some(false) && (place > 0 || holds.is_some());
            }
            if is_anywhere && (is_everywhere || !is_absence) {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
            let active = self.page()?.id.clone();
            self.wait_for(&active, until, |page| page.document.is_parsed)?;
            self.wait(until.min(Instant::now() + PAUSE), |_| false)?;
        }
    }

    /// Whether a condition holds in a frame, or becomes true soon; `None` if the frame is gone.
    fn look_in(
        &mut self,
        frame: &Frame,
        what: &Value,
        patience: Duration,
        until: Instant,
    ) -> Result<Option<bool>, ActionError> {
        let arguments = json!([{"value": what}, {"value": patience.as_millis() as u64}]);
        // The script ends by itself slightly earlier.
        let looked = self
            .world(frame, until)
            .and_then(|world| self.run_to_end(&world, SCRIPT, &arguments, until + Duration::from_millis(500)));
        match looked {
            Ok(value) => Ok(Some(value == Some(Value::Bool(true)))),
            Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame | ActionError::Late) => {
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }
}
