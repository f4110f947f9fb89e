//! Acting on a page as a person does: with the mouse and the keyboard.

use crate::keys::Chord;
use crate::worlds::World;
use crate::{Browser, Fault};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::fmt;
use std::time::Instant;

/// Why an element was not acted on.
#[derive(Debug)]
pub enum Refusal {
    /// The number is of an element that is no more.
    Stale,
    /// It has no place on the page.
    Unseen,
    /// It takes no input now.
    Disabled,
    /// Something is in the way at the point of the click: what it is.
    Covered(String),
    /// It is none that takes what was to be done: why.
    Unfit(String),
    /// The browser or the page.
    Fault(Fault),
}

impl fmt::Display for Refusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Stale => to.write_str("the element with this number is no more: list the elements anew"),
            Refusal::Unseen => to.write_str("the element has no place on the page"),
            Refusal::Disabled => to.write_str("the element is disabled"),
            Refusal::Covered(by) => write!(to, "{by} is in the way"),
            Refusal::Unfit(why) => to.write_str(why),
            Refusal::Fault(fault) => fault.fmt(to),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Fault(fault)
    }
}

/// What stands in an input before something is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typing {
    /// It is replaced.
    Replace,
    /// It stays, and the text comes behind it.
    Append,
}

const HIT: &str = include_str!("scripts/hit.js");

const FILL: &str = include_str!("scripts/fill.js");

const CHOOSE: &str = include_str!("scripts/choose.js");

#[derive(Deserialize)]
struct Quads {
    quads: Vec<[f64; 8]>,
}

#[derive(Deserialize)]
struct Boxes {
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    content: [f64; 8],
}

#[derive(Deserialize)]
struct Metrics {
    #[serde(rename = "cssLayoutViewport")]
    viewport: Viewport,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Viewport {
    page_x: f64,
    page_y: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hit {
    backend_node_id: i64,
}

#[derive(Deserialize)]
struct Answered {
    result: Answer,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    value: Option<Value>,
    object_id: Option<String>,
}

/// So many parts of an element are tried.
const PARTS: usize = 4;

impl Browser {
    /// Clicks an element: it is scrolled into view, and what is at the point of the click is looked at.
    ///
    /// # Errors
    /// It was not clicked: why. A dialog that the click opens is a [`Fault::Dialog`], and the click has happened.
    pub fn click(&mut self, index: u32, until: Instant) -> Result<(), Refusal> {
        let (world, object) = self.object(index, until)?.ok_or(Refusal::Stale)?;
        // Behind another page, input waits for a picture that is not drawn.
        if self.on_element(
            &world,
            &object,
            "function () { return document.hidden ? \"hidden\" : \"\"; }",
            &json!([]),
            until,
        )? == "hidden"
        {
            self.dispatch("Page.bringToFront", &json!({}), until)?;
        }
        let (x, y) = match self.free_point(&world, &object, until) {
            Err(hidden @ (Refusal::Covered(_) | Refusal::Unseen)) => {
                // A box or file input that is hidden is worked through its label.
                let label = "function () { return this.labels?.[0] ?? null; }";
                let label = self.object_of(&world, &object, label, until)?.ok_or(hidden)?;
                self.free_point(&world, &label, until)?
            }
            found => found?,
        };
        let mut mouse = json!({"type": "mouseMoved", "x": x, "y": y, "button": "none", "buttons": 0, "clickCount": 0});
        self.dispatch("Input.dispatchMouseEvent", &mouse, until)?;
        for (kind, buttons) in [("mousePressed", 1), ("mouseReleased", 0)] {
            mouse = json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1});
            self.dispatch("Input.dispatchMouseEvent", &mouse, until)?;
        }
        Ok(())
    }

    /// Types text, of any script, into an element.
    ///
    /// # Errors
    /// Nothing was typed: why.
    pub fn type_text(&mut self, index: u32, text: &str, typing: Typing, until: Instant) -> Result<(), Refusal> {
        let (world, object) = self.object(index, until)?.ok_or(Refusal::Stale)?;
        let _: IgnoredAny =
            self.call(Some(&world.session), "DOM.scrollIntoViewIfNeeded", &json!({"objectId": object}), until)?;
        let arguments = json!([{"value": text}, {"value": typing == Typing::Append}]);
        match self.on_element(&world, &object, FILL, &arguments, until)?.as_str() {
            "" => {}
            "end" => self.press(&Chord::read("End").map_err(Refusal::Unfit)?, until)?,
            "done" => return Ok(()),
            "disabled" => return Err(Refusal::Disabled),
            why => return Err(Refusal::Unfit(why.to_owned())),
        }
        if text.is_empty() && typing == Typing::Replace {
            return self.press(&Chord::read("Delete").map_err(Refusal::Unfit)?, until);
        }
        Ok(self.dispatch("Input.insertText", &json!({"text": text}), until)?)
    }

