//! Scrolling, and the contents of an element.

use crate::focus::ElementHandle;
use crate::worlds::IsolatedWorld;
use crate::{ActionError, Browser, InputRefusal};
use serde_json::{Value, json};
use std::time::Instant;

const SCROLL: &str = concat!(
    "function (...given) {",
    include_str!("scripts/members.js"),
    include_str!("scripts/tree.js"),
    "return (",
    include_str!("scripts/scroll.js"),
    ").apply(this, given) }"
);

/// A distance, or a position, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScrollMove {
    /// To the right, and downwards.
    By(f64, f64),
    /// To the position from the top.
    To(f64),
}

impl Browser {
    /// Scrolls the part of the page around an element, or, without one, the part that a mouse wheel in the middle of the
    /// window would scroll. Returns what was scrolled, as results show it; `None` if nothing can be.
    ///
    /// # Errors
    /// The element no longer exists; the page does not answer in time, or at all.
    pub fn scroll(
        &mut self,
        index: Option<u32>,
        by: ScrollMove,
        is_smooth: bool,
        until: Instant,
    ) -> Result<Option<Value>, InputRefusal> {
        let mut place = match index {
            Some(index) => self.object(index, until)?.ok_or(InputRefusal::Stale)?,
            None => self.middle_of_window(until)?,
        };
        // A frame scrolls its own document.
        if let Some(inner) = self.document_of_frame(&place, until)? {
            place = inner;
        }
        let (how, x, y) = match by {
            ScrollMove::By(x, y) => ("by", x, y),
            ScrollMove::To(y) => ("to", 0.0, y),
        };
        let given = [json!(how), json!(x), json!(y), json!(is_smooth), json!(index.is_some())];
        let arguments: Vec<Value> = given.into_iter().map(|value| json!({"value": value})).collect();
        loop {
            let scrolled = self.on_element_to_end(&place.0, &place.1, SCROLL, &json!(arguments), until)?;
            if let Some(scrolled) = scrolled.filter(|scrolled| !scrolled.is_null()) {
                return Ok(Some(scrolled));
            }
            match self.frame_element(&place.0, until)? {
                Some(around) => place = around,
                None => return Ok(None),
            }
        }
    }

    /// What is in the middle of the window, in whatever frame.
    fn middle_of_window(&mut self, until: Instant) -> Result<ElementHandle, InputRefusal> {
        let frame = self.main_frame()?;
        let world = self.world(&frame, until)?;
        let middle = "() => [innerWidth / 2, innerHeight / 2]";
        let [x, y]: [f64; 2] = self.run(&world, middle, &json!([]), true, until)?.read()?;
        let hit = match self.hit(&world.session, (x, y), until) {
            Ok(node) => self.place(&world.session, node, until)?,
            Err(InputRefusal::Unseen) => None,
            Err(refusal) => return Err(refusal),
        };
        match hit {
            Some(place) => Ok(place),
            None => {
                let root = self.run(&world, "() => document.documentElement", &json!([]), false, until)?;
                root.object_id.map(|object| (world, object)).ok_or(InputRefusal::Unseen)
            }
        }
    }

    /// The root of the document in a frame, if this is a frame's element.
    fn document_of_frame(
        &mut self,
        (world, object): &ElementHandle,
        until: Instant,
    ) -> Result<Option<ElementHandle>, InputRefusal> {
        let Some(id) = self.frame_id(world, object, until)? else { return Ok(None) };
        let Some(frame) = self.frames(until)?.into_iter().find(|frame| frame.id == id) else { return Ok(None) };
        let inner = self.world(&frame, until)?;
        let root = self.run(&inner, "() => document.documentElement", &json!([]), false, until)?;
        Ok(root.object_id.map(|object| (inner, object)))
    }

    /// Scrolls an element into the middle of the window.
    ///
    /// # Errors
    /// The element no longer exists, or the page does not answer.
    pub fn scroll_to(&mut self, index: u32, is_smooth: bool, until: Instant) -> Result<(), InputRefusal> {
        let (world, object) = self.object(index, until)?.ok_or(InputRefusal::Stale)?;
        Ok(self.scroll_to_middle(&world, &object, is_smooth, until)?)
    }

    pub(crate) fn scroll_to_middle(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        is_smooth: bool,
        until: Instant,
    ) -> Result<(), ActionError> {
        let script = "function (behavior) { this.scrollIntoView({ block: \"center\", inline: \"nearest\", behavior }); return \"\"; }";
        let behavior = if is_smooth { "smooth" } else { "instant" };
        self.on_element(world, object, script, &json!([{"value": behavior}]), until).map(drop)
    }

    /// The state of an element after text was typed into it.
    ///
    /// # Errors
    /// The element no longer exists, or the page does not answer.
    pub(crate) fn typed(
        &mut self,
        (world, object): &ElementHandle,
        text: &str,
        until: Instant,
    ) -> Result<FieldState, InputRefusal> {
        const SCRIPT: &str =
            concat!("function (text) {", include_str!("scripts/secret.js"), include_str!("scripts/typed.js"), "}");
        let state = self.on_element(world, object, SCRIPT, &json!([{"value": text}]), until)?;
        if state == "gone" {
            return Err(InputRefusal::Stale);
        }
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
    /// The element's value or content contains the text; if it has letters or digits, only these are compared, since fields
    /// format numbers and dates.
    pub is_in: bool,
    /// The element is for passwords, one-time codes or card numbers, according to its type or `autocomplete`.
    pub is_secret: bool,
}
