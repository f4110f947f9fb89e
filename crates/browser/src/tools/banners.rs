//! Closing consent banners.

use super::report::ResultMembers;
use super::table::Arguments;
use super::{ToolResult, ToolSession};
use crate::banners::{BannerSettings, Strategy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::{Duration, Instant, UNIX_EPOCH};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CloseBanners {
    /// How long banners are looked for, in milliseconds.
    #[serde(default = "budget")]
    time_budget_ms: u64,
    /// At most this many presses.
    #[serde(default = "passes")]
    max_passes: u32,
    /// safe: decline, or close without an answer; accept: accept.
    #[serde(default)]
    strategy: Choice,
    /// Languages of the banners, such as en or de; all if none is given.
    #[serde(default)]
    languages: Vec<String>,
    /// Return the presses.
    #[serde(default = "details")]
    return_details: bool,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Choice {
    #[default]
    Safe,
    Accept,
}

fn budget() -> u64 {
    1200
}

fn passes() -> u32 {
    3
}

fn details() -> bool {
    true
}

impl Arguments for CloseBanners {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let settings = BannerSettings {
            time_budget: Duration::from_millis(self.time_budget_ms.min(86_400_000)),
            max_passes: self.max_passes,
            strategy: match self.strategy {
                Choice::Safe => Strategy::Safe,
                Choice::Accept => Strategy::Accept,
            },
            languages: self.languages,
        };
        let closed = session.browser.close_banners(&settings, until)?;
        let elapsed = u64::try_from(closed.elapsed.as_millis()).unwrap_or(u64::MAX);
        let report = ResultMembers::default()
            .with("closed", closed.closed)
            .with("passes", closed.passes)
            .with("elapsed_ms", elapsed);
        let clicks = closed.clicks.iter().map(|click| {
            let since = click.time.duration_since(UNIX_EPOCH).unwrap_or_default();
            json!({"selector": click.selector, "frameUrl": click.frame_url, "ts": since.as_secs_f64()})
        });
        Ok(report.with_some("clicks", self.return_details.then(|| clicks.collect::<Vec<Value>>())))
    }
}
