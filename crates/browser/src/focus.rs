//! Keys and text for one element: while they are sent, nothing else of the page gets them, even if the page moves the
//! focus.

use crate::keys::Chord;
use crate::worlds::{Frame, IsolatedWorld};
use crate::{ActionError, Browser, Focus, InputRefusal};
use serde::Deserialize;
use serde_json::json;
use std::time::Instant;

/// What the scripts about the focus share.
macro_rules! focusing {
    ($head:literal, $($body:expr),+) => {
        concat!(
            $head, include_str!("scripts/members.js"), include_str!("scripts/naming.js"), include_str!("scripts/tree.js"),
            include_str!("scripts/focus.js"), $($body),+
        )
    };
}
pub(crate) use focusing;

/// Returns "" if the element has the focus.
pub(crate) const HAS_FOCUS: &str = focusing!("function () {", "return hasFocus(this) ? \"\" : \"no\"; }");
const FOCUSED: &str = focusing!("() => {", "return focused() ?? document.documentElement; }");
const FOCUS: &str = focusing!("(element) => {", include_str!("scripts/secret.js"), "return toldOf(element); }");
const GUARD_SCRIPT: &str = focusing!(
    "function () {",
    include_str!("scripts/guard.js"),
    "guard(this); return hasFocus(this) ? \"\" : \"no\"; }"
);
const GUARD_ALL_SCRIPT: &str = concat!("() => {", include_str!("scripts/guard.js"), "guard(null); }");
const RELEASE: &str = concat!("() => {", include_str!("scripts/guard.js"), "return release(); }");

/// An element: the world of its frame, and its object there.
pub(crate) type ElementHandle = (IsolatedWorld, String);

/// What a page's documents got, in events.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct InputCounts {
    /// By the element.
    pub(crate) taken: u64,
    /// Keys that were kept from another element. What follows a key that the element got is not counted.
    keys: u64,
    /// Text that was kept from another element.
    pub(crate) texts: u64,
}

impl Browser {
    /// Gives an element the focus; whether it takes it shows when a key is pressed.
    ///
    /// # Errors
    /// The element no longer exists, or the page does not answer.
    pub(crate) fn focus_on(&mut self, index: u32, until: Instant) -> Result<(), InputRefusal> {
        self.with_element(index, "function () { this.focus(); }", &json!([]), until).map(drop)
    }

    /// Presses and releases a key in an element that already has the focus.
    ///
    /// # Errors
    /// [`InputRefusal::Unfocused`]: it has not, or lost it before it got the key.
    pub fn press_kept(&mut self, index: u32, chord: &Chord, until: Instant) -> Result<(), InputRefusal> {
        let place = self.object(index, until)?.ok_or(InputRefusal::Stale)?;
        self.press_at(&place, chord, until)
    }

    /// As [`Browser::press_kept`].
    pub(crate) fn press_at(
        &mut self,
        place: &ElementHandle,
        chord: &Chord,
        until: Instant,
    ) -> Result<(), InputRefusal> {
        self.only_to(place, until, |browser| browser.press(chord, until)).map(drop)
    }

    /// The element with the focus, in whatever frame; the document if none has.
    pub(crate) fn focused(&mut self, until: Instant) -> Result<Option<ElementHandle>, ActionError> {
        let mut frame = self.main_frame()?;
        loop {
            let world = self.world(&frame, until)?;
            let Some(object) = self.run(&world, FOCUSED, &json!([]), false, until)?.object_id else { return Ok(None) };
            let Some(inner) = self.frame_id(&world, &object, until)? else { return Ok(Some((world, object))) };
            let is_inner = |frame: &Frame| frame.id == inner;
            // Another process is asked only if it has the frame: it may hang.
            let found = match self.frames_of(&world.session, until)?.into_iter().find(is_inner) {
                None => self.frames(until)?.into_iter().find(is_inner),
                found => found,
            };
            let Some(inner) = found else { return Ok(Some((world, object))) };
            frame = inner;
        }
    }

    /// The innermost element with the focus, and what results tell of it: of the frame around it if it is a whole
    /// document.
    pub(crate) fn focus(&mut self, until: Instant) -> Result<Option<(ElementHandle, Option<Focus>)>, InputRefusal> {
        let Some(place) = self.focused(until)? else { return Ok(None) };
        let mut told = place.clone();
        loop {
            let arguments = json!([{"objectId": told.1}]);
            if let Some(focus) = self.run(&told.0, FOCUS, &arguments, true, until)?.read()? {
                return Ok(Some((place, Some(focus))));
            }
            match self.frame_element(&told.0, until)? {
                Some(around) => told = around,
                None => return Ok(Some((place, None))),
            }
        }
    }

    /// Sends keys or text which only this element gets, and only while it has the focus.
    pub(crate) fn only_to(
        &mut self,
        place: &ElementHandle,
        until: Instant,
        send: impl FnOnce(&mut Browser) -> Result<(), InputRefusal>,
    ) -> Result<InputCounts, InputRefusal> {
        let mut guarded = Vec::new();
        let sent = self.guard(place, &mut guarded, until).and_then(|()| send(self));
        let mut all = InputCounts::default();
        for world in guarded {
            if sent.is_err() {
                // A dialog may block the page: the guard goes once it is answered.
                self.send_script(&world, RELEASE)?;
                continue;
            }
            match self.run(&world, RELEASE, &json!([]), true, until) {
                Ok(remote) => {
                    let InputCounts { taken, keys, texts } = remote.read()?;
                    all = InputCounts { taken: all.taken + taken, keys: all.keys + keys, texts: all.texts + texts };
                }
                // The key has closed the page, or opened another one or a dialog.
                Err(
                    ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame | ActionError::Dialog(_),
                ) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        sent?;
        if all.keys > 0 { Err(InputRefusal::Unfocused) } else { Ok(all) }
    }

    /// Guards the documents that an element shares a process with, and those around its frame, and checks that it has
    /// the focus.
    fn guard(
        &mut self,
        place: &ElementHandle,
        guarded: &mut Vec<IsolatedWorld>,
        until: Instant,
    ) -> Result<(), InputRefusal> {
        let (mut sessions, mut place) = (Vec::new(), place.clone());
        loop {
            if !sessions.contains(&place.0.session) {
                sessions.push(place.0.session.clone());
                self.guard_session(&place.0.session, guarded, until)?;
            }
            if !guarded.contains(&place.0) {
                guarded.push(place.0.clone());
            }
            if !self.on_element(&place.0, &place.1, GUARD_SCRIPT, &json!([]), until)?.is_empty() {
                return Err(InputRefusal::Unfocused);
            }
            match self.frame_element(&place.0, until)? {
                Some(around) => place = around,
                None => return Ok(()),
            }
        }
    }

    fn guard_session(
        &mut self,
        session: &str,
        guarded: &mut Vec<IsolatedWorld>,
        until: Instant,
    ) -> Result<(), ActionError> {
        for frame in self.frames_of(session, until)? {
            let world = match self.world(&frame, until) {
                // The frame has gone.
                Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => continue,
                world => world?,
            };
            match self.run(&world, GUARD_ALL_SCRIPT, &json!([]), true, until) {
                Ok(_) => guarded.push(world),
                Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }
}
