//! For all valid streams: the events that were written are read, however the bytes are split.

#![allow(clippy::unwrap_used)]

use pipewright_http::events::{Event, Reader};
use proptest::prelude::*;

const LIMIT: usize = 40;

/// A line of a stream.
#[derive(Debug, Clone)]
enum Line {
    /// A part of the data, after a colon with or without a space.
    Data(String, bool),
    Name(String),
    Id(String),
    Retry(u32),
    /// A comment, an unknown field, or a field with an invalid value.
    Ignored(String),
}

impl Line {
    fn text(&self) -> String {
        match self {
            Line::Data(text, true) => format!("data: {text}"),
            // A space after the colon would be read as part of the format.
            Line::Data(text, false) => format!("data:{}", text.trim_start_matches(' ')),
            Line::Name(text) => format!("event: {text}"),
            Line::Id(text) => format!("id: {text}"),
            Line::Retry(milliseconds) => format!("retry: {milliseconds}"),
            Line::Ignored(text) => text.clone(),
        }
    }
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let line = prop_oneof![
        4 => ("[ -~é]{0,30}", any::<bool>()).prop_map(|(text, space)| Line::Data(text, space)),
        1 => "[ -~é]{1,30}".prop_map(Line::Name),
        1 => "[ -~é]{0,30}".prop_map(Line::Id),
        1 => any::<u32>().prop_map(Line::Retry),
        1 => ":[ -~é]{0,300}".prop_map(Line::Ignored),
        1 => "(dat|datas|Data| data|x)(:[ -~é]{0,300})?".prop_map(Line::Ignored),
        1 => "(id: a\u{0}|retry2|retry : 1|retry: [+]5|retry: 1s)".prop_map(Line::Ignored),
    ];
    prop::collection::vec(line, 0..6)
}

/// The event of these lines; `None` if there is nothing to report.
fn event(lines: &[Line]) -> Option<Event> {
    let (mut event, mut data, mut has_field) = (Event::default(), Vec::new(), false);
    for line in lines {
        has_field |= !matches!(line, Line::Ignored(_));
        match line {
            Line::Data(text, true) => data.push(text.as_str()),
            Line::Data(text, false) => data.push(text.trim_start_matches(' ')),
            Line::Name(text) => event.name = text.clone(),
            Line::Id(text) => event.id = Some(text.clone()),
            Line::Retry(milliseconds) => event.retry = Some(u64::from(*milliseconds)),
            Line::Ignored(_) => {}
        }
    }
    event.data = data.join("\n").into_bytes();
    event.is_cut = event.data.len() > LIMIT;
    event.data.truncate(LIMIT + 1);
    has_field.then_some(event)
}

proptest! {
    #[test]
    fn events_are_read_however_the_bytes_are_split(
        events in prop::collection::vec(lines(), 0..6),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r", "\r\n"]), 40),
        has_mark: bool,
        torn in "(data: [a-z]{0,9}\n?)?",
        splits in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut stream = String::from(if has_mark { "\u{feff}" } else { "" });
        let mut ends = ends.iter().cycle();
        for text in events.iter().flat_map(|lines| lines.iter().map(Line::text).chain([String::new()])) {
            // After a single carriage return, an empty line must not begin with a line feed: both would be one line
            // end.
            let end = ends.next().unwrap();
            stream += &text;
            stream += if text.is_empty() && stream.ends_with('\r') && *end == "\n" { "\r" } else { end };
        }
        // The torn line has no end.
        stream += &torn;
        let expected: Vec<Event> = events.iter().filter_map(|lines| event(lines)).collect();
        prop_assert_eq!(&Reader::new(LIMIT).take(stream.as_bytes()), &expected);

        let mut places: Vec<usize> = splits.iter().map(|split| split.index(stream.len() + 1)).collect();
        places.push(stream.len());
        places.sort_unstable();
        let (mut reader, mut from, mut read) = (Reader::new(LIMIT), 0, Vec::new());
        for to in places {
            read.extend(reader.take(&stream.as_bytes()[from..to]));
            from = to;
        }
        prop_assert_eq!(&read, &expected);
        let mut reader = Reader::new(LIMIT);
        let byte_by_byte: Vec<Event> = stream.as_bytes().chunks(1).flat_map(|byte| reader.take(byte)).collect();
        prop_assert_eq!(&byte_by_byte, &expected);
    }
}

#[test]
fn an_overlong_field_is_ignored_and_cuts_no_data() {
    for field in ["", "x", "event", "id"] {
        let stream = format!("{field}: {}\ndata: 1\n\n", "x".repeat(1000));
        let events = Reader::new(5).take(stream.as_bytes());
        assert_eq!(events, [Event { data: b"1".to_vec(), ..Event::default() }], "{field}");
    }
}
