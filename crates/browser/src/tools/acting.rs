//! Acting on elements with the mouse.

use super::deals::EffectOfPress;
use super::numbers::{Number, Purpose};
use super::pointing::mouse_place;
use super::report::{ResultMembers, Settling};
use super::table::Arguments;
use super::{Problem, ProblemKind, ToolResult, ToolSession};
use crate::keys::Chord;
use crate::pointer::MovePurpose;
use crate::{Browser, ClickOptions, InputRefusal, MouseButton, ScrollMove, Typing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::{Duration, Instant};

/// The longest press of the mouse.
const MAX_HOLD_MS: u64 = 30_000;

/// An action on an element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    #[default]
    Click,
    Type,
    Select,
    Deselect,
}

/// A button of the mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Button {
    #[default]
    Left,
    Right,
    Middle,
}

/// A key that is held during a click.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Modifier {
    Alt,
    Control,
    Meta,
    Shift,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Act {
    /// The number of the element. Without it, type goes where the focus is, and click to the point x, y of the window.
    index: Option<Number>,
    /// click; type replaces the text of a field, or sets a date, time, colour or range; select chooses an option by its label or value;
    /// deselect ends that in a list with several choices.
    #[serde(default)]
    action: Action,
    /// What to type, or the option to select.
    text: Option<String>,
    /// With type: add the text at the end of the existing content.
    #[serde(default)]
    append: bool,
    /// With type: press Enter afterwards. In a field of the role searchbox, Enter is always pressed.
    #[serde(default)]
    submit: bool,
    /// With type: press a key for each character, for a field that does not react to inserted text.
    #[serde(default)]
    slowly: bool,
    /// With click: the mouse button.
    #[serde(default)]
    button: Button,
    /// With click: click twice.
    #[serde(default)]
    double_click: bool,
    /// With click: keys that are held.
    #[serde(default)]
    modifiers: Vec<Modifier>,
    /// With click: how long the button is held down, in milliseconds.
    #[serde(default)]
    hold_ms: u64,
    /// With click: CSS pixels from the left edge of the element, or of the window without index.
    x: Option<f64>,
    /// With click: CSS pixels from the upper edge of the element, or of the window without index.
    y: Option<f64>,
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
    /// The number of an element: with to=elementId or nothing else, scrolls to it; else scrolls the part of the page that it is in.
    /// Without it, the part under the middle of the window scrolls.
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
        let purpose = if self.action == Action::Type { Purpose::Type } else { Purpose::Press };
        let index = match self.index {
            Some(number) => Some(session.element_for(purpose, number, self.snapshot_id.as_deref(), until)?),
            None => None,
        };
        let report = ResultMembers::default().with("performed", self.action.name());
        let report = report.with_some("id", index.map(|index| index.to_string()));
        match self.action {
            Action::Click => self.click(index, session, report, until),
            Action::Type => self.enter(index, session, report, until),
            Action::Select | Action::Deselect => {
                let option = self.text("the option to select")?.to_owned();
                let index = index.ok_or_else(|| self.needs("\"index\": the number of the list"))?;
                let report = report.with("select_ok", true);
                let is_selected = self.action == Action::Select;
                session.act_on(self.settle, until, report, |session| {
                    session.browser.choose(index, &option, is_selected, until)
                })
            }
        }
        .map_err(|problem| match (problem.code, index) {
            (Some("stale_index" | "deal_changed"), index) => session.with_list(problem, index, until),
            (Some("unfit"), Some(index)) => {
                let message = format!("number {index}: {}", problem.message);
                Problem { message, ..problem }
            }
            _ => problem,
        })
    }
}

impl Act {
    fn needs(&self, what: &str) -> Problem {
        Problem::new(ProblemKind::InvalidArgs, format!("action={} needs {what}", self.action.name()))
    }

    fn text(&self, what: &str) -> Result<&str, Problem> {
        self.text.as_deref().ok_or_else(|| self.needs(&format!("\"text\": {what}")))
    }

    fn click(
        &self,
        index: Option<u32>,
        session: &mut ToolSession,
        report: ResultMembers,
        until: Instant,
    ) -> ToolResult {
        let place = mouse_place("index", index, self.x, self.y)?;
        let options = ClickOptions {
            button: match self.button {
                Button::Left => MouseButton::Left,
                Button::Right => MouseButton::Right,
                Button::Middle => MouseButton::Middle,
            },
            is_double: self.double_click,
            modifiers: self.modifiers.iter().fold(0, |all, one| all | one.bit()),
            hold: Duration::from_millis(self.hold_ms.min(MAX_HOLD_MS)),
        };
        session.act_on(self.settle, until, report, |session| {
            let at = session.browser.go_to(place, MovePurpose::Press, until)?;
            let press = |browser: &mut Browser| browser.press_mouse(at, options, until);
            match index {
                Some(index) => session.press_checked(index, EffectOfPress::Presses, until, press),
                None => press(&mut session.browser),
            }
        })
    }

