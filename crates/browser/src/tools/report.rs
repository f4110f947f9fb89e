//! The effects of an action, as members of its result.

use super::{Problem, ProblemKind, ReportedFocus, ToolSession};
use crate::pages::Dialog;
use crate::{ActionEffects, ActionError, Focus, InputRefusal, Navigation, PageBefore, PageState, WaitFor};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// The members of a result.
#[derive(Debug, Default)]
pub(super) struct ResultMembers(Map<String, Value>);

impl ResultMembers {
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> ResultMembers {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    pub(super) fn with_some(self, key: &str, value: Option<impl Into<Value>>) -> ResultMembers {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// These members, then those of the other report.
    pub(super) fn and(mut self, other: ResultMembers) -> ResultMembers {
        self.0.extend(other.0);
        self
    }

    pub(super) fn into_members(self) -> Map<String, Value> {
        self.0
    }
}

/// What to wait for after an action.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Settling {
    None,
    Dom,
    Network,
    Fixed,
}

/// The page before an action, and what to wait for after it.
pub(super) struct PendingAction {
    before: PageBefore,
    downloads: Vec<String>,
    settle: WaitFor,
}

impl ToolSession {
    /// Notes the state of the page before an action.
    pub(super) fn begin(&mut self, settling: Option<Settling>, until: Instant) -> Result<PendingAction, Problem> {
        if let Some(dialog) = self.browser.page()?.dialog.clone() {
            return Err(ActionError::Dialog(dialog).into());
        }
        self.begin_with_dialog(settling, until)
    }

    /// Begins an action while a dialog may be open.
    pub(super) fn begin_with_dialog(
        &mut self,
        settling: Option<Settling>,
        until: Instant,
    ) -> Result<PendingAction, Problem> {
        let settle = match settling {
            None => self.settings.settle,
            Some(Settling::None) => WaitFor::None,
            Some(Settling::Dom) => WaitFor::Dom,
            Some(Settling::Network) => WaitFor::Network,
            Some(Settling::Fixed) => WaitFor::Fixed(self.settings.pause),
        };
        self.browser.take_refused();
        let before = self.browser.state_before(until)?;
        self.browser.catch_choosers(true)?;
        Ok(PendingAction { before, downloads: self.browser.download_ids(), settle })
    }

    /// Acts, waits until the page has settled, and reports the effects. Also reports a dialog that the action opens:
    /// then the action is done.
    pub(super) fn act(
        &mut self,
        settling: Option<Settling>,
        until: Instant,
        action: impl FnOnce(&mut ToolSession) -> Result<ResultMembers, Problem>,
    ) -> Result<ResultMembers, Problem> {
        let begun = self.begin(settling, until)?;
        let acted = action(self).and_then(|report| Ok(report.and(self.finish(&begun, until)?)));
        // Between calls, a person at the window gets the chooser.
        if self.browser.page().is_ok() {
            self.browser.catch_choosers(false)?;
        }
        match acted {
            Err(problem) if problem.code == Some("not_focused") => Err(self.with_focus(problem, until)),
            acted => acted,
        }
    }

    /// A problem with the focus, and what has it.
    fn with_focus(&mut self, problem: Problem, until: Instant) -> Problem {
        let Ok(PageState { focus, .. }) = self.browser.state(until) else { return problem };
        let has_it = focus
            .as_ref()
            .map_or("nothing has it".to_owned(), |Focus { role, name, .. }| format!("{role} {name:?} has it"));
        let mut data = with_focus(ResultMembers::default(), focus.as_ref()).into_members();
        if let Some(Value::Object(members)) = problem.data {
            data.extend(members);
        }
        self.reported = Some(ReportedFocus(focus));
        Problem { message: format!("{}: {has_it} now", problem.message), data: Some(data.into()), ..problem }
    }

    /// As [`ToolSession::act`], for a browser action that may be refused.
    pub(super) fn act_on(
        &mut self,
        settling: Option<Settling>,
        until: Instant,
        report: ResultMembers,
        action: impl FnOnce(&mut ToolSession) -> Result<(), InputRefusal>,
    ) -> Result<ResultMembers, Problem> {
        self.act(settling, until, |session| match action(session) {
            Ok(()) | Err(InputRefusal::Fault(ActionError::Dialog(_))) => Ok(report),
            Err(refusal) => Err(refusal.into()),
        })
    }

