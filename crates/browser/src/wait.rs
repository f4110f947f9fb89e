//! Waits for a condition on a page.

use crate::{Browser, Fault};
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
pub enum Condition {
    /// An element matched by a CSS selector, including in open shadow roots.
    Element(String, Presence),
    /// A text that can be read on the page.
    Text(String),
    /// The address contains this.
    Address(String),
    /// The page has loaded nothing for this long.
    Quiet(Duration),
}

/// The state of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It can be seen.
    Visible,
    /// It cannot be seen, or does not exist.
    Hidden,
    /// It exists.
    Attached,
    /// It does not exist.
    Detached,
}

impl Presence {
    fn name(self) -> &'static str {
        match self {
            Presence::Visible => "visible",
            Presence::Hidden => "hidden",
            Presence::Attached => "attached",
            Presence::Detached => "detached",
        }
    }
}

impl Browser {
    /// Waits until a condition holds on the active page, or on those that follow it. Returns false if it does not hold in time.
    ///
    /// # Errors
    /// [`Fault::Script`]: the selector is invalid. Also if the page has crashed, or a dialog is open.
    pub fn wait_until(&mut self, condition: &Condition, until: Instant) -> Result<bool, Fault> {
        let active = self.page()?.id.clone();
        match condition {
            Condition::Element(selector, presence) => {
                self.look_for(&json!({"selector": selector, "state": presence.name()}), until)
            }
            Condition::Text(text) => self.look_for(&json!({"text": text}), until),
            Condition::Address(part) => self.wait_for(&active, until, |page| page.document.url.contains(part)),
            Condition::Quiet(quiet) => {
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

    fn look_for(&mut self, what: &Value, until: Instant) -> Result<bool, Fault> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let frame = self.main_frame()?;
            let world = self.world(&frame, until)?;
            let arguments = json!([{"value": what}, {"value": left.as_millis() as u64}]);
            // The script ends by itself slightly earlier.
            match self.run_to_end(&world, SCRIPT, &arguments, until + Duration::from_millis(500)) {
                Ok(value) => return Ok(value == Some(Value::Bool(true))),
                Err(Fault::Late) => return Ok(false),
                // Another document has loaded.
                Err(Fault::Refused(_)) if Instant::now() < until => {
                    let active = self.page()?.id.clone();
                    self.wait_for(&active, until, |page| page.document.is_parsed)?;
                }
                Err(Fault::Refused(_)) => return Ok(false),
                Err(fault) => return Err(fault),
            }
        }
    }
}
