//! The deals of elements that order or pay: named in lists, and compared right before such an element is pressed. What was
//! approved for one deal is never done with another.

use super::{Problem, ProblemKind, ToolSession};
use crate::deal::{DealAtPress, DealButton};
use crate::focus::ElementHandle;
use crate::keys::Chord;
use crate::pointer::MovePurpose;
use crate::{ActionError, Browser, ClickOptions, Deal, Element, InputRefusal, MousePlace, PageDeal, PaymentSign};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

/// The deal of an element when it was named in a result.
#[derive(Debug, Clone)]
pub(super) struct KnownDeal {
    /// `None` if there was no amount beside an element that may not be a payment.
    deal: Option<PageDeal>,
    read: Instant,
}

/// What pressing an element or a key does to the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EffectOfPress {
    /// It activates the element.
    Presses,
    /// It activates the element, or enters what was typed there.
    Enters,
    /// Neither.
    Other,
}

impl EffectOfPress {
    pub(super) fn of(chord: &Chord) -> EffectOfPress {
        match (chord.code.as_str(), chord.key.as_str()) {
            ("Enter" | "NumpadEnter", _) | (_, "Enter") => EffectOfPress::Enters,
            ("Space", _) | (_, " ") => EffectOfPress::Presses,
            _ => EffectOfPress::Other,
        }
    }
}

/// What is known of names: classifying one takes longer than finding it again.
#[derive(Debug, Default)]
pub(super) struct PaymentSigns(HashMap<String, PaymentSign>);

/// How many names are kept.
const NAMES: usize = 50_000;

/// The most lines of a difference in an error, and the most characters of each.
const TOLD_LINES: usize = 5;
const TOLD: usize = 120;

/// The argument of a call that names the deal that was approved. Gates add it.
const ARGUMENT: &str = "deal";

/// Takes the approved deal out of the arguments of a call.
///
/// # Errors
/// It is not a deal.
pub(super) fn approved(arguments: &str) -> Result<(Option<Deal>, Cow<'_, str>), Problem> {
    if !arguments.contains(ARGUMENT) {
        return Ok((None, arguments.into()));
    }
    // Anything else is refused when the tool reads it.
    let Ok(mut fields) = serde_json::from_str::<Map<String, Value>>(arguments) else {
        return Ok((None, arguments.into()));
    };
    let Some(deal) = fields.remove(ARGUMENT) else { return Ok((None, arguments.into())) };
    let deal = serde_json::from_value(deal).map_err(|error| {
        Problem::new(ProblemKind::InvalidArgs, format!("the arguments do not fit: {ARGUMENT} is not one: {error}"))
    })?;
    Ok((Some(deal), Value::Object(fields).to_string().into()))
}

impl ToolSession {
    /// The deals of those elements that order or pay, as results name them; `None` if there are none.
    pub(super) fn listed_deals(&mut self, items: &[&Element], until: Instant) -> Result<Option<Value>, Problem> {
        let buttons: Vec<DealButton> = items.iter().filter_map(|element| self.deal_button(element)).collect();
        if buttons.is_empty() {
            return Ok(None);
        }
        let mut deals = self.read_deals(&buttons, until)?;
        let read = Instant::now();
        let mut named: BTreeMap<u32, (Vec<u32>, Deal)> = BTreeMap::new();
        for DealButton { index, .. } in buttons {
            let deal = deals.remove(&index);
            if let Some(PageDeal { shown, .. }) = &deal {
                let same = named.values_mut().find(|(_, known)| known == shown);
                match same {
                    Some((numbers, _)) => numbers.push(index),
                    None => _ = named.insert(index, (vec![index], shown.clone())),
                }
            }
            self.snapshots.deals.insert(index, KnownDeal { deal, read });
        }
        let named = named.into_values().map(|(numbers, Deal { text, note })| match note {
            Some(note) => json!({"numbers": numbers, "text": text, "note": note}),
            None => json!({"numbers": numbers, "text": text}),
        });
        let named: Vec<Value> = named.collect();
        Ok(Some(named.into()).filter(|named: &Value| named.as_array().is_some_and(|named| !named.is_empty())))
    }

