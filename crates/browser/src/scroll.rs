//! Scrolling, and the contents of an element.

use crate::{ActionError, Browser, InputRefusal};
use serde_json::json;
use std::time::Instant;

/// Scrolls what a person would scroll: the page, or its largest scrollable part if the page itself does not scroll.
const SCROLL: &str = concat!(
    "(...given) => {",
    include_str!("scripts/members.js"),
    "return (",
    include_str!("scripts/scroll.js"),
    ")(...given) }"
);

impl Browser {
    /// Scrolls the active page: `("by", x, y)` by a distance, `("to", x, y)` to a position, both in CSS pixels.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn scroll(
        &mut self,
        (how, x, y): (&str, f64, f64),
        is_smooth: bool,
        until: Instant,
    ) -> Result<(), ActionError> {
        let frame = self.main_frame()?;
        let world = self.world(&frame, until)?;
        let arguments = json!([{"value": how}, {"value": x}, {"value": y}, {"value": is_smooth}]);
        self.run_to_end(&world, SCROLL, &arguments, until).map(drop)
    }

    /// Scrolls an element into the middle of the window.
    ///
    /// # Errors
    /// The element no longer exists, or the page does not answer.
    pub fn scroll_to(&mut self, index: u32, is_smooth: bool, until: Instant) -> Result<(), InputRefusal> {
        let script = "function (behavior) { this.scrollIntoView({ block: \"center\", inline: \"nearest\", behavior }); return \"\"; }";
        let behavior = if is_smooth { "smooth" } else { "instant" };
        self.with_element(index, script, &json!([{"value": behavior}]), until).map(drop)
    }

    /// The state of an element after text was typed into it.
    ///
    /// # Errors
    /// The element no longer exists, or the page does not answer.
    pub fn typed(&mut self, index: u32, text: &str, until: Instant) -> Result<FieldState, InputRefusal> {
        const SCRIPT: &str =
            concat!("function (text) {", include_str!("scripts/secret.js"), include_str!("scripts/typed.js"), "}");
        let state = self.with_element(index, SCRIPT, &json!([{"value": text}]), until)?;
        Ok(FieldState { is_in: state.starts_with("in"), is_secret: state.ends_with("secret") })
    }

    /// The address of a link, or of the link around an element.
    ///
    /// # Errors
    /// The element no longer exists, or the page does not answer.
    pub fn link(&mut self, index: u32, until: Instant) -> Result<Option<String>, InputRefusal> {
        let script = "function () { return String(this.closest(\"a[href], area[href]\")?.href ?? \"\"); }";
        let address = self.with_element(index, script, &json!([]), until)?;
        Ok(Some(address).filter(|address| !address.is_empty()))
    }
}

/// The state of an element after text was typed into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldState {
    /// The element's value or content contains the text, ignoring white space.
    pub is_in: bool,
    /// The element is for passwords, one-time codes or card numbers, according to its type or `autocomplete`.
    pub is_secret: bool,
}
