//! Keys, and the focus that they move.

use super::deals::EffectOfPress;
use super::numbers::Number;
use super::report::{ResultMembers, Settling};
use super::table::Arguments;
use super::{Problem, ProblemKind, ReportedFocus, ToolResult, ToolSession};
use crate::InputRefusal;
use crate::focus::ElementHandle;
use crate::keys::Chord;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Instant;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Press {
    /// The key, with its modifiers: Enter, Escape, ArrowDown, a, Control+a.
    #[serde(default = "enter")]
    key: String,
    /// The number of the element to press it in; it gets the focus first.
    id: Option<Number>,
    /// The list that the number is from: fails if the page has shown another document since.
    snapshot_id: Option<String>,
    /// What to wait for afterwards: none, dom (the page stops changing), network (it also stops loading) or fixed (a pause).
    settle: Option<Settling>,
}

fn enter() -> String {
    "Enter".to_owned()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FocusNext {
    /// The role to stop at, such as button or textbox; by default any role.
    role: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FocusPrevious {
    /// The role to stop at, such as button or textbox; by default any role.
    role: Option<String>,
}

/// How often Tab is pressed.
const MAX_TABS: usize = 20;

impl Arguments for Press {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let chord = Chord::read(&self.key).map_err(|why| Problem::new(ProblemKind::InvalidArgs, why.to_string()))?;
        let index = match self.id {
            Some(number) => Some(session.element(number, self.snapshot_id.as_deref(), until)?),
            None => None,
        };
        let report =
            ResultMembers::default().with("performed", "press").with_some("id", index.map(|index| index.to_string()));
        let pressed = session.act_on(self.settle, until, report, |session| match index {
            Some(index) => {
                session.browser.focus_on(index, until)?;
                session.press_checked(index, EffectOfPress::of(&chord), until, |browser| {
                    browser.press_kept(index, &chord, until)
                })
            }
            None => session.press_in_focus(&chord, until),
        });
        pressed.map_err(|problem| session.with_deals(problem, index, until))
    }
}

impl Arguments for FocusNext {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        session.focus("Tab", self.role.as_deref(), until)
    }
}

impl Arguments for FocusPrevious {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        session.focus("Shift+Tab", self.role.as_deref(), until)
    }
}

impl ToolSession {
    /// Presses a key in the element with the focus: a call without a number was judged by the one that was named.
    fn press_in_focus(&mut self, chord: &Chord, until: Instant) -> Result<(), InputRefusal> {
        let place = self.reported_focus(until)?;
        self.press_focused(&place, chord, until)
    }

    /// The element with the focus, if the last result that names the focus has named it.
    pub(super) fn reported_focus(&mut self, until: Instant) -> Result<ElementHandle, InputRefusal> {
        let Some((place, focus)) = self.browser.focus(until)? else { return Err(InputRefusal::Unfocused) };
        match &self.reported {
            Some(ReportedFocus(reported)) if *reported != focus => Err(InputRefusal::Unfocused),
            _ => Ok(place),
        }
    }

    /// Presses a key until an element of the role has the focus.
    fn focus(&mut self, key: &str, role: Option<&str>, until: Instant) -> ToolResult {
        let chord = Chord::read(key).map_err(|why| Problem::new(ProblemKind::InvalidArgs, why.to_string()))?;
        self.begin(None, until)?;
        for _ in 0..MAX_TABS {
            self.browser.press(&chord, until)?;
            let state = self.browser.state(until)?;
            let is_there = |focus: &crate::Focus| role.is_none_or(|role| focus.role.eq_ignore_ascii_case(role));
            if let Some(focus) = state.focus.filter(is_there) {
                self.reported = Some(ReportedFocus(Some(focus.clone())));
                return Ok(ResultMembers::default().with("focused_role", focus.role).with("focused_name", focus.name));
            }
        }
        let what = role.map_or("element".to_owned(), |role| format!("element of the role {role:?}"));
        let message = format!("no {what} got the focus by pressing {key} {MAX_TABS} times");
        Err(Problem::new(ProblemKind::NotFound, message).with_code("element_not_found"))
    }
}
