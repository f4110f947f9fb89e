//! Selects text of a page, as a person does with the mouse, but without a press of its button: what is at the text gets no click.

use crate::focus::focusing;
use crate::{ActionError, Browser, InputRefusal};
use serde_json::json;
use std::time::Instant;

const SELECT_TEXT: &str = focusing!(
    "function (...given) {",
    include_str!("scripts/secret.js"),
    "return (",
    include_str!("scripts/select-text.js"),
    ").apply(this, given) }"
);

impl Browser {
    /// Selects the first place of a text: in the element with this number, or else on the active page with its frames and
    /// shadow roots. Without a text, all of the element's.
    ///
    /// # Errors
    /// Nothing was selected; the reason.
    pub fn select_text(&mut self, index: Option<u32>, text: Option<&str>, until: Instant) -> Result<(), InputRefusal> {
        let arguments = json!([{"value": text}]);
        if let Some(index) = index {
            let told = self.with_element(index, SELECT_TEXT, &arguments, until)?;
            return if told.is_empty() { Ok(()) } else { Err(InputRefusal::Unfit(told)) };
        }
        let in_document = format!("(text) => ({SELECT_TEXT}).call(null, text)");
        for frame in self.frames(until)? {
            let world = self.world(&frame, until)?;
            let told = self.run(&world, &in_document, &arguments, true, until).and_then(|told| told.read::<String>());
            match told {
                Ok(why) if why.is_empty() => return Ok(()),
                // A frame may disappear while the others are read.
                Ok(_) | Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        Err(InputRefusal::Unfit("no text that can be selected is like this".to_owned()))
    }
}
