//! Acting on elements with the mouse.

use super::numbers::Number;
use super::report::{ResultMembers, Settling};
use super::table::Arguments;
use super::{Problem, ProblemKind, ToolResult, ToolSession};
use crate::keys::Chord;
use crate::{InputRefusal, Typing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Instant;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Hover {
    /// The number of the element.
    index: Number,
    /// The list that the number is from: fails if the page has shown another document since.
    snapshot_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Drag {
    /// The number of the element to drag.
    from: Number,
    /// The number of the element to drop it on.
    to: Number,
    /// The list that the numbers are from: fails if the page has shown another document since.
    snapshot_id: Option<String>,
    /// What to wait for afterwards: none, dom (the page stops changing), network (it also stops loading) or fixed (a pause).
    settle: Option<Settling>,
}

/// An action on an element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    #[default]
    Click,
    Type,
    Select,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Act {
    /// The number of the element.
    index: Number,
    /// click; type replaces the text of a field, or sets a date, time, colour or range; select chooses an option by its label or value.
    #[serde(default)]
    action: Action,
    /// What to type, or the option to select.
    text: Option<String>,
    /// With type: add the text at the end of the existing content.
    #[serde(default)]
    append: bool,
    /// Accepted and not used: a number means the same element in every list of a page.
    #[serde(rename = "limit")]
    _limit: Option<u64>,
    /// Accepted and not used, like limit.
    #[serde(rename = "offset")]
    _offset: Option<u64>,
    /// The list that the number is from: fails if the page has shown another document since.
    snapshot_id: Option<String>,
    /// What to wait for afterwards: none, dom (the page stops changing), network (it also stops loading) or fixed (a pause).
    settle: Option<Settling>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Scroll {
    /// top, bottom, or elementId with element_id.
    to: Option<ScrollTo>,
    /// To the right, in CSS pixels.
    #[serde(default)]
    by_x: f64,
    /// Downwards, in CSS pixels.
    #[serde(default)]
    by_y: f64,
    /// The number of the element to scroll to.
    element_id: Option<Number>,
    /// auto or smooth.
    #[serde(default)]
    behavior: Behavior,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
enum ScrollTo {
    #[serde(rename = "top")]
    Top,
    #[serde(rename = "bottom")]
    Bottom,
    #[serde(rename = "elementId")]
    Element,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Behavior {
    #[default]
    Auto,
    Smooth,
}

impl Arguments for Act {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let Act { index: number, action, text, append, snapshot_id, settle, .. } = self;
        let needs_text = |what: &str| {
            Problem::new(ProblemKind::InvalidArgs, format!("action={} needs \"text\": {what}", action.name()))
        };
        let index = session.element(number, snapshot_id.as_deref(), until)?;
        let report = ResultMembers::default().with("performed", action.name()).with("id", index.to_string());
        match action {
            Action::Click => session.act_on(settle, until, report, |session| session.browser.click(index, until)),
            Action::Select => {
                let text = text.ok_or_else(|| needs_text("the option to select"))?;
                let report = report.with("select_ok", true);
                session.act_on(settle, until, report, |session| session.browser.choose(index, &text, until))
            }
            Action::Type => {
                let text = text.ok_or_else(|| needs_text("what to type; \"\" clears the field"))?;
                let typing = if append { Typing::Append } else { Typing::Replace };
                session.act(settle, until, |session| session.type_into(index, &text, typing, report, until))
            }
        }
        .map_err(
            |problem| if problem.code == Some("stale_index") { session.with_list(problem, until) } else { problem },
        )
    }
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Action::Click => "click",
            Action::Type => "type",
            Action::Select => "select",
        }
    }
}

impl ToolSession {
    /// Types into an element, and presses Enter if it is a search field.
    fn type_into(
        &mut self,
        index: u32,
        text: &str,
        typing: Typing,
        report: ResultMembers,
        until: Instant,
    ) -> ToolResult {
        let length = text.chars().count();
        self.browser.type_text(index, text, typing, until).map_err(|refusal| match refusal {
            InputRefusal::Unfocused => Problem::from(refusal).with_data(json!({"textLen": 0})),
            refusal => refusal.into(),
        })?;
        let after = |problem: Problem| {
            let message = format!("the text was typed, but Enter was not pressed: {}", problem.message);
            Problem { message, ..problem }.with_data(json!({"textLen": length}))
        };
        let field = self.known(index).filter(|element| element.role == "searchbox" && !text.is_empty());
        let is_inferred = field.map(|field| field.is_inferred);
        let typed = self.browser.typed(index, text, until)?;
        let report = report.with("textLen", length).with("input_ok", typed.is_in);
        let report = report.with_some("is_secret", typed.is_secret.then_some(true));
        let Some(is_inferred) = is_inferred else { return Ok(report) };
        let report = report.with("auto_enter", true).with("auto_enter_fallback", is_inferred);
        match Chord::read("Enter")
            .map_err(|why| InputRefusal::Unfit(why.to_string()))
            .and_then(|enter| self.browser.press_kept(index, &enter, until))
        {
            Ok(()) | Err(InputRefusal::Fault(crate::ActionError::Dialog(_))) => Ok(report),
            Err(refusal) => Err(after(refusal.into())),
        }
    }
}

impl Arguments for Hover {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let index = session.element(self.index, self.snapshot_id.as_deref(), until)?;
        let report = ResultMembers::default().with("performed", "hover").with("id", index.to_string());
        session.act_on(None, until, report, |session| session.browser.hover(index, until))
    }
}

impl Arguments for Drag {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let from = session.element(self.from, self.snapshot_id.as_deref(), until)?;
        let to = session.element(self.to, self.snapshot_id.as_deref(), until)?;
        let report = ResultMembers::default().with("performed", "drag").with("id", from.to_string());
        session.act_on(self.settle, until, report, |session| session.browser.drag(from, to, until))
    }
}

impl Arguments for Scroll {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let smooth = self.behavior == Behavior::Smooth;
        let element = match (self.to, self.element_id) {
            (Some(ScrollTo::Element), None) => {
                return Err(Problem::new(ProblemKind::InvalidArgs, "to=elementId needs element_id"));
            }
            (None | Some(ScrollTo::Element), Some(number)) => Some(session.element(number, None, until)?),
            _ => None,
        };
        let moved = match (self.to, element) {
            (_, Some(index)) => {
                let report = ResultMembers::default().with("id", index.to_string());
                return session.act_on(None, until, report, |session| session.browser.scroll_to(index, smooth, until));
            }
            (Some(ScrollTo::Top), None) => ("to", 0.0, 0.0),
            (Some(_), None) => ("to", 0.0, f64::MAX),
            (None, None) => ("by", self.by_x, self.by_y),
        };
        session.act_on(None, until, ResultMembers::default(), |session| {
            Ok(session.browser.scroll(moved, smooth, until)?)
        })
    }
}
