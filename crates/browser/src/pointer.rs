//! The mouse: the point where an element can be reached, and what is done there.

use crate::input::Refusal;
use crate::worlds::World;
use crate::{Browser, Fault};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::time::{Duration, Instant};

const HIT: &str = concat!(
    "function (...hit) {",
    include_str!("scripts/naming.js"),
    "return (",
    include_str!("scripts/hit.js"),
    ").apply(this, hit) }"
);

/// The text of an element that is of no control in it, by its index.
const OWN_TEXT: &str = include_str!("scripts/own-text.js");

/// What the mouse is brought to an element for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// To press it: not what is pressed on its own in it.
    Press,
    /// To be over it, or over anything in it.
    Rest,
}

#[derive(Deserialize)]
struct Quads {
    quads: Vec<[f64; 8]>,
}

/// So many parts of an element are tried.
const PARTS: usize = 4;

/// A drag moves in so many steps: widgets watch the way, not only its end.
const STEPS: u32 = 8;

/// A drag ends so far behind the middle of its target, as a part of what is left to the edge.
const BEHIND: f64 = 0.25;

/// What changes under the mouse is waited for so long, and looked at so often.
const HOVERED: Duration = Duration::from_millis(500);
const FRAME: Duration = Duration::from_millis(20);

impl Browser {
    /// Clicks an element: it is scrolled into view, and what is at the point of the click is looked at.
    ///
    /// # Errors
    /// It was not clicked: why. A dialog that the click opens is a [`Fault::Dialog`], and the click has happened.
    pub fn click(&mut self, index: u32, until: Instant) -> Result<(), Refusal> {
        let at = self.point_at(index, Aim::Press, until)?;
        self.mouse("mousePressed", at, 1, until)?;
        Ok(self.mouse("mouseReleased", at, 0, until)?)
    }

    /// Moves the mouse over an element, which is scrolled into view, and leaves it there.
    ///
    /// # Errors
    /// The mouse was not moved: why.
    pub fn hover(&mut self, index: u32, until: Instant) -> Result<(), Refusal> {
        let at = self.reach(index, Aim::Rest, until)?;
        Ok(self.mouse("mouseMoved", at, 0, until)?)
    }

    /// Drags an element onto another with the left button: HTML drag and drop as well as widgets that follow the mouse.
    ///
    /// # Errors
    /// Nothing was dragged: why. After a [`Refusal::Fault`], the button is released wherever the mouse was.
    pub fn drag(&mut self, from: u32, to: u32, until: Instant) -> Result<(), Refusal> {
        // Nothing is pressed unless both can be reached.
        self.reach(to, Aim::Rest, until)?;
        let (world, target) = self.object(to, until)?.ok_or(Refusal::Stale)?;
        let start = self.point_at(from, Aim::Rest, until)?;
        self.mouse("mousePressed", start, 1, until)?;
        let mut last = start;
        let dragged = self.carry(&world, &target, &mut last, until);
        let released = self.mouse("mouseReleased", last, 0, until);
        dragged?;
        Ok(released?)
    }

