//! Closes consent dialogs: recognises them by their text, their buttons and their position.

mod choice;
mod finding;

use crate::input::InputRefusal;
use crate::pointer::MovePurpose;
use crate::worlds::IsolatedWorld;
use crate::{ActionError, Browser};
use choice::{Action, ActionKind};
use finding::{FoundBanner, words};
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime};

/// Settings for closing dialogs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BannerSettings {
    /// How long dialogs are searched for and closed. A press that has begun is completed.
    pub time_budget: Duration,
    /// How many times something is pressed at most.
    pub max_passes: u32,
    /// Which buttons are pressed.
    pub strategy: Strategy,
    /// The languages of the dialogs, such as `en`; all known ones if empty.
    pub languages: Vec<String>,
}

impl Default for BannerSettings {
    fn default() -> BannerSettings {
        BannerSettings {
            time_budget: Duration::from_millis(1200),
            max_passes: 3,
            strategy: Strategy::Safe,
            languages: Vec::new(),
        }
    }
}

/// Which buttons are pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Decline, or allow only what is necessary, also in the settings of the dialog. If that is not offered: close
    /// without an answer, press `OK`, or press the only button. Never accept if something else is offered.
    Safe,
    /// Accept.
    Accept,
}

/// The result of closing dialogs.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedBanners {
    /// Number of dialogs closed.
    pub closed: u32,
    /// Number of presses.
    pub passes: u32,
    /// Time taken.
    pub elapsed: Duration,
    /// The presses, in order.
    pub clicks: Vec<Press>,
}

/// A press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Press {
    /// A CSS path to the element within its document or shadow root.
    pub selector: String,
    /// The address of its frame.
    pub frame_url: String,
    /// Time of the press.
    pub time: SystemTime,
}

/// A dialog may appear a moment after its page.
const APPEAR_DELAY: Duration = Duration::from_millis(100);

/// The longest closing animation of a dialog.
const CLOSE_ANIMATION: Duration = Duration::from_millis(450);