    fn enter(
        &self,
        index: Option<u32>,
        session: &mut ToolSession,
        report: ResultMembers,
        until: Instant,
    ) -> ToolResult {
        let text = self.text("what to type; \"\" clears the field")?;
        let typing = if self.append { Typing::Append } else { Typing::Replace };
        session.act(self.settle, until, |session| match index {
            Some(index) => session.type_into(index, self, (text, typing), report, until),
            None => session.type_at_focus(self, text, report, until),
        })
    }
}

impl Modifier {
    fn bit(self) -> u32 {
        match self {
            Modifier::Alt => 1,
            Modifier::Control => 2,
            Modifier::Meta => 4,
            Modifier::Shift => 8,
        }
    }
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Action::Click => "click",
            Action::Type => "type",
            Action::Select => "select",
            Action::Deselect => "deselect",
        }
    }
}

impl ToolSession {
    /// Types into an element, and presses Enter if that is asked for, or it is a search field.
    fn type_into(
        &mut self,
        index: u32,
        act: &Act,
        (text, typing): (&str, Typing),
        report: ResultMembers,
        until: Instant,
    ) -> ToolResult {
        let typed = self.browser.type_text(index, text, typing, act.slowly, until).map_err(untyped)?;
        let report = report.with("textLen", text.chars().count());
        let report = match typed {
            Ok(typed) => {
                let report = report.with("input_ok", typed.is_in);
                report.with_some("is_secret", typed.is_secret.then_some(true))
            }
            // The page may answer text with a new field.
            Err(InputRefusal::Stale) => report.with("replaced", true),
            Err(refusal) => return Err(refusal.into()),
        };
        let is_search = self.known(index).is_some_and(|element| element.role == "searchbox") && !text.is_empty();
        if !act.submit && !is_search {
            return Ok(report);
        }
        let report = report.with_some("auto_enter", (!act.submit).then_some(true));
        self.press_enter(text, report, |session, enter| {
            session
                .press_checked(index, EffectOfPress::Enters, until, |browser| browser.press_kept(index, enter, until))
        })
    }

    /// Types where the focus is, if that is on the element that the last result has named.
    fn type_at_focus(&mut self, act: &Act, text: &str, report: ResultMembers, until: Instant) -> ToolResult {
        let place = self.reported_focus(until)?;
        self.browser.type_at(&place, text, act.slowly, until).map_err(untyped)?;
        let report = report.with("textLen", text.chars().count());
        if !act.submit {
            return Ok(report);
        }
        self.press_enter(text, report, |session, enter| session.press_focused(&place, enter, until))
    }

    fn press_enter(
        &mut self,
        text: &str,
        report: ResultMembers,
        press: impl FnOnce(&mut ToolSession, &Chord) -> Result<(), InputRefusal>,
    ) -> ToolResult {
        let enter = Chord::read("Enter").map_err(|why| InputRefusal::Unfit(why.to_string()));
        match enter.and_then(|enter| press(self, &enter)) {
            Ok(()) | Err(InputRefusal::Fault(crate::ActionError::Dialog(_))) => Ok(report),
            Err(refusal) => {
                let problem = Problem::from(refusal);
                let message = format!("the text was typed, but Enter was not pressed: {}", problem.message);
                Err(Problem { message, ..problem }.with_data(json!({"textLen": text.chars().count()})))
            }
        }
    }
}

fn untyped(refusal: InputRefusal) -> Problem {
    match refusal {
        InputRefusal::Unfocused => Problem::from(refusal).with_data(json!({"textLen": 0})),
        refusal => refusal.into(),
    }
}

impl Arguments for Scroll {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let is_smooth = self.behavior == Behavior::Smooth;
        let index = match self.element_id {
            Some(number) => Some(session.element(number, None, until)?),
            None => None,
        };
        let report = ResultMembers::default().with_some("id", index.map(|index| index.to_string()));
        let to_move = match (self.to, index) {
            (Some(ScrollTo::Top), _) => ScrollMove::To(0.0),
            (Some(ScrollTo::Bottom), _) => ScrollMove::To(f64::MAX),
            (None, index) if index.is_none() || self.by_x != 0.0 || self.by_y != 0.0 => {
                ScrollMove::By(self.by_x, self.by_y)
            }
            (_, Some(index)) => {
                return session
                    .act_on(None, until, report, |session| session.browser.scroll_to(index, is_smooth, until));
            }
            (_, None) => return Err(Problem::new(ProblemKind::InvalidArgs, "to=elementId needs element_id")),
        };
        session.act(None, until, |session| {
            let scrolled = session.browser.scroll(index, to_move, is_smooth, until)?;
            Ok(report.with_some("scrolled", scrolled))
        })
    }
}
