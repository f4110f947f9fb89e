//! Step events: a log of the steps for people and programs, without the content of pages. A step is a turn of the
//! model, and the loop's actions until the next turn.

use pipewright_mask::mentions_secret;
use pipewright_record::json::Object;
use serde_json::{Map, Value};
use std::time::Duration;

/// The fields of results that describe the world's location.
const PAGE: [&str; 6] = ["url", "title", "nav_type", "active_tab", "active_frame", "scroll_pos"];
const FOCUS: [&str; 4] = ["focused_role", "focused_name", "input_ok", "select_ok"];

/// Replaces texts that may be secret.
const HIDDEN: &str = "<HIDDEN>";

/// Arguments with typed text.
const TYPED_ARGUMENTS: [&str; 4] = ["text", "value", "keys", "key"];

/// The current step.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    number: u32,
    begun: Duration,
    /// The form in which the model was asked for calls.
    form: String,
    /// The model's text besides its call.
    progress: String,
    call: Option<ActionCall>,
    /// The call of the previous step, and how often it was repeated in a row.
    before: Option<(ActionCall, u32)>,
    /// Why the turn decides nothing.
    undecided: Option<String>,
    /// Whether typed text may be a secret, according to the world's description of the field or the name of the focused
    /// element.
    is_secret: bool,
    /// Whether the person's answer may be a secret.
    hides_reply: bool,
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

/// A call by the model.
#[derive(Debug, Clone)]
struct ActionCall {
    tool: String,
    /// A JSON text.
    arguments: String,
    /// If it failed: the kind and the reason.
    error: Option<(String, String)>,
}

impl Step {
    /// The step after this one.
    pub(super) fn next(&self, number: u32, now: Duration) -> Step {
        let before = self.call.clone().map(|call| (call, self.retries())).or_else(|| self.before.clone());
        let form = if number == self.number { self.form.clone() } else { String::new() };
        Step { number, begun: now, before, form, ..Step::default() }
    }

    /// Whether it has its call: another call of the turn has an event of its own.
    pub(super) fn has_call(&self) -> bool {
        self.call.is_some()
    }

    /// How often the same call was made in the previous steps.
    fn retries(&self) -> u32 {
        match (&self.call, &self.before) {
            (Some(call), Some((before, retries)))
                if (&call.tool, &call.arguments) == (&before.tool, &before.arguments) =>
            {
                retries + 1
            }
            _ => 0,
        }
    }

    /// Sets the form of the turn.
    pub(super) fn form(&mut self, form: &str) {
        form.clone_into(&mut self.form);
    }

    /// Sets the model's text besides its call.
    pub(super) fn progress(&mut self, progress: &str) {
        progress.clone_into(&mut self.progress);
    }

    /// The turn decides nothing: why.
    pub(super) fn fail(&mut self, why: &str) {
        self.undecided = Some(why.to_owned());
    }

    /// Sets the model's call with its outcome: a kind and a reason if it failed.
    pub(super) fn call(&mut self, tool: &str, arguments: &str, error: Option<(&str, &str)>) {
        let error = error.map(|(kind, why)| (kind.to_owned(), why.to_owned()));
        self.call = Some(ActionCall { tool: tool.to_owned(), arguments: arguments.to_owned(), error });
    }

