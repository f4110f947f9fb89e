//! Lines on which more than one record stands: fused, or torn by the next.

/// So many places are tried at which a whole record may begin behind a torn one, and so much is looked at for that.
const TRIES: usize = 100;
const LOOKED_AT: usize = 16 << 20;

/// How far there are whole objects, one behind the other.
pub(super) fn length_of_whole_objects(json: &str) -> usize {
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<serde::de::IgnoredAny>();
    let mut length = 0;
    while json[length..].trim_ascii_start().starts_with('{') && values.next().is_some_and(|value| value.is_ok()) {
        length = values.byte_offset();
    }
    length
}

/// Where, after `from`, the whole records begin that stand behind a torn one.
pub(super) fn start_behind_torn(json: &str, from: usize) -> Option<usize> {
    // Records of one file mostly begin with the same key, and so does the one behind a torn one; or it is a header.
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

/// How every header begins.
pub(super) const HEADER: &str = r#"{"format":"pipewright-log""#;

/// Where the text is no more whole JSON values, one behind the other.
fn first_error(json: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<serde::de::IgnoredAny>();
    values.find_map(Result::err).map(|error| error.column())
}

/// What is open where a torn record ends: a log of a log holds records in its records.
#[derive(Default)]
struct Open {
    /// The brackets that aren't closed.
    brackets: Vec<u8>,
    in_string: bool,
    /// The last byte that is no white space, and how far was read.
    last: u8,
    read: usize,
}

impl Open {
    /// Whether what begins at `start` may be a value of the torn record that begins at `from`. Never goes back.
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
