//! Tabs: which one is active, and the dialogs that block them.

use crate::{ActionError, Browser};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::time::Instant;

/// How many dialogs of a page are dismissed in a row.
const DIALOGS: usize = 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreateTargetResult {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GetTargetsResult {
    target_infos: Vec<TargetTitle>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetTitle {
    target_id: String,
    title: String,
}

impl Browser {
    /// Opens an empty page, makes it the active one, and returns its id.
    ///
    /// # Errors
    /// The tab does not open in time.
    pub fn open(&mut self, until: Instant) -> Result<String, ActionError> {
        let CreateTargetResult { target_id } =
            self.call_browser("Target.createTarget", &json!({"url": "about:blank"}), until)?;
        let id = target_id.clone();
        let is_there = move |page: &crate::pages::Page| page.id == id && page.document.is_parsed;
        if !self.wait(until, |pages| pages.all().iter().any(&is_there))? {
            return Err(ActionError::Late);
        }
        self.activate(&target_id);
        Ok(target_id)
    }

    /// Asks the browser for the titles of all pages: it does not report when they change.
    ///
    /// # Errors
    /// The browser does not answer in time.
    pub fn read_titles(&mut self, until: Instant) -> Result<(), ActionError> {
        let GetTargetsResult { target_infos } = self.call_browser("Target.getTargets", &json!({}), until)?;
        self.pages.set_titles(target_infos.into_iter().map(|target| (target.target_id, target.title)));
        Ok(())
    }

    /// Makes a page the active one, and shows it.
    ///
    /// # Errors
    /// [`ActionError::NoPage`]: it is closed.
    pub fn switch(&mut self, id: &str, until: Instant) -> Result<(), ActionError> {
        if self.pages().all().iter().all(|page| page.id != id) {
            return Err(ActionError::NoPage);
        }
        self.activate(id);
        let IgnoredAny = self.call_browser("Target.activateTarget", &json!({"targetId": id}), until)?;
        Ok(())
    }

    /// Closes a page. If it is the active one, its opener becomes active, or else the last page.
    ///
    /// # Errors
    /// [`ActionError::NoPage`]: it is already closed. [`ActionError::Late`]: the page asks whether it may be left, or does not answer.
    pub fn close_page(&mut self, id: &str, until: Instant) -> Result<(), ActionError> {
        let page = self.pages().all().iter().find(|page| page.id == id).ok_or(ActionError::NoPage)?;
        let (opener, is_active) = (page.opener.clone(), self.page().is_ok_and(|active| active.id == id));
        let IgnoredAny = self.call_browser("Target.closeTarget", &json!({"targetId": id}), until)?;
        if !self.wait(until, |pages| pages.all().iter().all(|page| page.id != id))? {
            return Err(ActionError::Late);
        }
        let pages = self.pages().all();
        let opener = opener.filter(|opener| pages.iter().any(|page| page.id == *opener));
        if is_active && let Some(next) = opener.or_else(|| pages.last().map(|page| page.id.clone())) {
            self.switch(&next, until)?;
        }
        Ok(())
    }

    /// Makes sure that there is an active page: if it is closed, the last one becomes active, or a new one.
    ///
    /// # Errors
    /// The browser does not open one.
    pub fn adopt_page(&mut self, until: Instant) -> Result<(), ActionError> {
        if self.page().is_ok() {
            return Ok(());
        }
        match self.pages().all().last().map(|page| page.id.clone()) {
            Some(id) => self.switch(&id, until),
            None => self.open(until).map(drop),
        }
    }

    /// Dismisses the dialogs of the active page, even several in a row.
    ///
    /// # Errors
    /// [`ActionError::Dialog`]: too many dialogs.
    pub fn dismiss_dialogs(&mut self, until: Instant) -> Result<(), ActionError> {
        for _ in 0..DIALOGS {
            let Some(dialog) = self.page()?.dialog.clone() else { return Ok(()) };
            // The page is to be left here.
            self.answer_dialog(dialog.kind == "beforeunload", None, until)?;
        }
        self.page()?.dialog.clone().map_or(Ok(()), |dialog| Err(ActionError::Dialog(dialog)))
    }

    /// Answers the dialog of the active page; `text` is the answer to a `prompt`.
    ///
    /// # Errors
    /// [`ActionError::Refused`]: no dialog is open.
    pub fn answer_dialog(&mut self, accept: bool, text: Option<&str>, until: Instant) -> Result<(), ActionError> {
        let mut answer = json!({"accept": accept});
        if let Some(text) = text {
            answer["promptText"] = text.into();
        }
        let IgnoredAny = self.call_page("Page.handleJavaScriptDialog", &answer, until)?;
        let active = self.page()?.id.clone();
        self.wait(until, |pages| pages.all().iter().all(|page| page.id != active || page.dialog.is_none()))?;
        Ok(())
    }
}
