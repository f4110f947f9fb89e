//! The moment between the comparison of a deal and the press: the page gets the click or the key only while the text is
//! still there.

use super::PageDeal;
use crate::worlds::IsolatedWorld;
use crate::{ActionError, Browser, InputRefusal};
use serde_json::json;
use std::time::Instant;

const ARM: &str = concat!(
    "(number, at, expected) => {",
    include_str!("../scripts/deal-guard.js"),
    "return armDeal(number, at, expected); }"
);
const DISARM: &str = concat!("() => {", include_str!("../scripts/deal-guard.js"), "return disarmDeal(); }");

/// Where in a page the deal of an element is, as it was compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DealPart {
    /// Its place among the parts around the element; `None` is the whole frame.
    pub(super) at: Option<usize>,
    /// Its lines, without those of the element.
    pub(super) text: String,
}

impl Browser {
    /// Does something to an element, while the page gets nothing if its deal is another one by then.
    ///
    /// # Errors
    /// As those of `press`; [`InputRefusal::Stale`]: the element has gone.
    pub(crate) fn while_deal_stands(
        &mut self,
        index: u32,
        deal: &PageDeal,
        until: Instant,
        press: impl FnOnce(&mut Browser) -> Result<(), InputRefusal>,
    ) -> Result<DealAtPress, InputRefusal> {
        let Some((world, number)) = self.numbers.find(index) else { return Err(InputRefusal::Stale) };
        let at = deal.part.at.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1);
        let arguments = json!([{"value": number}, {"value": at}, {"value": deal.part.text}]);
        let armed: String = self.run(&world, ARM, &arguments, true, until)?.read()?;
        if !armed.is_empty() {
            self.send_script(&world, DISARM)?;
            return Ok(DealAtPress::Changed);
        }
        let pressed = press(self);
        if pressed.is_err() {
            // A dialog may block the page: the guard goes once it is answered.
            self.send_script(&world, DISARM)?;
            return pressed.map(|()| DealAtPress::Same);
        }
        self.disarm(&world, until)
    }

    fn disarm(&mut self, world: &IsolatedWorld, until: Instant) -> Result<DealAtPress, InputRefusal> {
        match self.run(world, DISARM, &json!([]), true, until) {
            Ok(remote) => match remote.read::<String>()?.as_str() {
                "" => Ok(DealAtPress::Same),
                "late" => Ok(DealAtPress::ChangedLate),
                _ => Ok(DealAtPress::Changed),
            },
            // The click has closed the page, or opened another one or a dialog.
            Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => Ok(DealAtPress::Same),
            Err(fault) => Err(fault.into()),
        }
    }
}

/// Whether the deal was the same at the press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DealAtPress {
    /// It was pressed.
    Same,
    /// It was another one, and nothing was pressed.
    Changed,
    /// It became another one during the press: the page got the beginning of that, but no click.
    ChangedLate,
}
