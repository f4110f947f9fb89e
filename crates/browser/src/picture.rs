//! Screenshots of a page, with the numbers of its elements if wanted.

use crate::elements::Element;
use crate::worlds::IsolatedWorld;
use crate::{ActionError, Browser};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Instant;

const OVERLAY: &str = include_str!("scripts/overlay.js");

/// The part of the page to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureArea {
    /// The visible part.
    Viewport,
    /// The complete page.
    Page,
}

/// The colours of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberColours {
    /// White on several colours.
    Colours,
    /// Black on yellow.
    HighContrast,
}

#[derive(Deserialize)]
struct Picture {
    data: String,
}

impl Browser {
    /// A screenshot of the active page, as PNG.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn picture(&mut self, extent: PictureArea, until: Instant) -> Result<Vec<u8>, ActionError> {
        let asked =
            json!({"format": "png", "captureBeyondViewport": extent == PictureArea::Page, "optimizeForSpeed": true});
        let Picture { data } = self.call_page("Page.captureScreenshot", &asked, until)?;
        STANDARD.decode(data).map_err(|error| ActionError::Unreadable(format!("a picture: {error}")))
    }

    /// Draws the numbers of elements over them, until [`Browser::hide_numbers`]. Returns how many are in view. Elements
    /// that no longer exist are skipped.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn show_numbers(
        &mut self,
        elements: &[Element],
        scheme: NumberColours,
        until: Instant,
    ) -> Result<u64, ActionError> {
        let mut badges: BTreeMap<IsolatedWorld, Vec<(u32, u32)>> = BTreeMap::new();
        for element in elements {
            if let Some((world, number)) = self.numbers.find(element.index) {
                badges.entry(world).or_default().push((number, element.index));
            }
        }
        let mut drawn = 0;
        for (world, badges) in badges {
            let arguments = json!([{"value": badges}, {"value": scheme == NumberColours::HighContrast}]);
            let drawn_there = self.run(&world, OVERLAY, &arguments, true, until)?;
            drawn += drawn_there.value.and_then(|value| value.as_u64()).unwrap_or(0);
        }
        Ok(drawn)
    }

    /// Removes the numbers drawn by [`Browser::show_numbers`].
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn hide_numbers(&mut self, until: Instant) -> Result<(), ActionError> {
        let worlds = Vec::from_iter(self.numbers.worlds.values().map(|(world, _)| world.clone()));
        for world in worlds {
            match self.run(&world, OVERLAY, &json!([{"value": []}]), true, until) {
                // The frame has gone.
                Ok(_) | Err(ActionError::Refused(_) | ActionError::NoPage) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }
}
