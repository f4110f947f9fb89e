//! The gate's own requests for the wrapped server's list of tools, whose hints it uses. Their answers are not passed to
//! the client.

use pipewright_io::stage::{Out, Side};
use pipewright_lines::{Piece, text};
use pipewright_policy::annotations::Annotations;
use pipewright_record::json::Object;
use pipewright_record::{Fields, ListTools, Record, is_same_id, type_of};
use pipewright_sys::random::token;
use serde_json::value::RawValue;
use std::io;

/// At most this many pages of one list are requested.
const MAX_PAGES: u32 = 100;

/// Requests the list of an MCP server after the client has sent `notifications/initialized`, and again after the server
/// has sent `notifications/tools/list_changed`. The list of a world of ours is requested before the first call, if the
/// server is trusted.
#[derive(Debug)]
pub struct Discovery {
    /// JSON text that cannot be guessed, so no request of the client's has it.
    id: String,
    /// The last request is not answered yet.
    is_pending: bool,
    pages: u32,
    /// Whether to send `list_tools`: a program that is not a world of ours would not expect it.
    asks_worlds: bool,
    /// The over-long line with this number answers the request.
    dropped_line: Option<u64>,
}

impl Discovery {
    /// Requests nothing yet.
    ///
    /// # Errors
    /// If the system's source of random bytes can't be read.
    pub fn new(asks_worlds: bool) -> io::Result<Discovery> {
        let id = format!("\"policy-check:{}\"", token()?);
        Ok(Discovery { id, is_pending: false, pages: 0, asks_worlds, dropped_line: None })
    }

    /// A record of the client has passed, JSON text.
    pub fn observe_record(&mut self, record: &str, annotations: &mut Annotations, out: &mut Out) {
        if method_of(record).as_deref() == Some("notifications/initialized") {
            self.request_first(annotations, out);
        }
    }

    /// A call in a form of ours is about to pass.
    pub fn observe_call(&mut self, annotations: &mut Annotations, out: &mut Out) {
        if std::mem::take(&mut self.asks_worlds) {
            let id: Option<Box<RawValue>> = serde_json::from_str(&self.id).ok();
            annotations.expect(&self.id);
            self.is_pending = true;
            out.add_line(Side::FAR, &ListTools { request_id: id.as_deref() }.json());
        }
    }

    /// Reads a line of the server, or a part of one. Gives whether it is about our request and must not reach the
    /// client.
    pub fn observe_answer(&mut self, piece: &Piece<'_>, annotations: &mut Annotations, out: &mut Out) -> bool {
        let line = match piece {
            Piece::Line(line) => line.body(),
            Piece::Part { bytes, number, .. } => return self.take_part_of_answer(bytes, *number),
        };
        let answer = annotations.observe_answer(line);
        if !self.is_pending {
            let text = text(line);
            if self.pages > 0 && method_of(&text).as_deref() == Some("notifications/tools/list_changed") {
                annotations.invalidate();
                self.request_first(annotations, out);
            }
            return false;
        }
        match answer {
            Some(answer) if answer.id == self.id => {
                self.is_pending = false;
                if let Some(cursor) = answer.next_cursor.filter(|_| self.pages < MAX_PAGES) {
                    self.request(Some(&cursor), annotations, out);
                }
                true
            }
            _ => self.is_echo(line),
        }
    }

    fn request_first(&mut self, annotations: &mut Annotations, out: &mut Out) {
        if !self.is_pending {
            self.pages = 0;
            self.request(None, annotations, out);
        }
    }

    fn request(&mut self, cursor: Option<&str>, annotations: &mut Annotations, out: &mut Out) {
        annotations.expect(&self.id);
        self.is_pending = true;
        self.pages += 1;
        let params = Object::default().put_some("cursor", cursor).end();
        let request = Object::default().text("jsonrpc", "2.0").put("id", &self.id).text("method", "tools/list");
        out.add_line(Side::FAR, &request.put("params", params).end());
    }

    /// Whether a program that is not a world of ours has sent the request back.
    fn is_echo(&self, line: &[u8]) -> bool {
        let line = text(line);
        let request = ListTools::read(&line).ok().flatten();
        request.is_some_and(|request| is_same_id(request.request_id.map(RawValue::get), Some(&self.id)))
    }

    fn take_part_of_answer(&mut self, bytes: &[u8], number: u64) -> bool {
        let is_answer = self.is_pending && memchr::memmem::find(bytes, self.id.as_bytes()).is_some();
        if is_answer && self.dropped_line.is_none() {
            self.dropped_line = Some(number);
            self.is_pending = false;
        }
        self.dropped_line == Some(number)
    }
}

fn method_of(line: &str) -> Option<String> {
    // Most lines are something else: they are not parsed a second time.
    if !line.contains("notifications") || type_of(line).is_some() {
        return None;
    }
    serde_json::from_str(Fields::read(line).ok()?.get("method")?.get()).ok()
}