impl Browser {
    /// Closes the active page's consent dialogs (cookies and the like) with real clicks, also in frames of other sites.
    /// Nothing is pressed if there is none, or if none appears within half of the time.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn close_banners(&mut self, settings: &BannerSettings, until: Instant) -> Result<ClosedBanners, ActionError> {
        let (begun, words) = (Instant::now(), json!(words(&settings.languages)?));
        let end = until.min(begun + settings.time_budget);
        let mut closed = ClosedBanners { closed: 0, passes: 0, elapsed: Duration::ZERO, clicks: Vec::new() };
        let mut is_within_settings = false;
        while closed.passes < settings.max_passes {
            let is_last = closed.passes + 1 == settings.max_passes;
            let found = match self.find_banners(&words, until) {
                Err(ActionError::Refused(_)) => Vec::new(),
                found => found?,
            };
            let next = found
                .iter()
                .find_map(|found| Some((found, found.banner.choose(settings.strategy, is_within_settings, is_last)?)));
            let half = begun + (end.saturating_duration_since(begun)) / 2;
            let Some((found, actions)) = next else {
                // The settings of a dialog may take a moment to appear.
                let enough = if closed.passes > 0 && !is_within_settings {
                    begun
                } else if is_within_settings {
                    end
                } else {
                    half
                };
                if Instant::now() >= enough {
                    break;
                }
                self.pause(APPEAR_DELAY)?;
                continue;
            };
            let is_settings = actions.iter().any(|action| action.kind == ActionKind::Settings);
            let is_pressed = self.press_all(found, &actions, &mut closed.clicks, until)?;
            if is_pressed {
                closed.passes += 1;
                is_within_settings = is_settings;
                let going = Instant::now() + CLOSE_ANIMATION;
                if is_settings {
                    self.pause(APPEAR_DELAY)?;
                } else if self.goes(found, &words, going, until)? {
                    closed.closed += 1;
                }
            } else {
                // Something covers it, perhaps only during an animation.
                self.pause(APPEAR_DELAY)?;
            }
            if Instant::now() >= end {
                break;
            }
        }
        self.release()?;
        closed.elapsed = begun.elapsed();
        Ok(closed)
    }

    fn pause(&mut self, pause: Duration) -> Result<(), ActionError> {
        self.wait(Instant::now() + pause, |_| false).map(drop)
    }

    /// Presses one after the other. Returns false if one could not be pressed.
    fn press_all(
        &mut self,
        found: &FoundBanner,
        actions: &[&Action],
        clicks: &mut Vec<Press>,
        until: Instant,
    ) -> Result<bool, ActionError> {
        for action in actions {
            let element = "(number) => globalThis[Symbol.for(\"pipewright\")].actions?.[number]?.element";
            let object = match self.run(&found.world, element, &json!([{"value": action.number}]), false, until) {
                Ok(remote) => remote.object_id,
                Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => None,
                Err(fault) => return Err(fault),
            };
            let Some(object) = object else { return Ok(false) };
            let at = match self.reach_object(&found.world, &object, (MovePurpose::Press, None), until) {
                Ok(at) => at,
                Err(InputRefusal::Fault(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame)) => {
                    return Ok(false);
                }
                Err(InputRefusal::Fault(fault)) => return Err(fault),
                Err(_) => return Ok(false),
            };
            let press = "(number) => { globalThis[Symbol.for(\"pipewright\")].pressed.add(globalThis[Symbol.for(\"pipewright\")].actions[number].element); }";
            self.run(&found.world, press, &json!([{"value": action.number}]), true, until)?;
            let (selector, frame_url) = (action.selector.clone(), found.url.clone());
            clicks.push(Press { selector, frame_url, time: SystemTime::now() });
            for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
                self.mouse(kind, at, buttons, until)?;
            }
            if action.kind == ActionKind::Toggle && self.is_on(found, action, until)? {
                // A save would accept it.
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_on(&mut self, found: &FoundBanner, toggle: &Action, until: Instant) -> Result<bool, ActionError> {
        let script = "(number) => { const { element } = globalThis[Symbol.for(\"pipewright\")].actions[number]; return element.checked || element.ariaChecked === \"true\"; }";
        let on = self.run(&found.world, script, &json!([{"value": toggle.number}]), true, until)?;
        Ok(on.value == Some(Value::Bool(true)))
    }

    /// Waits until a dialog has gone, or none of its buttons can be pressed any more.
    fn goes(
        &mut self,
        found: &FoundBanner,
        words: &Value,
        going: Instant,
        until: Instant,
    ) -> Result<bool, ActionError> {
        let number = found.banner.actions.first().map_or(0, |action| action.number);
        let is_there = "(number) => { const { container } = globalThis[Symbol.for(\"pipewright\")].actions[number];
            if (!container.isConnected || !Element.prototype.checkVisibility.call(container, { opacityProperty: true, \
            visibilityProperty: true })) return false;
            const box = Element.prototype.getBoundingClientRect.call(container);
            return box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && \
            box.left < innerWidth; }";
        let is_frame_there = "(number) => { const frame = globalThis[Symbol.for(\"pipewright\")].frames_of[number], box = frame.getBoundingClientRect();
            return frame.isConnected && frame.checkVisibility({ opacityProperty: true, visibilityProperty: true })
                && box.width > 1 && box.height > 1 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && \
                box.left < innerWidth; }";
        let mut places: Vec<(&IsolatedWorld, u32, &str)> = Vec::new();
        places.extend(found.around.iter().map(|(world, number)| (world, *number, is_frame_there)));
        places.push((&found.world, number, is_there));
        loop {
            for (world, number, script) in &places {
                match self.run(world, script, &json!([{"value": number}]), true, until) {
                    Ok(remote) if remote.value == Some(Value::Bool(true)) => {}
                    // Its document has gone.
                    Ok(_)
                    | Err(
                        ActionError::Refused(_)
                        | ActionError::NoPage
                        | ActionError::SilentFrame
                        | ActionError::Script(_),
                    ) => {
                        return Ok(true);
                    }
                    Err(fault) => return Err(fault),
                }
            }
            if Instant::now() >= going {
                // Its container may stay, empty or for something else.
                return Ok(self.find_banners(words, until).is_ok_and(|found| found.is_empty()));
            }
            self.pause(Duration::from_millis(30))?;
        }
    }
}
