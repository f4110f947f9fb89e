//! Step events: what a step was, for a log that people and programs read, without the content of pages. A step is a turn of the model's, and what
//! the loop does until the next.

use super::local::is_about_secrets;
use crate::json::Object;
use serde_json::{Map, Value};
use std::time::Duration;

/// The fields of results that say where the world is.
const PAGE: [&str; 6] = ["url", "title", "nav_type", "active_tab", "active_frame", "scroll_pos"];
const FOCUS: [&str; 4] = ["focused_role", "focused_name", "input_ok", "select_ok"];

/// In the place of a secret.
pub(super) const HIDDEN: &str = "<PASSWORD>";

/// A step that is under way.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    number: u32,
    begun: Duration,
    /// JSON texts, by their names in the event.
    call: Option<(String, Object)>,
    /// What was typed may be a secret, by the name of the field that has the focus.
    is_secret: bool,
    is_error: bool,
    page: Map<String, Value>,
    enumerate: Map<String, Value>,
    focus: Map<String, Value>,
    find: Map<String, Value>,
    banners: Map<String, Value>,
    wait: Map<String, Value>,
    media: Map<String, Value>,
    transfer: Map<String, Value>,
    diag: Map<String, Value>,
    ask: Map<String, Value>,
}

impl Step {
    pub(super) fn begin(number: u32, now: Duration) -> Step {
        Step { number, begun: now, ..Step::default() }
    }

    /// The model's call, with its outcome: the name of a kind where it failed.
    pub(super) fn call(&mut self, tool: &str, arguments: &str, error: Option<(&str, &str)>) {
        let status = if error.is_some() { "error" } else { "ok" };
        let outcome = Object::default().text("tool", tool).text("status", status);
        let outcome =
            outcome.text_some("kind", error.map(|(kind, _)| kind)).text_some("error", error.map(|(_, why)| why));
        self.call = Some((arguments.to_owned(), outcome.put("retries", 0)));
        self.is_error = error.is_some();
    }

    /// What a result says, by the names of its fields: those of browser-bridge, which other worlds may have, too.
    pub(super) fn result(&mut self, tool: &str, arguments: &Value, result: &Value) {
        let Value::Object(result) = result else { return };
        let copy = |names: &[&str], to: &mut Map<String, Value>| {
            to.extend(names.iter().filter_map(|name| Some(((*name).to_owned(), result.get(*name)?.clone()))));
        };
        copy(&PAGE, &mut self.page);
        copy(&FOCUS, &mut self.focus);
        self.is_secret |= result.get("focused_name").and_then(Value::as_str).is_some_and(is_about_secrets);
        copy(&["uploaded", "filename"], &mut self.transfer);
        if let Some(playing) = result.get("media").and_then(|media| media.get("playing")) {
            self.media.insert("playing".to_owned(), playing.clone());
        }
        if let (Some(key), true) = (arguments.get("key"), tool.ends_with("press")) {
            self.media.insert("last_key".to_owned(), key.clone());
        }
        if let (Some(total), Some(Value::Array(items))) = (result.get("total"), result.get("items")) {
            let criteria: Map<String, Value> = ["role", "text"]
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), arguments.get(*name)?.clone())))
                .collect();
            if criteria.is_empty() {
                let is_reused = result.get("reused_snapshot") == Some(&Value::Bool(true));
                self.enumerate.insert("did_refresh".to_owned(), (!is_reused).into());
                self.enumerate.insert("items_count".to_owned(), total.clone());
                self.enumerate.insert("summary_top5".to_owned(), items.iter().take(5).cloned().collect());
            } else {
                self.find.insert("criteria".to_owned(), criteria.into());
                self.find.insert("count".to_owned(), total.clone());
                self.find.insert("top3".to_owned(), items.iter().take(3).cloned().collect());
            }
        }
        if result.contains_key("created") && tool.contains("overlay") {
            self.enumerate.insert("overlay_active".to_owned(), true.into());
        }
        if let (Some(path), Some(bytes)) = (result.get("path"), result.get("bytes")) {
            self.diag.insert("screenshot_path".to_owned(), path.clone());
            self.diag.insert("size".to_owned(), bytes.clone());
        }
    }

    /// A call that closes what is in the way.
    pub(super) fn banners(&mut self, closed: Option<&Value>, spent: u64) {
        self.banners.insert("auto_close_started".to_owned(), true.into());
        self.banners.insert("closed_count".to_owned(), closed.cloned().unwrap_or_else(|| 0.into()));
        self.banners.insert("spent_ms".to_owned(), spent.into());
    }

    /// A call that waits.
    pub(super) fn wait(&mut self, arguments: &Value, is_completed: bool, is_late: bool) {
        let Value::Object(arguments) = arguments else { return };
        if let Some((kind, value)) = arguments.iter().find(|(name, _)| !name.contains("timeout")) {
            self.wait.insert("type".to_owned(), kind.clone().into());
            self.wait.insert("value".to_owned(), value.clone());
        }
        self.wait.insert("completed".to_owned(), is_completed.into());
        self.wait.insert("timeout".to_owned(), is_late.into());
    }

    /// A question for the person, or the answer.
    pub(super) fn ask(&mut self, name: &str, text: &str) {
        self.ask.insert("asked".to_owned(), true.into());
        self.ask.insert(name.to_owned(), text.into());
    }

    /// The event, JSON text without a line feed; `None` where nothing has happened.
    pub(super) fn end(self, now: Duration) -> Option<String> {
        let (arguments, outcome) = self.call?;
        let call = outcome.put("args", if self.is_secret { without_text(&arguments) } else { arguments }).end();
        let milliseconds = |time: Duration| time.as_millis();
        let event =
            Object::default().put("step", self.number).text("level", if self.is_error { "error" } else { "info" });
        let event = event.put("started_ms", milliseconds(self.begun)).put("ended_ms", milliseconds(now));
        let event = event.put("duration_ms", milliseconds(now.saturating_sub(self.begun)));
        let event = event.put("call", call);
        let parts = [
            ("page", self.page),
            ("enumerate", self.enumerate),
            ("focus", self.focus),
            ("find", self.find),
            ("banners", self.banners),
            ("wait", self.wait),
            ("media", self.media),
            ("transfer", self.transfer),
            ("diag", self.diag),
            ("ask", self.ask),
        ];
        let parts = parts.into_iter().filter(|(_, part)| !part.is_empty());
        Some(parts.fold(event, |event, (name, part)| event.put(name, Value::Object(part))).end())
    }
}

/// Arguments without what is typed.
fn without_text(arguments: &str) -> String {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(mut arguments)) => {
            if let Some(text) = arguments.get_mut("text") {
                *text = HIDDEN.into();
            }
            Value::Object(arguments).to_string()
        }
        _ => "{}".to_owned(),
    }
}
