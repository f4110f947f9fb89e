//! Reads the contents of a page.

use super::report::ResultMembers;
use super::table::Arguments;
use super::{ToolResult, ToolSession};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Instant;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Evaluate {
    /// An expression, or a function without parameters; a promise is waited for.
    script: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    /// summary: the beginning of the main part; text: all that can be seen, in pieces.
    #[serde(default)]
    mode: Mode,
    /// With text: skip this many characters.
    #[serde(default)]
    offset: usize,
    /// With text: return at most this many characters.
    #[serde(default = "piece")]
    limit: usize,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Summary,
    Text,
}

fn piece() -> usize {
    10_000
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Console {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Pdf {}

impl Arguments for Read {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let extract = session.browser.extract(until)?;
        let report = ResultMembers::default().with("title", extract.title.as_str()).with("url", extract.url.as_str());
        let report = match self.mode {
            Mode::Summary => report.with("summary", extract.summary.as_str()),
            Mode::Text => {
                let piece = extract.piece(self.offset, self.limit);
                let end = self.offset.saturating_add(piece.chars().count());
                let next = Some(end).filter(|end| *end < extract.stats.characters);
                report.with("text", piece).with_some("next_offset", next)
            }
        };
        let crate::Stats { characters, words, links, headings, images, forms } = extract.stats;
        let stats = json!({
            "characters": characters, "words": words, "links": links, "headings": headings, "images": images, "forms": forms,
        });
        Ok(report.with("stats", stats).with_some("truncated", extract.is_cut.then_some(true)))
    }
}

impl Arguments for Console {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let console = session.browser.take_console(until)?;
        let messages = console
            .messages
            .iter()
            .map(|message| json!({"level": message.level, "text": message.text, "place": message.place}));
        let requests = console.requests.iter().map(|request| {
            // An error tells more than the status that came before it.
            let status = request.status.as_ref().map(|(status, _)| status).filter(|_| request.error.is_none());
            json!({"method": request.method, "url": request.url, "status": status, "error": request.error})
        });
        let report = ResultMembers::default().with("messages", messages.collect::<Vec<Value>>());
        let report = report.with("failed_requests", requests.collect::<Vec<Value>>());
        Ok(report.with_some("dropped", Some(console.dropped).filter(|dropped| *dropped > 0)))
    }
}

impl Arguments for Pdf {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let pdf = session.browser.pdf(until)?;
        session.store(&pdf, "pdf")
    }
}

impl Arguments for Evaluate {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        session.act(None, until, |session| {
            let value = session.browser.evaluate(&self.script, until)?;
            Ok(ResultMembers::default().with("value", value))
        })
    }
}
