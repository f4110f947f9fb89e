//! The deal of a call that orders or pays, which a list of `browser-bridge` has named: a gate adds it to the arguments.

use super::{Builtin, CallEffect};
use pipewright_lines::{Change, FieldError, change};
use pipewright_record::{Call, Fields};

/// The argument of the tools of `browser-bridge` that names the deal that a person is asked about.
const DEAL: &str = "deal";

/// Whether a call of `browser-bridge` names a deal. Other servers may have an argument of this name.
pub(super) fn has_deal(tool: &str, arguments: &Fields<'_>) -> bool {
    is_of_bridge(tool) && arguments.get(DEAL).is_some()
}

fn is_of_bridge(tool: &str) -> bool {
    let own = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    own.rsplit("__").next().unwrap_or(own).starts_with("browser_")
}

impl Builtin {
    /// Whether a call may be about a deal that the caller does not know, or names a deal itself.
    pub fn may_have_deal(&self, call: &Call<'_>) -> bool {
        // A key may be written with escapes.
        let may_name = || call.arguments_text().contains(DEAL) || call.arguments_text().contains('\\');
        self.snapshot.has_deals() || (is_of_bridge(&call.tool) && may_name())
    }

    /// The arguments of a judged call with the deal of the element that it acts on, if a person is asked, in place of
    /// any deal that the caller names; `None` if they stay as they are.
    ///
    /// # Errors
    /// They are not an object.
    pub fn with_deal(
        &self,
        call: &Call<'_>,
        effect: &CallEffect,
        is_asked: bool,
    ) -> Result<Option<String>, FieldError> {
        let deal = effect.target.as_ref().and_then(|target| target.deal.as_deref()).filter(|_| is_asked);
        let own = call.arguments_text();
        let new = match deal {
            Some(deal) => Change::Set(deal.as_bytes()),
            None if Fields::read(own).is_ok_and(|arguments| has_deal(&call.tool, &arguments)) => Change::Remove,
            None => return Ok(None),
        };
        let mut out = Vec::with_capacity(own.len() + 1024);
        change(own, &[(DEAL, new)], &mut out)?;
        // A complete value was replaced by text.
        Ok(String::from_utf8(out).ok())
    }
}
