//! Lines that hold more than one record: fused, or torn by the next record.

/// How many places are tried as the beginning of a complete record after a torn one, and how many bytes are searched.
const TRIES: usize = 100;
const LOOKED_AT: usize = 16 << 20;

/// The length of the complete objects at the beginning, one after the other.
pub(super) fn length_of_complete_objects(json: &str) -> usize {
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<serde::de::IgnoredAny>();
    let mut length = 0;
    while json[length..].trim_ascii_start().starts_with('{') && values.next().is_some_and(|value| value.is_ok()) {
        length = values.byte_offset();
    }
    length
}

/// The position, after `from`, of the complete records that follow a torn one.
pub(super) fn start_after_torn(json: &str, from: usize) -> Option<usize> {
    // Records of one file mostly begin with the same key, so the one after a torn one does too; or it is a header.
    let key = json.find(':').filter(|_| json.starts_with("{\"")).map_or("{\"", |colon| &json[..=colon]);
    let key = &key[key.rfind("{\"").unwrap_or(0)..];
    let starts = memchr::memmem::find_iter(&json.as_bytes()[from..], b"{\"").map(|start| from + start);
    let mut open = Open::default();
    let likely = |start: &usize| {
        let begins_well = json[*start..].starts_with(key) || json[*start..].starts_with(HEADER);
        begins_well && !open.takes_a_value_at(json.as_bytes(), from, *start)
    };
    let mut left = LOOKED_AT;
    for start in starts.filter(likely).take(TRIES) {
        match first_error(&json[start..]) {
            None => return Some(start),
            Some(at) => left = left.checked_sub(at)?,
        }
    }
    None
}

/// The beginning of every header.
pub(super) const HEADER: &str = r#"{"format":"pipewright-log""#;

/// The position of the first byte that is not part of a complete JSON value.
fn first_error(json: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<serde::de::IgnoredAny>();
    values.find_map(Result::err).map(|error| error.column())
}

/// What is still open where a torn record ends: in a log of a log, records hold other records.
#[derive(Default)]
struct Open {
    /// The brackets that are not closed.
    brackets: Vec<u8>,
    in_string: bool,
    /// The last byte that is not white space, and how far the text was read.
    last: u8,
    read: usize,
}

impl Open {
    /// Whether the text at `start` may be a value of the torn record that begins at `from`. Never goes back.
    fn takes_a_value_at(&mut self, json: &[u8], from: usize, start: usize) -> bool {
        let mut at = self.read.max(from);
        while at < start {
            match json[at] {
                b'\\' if self.in_string => at += 1,
                b'"' => self.in_string = !self.in_string,
                bracket @ (b'{' | b'[') if !self.in_string => self.brackets.push(bracket),
                b'}' | b']' if !self.in_string => drop(self.brackets.pop()),
                _ => {}
            }
            if let Some(byte) = json.get(at).filter(|byte| !byte.is_ascii_whitespace()) {
                self.last = *byte;
            }
            at += 1;
        }
        self.read = at;
        // In an object, a comma is followed by a key.
        !self.in_string
            && match self.last {
                b':' => true,
                b'[' | b',' => self.brackets.last() == Some(&b'['),
                _ => false,
            }
    }
}
