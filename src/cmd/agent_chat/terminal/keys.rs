//! Decodes what a terminal sends while no line is edited.

/// A key, or a paste.
#[derive(Debug, PartialEq, Eq)]
pub enum Key {
    /// Printable characters.
    Text(String),
    /// Pasted text; it may contain line feeds.
    Paste(String),
    Enter,
    /// Ctrl-C.
    Interrupt,
    Backspace,
}

/// Decodes keys from a byte stream. A character, a sequence or a paste may be split between reads.
#[derive(Debug, Default)]
pub struct Keys {
    unread: Vec<u8>,
}

const ESCAPE: u8 = 0x1b;
const PASTE: &[u8] = b"\x1b[200~";
const END_OF_PASTE: &[u8] = b"\x1b[201~";
/// A longer paste is delivered in parts.
const MAX_PASTE: usize = 4 << 20;

impl Keys {
    /// Takes bytes, and gives the complete keys. Other keys, such as arrows, are dropped.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.unread.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while let Some((length, key)) = self.next() {
            self.unread.drain(..length);
            keys.extend(key);
        }
        keys
    }

    /// Whether part of a key or a paste has arrived.
    pub fn is_within(&self) -> bool {
        !self.unread.is_empty()
    }

    /// Whether part of a key outside a paste has arrived: its rest arrives soon, or never.
    pub fn is_cut(&self) -> bool {
        self.is_within() && !self.unread.starts_with(PASTE)
    }

    /// Drops the incomplete key: a single Esc, half a character.
    pub fn forget(&mut self) {
        if self.is_cut() {
            self.unread.clear();
        }
    }

    /// The next key and its length in bytes, if it is complete.
    fn next(&self) -> Option<(usize, Option<Key>)> {
        let first = *self.unread.first()?;
        match first {
            ESCAPE => self.next_sequence(),
            3 => Some((1, Some(Key::Interrupt))),
            b'\r' | b'\n' => Some((1, Some(Key::Enter))),
            8 | 0x7f => Some((1, Some(Key::Backspace))),
            0..0x20 => Some((1, None)),
            _ => self.next_text(),
        }
    }

    fn next_text(&self) -> Option<(usize, Option<Key>)> {
        let end = self.unread.iter().position(|byte| *byte < 0x20 || *byte == 0x7f).unwrap_or(self.unread.len());
        let text = &self.unread[..end];
        let whole = match std::str::from_utf8(text) {
            Ok(text) => text.len(),
            // The character is incomplete.
            Err(error) if error.error_len().is_none() && end == self.unread.len() => error.valid_up_to(),
            Err(error) => error.valid_up_to() + error.error_len().unwrap_or(text.len() - error.valid_up_to()),
        };
        let text = String::from_utf8_lossy(&text[..whole]);
        let shown: String =
            text.chars().filter(|character| pipewright_io::printable::is_printable(*character)).collect();
        (whole > 0).then(|| (whole, Some(Key::Text(shown)).filter(|_| !text.is_empty())))
    }

    /// Input that starts with Esc (ECMA-48): a paste between markers, a control sequence, or a key with Alt.
    fn next_sequence(&self) -> Option<(usize, Option<Key>)> {
        if let Some(pasted) = self.unread.strip_prefix(PASTE) {
            let end = memchr::memmem::find(pasted, END_OF_PASTE);
            let end = end.or((pasted.len() > MAX_PASTE).then_some(pasted.len()))?;
            let text = String::from_utf8_lossy(&pasted[..end]).replace("\r\n", "\n").replace('\r', "\n");
            let is_kept = |character: &char| *character == '\n' || pipewright_io::printable::is_printable(*character);
            let length = (PASTE.len() + end + END_OF_PASTE.len()).min(self.unread.len());
            return Some((length, Some(Key::Paste(text.chars().filter(is_kept).collect()))));
        }
        match *self.unread.get(1)? {
            b'[' => {
                let end = self.unread[2..].iter().position(|byte| (0x40..0x7f).contains(byte) || *byte < 0x20)?;
                // A control character counts as a separate key.
                Some((end + if self.unread[end + 2] < 0x20 { 2 } else { 3 }, None))
            }
            b'O' => self.unread.get(2).map(|_| (3, None)),
            0..0x20 => Some((1, None)),
            _ => Some((2, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(text: &str) -> Key {
        Key::Text(text.to_owned())
    }

    #[test]
    fn keys_pastes_and_sequences_are_recognised_however_they_are_split() {
        let bytes = "ä\x1b[A b\r\x1b[200~x\ny\x1b[201~\x7f\x03\x1bOP\x1b[1;5Cc".as_bytes();
        let expected =
            [text("ä b"), Key::Enter, Key::Paste("x\ny".to_owned()), Key::Backspace, Key::Interrupt, text("c")];
        // Adjacent texts may arrive as one or as several.
        let joined = |keys: Vec<Key>| {
            keys.into_iter().fold(Vec::new(), |mut joined: Vec<Key>, key| {
                match (joined.last_mut(), key) {
                    (Some(Key::Text(before)), Key::Text(more)) => before.push_str(&more),
                    (_, key) => joined.push(key),
                }
                joined
            })
        };
        assert_eq!(joined(Keys::default().read(bytes)), expected);
        let mut keys = Keys::default();
        assert_eq!(joined(bytes.iter().flat_map(|byte| keys.read(&[*byte])).collect()), expected);
    }

    #[test]
    fn an_invalid_byte_is_dropped_without_other_effects() {
        assert_eq!(
            Keys::default().read(b"caf\xe9 x\r"),
            [text("caf?"), text(" x"), Key::Enter].map(|key| match key {
                Key::Text(text) => Key::Text(text.replace('?', "\u{fffd}")),
                key => key,
            })
        );
    }

    proptest! {
        #[test]
        fn every_input_is_read_to_its_end(bytes: Vec<u8>) {
            let mut keys = Keys::default();
            keys.read(&bytes);
            keys.forget();
            if !keys.is_within() {
                prop_assert_eq!(keys.read(b"x"), [text("x")]);
            }
        }
    }
}
