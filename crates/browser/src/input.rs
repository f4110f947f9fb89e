//! Acts on a page as a person does, with the mouse and the keyboard.

use crate::focus::{ElementHandle, HAS_FOCUS, focusing};
use crate::keys::Chord;
use crate::scroll::FieldState;
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
    #[error("the element is disabled: the page wants something else first, such as a field that is empty or a choice")]
    Disabled,
    /// Something covers the point of the click; its description.
    #[error("{0} is in the way")]
    Covered(String),
    /// The element does not have the focus, so that keys and text would go elsewhere.
    #[error("the element does not get the focus, or does not keep it")]
    Unfocused,
    /// The deal beside the element is not the one that was approved; the difference.
    #[error("{0}")]
    DealChanged(String),
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

/// Returns "" if the element takes text, and not only keys.
const TAKES_TEXT: &str = "function () { return this.isContentEditable || this.editContext || \
                          [\"input\", \"textarea\"].includes(this.localName) ? \"\" : \"no\"; }";

/// Whether the last of these nodes around the element are those of keys: called with the number of those of keys, then they, then
/// those of text.
const HEARS_ONLY_KEYS: &str = concat!(
    "function (count, ...nodes) {",
    include_str!("scripts/members.js"),
    include_str!("scripts/tree.js"),
    "const around = (some) => some.some((node) => isWithin(this, node));
    return around(nodes.slice(0, count)) && !around(nodes.slice(count)) ? \"keys\" : \"\"; }"
);

/// Events of keys, and those of text that is inserted.
const KEYS: [&str; 3] = ["keydown", "keypress", "keyup"];
const TEXT: [&str; 5] = ["beforeinput", "change", "input", "textInput", "textupdate"];

/// How many listeners of the page are looked at.
const LISTENERS: usize = 200;

const FILL_SCRIPT: &str =
    focusing!("function (...given) {", "return (", include_str!("scripts/fill.js"), ").apply(this, given) }");

const CHOOSE: &str =
    focusing!("function (...given) {", "return (", include_str!("scripts/choose.js"), ").apply(this, given) }");

fn chord(keys: &str) -> Result<Chord, InputRefusal> {
    Chord::read(keys).map_err(|why| InputRefusal::Unfit(why.to_string()))
}

impl Browser {
    /// Types text, of any script, into an element. With `is_slow`, or if the page listens only to keys there, each
    /// character is a key. Also says whether the element then has the text; that fails if it no longer exists.
    ///
    /// # Errors
    /// Nothing was typed; the reason.
    pub fn type_text(
        &mut self,
        index: u32,
        text: &str,
        typing: Typing,
        is_slow: bool,
        until: Instant,
    ) -> Result<Result<FieldState, InputRefusal>, InputRefusal> {
        let place = self.object(index, until)?.ok_or(InputRefusal::Stale)?;
        let (world, object) = &place;
        let _: IgnoredAny =
            self.call(Some(&world.session), "DOM.scrollIntoViewIfNeeded", &json!({"objectId": object}), until)?;
        let arguments = json!([{"value": text}, {"value": typing == Typing::Append}]);
        let filled = self.on_element(world, object, FILL_SCRIPT, &arguments, until)?;
        let before = match filled.as_str() {
            "done" => return Ok(self.typed(&place, text, until)),
            "" => None,
            keys @ ("End" | "Control+End" | "Control+a") => Some(chord(keys)?),
            why => return Err(InputRefusal::of_script(why)),
        };
        let is_slow = is_slow || (!text.is_empty() && self.hears_only_keys(&place, until)?);
        self.send_text(&place, before, (text, typing), is_slow, until)?;
        Ok(self.typed(&place, text, until))
    }

    /// Types text where the cursor is, in an element with the focus.
    ///
    /// # Errors
    /// Nothing was typed; the reason.
    pub(crate) fn type_at(
        &mut self,
        place: &ElementHandle,
        text: &str,
        is_slow: bool,
        until: Instant,
    ) -> Result<(), InputRefusal> {
        let is_slow = is_slow || !self.on_element(&place.0, &place.1, TAKES_TEXT, &json!([]), until)?.is_empty();
        self.send_text(place, None, (text, Typing::Append), is_slow, until)
    }

    fn send_text(
        &mut self,
        place: &ElementHandle,
        before: Option<Chord>,
        (text, typing): (&str, Typing),
        is_slow: bool,
        until: Instant,
    ) -> Result<(), InputRefusal> {
        let delete = chord("Delete")?;
        let seen = self.only_to(place, until, |browser| {
            if let Some(before) = before {
                browser.press(&before, until)?;
            }
            match text {
                "" if typing == Typing::Replace => browser.press(&delete, until),
                text if is_slow => text.chars().try_for_each(|one| browser.type_key(one, until)),
                // All of it in one event: the page cannot move the focus in between.
                text => Ok(browser.dispatch("Input.insertText", &json!({"text": text}), until)?),
            }
        })?;
        // The element got a key, but its text was kept from another one; or nothing was ready for text.
        if seen.texts > 0
            || seen.taken == 0 && !self.on_element(&place.0, &place.1, HAS_FOCUS, &json!([]), until)?.is_empty()
        {
            return Err(InputRefusal::Unfocused);
        }
        Ok(())
    }

    /// Types a character with its key. Line breaks are inserted: Enter would submit a form.
    fn type_key(&mut self, one: char, until: Instant) -> Result<(), InputRefusal> {
        match Chord::of_character(one) {
            Some(key) => self.press(&key, until),
            None => Ok(self.dispatch("Input.insertText", &json!({"text": one}), until)?),
        }
    }

    /// Whether the page listens to keys at an element or around it, but not to text that is inserted.
    fn hears_only_keys(&mut self, (world, object): &ElementHandle, until: Instant) -> Result<bool, ActionError> {
        let [mut keys, text] = self.listening_nodes(world, [&KEYS, &TEXT], until)?;
        keys.truncate(LISTENERS);
        let keys = self.resolve_all(&keys, world, until)?;
        if keys.is_empty() {
            return Ok(false);
        }
        let text = self.resolve_all(&text, world, until)?;
        let nodes = keys.iter().chain(&text).map(|(_, id)| json!({"objectId": id}));
        let arguments = std::iter::once(json!({"value": keys.len()})).chain(nodes).collect();
        let found = self.on_element(world, object, HEARS_ONLY_KEYS, &arguments, until)?;
        Ok(!found.is_empty())
    }

    /// Selects an option of a list, by its label or its value, or, with several at a time, ends its selection.
    ///
    /// # Errors
    /// Nothing was selected; the reason.
    pub fn choose(&mut self, index: u32, option: &str, is_selected: bool, until: Instant) -> Result<(), InputRefusal> {
        let (world, object) = self.object(index, until)?.ok_or(InputRefusal::Stale)?;
        match self
            .on_element(&world, &object, CHOOSE, &json!([{"value": option}, {"value": is_selected}]), until)?
            .as_str()
        {
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

    /// Calls an asynchronous function on an element, and returns the value that it resolves to.
    pub(crate) fn on_element_to_end(
        &mut self,
        world: &IsolatedWorld,
        object: &str,
        function: &str,
        arguments: &Value,
        until: Instant,
    ) -> Result<Option<Value>, ActionError> {
        let asked = json!({
            "functionDeclaration": function, "objectId": object, "arguments": arguments, "returnByValue": true,
            "awaitPromise": true,
        });
        let answered: EvaluateResult = self.call(Some(&world.session), "Runtime.callFunctionOn", &asked, until)?;
        Ok(answered.remote()?.value)
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
