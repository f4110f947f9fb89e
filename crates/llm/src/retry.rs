//! Whether a failed request may be sent again according to the answer's headers, and how servers report that a
//! conversation is too long.

use super::{Headers, Retry};
use jiff::fmt::rfc2822::DateTimeParser;
use std::time::Duration;

/// Codes for a conversation that exceeds the model's context window.
const OVERFLOW_CODES: [&str; 3] =
    ["context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"];

/// Parts of messages in lower case, for servers without such a code.
const OVERFLOW_PHRASES: [&str; 13] = [
    "prompt is too long",
    "maximum context length",
    "exceeds the context window",
    "exceeds the maximum number of tokens",
    "exceeds the available context size",
    "longer than the maximum model length",
    "greater than the context length",
    "reduce the length of the messages",
    "maximum prompt length is",
    "input is too long for requested model",
    "context window exceeds limit",
    "exceeded model token limit",
    // GitHub Copilot; "exceeds the limit of" alone is also used for max_tokens.
    "prompt token count of",
];

/// Whether the server reports that the conversation exceeds the model's context window.
pub(super) fn is_overflow(code: Option<&str>, message: &str) -> bool {
    let message = message.to_lowercase();
    code.is_some_and(|code| OVERFLOW_CODES.contains(&code))
        || OVERFLOW_PHRASES.iter().any(|phrase| message.contains(phrase))
}

/// Applies the headers to a decision: `x-should-retry` overrules it, and a requested pause replaces our own.
pub(super) fn apply_headers(decision: Retry, headers: &Headers<'_>) -> Retry {
    let pause = || pause(headers).map_or(Retry::Backoff, Retry::After);
    match (headers("x-should-retry").as_deref(), decision) {
        (Some("false"), _) => Retry::Never,
        (Some("true"), _) => pause(),
        (_, Retry::Never | Retry::After(_)) => decision,
        (_, Retry::Backoff) => pause(),
    }
}

/// Reads `retry-after-ms`, or `retry-after` in seconds or as a date, which is relative to the date of the answer. This
/// needs no clock, and works if the server's clock is wrong.
fn pause(headers: &Headers<'_>) -> Option<Duration> {
    let seconds = |text: &str| Duration::try_from_secs_f64(text.trim().parse().ok()?).ok();
    if let Some(pause) = headers("retry-after-ms").and_then(|text| seconds(&text)) {
        return Some(pause / 1000);
    }
    let after = headers("retry-after")?;
    let date = |text: &str| DateTimeParser::new().parse_timestamp(text.trim()).ok();
    seconds(&after).or_else(|| {
        let pause = date(&after)?.duration_since(date(&headers("date")?)?);
        // A date in the past means no pause.
        Some(pause.try_into().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry(decision: Retry, headers: &[(&str, &str)]) -> Retry {
        let find = |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        apply_headers(decision, &find)
    }

    #[test]
    fn the_pause_in_the_headers_is_read_in_every_form() {
        let date = ("date", "Sun, 22 Nov 2026 19:00:57 GMT");
        let after = |seconds| Retry::After(Duration::from_secs_f64(seconds));
        for (headers, expected) in [
            (vec![], Retry::Backoff),
            (vec![("retry-after", "7")], after(7.0)),
            (vec![("retry-after", "7"), ("retry-after-ms", "1500")], after(1.5)),
            (vec![("retry-after", "0.5")], after(0.5)),
            (vec![("retry-after", "Sun, 22 Nov 2026 19:01:57 GMT"), date], after(60.0)),
            (vec![("retry-after", "Sun, 22 Nov 2026 18:01:57 GMT"), date], after(0.0)),
            (vec![("retry-after", "Sun, 22 Nov 2026 19:01:57 GMT")], Retry::Backoff),
            (vec![("retry-after", "-1")], Retry::Backoff),
            (vec![("retry-after", "NaN")], Retry::Backoff),
            (vec![("retry-after", "1e300")], Retry::Backoff),
            (vec![("retry-after", "soon"), date], Retry::Backoff),
            (vec![("retry-after", "7"), ("x-should-retry", "false")], Retry::Never),
        ] {
            assert_eq!(retry(Retry::Backoff, &headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn a_final_failure_is_only_retried_if_the_server_asks_for_it() {
        assert_eq!(retry(Retry::Never, &[("retry-after", "7")]), Retry::Never);
        let retried = retry(Retry::Never, &[("retry-after", "7"), ("x-should-retry", "true")]);
        assert_eq!(retried, Retry::After(Duration::from_secs(7)));
        let own = Retry::After(Duration::from_secs(34));
        assert_eq!(retry(own, &[("retry-after", "7")]), own);
    }

    #[test]
    fn an_overlong_conversation_is_recognised() {
        for message in [
            "prompt is too long: 213462 tokens > 200000 maximum",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
            "Your input exceeds the context window of this model",
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
            "request (9 tokens) exceeds the available context size (8 tokens), try increasing it",
            "Please reduce the length of the messages or completion.",
        ] {
            assert!(is_overflow(None, message), "{message}");
        }
        assert!(is_overflow(Some("context_length_exceeded"), ""));
        for message in
            ["max_tokens: 99999 > 8192", "max_tokens exceeds the limit of 8192", "image exceeds 5 MB maximum"]
        {
            assert!(!is_overflow(Some("invalid_request_error"), message), "{message}");
        }
    }
}
