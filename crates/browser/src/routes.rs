//! Answers to requests from a file, in place of those of a server.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What answers the requests of pages.
#[derive(Debug, Clone, Default)]
pub struct Routes(Vec<Route>);

/// A line of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Route {
    /// An address, in which `*` stands for any text.
    url: String,
    /// `GET`, `POST` and so on; any if absent.
    method: Option<String>,
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The contents: a text as it is, or any other JSON value as JSON.
    body: Option<Value>,
    /// A file with the contents, relative to the folder of the file.
    body_file: Option<std::path::PathBuf>,
}

fn ok() -> u16 {
    200
}

/// Why a file of answers cannot be used: the line, counted from 1, and the reason.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct RouteError {
    line: usize,
    why: String,
}

impl Routes {
    /// Reads a file: one JSON object per line, the first that fits a request answers it. `folder` is that of the file.
    ///
    /// # Errors
    /// A line is not a route, or its file of contents cannot be read.
    pub fn read(text: &str, folder: &Path) -> Result<Routes, RouteError> {
        let mut routes = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let failed = |why: String| RouteError { line: index + 1, why };
            let mut route: Route = serde_json::from_str(line).map_err(|error| failed(error.to_string()))?;
            if !(100..600).contains(&route.status) {
                return Err(failed(format!("{} is no HTTP status", route.status)));
            }
            if let Some(file) = route.body_file.take() {
                if route.body.is_some() {
                    return Err(failed("it has both body and body_file".to_owned()));
                }
                let file = folder.join(file);
                let read = std::fs::read(&file).map_err(|error| failed(format!("{}: {error}", file.display())))?;
                route.body = Some(String::from_utf8_lossy(&read).into_owned().into());
            }
            routes.push(route);
        }
        Ok(Routes(routes))
    }

    /// For `Fetch.enable`: the patterns of the requests to ask about.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = Value> {
        // In the browser's patterns, `?` stands for one character.
        self.0.iter().map(|route| json!({"urlPattern": route.url.replace('\\', "\\\\").replace('?', "\\?")}))
    }

    /// For `Fetch.fulfillRequest`: the answer to a request, if a route has one.
    pub(crate) fn answer(&self, method: &str, url: &str) -> Option<Value> {
        let fits = |route: &&Route| {
            route.method.as_deref().is_none_or(|one| one.eq_ignore_ascii_case(method)) && fits(&route.url, url)
        };
        let route = self.0.iter().find(fits)?;
        let (body, kind) = match &route.body {
            Some(Value::String(text)) => (text.clone(), "text/plain; charset=utf-8"),
            Some(value) => (value.to_string(), "application/json"),
            None => (String::new(), "text/plain"),
        };
        let mut headers: Vec<Value> =
            route.headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        let has = |name: &str| route.headers.keys().any(|key| key.eq_ignore_ascii_case(name));
        for (name, value) in [("content-type", kind), ("access-control-allow-origin", "*")] {
            if !has(name) {
                headers.push(json!({"name": name, "value": value}));
            }
        }
        Some(json!({"responseCode": route.status, "responseHeaders": headers, "body": BASE64_STANDARD.encode(body)}))
    }
}

/// Whether a text fits a pattern in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text) in [
            ("https://a/b?c=d", "https://a/b?c=d"),
            ("https://a/*", "https://a/"),
            ("*/api/*.json", "https://a/api/x/y.json"),
            ("*", ""),
            ("a*b*c", "axxbyyc"),
        ] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("https://a/", "https://a/b"), ("a*b", "axc"), ("a*b*c", "acb"), ("ab*ba", "aba")] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_file_is_read_line_by_line_and_faults_are_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.json"), "{}").unwrap();
        let text = "{\"url\":\"*/a\",\"body\":{\"x\":1}}\n\n{\"url\":\"*/b\",\"method\":\"post\",\"status\":503,\"body_file\":\"a.json\"}\n";
        let routes = Routes::read(text, folder.path()).unwrap();
        assert_eq!(routes.answer("GET", "http://h/a").unwrap()["body"], BASE64_STANDARD.encode("{\"x\":1}"));
        assert_eq!(routes.answer("POST", "http://h/b").unwrap()["responseCode"], 503);
        assert!(routes.answer("GET", "http://h/b").is_none());
        for (text, why) in [
            ("{\"url\":\"*\"}\n{", "line 2: EOF"),
            ("{\"url\":\"*\",\"status\":99}", "line 1: 99 is no HTTP status"),
            ("{\"url\":\"*\",\"body_file\":\"none\"}", "line 1: "),
            ("{\"url\":\"*\",\"body\":1,\"body_file\":\"a.json\"}", "line 1: it has both"),
            ("{\"to\":\"*\"}", "line 1: unknown field"),
        ] {
            let refused = Routes::read(text, folder.path()).unwrap_err().to_string();
            assert!(refused.starts_with(why), "{text}: {refused}");
        }
    }
}