    /// Chooses an option of a list, by its label or its value.
    ///
    /// # Errors
    /// None was chosen: why.
    pub fn choose(&mut self, index: u32, option: &str, until: Instant) -> Result<(), Refusal> {
        let (world, object) = self.object(index, until)?.ok_or(Refusal::Stale)?;
        match self.on_element(&world, &object, CHOOSE, &json!([{"value": option}]), until)?.as_str() {
            "" => Ok(()),
            "disabled" => Err(Refusal::Disabled),
            why => Err(Refusal::Unfit(why.to_owned())),
        }
    }

    /// Presses a key, and releases it.
    ///
    /// # Errors
    /// The page answers not in time, or not at all.
    pub fn press(&mut self, chord: &Chord, until: Instant) -> Result<(), Refusal> {
        let Chord { key, code, virtual_code, text, modifiers } = chord;
        let mut event = json!({
            "type": if text.is_some() { "keyDown" } else { "rawKeyDown" }, "key": key, "code": code,
            "windowsVirtualKeyCode": virtual_code, "modifiers": modifiers,
        });
        if let Some(text) = text {
            event["text"] = text.as_str().into();
        }
        self.dispatch("Input.dispatchKeyEvent", &event, until)?;
        event["type"] = "keyUp".into();
        Ok(self.dispatch("Input.dispatchKeyEvent", &event, until)?)
    }

    /// Calls a function of the element with this number; what it gives is text.
    pub(crate) fn with_element(
        &mut self,
        index: u32,
        function: &str,
        arguments: &Value,
        until: Instant,
    ) -> Result<String, Refusal> {
        let (world, object) = self.object(index, until)?.ok_or(Refusal::Stale)?;
        Ok(self.on_element(&world, &object, function, arguments, until)?)
    }

    fn dispatch(&mut self, method: &str, event: &Value, until: Instant) -> Result<(), Fault> {
        let IgnoredAny = self.call_page(method, event, until)?;
        Ok(())
    }

    /// Scrolls an element into view, and gives the middles of its first parts.
    fn points(&mut self, world: &World, object: &str, until: Instant) -> Result<Vec<(f64, f64)>, Refusal> {
        let of = json!({"objectId": object});
        let placed = |found: Result<IgnoredAny, Fault>| match found {
            Err(Fault::Refused(_)) => Err(Refusal::Unseen),
            found => Ok(found?),
        };
        placed(self.call(Some(&world.session), "DOM.scrollIntoViewIfNeeded", &of, until))?;
        let quads: Result<Quads, Fault> = self.call(Some(&world.session), "DOM.getContentQuads", &of, until);
        let quads = match quads {
            Err(Fault::Refused(_)) => return Err(Refusal::Unseen),
            quads => quads?.quads,
        };
        let middle = |quad: &[f64; 8]| {
            let x = quad.iter().step_by(2).sum::<f64>() / 4.0;
            let y = quad.iter().skip(1).step_by(2).sum::<f64>() / 4.0;
            (x, y)
        };
        Ok(quads.iter().filter(|quad| area(quad) > 1.0).take(PARTS).map(middle).collect())
    }

    /// The middle of an element, in the window, where nothing else is in the way; of one of its parts if it has several, such as lines.
    fn free_point(&mut self, world: &World, object: &str, until: Instant) -> Result<(f64, f64), Refusal> {
        if self.pages().around(&world.session).is_some() {
            self.offset(&world.session, until)?;
            self.points(world, object, until)?;
            self.wait_for_pictures(world, until)?;
        }
        let offset = self.offset(&world.session, until)?;
        let mut refusal = Refusal::Unseen;
        for (x, y) in self.points(world, object, until)? {
            let hit = self.hit(&world.session, x, y, until)?;
            let Some(hit) = self.resolve(hit, world, until) else { continue };
            match self.on_element(world, object, HIT, &json!([{"objectId": hit}]), until)?.as_str() {
                "" if self.is_free(&world.session, x, y, until)? => return Ok((x + offset.0, y + offset.1)),
                "" => refusal = Refusal::Covered("something before its frame".to_owned()),
                "disabled" => return Err(Refusal::Disabled),
                by => refusal = Refusal::Covered(by.to_owned()),
            }
        }
        Err(refusal)
    }

