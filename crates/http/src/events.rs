//! Server-sent events (<https://html.spec.whatwg.org/multipage/server-sent-events.html>, section 9.2.6), from bytes in
//! pieces of any size.
//!
//! The few rules of the format are implemented here because an event must be bounded and its data must keep every byte.
//! The existing crates have no bound, and return text.

use std::mem::take;

/// A complete event.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Event {
    /// The type of the event; empty stands for `message`.
    pub name: String,
    /// The data; its lines are joined by line feeds. Empty also for an event that has only other fields, which a
    /// browser would not report.
    pub data: Vec<u8>,
    /// The new `Last-Event-ID`, if this event changes it.
    pub id: Option<String>,
    /// The new time to wait before reconnecting, in milliseconds.
    pub retry: Option<u64>,
    /// Whether the data is longer than the limit; `data` is then its beginning, one byte longer than the limit.
    pub is_cut: bool,
}

/// Converts the pieces of a stream to events.
#[derive(Debug)]
pub struct Reader {
    limit: usize,
    /// The current incomplete line.
    line: Vec<u8>,
    is_line_cut: bool,
    event: Event,
    has_field: bool,
    has_data: bool,
    /// Whether a line feed now belongs to the carriage return before it.
    after_return: bool,
    is_first_line: bool,
}

/// Room in a line for a field's name, besides `limit` bytes of its value.
const FIELD: usize = 64;

impl Reader {
    /// A reader of events with at most `limit` bytes of data.
    pub fn new(limit: usize) -> Reader {
        Reader {
            limit,
            line: Vec::new(),
            is_line_cut: false,
            event: Event::default(),
            has_field: false,
            has_data: false,
            after_return: false,
            is_first_line: true,
        }
    }

    /// Takes the next bytes, and gives the events that end in them.
    pub fn take(&mut self, mut bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(first) = bytes.first() {
            if take(&mut self.after_return) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &bytes[..end.unwrap_or(bytes.len())];
            let room = self.limit.saturating_add(FIELD).saturating_sub(self.line.len());
            self.is_line_cut |= part.len() > room;
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let Some(end) = end else { break };
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = take(&mut self.line);
            events.extend(self.end_line(&line));
        }
        events
    }

    /// The event at the end of the stream that lacks only the blank line behind it, which some servers leave out. One whose last line is
    /// incomplete is dropped.
    pub fn end(&mut self) -> Option<Event> {
        if self.line.starts_with(b"{") && self.line.ends_with(b"}") {
            let line = take(&mut self.line);
            self.end_line(&line);
        }
        let is_whole = self.line.is_empty() && self.has_data;
        if is_whole { self.end_line(b"") } else { None }
    }

    fn end_line(&mut self, line: &[u8]) -> Option<Event> {
        let mark = b"\xEF\xBB\xBF";
        let line = if take(&mut self.is_first_line) { line.strip_prefix(mark).unwrap_or(line) } else { line };
        let is_line_cut = take(&mut self.is_line_cut);
        if line.is_empty() {
            self.has_data = false;
            let event = take(&mut self.event);
            return take(&mut self.has_field).then_some(event);
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            // A server that fails may send bare JSON. No field's name begins so.
            _ if line.starts_with(b"{") => (b"data".as_slice(), line),
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &line[line.len()..]),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"data" => {
                let joint: &[u8] = if std::mem::replace(&mut self.has_data, true) { b"\n" } else { b"" };
                for part in [joint, value] {
                    let room = self.limit.saturating_add(1).saturating_sub(self.event.data.len());
                    self.event.data.extend_from_slice(&part[..part.len().min(room)]);
                }
                self.event.is_cut |= self.event.data.len() > self.limit;
            }
            b"event" if !is_line_cut => self.event.name = text(),
            b"id" if !is_line_cut && !value.contains(&0) => self.event.id = Some(text()),
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                self.event.retry = text().parse().ok().or(self.event.retry);
            }
            // Model servers built on older versions of llama.cpp send the reason of a failure in a field of its own.
            b"error" => {
                self.event.name = "error".to_owned();
                self.event.data = value[..value.len().min(self.limit.saturating_add(1))].to_vec();
                self.event.is_cut |= self.event.data.len() > self.limit;
            }
            // A comment, or an unknown field.
            _ => return None,
        }
        self.has_field = true;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(data: &str) -> Event {
        Event { data: data.into(), ..Event::default() }
    }

    #[test]
    fn the_last_event_needs_no_blank_line() {
        for (stream, expected) in [
            ("data: a\n\ndata: [DONE]\n", Some("[DONE]")),
            ("data: a\ndata: to", None),
            ("event: x\n", None),
            ("data: a\n\n", None),
            ("{\"error\":\"x\"}", Some("{\"error\":\"x\"}")),
            ("data: a\n\n{\"error\":\"x\"}\n", Some("{\"error\":\"x\"}")),
            ("{\"error\":", None),
        ] {
            let mut reader = Reader::new(100);
            reader.take(stream.as_bytes());
            assert_eq!(reader.end(), expected.map(message), "{stream:?}");
        }
    }

    #[test]
    fn an_error_as_a_field_is_an_event() {
        let events = Reader::new(100).take(b"data: a\n\nerror: {\"code\":500}\n\n");
        assert_eq!((&*events[1].name, &*events[1].data), ("error", &b"{\"code\":500}"[..]));
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_split() {
        let text = "\u{feff}: hello\r\ndata: {\"n\":12345678901234567890123,\r\ndata:\"é\":1.10}\r\n\r\n\
            id: 7\nevent: message\nretry: 20\nunknown: x\nlonely\ndata\n\nid: 8\ndata:  x\r\r: only a comment\n\ndata: torn";
        let expected = [
            message("{\"n\":12345678901234567890123,\n\"é\":1.10}"),
            Event { name: "message".to_owned(), id: Some("7".to_owned()), retry: Some(20), ..Event::default() },
            Event { id: Some("8".to_owned()), ..message(" x") },
        ];
        for size in 1..text.len() {
            let mut reader = Reader::new(100);
            let events: Vec<Event> = text.as_bytes().chunks(size).flat_map(|chunk| reader.take(chunk)).collect();
            assert_eq!(events, expected, "{size}");
        }
    }

    #[test]
    fn an_overlong_event_is_cut_and_the_next_is_complete() {
        let long = format!("data: {}\n\ndata: {}\ndata: 1\n\ndata: 12345\n\n", "x".repeat(1000), "123");
        // Lines without data count as well.
        let long = format!("data: {}\n{}\n{long}", "x".repeat(9), "data\n".repeat(9));
        for size in [1, 7, 2000] {
            let mut reader = Reader::new(5);
            let events: Vec<Event> = long.as_bytes().chunks(size).flat_map(|chunk| reader.take(chunk)).collect();
            assert!(events[..2].iter().all(|event| event.is_cut && event.data.len() == 6), "{events:?}");
            assert_eq!(events[2..], [message("123\n1"), message("12345")], "{size}");
        }
    }
}
