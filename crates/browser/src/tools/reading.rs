//! What a page says.

use super::report::Report;
use super::table::Arguments;
use super::{Answer, Session};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Instant;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Evaluate {
    /// An expression, or a function without parameters; a promise is waited for.
    script: String,
}

impl Arguments for Evaluate {
    fn run(self, session: &mut Session, until: Instant) -> Answer {
        session.act(None, until, |session| {
            let value = session.browser.evaluate(&self.script, until)?;
            Ok(Report::default().with("value", value))
        })
    }
}