    /// Moves the mouse to where an element can be reached. What changes under the mouse is waited for: a picture that is loaded only then,
    /// a menu that slides in.
    fn point_at(&mut self, index: u32, aim: Aim, until: Instant) -> Result<(f64, f64), Refusal> {
        let mut at = self.reach(index, aim, until)?;
        self.mouse("mouseMoved", at, 0, until)?;
        let enough = until.min(Instant::now() + HOVERED);
        let (world, object) = self.object(index, until)?.ok_or(Refusal::Stale)?;
        loop {
            match self.reach_object(&world, &object, aim, until) {
                // The window may not have had the frame's picture yet when the mouse came.
                Ok(now) if now == at && Instant::now() < enough && !self.is_under_mouse(&world, &object, until)? => {
                    self.wait(Instant::now() + FRAME, |_| false)?;
                    self.mouse("mouseMoved", at, 0, until)?;
                }
                Ok(now) if now == at || Instant::now() >= enough => break,
                Ok(now) => {
                    at = now;
                    self.mouse("mouseMoved", at, 0, until)?;
                }
                Err(Refusal::Covered(_) | Refusal::Unseen) if Instant::now() < enough => {
                    self.wait(Instant::now() + FRAME, |_| false)?;
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(at)
    }

    /// Whether the process of a frame agrees that the mouse is over an element of it: the point was mapped through the frames around it.
    fn is_under_mouse(&mut self, world: &World, object: &str, until: Instant) -> Result<bool, Fault> {
        if self.pages().around(&world.session).is_none() {
            return Ok(true);
        }
        let hovered = "function () { return [this, ...(this.labels ?? [])].some((one) => one.matches(\":hover\")) ? \"hovered\" : \"\"; }";
        Ok(self.on_element(world, object, hovered, &json!([]), until)? == "hovered")
    }

    /// Moves the pressed mouse from `last` to the middle of an element; `last` is where it was moved to last.
    fn carry(&mut self, world: &World, target: &str, last: &mut (f64, f64), until: Instant) -> Result<(), Refusal> {
        let start = *last;
        // A drag begins with the first few pixels; what is dragged may make room for itself then, and the page may have to be scrolled.
        for step in 1..=3 {
            *last = (start.0 + 2.0 * f64::from(step), start.1 + 2.0 * f64::from(step));
            self.mouse("mouseMoved", *last, 1, until)?;
        }
        let end = self.end_of_drag(world, target, start, until)?;
        let begun = *last;
        for step in 1..=STEPS {
            let part = f64::from(step) / f64::from(STEPS);
            *last = (begun.0 + (end.0 - begun.0) * part, begun.1 + (end.1 - begun.1) * part);
            self.mouse("mouseMoved", *last, 1, until)?;
        }
        // A target takes a drop only after a move that finds the mouse over it already.
        Ok(self.mouse("mouseMoved", end, 1, until)?)
    }

    /// Where in the window a drag onto an element ends, whatever covers it: a little behind its middle as seen from the start, since an
    /// item of a list that is sorted makes room only then.
    fn end_of_drag(
        &mut self,
        world: &World,
        object: &str,
        start: (f64, f64),
        until: Instant,
    ) -> Result<(f64, f64), Refusal> {
        self.scroll_to_frame(&world.session, until)?;
        let quads = self.quads(world, object, until)?;
        let placement = self.placement(&world.session, until)?;
        let [ax, ay, bx, by, cx, cy, dx, dy] = *quads.first().ok_or(Refusal::Unseen)?;
        let corners = [(ax, ay), (bx, by), (cx, cy), (dx, dy)].map(|corner| placement.map(corner));
        let quad = corners.map(|(x, y)| [x, y]).concat();
        let behind = |middle: f64, start: f64, axis: usize| {
            let side = quad.iter().skip(axis).step_by(2).fold(0.0, |most: f64, at| most.max((at - middle).abs()));
            let way = middle - start;
            middle + if way.abs() < 1.0 { 0.0 } else { way.signum() * side * BEHIND }
        };
        let (x, y) = middle(&quad);
        Ok((behind(x, start.0, 0), behind(y, start.1, 1)))
    }

    /// The point in the window where an element can be reached; it is scrolled into view.
    fn reach(&mut self, index: u32, aim: Aim, until: Instant) -> Result<(f64, f64), Refusal> {
        let (world, object) = self.object(index, until)?.ok_or(Refusal::Stale)?;
        self.reach_object(&world, &object, aim, until)
    }

    pub(crate) fn reach_object(
        &mut self,
        world: &World,
        object: &str,
        aim: Aim,
        until: Instant,
    ) -> Result<(f64, f64), Refusal> {
        // Behind another page, input waits for a picture that is not drawn.
        let is_hidden = "function () { return document.hidden ? \"hidden\" : \"\"; }";
        if self.on_element(world, object, is_hidden, &json!([]), until)? == "hidden" {
            self.dispatch("Page.bringToFront", &json!({}), until)?;
        }
        match self.free_point(world, object, aim, until) {
            Err(hidden @ (Refusal::Covered(_) | Refusal::Unseen)) => {
                // A box or file input that is hidden is worked through its label.
                let label = "function () { return this.labels?.[0] ?? null; }";
                let label = self.object_of(world, object, label, until)?.ok_or(hidden)?;
                self.free_point(world, &label, aim, until)
            }
            found => found,
        }
    }

    /// `buttons` is 1 where the left button is down after the event.
    pub(crate) fn mouse(&mut self, kind: &str, (x, y): (f64, f64), buttons: u8, until: Instant) -> Result<(), Fault> {
        let (button, count) = if kind == "mouseMoved" && buttons == 0 { ("none", 0) } else { ("left", 1) };
        let event = json!({"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": count});
        self.dispatch("Input.dispatchMouseEvent", &event, until)
    }

    /// Points at which an element may be reached, which is scrolled into view: the middles of its first parts, and points around the first.
    fn points(&mut self, world: &World, object: &str, until: Instant) -> Result<Vec<(f64, f64)>, Refusal> {
        let quads = self.quads(world, object, until)?;
        let around = |quad: &[f64; 8]| {
            let (x, y) = middle(quad);
            let corners = [0, 2, 4, 6].map(|corner| ((x + quad[corner]) / 2.0, (y + quad[corner + 1]) / 2.0));
            corners.into_iter()
        };
        Ok(quads.iter().map(|quad| middle(quad)).chain(quads.first().into_iter().flat_map(around)).collect())
    }

    /// The middles of the first texts that an element has of its own.
    fn points_of_text(&mut self, world: &World, object: &str, until: Instant) -> Result<Vec<(f64, f64)>, Refusal> {
        let mut points = Vec::new();
        for index in 0..PARTS {
            let function = format!("function () {{ return ({OWN_TEXT}).call(this, {index}) }}");
            let Some(text) = self.object_of(world, object, &function, until)? else { break };
            match self.parts(world, &text, until) {
                Err(Refusal::Unseen) => {}
                parts => points.extend(parts?.iter().map(|quad| middle(quad))),
            }
        }
        Ok(points)
    }

    /// Scrolls an element into view, and gives its first parts.
    fn quads(&mut self, world: &World, object: &str, until: Instant) -> Result<Vec<[f64; 8]>, Refusal> {
        let of = json!({"objectId": object});
        let commands = [("DOM.scrollIntoViewIfNeeded", of.clone()), ("DOM.getContentQuads", of)];
        let mut answers = self.call_together(&world.session, &commands, until)?.into_iter();
        match (answers.next(), answers.next()) {
            (Some(Ok(_)), Some(Ok(quads))) => self.first_parts(world, &quads, until),
            _ => Err(Refusal::Unseen),
        }
    }

    /// The first parts of an element or a text.
    fn parts(&mut self, world: &World, object: &str, until: Instant) -> Result<Vec<[f64; 8]>, Refusal> {
        let of = json!({"objectId": object});
        let quads: Result<Box<RawValue>, Fault> = self.call(Some(&world.session), "DOM.getContentQuads", &of, until);
        match quads {
            Err(Fault::Refused(_)) => Err(Refusal::Unseen),
            quads => self.first_parts(world, &quads?, until),
        }
    }

    /// Those of an answer to `DOM.getContentQuads`.
    fn first_parts(&mut self, world: &World, answer: &RawValue, until: Instant) -> Result<Vec<[f64; 8]>, Refusal> {
        let Quads { quads } =
            serde_json::from_str(answer.get()).map_err(|error| Fault::Unreadable(error.to_string()))?;
        let zoom = self.zoom_of(world, until)?;
        let quads = quads.into_iter().map(|quad| quad.map(|at| at * zoom));
        Ok(quads.filter(|quad| area(quad) > 1.0).take(PARTS).collect())
    }

    /// The middle of an element, in the window, where nothing else is in the way; of one of its parts if it has several, such as lines.
    fn free_point(&mut self, world: &World, object: &str, aim: Aim, until: Instant) -> Result<(f64, f64), Refusal> {
        if self.pages().around(&world.session).is_some() {
            self.scroll_to_frame(&world.session, until)?;
            self.points(world, object, until)?;
            self.wait_for_pictures(world, until)?;
        }
        let points = self.points(world, object, until)?;
        match self.free_of(points, world, object, aim, until) {
            Err(covered @ Refusal::Covered(_)) if aim == Aim::Press => {
                let texts = self.points_of_text(world, object, until)?;
                self.free_of(texts, world, object, aim, until)
                    .map_err(|other| if let Refusal::Fault(_) = other { other } else { covered })
            }
            found => found,
        }
    }

    /// The first of these points where nothing else is in the way, in the window.
    fn free_of(
        &mut self,
        points: Vec<(f64, f64)>,
        world: &World,
        object: &str,
        aim: Aim,
        until: Instant,
    ) -> Result<(f64, f64), Refusal> {
        let mut refusal = Refusal::Unseen;
        let placement = self.placement(&world.session, until)?;
        for at in points {
            let hit = match self.hit(&world.session, at, until) {
                Err(Refusal::Unseen) => continue,
                hit => hit?,
            };
            let Some(hit) = self.resolve(hit, world, until) else { continue };
            let arguments = json!([{"objectId": hit}, {"value": aim == Aim::Press}]);
            match self.on_element(world, object, HIT, &arguments, until)?.as_str() {
                "" if self.is_free(&world.session, at, until)? => return Ok(placement.map(at)),
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
}

fn middle(quad: &[f64]) -> (f64, f64) {
    let x = quad.iter().step_by(2).sum::<f64>() / 4.0;
    let y = quad.iter().skip(1).step_by(2).sum::<f64>() / 4.0;
    (x, y)
}

/// Of a quadrilateral, by the shoelace formula.
fn area(quad: &[f64; 8]) -> f64 {
    let corner = |index: usize| (quad[index % 4 * 2], quad[index % 4 * 2 + 1]);
    let twice: f64 =
        (0..4).map(|index| corner(index).0 * corner(index + 1).1 - corner(index + 1).0 * corner(index).1).sum();
    (twice / 2.0).abs()
}
