//! The tools that move the mouse or select text without a click, and where the mouse goes.

use super::deals::EffectOfPress;
use super::numbers::Number;
use super::report::{ResultMembers, Settling};
use super::table::Arguments;
use super::{Problem, ProblemKind, ToolResult, ToolSession};
use crate::{Browser, DragEnd, MousePlace};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Instant;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Hover {
    /// The number of the element. Without it, the mouse goes to the point x, y of the window.
    index: Option<Number>,
    /// CSS pixels from the left edge of the element, or of the window without index.
    x: Option<f64>,
    /// CSS pixels from the upper edge of the element, or of the window without index.
    y: Option<f64>,
    /// The list that the number is from: fails if the page has shown another document since.
    snapshot_id: Option<String>,
    /// What to wait for afterwards: none, dom (the page stops changing), network (it also stops loading) or fixed (a pause).
    settle: Option<Settling>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Drag {
    /// The number of the element to drag. Without it, the drag begins at the point x, y of the window.
    from: Option<Number>,
    /// Where the drag begins: CSS pixels from the left edge of the element, or of the window without from.
    x: Option<f64>,
    /// Where the drag begins: CSS pixels from the upper edge of the element, or of the window without from.
    y: Option<f64>,
    /// The number of the element to drop it on. Without it, the drag goes by a distance.
    to: Option<Number>,
    /// Without to: how far the drag goes to the right, in CSS pixels.
    by_x: Option<f64>,
    /// Without to: how far the drag goes down, in CSS pixels.
    by_y: Option<f64>,
    /// The list that the numbers are from: fails if the page has shown another document since.
    snapshot_id: Option<String>,
    /// What to wait for afterwards: none, dom (the page stops changing), network (it also stops loading) or fixed (a pause).
    settle: Option<Settling>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SelectText {
    /// The text, as the page shows it; its first place is selected. Without it, all text of the element.
    text: Option<String>,
    /// The number of the element that the text is in. Without it, the text is looked for in the whole page.
    index: Option<Number>,
    /// The list that the number is from: fails if the page has shown another document since.
    snapshot_id: Option<String>,
}

/// Where the mouse goes: to an element, to a point of it, or to a point of the window. `number` is the name of the argument
/// that numbers the element, for messages.
pub(super) fn mouse_place(
    number: &str,
    index: Option<u32>,
    x: Option<f64>,
    y: Option<f64>,
) -> Result<MousePlace, Problem> {
    match (index, x, y) {
        (Some(index), None, None) => Ok(MousePlace::Element(index)),
        (Some(index), Some(x), Some(y)) => Ok(MousePlace::Within(index, x, y)),
        (None, Some(x), Some(y)) => Ok(MousePlace::Window(x, y)),
        (None, None, None) => Err(unfit(&format!("it needs \"{number}\", or \"x\" and \"y\""))),
        _ => Err(unfit("it needs both \"x\" and \"y\"")),
    }
}

fn unfit(why: &str) -> Problem {
    Problem::new(ProblemKind::InvalidArgs, why)
}

impl Arguments for Hover {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let snapshot_id = self.snapshot_id.as_deref();
        let index = self.index.map(|number| session.element(number, snapshot_id, until)).transpose()?;
        let place = mouse_place("index", index, self.x, self.y)?;
        let report = ResultMembers::default().with("performed", "hover");
        let report = report.with_some("id", index.map(|index| index.to_string()));
        session.act_on(self.settle, until, report, |session| session.browser.hover(place, until))
    }
}

impl Arguments for Drag {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let snapshot_id = self.snapshot_id.as_deref();
        let from = self.from.map(|number| session.element(number, snapshot_id, until)).transpose()?;
        let to = self.to.map(|number| session.element(number, snapshot_id, until)).transpose()?;
        let place = mouse_place("from", from, self.x, self.y)?;
        let end = match (to, self.by_x, self.by_y) {
            (Some(to), None, None) if from == Some(to) => {
                return Err(unfit("a drag from an element onto itself is a click"));
            }
            (Some(to), None, None) => DragEnd::Element(to),
            (Some(_), ..) => {
                return Err(unfit("a drag ends on the element \"to\", or after \"by_x\" and \"by_y\", not both"));
            }
            (None, None, None) => return Err(unfit("it needs \"to\", or \"by_x\" and \"by_y\"")),
            (None, x, y) => DragEnd::By(x.unwrap_or_default(), y.unwrap_or_default()),
        };
        let report = ResultMembers::default().with("performed", "drag");
        let report = report.with_some("id", from.map(|from| from.to_string()));
        let dragged = session.act_on(self.settle, until, report, |session| {
            let drag = |browser: &mut Browser| browser.drag(place, end, until);
            match from {
                Some(from) => session.press_checked(from, EffectOfPress::Presses, until, drag),
                None => drag(&mut session.browser),
            }
        });
        dragged.map_err(|problem| session.with_deals(problem, from, until))
    }
}

impl Arguments for SelectText {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let index = self.index.map(|number| session.element(number, self.snapshot_id.as_deref(), until)).transpose()?;
        let text = self.text.as_deref().filter(|text| !text.trim().is_empty());
        if index.is_none() && text.is_none() {
            return Err(unfit("it needs \"text\", or the \"index\" of an element"));
        }
        let report = ResultMembers::default().with("performed", "select_text");
        let report = report.with_some("id", index.map(|index| index.to_string()));
        session.act_on(None, until, report, |session| session.browser.select_text(index, text, until))
    }
}
