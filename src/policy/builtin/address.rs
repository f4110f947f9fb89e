//! Where an address leads, read as browsers read it (WHATWG's URL standard).

use super::{JudgedCall, allow, found};
use crate::policy::detector::ActionKind;
use crate::policy::identifier::words;
use crate::policy::verdict::{Decision, Verdict};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

/// What holds an address, without capitals and marks.
const KEYS: &[&str] = &[
    "url",
    "urls",
    "href",
    "uri",
    "uris",
    "address",
    "link",
    "links",
    "target",
    "targeturl",
    "location",
    "page",
    "pageurl",
    "src",
    "site",
    "website",
    "starturl",
    "baseurl",
    "to",
    "destination",
];

/// Judges a call that leads to an address.
pub fn judge_address(call: &JudgedCall<'_>) -> Decision {
    let mut decision = allow("it only leads elsewhere");
    for (key, raw) in call.arguments.iter() {
        let is_address = KEYS.contains(&super::plain_key(key).as_str());
        decision = decision.or_stricter(match serde_json::from_str(raw.get()) {
            Ok(value) => judge_value(&value, is_address),
            Err(_) => unreadable(),
        });
    }
    decision
}

fn unreadable() -> Decision {
    Decision::new(Verdict::Confirm, "builtin.address", "where it leads cannot be read")
}

fn judge_value(value: &Value, is_address: bool) -> Decision {
    match value {
        Value::String(text) if is_address => judge_text(text),
        // Under any other key, what is certainly an address.
        Value::String(text) => match Url::parse(text) {
            Ok(url) if is_program(&url) || url.has_host() => judge_url(&url),
            _ => allow("it only leads elsewhere"),
        },
        Value::Array(items) => items.iter().fold(allow("it only leads elsewhere"), |decision, item| {
            decision.or_stricter(judge_value(item, is_address))
        }),
        Value::Object(fields) => fields.values().fold(allow("it only leads elsewhere"), |decision, item| {
            decision.or_stricter(judge_value(item, is_address))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => allow("it only leads elsewhere"),
    }
}

fn judge_text(text: &str) -> Decision {
    if text.is_empty() {
        return allow("it only leads elsewhere");
    }
    let url = match Url::parse(text) {
        // `example.org:8080` and `localhost:8080` are hosts for whoever types them.
        Ok(url) if is_host_and_port(&url) => Url::parse(&format!("http://{}", text.trim())),
        Err(url::ParseError::RelativeUrlWithoutBase) => Url::parse(&format!("http://{}", text.trim())),
        url => url,
    };
    url.map_or_else(|_| unreadable(), |url| judge_url(&url))
}

fn is_host_and_port(url: &Url) -> bool {
    let port: String = url.path().chars().take_while(char::is_ascii_digit).collect();
    let is_name = url.scheme() == "localhost" || url.scheme().contains('.');
    is_name
        && url.cannot_be_a_base()
        && !port.is_empty()
        && matches!(url.path()[port.len()..].chars().next(), None | Some('/'))
}

fn is_program(url: &Url) -> bool {
    matches!(url.scheme(), "javascript" | "vbscript")
}

/// Whether a text is an address that is a program.
pub fn runs(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| is_program(&url))
}

fn judge_url(url: &Url) -> Decision {
    match url.scheme() {
        _ if is_program(url) => found(ActionKind::Run, "builtin.address", "the address is a program".to_owned()),
        "http" | "https" => judge_path(url),
        "about" if url.path() == "blank" => allow("it only leads elsewhere"),
        scheme => {
            let why = format!("where {scheme}: leads isn't known");
            Decision::new(Verdict::Confirm, "builtin.address", why)
        }
    }
}

/// An address may do what it says: some sites delete at a GET.
fn judge_path(url: &Url) -> Decision {
    let parts = [url.path(), url.query().unwrap_or_default(), url.fragment().unwrap_or_default()];
    for segment in parts.into_iter().flat_map(|part| part.split(['/', '=', '&', ';', '?', '!'])) {
        let segment = decoded(segment);
        // What was encoded may hold further parts.
        for word in segment.split(['/', '\\', '=', '&', ';', '?', '!']) {
            if let Some(first) = words(word).first()
                && ["delete", "remove", "destroy", "purge", "erase", "unsubscribe", "deactivate"]
                    .contains(&first.as_str())
            {
                return found(ActionKind::Delete, "builtin.address", format!("the address says {word:?}"));
            }
        }
    }
    allow("it only leads elsewhere")
}

/// Decoded as often as a server and what stands before it may.
fn decoded(segment: &str) -> String {
    let mut text = segment.to_owned();
    for _ in 0..3 {
        text = percent_decode_str(&text).decode_utf8_lossy().into_owned();
    }
    text
}
