//! Server-sent events, as they come.
//!
//! Our own reader of the format's few rules (<https://html.spec.whatwg.org/multipage/server-sent-events.html>), because an event
//! must be bounded, its data must keep every byte, and a field that nobody knows is to be passed over: the crate that rmcp uses
//! has no bound and ends with an error there.

/// An event that has come to its end.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Event {
    /// What sort of event; empty is a message.
    pub name: String,
    /// Its data, lines joined by line feeds.
    pub data: Vec<u8>,
    /// Where to go on after it, if the stream breaks.
    pub id: Option<String>,
    /// How many milliseconds to wait before that.
    pub retry: Option<u64>,
    /// The data is longer than was agreed, and only its beginning is here.
    pub is_cut: bool,
}

/// Takes chunks, gives events.
#[derive(Debug)]
pub struct Reader {
    longest: usize,
    /// A line that hasn't ended yet.
    line: Vec<u8>,
    event: Event,
    has_field: bool,
    has_data: bool,
    /// A line feed belongs to the carriage return before it.
    after_return: bool,
    is_first_line: bool,
}

/// `data: ` and its like, beside what they hold.
const FIELD: usize = 64;

impl Reader {
    /// A reader of events whose data is no longer than `longest`.
    pub fn new(longest: usize) -> Reader {
        Reader {
            longest,
            line: Vec::new(),
            event: Event::default(),
            has_field: false,
            has_data: false,
            after_return: false,
            is_first_line: true,
        }
    }

    /// Takes what has come, and gives the events that end in it.
    pub fn take(&mut self, mut chunk: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(first) = chunk.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let end = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let room = (self.longest + FIELD).saturating_sub(self.line.len());
            self.event.is_cut |= part.len() > room;
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let Some(end) = end else { break };
            self.after_return = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            let line = std::mem::take(&mut self.line);
            events.extend(self.end_line(&line));
        }
        events
    }

    fn end_line(&mut self, line: &[u8]) -> Option<Event> {
        let mark = b"\xEF\xBB\xBF";
        let line = if std::mem::take(&mut self.is_first_line) { line.strip_prefix(mark).unwrap_or(line) } else { line };
        if line.is_empty() {
            self.has_data = false;
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_field).then_some(event);
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &line[line.len()..]),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"data" => {
                let joint: &[u8] = if std::mem::replace(&mut self.has_data, true) { b"\n" } else { b"" };
                for part in [joint, value] {
                    let room = (self.longest + 1).saturating_sub(self.event.data.len());
                    self.event.data.extend_from_slice(&part[..part.len().min(room)]);
                }
                self.event.is_cut |= self.event.data.len() > self.longest;
            }
            b"event" => self.event.name = text(),
            b"id" if !value.contains(&0) => self.event.id = Some(text()),
            b"retry" => self.event.retry = text().parse().ok().or(self.event.retry),
            // A comment, or a field that the standard has no use for.
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
    fn events_are_the_same_however_they_are_cut() {
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
    fn an_event_that_is_too_long_is_cut_and_the_next_is_whole() {
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
