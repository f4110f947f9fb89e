//! The deal beside an element that orders or pays: the total and the items that a person sees there.

mod guard;
mod region;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub(crate) use guard::DealAtPress;

use crate::worlds::{Frame, IsolatedWorld};
use crate::{ActionError, Browser};
use guard::DealPart;
use region::{FrameText, Reading};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

const SCRIPT: &str = concat!(
    "(() => {",
    include_str!("../scripts/members.js"),
    include_str!("../scripts/naming.js"),
    include_str!("../scripts/tree.js"),
    include_str!("../scripts/secret.js"),
    include_str!("../scripts/submitter.js"),
    "return (",
    include_str!("../scripts/deal.js"),
    ") })()"
);

/// How much of a frame is read, in UTF-16 code units.
const MAX_TEXT: usize = 200_000;

/// How certainly activating an element costs money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentSign {
    /// It is no payment.
    None,
    /// It is one if there is an amount beside it.
    Unsure,
    /// It orders or pays.
    Pays,
}

/// What the text beside a button means.
#[derive(Clone, Copy)]
pub struct DealRules {
    /// Whether activating an element of this role and name orders or pays.
    pub payment_sign: fn(&str, &str) -> PaymentSign,
    /// Whether a text has a number with a currency.
    pub has_amount: fn(&str) -> bool,
    /// Whether a text has a number that looks like an amount.
    pub has_bare_amount: fn(&str) -> bool,
    /// Whether a text has a word for the sum.
    pub names_total: fn(&str) -> bool,
    /// Whether two texts are the same deal, if the second was read so much later.
    pub is_same: fn(&str, &str, Duration) -> bool,
}

impl fmt::Debug for DealRules {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("DealRules").finish_non_exhaustive()
    }
}

/// The deal, as results and calls have it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deal {
    /// The text beside the button, as lines.
    pub text: Vec<String>,
    /// What a person must know of the text: in our own words, while all of `text` is the page's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A deal that was read from a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageDeal {
    /// What is shown of it.
    pub shown: Deal,
    /// All of it on one line.
    pub whole: String,
    /// Where it is.
    part: DealPart,
}

/// The note if no amount can be read.
pub const UNREAD: &str = "the total could not be read";

impl Deal {
    /// All lines as one: how they are laid out does not count.
    pub fn flat(&self) -> String {
        flat(&self.text)
    }
}

fn flat(lines: &[String]) -> String {
    lines.join(" ").split(' ').filter(|word| !word.is_empty() && *word != region::CELL).collect::<Vec<_>>().join(" ")
}

/// A button or field whose deal is wanted.
#[derive(Debug, Clone)]
pub(crate) struct DealButton {
    /// Its number.
    pub(crate) index: u32,
    /// Whether it is a payment even if no amount is beside it.
    pub(crate) is_certain: bool,
}

impl Browser {
    /// The deals of these elements, as they are now; none for an element that has gone, or is not certain to pay and has
    /// no amount beside it.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub(crate) fn deals(
        &mut self,
        buttons: &[DealButton],
        rules: DealRules,
        until: Instant,
    ) -> Result<BTreeMap<u32, PageDeal>, ActionError> {
        let wanted: BTreeMap<u32, &DealButton> = buttons.iter().map(|button| (button.index, button)).collect();
        let mut worlds: BTreeMap<IsolatedWorld, BTreeMap<u32, &DealButton>> = BTreeMap::new();
        for (world, number, index) in self.numbers.all() {
            if let Some(button) = wanted.get(&index) {
                worlds.entry(world.clone()).or_default().insert(number, button);
            }
        }
        let mut found = BTreeMap::new();
        for (world, buttons) in worlds {
            let numbers: Vec<u32> = buttons.keys().copied().collect();
            let mut others: Option<Vec<FrameText>> = None;
            for text in self.frame_texts(&world, &numbers, until)? {
                let reading = Reading::new(&text, rules);
                for target in &text.targets {
                    let Some(button) = target.numbers.first().and_then(|number| buttons.get(number)) else { continue };
                    let mut deal = reading.choose(target, button.is_certain);
                    if deal.is_none() && button.is_certain {
                        if others.is_none() {
                            others = Some(self.other_frames(&world, until)?);
                        }
                        deal = Some(reading.choose_among(target, others.as_deref().unwrap_or_default()));
                    }
                    for index in target.numbers.iter().filter_map(|number| Some(buttons.get(number)?.index)) {
                        found.extend(deal.clone().map(|deal| (index, deal)));
                    }
                }
            }
        }
        Ok(found)
    }

    /// The text of all frames but one.
    fn other_frames(&mut self, own: &IsolatedWorld, until: Instant) -> Result<Vec<FrameText>, ActionError> {
        let mut texts = Vec::new();
        for frame in self.frames(until)? {
            texts.extend(self.other_frame(&frame, own, until)?);
        }
        Ok(texts)
    }

    fn other_frame(
        &mut self,
        frame: &Frame,
        own: &IsolatedWorld,
        until: Instant,
    ) -> Result<Vec<FrameText>, ActionError> {
        match self.world(frame, until) {
            Ok(world) if world == *own => Ok(Vec::new()),
            Ok(world) => self.frame_texts(&world, &[], until),
            // A frame may disappear while the others are read.
            Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => Ok(Vec::new()),
            Err(fault) => Err(fault),
        }
    }

    /// The text of a frame; that around each element by itself if the frame is large.
    fn frame_texts(
        &mut self,
        world: &IsolatedWorld,
        numbers: &[u32],
        until: Instant,
    ) -> Result<Vec<FrameText>, ActionError> {
        let arguments = json!([{"value": numbers}]);
        // Elements stay in the page.
        let read = "(numbers) => { const found = globalThis[Symbol.for(\"pipewright\")]?.readDeals?.(numbers);
            const bare = ({ element, ...others }) => others;
            const without = (target) => ({ ...bare(target), around: target.around.map(bare) });
            return found?.map((text) => ({ ...text, targets: text.targets.map(without) })); }";
        let text = self.run(world, read, &arguments, true, until).and_then(|remote| {
            if remote.value.is_some() {
                return Ok(remote);
            }
            // Compiled once per document.
            let keep = format!(
                "() => {{ const read = {SCRIPT}; (globalThis[Symbol.for(\"pipewright\")] ??= {{}}).readDeals = (numbers, \
                 root) => read(numbers, {MAX_TEXT}, root); }}"
            );
            self.run(world, &keep, &json!([]), true, until)?;
            self.run(world, read, &arguments, true, until)
        });
        match text {
            Ok(remote) => remote.read(),
            Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => Ok(Vec::new()),
            Err(fault) => Err(fault),
        }
    }
}
