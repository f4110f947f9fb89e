//! Progress notifications about a held call, for an MCP client that requests them: `notifications/progress`.

use pipewright_record::json::Object;
use pipewright_record::rpc::{Message, notification, request_progress_token};
use serde_json::value::RawValue;
use std::time::{Duration, Instant};

/// How often it is sent.
const INTERVAL: Duration = Duration::from_secs(5);

/// The progress of a call.
pub struct Progress {
    /// As the client wrote it.
    token: Box<RawValue>,
    steps: u32,
    pub next: Instant,
}

impl Progress {
    /// For the call in a line, if its `_meta` has a `progressToken`.
    pub fn for_call(line: &str) -> Option<Progress> {
        let Ok(Message::Request { params, .. }) = Message::read(line) else { return None };
        let token = request_progress_token(params)?.to_owned();
        Some(Progress { token, steps: 0, next: Instant::now() + INTERVAL })
    }

    /// The next notification, once it is due. The value rises by thousandths: the specification requires every value to
    /// be greater than the one before (2025-11-25, progress), and the server's own values, which follow, mostly begin
    /// at 0 or 1.
    pub fn step(&mut self, now: Instant) -> Option<String> {
        if now < self.next {
            return None;
        }
        self.next = now + INTERVAL;
        self.steps += 1;
        let params = Object::default().put("progressToken", &self.token);
        let params = params.put("progress", f64::from(self.steps) / 1000.0);
        let params = params.text("message", "a person is being asked whether this call may pass").end();
        Some(notification("notifications/progress", Some(&params)))
    }
}
