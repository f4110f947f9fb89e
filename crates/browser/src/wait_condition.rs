//! Waits for a condition on a page.

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
                self.look_for(&json!({"selector": selector, "state": presence.name()}), until)
            }
            WaitCondition::Text(text) => self.look_for(&json!({"text": text}), until),
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

    fn look_for(&mut self, what: &Value, until: Instant) -> Result<bool, ActionError> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let frame = self.main_frame()?;
            let world = self.world(&frame, until)?;
            let arguments = json!([{"value": what}, {"value": left.as_millis() as u64}]);
            // The script ends by itself slightly earlier.
            match self.run_to_end(&world, SCRIPT, &arguments, until + Duration::from_millis(500)) {
                Ok(value) => return Ok(value == Some(Value::Bool(true))),
                Err(ActionError::Late) => return Ok(false),
                // Another document has loaded.
                Err(ActionError::Refused(_)) if Instant::now() < until => {
                    let active = self.page()?.id.clone();
                    self.wait_for(&active, until, |page| page.document.is_parsed)?;
                }
                Err(ActionError::Refused(_)) => return Ok(false),
                Err(fault) => return Err(fault),
            }
        }
    }
}
