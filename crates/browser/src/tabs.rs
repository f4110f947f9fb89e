//! Tabs: which of them commands are for, and the dialogs that hold them up.

use crate::{Browser, Fault};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use std::time::Instant;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    target_id: String,
}

impl Browser {
    /// Opens an empty page and makes it the active one; gives its id.
    ///
    /// # Errors
    /// It is not there in time.
    pub fn open(&mut self, until: Instant) -> Result<String, Fault> {
        let Created { target_id } = self.call_browser("Target.createTarget", &json!({"url": "about:blank"}), until)?;
        let id = target_id.clone();
        let is_there = move |page: &crate::pages::Page| page.id == id && page.document.is_parsed;
        if !self.wait(until, |pages| pages.all().iter().any(&is_there))? {
            return Err(Fault::Late);
        }
        self.activate(&target_id);
        Ok(target_id)
    }

    /// Makes a page the active one, and shows it.
    ///
    /// # Errors
    /// [`Fault::NoPage`]: it is closed.
    pub fn switch(&mut self, id: &str, until: Instant) -> Result<(), Fault> {
        if self.pages().all().iter().all(|page| page.id != id) {
            return Err(Fault::NoPage);
        }
        self.activate(id);
        let IgnoredAny = self.call_browser("Target.activateTarget", &json!({"targetId": id}), until)?;
        Ok(())
    }

    /// Closes a page. Where it is the active one, that which opened it is active then, or else the last.
    ///
    /// # Errors
    /// [`Fault::NoPage`]: it is closed already. [`Fault::Late`]: the page asks whether it may be left, or does not answer.
    pub fn close_page(&mut self, id: &str, until: Instant) -> Result<(), Fault> {
        let page = self.pages().all().iter().find(|page| page.id == id).ok_or(Fault::NoPage)?;
        let (opener, is_active) = (page.opener.clone(), self.page().is_ok_and(|active| active.id == id));
        let IgnoredAny = self.call_browser("Target.closeTarget", &json!({"targetId": id}), until)?;
        if !self.wait(until, |pages| pages.all().iter().all(|page| page.id != id))? {
            return Err(Fault::Late);
        }
        let pages = self.pages().all();
        let opener = opener.filter(|opener| pages.iter().any(|page| page.id == *opener));
        if is_active && let Some(next) = opener.or_else(|| pages.last().map(|page| page.id.clone())) {
            self.switch(&next, until)?;
        }
        Ok(())
    }

    /// Answers the dialog of the active page; `text` is what a `prompt` is answered with.
    ///
    /// # Errors
    /// [`Fault::Refused`]: there is none.
    pub fn answer_dialog(&mut self, accept: bool, text: Option<&str>, until: Instant) -> Result<(), Fault> {
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
