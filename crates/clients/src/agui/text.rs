//! Messages as events: unfinished and complete ones.

use pipewright_record::json::Object;

/// The most bytes of unfinished text that are kept, to recognise the complete message that follows.
const MAX_UNFINISHED_TEXT: usize = 1 << 20;

/// Messages of one kind.
#[derive(Debug)]
pub(super) struct TextMessages {
    /// The prefix of their event types.
    prefix: &'static str,
    role: &'static str,
    /// The unfinished message.
    open: Option<OpenMessage>,
    /// The text of the last streamed message, until the complete message has arrived.
    written: Option<String>,
    /// The text of the last complete message.
    last: String,
}

#[derive(Debug)]
struct OpenMessage {
    /// The `request_id` of its turn, as JSON text.
    request: String,
    id: String,
    text: String,
}

impl TextMessages {
    pub fn new(prefix: &'static str, role: &'static str) -> TextMessages {
        TextMessages { prefix, role, open: None, written: None, last: String::new() }
    }

    fn event(&self, part: &str, id: &str) -> Object {
        Object::default().text("type", &format!("{}_{part}", self.prefix)).text("messageId", id)
    }

    /// Adds a part of a message; `new_id` gives the id of a new message.
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
            self.open = Some(OpenMessage { request: request.to_owned(), id, text: String::new() });
        }
        if let Some(open) = &mut self.open {
            if open.text.len() < MAX_UNFINISHED_TEXT {
                open.text.push_str(text);
            }
            let id = open.id.clone();
            events.push(self.event("CONTENT", &id).text("delta", text).end());
        }
        events
    }

    /// Adds a complete message. It is skipped if its parts were shown before.
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

    /// Ends the unfinished message.
    pub fn end(&mut self) -> Vec<String> {
        let Some(open) = self.open.take() else { return Vec::new() };
        self.written = Some(open.text);
        vec![self.event("END", &open.id).end()]
    }
}

fn is_of(written: &str, message: &str) -> bool {
    let (own, message) = (written.trim(), message.trim());
    own == message || written.len() >= MAX_UNFINISHED_TEXT && message.starts_with(own)
}
