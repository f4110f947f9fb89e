//! Keys by their names: `Enter`, `ArrowDown`, `a`, `Control+Shift+Tab` (UI Events, `KeyboardEvent.key`).

/// A key, and the modifiers that are held with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chord {
    /// `KeyboardEvent.key`.
    pub key: String,
    /// `KeyboardEvent.code`; empty if it depends on the keyboard.
    pub code: String,
    /// The Windows virtual key code, which pages read as `keyCode`.
    pub virtual_code: u32,
    /// The text it types; none for a key without text, or with Control, Alt or Meta.
    pub text: Option<String>,
    /// Bits of the modifiers: Alt 1, Control 2, Meta 4, Shift 8.
    pub modifiers: u32,
}

/// Keys that type nothing, or not their own name: name, code, virtual key code, text.
const NAMED: [(&str, &str, u32, Option<&str>); 19] = [
    ("Enter", "Enter", 13, Some("\r")),
    ("Tab", "Tab", 9, None),
    ("Escape", "Escape", 27, None),
    ("Backspace", "Backspace", 8, None),
    ("Delete", "Delete", 46, None),
    ("Insert", "Insert", 45, None),
    ("Space", "Space", 32, Some(" ")),
    ("ArrowUp", "ArrowUp", 38, None),
    ("ArrowDown", "ArrowDown", 40, None),
    ("ArrowLeft", "ArrowLeft", 37, None),
    ("ArrowRight", "ArrowRight", 39, None),
    ("Home", "Home", 36, None),
    ("End", "End", 35, None),
    ("PageUp", "PageUp", 33, None),
    ("PageDown", "PageDown", 34, None),
    ("Shift", "ShiftLeft", 16, None),
    ("Control", "ControlLeft", 17, None),
    ("Alt", "AltLeft", 18, None),
    ("Meta", "MetaLeft", 91, None),
];

/// Modifiers and their aliases.
const MODIFIERS: [(&[&str], u32); 4] =
    [(&["alt", "option"], 1), (&["control", "ctrl"], 2), (&["meta", "cmd", "command", "super"], 4), (&["shift"], 8)];

const ALT_CONTROL_META: u32 = 7;

/// A name that no key has.
#[derive(Debug, thiserror::Error)]
#[error("there is no key {0:?}: a key is one character, or Enter, Tab, Escape, F1, ArrowDown and the like")]
pub struct UnknownKey(String);

impl Chord {
    /// Reads `Control+a`.
    ///
    /// # Errors
    /// There is no such key; the message describes the valid names.
    pub fn read(text: &str) -> Result<Chord, UnknownKey> {
        let unknown = |name: &str| UnknownKey(name.to_owned());
        // In `Control++`, the last `+` is the key.
        let (held, name) = match text.strip_suffix('+') {
            Some(held) if !text.is_empty() => (held.trim_end_matches('+'), "+"),
            _ => text.rsplit_once('+').unwrap_or(("", text)),
        };
        let mut modifiers = 0;
        for word in held.split('+').filter(|word| !word.is_empty()) {
            let lower = word.to_lowercase();
            let found = MODIFIERS.iter().find(|(names, _)| names.contains(&lower.as_str()));
            modifiers |= found.ok_or_else(|| unknown(word))?.1;
        }
        let (key, code, virtual_code, typed) = key(name).ok_or_else(|| unknown(name))?;
        let text = typed.filter(|_| modifiers & ALT_CONTROL_META == 0);
        Ok(Chord { key, code, virtual_code, text, modifiers })
    }
}

impl Chord {
    /// The key that types a character; `None` for control characters.
    pub(crate) fn of_character(one: char) -> Option<Chord> {
        let name = if one == ' ' { "Space".to_owned() } else { one.to_string() };
        Chord::read(&name).ok().filter(|_| !one.is_control())
    }
}

fn key(name: &str) -> Option<(String, String, u32, Option<String>)> {
    let lower = name.to_lowercase();
    if let Some((key, code, virtual_code, text)) = NAMED.iter().find(|(key, ..)| key.to_lowercase() == lower) {
        let key = if *key == "Space" { " " } else { key };
        return Some((key.to_owned(), (*code).to_owned(), *virtual_code, text.map(str::to_owned)));
    }
    let function: Option<u32> = lower.strip_prefix('f').and_then(|number| number.parse().ok());
    if let Some(number @ 1..=24) = function {
        return Some((format!("F{number}"), format!("F{number}"), 111 + number, None));
    }
    let mut characters = name.chars();
    let (Some(one), None) = (characters.next(), characters.next()) else { return None };
    let upper = one.to_ascii_uppercase();
    let (code, virtual_code) = match upper {
        'A'..='Z' => (format!("Key{upper}"), upper as u32),
        '0'..='9' => (format!("Digit{upper}"), upper as u32),
        _ => (String::new(), 0),
    };
    Some((one.to_string(), code, virtual_code, Some(one.to_string())))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_by_their_names() {
        let read = |text: &str| {
            let Chord { key, code, virtual_code, text, modifiers } = Chord::read(text).unwrap();
            (key, code, virtual_code, text, modifiers)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("enter"), ("Enter".into(), "Enter".into(), 13, some("\r"), 0));
        assert_eq!(read("a"), ("a".into(), "KeyA".into(), 65, some("a"), 0));
        assert_eq!(read("Ctrl+A"), ("A".into(), "KeyA".into(), 65, None, 2));
        assert_eq!(read("Control+Shift+Tab"), ("Tab".into(), "Tab".into(), 9, None, 10));
        assert_eq!(read("+"), ("+".into(), String::new(), 0, some("+"), 0));
        assert_eq!(read("Control++"), ("+".into(), String::new(), 0, None, 2));
        assert_eq!(read("ж"), ("ж".into(), String::new(), 0, some("ж"), 0));
        assert_eq!(read("F12"), ("F12".into(), "F12".into(), 123, None, 0));
        assert_eq!(read("Space"), (" ".into(), "Space".into(), 32, some(" "), 0));
        for none in ["", "Entr", "Hyper+a", "F25", "ab"] {
            assert!(Chord::read(none).is_err(), "{none}");
        }
    }
}
