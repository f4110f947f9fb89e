//! Acts on a page as a person does, with the mouse and the keyboard.

use crate::keys::Chord;
use crate::worlds::{Evaluated, World};
use crate::{Browser, Fault};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::fmt;
use std::time::Instant;

/// Why an element was not acted on.
#[derive(Debug)]
pub enum Refusal {
    /// The element with this number no longer exists.
    Stale,
    /// It has no position on the page.
    Unseen,
    /// It is disabled.
    Disabled,
    /// Something covers the point of the click; its description.
    Covered(String),
    /// The element does not support the action; the reason.
    Unfit(String),
    /// A fault of the browser or the page.
    Fault(Fault),
}

impl fmt::Display for Refusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Stale => to.write_str("the element with this number no longer exists: list the elements again"),
            Refusal::Unseen => to.write_str("the element is not displayed on the page"),
            Refusal::Disabled => to.write_str("the element is disabled"),
            Refusal::Covered(by) => write!(to, "{by} is in the way"),
            Refusal::Unfit(why) => to.write_str(why),
            Refusal::Fault(fault) => fault.fmt(to),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Fault(fault)
    }
}

/// What happens to the existing content of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typing {
    /// It is replaced.
    Replace,
    /// It is kept, and the text is added at the end.
    Append,
}

const FILL: &str = include_str!("scripts/fill.js");

const CHOOSE: &str = include_str!("scripts/choose.js");

impl Browser {
    /// Types text, of any script, into an element.
    ///
    /// # Errors
    /// Nothing was typed; the reason.
    pub fn type_text(&mut self, index: u32, text: &str, typing: Typing, until: Instant) -> Result<(), Refusal> {
        let (world, object) = self.object(index, until)?.ok_or(Refusal::Stale)?;
        let _: IgnoredAny =
            self.call(Some(&world.session), "DOM.scrollIntoViewIfNeeded", &json!({"objectId": object}), until)?;
        let arguments = json!([{"value": text}, {"value": typing == Typing::Append}]);
        match self.on_element(&world, &object, FILL, &arguments, until)?.as_str() {
            "" => {}
            "end" => self.press(&Chord::read("End").map_err(Refusal::Unfit)?, until)?,
            "done" => return Ok(()),
            "disabled" => return Err(Refusal::Disabled),
            why => return Err(Refusal::Unfit(why.to_owned())),
        }
        if text.is_empty() && typing == Typing::Replace {
            return self.press(&Chord::read("Delete").map_err(Refusal::Unfit)?, until);
        }
        Ok(self.dispatch("Input.insertText", &json!({"text": text}), until)?)
    }

    /// Selects an option of a list, by its label or its value.
    ///
    /// # Errors
    /// Nothing was selected; the reason.
    pub fn choose(&mut self, index: u32, option: &str, until: Instant) -> Result<(), Refusal> {
        let (world, object) = self.object(index, until)?.ok_or(Refusal::Stale)?;
        match self.on_element(&world, &object, CHOOSE, &json!([{"value": option}]), until)?.as_str() {
            "" => Ok(()),
            "disabled" => Err(Refusal::Disabled),
            why => Err(Refusal::Unfit(why.to_owned())),
        }
    }

    /// Presses and releases a key.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn press(&mut self, chord: &Chord, until: Instant) -> Result<(), Refusal> {
        let Chord { key, code, virtual_code, text, modifiers } = chord;
        let mut event = json!({
            "type": if text.is_some() { "keyDown" } else { "rawKeyDown" }, "key": key, "code": code,
            "windowsVirtualKeyCode": virtual_code, "modifiers": modifiers,
        });
        if let Some(text) = text {
            event["text"] = text.as_str().into();
        }
        self.dispatch("Input.dispatchKeyEvent", &event, until)?;
        event["type"] = "keyUp".into();
        Ok(self.dispatch("Input.dispatchKeyEvent", &event, until)?)
    }

    /// Calls a function on the element with this number, which returns text.
    pub(crate) fn with_element(
        &mut self,
        index: u32,
        function: &str,
        arguments: &Value,
        until: Instant,
    ) -> Result<String, Refusal> {
        let (world, object) = self.object(index, until)?.ok_or(Refusal::Stale)?;
        Ok(self.on_element(&world, &object, function, arguments, until)?)
    }

    pub(crate) fn dispatch(&mut self, method: &str, event: &Value, until: Instant) -> Result<(), Fault> {
        let IgnoredAny = self.call_page(method, event, until)?;
        Ok(())
    }

    /// The object that a function of an element returns; `None` if that is null.
    pub(crate) fn object_of(
        &mut self,
        world: &World,
        object: &str,
        function: &str,
        until: Instant,
    ) -> Result<Option<String>, Fault> {
        let asked = json!({"functionDeclaration": function, "objectId": object});
        let answered: Evaluated = self.call(Some(&world.session), "Runtime.callFunctionOn", &asked, until)?;
        Ok(answered.remote()?.object_id)
    }

    /// Calls a function on an element, which returns text.
    pub(crate) fn on_element(
        &mut self,
        world: &World,
        object: &str,
        function: &str,
        arguments: &Value,
        until: Instant,
    ) -> Result<String, Fault> {
        let asked =
            json!({"functionDeclaration": function, "objectId": object, "arguments": arguments, "returnByValue": true});
        let answered: Evaluated = self.call(Some(&world.session), "Runtime.callFunctionOn", &asked, until)?;
        Ok(answered.remote()?.value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default())
    }
}
