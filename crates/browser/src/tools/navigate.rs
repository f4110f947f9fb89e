//! Going to addresses, and waiting.

use super::report::{ResultMembers, Settling};
use super::table::Arguments;
use super::{Problem, ProblemKind, ToolResult, ToolSession};
use crate::{ActionError, ElementState, NavigationResult, Ready, WaitCondition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Navigate {
    /// The address; https:// is added where it has no scheme.
    url: String,
    /// Draw the numbers of the elements over the page.
    #[serde(default)]
    show_overlay: bool,
    /// What to wait for afterwards: none, dom (the page stops changing), network (it also stops loading) or fixed (a pause).
    settle: Option<Settling>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Back {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Forward {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reload {}

/// The state of an element.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum WaitState {
    #[default]
    Visible,
    Attached,
    Hidden,
    Detached,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    /// A CSS selector.
    selector: Option<String>,
    /// The state that the selector's element must have.
    #[serde(default)]
    state: WaitState,
    /// Wait until nothing was loaded for half a second.
    #[serde(default)]
    network_idle: bool,
    /// Pause for this many milliseconds, after the other conditions hold.
    #[serde(default)]
    ms: u64,
    /// A part of the address that the page must have.
    url: Option<String>,
    /// A text that must be readable on the page.
    text: Option<String>,
    /// How long the conditions may take, in milliseconds.
    #[serde(default = "patience")]
    timeout_ms: u64,
}

fn patience() -> u64 {
    30_000
}

/// A page that does not answer for this long is hanging: the navigation continues anyway.
const HANG_TIMEOUT: Duration = Duration::from_secs(2);

/// A page that has loaded nothing for this long is idle.
const IDLE: Duration = Duration::from_millis(500);

impl Arguments for Navigate {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let url = with_scheme(self.url.trim());
        // Such an address is a page written by the caller, with its scripts.
        if url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
            let why = "data: addresses are not allowed: the caller writes such pages, so they are not web pages";
            return Err(Problem::new(ProblemKind::Denied, why).with_code("address_not_allowed"));
        }
        session.browser.dismiss_dialogs(until)?;
        session.browser.end_hung_page(until.min(Instant::now() + HANG_TIMEOUT))?;
        let report =
            session.go(self.settle, until, |session| session.browser.navigate(&url, Ready::Parsed, until).map(Some))?;
        if !self.show_overlay {
            return Ok(report);
        }
        Ok(report.and(session.show_overlay(crate::NumberColours::Colours, until)?))
    }
}

/// The address with a scheme: `example.org/a` is https.
pub fn with_scheme(url: &str) -> String {
    let scheme = url.split_once(':');
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|one| one.is_ascii_alphanumeric() || "+-.".contains(one))
    };
    match scheme {
        // `localhost:8080` is a host and a port.
        Some((scheme, rest)) if is_scheme(scheme) && !rest.starts_with(|first: char| first.is_ascii_digit()) => {
            url.to_owned()
        }
        _ => format!("https://{url}"),
    }
}

impl Arguments for Back {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        session.step(-1, until)
    }
}

impl Arguments for Forward {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        session.step(1, until)
    }
}

impl Arguments for Reload {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        session.go(None, until, |session| session.browser.reload(Ready::Parsed, until).map(Some))
    }
}

impl ToolSession {
    fn step(&mut self, steps: i64, until: Instant) -> ToolResult {
        self.go(None, until, |session| session.browser.go(steps, Ready::Parsed, until))
    }

    /// Shows another page, and reports its status.
    fn go(
        &mut self,
        settle: Option<Settling>,
        until: Instant,
        go: impl FnOnce(&mut ToolSession) -> Result<Option<NavigationResult>, ActionError>,
    ) -> ToolResult {
        self.act(settle, until, |session| match go(session) {
            Ok(Some(NavigationResult { is_late: true, document, .. })) => {
                let message = format!("the page did not load in time: {}", document.url);
                Err(Problem::new(ProblemKind::Timeout, message))
            }
            Ok(Some(NavigationResult { document, .. })) => {
                Ok(ResultMembers::default().with_some("httpStatus", document.status))
            }
            Ok(None) => {
                Err(Problem::new(ProblemKind::NotFound, "the history of the tab has no such page")
                    .with_code("no_history"))
            }
            Err(ActionError::Dialog(_)) => Ok(ResultMembers::default()),
            Err(ActionError::Refused(why)) => {
                let message = format!("the page cannot be loaded: {}", why.message);
                Err(Problem::new(ProblemKind::ToolError, message).with_code("navigation_failed"))
            }
            Err(fault) => Err(fault.into()),
        })
    }
}

impl Arguments for Wait {
    fn run(self, session: &mut ToolSession, until: Instant) -> ToolResult {
        let begun = Instant::now();
        let presence = match self.state {
            WaitState::Visible => ElementState::Visible,
            WaitState::Attached => ElementState::Attached,
            WaitState::Hidden => ElementState::Hidden,
            WaitState::Detached => ElementState::Detached,
        };
        let conditions = [
            self.url.map(|part| (format!("the address does not contain {part:?}"), WaitCondition::Address(part))),
            self.selector.map(|selector| {
                (format!("no element in the expected state: {selector:?}"), WaitCondition::Element(selector, presence))
            }),
            self.text.map(|text| (format!("the page does not show {text:?}"), WaitCondition::Text(text))),
            self.network_idle.then(|| ("the page is still loading".to_owned(), WaitCondition::Quiet(IDLE))),
        ];
        let enough = (begun + Duration::from_millis(self.timeout_ms.min(86_400_000))).min(until);
        for (missing, condition) in conditions.into_iter().flatten() {
            let is_so = session.browser.wait_until(&condition, enough).map_err(|fault| match fault {
                ActionError::Script(why) if why.contains("SyntaxError") => {
                    Problem::new(ProblemKind::InvalidArgs, format!("the selector cannot be read: {why}"))
                }
                fault => fault.into(),
            })?;
            if !is_so {
                let message = format!("{missing} after {} ms", begun.elapsed().as_millis());
                return Err(Problem::new(ProblemKind::Timeout, message));
            }
        }
        let pause = Instant::now() + Duration::from_millis(self.ms.min(86_400_000));
        session.browser.wait(pause.min(until), |_| false)?;
        if pause > until {
            return Err(Problem::new(ProblemKind::Timeout, "the pause is longer than the call may take"));
        }
        let waited = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(session.shown(until)?.with("waited", waited))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_scheme_is_https() {
        for (given, url) in [
            ("example.org", "https://example.org"),
            ("localhost:8080/a", "https://localhost:8080/a"),
            ("http://a", "http://a"),
            ("about:blank", "about:blank"),
            ("file:///a", "file:///a"),
            ("javascript:1", "https://javascript:1"),
            ("пример.рф", "https://пример.рф"),
        ] {
            assert_eq!(with_scheme(given), url);
        }
    }
}
