//! What an element with a number is called now.

use crate::focus::ElementHandle;
use crate::{ActionError, Browser};
use serde::Deserialize;
use serde_json::json;
use std::time::Instant;

const IDENTITY: &str = concat!(
    "(number) => {",
    include_str!("scripts/members.js"),
    include_str!("scripts/naming.js"),
    include_str!("scripts/tree.js"),
    include_str!("scripts/submitter.js"),
    "const found = globalThis[Symbol.for(\"pipewright\")]?.elements?.get(number)?.deref();
    if (!found?.isConnected) return null;
    const { role, name } = identify(found);
    const submitter = isTyped(found) ? submitterOf(found.form) : null;
    return { role, name, is_placeholder: isPlaceholder(found, name), enters: submitter ? named(submitter) || null : null }; }"
);

/// What an element is called now.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Identity {
    /// As in [`Element`].
    pub(crate) role: String,
    /// As in [`Element`].
    pub(crate) name: String,
    /// The name is only the text that an empty field shows.
    pub(crate) is_placeholder: bool,
    /// As in [`Element`].
    pub(crate) enters: Option<String>,
}

impl Browser {
    /// The role and name of the element with this number, as a list would show them now; `None` if it no longer exists.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub(crate) fn identity(&mut self, index: u32, until: Instant) -> Result<Option<Identity>, ActionError> {
        let Some((world, number)) = self.numbers.find(index) else { return Ok(None) };
        match self.run(&world, IDENTITY, &json!([{"value": number}]), true, until) {
            Ok(remote) => remote.read(),
            // The document of this world has gone.
            Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The number of an element, if it has one.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub(crate) fn number_of(
        &mut self,
        (world, object): &ElementHandle,
        until: Instant,
    ) -> Result<Option<u32>, ActionError> {
        let script =
            "function () { return String(globalThis[Symbol.for(\"pipewright\")]?.numbers?.get(this) ?? \"\"); }";
        let number = self.on_element(world, object, script, &json!([]), until)?;
        Ok(number.parse().ok().map(|number| self.numbers.of(world, number)))
    }
}