    /// Presses an element or a key in it, if its deal is still the one that was approved. A call that names none is not
    /// compared: without a gate, prices may change all the time.
    ///
    /// # Errors
    /// [`InputRefusal::DealChanged`], [`InputRefusal::Stale`]: it was not pressed. Else those of `press`.
    pub(super) fn press_checked(
        &mut self,
        index: u32,
        effect: EffectOfPress,
        until: Instant,
        press: impl FnOnce(&mut Browser) -> Result<(), InputRefusal>,
    ) -> Result<(), InputRefusal> {
        let Some(deal) = self.checked_deal(index, effect, until)? else { return press(&mut self.browser) };
        match self.browser.while_deal_stands(index, &deal, until, press)? {
            DealAtPress::Same => Ok(()),
            changed => {
                let now = self.read_deal(index, until)?.unwrap_or_default();
                let what = match changed {
                    DealAtPress::ChangedLate => {
                        "the page got the beginning of the press, but no click: look what it has done before you repeat it"
                    }
                    _ => NOT_PRESSED,
                };
                Err(InputRefusal::DealChanged(difference(index, &deal.shown.text, &now, what)))
            }
        }
    }

    /// A problem with a deal or a number, together with the current elements and their deals.
    pub(super) fn with_deals(&mut self, problem: Problem, index: Option<u32>, until: Instant) -> Problem {
        match (problem.code, &problem.data) {
            (Some("deal_changed" | "stale_index"), None) => self.with_list(problem, index, until),
            _ => problem,
        }
    }

    fn read_deal(&mut self, index: u32, until: Instant) -> Result<Option<Deal>, ActionError> {
        let Some(button) = self.known(index).cloned().and_then(|listed| self.deal_button(&listed)) else {
            return Ok(None);
        };
        Ok(self.read_deals(&[button], until)?.remove(&index).map(|deal| deal.shown))
    }

    /// The deal of an element that is about to be pressed, if it has one.
    ///
    /// # Errors
    /// [`InputRefusal::DealChanged`], [`InputRefusal::Stale`]: it must not be pressed.
    fn checked_deal(
        &mut self,
        index: u32,
        effect: EffectOfPress,
        until: Instant,
    ) -> Result<Option<PageDeal>, InputRefusal> {
        let Some(listed) = self.known(index).cloned().filter(|_| effect != EffectOfPress::Other) else {
            return Ok(None);
        };
        if listed.enters.is_some() && effect != EffectOfPress::Enters {
            return Ok(None);
        }
        self.check_name(&listed, until)?;
        let Some(approved) = self.approved.clone() else { return Ok(None) };
        let Some(button) = self.deal_button(&listed) else { return Ok(None) };
        let now = self.read_deals(&[button], until)?.remove(&index);
        if self.is_approved(index, &approved, now.as_ref()) {
            return Ok(now);
        }
        let now = now.map(|now| now.shown).unwrap_or_default();
        Err(InputRefusal::DealChanged(difference(index, &approved.text, &now, NOT_PRESSED)))
    }

    /// Whether what is there now is the deal that was approved.
    fn is_approved(&self, index: u32, approved: &Deal, now: Option<&PageDeal>) -> bool {
        match self.snapshots.deals.get(&index) {
            // What was approved is what was listed: then all of it is compared, and a countdown may have run.
            Some(known) if known.deal.as_ref().is_some_and(|deal| deal.shown == *approved) => {
                known.is_still(now, self.settings.deals.is_same)
            }
            _ => now.is_some_and(|now| now.shown == *approved && now.shown.flat() == now.whole),
        }
    }

