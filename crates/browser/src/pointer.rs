//! The mouse: finds a point where an element can be reached, and acts there.

use crate::input::InputRefusal;
use crate::worlds::IsolatedWorld;
use crate::{ActionError, Browser};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::time::{Duration, Instant};

const HIT_TEST_SCRIPT: &str = concat!(
    "function (...hit) {",
    include_str!("scripts/members.js"),
    include_str!("scripts/naming.js"),
    include_str!("scripts/tree.js"),
    "return (",
    include_str!("scripts/hit.js"),
    ").apply(this, hit) }"
);

/// What a person sees in the place of an element: its label, or the box around it.
const SHOWN: &str = concat!(
    "function () {",
    include_str!("scripts/members.js"),
    include_str!("scripts/naming.js"),
    include_str!("scripts/tree.js"),
    "return labelOf(this) ?? (isVisible(this) && !isCutOff(this) ? null : boxOf(this)) }"
);

/// The middle of an area of an image, which is scrolled into view.
const AREA: &str = concat!(
    "function () {",
    include_str!("scripts/members.js"),
    include_str!("scripts/naming.js"),
    include_str!("scripts/tree.js"),
    "const image = this.localName === \"area\" ? imageOf(this) : null;
    if (!image) return \"\";
    image.scrollIntoView({ block: \"nearest\" });
    const box = placeOf(this, image);
    return `${box.x + box.width / 2} ${box.y + box.height / 2}`; }"
);

/// The text of an element outside of any control in it, by index.
const OWN_TEXT: &str = include_str!("scripts/own-text.js");

/// Where the mouse goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MousePlace {
    /// The element with this number, at a point where nothing covers it.
    Element(u32),
    /// A point of that element, from its upper left corner, in CSS pixels.
    Within(u32, f64, f64),
    /// A point of the window, whatever is there, in CSS pixels.
    Window(f64, f64),
}

/// The purpose of moving the mouse to an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MovePurpose {
    /// To press it, so not a control inside it.
    Press,
    /// To be over it, or over anything in it.
    Rest,
    /// To drag it, or onto it: what takes no pointer is dragged by what is around it.
    Drag,
}

impl MovePurpose {
    /// Its name in the hit test.
    fn name(self) -> &'static str {
        match self {
            MovePurpose::Press => "press",
            MovePurpose::Rest => "rest",
            MovePurpose::Drag => "drag",
        }
    }
}

/// The purpose, and the point of the element that is meant, if not any of it: from its upper left corner, in CSS pixels.
pub(crate) type MoveAim = (MovePurpose, Option<(f64, f64)>);

#[derive(Deserialize)]
struct ContentQuads {
    quads: Vec<[f64; 8]>,
}

/// How many parts of an element are tried.
const PARTS: usize = 4;

/// How long changes under the mouse are waited for, and how often they are checked.
const HOVERED: Duration = Duration::from_millis(500);
const FRAME: Duration = Duration::from_millis(20);

impl Browser {
    /// Moves the mouse to a place, and leaves it there.
    ///
    /// # Errors
    /// The mouse was not moved; the reason.
    pub fn hover(&mut self, place: MousePlace, until: Instant) -> Result<(), InputRefusal> {
        self.go_to(place, MovePurpose::Rest, until).map(drop)
    }

    /// Moves the mouse to a place, and returns the point in the window. An element is scrolled into view, and what is
    /// at the point is checked.
    pub(crate) fn go_to(
        &mut self,
        place: MousePlace,
        purpose: MovePurpose,
        until: Instant,
    ) -> Result<(f64, f64), InputRefusal> {
        match place {
            MousePlace::Element(index) => self.point_at(index, (purpose, None), until),
            MousePlace::Within(index, x, y) => self.point_at(index, (purpose, Some((x, y))), until),
            MousePlace::Window(x, y) => {
                self.mouse("mouseMoved", (x, y), 0, until)?;
                Ok((x, y))
            }
        }
    }

