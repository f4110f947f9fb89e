//! Numbers drawn over the page, and pictures.

use super::numbers::Number;
use super::report::ResultMembers;
use super::table::Arguments;
use super::{Problem, ProblemKind, ToolResult, ToolSession};
use crate::{NumberColours, PictureArea, PictureFormat, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Instant;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ShowOverlay {
    /// The colours of the numbers.
    #[serde(default)]
    scheme: OverlayScheme,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum OverlayScheme {
    #[default]
    Default,
    HighContrast,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HideOverlay {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Screenshot {
    /// The complete page instead of the visible part.
    #[serde(default)]
    full_page: bool,
    /// The number of an element: only that one.
    index: Option<Number>,
    /// JPEG, which is smaller, instead of PNG.
    #[serde(default)]
    jpeg: bool,
    /// The size, from 0.1 to 1, which is the full size.
    scale: Option<f64>,
}

impl Arguments for ShowOverlay {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let scheme = match self.scheme {
            OverlayScheme::Default => NumberColours::Colours,
            OverlayScheme::HighContrast => NumberColours::HighContrast,
        };
        session.show_overlay(scheme, until)
    }
}

impl Arguments for HideOverlay {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let is_shown = session.overlay.take().is_some();
        session.browser.hide_numbers(until)?;
        Ok(ResultMembers::default().with("removed", is_shown))
    }
}

impl Arguments for Screenshot {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        // The drawn numbers may be outdated: the numbers in a picture are those of a list.
        let numbers = match session.overlay {
            Some(scheme) => session.show_overlay(scheme, until)?,
            None => ResultMembers::default(),
        };
        let scale = self.scale.unwrap_or(1.0);
        if !(0.1..=1.0).contains(&scale) {
            return Err(Problem::new(ProblemKind::InvalidArgs, "scale must be a number from 0.1 to 1"));
        }
        let extent = match self.index {
            Some(number) => PictureArea::Element(session.element(number, None, until)?),
            None if self.full_page => PictureArea::Page,
            None => PictureArea::Viewport,
        };
        let format = PictureFormat { is_jpeg: self.jpeg, scale };
        let picture = session.browser.picture(extent, format, until)?;
        Ok(session.store(&picture, if self.jpeg { "jpg" } else { "png" })?.and(numbers))
    }
}

impl ToolSession {
    /// Lists the visible elements, and draws their numbers.
    pub(super) fn show_overlay(&mut self, scheme: NumberColours, until: Instant) -> ToolResult {
        let (items, _) = self.snapshot(Scope::Viewport, false, until)?;
        // The numbers may be pressed by the picture alone.
        self.listed_deals(&items.iter().collect::<Vec<_>>(), until)?;
        let created = self.browser.show_numbers(&items, scheme, until)?;
        self.overlay = Some(scheme);
        Ok(ResultMembers::default().with("created", created).with("snapshot_id", self.snapshot_id()))
    }

    /// Stores a picture or a document.
    pub(super) fn store(&mut self, bytes: &[u8], ending: &str) -> ToolResult {
        let path = (self.settings.store)(bytes, ending)
            .map_err(|error| Problem::new(ProblemKind::ToolError, format!("the file cannot be written: {error}")))?;
        Ok(ResultMembers::default().with("path", path.display().to_string()).with("bytes", bytes.len()))
    }
}