    /// Checks that an element, or the button that Enter presses in it, has not become a payment, or another one, since it
    /// was judged by its name.
    fn check_name(&mut self, listed: &Element, until: Instant) -> Result<(), InputRefusal> {
        let now = self.browser.identity(listed.index, until)?.ok_or(InputRefusal::Stale)?;
        let (button, was) = ("button", listed.enters.as_deref().unwrap_or_default());
        let is = now.enters.as_deref().unwrap_or_default();
        for ((role, name), (role_now, name_now)) in
            [((&*listed.role, &*listed.name), (&*now.role, &*now.name)), ((button, was), (button, is))]
        {
            let mut is_payment = |role, name| self.sign(role, name) != PaymentSign::None;
            if (role, name) != (role_now, name_now) && (is_payment(role, name) || is_payment(role_now, name_now)) {
                return Err(InputRefusal::Stale);
            }
        }
        Ok(())
    }

    /// As [`ToolSession::press_checked`], for a key in the element with the focus.
    pub(super) fn press_focused(
        &mut self,
        place: &ElementHandle,
        chord: &Chord,
        until: Instant,
    ) -> Result<(), InputRefusal> {
        match self.browser.number_of(place, until)? {
            Some(index) => self
                .press_checked(index, EffectOfPress::of(chord), until, |browser| browser.press_at(place, chord, until)),
            None => self.browser.press_at(place, chord, until),
        }
    }

    /// Clicks an element whose deal is still the same.
    pub(super) fn click_checked(&mut self, index: u32, until: Instant) -> Result<(), InputRefusal> {
        let at = self.browser.go_to(MousePlace::Element(index), MovePurpose::Press, until)?;
        self.press_checked(index, EffectOfPress::Presses, until, |browser| {
            browser.press_mouse(at, ClickOptions::default(), until)
        })
    }

    /// The element as one whose deal is wanted: it orders or pays, or Enter does in it, or it may.
    fn deal_button(&mut self, element: &Element) -> Option<DealButton> {
        let (role, name) = match &element.enters {
            Some(button) => ("button", button),
            None => (element.role.as_str(), &element.name),
        };
        let sign = self.sign(role, name);
        let (index, is_certain) = (element.index, sign == PaymentSign::Pays);
        (sign != PaymentSign::None).then_some(DealButton { index, is_certain })
    }

    fn sign(&mut self, role: &str, name: &str) -> PaymentSign {
        let PaymentSigns(known) = &mut self.signs;
        let key = format!("{role} {name}");
        if let Some(sign) = known.get(&key) {
            return *sign;
        }
        if known.len() >= NAMES {
            known.clear();
        }
        let sign = (self.settings.deals.payment_sign)(role, name);
        known.insert(key, sign);
        sign
    }

    /// The deals of these elements, with secrets masked in what is shown.
    fn read_deals(&mut self, buttons: &[DealButton], until: Instant) -> Result<BTreeMap<u32, PageDeal>, ActionError> {
        let mut deals = self.browser.deals(buttons, self.settings.deals, until)?;
        for line in deals.values_mut().flat_map(|deal| &mut deal.shown.text) {
            *line = (self.settings.mask)(line);
        }
        Ok(deals)
    }
}

impl KnownDeal {
    /// Whether what is there now is this deal.
    fn is_still(&self, now: Option<&PageDeal>, is_same: fn(&str, &str, std::time::Duration) -> bool) -> bool {
        match (&self.deal, now) {
            (Some(was), Some(now)) => {
                was.shown.note == now.shown.note && is_same(&was.whole, &now.whole, self.read.elapsed())
            }
            (None, None) => true,
            _ => false,
        }
    }
}

const NOT_PRESSED: &str = "it was not pressed";

/// What was there and what is there now, for people and models.
fn difference(index: u32, was: &[String], now: &Deal, what: &str) -> String {
    let only = |these: &[String], others: &[String]| {
        let lines: Vec<String> = these
            .iter()
            .filter(|line| !others.contains(line))
            .take(TOLD_LINES)
            .map(|line| format!("{:?}", line.chars().take(TOLD).collect::<String>()))
            .collect();
        if lines.is_empty() { "nothing else".to_owned() } else { lines.join(", ") }
    };
    let note = now.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
    format!(
        "the total or the items beside number {index} are not those that were approved: there was {}, and now \
         there is {}{note}; {what}; \"data\" lists the current elements",
        only(was, &now.text),
        only(&now.text, was)
    )
}
