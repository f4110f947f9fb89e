//! Element numbers in arguments: which element is meant, and the answer to a number that is no longer valid.

use super::{Problem, ProblemKind, ToolSession};
use crate::{Element, Identity};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::time::Instant;

/// The number of an element, as a number or as decimal text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number(i64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "it must be the number of an element")]
        enum NumberOrText {
            Number(i64),
            Text(String),
        }
        match NumberOrText::deserialize(from)? {
            NumberOrText::Number(number) => Ok(Number(number)),
            NumberOrText::Text(text) => text
                .trim()
                .parse()
                .map(Number)
                .map_err(|_| serde::de::Error::custom(format_args!("{text:?} is not the number of an element"))),
        }
    }
}

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 1})
    }
}

/// What an element is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be pressed, or anything else that its name tells.
    Press,
    /// To be typed into: a placeholder tells nothing of that.
    Type,
}

impl ToolSession {
    /// The element that a number currently means.
    pub(super) fn element(
        &mut self,
        number: Number,
        snapshot_id: Option<&str>,
        until: Instant,
    ) -> Result<u32, Problem> {
        self.element_for(Purpose::Press, number, snapshot_id, until)
    }

    /// As [`ToolSession::element`].
    pub(super) fn element_for(
        &mut self,
        purpose: Purpose,
        number: Number,
        snapshot_id: Option<&str>,
        until: Instant,
    ) -> Result<u32, Problem> {
        let Some(index) = u32::try_from(number.0).ok().filter(|index| *index >= 1) else {
            let message = format!("{} is not the number of an element: they count from 1", number.0);
            return Err(Problem::new(ProblemKind::InvalidArgs, message).with_code("invalid_index"));
        };
        let is_current = self.is_listed()? && snapshot_id.is_none_or(|id| self.snapshots.is_of_document(id));
        let identity = if is_current { self.browser.identity(index, until)? } else { None };
        let known = self.known(index);
        let (code, why) = match (identity, known) {
            (Some(now), Some(listed)) if self.is_same(purpose, listed, &now) => return Ok(index),
            // A page may replace the element that was meant, and approved, with another one.
            (Some(Identity { role, name, .. }), Some(_)) => {
                ("stale_index", format!("number {index} is called {:?} now", format!("{role} {name}")))
            }
            _ if index > self.browser.last_number() => {
                ("index_out_of_range", format!("no element has the number {index}"))
            }
            _ => ("stale_index", format!("the element with the number {index} is not on this page, or no longer")),
        };
        let problem = Problem::new(ProblemKind::NotFound, format!("{why}; \"data\" lists the current elements"));
        Err(self.with_list(problem.with_code(code), None, until))
    }

    /// Whether an element is still what its item in the list says.
    pub(super) fn is_same(&self, purpose: Purpose, listed: &Element, now: &Identity) -> bool {
        if listed.role != now.role {
            return false;
        }
        let is_placeholder = purpose == Purpose::Type && listed.is_placeholder && now.is_placeholder;
        listed.name == now.name || is_placeholder || (self.settings.is_same_name)(&now.role, &listed.name, &now.name)
    }

    /// A problem with a number, together with the current elements, that one included.
    pub(super) fn with_list(&mut self, problem: Problem, index: Option<u32>, until: Instant) -> Problem {
        match self.list_viewport(index, until) {
            Ok(list) => problem.with_data(list.into_members().into()),
            Err(_) => problem,
        }
    }
}
