//! What pages see of the device: the size of the window, a touch screen, and the colours that the person prefers.

use crate::{ActionError, Browser};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::time::Instant;

/// The size of a touch screen if none is given: that of a phone, in CSS pixels.
const PHONE: (u32, u32) = (390, 844);

/// What differs from the browser's own window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Device {
    /// Width and height of the page, in CSS pixels.
    pub viewport: Option<(u32, u32)>,
    /// A touch screen: pages are laid out as on a phone.
    pub is_touch: bool,
    /// Whether the person prefers dark colours; `None`: whatever the browser says.
    pub is_dark: Option<bool>,
}

impl Device {
    /// The commands that every session of a page or a frame gets.
    pub(crate) fn commands(self) -> Vec<(&'static str, Value)> {
        let size = self.viewport.or(self.is_touch.then_some(PHONE)).map(|(width, height)| {
            let size = json!({
                "width": width, "height": height, "screenWidth": width, "screenHeight": height, "deviceScaleFactor": 0,
                "mobile": self.is_touch,
            });
            ("Emulation.setDeviceMetricsOverride", size)
        });
        let touch = self.is_touch.then(|| ("Emulation.setTouchEmulationEnabled", json!({"enabled": true})));
        let colours = self.is_dark.map(|is_dark| {
            let scheme = if is_dark { "dark" } else { "light" };
            let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            ("Emulation.setEmulatedMedia", features)
        });
        size.into_iter().chain(touch).chain(colours).collect()
    }
}

impl Browser {
    /// What pages see of the device.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Changes the device for all pages, those that are opened later included.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn set_device(&mut self, device: Device, until: Instant) -> Result<(), ActionError> {
        let mut commands = device.commands();
        if !device.is_touch {
            commands.push(("Emulation.setTouchEmulationEnabled", json!({"enabled": false})));
        }
        self.device = device;
        self.emulation.retain(|(method, _)| commands.iter().all(|(other, _)| other != method));
        self.emulation.extend(commands.clone());
        let own = self.page()?.session.clone();
        let pages: Vec<String> = self.pages.all().iter().map(|page| page.session.clone()).collect();
        for session in pages.iter().flat_map(|page| self.pages.sessions_below(page)).collect::<Vec<_>>() {
            for (method, params) in &commands {
                match self.call(Some(&session), method, params, until) {
                    Ok(IgnoredAny) => {}
                    // A frame may disappear, and has no size of its own.
                    Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) if session != own => {
                    }
                    Err(fault) => return Err(fault),
                }
            }
        }
        Ok(())
    }
}
