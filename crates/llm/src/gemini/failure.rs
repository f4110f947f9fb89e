//! Failures reported by Google's servers (<https://google.aip.dev/193>), for both of their APIs.

use crate::failure::ReportedError;
use crate::{Failure, Headers, Retry};
use jiff::SignedDuration;
use pipewright_record::{Fields, Kind};
use std::time::Duration;

/// `{"error":{"code","message","status","details":[...]}}`, or the same in an array.
pub(crate) fn failure(status: u16, headers: &Headers<'_>, body: &[u8]) -> Failure {
    let reported = ReportedError::read(status, body);
    let details = reported.fields.list("details").unwrap_or_default();
    let details: Vec<Fields<'_>> = details.iter().filter_map(|detail| Fields::read(detail.get()).ok()).collect();
    let code = reported.fields.text("status").or_else(|| reported.code("code"));
    let is_quota = code.as_deref() == Some("quota_exceeded") || is_quota_without_end(&details, &reported.message);
    let pause = pause(&details, &reported.message);
    let is_bad_key = details.iter().any(|detail| detail.text("reason").as_deref() == Some("API_KEY_INVALID"));
    let mut failure = Failure::of_status(status, code, reported.message, headers);
    if is_bad_key {
        // An invalid key has status 400.
        (failure.what.kind, failure.retry) = (Kind::Auth, Retry::Never);
    }
    if is_quota {
        return failure.into_quota();
    }
    match (failure.retry, pause) {
        (Retry::Never, _) | (_, None) => {}
        (_, Some(pause)) => failure.retry = Retry::After(pause),
    }
    failure
}

/// Whether it is a daily quota, or a quota of 0: the reported pause does not lift it.
fn is_quota_without_end(details: &[Fields<'_>], message: &str) -> bool {
    let violations = details.iter().flat_map(|detail| detail.list("violations").unwrap_or_default());
    let mut ids = violations.filter_map(|violation| Fields::read(violation.get()).ok()?.text("quotaId"));
    let mut limits = message.split("limit: 0").skip(1);
    ids.any(|id| id.contains("PerDay") || id.contains("Daily"))
        || limits.any(|rest| !rest.starts_with(|next: char| next.is_ascii_digit() || next == '.'))
}

/// The pause in `RetryInfo`, or in the message: "Please retry in 34.07s."
fn pause(details: &[Fields<'_>], message: &str) -> Option<Duration> {
    let duration = |text: &str| Duration::try_from(text.parse::<SignedDuration>().ok()?).ok();
    let detail = details.iter().find_map(|detail| detail.text("retryDelay"));
    detail.and_then(|text| duration(&text)).or_else(|| {
        let (_, rest) = message.split_once("retry in ")?;
        duration(rest.split_whitespace().next()?.trim_end_matches('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: u16, body: &str) -> (Kind, Retry, Option<String>) {
        let failure = failure(status, &|_| None, body.as_bytes());
        (failure.what.kind, failure.retry, failure.what.code)
    }

    fn exhausted(message: &str, details: &str) -> (Kind, Retry, Option<String>) {
        read(
            429,
            &format!(
                r#"{{"error":{{"code":429,"message":"{message}","status":"RESOURCE_EXHAUSTED","details":[{details}]}}}}"#
            ),
        )
    }

    #[test]
    fn a_pause_is_read_from_the_details_or_the_message() {
        let info = r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}"#;
        let code = Some("RESOURCE_EXHAUSTED".to_owned());
        let after = |seconds| (Kind::RateLimited, Retry::After(Duration::from_secs_f64(seconds)), code.clone());
        assert_eq!(exhausted("slow", info), after(34.0));
        assert_eq!(exhausted("Quota exceeded. Please retry in 34.07s.", ""), after(34.07));
        assert_eq!(exhausted("Please retry in 1m2.5s. limit: 05, limit: 0.5", ""), after(62.5));
        assert_eq!(exhausted("Please retry in a while", "").1, Retry::Backoff);
        assert_eq!(exhausted("Please retry in -3s", "").1, Retry::Backoff);
        let seven = |name: &str| (name == "retry-after").then(|| "7".to_owned());
        assert_eq!(failure(429, &seven, b"{}").retry, Retry::After(Duration::from_secs(7)));
    }

    #[test]
    fn a_daily_quota_is_never_retried_even_with_a_pause() {
        let violation = |id: &str| {
            format!(
                r#"{{"@type":"t","violations":[{{"quotaMetric":"m","quotaId":"{id}","quotaValue":"50"}}]}},{{"retryDelay":"34s"}}"#
            )
        };
        let quota = |(kind, retry, _): (Kind, Retry, Option<String>)| (kind, retry) == (Kind::Quota, Retry::Never);
        assert!(quota(exhausted("x", &violation("GenerateRequestsPerDayPerProjectPerModel-FreeTier"))));
        assert!(quota(exhausted("x", &violation("DailyRequests"))));
        assert!(!quota(exhausted("x", &violation("GenerateRequestsPerMinutePerProjectPerModel"))));
        assert!(quota(exhausted("Quota exceeded for metric: m, limit: 0, model: gemini-3-pro", "")));
        assert!(quota(read(402, "{}")));
        assert!(quota(read(429, r#"{"error":{"code":"quota_exceeded","message":"x"}}"#)));
    }

    #[test]
    fn other_failures_are_distinguished() {
        let key = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#;
        assert_eq!(read(400, key), (Kind::Auth, Retry::Never, Some("INVALID_ARGUMENT".to_owned())));
        let long = r#"[{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)","status":"INVALID_ARGUMENT"}}]"#;
        assert_eq!(read(400, long).0, Kind::Overflow);
        let bad = r#"{"error":{"code":400,"message":"Function call is missing a thought_signature","status":"INVALID_ARGUMENT"}}"#;
        assert_eq!(read(400, bad), (Kind::BadRequest, Retry::Never, Some("INVALID_ARGUMENT".to_owned())));
        let busy = r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#;
        assert_eq!(read(503, busy), (Kind::Unavailable, Retry::Backoff, Some("UNAVAILABLE".to_owned())));
        assert_eq!(read(502, "<html>").0, Kind::Unavailable);
    }
}