    /// Moves the mouse to a point where an element can be reached. Waits for changes that this causes: an image that
    /// loads only then, a menu that slides in.
    pub(crate) fn point_at(&mut self, index: u32, aim: MoveAim, until: Instant) -> Result<(f64, f64), InputRefusal> {
        let (world, object) = self.object(index, until)?.ok_or(InputRefusal::Stale)?;
        let mut at = self.reach_object(&world, &object, aim, until)?;
        self.mouse("mouseMoved", at, 0, until)?;
        let enough = until.min(Instant::now() + HOVERED);
        loop {
            match self.reach_shown(&world, &object, aim, until) {
                // The window may not have had the frame's picture when the mouse was moved.
                Ok(now) if now == at && Instant::now() < enough && !self.is_under_mouse(&world, &object, until)? => {
                    self.wait(Instant::now() + FRAME, |_| false)?;
                    self.mouse("mouseMoved", at, 0, until)?;
                }
                Ok(now) if now == at || Instant::now() >= enough => break,
                Ok(now) => {
                    at = now;
                    self.mouse("mouseMoved", at, 0, until)?;
                }
                Err(InputRefusal::Covered(_) | InputRefusal::Unseen) if Instant::now() < enough => {
                    self.wait(Instant::now() + FRAME, |_| false)?;
                }
                Err(InputRefusal::Unseen) => {
                    let why = "the element hides while the mouse is over it, which may have shown something else: list the elements again";
                    return Err(InputRefusal::Unfit(why.to_owned()));
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(at)
    }

    /// Whether the process of a frame also finds the mouse over this element. The point was mapped through the frames
    /// around it.
    fn is_under_mouse(&mut self, world: &IsolatedWorld, object: &str, until: Instant) -> Result<bool, ActionError> {
        if self.pages().around(&world.session).is_none() {
            return Ok(true);
        }
        let hovered = "function () { return [this, ...(this.labels ?? [])].some((one) => one.matches(\":hover\")) ? \"hovered\" : \"\"; }";
        Ok(self.on_element(world, object, hovered, &json!([]), until)? == "hovered")
    }

    /// Scrolls an element into view, and returns the point in the window where it can be reached.
    pub(crate) fn reach(&mut self, index: u32, aim: MoveAim, until: Instant) -> Result<(f64, f64), InputRefusal> {
        let (world, object) = self.object(index, until)?.ok_or(InputRefusal::Stale)?;
        self.reach_object(&world, &object, aim, until)
    }

    pub(crate) fn reach_object(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        aim: MoveAim,
        until: Instant,
    ) -> Result<(f64, f64), InputRefusal> {
        // Behind another page, input would wait for a frame that is not drawn.
        let is_hidden = "function () { return document.hidden ? \"hidden\" : \"\"; }";
        if self.on_element(world, object, is_hidden, &json!([]), until)? == "hidden" {
            self.dispatch("Page.bringToFront", &json!({}), until)?;
        }
        self.reach_shown(world, object, aim, until)
    }

    /// As [`Browser::reach_object`], in a page that is not behind another one.
    fn reach_shown(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        aim: MoveAim,
        until: Instant,
    ) -> Result<(f64, f64), InputRefusal> {
        let found = match self.free_point(world, object, aim, until) {
            Err(InputRefusal::Covered(_)) => {
                // A header or footer may stick to the edge of what scrolls.
                self.scroll_to_middle(world, object, false, until)?;
                self.free_point(world, object, aim, until)
            }
            found => found,
        };
        match found {
            Err(hidden @ (InputRefusal::Covered(_) | InputRefusal::Unseen)) => {
                // A table that shows only some of its rows draws them anew while it is scrolled.
                let is_gone = "function () { return this.isConnected ? \"\" : \"gone\"; }";
                if self.on_element(world, object, is_gone, &json!([]), until)? == "gone" {
                    return Err(InputRefusal::Stale);
                }
                // A hidden field is used through its label, or through the box that a person sees in its place.
                let shown = self.object_of(world, object, SHOWN, until)?.ok_or(hidden)?;
                self.free_point(world, &shown, aim, until)
            }
            found => found,
        }
    }

    /// `buttons` is 1 if the left button is down after the event.
    pub(crate) fn mouse(
        &mut self,
        kind: &str,
        (x, y): (f64, f64),
        buttons: u8,
        until: Instant,
    ) -> Result<(), ActionError> {
        let is_move = kind == "mouseMoved" && buttons == 0;
        let from = if is_move { self.mouse_at.replace((x, y)).filter(|from| *from != (x, y)) } else { None };
        if let Some((from_x, from_y)) = from {
            // A person's mouse leaves a place before it reaches another. jQuery UI ignores what has opened under the
            // mouse until the next move, and takes that for one over what it has ignored.
            self.mouse_event(kind, (from_x + (x - from_x).signum(), from_y + (y - from_y).signum()), buttons, until)?;
        }
        self.mouse_event(kind, (x, y), buttons, until)
    }

    fn mouse_event(&mut self, kind: &str, (x, y): (f64, f64), buttons: u8, until: Instant) -> Result<(), ActionError> {
        let (button, count) = if kind == "mouseMoved" && buttons == 0 { ("none", 0) } else { ("left", 1) };
        let event = json!({"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": count});
        self.dispatch("Input.dispatchMouseEvent", &event, until)
    }

    /// Scrolls an element into view, and returns points where it may be reached: the middles of its first parts, and
    /// points around the first.
    fn points(&mut self, world: &IsolatedWorld, object: &str, until: Instant) -> Result<Vec<(f64, f64)>, InputRefusal> {
        let quads = match self.quads(world, object, until) {
            Err(InputRefusal::Unseen) => return self.point_of_area(world, object, until),
            quads => quads?,
        };
        let around = |quad: &[f64; 8]| {
            let (x, y) = middle(quad);
            let corners = [0, 2, 4, 6].map(|corner| ((x + quad[corner]) / 2.0, (y + quad[corner + 1]) / 2.0));
            corners.into_iter()
        };
        Ok(quads.iter().map(|quad| middle(quad)).chain(quads.first().into_iter().flat_map(around)).collect())
    }

    /// The middle of an area of an image, which has no box of its own.
    fn point_of_area(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        until: Instant,
    ) -> Result<Vec<(f64, f64)>, InputRefusal> {
        let middle = self.on_element(world, object, AREA, &json!([]), until)?;
        let middle = middle.split_once(' ').and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
        middle.map(|point| vec![point]).ok_or(InputRefusal::Unseen)
    }

    /// A point of an element, from its upper left corner.
    fn point_within(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        (x, y): (f64, f64),
        until: Instant,
    ) -> Result<(f64, f64), InputRefusal> {
        let quads = self.quads(world, object, until)?;
        let [left, top, right, right_top, .., bottom_left, bottom] = *quads.first().ok_or(InputRefusal::Unseen)?;
        // The element may be turned: its edges give the directions.
        let edge = |to: (f64, f64)| ((to.0 - left), (to.1 - top));
        let length = |edge: (f64, f64)| edge.0.hypot(edge.1);
        let (across, down) = (edge((right, right_top)), edge((bottom_left, bottom)));
        let (width, height) = (length(across), length(down));
        if !(0.0..=width).contains(&x) || !(0.0..=height).contains(&y) {
            let size = format!("{} by {}", width.round(), height.round());
            return Err(InputRefusal::Unfit(format!("the point {x}, {y} is outside of the element, which is {size}")));
        }
        let (right, low) = (x / width, y / height);
        Ok((left + across.0 * right + down.0 * low, top + across.1 * right + down.1 * low))
    }

    /// The middles of an element's first own texts.
    fn points_of_text(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        until: Instant,
    ) -> Result<Vec<(f64, f64)>, InputRefusal> {
        let mut points = Vec::new();
        for index in 0..PARTS {
            let function = format!("function () {{ return ({OWN_TEXT}).call(this, {index}) }}");
            let Some(text) = self.object_of(world, object, &function, until)? else { break };
            match self.parts(world, &text, until) {
                Err(InputRefusal::Unseen) => {}
                parts => points.extend(parts?.iter().map(|quad| middle(quad))),
            }
        }
        Ok(points)
    }

    /// Scrolls an element into view, and returns its first parts.
    pub(crate) fn quads(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        until: Instant,
    ) -> Result<Vec<[f64; 8]>, InputRefusal> {
        let of = json!({"objectId": object});
        let commands = [("DOM.scrollIntoViewIfNeeded", of.clone()), ("DOM.getContentQuads", of)];
        let mut answers = self.call_together(&world.session, &commands, until)?.into_iter();
        match (answers.next(), answers.next()) {
            (Some(Ok(_)), Some(Ok(quads))) => self.first_parts(world, &quads, until),
            _ => Err(InputRefusal::Unseen),
        }
    }

    /// The first parts of an element or a text.
    fn parts(&mut self, world: &IsolatedWorld, object: &str, until: Instant) -> Result<Vec<[f64; 8]>, InputRefusal> {
        let of = json!({"objectId": object});
        let quads: Result<Box<RawValue>, ActionError> =
            self.call(Some(&world.session), "DOM.getContentQuads", &of, until);
        match quads {
            Err(ActionError::Refused(_)) => Err(InputRefusal::Unseen),
            quads => self.first_parts(world, &quads?, until),
        }
    }

    /// The first parts from an answer to `DOM.getContentQuads`.
    fn first_parts(
        &mut self,
        world: &IsolatedWorld,
        answer: &RawValue,
        until: Instant,
    ) -> Result<Vec<[f64; 8]>, InputRefusal> {
        let ContentQuads { quads } =
            serde_json::from_str(answer.get()).map_err(|error| ActionError::Unreadable(error.to_string()))?;
        let zoom = self.zoom_of(world, until)?;
        let quads = quads.into_iter().map(|quad| quad.map(|at| at * zoom));
        Ok(quads.filter(|quad| area(quad) > 1.0).take(PARTS).collect())
    }

    /// The middle of an element, in the window, if nothing covers it; the middle of one of its parts if it has several,
    /// such as lines.
    fn free_point(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        aim: MoveAim,
        until: Instant,
    ) -> Result<(f64, f64), InputRefusal> {
        if self.pages().around(&world.session).is_some() {
            self.scroll_to_frame(&world.session, until)?;
            self.points(world, object, until)?;
            self.wait_for_pictures(world, until)?;
        }
        let points = match aim {
            (_, Some(point)) => vec![self.point_within(world, object, point, until)?],
            (_, None) => self.points(world, object, until)?,
        };
        match self.free_of(points, world, object, aim, until) {
            Err(covered @ InputRefusal::Covered(_)) if aim == (MovePurpose::Press, None) => {
                let texts = self.points_of_text(world, object, until)?;
                self.free_of(texts, world, object, aim, until)
                    .map_err(|other| if let InputRefusal::Fault(_) = other { other } else { covered })
            }
            found => found,
        }
    }

    /// The first of these points that nothing covers, in the window.
    fn free_of(
        &mut self,
        points: Vec<(f64, f64)>,
        world: &IsolatedWorld,
        object: &str,
        aim: MoveAim,
        until: Instant,
    ) -> Result<(f64, f64), InputRefusal> {
        let mut refusal = InputRefusal::Unseen;
        let placement = self.placement(&world.session, until)?;
        for at in points {
            let hit = match self.hit(&world.session, at, until) {
                Err(InputRefusal::Unseen) => continue,
                hit => hit?,
            };
            let Some(hit) = self.resolve(hit, world, until) else { continue };
            let arguments = json!([{"objectId": hit}, {"value": aim.0.name()}]);
            match self.on_element(world, object, HIT_TEST_SCRIPT, &arguments, until)?.as_str() {
                "" if self.is_free(&world.session, at, until)? => return Ok(placement.map(at)),
                "" => refusal = InputRefusal::Covered("something before its frame".to_owned()),
                "disabled" => return Err(InputRefusal::Disabled),
                by => refusal = InputRefusal::Covered(self.covering(world, by)),
            }
        }
        Err(refusal)
    }

    /// What covers an element, with its numbers, from the answer of the hit test: `3 4|div "Cookies"`.
    fn covering(&mut self, world: &IsolatedWorld, told: &str) -> String {
        let (numbers, what) = told.split_once('|').unwrap_or(("", told));
        let numbers = numbers.split(' ').filter_map(|number| number.parse().ok());
        let numbers: Vec<String> = numbers.map(|number| self.numbers.of(world, number).to_string()).collect();
        match &numbers[..] {
            [] => what.to_owned(),
            [one] => format!("{what} (number {one})"),
            several => format!("{what} (numbers {})", several.join(", ")),
        }
    }

    /// Waits until the scrolled state is drawn, also around the frame: the browser uses the last drawn frames to find
    /// the process at a point.
    fn wait_for_pictures(&mut self, world: &IsolatedWorld, until: Instant) -> Result<(), ActionError> {
        let main = self.main_frame()?;
        let main = self.world(&main, until)?;
        let drawn = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => \
                     setTimeout(drawn, 20))))";
        for world in [&main, world] {
            self.run_to_end(world, drawn, &json!([]), until)?;
        }
        Ok(())
    }
}

pub(crate) fn middle(quad: &[f64]) -> (f64, f64) {
    let x = quad.iter().step_by(2).sum::<f64>() / 4.0;
    let y = quad.iter().skip(1).step_by(2).sum::<f64>() / 4.0;
    (x, y)
}

/// The area of a quadrilateral (shoelace formula).
fn area(quad: &[f64; 8]) -> f64 {
    let corner = |index: usize| (quad[index % 4 * 2], quad[index % 4 * 2 + 1]);
    let twice: f64 =
        (0..4).map(|index| corner(index).0 * corner(index + 1).1 - corner(index + 1).0 * corner(index).1).sum();
    (twice / 2.0).abs()
}
