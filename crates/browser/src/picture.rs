//! Screenshots of a page, with the numbers of its elements if wanted.

use crate::elements::Element;
use crate::navigation::LATE_STYLES;
use crate::worlds::IsolatedWorld;
use crate::{ActionError, Browser, InputRefusal};
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
    /// The element with this number, which is scrolled into view.
    Element(u32),
}

/// How a picture is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PictureFormat {
    /// JPEG instead of PNG.
    pub is_jpeg: bool,
    /// Pixels of the picture per CSS pixel, relative to the screen's; 1 is the full size.
    pub scale: f64,
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
struct LayoutMetrics {
    #[serde(rename = "cssVisualViewport")]
    window: Window,
    #[serde(rename = "cssContentSize")]
    page: Size,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Window {
    page_x: f64,
    page_y: f64,
    client_width: f64,
    client_height: f64,
}

#[derive(Deserialize)]
struct Size {
    width: f64,
    height: f64,
}

#[derive(Deserialize)]
struct Picture {
    data: String,
}

impl Browser {
    /// A screenshot of the active page.
    ///
    /// # Errors
    /// The element no longer exists or is not displayed; the page does not answer in time, or at all.
    pub fn picture(
        &mut self,
        extent: PictureArea,
        format: PictureFormat,
        until: Instant,
    ) -> Result<Vec<u8>, InputRefusal> {
        let kind = if format.is_jpeg { "jpeg" } else { "png" };
        let mut asked =
            json!({"format": kind, "captureBeyondViewport": extent == PictureArea::Page, "optimizeForSpeed": true});
        if let Some([x, y, width, height]) = self.clip(extent, format.scale, until)? {
            asked["clip"] = json!({"x": x, "y": y, "width": width, "height": height, "scale": format.scale});
        }
        // Without its style sheets, the browser draws nothing.
        let soon = until.min(Instant::now() + LATE_STYLES);
        let Picture { data } = match self.call_page("Page.captureScreenshot", &asked, soon) {
            Err(ActionError::Late) if soon < until => {
                self.release_styles(until.min(Instant::now() + LATE_STYLES))?;
                self.call_page("Page.captureScreenshot", &asked, until)?
            }
            taken => taken?,
        };
        Ok(STANDARD.decode(data).map_err(|error| ActionError::Unreadable(format!("a picture: {error}")))?)
    }

    /// The part of the page to show, in CSS pixels of the document; `None` if nothing needs to be said of it.
    fn clip(&mut self, extent: PictureArea, scale: f64, until: Instant) -> Result<Option<[f64; 4]>, InputRefusal> {
        let element = match extent {
            PictureArea::Element(index) => Some(self.bounds(index, until)?),
            PictureArea::Viewport | PictureArea::Page if scale == 1.0 => return Ok(None),
            PictureArea::Viewport | PictureArea::Page => None,
        };
        let LayoutMetrics { window, page } = self.call_page("Page.getLayoutMetrics", &json!({}), until)?;
        Ok(Some(match (element, extent) {
            (Some([x, y, width, height]), _) => [x + window.page_x, y + window.page_y, width, height],
            (None, PictureArea::Page) => [0.0, 0.0, page.width, page.height],
            (None, _) => [window.page_x, window.page_y, window.client_width, window.client_height],
        }))
    }

    /// Scrolls an element into view, and returns its position in the window: x, y, width and height.
    fn bounds(&mut self, index: u32, until: Instant) -> Result<[f64; 4], InputRefusal> {
        let (world, object) = self.object(index, until)?.ok_or(InputRefusal::Stale)?;
        let quads = self.quads(&world, &object, until)?;
        let placement = self.placement(&world.session, until)?;
        let corners = quads.iter().flat_map(|quad| [0, 2, 4, 6].map(|at| placement.map((quad[at], quad[at + 1]))));
        let [left, top, right, bottom] = corners.fold(
            [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY],
            |[left, top, right, bottom], (x, y)| [left.min(x), top.min(y), right.max(x), bottom.max(y)],
        );
        if right <= left || bottom <= top {
            return Err(InputRefusal::Unseen);
        }
        Ok([left, top, right - left, bottom - top])
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
                Ok(_) | Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }
}
