//! Drags: the mouse goes from one place to another with its button down.

use crate::focus::ElementHandle;
use crate::pointer::{MousePlace, MovePurpose, middle};
use crate::{Browser, InputRefusal};
use serde_json::json;
use std::time::{Duration, Instant};

/// Where a drag ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DragEnd {
    /// On the element with this number.
    Element(u32),
    /// This far to the right and down from where it began, in CSS pixels, whatever is there.
    By(f64, f64),
}

/// [`DragEnd`], with the element that its number means.
enum DragTarget {
    On(ElementHandle),
    By(f64, f64),
}

/// The number of mouse moves in a drag: widgets watch the path, not only its end.
const STEPS: u32 = 8;

/// The time between two moves, and before the last ones: lists that are sorted take no move for some time after each change, and items slide
/// under the mouse.
const MOVE_PAUSE: Duration = Duration::from_millis(20);
const REST_PAUSE: Duration = Duration::from_millis(40);

/// Called on an element: how far it and all around it are scrolled.
const SCROLLED: &str = "function () { let all = ''; for (let at = this; at; at = at.parentNode ?? at.host) all += `${at.scrollLeft} ${at.scrollTop} `; return all; }";

/// How far a drag ends beyond the middle of its target, as a fraction of the distance to the edge.
const DRAG_OVERSHOOT: f64 = 0.25;

impl Browser {
    /// Drags what is at a place with the left button: HTML drag and drop as well as widgets that follow the mouse.
    ///
    /// # Errors
    /// Nothing was dragged; the reason. After a [`InputRefusal::Fault`], the button is released at the mouse's
    /// position.
    pub fn drag(&mut self, from: MousePlace, to: DragEnd, until: Instant) -> Result<(), InputRefusal> {
        // Nothing is pressed unless both ends can be reached.
        let target = match to {
            DragEnd::Element(to) => {
                self.reach(to, (MovePurpose::Drag, None), until)?;
                DragTarget::On(self.object(to, until)?.ok_or(InputRefusal::Stale)?)
            }
            DragEnd::By(x, y) => DragTarget::By(x, y),
        };
        // Not from a control in the element, which would get a click if the drag ends on it, unless it is all of the element.
        let start = match self.go_to(from, MovePurpose::Press, until) {
            Err(InputRefusal::Covered(_)) if matches!(from, MousePlace::Element(_)) => {
                self.go_to(from, MovePurpose::Drag, until)?
            }
            start => start?,
        };
        self.mouse("mousePressed", start, 1, until)?;
        let mut last = start;
        let dragged = match target {
            DragTarget::On(element) => self.drag_onto(&element, &mut last, until),
            DragTarget::By(x, y) => self.move_pressed((start.0 + x, start.1 + y), &mut last, until),
        };
        let released = self.mouse("mouseReleased", last, 0, until);
        dragged?;
        Ok(released?)
    }

    /// Moves the pressed mouse from `last` onto an element, and keeps its position in `last`.
    fn drag_onto(&mut self, target: &ElementHandle, last: &mut (f64, f64), until: Instant) -> Result<(), InputRefusal> {
        let start = *last;
        // A drag begins with the first few pixels. The dragged element may then move others, and the page may have to
        // be scrolled.
        for step in 1..=3 {
            *last = (start.0 + 2.0 * f64::from(step), start.1 + 2.0 * f64::from(step));
            self.mouse("mouseMoved", *last, 1, until)?;
        }
        let end = self.end_of_drag(target, start, until)?;
        let scrolled = self.on_element(&target.0, &target.1, SCROLLED, &json!([]), until)?;
        self.move_pressed(end, last, until)?;
        // A list may scroll while the mouse is at its edge.
        if self.on_element(&target.0, &target.1, SCROLLED, &json!([]), until)? != scrolled {
            *last = self.end_of_drag(target, start, until)?;
            self.mouse("mouseMoved", *last, 1, until)?;
        }
        Ok(())
    }

    /// Moves the pressed mouse in a straight line from `last` to a point of the window, and keeps its position in `last`.
    fn move_pressed(&mut self, end: (f64, f64), last: &mut (f64, f64), until: Instant) -> Result<(), InputRefusal> {
        let begun = *last;
        for step in 1..=STEPS {
            let part = f64::from(step) / f64::from(STEPS);
            *last = (begun.0 + (end.0 - begun.0) * part, begun.1 + (end.1 - begun.1) * part);
            self.mouse("mouseMoved", *last, 1, until)?;
            self.rest_mouse(MOVE_PAUSE, until)?;
        }
        // A target accepts a drop only after a second move over it.
        for _ in 0..2 {
            self.rest_mouse(REST_PAUSE, until)?;
            self.mouse("mouseMoved", end, 1, until)?;
        }
        Ok(self.mouse("mouseMoved", end, 1, until)?)
    }

    fn rest_mouse(&mut self, pause: Duration, until: Instant) -> Result<(), InputRefusal> {
        self.wait((Instant::now() + pause).min(until), |_| false)?;
        Ok(())
    }

    /// Where in the window a drag onto an element ends, even if it is covered: slightly beyond its middle as seen from
    /// the start, since an item of a sortable list moves aside only then.
    fn end_of_drag(
        &mut self,
        (world, object): &ElementHandle,
        start: (f64, f64),
        until: Instant,
    ) -> Result<(f64, f64), InputRefusal> {
        self.scroll_to_frame(&world.session, until)?;
        let quads = self.quads(world, object, until)?;
        let placement = self.placement(&world.session, until)?;
        let [ax, ay, bx, by, cx, cy, dx, dy] = *quads.first().ok_or(InputRefusal::Unseen)?;
        let corners = [(ax, ay), (bx, by), (cx, cy), (dx, dy)].map(|corner| placement.map(corner));
        let quad = corners.map(|(x, y)| [x, y]).concat();
        let behind = |middle: f64, start: f64, axis: usize| {
            let side = quad.iter().skip(axis).step_by(2).fold(0.0, |most: f64, at| most.max((at - middle).abs()));
            let way = middle - start;
            middle + if way.abs() < 1.0 { 0.0 } else { way.signum() * side * DRAG_OVERSHOOT }
        };
        let (x, y) = middle(&quad);
        Ok((behind(x, start.0, 0), behind(y, start.1, 1)))
    }
}
