//! Messages: those that are being written, and whole ones.

use crate::json::Object;

/// So much of what is being written is kept to recognise the whole message that follows.
const KEPT: usize = 1 << 20;

/// Messages of one kind.
#[derive(Debug)]
pub(super) struct Messages {
    /// What the types of their events begin with.
    prefix: &'static str,
    role: &'static str,
    /// The one that is being written.
    open: Option<Open>,
    /// The text of the one that was written last, until the whole message has come.
    written: Option<String>,
    /// That of the last whole message.
    last: String,
}

#[derive(Debug)]
struct Open {
    /// JSON text of the `request_id` of the turn that it belongs to.
    request: String,
    id: String,
    text: String,
}

impl Messages {
    pub fn new(prefix: &'static str, role: &'static str) -> Messages {
        Messages { prefix, role, open: None, written: None, last: String::new() }
    }

    fn event(&self, part: &str, id: &str) -> Object {
        Object::default().text("type", &format!("{}_{part}", self.prefix)).text("messageId", id)
    }

    /// A part of a message; `new_id` is for one that begins with it.
    pub fn part(&mut self, request: &str, restarted: bool, text: &str, new_id: impl FnOnce() -> String) -> Vec<String> {
        let mut events = Vec::new();
        if restarted || self.open.as_ref().is_some_and(|open| open.request != request) {
            events.extend(self.end());
        }
        if text.is_empty() {
            return events;
        }
        if self.open.is_none() {
            let id = new_id();
            events.push(self.event("START", &id).text("role", self.role).end());
            self.open = Some(Open { request: request.to_owned(), id, text: String::new() });
        }
        if let Some(open) = &mut self.open {
            if open.text.len() < KEPT {
                open.text.push_str(text);
            }
            let id = open.id.clone();
            events.push(self.event("CONTENT", &id).text("delta", text).end());
        }
        events
    }

    /// A whole message; what was written of it is not shown again.
    pub fn whole(&mut self, text: &str, new_id: impl FnOnce() -> String) -> Vec<String> {
        let mut events = self.end();
        text.clone_into(&mut self.last);
        let is_written = self.written.take().is_some_and(|written| is_of(&written, text));
        if !is_written && !text.trim().is_empty() {
            let id = new_id();
            events.push(self.event("START", &id).text("role", self.role).end());
            events.push(self.event("CONTENT", &id).text("delta", text).end());
            events.push(self.event("END", &id).end());
        }
        events
    }

    /// Whether the last message had this text.
    pub fn is_last(&self, text: &str) -> bool {
        self.last.trim() == text.trim()
    }

    /// What is being written is ended.
    pub fn end(&mut self) -> Vec<String> {
        let Some(open) = self.open.take() else { return Vec::new() };
        self.written = Some(open.text);
        vec![self.event("END", &open.id).end()]
    }
}

fn is_of(written: &str, message: &str) -> bool {
    let (own, message) = (written.trim(), message.trim());
    own == message || written.len() >= KEPT && message.starts_with(own)
}
