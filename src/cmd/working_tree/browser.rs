//! agent-browser and playwright-cli: their configuration, which may name the program of a browser, a proxy, or logins.

use super::all_above;
use serde_json::Value;
use std::path::Path;

/// Whether no configuration here makes them run a program.
pub(super) fn runs_nothing(folder: &Path) -> bool {
    const FILES: &[&str] = &[".playwright/cli.config.json", "agent-browser.json", "playwright-cli.json"];
    all_above(folder, FILES, &[], |text| serde_json::from_str(text).is_ok_and(|value| is_harmless(&value)))
}

/// Whether a configuration only says how a browser looks, and which one of those that are installed it is.
fn is_harmless(value: &Value) -> bool {
    const SAFE_SETTINGS: &[&str] = &[
        "action",
        "browser",
        "browserName",
        "channel",
        "colorScheme",
        "console",
        "contextOptions",
        "full",
        "headed",
        "headless",
        "height",
        "isolated",
        "json",
        "launchOptions",
        "level",
        "locale",
        "navigation",
        "testIdAttribute",
        "timeouts",
        "timezoneId",
        "viewport",
        "width",
    ];
    match value {
        Value::Object(settings) => {
            settings.iter().all(|(key, value)| SAFE_SETTINGS.contains(&key.as_str()) && is_harmless(value))
        }
        Value::Array(_) => false,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_name_a_program_are_found() {
        let is_harmless = |text: &str| is_harmless(&serde_json::from_str(text).unwrap_or_default());
        assert!(is_harmless(r#"{"browser":{"browserName":"chromium","launchOptions":{"channel":"chrome"}}}"#));
        for text in [
            r#"{"browser":{"launchOptions":{"executablePath":"./x"}}}"#,
            r#"{"browser":{"launchOptions":{"args":["--proxy-server=x"]}}}"#,
            r#"{"executable\u0050ath":"./x"}"#,
            r#"{"browser":{"initScript":["x.js"]}}"#,
            r#"{"profile":"Default"}"#,
        ] {
            assert!(!is_harmless(text), "{text}");
        }
    }
}