    pub(super) fn finish(&mut self, begun: &PendingAction, until: Instant) -> Result<ResultMembers, Problem> {
        let happened = match self.browser.after(&begun.before, begun.settle, until) {
            Ok(happened) => self.report_effects(&happened)?,
            Err(ActionError::Dialog(dialog)) => self.shown(until)?.with("dialog", shown(&dialog)),
            Err(ActionError::NoPage) => {
                self.browser.adopt_page(until)?;
                self.shown(until)?.with("tab_closed", true).with("changed", true)
            }
            Err(fault) => {
                let problem = Problem::from(fault);
                let message = format!("the action was done, but afterwards: {}", problem.message);
                return Err(Problem { message, ..problem });
            }
        };
        let begun = |download: &&crate::Download| !begun.downloads.contains(&download.id);
        let downloads: Vec<Value> =
            self.browser.downloads_seen().iter().filter(begun).map(super::transfer::download).collect();
        let chooser = self.browser.take_new_chooser().map(|chooser| json!({"multiple": chooser.is_multiple}));
        let happened = happened.with_some("file_chooser", chooser);
        let happened = happened.with_some("downloads", Some(downloads).filter(|downloads| !downloads.is_empty()));
        let refused: Vec<Value> = self
            .browser
            .take_refused()
            .into_iter()
            .map(|denied| json!({"url": denied.address, "why": denied.why}))
            .collect();
        Ok(happened.with_some("refused", Some(refused).filter(|refused| !refused.is_empty())))
    }

    fn report_effects(&mut self, happened: &ActionEffects) -> Result<ResultMembers, Problem> {
        let nav_type = match happened.navigation {
            Navigation::None => "none",
            Navigation::Within => "spa",
            Navigation::Full => "full",
        };
        let report = ResultMembers::default().with("nav_type", nav_type).with("changed", happened.is_changed);
        let opened: Vec<Value> = happened.opened.iter().filter_map(|id| self.tab(id)).collect();
        let report = report.and(self.state(&happened.state)?);
        Ok(report.with_some("new_tabs", Some(opened).filter(|opened| !opened.is_empty())))
    }

    /// The state of the active page, if it can be asked.
    fn state(&mut self, state: &PageState) -> Result<ResultMembers, Problem> {
        let PageState { url, title, scroll, focus, frame, media, .. } = state;
        let report = ResultMembers::default().with("url", url.as_str()).with("title", title.as_str());
        let report =
            report.with("active_tab", self.active_tab()?).with("scroll_pos", json!({"x": scroll[0], "y": scroll[1]}));
        let report = with_focus(report, focus.as_ref());
        self.reported = Some(ReportedFocus(focus.clone()));
        let is_secret = focus.as_ref().is_some_and(|focus| focus.secret);
        let report = report.with_some("is_secret", is_secret.then_some(true));
        let report = report.with_some("active_frame", frame.as_deref());
        Ok(report.with_some("media", media.as_ref().map(|media| json!({"playing": media.playing, "time": media.time}))))
    }

    /// The state of the active page if it cannot be asked: it is new, or blocked by a dialog.
    pub(super) fn shown(&mut self, until: Instant) -> Result<ResultMembers, Problem> {
        self.browser.read_titles(until)?;
        let page = self.browser.page()?;
        let report =
            ResultMembers::default().with("url", page.document.url.as_str()).with("title", page.title.as_str());
        Ok(report.with("active_tab", self.active_tab()?))
    }

    /// The number of the active tab, from 0.
    pub(super) fn active_tab(&self) -> Result<usize, Problem> {
        let active = &self.browser.page()?.id;
        let index = self.browser.pages().all().iter().position(|page| page.id == *active);
        index.ok_or_else(|| Problem::new(ProblemKind::NotFound, "the page is closed"))
    }

    /// A tab, as lists show it.
    pub(super) fn tab(&self, id: &str) -> Option<Value> {
        let (index, page) = self.browser.pages().all().iter().enumerate().find(|(_, page)| page.id == id)?;
        Some(json!({"index": index, "title": page.title, "url": page.document.url}))
    }
}

/// The element with the focus, as results show it.
fn with_focus(report: ResultMembers, focus: Option<&Focus>) -> ResultMembers {
    let report = report.with_some("focused_role", focus.map(|focus| focus.role.as_str()));
    report.with_some("focused_name", focus.map(|focus| focus.name.as_str()))
}

/// A dialog, as results show it.
pub(super) fn shown(dialog: &Dialog) -> Value {
    json!({"kind": dialog.kind, "message": dialog.message})
}
