//! Tabs, and the dialogs of their pages.

use super::deals::EffectOfPress;
use super::numbers::Number;
use super::report::{ResultMembers, shown};
use super::table::Arguments;
use super::{Problem, ProblemKind, ToolResult, ToolSession};
use crate::Ready;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::time::Instant;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Switch {
    /// The number of the tab, from 0.
    index: Option<usize>,
    /// A part of its title, in any case.
    title_contains: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Close {
    /// The number of the tab, from 0.
    index: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenInNewTab {
    /// The number of the link.
    id: Number,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Dialog {
    /// true: OK, or leave the page; false: Cancel, or stay.
    accept: bool,
    /// What to answer a prompt with.
    text: Option<String>,
}

impl Arguments for List {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        session.browser.read_titles(until)?;
        let pages = session.browser.pages().all();
        let tabs: Vec<Value> = pages.iter().filter_map(|page| session.tab(&page.id)).collect();
        Ok(ResultMembers::default().with("active_tab", session.active_tab()?).with("tabs", tabs))
    }
}

impl Arguments for Switch {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        session.browser.read_titles(until)?;
        let id = match (self.index, self.title_contains) {
            (Some(index), None) => session.tab_at(index)?,
            (None, Some(part)) => {
                let lower = part.to_lowercase();
                let pages = session.browser.pages().all();
                let found = pages.iter().find(|page| page.title.to_lowercase().contains(&lower));
                found.map(|page| page.id.clone()).ok_or_else(|| no_tab(&format!("no tab has {part:?} in its title")))?
            }
            _ => return Err(Problem::new(ProblemKind::InvalidArgs, "give either index or title_contains")),
        };
        session.browser.switch(&id, until)?;
        session.shown(until)
    }
}

impl Arguments for Close {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let id = match self.index {
            Some(index) => session.tab_at(index)?,
            None => session.browser.page()?.id.clone(),
        };
        session.browser.close_page(&id, until)?;
        session.browser.adopt_page(until)?;
        session.shown(until)
    }
}

impl Arguments for OpenInNewTab {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let index = session.element(self.id, None, until)?;
        let checked = session.press_checked(index, EffectOfPress::Presses, until, |_| Ok(())).map_err(Problem::from);
        checked.map_err(|problem| session.with_deals(problem, Some(index), until))?;
        let Some(url) = session.browser.link(index, until)? else {
            return Err(Problem::new(ProblemKind::ToolError, "the element is not a link").with_code("unfit"));
        };
        session.browser.open(until)?;
        let arrived = session.browser.navigate(&url, Ready::Parsed, until)?;
        let report = session.shown(until)?.with("tabIndex", session.active_tab()?);
        Ok(report.with_some("httpStatus", arrived.document.status))
    }
}

impl Arguments for Dialog {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let Some(dialog) = session.browser.page()?.dialog.clone() else {
            return Err(Problem::new(ProblemKind::NotFound, "no dialog is open").with_code("no_dialog"));
        };
        let begun = session.begin_with_dialog(None, until)?;
        session.browser.answer_dialog(self.accept, self.text.as_deref(), until)?;
        Ok(ResultMembers::default().with("answered", shown(&dialog)).and(session.finish(&begun, until)?))
    }
}

fn no_tab(why: &str) -> Problem {
    Problem::new(ProblemKind::NotFound, format!("{why}: browser_tabs lists them")).with_code("no_tab")
}

impl ToolSession {
    fn tab_at(&self, index: usize) -> Result<String, Problem> {
        let pages = self.browser.pages().all();
        let page = pages.get(index).ok_or_else(|| no_tab(&format!("there is no tab {index}")))?;
        Ok(page.id.clone())
    }
}
