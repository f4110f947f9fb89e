//! Acts on a page as a person does, with the mouse and the keyboard.

use crate::focus::{HAS_FOCUS, focusing};
use crate::keys::Chord;
use crate::worlds::{EvaluateResult, IsolatedWorld};
use crate::{ActionError, Browser};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::time::Instant;

/// Why an element was not acted on.
#[derive(Debug, thiserror::Error)]
pub enum InputRefusal {
    /// The element with this number no longer exists.
    #[error("the element with this number no longer exists: list the elements again")]
    Stale,
    /// The element has no position on the page.
    #[error("the element is not displayed on the page")]
    Unseen,
    /// The element is disabled.
    #[error("the element is disabled")]
    Disabled,
    /// Something covers the point of the click; its description.
    #[error("{0} is in the way")]
    Covered(String),
    /// The element does not have the focus, so that keys and text would go elsewhere.
    #[error("the element does not get the focus, or does not keep it")]
    Unfocused,
    /// The element does not support the action; the reason.
    #[error("{0}")]
    Unfit(String),
    /// A fault of the browser or the page.
    #[error(transparent)]
    Fault(#[from] ActionError),
}

impl InputRefusal {
    /// The reason that a script returns.
    fn of_script(why: &str) -> InputRefusal {
        match why {
            "disabled" => InputRefusal::Disabled,
            "unfocused" => InputRefusal::Unfocused,
            why => InputRefusal::Unfit(why.to_owned()),
        }
    }
}

/// What happens to the existing content of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typing {
    /// The content is replaced.
    Replace,
    /// The content is kept, and the text is added at the end.
    Append,
}

const FILL_SCRIPT: &str =
    focusing!("function (...given) {", "return (", include_str!("scripts/fill.js"), ").apply(this, given) }");

const CHOOSE: &str =
    focusing!("function (...given) {", "return (", include_str!("scripts/choose.js"), ").apply(this, given) }");

impl Browser {
    /// Types text, of any script, into an element.
    ///
    /// # Errors
    /// Nothing was typed; the reason.
    pub fn type_text(&mut self, index: u32, text: &str, typing: Typing, until: Instant) -> Result<(), InputRefusal> {
        let place = self.object(index, until)?.ok_or(InputRefusal::Stale)?;
        let (world, object) = &place;
        let _: IgnoredAny =
            self.call(Some(&world.session), "DOM.scrollIntoViewIfNeeded", &json!({"objectId": object}), until)?;
        let arguments = json!([{"value": text}, {"value": typing == Typing::Append}]);
        let filled = self.on_element(world, object, FILL_SCRIPT, &arguments, until)?;
        match filled.as_str() {
            "" | "end" => {}
            "done" => return Ok(()),
            why => return Err(InputRefusal::of_script(why)),
        }
        let seen = self.only_to(&place, until, |browser| {
            if filled == "end" {
                browser.press(&Chord::read("End").map_err(|why| InputRefusal::Unfit(why.to_string()))?, until)?;
            }
            if text.is_empty() && typing == Typing::Replace {
                return browser
                    .press(&Chord::read("Delete").map_err(|why| InputRefusal::Unfit(why.to_string()))?, until);
            }
            // All of it in one event: the page cannot move the focus in between.
            Ok(browser.dispatch("Input.insertText", &json!({"text": text}), until)?)
        })?;
        // The element got a key, but its text was kept from another one; or nothing was ready for text.
        if seen.texts > 0
            || seen.taken == 0 && !self.on_element(world, object, HAS_FOCUS, &json!([]), until)?.is_empty()
        {
            return Err(InputRefusal::Unfocused);
        }
        Ok(())
    }

    /// Selects an option of a list, by its label or its value.
    ///
    /// # Errors
    /// Nothing was selected; the reason.
    pub fn choose(&mut self, index: u32, option: &str, until: Instant) -> Result<(), InputRefusal> {
        let (world, object) = self.object(index, until)?.ok_or(InputRefusal::Stale)?;
        match self.on_element(&world, &object, CHOOSE, &json!([{"value": option}]), until)?.as_str() {
            "" => Ok(()),
            why => Err(InputRefusal::of_script(why)),
        }
    }

    /// Presses and releases a key.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn press(&mut self, chord: &Chord, until: Instant) -> Result<(), InputRefusal> {
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
    ) -> Result<String, InputRefusal> {
        let (world, object) = self.object(index, until)?.ok_or(InputRefusal::Stale)?;
        Ok(self.on_element(&world, &object, function, arguments, until)?)
    }

    pub(crate) fn dispatch(&mut self, method: &str, event: &Value, until: Instant) -> Result<(), ActionError> {
        let IgnoredAny = self.call_page(method, event, until)?;
        Ok(())
    }

    /// The object that a function of an element returns; `None` if that is null.
    pub(crate) fn object_of(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        function: &str,
        until: Instant,
    ) -> Result<Option<String>, ActionError> {
        let asked = json!({"functionDeclaration": function, "objectId": object});
        let answered: EvaluateResult = self.call(Some(&world.session), "Runtime.callFunctionOn", &asked, until)?;
        Ok(answered.remote()?.object_id)
    }

    /// Calls a function on an element, which returns text.
    pub(crate) fn on_element(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        function: &str,
        arguments: &Value,
        until: Instant,
    ) -> Result<String, ActionError> {
        let asked =
            json!({"functionDeclaration": function, "objectId": object, "arguments": arguments, "returnByValue": true});
        let answered: EvaluateResult = self.call(Some(&world.session), "Runtime.callFunctionOn", &asked, until)?;
        Ok(answered.remote()?.value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default())
    }
}