    /// Waits until what was scrolled is drawn, also around the frame: the browser finds the process that a point belongs to by the pictures
    /// that it had last.
    fn wait_for_pictures(&mut self, world: &World, until: Instant) -> Result<(), Fault> {
        let main = self.main_frame()?;
        let main = self.world(&main, until)?;
        let drawn = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn, 20))))";
        for world in [&main, world] {
            self.run_to_end(world, drawn, &json!([]), until)?;
        }
        Ok(())
    }

    /// Where the frame of a session is in the window; it is scrolled into view.
    fn offset(&mut self, session: &str, until: Instant) -> Result<(f64, f64), Refusal> {
        let Some((parent, owner)) = self.owner(session, until)? else { return Ok((0.0, 0.0)) };
        let node = json!({"backendNodeId": owner});
        let IgnoredAny = self.call(Some(&parent), "DOM.scrollIntoViewIfNeeded", &node, until)?;
        let Boxes { model } = self.call(Some(&parent), "DOM.getBoxModel", &node, until)?;
        let [x, y, ..] = model.content;
        let (before_x, before_y) = self.offset(&parent, until)?;
        Ok((x + before_x, y + before_y))
    }

    /// Whether nothing is before the frame of a session at a point of it, in any frame around it.
    fn is_free(&mut self, session: &str, x: f64, y: f64, until: Instant) -> Result<bool, Refusal> {
        let Some((parent, owner)) = self.owner(session, until)? else { return Ok(true) };
        let Boxes { model } = self.call(Some(&parent), "DOM.getBoxModel", &json!({"backendNodeId": owner}), until)?;
        let [left, top, ..] = model.content;
        let (x, y) = (x + left, y + top);
        Ok(self.hit(&parent, x, y, until)? == owner && self.is_free(&parent, x, y, until)?)
    }

    /// The element that the frame of a session stands in, and the session of that; `None` for a page's own.
    fn owner(&mut self, session: &str, until: Instant) -> Result<Option<(String, i64)>, Fault> {
        let Some((parent, frame)) = self.pages().around(session) else { return Ok(None) };
        let Hit { backend_node_id } =
            self.call(Some(&parent), "DOM.getFrameOwner", &json!({"frameId": frame}), until)?;
        Ok(Some((parent, backend_node_id)))
    }

    /// What a function of an element gives, as an object; `None` where that is null.
    fn object_of(
        &mut self,
        world: &World,
        object: &str,
        function: &str,
        until: Instant,
    ) -> Result<Option<String>, Fault> {
        let asked = json!({"functionDeclaration": function, "objectId": object});
        let answered: Answered = self.call(Some(&world.session), "Runtime.callFunctionOn", &asked, until)?;
        Ok(answered.result.object_id)
    }

    /// The node at a point of a frame's own window.
    fn hit(&mut self, session: &str, x: f64, y: f64, until: Instant) -> Result<i64, Refusal> {
        // This command counts from the beginning of the document.
        let Metrics { viewport } = self.call(Some(session), "Page.getLayoutMetrics", &json!({}), until)?;
        let at = json!({"x": (x + viewport.page_x) as i64, "y": (y + viewport.page_y) as i64});
        match self.call(Some(session), "DOM.getNodeForLocation", &at, until) {
            Ok(Hit { backend_node_id }) => Ok(backend_node_id),
            Err(Fault::Refused(_)) => Err(Refusal::Unseen),
            Err(fault) => Err(fault.into()),
        }
    }

    /// Calls a function of an element; what it gives is text.
    fn on_element(
        &mut self,
        world: &World,
        object: &str,
        function: &str,
        arguments: &Value,
        until: Instant,
    ) -> Result<String, Fault> {
        let asked =
            json!({"functionDeclaration": function, "objectId": object, "arguments": arguments, "returnByValue": true});
        let answered: Answered = self.call(Some(&world.session), "Runtime.callFunctionOn", &asked, until)?;
        Ok(answered.result.value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default())
    }
}

/// Of a quadrilateral, by the shoelace formula.
fn area(quad: &[f64; 8]) -> f64 {
    let corner = |index: usize| (quad[index % 4 * 2], quad[index % 4 * 2 + 1]);
    let twice: f64 =
        (0..4).map(|index| corner(index).0 * corner(index + 1).1 - corner(index + 1).0 * corner(index).1).sum();
    (twice / 2.0).abs()
}