    /// Reads known fields of a result: those of browser-bridge, which other worlds may use, too.
    pub(super) fn result(&mut self, tool: &str, arguments: &Value, result: &Value) {
        let Value::Object(result) = result else { return };
        let copy = |names: &[&str], to: &mut Map<String, Value>| {
            to.extend(names.iter().filter_map(|name| Some(((*name).to_owned(), result.get(*name)?.clone()))));
        };
        copy(&PAGE, &mut self.page);
        copy(&FOCUS, &mut self.focus);
        self.is_secret |= result.get("is_secret").is_some_and(|value| *value == true);
        self.is_secret |= result.get("focused_name").and_then(Value::as_str).is_some_and(mentions_secret);
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

    /// Adds a call that closes banners.
    pub(super) fn banners(&mut self, closed: Option<&Value>, spent: u64) {
        self.banners.insert("auto_close_started".to_owned(), true.into());
        self.banners.insert("closed_count".to_owned(), closed.cloned().unwrap_or_else(|| 0.into()));
        self.banners.insert("spent_ms".to_owned(), spent.into());
    }

    /// Adds a call that waits.
    pub(super) fn wait(&mut self, arguments: &Value, is_completed: bool, is_late: bool) {
        let Value::Object(arguments) = arguments else { return };
        if let Some((kind, value)) = arguments.iter().find(|(name, _)| !name.contains("timeout")) {
            self.wait.insert("type".to_owned(), kind.clone().into());
            self.wait.insert("value".to_owned(), value.clone());
        }
        self.wait.insert("completed".to_owned(), is_completed.into());
        self.wait.insert("timeout".to_owned(), is_late.into());
    }

    /// Adds a failed transfer, recognised by its tool's name.
    pub(super) fn transfer_error(&mut self, tool: &str, kind: &str) {
        for (part, name) in [("upload", "upload_error"), ("download", "download_error")] {
            if tool.contains(part) {
                self.transfer.insert(name.to_owned(), kind.into());
            }
        }
    }

    /// Adds a question to the person, whose answer may be a secret.
    pub(super) fn ask(&mut self, question: &str, hides_reply: bool) {
        self.ask.insert("asked".to_owned(), true.into());
        self.ask.insert("question".to_owned(), question.into());
        self.hides_reply = hides_reply;
    }

    /// Adds the answer.
    pub(super) fn reply(&mut self, text: &str) {
        let reply = if self.hides_reply { HIDDEN } else { text };
        self.ask.insert("user_reply".to_owned(), reply.into());
    }

    /// The event as JSON text without a line feed; `None` if nothing happened.
    pub(super) fn end(self, now: Duration) -> Option<String> {
        let call = self.call.as_ref().map(|call| call.json(self.is_secret, self.retries()));
        if call.is_none() && self.undecided.is_none() {
            return None;
        }
        let is_error = self.undecided.is_some() || self.call.is_some_and(|call| call.error.is_some());
        let milliseconds = |time: Duration| time.as_millis();
        let event = Object::default().put("step", self.number).text("level", if is_error { "error" } else { "info" });
        let event = event.put("started_ms", milliseconds(self.begun)).put("ended_ms", milliseconds(now));
        let event = event.put("duration_ms", milliseconds(now.saturating_sub(self.begun)));
        let event = event.text_some("form", Some(&*self.form).filter(|form| !form.is_empty()));
        let event = event.text_some("progress", Some(&*self.progress).filter(|progress| !progress.is_empty()));
        let event = event.put_some("call", call).text_some("undecided", self.undecided.as_deref());
        let parts = [
            ("page", self.page),
            ("enumerate", self.enumerate),
            ("focus", self.focus),
            ("find", self.find),
            ("banners", self.banners),
            ("wait", self.wait),
            ("media", if self.is_secret { Map::new() } else { self.media }),
            ("transfer", self.transfer),
            ("diag", self.diag),
            ("ask", self.ask),
        ];
        let parts = parts.into_iter().filter(|(_, part)| !part.is_empty());
        Some(parts.fold(event, |event, (name, part)| event.put(name, Value::Object(part))).end())
    }
}

impl ActionCall {
    /// The call for the event. Text typed into a secret field is hidden; after a failure the field is unknown, so it is
    /// hidden as well.
    fn json(&self, is_secret: bool, retries: u32) -> String {
        let mut arguments: Value = serde_json::from_str(&self.arguments).unwrap_or_default();
        let mut typed = Vec::new();
        if is_secret || self.error.is_some() {
            hide_typed(&mut arguments, &mut typed);
        }
        let (kind, why) = self.error.as_ref().map(|(kind, why)| (&**kind, why.clone())).unzip();
        // An error message may quote it.
        let why = why.map(|why| typed.iter().fold(why, |why, typed| why.replace(typed.as_str(), HIDDEN)));
        let status = if self.error.is_some() { "error" } else { "ok" };
        let object = Object::default().text("tool", &self.tool).text("status", status);
        let object = object.text_some("kind", kind).text_some("error", why.as_deref());
        object.put("retries", retries).put("args", arguments).end()
    }
}

/// Hides the typed texts at any depth, and gives them.
fn hide_typed(arguments: &mut Value, typed: &mut Vec<String>) {
    match arguments {
        Value::Object(object) => {
            for (name, value) in object {
                match value {
                    Value::String(text) if TYPED_ARGUMENTS.contains(&&**name) => {
                        if !text.is_empty() {
                            typed.push(std::mem::replace(text, HIDDEN.to_owned()));
                        }
                    }
                    value => hide_typed(value, typed),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| hide_typed(value, typed)),
        _ => {}
    }
}
