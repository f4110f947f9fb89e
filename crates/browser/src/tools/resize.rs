//! What pages see of the device, changed while they are shown.

use super::report::ResultMembers;
use super::table::Arguments;
use super::{Problem, ProblemKind, ToolResult, ToolSession};
use crate::Device;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Instant;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Resize {
    /// Width of the page in CSS pixels, from 1 to 16384; with height.
    width: Option<u32>,
    /// Height of the page in CSS pixels, from 1 to 16384; with width.
    height: Option<u32>,
    /// Whether it is a touch screen, with pages laid out as on a phone.
    touch: Option<bool>,
    /// Whether pages are asked for dark colours, or else for light ones.
    dark: Option<bool>,
}

/// The longest side of a page.
const LONGEST: u32 = 16384;

impl Arguments for Resize {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let now = session.browser.device();
        let viewport = match (self.width, self.height) {
            (Some(width), Some(height)) if [width, height].iter().all(|side| (1..=LONGEST).contains(side)) => {
                Some((width, height))
            }
            (None, None) => now.viewport,
            _ => {
                let why = "give both width and height, in CSS pixels from 1 to 16384";
                return Err(Problem::new(ProblemKind::InvalidArgs, why));
            }
        };
        let is_touch = self.touch.unwrap_or(now.is_touch);
        let device = Device { viewport, is_touch, is_dark: self.dark.or(now.is_dark) };
        session.act(None, until, |session| {
            session.browser.set_device(device, until)?;
            Ok(ResultMembers::default())
        })
    }
}
