//! Clicks: where, with which button, how often, and with which keys held.

use crate::pointer::{MousePlace, MovePurpose};
use crate::{ActionError, Browser, InputRefusal};
use serde_json::json;
use std::time::{Duration, Instant};

/// A button of the mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MouseButton {
    /// The main one.
    #[default]
    Left,
    /// The one for context menus.
    Right,
    /// The wheel: opens links in new tabs.
    Middle,
}

/// How the mouse is pressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClickOptions {
    /// Which button.
    pub button: MouseButton,
    /// Whether there is a second click at once.
    pub is_double: bool,
    /// The keys that are held: Alt 1, Control 2, Meta 4, Shift 8.
    pub modifiers: u32,
    /// How long the button is held down.
    pub hold: Duration,
}

impl MouseButton {
    /// The name and the bit of the DevTools protocol.
    fn wire(self) -> (&'static str, u8) {
        match self {
            MouseButton::Left => ("left", 1),
            MouseButton::Right => ("right", 2),
            MouseButton::Middle => ("middle", 4),
        }
    }
}

impl Browser {
    /// Clicks an element with the left button: scrolls it into view, and checks what is at the point of the click.
    ///
    /// # Errors
    /// As [`Browser::click_at`].
    pub fn click(&mut self, index: u32, until: Instant) -> Result<(), InputRefusal> {
        self.click_at(MousePlace::Element(index), ClickOptions::default(), until)
    }

    /// Clicks. An element is scrolled into view, and what is at the point of the click is checked.
    ///
    /// # Errors
    /// Why nothing was clicked. After an [`ActionError::Dialog`], the click has happened and opened the dialog.
    pub fn click_at(&mut self, place: MousePlace, options: ClickOptions, until: Instant) -> Result<(), InputRefusal> {
        let at = self.go_to(place, MovePurpose::Press, until)?;
        self.press_mouse(at, options, until)
    }

    /// Clicks at a point of the window, where the mouse is.
    ///
    /// # Errors
    /// As [`Browser::click_at`].
    pub(crate) fn press_mouse(
        &mut self,
        at: (f64, f64),
        options: ClickOptions,
        until: Instant,
    ) -> Result<(), InputRefusal> {
        for count in 1..=if options.is_double { 2 } else { 1 } {
            self.press_button("mousePressed", at, options, count, until)?;
            if !options.hold.is_zero() {
                self.wait((Instant::now() + options.hold).min(until), |_| false)?;
            }
            self.press_button("mouseReleased", at, options, count, until)?;
        }
        Ok(())
    }

    fn press_button(
        &mut self,
        kind: &str,
        (x, y): (f64, f64),
        options: ClickOptions,
        count: u8,
        until: Instant,
    ) -> Result<(), ActionError> {
        let (button, bit) = options.button.wire();
        let buttons = if kind == "mousePressed" { bit } else { 0 };
        let event = json!({
            "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": count,
            "modifiers": options.modifiers,
        });
        self.dispatch("Input.dispatchMouseEvent", &event, until)
    }
}
